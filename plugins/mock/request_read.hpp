#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::mock {

// The request as templates see it.
class RequestData {
public:
    virtual std::string_view method() const = 0;
    virtual std::string uri() const = 0;             // absolute
    virtual std::string_view query() const = 0;      // undecoded
    virtual std::string_view body() const = 0;       // empty unless some read asks for it
    virtual std::optional<std::string_view> header(std::string_view name) const = 0;
    virtual void forEachHeader(const std::function<void(std::string_view, std::string_view)>& visit) const = 0;

protected:
    ~RequestData() = default;
};

// A value of JSON: the text that a string says, or any other value as it is written.
struct Value {
    std::string text;
    bool isString = false;

    std::string json() const;
};

// What a template takes out of the request: #req.headers['x'], #req.json.items[0].
class RequestRead {
public:
    enum class Part { Headers, Queries, Method, Uri, Json };
    struct Step {
        std::string name;
        std::size_t index = 0;  // of an array, when there is no name
        bool byName = false;
    };

    // Nothing when the part has no such place: a method has no members, a header none below its own.
    static std::optional<RequestRead> make(std::string_view part, std::vector<Step> path);

    bool readsBody() const { return part_ == Part::Json; }
    // null when it is not there; nothing when the body is not JSON.
    std::optional<Value> from(const RequestData& request) const;

private:
    std::optional<Value> fromJson(std::string_view body) const;

    Part part_ = Part::Method;
    std::vector<Step> path_;
};

}  // namespace weir::mock
