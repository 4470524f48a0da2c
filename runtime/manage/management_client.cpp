#include "manage/management_client.hpp"

#include <algorithm>
#include <initializer_list>
#include <istream>
#include <system_error>

#include <Poco/Exception.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/NetException.h>
#include <Poco/URI.h>

namespace weir::manage {

namespace {

using base::Error;
using base::ErrorCode;
using base::Value;

constexpr int kTimeout = 5;  // seconds for each step
constexpr std::size_t kBodyLimit = 16 * 1024 * 1024;

struct Answer {
    int status;
    std::string body;
};

std::string readBody(std::istream& in) {
    std::string body;
    char part[16384];
    while (body.size() < kBodyLimit && (in.read(part, sizeof part), in.gcount() > 0))
        body.append(part, static_cast<std::size_t>(in.gcount()));
    return body;
}

// A body makes it a POST.
base::Result<Answer> call(const ManagementAddress& address, const config::Secret& token, const std::string& path,
                          const std::string& body = {}) {
    using Poco::Net::HTTPRequest;
    const auto failed = [&](std::string message) {
        return Error{ErrorCode::Io, address.url, std::move(message), true};
    };
    try {
        Poco::Net::HTTPClientSession session(address.host, address.port);
        session.setTimeout(Poco::Timespan(kTimeout, 0));
        HTTPRequest request(body.empty() ? HTTPRequest::HTTP_GET : HTTPRequest::HTTP_POST, path,
                            HTTPRequest::HTTP_1_1);
        if (!body.empty()) request.setContentLength64(static_cast<Poco::Int64>(body.size()));
        if (!token.empty()) request.set("Authorization", "Bearer " + token.reveal());
        session.sendRequest(request) << body;
        Poco::Net::HTTPResponse response;
        std::istream& answer = session.receiveResponse(response);
        return Answer{response.getStatus(), readBody(answer)};
    } catch (const Poco::TimeoutException&) {
        return failed("no answer within " + std::to_string(kTimeout) + " s");
    } catch (const Poco::Net::NoMessageException&) {
        return failed("it closed the connection without an answer");
    } catch (const Poco::Net::MessageException&) {
        return failed("what answers there does not speak HTTP");
    } catch (const Poco::Exception& e) {
        return failed(e.code() ? std::generic_category().message(e.code()) : e.displayText());
    }
}

bool isRow(const Value& row) {
    return std::ranges::all_of(std::initializer_list<const char*>{"interface", "key", "module", "version", "state"},
                               [&](const char* name) {
                                   const Value* member = row.find(name);
                                   return member && member->isScalar();
                               });
}

}  // namespace

base::Result<ManagementAddress> parseManagementUrl(std::string_view url) {
    const std::string text(url);
    const Error wrong{ErrorCode::InvalidConfig, text, "expected a URL like http://127.0.0.1:9196"};
    try {
        const Poco::URI uri(text);
        const bool plain = uri.getUserInfo().empty() && uri.getRawQuery().empty() && uri.getFragment().empty() &&
                           (uri.getPath().empty() || uri.getPath() == "/");
        if (uri.getScheme() != "http" || uri.getHost().empty() || uri.getPort() == 0 || !plain) return wrong;
        return ManagementAddress{text, uri.getHost(), uri.getPort()};
    } catch (const Poco::Exception&) {
        return wrong;
    }
}

namespace {

Error stranger(const ManagementAddress& address) {
    return {ErrorCode::Io, address.url, "what answers there is not a Weir management port"};
}

// An answer that is not about the token.
base::Result<Answer> ask(const ManagementAddress& address, const config::Secret& token, const std::string& path,
                         const std::string& body = {}) {
    auto answer = call(address, token, path, body);
    if (!answer) return answer;
    if (answer->status == 401) {
        return Error{ErrorCode::InvalidConfig, address.url,
                     token.empty() ? "it asks for the management token: WEIR_MANAGEMENT_TOKEN, or "
                                     "--management.token.file=FILE"
                                   : "the management token is not correct"};
    }
    if (answer->status == 403) {
        return Error{ErrorCode::InvalidConfig, address.url,
                     "it is not on loopback and has no weir.management.token: it tells nobody anything"};
    }
    return answer;
}

}  // namespace

base::Result<Value> fetchModuleRows(const ManagementAddress& address, const config::Secret& token) {
    const auto answer = ask(address, token, "/spi");
    if (!answer) return answer.error();
    if (answer->status != 200) return stranger(address);
    auto rows = base::parseJson(answer->body);
    if (!rows || !rows->isArray() || !std::ranges::all_of(rows->items(), isRow)) return stranger(address);
    return rows;
}

base::Result<Value> fetchExplanation(const ManagementAddress& address, const config::Secret& token,
                                     const ExplainRequest& request) {
    const auto answer = ask(address, token, "/explain", base::toJson(toValue(request)));
    if (!answer) return answer.error();
    auto told = base::parseJson(answer->body);
    if (!told || !told->isObject()) return stranger(address);
    if (answer->status == 200) return told->find("plugins") ? std::move(told) : stranger(address);
    const Value* message = told->find("message");
    if (answer->status != 400 || !message) return stranger(address);
    return Error{ErrorCode::InvalidConfig, "", message->text()};
}

}  // namespace weir::manage
