#pragma once

#include <string_view>

namespace weir::match {

// What conditions may ask of a request; the chain implements it over its exchange. Views live as long as the request's
// head. Nothing here may block or throw; a missing value is an empty one, as no condition tells them apart.
class Subject {
public:
    // The rewritten raw path (fact sheet 3.3: context path and rewrites applied), not decoded, without the query.
    virtual std::string_view uri() const noexcept = 0;
    virtual std::string_view method() const noexcept = 0;    // upper case, as on the wire
    virtual std::string_view rawQuery() const noexcept = 0;  // what follows the first '?', not decoded
    virtual std::string_view domain() const noexcept = 0;    // host of the request's authority, without port
    // The client as X-Forwarded-For resolves it (fact sheet 3.2), else the socket's address; text without port.
    virtual std::string_view clientIp() const noexcept = 0;
    // The first value of that name, whose case does not matter.
    virtual std::string_view header(std::string_view name) const noexcept = 0;

protected:
    ~Subject() = default;
};

}  // namespace weir::match
