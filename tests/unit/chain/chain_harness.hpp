#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chain/exchange.hpp"
#include "chain/host_table.hpp"
#include "chain/loop_context.hpp"
#include "chain/worker_pool.hpp"
#include "weir/module.hpp"

namespace weir::chain::test {

// What happened, in order. Shared by plugins, guards and carrier.
using Trace = std::vector<std::string>;

// Says in the trace when a coroutine's locals are destroyed.
class Guard {
public:
    Guard(Trace& trace, std::string name) : trace_(trace), name_(std::move(name)) {}
    ~Guard() { trace_.push_back("~" + name_); }
    Guard(const Guard&) = delete;

private:
    Trace& trace_;
    std::string name_;
};

// A plugin whose execute() is a lambda coroutine `Task<>(weir::Exchange&, Next)`.
class Coroutine final : public Plugin {
public:
    using Script = std::function<Task<>(weir::Exchange&, Next)>;
    Script script;
    Trace* trace = nullptr;
    std::string name;

    Task<> execute(weir::Exchange& exchange, Next next) override { return script(exchange, next); }
    void finished(weir::Exchange&, Finish how) override {
        if (trace) trace->push_back("finished " + name + (how == Finish::Ok ? " ok" : " aborted"));
    }
};

// A plugin without a return part.
class Plain final : public Plugin {
public:
    std::function<Answer(weir::Exchange&)> script;
    Answer onRequest(weir::Exchange& exchange) override { return script(exchange); }
};

// Plugins, a loop and one exchange at a time; plays the client connection.
class Harness final : public Carrier {
public:
    Harness() : workers_(2), context_(loop, workers_, [this](auto old) { returned.push_back(std::move(old)); }) {
        detail::hostTable = &host_;
    }
    ~Harness() {
        if (exchange && exchange->running()) exchange->cancel();
        spinUntil([this] { return exchange == nullptr; });
    }

    // ---- the chain ----
    Coroutine& coroutine(std::string name, Coroutine::Script script) {
        auto plugin = std::make_unique<Coroutine>();
        plugin->script = std::move(script);
        plugin->trace = &trace;
        plugin->name = name;
        Coroutine& made = *plugin;
        add(detail::PluginTable<Coroutine>::make(""), std::move(plugin), name);
        return made;
    }
    void plain(std::string name, std::function<Answer(weir::Exchange&)> script) {
        auto plugin = std::make_unique<Plain>();
        plugin->script = std::move(script);
        add(detail::PluginTable<Plain>::make(""), std::move(plugin), name);
    }
    // A table made by hand, as a C module would.
    void raw(std::string name, const weir_plugin& table, void* plugin) {
        tables_.push_back(std::make_unique<weir_plugin>(table));
        addEntry(*tables_.back(), plugin, std::move(name));
    }
    chain::ChainEntry& entry(std::size_t index) { return snapshot->chain[index]; }

    // ---- the request ----
    void start(BodyState bodyState = BodyState::Absent) {
        context_.switchTo(snapshot);
        exchange = Exchange::make(context_, *this);
        exchange->request.method = "GET";
        exchange->request.target = exchange->request.path = "/path";
        exchange->bodyState = bodyState;
        exchange->clientAddress = "192.0.2.1";
        exchange->requestId = "1";
        exchange->start();
    }
    // The client has taken the response.
    void finish() { exchange->finish(WEIR_FINISH_OK); }
    // The upstream answers the call.
    void answerCall(int status = 200) {
        exchange->response.head.fields.beginEdit();
        exchange->response.head.fields.append(http::FieldId::Other, "x-upstream", "yes");
        exchange->response.head.status = status;
        exchange->response.source = ResponseSource::Upstream;
        exchange->complete(call, WEIR_CALL_OK);
    }

    void spinUntil(const std::function<bool()>& done) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done() && std::chrono::steady_clock::now() < end) loop.runOnce(net::Milliseconds(20));
    }
    bool committed() const { return exchange && exchange->committed(); }
    LoopContext& context() { return context_; }

    net::EventLoop loop;
    Trace trace;
    std::shared_ptr<Snapshot> snapshot = std::make_shared<Snapshot>();
    std::vector<std::shared_ptr<const Snapshot>> returned;
    Exchange* exchange = nullptr;
    weir_operation call = 0;
    weir_operation body = 0;
    int calls = 0;

private:
    template <class T>
    void add(const weir_plugin& table, std::unique_ptr<T> plugin, std::string name) {
        tables_.push_back(std::make_unique<weir_plugin>(table));
        addEntry(*tables_.back(), plugin.get(), std::move(name));
        plugins_.push_back(std::shared_ptr<T>(std::move(plugin)));
    }
    void addEntry(const weir_plugin& table, void* plugin, std::string name) {
        ChainEntry made(table, plugin);
        made.key = std::move(name);
        made.noSelector = made.key + ":Can not find selector, please check your configuration!";
        made.noRule = made.key + ":Rule not found!";
        snapshot->chain.push_back(std::move(made));
    }

    void startCall(Exchange&, weir_operation operation) override {
        trace.push_back("call");
        call = operation;
        ++calls;
    }
    void cancelCall(Exchange&) override {
        if (call) trace.push_back("cancel call");
        call = 0;
    }
    void readBody(Exchange&, weir_operation operation, std::size_t) override { body = operation; }
    void cancelReadBody(Exchange&) override { trace.push_back("cancel body"); }
    void readResponse(Exchange&, weir_operation operation, std::size_t) override { body = operation; }
    void cancelReadResponse(Exchange&) override { trace.push_back("cancel response"); }
    void commit(Exchange& over) override {
        trace.push_back("commit " + std::to_string(over.response.head.status));
    }
    void released(Exchange& over) override {
        trace.push_back("released");
        Exchange::destroy(&over);
        exchange = nullptr;
    }

    ControlServices services_;
    HostTable host_{services_};
    WorkerPool workers_;
    LoopContext context_;
    std::vector<std::unique_ptr<weir_plugin>> tables_;
    std::vector<std::shared_ptr<void>> plugins_;
};

}  // namespace weir::chain::test
