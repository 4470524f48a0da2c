#include "load-balancer/hash_balancer.hpp"

#include "support/catch.hpp"

using weir::balance::HashBalancer;

// The expected indexes were computed from ShenYu's description with another MD5.
TEST_CASE("hash picks the upstream that ShenYu's ring picks") {
    struct Row { const char* client; int index; };
    const Row rows[] = {
        {"127.0.0.1", 0}, {"192.168.0.1", 2}, {"192.168.0.2", 1}, {"10.1.2.3", 2}, {"8.8.8.8", 2}, {"::1", 0},
        {"10.9.8.4", 1},  // behind the last place: the ring begins again
    };
    HashBalancer balancer({{.url = "10.0.0.1:80"}, {.url = "10.0.0.2:80"}, {.url = "10.0.0.3:80"}});
    for (const Row& row : rows) {
        INFO(row.client);
        CHECK(balancer.pick({row.client, nullptr}) == row.index);
    }
}

TEST_CASE("hash gives the places of one address to the later of two upstreams") {
    HashBalancer balancer({{.url = "10.0.0.1:80"}, {.url = "10.0.0.1:80"}});
    CHECK(balancer.pick({"127.0.0.1", nullptr}) == 1);
}
