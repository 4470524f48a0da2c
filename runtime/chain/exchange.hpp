#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/arena.hpp"
#include "chain/loop_context.hpp"
#include "chain/snapshot.hpp"
#include "chain/upstream_use.hpp"
#include "http/message_parser.hpp"
#include "net/event_loop.hpp"
#include "weir/abi.h"

namespace weir::chain {

class Exchange;

// What carries an exchange: the client connection, or a test. Called on the loop; never calls back into the exchange
// from within these functions, except where said.
class Carrier {
public:
    // Send the request to exchange.route() and answer with exchange.complete(operation, weir_call), at once or later.
    virtual void startCall(Exchange& exchange, weir_operation operation) = 0;
    // Forget the call, whatever its state; its response body too. Nothing happens when there is none.
    virtual void cancelCall(Exchange& exchange) = 0;
    // Collect the whole request body and answer with exchange.complete(operation, weir_status, body), at once or later.
    virtual void readBody(Exchange& exchange, weir_operation operation, std::size_t limit) = 0;
    virtual void cancelReadBody(Exchange& exchange) = 0;
    // Collect the body of the upstream's response and answer with exchange.complete(operation, weir_status, body), at
    // once or later. WEIR_OK: it is whole, and the call is over. WEIR_TOO_LARGE: it has more than `limit` bytes; what
    // was read goes out first at commit. WEIR_IO: it broke off, and the response is lost.
    virtual void readResponse(Exchange& exchange, weir_operation operation, std::size_t limit) = 0;
    // Stop collecting. What was read is kept, as after WEIR_TOO_LARGE.
    virtual void cancelReadResponse(Exchange& exchange) = 0;
    // The chain is over: write the response. The exchange is told how that ended by finish().
    virtual void commit(Exchange& exchange) = 0;
    // After finish(): all frames are gone and finished() has run; the exchange can be destroyed. Called once, as the
    // last thing the exchange does.
    virtual void released(Exchange& exchange) = 0;

protected:
    ~Carrier() = default;
};

// Hears what the forward walk does, for who explains it. Called on the loop; must not change the exchange.
class Tracer {
public:
    virtual void passedOver(const ChainEntry& entry) = 0;  // for its RPC types
    // Its selectors and rules are about to be asked, if it has any, and it to be entered if they say so.
    virtual void considering(const ChainEntry& entry, Exchange& exchange) = 0;
    virtual void answered(const ChainEntry& entry, std::int32_t answer) = 0;  // weir_answer of enter()
    // It has sent the request through the chain again: instead of answered(), or later, from its return part.
    virtual void dispatched(const ChainEntry& entry, std::string_view target) = 0;

protected:
    ~Tracer() = default;
};

// Whether the request can be sent again.
enum class BodyState : std::uint8_t {
    Absent,
    Streaming,  // not touched yet
    Buffered,   // whole, in the arena
    Taken,      // bytes of it are gone
};

// Where the response comes from.
enum class ResponseSource : std::uint8_t {
    None,
    Local,     // status, fields and body were set here
    Upstream,  // the head came from the call; its body follows
    Whole,     // the head came from a call; the body was collected, or given by a plugin
};

// The response as it stands. head.status is 0 while there is none. Fields that plugins set before an upstream's head
// arrives stay, unless the upstream sends the same name.
struct ResponseState {
    explicit ResponseState(base::Arena& arena) : head(arena) {}

    http::ResponseHead head;
    ResponseSource source = ResponseSource::None;
    std::string_view body;  // of a local or a whole one

    bool streams() const { return source == ResponseSource::Upstream; }
};

// One request and its response, and the walk through the chain. Lives in its own arena (make/destroy). Loop thread
// only.
//
// The walk is a loop, not recursion: forward in ascending order until a plugin replies or the end is reached, then back
// through the frames that asked for it, last first. Plugins wait at one place at a time: at most one operation is
// outstanding, and it belongs to the innermost frame.
class Exchange final : public base::Arena {
public:
    // In a fresh chunk of the loop's pool. `pin` is counted until destroy().
    static Exchange* make(LoopContext& loop, Carrier& carrier);
    static void destroy(Exchange* exchange);

    // ---- for the carrier ----
    // Runs the chain of the loop's current snapshot. The request head must be complete.
    void start();
    // An operation's end. Stale ids are ignored. Not while a plugin runs (see Carrier): then it is taken up when the
    // plugin has returned.
    void complete(weir_operation operation, std::int32_t status, std::string_view data = {});
    // Before complete(): the call that was asked for was never made, and that says nothing of the upstream.
    void callNotMade() { use_.notCalled(); }
    // The client is gone or the gateway stops, before commit: cancels the operation, drops the frames innermost first,
    // resumes nothing, runs finished(Aborted), then Carrier::released - later, when offloaded work still runs.
    void cancel();
    // After commit: the response is written or broke off. Runs finished(), then Carrier::released.
    void finish(weir_finish how);

    // The response is an error of the gateway itself (ShenYu's envelope), an upstream's is dropped.
    [[gnu::cold]] void replyError(int status, int code, std::string_view message);
    void reply(int status, std::string_view contentType, std::string_view body);

    bool running() const { return phase_ != Phase::Idle && phase_ != Phase::Committed && phase_ != Phase::Over; }
    bool committed() const { return phase_ == Phase::Committed; }

    LoopContext& loop() { return loop_; }
    base::Arena& arena() { return *this; }

    http::RequestHead request;
    ResponseState response;
    BodyState bodyState = BodyState::Absent;
    std::string_view bufferedBody;
    std::string_view clientAddress;
    std::string_view requestId;
    weir_call callResult = WEIR_CALL_NONE;
    // For the metrics and the access log: when it began (steady, 0: not noted); the last upstream called and how long
    // that took, and what matched where the route was set.
    std::uint64_t beganNs = 0;
    std::uint64_t upstreamNs = 0;
    std::string_view upstream;
    std::string_view selectorId;
    std::string_view ruleId;
    const MetadataIndex::Entry* metadata = nullptr;  // attached by a plugin; the snapshot's
    Tracer* tracer = nullptr;     // outlives the walk
    bool upgradeAllowed = false;  // a plugin lets the client's Upgrade through
    bool preserveHost = false;    // the upstream gets the client's Host

    std::string_view slot(weir_slot which) const { return routing_->slots[which]; }
    void setSlot(weir_slot which, std::string_view value);  // value is copied; data() == nullptr unsets
    void setQuery(std::string_view query) { request.query = query.data() ? copy(query) : std::string_view(); }
    // The request's and the response's body, copied. false: bytes of the old one are on their way, or may not be there
    // at all (HEAD, 204, 304, a protocol switch, no response yet).
    bool setRequestBody(std::string_view body);
    bool setResponseBody(std::string_view body);
    std::string_view attribute(std::uint32_t id) const;
    void setAttribute(std::uint32_t id, std::string_view value);
    const weir_route* route() const { return routing_->hasRoute ? &routing_->route : nullptr; }
    void setRoute(const weir_route& route);
    // A balancer's choice for this request; -1: none is left. The balancer hears of it once more: that the head came,
    // or that none did.
    int pickUpstream(const upstream::UpstreamSet& set, std::uint32_t balancer, const std::uint64_t* excluded);
    // Whether the request may be sent again after its call has failed. take: to begin now, as the budget allows.
    weir_repeat askRepeat(bool take);
    // Attaches the metadata of that path; false: there is none, and nothing changes.
    bool findMetadata(std::string_view path);
    std::string_view upstreamPath() const;  // what the upstream is asked for, without the query
    // ShenYu's rewritten raw path (fact sheet 3.3).
    std::string_view rewrittenPath() { return rewritten_.data() ? rewritten_ : joinRewrittenPath(); }

    // ---- for the host table: called by plugins, within enter or resume ----
    weir_operation startUpstreamCall();
    weir_operation startReadBody(std::size_t limit);
    weir_operation startReadResponse(std::size_t limit);
    weir_operation startSleep(std::uint64_t ns);
    weir_operation startOffload(void (*work)(void*), void* arg);
    weir_status redispatch(std::string_view target);
    bool replied() const { return replied_; }
    void noteFailure(int status, int code, std::string_view text);

private:
    enum class Phase : std::uint8_t { Idle, Forward, Return, Waiting, Committed, Over };
    enum class Operation : std::uint8_t { None, Call, Body, Response, Sleep, Offload };

    // Where the request goes. Marks share it: who changes it goes through ownRouting().
    struct Routing {
        std::array<std::string_view, WEIR_SLOT_COUNT> slots;
        weir_route route{};
        bool hasRoute = false;
        RpcMask rpc = kHttpBit;
    };
    // State that a timeout or a second walk goes back to.
    struct Mark {
        http::FieldTable::Mark request;
        std::string_view query;
        std::string_view givenBody;
        http::FieldTable::Mark response;
        int status;
        std::string_view reason;
        ResponseSource source;
        std::string_view body;
        weir_operation answer;
        weir_call callResult;
        Routing* routing;
        struct Attribute* attributes;
        const MetadataIndex::Entry* metadata;
    };
    // A plugin whose frame is alive; a stack, innermost on top. Kept for reuse when a walk is repeated.
    struct Entered {
        Exchange& exchange;
        net::Timer deadline;  // armed while it waits for next(deadline)
        const ChainEntry* entry = nullptr;
        weir_frame* frame = nullptr;
        Entered* below = nullptr;
        std::uint32_t next = 0;   // chain position behind it
        bool forwarded = false;   // has called next() at least once
        bool restored = false;    // the state is that of its mark plus its own edits (after a timeout)
        Mark mark;                // at its last next()

        explicit Entered(Exchange& owner) : exchange(owner), deadline(&Entered::onDeadline, this) {}
        static void onDeadline(void* self);
    };

    Exchange(LoopContext& loop, Carrier& carrier, void* chunk);
    ~Exchange();

    void advance();
    void walkForward();
    bool choose(const ChainEntry& entry, weir_match& match);
    void logMatch(const ChainEntry& entry, const match::Selector& selector, const match::Rule* rule) const;
    void answered(const ChainEntry& entry, std::int32_t answer, const weir_outcome& outcome);
    void resumed(Entered& top, std::int32_t answer, const weir_outcome& outcome);
    void resumeTop(const weir_event& event);
    void wait(const ChainEntry& entry);
    void count(const ChainEntry& entry, base::LoopCounter PluginCounters::* what) const {
        if (PluginCounters* counters = countersOf(entry)) ++(counters->*what);
    }
    PluginCounters* countersOf(const ChainEntry& entry) const {  // null: nobody counts
        return entry.counters && loop_.number != LoopContext::kUncounted ? &entry.counters[loop_.number] : nullptr;
    }
    void walkFrom(Entered& top, std::uint64_t deadlineNs);
    void left(Entered& top);
    void ended(const ChainEntry& entry, bool forwarded);
    [[gnu::cold]] void walkAnew(const ChainEntry& entry);
    [[gnu::cold]] void failed(const ChainEntry& entry);
    [[gnu::cold]] void misbehaved(const ChainEntry& entry, std::string_view what);
    void schedule(std::uint32_t kind, std::int32_t status, std::string_view data);
    [[gnu::cold]] void timeOut(Entered& entered);
    void push(const ChainEntry& entry, weir_frame* frame);
    void pop();
    [[gnu::cold]] void dropTop();
    [[gnu::cold]] void abandonTop();
    bool replayable() const { return bodyState == BodyState::Absent || bodyState == BodyState::Buffered; }
    void rememberFinished(const ChainEntry& entry);
    weir_operation begin(Operation kind);
    void cancelOperation() {
        use_.giveRetry();
        eventReady_ = false;
        if (operation_ != Operation::None) cancelOutstanding();
    }
    [[gnu::cold]] void cancelOutstanding();
    [[gnu::cold]] void dropAnswer();
    void forgetAnswer();
    [[gnu::cold]] void goBack(const Mark& mark);
    bool mayHaveBody() const;
    void giveBody(std::string_view body);
    [[gnu::cold]] void becomeWhole(std::string_view body);
    [[gnu::cold]] void finishCancel();
    void over(weir_finish how);
    Routing& ownRouting() { return routingMarked_ ? copyRouting() : *routing_; }  // what no mark refers to
    Routing& copyRouting();
    void saveMark(Mark& mark);
    void restore(const Mark& mark);
    std::string_view joinRewrittenPath();
    static void onSleepOver(void* self);

    LoopContext& loop_;
    Carrier& carrier_;
    SnapshotPin* pin_ = nullptr;
    void* chunk_;

    Phase phase_ = Phase::Idle;
    Operation operation_ = Operation::None;  // outstanding
    bool inPlugin_ = false;
    bool advancing_ = false;
    bool replied_ = false;        // by the plugin that runs, since it was entered or resumed
    bool failed_ = false;         // the walk comes back with an error reply that no frame has replaced
    bool cancelPending_ = false;  // waits for offloaded work
    bool eventReady_ = false;     // `event_` is to be handed to the top frame
    bool routingMarked_ = false;  // a mark refers to what is in force
    bool hasFailure_ = false;
    std::uint8_t dispatches_ = 0;  // walks from the start that followed the first
    std::uint32_t position_ = 0;  // next in the chain
    weir_operation operationId_ = 0;
    weir_operation answer_ = 0;  // the call whose response the carrier holds; 0: none
    std::shared_ptr<Exchange*> offload_;  // how running work finds back; null inside when nobody waits for it any more
    weir_event event_{};
    Entered* top_ = nullptr;
    Entered* spare_ = nullptr;
    Entered* timedOut_ = nullptr;  // outermost frame whose deadline passed while offloaded work ran
    const ChainEntry** finished_ = nullptr;  // plugins that want finished(), in order of entering
    std::uint32_t finishedCount_ = 0;

    std::string_view givenBody_;                        // the request's, by a plugin; data() == nullptr: none
    std::string_view receivedBody_;                     // the client's, while another is given
    BodyState receivedState_ = BodyState::Absent;       // likewise
    Routing firstRouting_;
    Routing* routing_ = &firstRouting_;  // in force
    struct Attribute* attributes_ = nullptr;
    UpstreamUse use_;
    // What matched for the plugin entered last. The two are apart, or the compiler copies them as one: as a load of 16
    // bytes that waits for two stores of eight.
    const match::Selector* enteredSelector_ = nullptr;
    // As the chain began, for a walk from the start.
    http::FieldTable::Mark requestMark_ = 0;
    http::FieldTable::Mark responseMark_ = 0;
    std::string_view clientQuery_;
    const match::Rule* enteredRule_ = nullptr;
    std::string_view newTarget_;  // where the plugin that runs sends the request; data() == nullptr: nowhere
    std::string_view rewritten_;  // cached; data() == nullptr: not built
    net::Timer sleepTimer_;
    struct Failure {
        int status;
        int code;
        std::string_view text;
    } failure_{};
};

// A value that travels with the exchange; newest first, an older one of the same id is shadowed.
struct Attribute {
    std::uint32_t id;
    std::string_view value;
    Attribute* older;
};

}  // namespace weir::chain
