#include "chain/exchange.hpp"

#include <chrono>
#include <cstring>
#include <new>
#include <span>
#include <string>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "chain/error_reply.hpp"
#include "chain/request_subject.hpp"
#include "chain/worker_pool.hpp"

namespace weir::chain {

namespace {

// A deadline finer than the loop's tick is rounded up: never early.
net::Milliseconds toMilliseconds(std::uint64_t ns) {
    return std::chrono::ceil<net::Milliseconds>(std::chrono::nanoseconds(ns));
}

weir_event makeEvent(std::uint32_t kind, std::int32_t status, std::string_view data = {}) {
    return {sizeof(weir_event), kind, 0, status, {data.data(), data.size()}};
}

}  // namespace

// ---- Life ----

Exchange* Exchange::make(LoopContext& loop, Carrier& carrier) {
    static_assert(sizeof(Exchange) < base::ChunkPool::kChunkSize / 4);
    void* chunk = loop.chunks.take();
    return new (chunk) Exchange(loop, carrier, chunk);
}

void Exchange::destroy(Exchange* exchange) {
    LoopContext& loop = exchange->loop_;
    void* chunk = exchange->chunk_;
    exchange->~Exchange();
    loop.chunks.give(chunk);
}

Exchange::Exchange(LoopContext& loop, Carrier& carrier, void* chunk)
    : Arena(loop.chunks, chunk, sizeof(Exchange)),
      request(*this),
      response(*this),
      loop_(loop),
      carrier_(carrier),
      chunk_(chunk),
      sleepTimer_(&Exchange::onSleepOver, this) {}

Exchange::~Exchange() {
    WEIR_ASSERT(!top_ && (phase_ == Phase::Over || phase_ == Phase::Idle));
    while (spare_) {
        Entered* next = spare_->below;
        spare_->~Entered();
        spare_ = next;
    }
    if (pin_) loop_.unpin(*pin_);
}

void Exchange::start() {
    WEIR_ASSERT(phase_ == Phase::Idle);
    pin_ = &loop_.pin();
    finished_ = allocateArray<const ChainEntry*>(pin_->snapshot->chain.size());
    requestMark_ = request.fields.mark();
    responseMark_ = response.head.fields.mark();
    clientQuery_ = request.query;
    phase_ = Phase::Forward;
    advance();
}

// ---- The walk ----

// Runs until the chain waits for something or is over. Everything a plugin does synchronously is taken up here, after
// it has returned: no plugin call is ever nested in another.
void Exchange::advance() {
    WEIR_ASSERT(!advancing_);
    advancing_ = true;
    for (;;) {
        if (phase_ == Phase::Forward) {
            walkForward();
        } else if (phase_ == Phase::Return) {
            if (!top_) break;
            resumeTop(makeEvent(WEIR_EVENT_RETURNED, failed_ ? WEIR_NEXT_FAILED : WEIR_NEXT_OK));
        } else if (eventReady_) {
            eventReady_ = false;
            resumeTop(weir_event(event_));  // a copy: what the plugin starts now may be over before it has read this
        } else {
            advancing_ = false;
            return;
        }
    }
    advancing_ = false;
    use_.giveUp();
    phase_ = Phase::Committed;
    carrier_.commit(*this);  // may end the exchange
}

void Exchange::walkForward() {
    const std::span<const ChainEntry> chain = pin_->snapshot->chain;
    while (phase_ == Phase::Forward) {
        if (position_ == chain.size()) {
            phase_ = Phase::Return;
            return;
        }
        const ChainEntry& entry = chain[position_++];
        if (entry.rpcTypes && !(entry.rpcTypes & routing_->rpc)) {
            if (tracer) [[unlikely]] tracer->passedOver(entry);
            continue;
        }
        if (tracer) [[unlikely]] tracer->considering(entry, *this);
        weir_match match{sizeof(weir_match), entry.config, nullptr, nullptr, {nullptr, 0}, {nullptr, 0}};
        if (!entry.matches) {
            enteredSelector_ = nullptr;
            enteredRule_ = nullptr;
        } else if (!choose(entry, match)) {
            continue;
        }
        if (entry.finished) rememberFinished(entry);
        PluginCounters* const counters = countersOf(entry);
        if (counters) ++counters->entered;
        weir_outcome outcome{};
        replied_ = false;
        newTarget_ = {};
        inPlugin_ = true;
        const std::int32_t answer = entry.enter(entry.plugin, this, &match, &outcome);
        inPlugin_ = false;
        if (tracer && !newTarget_.data()) [[unlikely]] tracer->answered(entry, answer);
        if (answer == WEIR_FORWARD && !outcome.frame) [[likely]] {
            cancelOperation();
            if (counters) ++counters->forwarded;
        } else {
            answered(entry, answer, outcome);
        }
    }
}

// Selector and rule for a plugin; false: it is not entered (and an error reply may have ended the walk).
bool Exchange::choose(const ChainEntry& entry, weir_match& match) {
    match::Choice choice{match::Choice::NoSelector, nullptr, nullptr};
    if (entry.matcher) choice = entry.matcher->choose(RequestSubject(*this));
    if (choice.outcome == match::Choice::Matched) {
        const match::Selector& selector = *choice.selector;
        if (selector.logged || (choice.rule && choice.rule->logged)) [[unlikely]]
            logMatch(entry, selector, choice.rule);
        enteredSelector_ = &selector;
        enteredRule_ = choice.rule;
        match.selector = selector.handle;
        match.selector_id = {selector.id.data(), selector.id.size()};
        match.rule = choice.rule ? choice.rule->handle : selector.defaultRule;
        if (choice.rule) match.rule_id = {choice.rule->id.data(), choice.rule->id.size()};
        return true;
    }
    if (entry.unmatchedError) {
        count(entry, &PluginCounters::unmatched);
        const bool noSelector = choice.outcome == match::Choice::NoSelector;
        replyError(404, noSelector ? kSelectorNotFoundCode : kRuleNotFoundCode,
                   noSelector ? entry.noSelector : entry.noRule);
        phase_ = Phase::Return;
    }
    return false;
}

// Of a selector or rule that wants it (`loged`).
void Exchange::logMatch(const ChainEntry& entry, const match::Selector& selector, const match::Rule* rule) const {
    std::string text = "plugin '" + entry.key + "': selector '" + selector.name + "'";
    if (rule) text += ", rule '" + rule->name + "'";
    base::logInfo(text + " matched (" + std::string(request.method) + " " + std::string(request.path) + ", request " +
                  std::string(requestId) + ")");
}

// What enter() said; if it was to forward, then with a frame.
void Exchange::answered(const ChainEntry& entry, std::int32_t answer, const weir_outcome& outcome) {
    switch (answer) {
        case WEIR_FORWARD:
            cancelOperation();
            push(entry, outcome.frame);
            return walkFrom(*top_, outcome.deadline_ns);
        case WEIR_SUSPENDED:
            if (!outcome.frame) return misbehaved(entry, "suspended without a frame");
            push(entry, outcome.frame);
            return wait(entry);
        case WEIR_REPLY:
        case WEIR_DONE: return ended(entry, false);
        case WEIR_FAILED: return failed(entry);
        default: return misbehaved(entry, "gave an unknown answer");
    }
}

// What resume() of the top frame said.
void Exchange::resumed(Entered& top, std::int32_t answer, const weir_outcome& outcome) {
    const ChainEntry& entry = *top.entry;
    switch (answer) {
        case WEIR_FORWARD:
            cancelOperation();
            if (!outcome.frame) [[likely]] return left(top);
            if (top.forwarded && !replayable())
                return schedule(WEIR_EVENT_RETURNED, WEIR_NEXT_NOT_REPLAYABLE, {});
            // A second walk begins where the first did; after a timeout that is so already, and the plugin's edits
            // since then are kept.
            if (top.forwarded && !top.restored) goBack(top.mark);
            return walkFrom(top, outcome.deadline_ns);
        case WEIR_SUSPENDED: return wait(entry);
        case WEIR_REPLY:
        case WEIR_DONE: {
            const bool forwarded = top.forwarded;
            pop();
            return ended(entry, forwarded);
        }
        case WEIR_FAILED: pop(); return failed(entry);
        default: dropTop(); return misbehaved(entry, "gave an unknown answer");
    }
}

void Exchange::resumeTop(const weir_event& event) {
    Entered& top = *top_;
    if (event.kind == WEIR_EVENT_RETURNED) top.deadline.disarm();
    weir_outcome outcome{};
    replied_ = false;
    newTarget_ = {};
    inPlugin_ = true;
    const std::int32_t answer = top.entry->table->resume(top.entry->plugin, this, top.frame, &event, &outcome);
    inPlugin_ = false;
    resumed(top, answer, outcome);
}

void Exchange::wait(const ChainEntry& entry) {
    if (operation_ == Operation::None && !eventReady_) {
        dropTop();
        return misbehaved(entry, "suspended without an operation");
    }
    phase_ = Phase::Waiting;
}

// `top` has called next(): enter what is behind it.
void Exchange::walkFrom(Entered& top, std::uint64_t deadlineNs) {
    saveMark(top.mark);
    top.forwarded = true;
    top.restored = false;
    failed_ = false;
    position_ = top.next;
    phase_ = Phase::Forward;
    if (deadlineNs) top.deadline.arm(loop_.events, toMilliseconds(deadlineNs));
}

// `top` goes on without a return part, its frame is gone.
void Exchange::left(Entered& top) {
    const ChainEntry& entry = *top.entry;
    const bool forwarded = top.forwarded;
    position_ = top.next;
    pop();
    if (forwarded) return misbehaved(entry, "left the chain in its return part");
    count(entry, &PluginCounters::forwarded);
    phase_ = Phase::Forward;
}

// A plugin is through, its frame is gone.
void Exchange::ended(const ChainEntry& entry, bool forwarded) {
    cancelOperation();
    if (newTarget_.data()) return walkAnew(entry);
    phase_ = Phase::Return;
    if (replied_) failed_ = false;
    else if (!forwarded) return misbehaved(entry, "ended the chain without a reply");
    count(entry, replied_ ? &PluginCounters::replied : &PluginCounters::forwarded);
}

// A plugin has sent the request elsewhere in the gateway: as if it had come for that, but for the attributes.
void Exchange::walkAnew(const ChainEntry& entry) {
    if (tracer) tracer->dispatched(entry, newTarget_);
    count(entry, &PluginCounters::replied);
    while (top_) abandonTop();
    use_.giveUp();
    Mark begin{};
    begin.request = requestMark_;
    begin.query = clientQuery_;
    begin.response = responseMark_;
    begin.callResult = WEIR_CALL_NONE;
    begin.routing = new (allocate(sizeof(Routing))) Routing;
    begin.attributes = attributes_;
    goBack(begin);
    const std::size_t mark = newTarget_.find('?');
    request.path = newTarget_.substr(0, mark);
    if (mark != newTarget_.npos) request.query = newTarget_.substr(mark + 1);
    newTarget_ = {};
    selectorId = ruleId = {};
    upgradeAllowed = preserveHost = failed_ = false;
    ++dispatches_;
    position_ = 0;
    phase_ = Phase::Forward;
}

void Exchange::failed(const ChainEntry& entry) {
    cancelOperation();
    count(entry, &PluginCounters::failed);
    Failure failure{500, kInternalCode, "no reason given"};
    if (hasFailure_) failure = failure_;
    hasFailure_ = false;
    if (failure.code == kInternalCode) {
        if (entry.failures && !tracer) entry.failures->fetch_add(1, std::memory_order_relaxed);
        base::logError("plugin '" + entry.key + "' failed: " + std::string(failure.text) + " (" +
                       std::string(request.method) + " " + std::string(request.path) + ", request " +
                       std::string(requestId) + ")");
        failure.text = kInternalMessage;  // what a plugin's exception says is for the log, not for the client
    }
    replyError(failure.status, failure.code, failure.text);
    failed_ = true;
    phase_ = Phase::Return;
}

// It broke the contract.
void Exchange::misbehaved(const ChainEntry& entry, std::string_view what) {
    noteFailure(500, kInternalCode, what);
    failed(entry);
}

void Exchange::schedule(std::uint32_t kind, std::int32_t status, std::string_view data) {
    event_ = makeEvent(kind, status, data);
    eventReady_ = true;
    phase_ = Phase::Waiting;
}

// ---- Frames ----

void Exchange::push(const ChainEntry& entry, weir_frame* frame) {
    Entered* entered = spare_;
    if (entered) {
        spare_ = entered->below;
    } else {
        entered = new (allocate(sizeof(Entered))) Entered(*this);
    }
    entered->entry = &entry;
    entered->frame = frame;
    entered->below = top_;
    entered->next = position_;
    entered->forwarded = false;
    entered->restored = false;
    top_ = entered;
}

void Exchange::pop() {
    Entered* entered = top_;
    entered->deadline.disarm();
    top_ = entered->below;
    entered->below = spare_;
    spare_ = entered;
}

void Exchange::dropTop() {
    top_->entry->table->drop(top_->entry->plugin, this, top_->frame);
    pop();
}

// It did nothing wrong.
void Exchange::abandonTop() {
    count(*top_->entry, &PluginCounters::dropped);
    dropTop();
}

void Exchange::rememberFinished(const ChainEntry& entry) {
    for (std::uint32_t i = 0; i < finishedCount_; ++i)
        if (finished_[i] == &entry) return;  // entered before, in an earlier walk
    finished_[finishedCount_++] = &entry;
}

// ---- Operations ----

weir_operation Exchange::begin(Operation kind) {
    if (!inPlugin_ || operation_ != Operation::None) return 0;  // one at a time, from enter or resume only
    operation_ = kind;
    operationId_ = loop_.nextOperation();
    return operationId_;
}

weir_operation Exchange::startUpstreamCall() {
    const weir_operation id = begin(Operation::Call);
    if (!id) return 0;
    if (response.streams() || response.source == ResponseSource::Whole) {  // an earlier call's: this one replaces it
        dropAnswer();
        forgetAnswer();
    }
    if (routing_->hasRoute) use_.called(routing_->route);
    carrier_.startCall(*this, id);
    return id;
}

weir_operation Exchange::startReadBody(std::size_t limit) {
    const weir_operation id = begin(Operation::Body);
    if (!id) return 0;
    switch (bodyState) {
        case BodyState::Absent: complete(id, WEIR_OK, {"", 0}); break;
        case BodyState::Buffered:
            complete(id, bufferedBody.size() > limit ? WEIR_TOO_LARGE : WEIR_OK, bufferedBody);
            break;
        case BodyState::Taken: complete(id, WEIR_IO); break;
        case BodyState::Streaming: carrier_.readBody(*this, id, limit); break;
    }
    return id;
}

weir_operation Exchange::startReadResponse(std::size_t limit) {
    const weir_operation id = begin(Operation::Response);
    if (!id) return 0;
    if (response.streams() && response.head.status == 101) {
        complete(id, WEIR_INVALID);
    } else if (response.streams() && mayHaveBody()) {
        carrier_.readResponse(*this, id, limit);
    } else if (response.source == ResponseSource::None) {
        complete(id, WEIR_NOT_FOUND);
    } else {
        const std::string_view body = response.streams() ? std::string_view("", 0) : response.body;
        complete(id, body.size() > limit ? WEIR_TOO_LARGE : WEIR_OK, body);
    }
    return id;
}

weir_operation Exchange::startSleep(std::uint64_t ns) {
    const weir_operation id = begin(Operation::Sleep);
    if (id) sleepTimer_.arm(loop_.events, toMilliseconds(ns));
    return id;
}

void Exchange::onSleepOver(void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    exchange.complete(exchange.operationId_, WEIR_OK);
}

weir_operation Exchange::startOffload(void (*work)(void*), void* arg) {
    const weir_operation id = begin(Operation::Offload);
    if (!id) return 0;
    offload_ = std::make_shared<Exchange*>(this);
    const bool taken = loop_.workers.submit([waiting = offload_, events = &loop_.events, work, arg, id] {
        work(arg);
        events->post([waiting, id] {
            if (*waiting) (*waiting)->complete(id, WEIR_OK);
        });
    });
    if (taken) return id;
    offload_.reset();
    operation_ = Operation::None;
    operationId_ = 0;
    return 0;
}

void Exchange::complete(weir_operation operation, std::int32_t status, std::string_view data) {
    if (operation == 0 || operation != operationId_) return;  // cancelled meanwhile
    if (operation_ == Operation::Call) {
        callResult = static_cast<weir_call>(status);
        use_.giveRetry();
        if (status == WEIR_CALL_OK) {
            answer_ = operation;
            use_.answered(upstreamNs);
        } else {
            use_.failed(upstreamNs);
        }
    }
    if (operation_ == Operation::Response && response.streams() && mayHaveBody()) {
        if (status == WEIR_OK) becomeWhole(data);
        if (status == WEIR_IO) {
            forgetAnswer();
            callResult = WEIR_CALL_RESET;
        }
        if (status != WEIR_TOO_LARGE) answer_ = 0;
    }
    if (operation_ == Operation::Body && status == WEIR_OK && bodyState == BodyState::Streaming) {
        bodyState = BodyState::Buffered;
        bufferedBody = data;
    }
    operation_ = Operation::None;
    operationId_ = 0;
    if (cancelPending_) return finishCancel();
    if (timedOut_) return timeOut(*timedOut_);
    event_ = makeEvent(WEIR_EVENT_COMPLETED, status, data);
    event_.operation = operation;
    eventReady_ = true;
    if (!advancing_) advance();
}

void Exchange::cancelOutstanding() {
    switch (operation_) {
        case Operation::Call: carrier_.cancelCall(*this); break;
        case Operation::Body: carrier_.cancelReadBody(*this); break;
        case Operation::Response: carrier_.cancelReadResponse(*this); break;
        case Operation::Sleep: sleepTimer_.disarm(); break;
        case Operation::Offload: *offload_ = nullptr; break;  // its frame is gone already: the module broke the rules
        case Operation::None: break;
    }
    operation_ = Operation::None;
    operationId_ = 0;
}

// The carrier's side of it: the call, with a body nobody will read.
void Exchange::dropAnswer() {
    carrier_.cancelCall(*this);
    answer_ = 0;
}

// Our side.
void Exchange::forgetAnswer() {
    response.head.fields.removeParsed();
    response.head.status = 0;
    response.head.reason = {};
    response.source = ResponseSource::None;
}

// Whether body bytes come, or may come, with the response as it is (RFC 9110 6.4.1).
bool Exchange::mayHaveBody() const {
    const int status = response.head.status;
    return request.method != "HEAD" && status >= 200 && status != 204 && status != 304 &&
           !(response.streams() && response.head.body == http::BodyKind::None);
}

void Exchange::becomeWhole(std::string_view body) {
    response.source = ResponseSource::Whole;
    response.body = body;
    response.head.body = http::BodyKind::Length;
}

// ---- Deadlines ----

void Exchange::Entered::onDeadline(void* self) {
    auto& entered = *static_cast<Entered*>(self);
    Exchange& exchange = entered.exchange;
    if (exchange.operation_ != Operation::Offload) return exchange.timeOut(entered);
    // The work's lambda may refer to frames that would go. The outermost deadline counts.
    for (Entered* other = exchange.top_; other; other = other->below) {
        if (other == exchange.timedOut_) break;                      // this one is further out, or there was none
        if (other == &entered && exchange.timedOut_) return;         // an outer one has passed already
    }
    exchange.timedOut_ = &entered;
}

void Exchange::timeOut(Entered& entered) {
    timedOut_ = nullptr;
    cancelOperation();
    use_.giveUp();
    while (top_ != &entered) abandonTop();
    goBack(entered.mark);
    entered.restored = true;
    failed_ = false;
    schedule(WEIR_EVENT_RETURNED, WEIR_NEXT_TIMED_OUT, {});
    advance();
}

Exchange::Routing& Exchange::copyRouting() {
    routing_ = new (allocate(sizeof(Routing))) Routing(*routing_);
    routingMarked_ = false;
    return *routing_;
}

void Exchange::saveMark(Mark& mark) {
    mark.request = request.fields.mark();
    mark.query = request.query;
    mark.givenBody = givenBody_;
    mark.response = response.head.fields.mark();
    mark.status = response.head.status;
    mark.reason = response.head.reason;
    mark.source = response.source;
    mark.body = response.body;
    mark.answer = answer_;
    mark.callResult = callResult;
    mark.routing = routing_;
    routingMarked_ = true;
    mark.attributes = attributes_;
    mark.metadata = metadata;
}

void Exchange::restore(const Mark& mark) {
    request.fields.restore(mark.request);
    request.query = mark.query;
    giveBody(mark.givenBody);
    response.head.fields.restore(mark.response);
    response.head.status = mark.status;
    response.head.reason = mark.reason;
    response.source = mark.source;
    response.body = mark.body;
    callResult = mark.callResult;
    routing_ = mark.routing;
    routingMarked_ = true;
    attributes_ = mark.attributes;
    metadata = mark.metadata;
    rewritten_ = {};
}

// To where the frame called next(). An upstream's response that was there already stays, unless somebody has replaced
// it since: then its body is gone and with it the response.
void Exchange::goBack(const Mark& mark) {
    if (answer_ != mark.answer) dropAnswer();
    restore(mark);
    if (!response.streams() || answer_) return;
    forgetAnswer();
    callResult = WEIR_CALL_RESET;
}

// ---- The end ----

void Exchange::cancel() {
    WEIR_ASSERT(!advancing_ && phase_ != Phase::Committed && phase_ != Phase::Over);
    if (operation_ == Operation::Offload) {
        cancelPending_ = true;
        return;
    }
    finishCancel();
}

void Exchange::finishCancel() {
    cancelOperation();
    while (top_) abandonTop();
    if (phase_ != Phase::Idle) carrier_.cancelCall(*this);
    use_.giveUp();
    over(WEIR_FINISH_ABORTED);
}

void Exchange::finish(weir_finish how) {
    WEIR_ASSERT(phase_ == Phase::Committed);
    over(how);
}

void Exchange::over(weir_finish how) {
    phase_ = Phase::Over;
    for (std::uint32_t i = finishedCount_; i > 0; --i) {
        const ChainEntry& entry = *finished_[i - 1];
        entry.finished(entry.plugin, this, how);
    }
    carrier_.released(*this);  // destroys this
}

// ---- What plugins and the carrier change ----

void Exchange::reply(int status, std::string_view contentType, std::string_view body) {
    if (response.streams()) dropAnswer();
    response.head.fields.removeParsed();
    response.head.status = status;
    response.head.reason = {};
    response.head.body = http::BodyKind::Length;
    response.source = ResponseSource::Local;
    response.body = copy(body);
    if (contentType.data()) response.head.fields.set("Content-Type", contentType);
    replied_ = true;
    newTarget_ = {};
}

void Exchange::replyError(int status, int code, std::string_view message) {
    if (loop_.shenyuStatuses) {
        status = shenyuStatus(status, code);
        // Its client's own timeout, with the strategy that repeats it to the same target (fact sheet 4.3).
        const bool timedOut = callResult == WEIR_CALL_TIMEOUT || callResult == WEIR_CALL_CONNECT_TIMEOUT;
        const bool repeatsThere = route() && route()->retry_strategy == WEIR_RETRY_CURRENT;
        if (code == kTimeoutCode && timedOut && repeatsThere) status = 408;
    }
    reply(status, "application/json", errorBody(code, message));
}

weir_status Exchange::redispatch(std::string_view target) {
    if (dispatches_ == WEIR_DISPATCHES) return WEIR_TOO_LARGE;
    if (bodyState == BodyState::Taken) return WEIR_IO;
    newTarget_ = copy(target);
    replied_ = true;
    return WEIR_OK;
}

void Exchange::noteFailure(int status, int code, std::string_view text) {
    failure_ = {status, code, copy(text)};
    hasFailure_ = true;
}

void Exchange::setSlot(weir_slot which, std::string_view value) {
    Routing& routing = ownRouting();
    if (!value.data()) routing.slots[which] = {};
    else if (value.data() == request.path.data() && value.size() == request.path.size())  // it stays (`global`)
        routing.slots[which] = request.path;
    else routing.slots[which] = copy(value);
    // What joinRewrittenPath() does not read leaves it as it is: rewrite's, for the plugins behind it.
    if (which != WEIR_SLOT_REWRITE_URI || slot(WEIR_SLOT_REWRITE_CONTEXT_PATH).data()) rewritten_ = {};
    if (which == WEIR_SLOT_RPC_TYPE) routing.rpc = rpcBit(value);
}

// One of those that were given before, or the client's.
void Exchange::giveBody(std::string_view body) {
    if (givenBody_.data() == body.data()) return;
    givenBody_ = body;
    bodyState = body.data() ? BodyState::Buffered : receivedState_;
    bufferedBody = body.data() ? body : receivedBody_;
}

bool Exchange::setRequestBody(std::string_view body) {
    if (bodyState != BodyState::Absent && bodyState != BodyState::Buffered) return false;
    if (!givenBody_.data()) {
        receivedState_ = bodyState;
        receivedBody_ = bufferedBody;
    }
    giveBody(copy(body));
    return true;
}

bool Exchange::setResponseBody(std::string_view body) {
    if (response.source == ResponseSource::None || !mayHaveBody()) return false;
    if (response.streams()) {
        dropAnswer();
        becomeWhole({});
    }
    response.body = copy(body);
    return true;
}

std::string_view Exchange::attribute(std::uint32_t id) const {
    for (const Attribute* attribute = attributes_; attribute; attribute = attribute->older)
        if (attribute->id == id) return attribute->value;
    return {};
}

void Exchange::setAttribute(std::uint32_t id, std::string_view value) {
    attributes_ = new (allocate(sizeof(Attribute)))
        Attribute{id, value.data() ? copy(value) : std::string_view(), attributes_};
}

std::string_view Exchange::upstreamPath() const {
    for (const weir_slot which : {WEIR_SLOT_REWRITE_URI, WEIR_SLOT_REAL_URL})
        if (slot(which).data()) return slot(which);
    return request.path;
}

bool Exchange::findMetadata(std::string_view path) {
    const MetadataIndex* index = pin_->snapshot->metadata.get();
    const MetadataIndex::Entry* found = index ? index->find(path) : nullptr;
    if (found) metadata = found;
    return found;
}

void Exchange::setRoute(const weir_route& route) {
    // Who changes a route without data of its own (httpClient, to another upstream) leaves what matched for it.
    if (!routing_->hasRoute || enteredSelector_) {
        selectorId = enteredSelector_ ? std::string_view(enteredSelector_->id) : std::string_view();
        ruleId = enteredRule_ ? std::string_view(enteredRule_->id) : std::string_view();
    }
    Routing& routing = ownRouting();
    routing.route = route;
    routing.hasRoute = true;
}

int Exchange::pickUpstream(const upstream::UpstreamSet& set, std::uint32_t balancer, const std::uint64_t* excluded) {
    return use_.pick(set, balancer,
                     {sizeof(weir_pick), 0, {clientAddress.data(), clientAddress.size()}, excluded});
}

weir_repeat Exchange::askRepeat(bool take) {
    const auto* set = route() ? reinterpret_cast<const upstream::UpstreamSet*>(route()->set) : nullptr;
    const bool unsent = callResult == WEIR_CALL_REFUSED || callResult == WEIR_CALL_CONNECT_TIMEOUT ||
                        callResult == WEIR_CALL_UNRESOLVED;
    const bool failed = callResult != WEIR_CALL_OK && callResult != WEIR_CALL_NONE;
    if (!set || !failed || bodyState == BodyState::Taken) return WEIR_REPEAT_NEVER;
    if (!unsent && !http::isIdempotent(request.method)) return WEIR_REPEAT_NEVER;
    return !take || use_.takeRetry(*set, loop_.retryBudget) ? WEIR_REPEAT_NOW : WEIR_REPEAT_LATER;
}

std::string_view Exchange::joinRewrittenPath() {
    std::string_view front = slot(WEIR_SLOT_REWRITE_CONTEXT_PATH);
    std::string_view rest = slot(WEIR_SLOT_REAL_URL);
    if (front.data()) {
        if (slot(WEIR_SLOT_REWRITE_URI).data()) rest = slot(WEIR_SLOT_REWRITE_URI);
    } else {
        front = slot(WEIR_SLOT_CONTEXT_PATH);
    }
    if (!front.data()) return request.path;
    auto* joined = static_cast<char*>(allocate(front.size() + rest.size() + 1));
    std::memcpy(joined, front.data(), front.size());
    if (!rest.empty()) std::memcpy(joined + front.size(), rest.data(), rest.size());
    rewritten_ = {joined, front.size() + rest.size()};
    return rewritten_;
}

}  // namespace weir::chain
