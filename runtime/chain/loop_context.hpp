#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/arena.hpp"
#include "chain/snapshot.hpp"
#include "net/buffer_pool.hpp"
#include "net/event_loop.hpp"
#include "upstream/upstream_set.hpp"

namespace weir::chain {

class WorkerPool;

// What an exchange needs of the loop it runs on. One per loop; loop thread only (or before the loop runs).
class LoopContext {
public:
    // `workers` is shared by all loops. `giveBack` takes the reference of a snapshot this loop has done with; it is
    // called on the loop's thread and must hand it to the control thread, the only one that frees snapshots.
    LoopContext(net::EventLoop& events, WorkerPool& workers,
                std::function<void(std::shared_ptr<const Snapshot>)> giveBack);
    ~LoopContext();
    LoopContext(const LoopContext&) = delete;
    LoopContext& operator=(const LoopContext&) = delete;

    net::EventLoop& events;
    WorkerPool& workers;
    base::ChunkPool chunks;
    net::BufferPool buffers;
    static constexpr std::uint32_t kUncounted = ~std::uint32_t{0};
    std::uint32_t number = kUncounted;  // among the gateway's loops, for ChainEntry::counters
    bool shenyuStatuses = false;  // weir.compat.errorStatus: shenyu
    upstream::RetryBudget retryBudget;

    // Requests that begin from now on see this snapshot.
    void switchTo(std::shared_ptr<const Snapshot> snapshot);
    SnapshotPin& pin();             // counts the caller as a user of the current snapshot
    void unpin(SnapshotPin& pin);
    weir_operation nextOperation() { return ++lastOperation_; }
    // Pins of snapshots that are not in force any more and still used.
    const std::vector<SnapshotPin*>& retired() const { return retired_; }

private:
    void release(SnapshotPin& pin);

    std::function<void(std::shared_ptr<const Snapshot>)> giveBack_;
    SnapshotPin* current_ = nullptr;
    std::vector<SnapshotPin*> retired_;
    weir_operation lastOperation_ = 0;
};

}  // namespace weir::chain
