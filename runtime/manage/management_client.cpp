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

base::Result<Answer> get(const ManagementAddress& address, const config::Secret& token) {
    using Poco::Net::HTTPRequest;
    const auto failed = [&](std::string message) {
        return Error{ErrorCode::Io, address.url, std::move(message), true};
    };
    try {
        Poco::Net::HTTPClientSession session(address.host, address.port);
        session.setTimeout(Poco::Timespan(kTimeout, 0));
        HTTPRequest request(HTTPRequest::HTTP_GET, "/spi", HTTPRequest::HTTP_1_1);
        if (!token.empty()) request.set("Authorization", "Bearer " + token.reveal());
        session.sendRequest(request);
        Poco::Net::HTTPResponse response;
        std::istream& body = session.receiveResponse(response);
        return Answer{response.getStatus(), readBody(body)};
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

base::Result<Value> fetchModuleRows(const ManagementAddress& address, const config::Secret& token) {
    const auto answer = get(address, token);
    if (!answer) return answer.error();
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
    const Error stranger{ErrorCode::Io, address.url, "what answers there is not a Weir management port"};
    if (answer->status != 200) return stranger;
    auto rows = base::parseJson(answer->body);
    if (!rows || !rows->isArray() || !std::ranges::all_of(rows->items(), isRow)) return stranger;
    return rows;
}

}  // namespace weir::manage
