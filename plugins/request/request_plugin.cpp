#include <string>
#include <string_view>

#include "header_edits.hpp"
#include "pair_list.hpp"
#include "request_handle.hpp"
#include "weir/http_field.hpp"
#include "weir/module.hpp"

namespace {

using weir::request::CookieEdits;
using weir::request::PairList;
using weir::request::ParameterEdits;
using weir::request::RequestHandle;

void editQuery(weir::Request request, const ParameterEdits& edits) {
    PairList pairs(PairList::Kind::Query, request.query());
    pairs.add(edits.addParameters);
    pairs.set(edits.setParameters);
    pairs.rename(edits.replaceParameterKeys);
    pairs.remove(edits.removeParameterKeys);
    request.setQuery(pairs.empty() ? std::string_view() : std::string_view(pairs.text()));
}

void editCookies(weir::Request request, const CookieEdits& edits) {
    PairList pairs(PairList::Kind::Cookie, "");
    request.forEachHeader([&](std::string_view name, std::string_view value) {
        if (weir::equalsIgnoreCase(name, "Cookie")) pairs.append(value);
    });
    pairs.add(edits.addCookies);
    pairs.set(edits.setCookies);
    pairs.rename(edits.replaceCookieKeys);
    pairs.remove(edits.removeCookieKeys);
    if (pairs.empty()) request.removeHeader("Cookie");
    else request.setHeader("Cookie", pairs.text());
}

class RequestPlugin final : public weir::RulePlugin<RequestHandle> {
public:
    bool prepareRule(RequestHandle& handle, weir_error* error) override { return handle.prepare(error); }

    weir::Answer onRequest(weir::Exchange& exchange, const RequestHandle& handle) override {
        weir::Request request = exchange.request();
        if (!handle.parameter.empty()) editQuery(request, handle.parameter);
        if (!handle.cookie.empty()) editCookies(request, handle.cookie);
        weir::request::editHeaders(request, handle.header);
        if (handle.preserveHost) exchange.preserveHost();
        weir::request::keepUnique(request, handle.requestUnique, handle.requestHeaderUniqueStrategy);
        return handle.responseUnique.empty() ? weir::Answer::Next : weir::Answer::Execute;
    }

    weir::Task<> execute(weir::Exchange& exchange, weir::Next next, const RequestHandle& handle) override {
        co_await next();
        weir::request::keepUnique(exchange.response(), handle.responseUnique, handle.respHeaderUniqueStrategy);
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<RequestPlugin>("request", {.order = 120, .rpcTypes = {"http", "springCloud", "ai"}}))
