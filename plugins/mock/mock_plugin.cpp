#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mock_handle.hpp"
#include "weir/module.hpp"

namespace {

using weir::mock::MockHandle;
using weir::mock::Template;

constexpr std::size_t kLargestBody = 1024 * 1024;  // that #req.json is taken from

class ExchangeData final : public weir::mock::RequestData {
public:
    ExchangeData(weir::Exchange& exchange, std::string_view body) : request_(exchange.request()), body_(body) {}

    std::string_view method() const override { return request_.method(); }
    std::string uri() const override {
        std::string uri = "http://";
        uri.append(request_.header("Host").value_or("")).append(request_.path());
        if (request_.query().data()) uri.append("?").append(request_.query());
        return uri;
    }
    std::string_view query() const override { return request_.query(); }
    std::string_view body() const override { return body_; }
    std::optional<std::string_view> header(std::string_view name) const override { return request_.header(name); }
    void forEachHeader(const std::function<void(std::string_view, std::string_view)>& visit) const override {
        request_.forEachHeader(visit);
    }

private:
    weir::Request request_;
    std::string_view body_;
};

class Mock final : public weir::RulePlugin<MockHandle> {
public:
    bool prepareRule(MockHandle& handle, weir_error*) override {
        std::vector<std::string> faults;
        handle.content = Template::parse(handle.responseContent, faults);
        for (const std::string& fault : faults)
            host().log(weir::LogLevel::Warning, "plugin 'mock': responseContent answers an error text for " + fault);
        return true;
    }

    weir::Task<> execute(weir::Exchange& exchange, weir::Next next, const MockHandle& handle) override {
        if (!handle.mocks()) {
            co_await next();
            co_return;
        }
        std::string_view body;
        if (handle.content.readsBody()) body = co_await exchange.request().body(kLargestBody);
        const std::optional<std::string> content = handle.content.render(ExchangeData(exchange, body));
        if (!content) throw weir::Error(500, -1, "responseContent makes an answer of more than 1 MiB");
        exchange.reply(handle.status(), *content, "application/json");
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Mock>("mock", {.order = 1}))
