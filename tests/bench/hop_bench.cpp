// What one more plugin in the chain costs a request, in calls through a bare function pointer. "Walked": a chain of
// kPlugins that do nothing is walked by real exchanges, from their making to their end. "Called": the same tables are
// called one after the other and back, without what the walk keeps between two plugins, which leaves the SDK's part.
// What an exchange with an empty chain takes is taken off, and the rest divided by the plugins.
//   hop_bench [rounds] [exchanges]        the best of so many rounds counts, default 50 of 20,000 exchanges
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "bench/micro_bench.hpp"
#include "chain/exchange.hpp"
#include "chain/host_table.hpp"
#include "chain/loop_context.hpp"
#include "chain/worker_pool.hpp"
#include "weir/module.hpp"

namespace {

using namespace weir::chain;
using weir::bench::argument;
using weir::bench::cpuNanoseconds;

constexpr std::size_t kPlugins = 16;

class Plain final : public weir::Plugin {
    weir::Answer onRequest(weir::Exchange&) override { return weir::Answer::Next; }
};

class Coroutine final : public weir::Plugin {
    weir::Task<> execute(weir::Exchange&, weir::Next next) override { co_await next(); }
};

// A plugin without the SDK: all that is left is the walk.
std::int32_t forward(void*, weir_exchange*, const weir_match*, weir_outcome*) { return WEIR_FORWARD; }

// Has no connection behind it: what is committed is written at once.
class NoCarrier final : public Carrier {
    void startCall(Exchange&, weir_operation) override { std::abort(); }
    void cancelCall(Exchange&) override {}
    void readBody(Exchange&, weir_operation, std::size_t) override { std::abort(); }
    void cancelReadBody(Exchange&) override {}
    void readResponse(Exchange&, weir_operation, std::size_t) override { std::abort(); }
    void cancelReadResponse(Exchange&) override {}
    void commit(Exchange& exchange) override { exchange.finish(WEIR_FINISH_OK); }
    void released(Exchange& exchange) override { Exchange::destroy(&exchange); }
};

// The same plugin kPlugins times, each an object of its own, as a snapshot has them.
class Chain {
public:
    Chain() = default;  // empty
    Chain(const weir_plugin& table, const weir_host& host) : table_(table), plugins_(kPlugins), counters_(kPlugins) {
        for (std::size_t i = 0; i < kPlugins; ++i) {
            if (table_.create && table_.create(&host, &plugins_[i], nullptr) != WEIR_OK) std::abort();
            ChainEntry entry(table_, plugins_[i]);
            entry.counters = &counters_[i];
            snapshot_->chain.push_back(std::move(entry));
        }
    }
    Chain(const Chain&) = delete;
    ~Chain() {
        for (void* plugin : plugins_) {
            if (table_.destroy) table_.destroy(plugin);
        }
    }
    std::shared_ptr<const Snapshot> snapshot() const { return snapshot_; }

private:
    weir_plugin table_{};
    std::vector<void*> plugins_;
    std::vector<PluginCounters> counters_;
    std::shared_ptr<Snapshot> snapshot_ = std::make_shared<Snapshot>();
};

// CPU time of one exchange, from its making to its end.
double exchangeTime(LoopContext& loop, Carrier& carrier, const Chain& chain, std::size_t exchanges) {
    loop.switchTo(chain.snapshot());
    const double start = cpuNanoseconds();
    for (std::size_t i = 0; i < exchanges; ++i) Exchange::make(loop, carrier)->start();
    return (cpuNanoseconds() - start) / static_cast<double>(exchanges);
}

// Of one exchange whose plugins are called by hand.
double sdkTime(LoopContext& loop, Carrier& carrier, const Chain& chain, std::size_t exchanges) {
    const std::vector<ChainEntry>& entries = chain.snapshot()->chain;
    const weir_match match{sizeof match, nullptr, nullptr, nullptr, {}, {}};
    const weir_event returned{sizeof returned, WEIR_EVENT_RETURNED, 0, WEIR_NEXT_OK, {}};
    weir_frame* frames[kPlugins];
    const double start = cpuNanoseconds();
    for (std::size_t i = 0; i < exchanges; ++i) {
        Exchange* exchange = Exchange::make(loop, carrier);
        for (std::size_t at = 0; at < entries.size(); ++at) {
            weir_outcome outcome{};
            if (entries[at].table->enter(entries[at].plugin, exchange, &match, &outcome) != WEIR_FORWARD) std::abort();
            frames[at] = outcome.frame;
        }
        for (std::size_t at = entries.size(); at-- > 0;) {
            if (!frames[at]) continue;
            weir_outcome outcome{};
            const ChainEntry& entry = entries[at];
            if (entry.table->resume(entry.plugin, exchange, frames[at], &returned, &outcome) != WEIR_DONE) std::abort();
        }
        Exchange::destroy(exchange);
    }
    return (cpuNanoseconds() - start) / static_cast<double>(exchanges);
}

// Of one call through a function pointer that the compiler can not know.
double callTime(std::size_t exchanges) {
    weir_plugin tables[kPlugins]{};
    for (weir_plugin& table : tables) table.enter = &forward;
    std::size_t forwarded = 0;
    const double start = cpuNanoseconds();
    for (std::size_t i = 0; i < exchanges; ++i) {
        asm volatile("" : : "r"(tables) : "memory");
        for (const weir_plugin& table : tables) forwarded += table.enter(nullptr, nullptr, nullptr, nullptr);
    }
    const double elapsed = cpuNanoseconds() - start;
    if (forwarded != exchanges * kPlugins * WEIR_FORWARD) std::abort();
    return elapsed / static_cast<double>(exchanges * kPlugins);
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t rounds = argument(count, arguments, 1, 50);
    const std::size_t exchanges = argument(count, arguments, 2, 20000);

    ControlServices services;
    HostTable host(services);
    WorkerPool workers(1);
    weir::net::EventLoop events;
    LoopContext loop(events, workers, [](std::shared_ptr<const Snapshot>) {});
    loop.number = 0;
    NoCarrier carrier;

    weir_plugin forwarding{};
    forwarding.enter = &forward;
    const Chain empty;
    const Chain bare(forwarding, host);
    const Chain plain(weir::detail::PluginTable<Plain>::make("plain"), host);
    const Chain coroutine(weir::detail::PluginTable<Coroutine>::make("coroutine"), host);

    struct Row {
        const char* name;
        double (*time)(LoopContext&, Carrier&, const Chain&, std::size_t);
        const Chain* chain;
        double best = 1e9;
        double bestEmpty = 1e9;
    };
    Row rows[] = {{"plain plugin, called", &sdkTime, &plain},
                  {"coroutine plugin, called", &sdkTime, &coroutine},
                  {"no plugin's code, walked", &exchangeTime, &bare},
                  {"plain plugin, walked", &exchangeTime, &plain},
                  {"coroutine plugin, walked", &exchangeTime, &coroutine}};
    double call = 1e9;
    for (std::size_t round = 0; round < rounds; ++round) {
        call = std::min(call, callTime(exchanges));
        for (Row& row : rows) {
            row.bestEmpty = std::min(row.bestEmpty, row.time(loop, carrier, empty, exchanges));
            row.best = std::min(row.best, row.time(loop, carrier, *row.chain, exchanges));
        }
    }
    std::printf("%-26s %8s %8s\n%-26s %8.2f %8.2f\n", "hop", "ns", "x call", "bare indirect call", call, 1.0);
    for (const Row& row : rows) {
        const double hop = (row.best - row.bestEmpty) / kPlugins;
        std::printf("%-26s %8.2f %8.2f\n", row.name, hop, hop / call);
    }
}
