#pragma once

#include <string_view>

struct weir_exchange;  // sdk/include/weir/abi.h

namespace weir::match {

// The text fields of a request's context (fact sheet 3.1), which paramType `post` reads.
enum class ContextField {
    Path,
    RealUrl,
    Module,
    Method,
    RpcType,
    HttpMethod,
    ContextPath,
    StartDateTime,
    Sign,
    Timestamp,
    AppKey,
};

// What conditions may ask of a request; the chain implements it over its exchange. Views live as long as the request's
// head. Nothing here may block or throw; a missing value is an empty one, as no condition tells them apart.
class Subject {
public:
    // The rewritten raw path (fact sheet 3.3: context path and rewrites applied), not decoded, without the query.
    virtual std::string_view uri() const noexcept = 0;
    virtual std::string_view method() const noexcept = 0;    // upper case, as on the wire
    virtual std::string_view rawQuery() const noexcept = 0;  // what follows the first '?', not decoded
    virtual std::string_view domain() const noexcept = 0;    // host of the request's authority, lower case, no port
    // The client as X-Forwarded-For resolves it (fact sheet 3.2), else the socket's address; text without port.
    virtual std::string_view clientIp() const noexcept = 0;
    // The first value of that name, whose case does not matter.
    virtual std::string_view header(std::string_view name) const noexcept = 0;
    virtual std::string_view contextField(ContextField) const noexcept { return {}; }
    // For parameter types of modules; null where there is none, and then their values are missing.
    virtual weir_exchange* exchange() const noexcept { return nullptr; }

protected:
    ~Subject() = default;
};

}  // namespace weir::match
