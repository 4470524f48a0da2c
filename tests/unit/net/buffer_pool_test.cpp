#include "net/buffer_pool.hpp"

#include <vector>

#include "support/catch.hpp"

namespace weir::net {

TEST_CASE("a buffer given back is taken again, empty") {
    BufferPool pool;
    Buffer* first = pool.take();
    first->end = 100;
    first->begin = 40;
    CHECK(first->pending() == 60);
    CHECK(first->room() == Buffer::kCapacity - 100);
    CHECK(first->tail() - first->head() == 60);
    Buffer* other = pool.take();
    CHECK(pool.inUse() == 2);

    first->next = other;
    pool.give(first);
    CHECK(pool.inUse() == 1);
    Buffer* again = pool.take();
    CHECK(again == first);
    CHECK(again->pending() == 0);
    CHECK(again->room() == Buffer::kCapacity);
    CHECK(again->next == nullptr);
    pool.give(again);
    pool.give(other);
    CHECK(pool.inUse() == 0);
}

TEST_CASE("a pool frees what it does not keep") {
    BufferPool pool;  // the address sanitizer checks the rest
    std::vector<Buffer*> taken;
    for (int i = 0; i < 300; ++i) taken.push_back(pool.take());
    for (Buffer* buffer : taken) pool.give(buffer);
    CHECK(pool.inUse() == 0);
}

}  // namespace weir::net
