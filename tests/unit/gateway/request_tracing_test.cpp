#include "gateway/request_tracing.hpp"

#include <string>
#include <utility>
#include <vector>

#include "chain/worker_pool.hpp"
#include "gateway/access_line.hpp"
#include "gateway/trace_context.hpp"
#include "support/catch.hpp"

using namespace weir;
using config::Traceparent;
using gateway::IdSource;
using gateway::TracingSettings;

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

const std::string kValid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const std::string kInvalid = "00-00000000000000000000000000000000-b7ad6b7169203331-01";

class NoCarrier final : public chain::Carrier {
    void startCall(chain::Exchange&, weir_operation) override {}
    void cancelCall(chain::Exchange&) override {}
    void readBody(chain::Exchange&, weir_operation, std::size_t) override {}
    void cancelReadBody(chain::Exchange&) override {}
    void readResponse(chain::Exchange&, weir_operation, std::size_t) override {}
    void cancelReadResponse(chain::Exchange&) override {}
    void commit(chain::Exchange&) override {}
    void released(chain::Exchange&) override {}
};

// A request with these fields, made traceable.
class Request {
public:
    explicit Request(Fields fields, TracingSettings settings = TracingSettings({}))
        : settings_(std::move(settings)), received_(std::move(fields)) {
        for (const auto& [name, value] : received_)
            exchange_.request.fields.append(http::fieldId(name), name, value);
        gateway::prepareTracing(exchange_, settings_, ids_);
    }
    ~Request() { chain::Exchange::destroy(&exchange_); }

    std::string id() const { return std::string(exchange_.requestId); }
    std::vector<std::string> values(std::string_view name) const { return valuesOf(exchange_.request.fields, name); }
    // Of the response, which the upstream sent with these fields.
    std::vector<std::string> answered(std::string_view name, const Fields& fields) {
        for (const auto& [field, value] : fields)
            exchange_.response.head.fields.append(http::fieldId(field), field, value);
        gateway::answerRequestId(exchange_, settings_);
        return valuesOf(exchange_.response.head.fields, name);
    }
    chain::Exchange& exchange() { return exchange_; }
    std::size_t count() const { return exchange_.request.fields.count(); }
    bool editsSurviveConnection(std::string_view name) const {
        for (const auto& field : exchange_.request.fields)
            if (field.alive() && http::equalsIgnoreCase(field.name, name)) return !field.parsed;
        return false;
    }

private:
    static std::vector<std::string> valuesOf(const http::FieldTable& fields, std::string_view name) {
        std::vector<std::string> found;
        for (const auto& field : fields)
            if (field.alive() && http::equalsIgnoreCase(field.name, name)) found.emplace_back(field.value);
        return found;
    }

    net::EventLoop loop_;
    chain::WorkerPool workers_{1};
    chain::LoopContext context_{loop_, workers_, [](auto) {}};
    NoCarrier carrier_;
    chain::Exchange& exchange_ = *chain::Exchange::make(context_, carrier_);
    IdSource ids_;
    TracingSettings settings_;
    Fields received_;
};

TracingSettings settings(const std::string& header, bool trust, Traceparent traceparent = Traceparent::Start) {
    config::Settings::Server server;
    server.requestIdHeader.text = header;
    server.trustRequestId = trust;
    server.traceparent = traceparent;
    return TracingSettings(server);
}

using Values = std::vector<std::string>;

}  // namespace

TEST_CASE("a request gets an id of its own, which goes on in the header, and a client's is replaced") {
    const Fields rows[] = {{}, {{"X-Request-Id", "mine"}}, {{"x-request-id", "a"}, {"X-REQUEST-ID", "b"}}};
    for (const Fields& fields : rows) {
        Request request(fields);
        CHECK(request.id().size() == IdSource::kIdDigits);
        CHECK(request.values("X-Request-Id") == Values{request.id()});
        CHECK(request.editsSurviveConnection("X-Request-Id"));
        CHECK(request.answered("x-request-id", {{"X-Request-ID", "the upstream's"}}) == Values{request.id()});
    }
}

TEST_CASE("a trusted client's id is taken over if there is one and it looks like one") {
    struct Row { Fields fields; bool taken; };
    const Row rows[] = {
        {{{"x-request-id", "abc-1.2_3"}}, true},
        {{{"X-Request-Id", std::string(128, 'a')}}, true},
        {{{"X-Request-Id", std::string(129, 'a')}}, false},
        {{{"X-Request-Id", ""}}, false},
        {{{"X-Request-Id", "a b"}}, false},
        {{{"X-Request-Id", "a\" 200 \""}}, false},
        {{{"X-Request-Id", "a"}, {"X-Request-Id", "b"}}, false},
        {{{"Request-Id", "a"}}, false},
    };
    for (const Row& row : rows) {
        Request request(row.fields, settings("X-Request-Id", true));
        INFO(row.fields[0].second);
        CHECK((request.id() == row.fields[0].second) == row.taken);
        CHECK(request.values("X-Request-Id") == Values{request.id()});
        CHECK(request.answered("X-Request-Id", {}) == Values{request.id()});
    }
}

TEST_CASE("without a header for it the id is for the log alone, and the client's header is left as it is") {
    Request request({{"X-Request-Id", "mine"}}, settings("", true));
    CHECK(request.id().size() == IdSource::kIdDigits);
    CHECK(request.values("X-Request-Id") == Values{"mine"});
    CHECK(request.answered("X-Request-Id", {{"X-Request-Id", "theirs"}}) == Values{"theirs"});
}

TEST_CASE("another header carries the id when the settings say so") {
    Request request({{"X-Request-Id", "mine"}}, settings("Correlation-Id", false));
    CHECK(request.values("Correlation-Id") == Values{request.id()});
    CHECK(request.values("X-Request-Id") == Values{"mine"});
}

TEST_CASE("a valid traceparent goes on as it came, with its tracestate") {
    const Fields fields = {{"TraceParent", kValid}, {"tracestate", "a=1"}, {"TraceState", "b=2"}};
    Request request(fields);
    CHECK(request.values("traceparent") == Values{kValid});
    CHECK(request.values("tracestate") == Values{"a=1", "b=2"});
}

TEST_CASE("a trace is started where there is no valid one, and its trace id is the request id") {
    const Fields rows[] = {
        {},
        {{"tracestate", "a=1"}},
        {{"traceparent", kInvalid}, {"tracestate", "a=1"}, {"Tracestate", "b=2"}},
        {{"traceparent", ""}},
        {{"traceparent", kValid}, {"Traceparent", kValid}, {"tracestate", "a=1"}},
    };
    for (const Fields& fields : rows) {
        Request request(fields);
        auto made = request.values("traceparent");
        REQUIRE(made.size() == 1);
        auto parent = gateway::parseTraceparent(made[0]);
        REQUIRE(parent);
        CHECK(parent->traceId == request.id());
        CHECK(request.values("tracestate").empty());
        CHECK(request.editsSurviveConnection("traceparent"));
    }
}

TEST_CASE("with a client's request id a new trace has an id of its own") {
    Request request({{"X-Request-Id", "mine"}}, settings("X-Request-Id", true));
    auto made = request.values("traceparent");
    REQUIRE(made.size() == 1);
    CHECK(gateway::parseTraceparent(made[0]));
}

TEST_CASE("passed trace headers are left alone, valid or not") {
    const Fields fields = {{"traceparent", kInvalid}, {"traceparent", "x"}, {"tracestate", "a=1"}};
    Request request(fields, settings("", false, Traceparent::Pass));
    CHECK(request.values("traceparent") == Values{kInvalid, "x"});
    CHECK(request.values("tracestate") == Values{"a=1"});
    CHECK(request.count() == 3);
    CHECK(Request({}, settings("", false, Traceparent::Pass)).count() == 0);
}

TEST_CASE("an access record has what the client sent, whatever plugins changed, and the ids that went on") {
    Request request({{"referer", "r"}, {"USER-AGENT", "u"}, {"Authorization", "secret"}, {"traceparent", kValid}});
    chain::Exchange& exchange = request.exchange();
    exchange.request.method = "POST";
    exchange.request.target = "/a?b";
    exchange.request.version = 10;
    exchange.clientAddress = "192.0.2.1";
    exchange.response.head.status = 200;  // no more than a plan before it is committed
    exchange.request.fields.set("User-Agent", "another");
    exchange.request.fields.remove("Referer");
    const gateway::AccessRecord record = gateway::accessRecord(exchange);
    CHECK(record.client == "192.0.2.1");
    CHECK(record.method == "POST");
    CHECK(record.target == "/a?b");
    CHECK(record.version == 10);
    CHECK(record.status == 0);
    CHECK(record.referer == "r");
    CHECK(record.userAgent == "u");
    CHECK(record.requestId == request.id());
    CHECK(record.traceId == "0af7651916cd43dd8448eb211c80319c");

    Request passed({{"traceparent", kInvalid}}, settings("", false, Traceparent::Pass));
    CHECK(gateway::accessRecord(passed.exchange()).traceId.empty());
}
