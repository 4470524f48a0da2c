#include "chain/loop_context.hpp"

#include "base/assert.hpp"

namespace weir::chain {

LoopContext::LoopContext(net::EventLoop& loop, WorkerPool& pool,
                         std::function<void(std::shared_ptr<const Snapshot>)> giveBack)
    : events(loop), workers(pool), giveBack_(std::move(giveBack)) {}

LoopContext::~LoopContext() {
    if (!current_) return;
    WEIR_ASSERT(current_->users == 0);
    release(*current_);
}

void LoopContext::switchTo(std::shared_ptr<const Snapshot> snapshot) {
    SnapshotPin* old = current_;
    current_ = new SnapshotPin{std::move(snapshot)};
    if (!old) return;
    if (old->users == 0) return release(*old);
    old->retiredMs = events.nowMs();
    retired_.push_back(old);
}

SnapshotPin& LoopContext::pin() {
    WEIR_ASSERT(current_ != nullptr);
    ++current_->users;
    return *current_;
}

void LoopContext::unpin(SnapshotPin& pin) {
    if (--pin.users != 0 || &pin == current_) [[likely]] return;
    std::erase(retired_, &pin);
    release(pin);
}

void LoopContext::release(SnapshotPin& pin) {
    giveBack_(std::move(pin.snapshot));
    delete &pin;
}

}  // namespace weir::chain
