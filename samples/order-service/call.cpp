#include "call.hpp"

#include <Poco/Exception.h>
#include <Poco/JSON/Parser.h>
#include <Poco/NumberParser.h>
#include <Poco/StreamCopier.h>
#include <Poco/URI.h>

#include <sstream>

namespace order_service {

namespace {

std::vector<std::string_view> segments(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        path.remove_prefix(1);  // the slash
        auto end = path.find('/');
        parts.push_back(path.substr(0, end));
        path = end == std::string_view::npos ? std::string_view{} : path.substr(end);
    }
    return parts;
}

}  // namespace

Call::Call(Poco::Net::HTTPServerRequest& request, Poco::Net::HTTPServerResponse& response)
    : request_(request), response_(response) {
    const auto& target = request.getURI();
    auto queryStart = target.find('?');
    Poco::URI::decode(target.substr(0, queryStart), path_);
    if (path_.empty() || path_.front() != '/') throw Poco::SyntaxException("the target does not begin with a slash");
    if (queryStart != std::string::npos) {
        Poco::URI uri;
        uri.setRawQuery(target.substr(queryStart + 1));
        for (const auto& [name, value] : uri.getQueryParameters()) query_.emplace(name, value);
    }
    Poco::StreamCopier::copyToString(request.stream(), body_);
}

std::string Call::query(const std::string& name) const {
    auto found = query_.find(name);
    return found == query_.end() ? "" : found->second;
}

std::string Call::cookie(const std::string& name) const {
    Poco::Net::NameValueCollection cookies;
    request_.getCookies(cookies);
    return cookies.get(name, "");
}

long Call::number(const std::string& name, long fallback, long max) const {
    auto text = query(name);
    if (text.empty()) return fallback;
    auto value = Poco::NumberParser::parse64(text);
    if (value < 0 || value > max) throw Poco::RangeException(name + " must lie within 0 and " + std::to_string(max));
    return value;
}

Poco::JSON::Object::Ptr Call::json() const {
    if (body_.empty()) return new Poco::JSON::Object;
    return Poco::JSON::Parser().parse(body_).extract<Poco::JSON::Object::Ptr>();
}

bool Call::matches(std::string_view pattern) {
    auto wanted = segments(pattern);
    auto given = segments(path_);
    if (wanted.size() != given.size()) return false;
    variables_.clear();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i] == "{}") {
            variables_.emplace_back(given[i]);
        } else if (wanted[i] != given[i]) {
            return false;
        }
    }
    return true;
}

void Call::reply(const Poco::JSON::Object& object, int status) {
    std::ostringstream text;
    object.stringify(text);
    reply(text.str(), "application/json", status);
}

void Call::reply(const std::string& body, const std::string& contentType, int status) {
    response_.setStatusAndReason(static_cast<Poco::Net::HTTPResponse::HTTPStatus>(status));
    response_.setContentType(contentType);
    response_.sendBuffer(body.data(), body.size());
}

}  // namespace order_service
