#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "match/percent_decode.hpp"
#include "match/providers.hpp"
#include "match/steps.hpp"

namespace weir::match {

// Java's idea of white space, as far as it is ASCII.
inline bool isBlank(std::string_view value) {
    if (!value.empty() && value.front() > ' ') {  // nearly always
        countSteps(1);
        return false;
    }
    const std::size_t text = value.find_first_not_of(" \t\n\v\f\r\x1c\x1d\x1e\x1f");
    countSteps(text == std::string_view::npos ? value.size() : text + 1);
    return text == std::string_view::npos;
}

// Java's String.trim(): everything up to the blank goes.
std::string_view trim(std::string_view text);

// Where a condition's value comes from: a paramType with its paramName (fact sheet 3.2). Immutable, any thread.
class ValueSource {
public:
    enum class Kind : std::uint8_t { None, Uri, Header, Query, Cookie, Method, Domain, ClientIp, Post, Provided };

    // Fails for a paramName that is missing or unknown, or that the module refuses; NotFound for a type nobody offers.
    static base::Result<ValueSource> bind(const std::string& paramType, const std::string& paramName,
                                          const Providers& providers);
    // The names built in.
    static std::vector<std::string_view> types();

    ValueSource() = default;  // Kind::None: always missing

    // Valid as long as the request and `buffer`.
    std::string_view read(const Subject& subject, DecodeBuffer& buffer) const noexcept {
        return kind_ == Kind::Uri ? subject.uri() : readOther(subject, buffer);  // most conditions are on the path
    }

    Kind kind() const { return kind_; }
    // The same for sources that read the same value; by chance for others, so ask sameAs() too.
    std::uint64_t slot() const { return slot_; }
    bool hasExactSlot() const { return slot_ < kNamed; }  // not by chance
    bool sameAs(const ValueSource& other) const {
        return kind_ == other.kind_ && type_ == other.type_ && name_ == other.name_;
    }

private:
    static constexpr std::uint64_t kNamed = 0x100;  // slots below are kinds without a name

    std::string_view readOther(const Subject& subject, DecodeBuffer& buffer) const noexcept;

    Kind kind_ = Kind::None;
    ContextField field_ = ContextField::Path;
    std::uint64_t slot_ = 0;
    std::string name_;  // of a header in lower case
    std::shared_ptr<const ParameterType> type_;
    std::unique_ptr<const ValueReader> reader_;
};

}  // namespace weir::match
