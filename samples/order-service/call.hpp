#pragma once

#include <Poco/JSON/Object.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace order_service {

// One request and its answer, as the routes see it: the body is read whole before the route runs, so that a route that
// does not care for it leaves nothing behind on the connection. Lives on the connection's thread for one request.
class Call {
public:
    Call(Poco::Net::HTTPServerRequest& request, Poco::Net::HTTPServerResponse& response);

    const std::string& method() const { return request_.getMethod(); }
    // As in the request line, still encoded.
    const std::string& target() const { return request_.getURI(); }
    // Decoded.
    const std::string& path() const { return path_; }
    const std::string& body() const { return body_; }
    Poco::Net::HTTPServerRequest& request() { return request_; }
    Poco::Net::HTTPServerResponse& response() { return response_; }

    // Empty when the request has none of that name.
    std::string query(const std::string& name) const;
    std::string header(const std::string& name) const { return request_.get(name, ""); }
    std::string cookie(const std::string& name) const;
    // The query parameter as a number within [0, max], or `fallback` when there is none. Throws on anything else.
    long number(const std::string& name, long fallback, long max) const;
    // The i-th {} of the route's pattern, decoded.
    const std::string& variable(std::size_t i) const { return variables_.at(i); }
    // The body as a JSON object; an empty body is an empty object. Throws Poco::Exception on anything else.
    Poco::JSON::Object::Ptr json() const;

    // Fills the variables when the path has the pattern's shape: "/order/path/{}/{}".
    bool matches(std::string_view pattern);

    void reply(const Poco::JSON::Object& object, int status = 200);
    void reply(const std::string& body, const std::string& contentType, int status = 200);
    void replyText(const std::string& text) { reply(text, "text/plain; charset=utf-8"); }

private:
    Poco::Net::HTTPServerRequest& request_;
    Poco::Net::HTTPServerResponse& response_;
    std::string path_;
    std::multimap<std::string, std::string> query_;
    std::string body_;
    std::vector<std::string> variables_;
};

struct Route {
    const char* method;   // "*": any
    const char* pattern;  // {} stands for one segment
    void (*run)(Call&);
};

// In the order in which they are tried: the more specific pattern first.
std::vector<Route> orderRoutes();  // what a client of the shop calls
std::vector<Route> testRoutes();   // what tests of single plugins call
std::vector<Route> toolRoutes();   // echo, slow, failing and long answers

}  // namespace order_service
