#pragma once

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "stress/soak/findings.hpp"
#include "stress/soak/soak_timers.hpp"
#include "stress/soak/soak_wire.hpp"

namespace weir::soak {

// How the data counts: a change writes one number into two records, first into that which the upstream sees.
struct DataCount {
    std::atomic<std::uint64_t> begun{0};  // a request may see up to this
    std::atomic<std::uint64_t> done{0};   // a request that is sent now sees at least this
};

// How requests ended, of all clients so far; read by any thread.
struct Tally {
    std::array<std::atomic<std::uint64_t>, kEndNames.size()> ends{};
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> extended{0};  // answers that the extension has marked
    std::atomic<std::uint64_t> folded{0};    // and lengthened
    std::atomic<std::uint64_t> hints{0};
    std::atomic<std::uint64_t> continues{0};

    std::uint64_t of(End end) const { return ends[static_cast<std::size_t>(end)]; }
};

// Many clients on one thread. Each sends batches of one request or a few at once, checks every answer byte by byte, and
// now and then leaves at a random moment. A request must end as allowed() says.
class Clients {
public:
    Clients(int port, std::size_t connections, std::uint64_t seed, const DataCount& data, Tally& tally,
            Findings& findings);
    ~Clients() { stop(); }
    Clients(const Clients&) = delete;
    Clients& operator=(const Clients&) = delete;

    // Every client completes what it is at, and closes.
    void stop();

private:
    struct Pending {
        Plan plan;
        std::uint64_t dataAtLeast = 0;
    };
    struct Client {
        Stream stream;
        std::uint64_t serial = 0;  // counts connections and batches: a timer of an earlier one is not meant
        std::vector<Pending> batch;
        std::size_t answered = 0;   // of batch
        std::optional<Head> head;   // of the answer that is being read
        BodyReader body;
        End end = End::Planned;     // what its head said
        bool closes = false;        // the gateway closes behind this answer
        std::size_t limit = 0;      // of what is sent for now
        std::size_t bodyAt = 0;     // in what is sent, of the last request
        bool leavesThere = false;   // and it goes when so much is sent
        std::size_t leavesAfter = 0;  // answer bytes
        std::size_t came = 0;         // answer bytes of this batch
        bool reads = true;
        bool halfClosed = false;
        bool thinks = false;  // between two batches
        Clock::time_point since;
    };

    void run();
    void begin(std::size_t number);
    void planBatch(Client& client);
    void planLeaving(Client& client, std::size_t number);
    void ready(std::size_t number);
    void fire(std::uint64_t tag);
    // False when the connection is not to be read any further.
    bool readAnswer(Client& client);
    bool beginAnswer(Client& client);
    bool interim(Client& client, const Plan& plan);
    bool checkPlanned(Client& client, const Pending& pending);
    bool checkOwn(Client& client, const Plan& plan);
    bool checkExtension(Client& client, const Plan& plan);
    bool answerOver(Client& client);
    void batchOver(std::size_t number);
    void connectionOver(std::size_t number);
    void leave(Client& client);
    void count(Client& client, const Plan& plan, End end);
    bool wrong(Client& client, const std::string& what);
    void sweep();
    void later(std::size_t number, std::uint32_t milliseconds);

    const int port_;
    Random random_;
    const std::uint64_t firstId_;
    const DataCount& data_;
    Tally& tally_;
    Findings& findings_;
    Timers timers_;
    int epoll_;
    std::uint64_t made_ = 0;
    std::uint64_t serials_ = 0;
    std::vector<Client> clients_;
    std::vector<std::size_t> begun_;  // to be looked at without an event
    std::size_t open_ = 0;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace weir::soak
