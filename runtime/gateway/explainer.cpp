#include "gateway/explainer.hpp"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/scalars.hpp"
#include "chain/exchange.hpp"
#include "chain/loop_context.hpp"
#include "chain/request_subject.hpp"
#include "chain/worker_pool.hpp"
#include "gateway/gateway_loop.hpp"
#include "http/message_parser.hpp"
#include "http/path_normalizer.hpp"
#include "upstream/upstream_set.hpp"

namespace weir::gateway {

namespace {

using base::Value;
using base::scalars::number;
using base::scalars::text;

constexpr std::chrono::seconds kLongest{5};
constexpr net::Milliseconds kWait{20};

std::string_view nameOf(match::Verdict::State state) {
    using State = match::Verdict::State;
    switch (state) {
        case State::Matched: return "matched";
        case State::Outranked: return "outranked";
        case State::Disabled: return "disabled";
        case State::Waiting: return "waiting";
        case State::NoConditions: return "no conditions";
        case State::Failed: return "failed";
    }
    return "";
}

std::string_view nameOf(std::int32_t answer) {
    switch (answer) {
        case WEIR_FORWARD: return "goes on";
        case WEIR_SUSPENDED: return "waits";
        case WEIR_REPLY:
        case WEIR_DONE: return "replies";
        case WEIR_FAILED: return "fails";
    }
    return "breaks the contract";
}

Value toValue(const std::vector<match::Verdict>& verdicts) {
    Value list = Value::array();
    for (const match::Verdict& verdict : verdicts) {
        Value& item = list.append(Value::object());
        item.set("id", text(verdict.id));
        item.set("name", text(verdict.name));
        item.set("state", text(nameOf(verdict.state)));
        if (!verdict.reason.empty()) item.set("reason", text(verdict.reason));
        if (!verdict.failed) continue;
        Value& condition = item.set("condition", Value::object());
        condition.set("number", number(verdict.failed->condition + 1));
        condition.set("paramType", text(verdict.failed->spec.paramType));
        condition.set("operator", text(verdict.failed->spec.operatorName));
        condition.set("paramName", text(verdict.failed->spec.paramName));
        condition.set("paramValue", text(verdict.failed->spec.paramValue));
        condition.set("value", text(verdict.failed->value));
        if (verdict.failed->clipped) condition.set("clipped", Value::scalar("true", false));
    }
    return list;
}

template <class Named>
Value nameAndId(const Named& named) {
    Value value = Value::object();
    value.set("id", text(named.id));
    value.set("name", text(named.name));
    return value;
}

// Carries an exchange that has no client, as far as to the call of an upstream.
class Explainer final : public chain::Carrier, public chain::Tracer {
public:
    Explainer(const manage::ExplainRequest& asked, const config::Settings& settings, std::uint64_t version)
        : asked_(asked), settings_(settings), version_(version) {}

    base::Result<Value> run(net::EventLoop& events, chain::LoopContext& context) {
        exchange_ = chain::Exchange::make(context, *this);
        if (auto read = readRequest(); !read.ok()) {
            chain::Exchange::destroy(std::exchange(exchange_, nullptr));
            return std::move(read).error();
        }
        describeRequest();
        exchange_->tracer = this;
        exchange_->clientAddress = asked_.client;
        exchange_->requestId = "explain";
        exchange_->start();
        const auto end = std::chrono::steady_clock::now() + kLongest;
        while (!calls_ && !answered_ && std::chrono::steady_clock::now() < end) events.runOnce(kWait);
        describe();
        if (exchange_->committed()) exchange_->finish(WEIR_FINISH_ABORTED);
        else exchange_->cancel();
        while (exchange_) events.runOnce(kWait);  // work that was offloaded is waited for
        return std::move(explained_);
    }

private:
    // ---- Carrier ----
    void startCall(chain::Exchange&, weir_operation) override { calls_ = true; }
    void cancelCall(chain::Exchange&) override {}
    void readBody(chain::Exchange&, weir_operation, std::size_t) override {}  // it is absent or whole
    void cancelReadBody(chain::Exchange&) override {}
    void readResponse(chain::Exchange&, weir_operation, std::size_t) override {}  // no call is made
    void cancelReadResponse(chain::Exchange&) override {}
    void commit(chain::Exchange&) override { answered_ = true; }
    void released(chain::Exchange& exchange) override {
        exchange_ = nullptr;
        chain::Exchange::destroy(&exchange);
    }

    // ---- Tracer ----
    Value& next(const chain::ChainEntry& entry) {
        last_ = &plugins_.append(Value::object());
        last_->set("plugin", text(entry.key));
        return *last_;
    }
    void passedOver(const chain::ChainEntry& entry) override {
        Value& plugin = next(entry);
        plugin.set("outcome", text("passed over"));
        plugin.set("reason", text("not for this RPC type"));
    }
    void considering(const chain::ChainEntry& entry, chain::Exchange& exchange) override {
        Value& plugin = next(entry);
        if (!entry.matches) {
            plugin.set("outcome", text("entered"));
            return;
        }
        const chain::RequestSubject subject(exchange);
        match::Explanation told{{match::Choice::NoSelector, nullptr, nullptr}, {}, 0, {}, 0};
        if (entry.matcher) told = entry.matcher->explain(subject, asked_.limit);
        const auto outcome = told.choice.outcome;
        plugin.set("outcome", text(outcome == match::Choice::Matched      ? "entered"
                                   : outcome == match::Choice::NoSelector ? "no selector"
                                                                          : "no rule"));
        plugin.set("uri", text(subject.uri()));
        if (told.choice.selector) plugin.set("selector", nameAndId(*told.choice.selector));
        if (told.choice.rule) plugin.set("rule", nameAndId(*told.choice.rule));
        plugin.set("selectors", toValue(told.selectors));
        plugin.set("selectorsTotal", number(told.selectorsTotal));
        if (!told.choice.selector) return;
        plugin.set("rules", toValue(told.rules));
        plugin.set("rulesTotal", number(told.rulesTotal));
    }
    void answered(const chain::ChainEntry&, std::int32_t answer) override {
        last_->set("answer", text(calls_ ? "calls the upstream" : nameOf(answer)));
    }
    void dispatched(const chain::ChainEntry& entry, std::string_view target) override {
        Value& plugin = next(entry);
        plugin.set("outcome", text("sent through the chain again"));
        plugin.set("target", text(target));
    }

    // Through the parser and the path's policy, as a client's.
    base::Result<void> readRequest() {
        const auto refused = [](std::string_view why) {
            return base::Error{base::ErrorCode::InvalidConfig, "", "the gateway would not take it: " + std::string(why)};
        };
        head_ = asked_.request + " HTTP/1.1\r\n";
        bool host = false;
        for (const auto& [name, value] : asked_.headers) {
            head_ += name + ": " + value + "\r\n";
            host = host || http::fieldId(name) == http::FieldId::Host;
        }
        if (!host) head_ += "Host: localhost\r\n";
        head_ += "\r\n";
        const RequestLimits limits(settings_, 1);
        http::RequestParser* parser = http::RequestParser::make(*exchange_, exchange_->request, limits.parse);
        const http::Fed fed = parser->feed(head_.data(), head_.size());
        if (fed.error) return refused(fed.error.reason);
        if (!fed.head || fed.consumed != head_.size()) return refused("it is more than a request's head");
        const std::string_view method = exchange_->request.method;
        if (method == "TRACE" || !limits.allows(method)) return refused("its method is not served");
        const auto bad = http::normalizePath(exchange_->request, *exchange_, limits.path);
        if (bad) return refused(bad.reason);
        if (exchange_->request.target == "*") return refused("OPTIONS * is answered by the gateway itself");
        if (asked_.body.empty()) return {};
        exchange_->bodyState = chain::BodyState::Buffered;
        exchange_->bufferedBody = asked_.body;
        return {};
    }

    // As it came: plugins may send it elsewhere.
    void describeRequest() {
        const http::RequestHead& head = exchange_->request;
        explained_ = Value::object();
        explained_.set("snapshot", number(version_));
        Value& request = explained_.set("request", Value::object());
        request.set("method", text(head.method));
        request.set("path", text(head.path));
        if (head.query.data()) request.set("query", text(head.query));
        request.set("host", text(head.host));
        request.set("client", text(asked_.client));
    }

    void describe() {
        explained_.set("rpcType", text(exchange_->slot(WEIR_SLOT_RPC_TYPE)));
        explained_.set("metadata", metadata());
        explained_.set("plugins", std::move(plugins_));
        explained_.set("result", text(calls_ ? "upstream" : answered_ ? "response" : "suspended"));
        if (calls_) explained_.set("upstream", upstream());
        else if (answered_) explained_.set("response", response());
    }

    Value metadata() const {
        if (!exchange_->metadata) return Value::null();
        Value value = Value::object();
        const data::MetaData& data = *exchange_->metadata->data;
        value.set("id", text(data.id));
        value.set("path", text(data.path));
        value.set("appName", text(data.appName));
        value.set("rpcType", text(data.rpcType));
        return value;
    }

    Value upstream() const {
        const weir_route* route = exchange_->route();
        Value value = Value::object();
        const auto* set = route ? reinterpret_cast<const upstream::UpstreamSet*>(route->set) : nullptr;
        const bool known = set && route->index >= 0 && static_cast<std::size_t>(route->index) < set->size();
        value.set("url", known ? text(set->server(route->index)->url) : Value::null());
        std::string path(exchange_->upstreamPath());
        if (exchange_->request.query.data()) path += "?" + std::string(exchange_->request.query);
        value.set("path", text(path));
        if (!route) return value;
        value.set("timeoutMs", number(route->timeout_ms));
        value.set("retry", number(route->retry));
        return value;
    }

    Value response() const {
        Value value = Value::object();
        value.set("status", number(static_cast<std::uint64_t>(exchange_->response.head.status)));
        value.set("body", text(exchange_->response.body));
        return value;
    }

    const manage::ExplainRequest& asked_;
    const config::Settings& settings_;
    const std::uint64_t version_;
    chain::Exchange* exchange_ = nullptr;
    std::string head_;
    Value plugins_ = Value::array();
    Value* last_ = nullptr;  // of plugins_
    Value explained_;
    bool calls_ = false;
    bool answered_ = false;
};

}  // namespace

base::Result<Value> explain(const manage::ExplainRequest& request, std::shared_ptr<const chain::Snapshot> snapshot,
                            const config::Settings& settings,
                            std::function<void(std::shared_ptr<const chain::Snapshot>)> giveBack) {
    try {
        net::EventLoop events;
        chain::WorkerPool workers(1);  // goes first and waits for what was offloaded: that posts to the loop
        chain::LoopContext context(events, workers, giveBack);
        context.shenyuStatuses = settings.compat.errorStatus == config::ErrorStatus::Shenyu;
        const std::uint64_t version = snapshot->version;
        context.switchTo(std::move(snapshot));
        return Explainer(request, settings, version).run(events, context);
    } catch (const std::system_error& e) {  // no descriptor or thread is left
        if (snapshot) giveBack(std::move(snapshot));
        return base::Error{base::ErrorCode::Io, "", e.what(), true};
    }
}

}  // namespace weir::gateway
