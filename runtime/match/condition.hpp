#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "match/anchor.hpp"
#include "match/inline_text.hpp"
#include "match/operators.hpp"
#include "match/providers.hpp"
#include "match/steps.hpp"
#include "match/value_source.hpp"

namespace weir::match {

// A compiled condition. Immutable, any thread. Allocates nothing per request unless a percent-encoded value is longer
// than DecodeBuffer::kInline, the operator is a regular expression, or a module's operator or parameter type does.
class Condition {
public:
    struct Compiled;

    // InvalidConfig: a blank operator or paramType, a paramName that is missing or means nothing, a paramValue the
    // operator refuses. A name that nobody offers is no error but makes `waiting`.
    static base::Result<Compiled> compile(const ConditionSpec& spec, const Providers& providers);

    // False for a missing or blank value, whatever the operator, except isBlank and exclude (case B18 and fact
    // sheet 3.4) and the times that compare now.
    bool holds(const Subject& subject) const noexcept {
        // Most conditions are on the path, which needs no buffer.
        return source_.kind() == ValueSource::Kind::Uri ? accepts(subject.uri()) : holdsForOther(subject);
    }

    // Whether both hold for the same requests. false: they may all the same, that is not cheap to tell.
    bool sameAs(const Condition& other) const {
        return shortcut_ != Shortcut::None && shortcut_ == other.shortcut_ &&
               anchor_.shape == other.anchor_.shape &&  // tells pathPattern from match
               expected_.view() == other.expected_.view() && source_.sameAs(other.source_);
    }

    // The value a request has for it; for explanations.
    std::string valueOf(const Subject& subject) const;

    const ConditionSpec& spec() const { return *spec_; }
    const ValueSource& source() const { return source_; }
    const Anchor& anchor() const { return anchor_; }

private:
    Condition() = default;

    bool accepts(std::string_view value) const noexcept {
        if (isBlank(value) && !acceptsBlank_) return false;
        countSteps(std::min(value.size(), expected_.view().size()));
        return shortcut_ == Shortcut::Equal   ? value == expected_.view()
               : shortcut_ == Shortcut::Below ? isBelow(value, expected_.view()) || test_->passes(value)
                                              : test_->passes(value);
    }
    bool holdsForOther(const Subject& subject) const noexcept;
    static bool isBelow(std::string_view path, std::string_view top) {
        return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
    }

    // What the most frequent conditions need comes first and is here itself: every way through memory costs.
    Shortcut shortcut_ = Shortcut::None;
    bool acceptsBlank_ = false;
    InlineText expected_;
    ValueSource source_;
    std::unique_ptr<const ValueTest> test_;
    Anchor anchor_;
    std::unique_ptr<const ConditionSpec> spec_;  // apart: only explanations read it
};

struct Condition::Compiled {
    Condition condition;  // useless when `waiting`
    std::string waiting;  // not empty: a name that nobody offers, with the nearest one
    std::string remark;   // not empty: a warning for the operator
};

}  // namespace weir::match
