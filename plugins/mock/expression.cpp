#include "expression.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "date_pattern.hpp"
#include "double_format.hpp"
#include "generators.hpp"
#include "json_text.hpp"

namespace weir::mock {

namespace {

using Operand = std::unique_ptr<const Expression>;
using Operands = std::vector<Operand>;

constexpr int kDeepest = 32;

template <class Number>
std::optional<Number> numberOf(const Value& value) {
    Number number{};
    if (value.isString) return std::nullopt;
    const char* const end = value.text.data() + value.text.size();
    const auto read = std::from_chars(value.text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return number;
}
template <class Number>
std::optional<Number> numberOf(const Operand& operand, ReadValues reads) {
    Value made;
    const Value* value = operand->evaluate(reads, made);
    return value ? numberOf<Number>(*value) : std::nullopt;
}

const Value* give(Value& made, std::string text, bool isString) {
    made.text = std::move(text);
    made.isString = isString;
    return &made;
}

class Constant final : public Expression {
public:
    explicit Constant(Value value) : value_(std::move(value)) {}
    const Value* evaluate(ReadValues, Value&) const override { return &value_; }
    const Value& value() const { return value_; }

private:
    Value value_;
};

class Read final : public Expression {
public:
    explicit Read(std::size_t index) : index_(index) {}
    const Value* evaluate(ReadValues reads, Value&) const override {
        return reads[index_] ? &*reads[index_] : nullptr;
    }

private:
    std::size_t index_;
};

class Sum final : public Expression {
public:
    Sum(Operand left, Operand right) : left_(std::move(left)), right_(std::move(right)) {}
    const Value* evaluate(ReadValues reads, Value& made) const override {
        Value madeRight;
        const Value* left = left_->evaluate(reads, made);
        const Value* right = right_->evaluate(reads, madeRight);
        if (!left || !right) return nullptr;
        if (left->isString || right->isString) {
            if (left->text.size() + right->text.size() > kLargestAnswer) return nullptr;
            return give(made, left->text + right->text, true);
        }
        const auto a = numberOf<std::int64_t>(*left);
        const auto b = numberOf<std::int64_t>(*right);
        std::int64_t sum = 0;
        if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return nullptr;
        return give(made, std::to_string(sum), false);
    }

private:
    Operand left_;
    Operand right_;
};

class Current final : public Expression {
public:
    explicit Current(DatePattern pattern) : pattern_(std::move(pattern)) {}
    const Value* evaluate(ReadValues, Value& made) const override {
        return give(made, pattern_.format(Moment::now()), true);
    }

private:
    DatePattern pattern_;
};

class Double final : public Expression {
public:
    Double(Operands range, DoubleFormat format) : range_(std::move(range)), format_(std::move(format)) {}
    const Value* evaluate(ReadValues reads, Value& made) const override {
        const auto from = numberOf<double>(range_[0], reads);
        const auto to = numberOf<double>(range_[1], reads);
        if (!from || !to) return nullptr;
        return give(made, format_.format(drawNumber(*from, *to)), !format_.isNumber());
    }

private:
    Operands range_;
    DoubleFormat format_;
};

// The other functions.
class Call final : public Expression {
public:
    using Function = const Value* (*)(const Operands& operands, ReadValues reads, Value& made);
    Call(Function function, Operands operands) : function_(function), operands_(std::move(operands)) {}
    const Value* evaluate(ReadValues reads, Value& made) const override { return function_(operands_, reads, made); }

private:
    Function function_;
    Operands operands_;
};

const Value* callBool(const Operands&, ReadValues, Value& made) {
    return give(made, drawWhole(0, 1) ? "true" : "false", false);
}
const Value* callEmail(const Operands&, ReadValues, Value& made) { return give(made, drawEmail(), true); }
const Value* callPhone(const Operands&, ReadValues, Value& made) { return give(made, drawPhone(), true); }

// A number between the two operands.
std::optional<std::int64_t> drawBetween(const Operands& operands, ReadValues reads) {
    const auto from = numberOf<std::int64_t>(operands[0], reads);
    const auto to = numberOf<std::int64_t>(operands[1], reads);
    if (!from || !to || *from > *to) return std::nullopt;
    return drawWhole(*from, *to);
}
const Value* callInt(const Operands& operands, ReadValues reads, Value& made) {
    const auto drawn = drawBetween(operands, reads);
    return drawn ? give(made, std::to_string(*drawn), false) : nullptr;
}

template <std::string (*Draw)(std::size_t)>
const Value* callText(const Operands& operands, ReadValues reads, Value& made) {
    const auto length = drawBetween(operands, reads);
    if (!length || *length < 0 || *length > kMostItems) return nullptr;
    return give(made, Draw(static_cast<std::size_t>(*length)), true);
}

const Value* callOneOf(const Operands& operands, ReadValues reads, Value& made) {
    const auto index = drawWhole(0, static_cast<std::int64_t>(operands.size()) - 1);
    return operands[static_cast<std::size_t>(index)]->evaluate(reads, made);
}

const Value* callArray(const Operands& operands, ReadValues reads, Value& made) {
    const Value* item = operands[0]->evaluate(reads, made);
    const auto count = numberOf<std::int64_t>(operands[1], reads);
    if (!item || !count || *count < 0 || *count > kMostItems) return nullptr;
    const std::string json = item->json();
    if ((json.size() + 1) * static_cast<std::size_t>(*count) > kLargestAnswer) return nullptr;
    std::string all = "[";
    for (std::int64_t i = 0; i < *count; ++i) all.append(i ? "," : "").append(json);
    return give(made, all + "]", false);
}

struct Known {
    std::string_view name;
    std::size_t least;  // operands
    std::size_t most;
    Call::Function function;
};
constexpr Known kFunctions[] = {
    {"bool", 0, 0, &callBool},
    {"int", 2, 2, &callInt},
    {"double", 2, 3, nullptr},
    {"email", 0, 0, &callEmail},
    {"phone", 0, 0, &callPhone},
    {"zh", 2, 2, &callText<&drawChinese>},
    {"en", 2, 2, &callText<&drawLetters>},
    {"oneOf", 1, 1000, &callOneOf},
    {"current", 0, 1, nullptr},
    {"nowDate", 0, 0, nullptr},
    {"nowTime", 0, 0, nullptr},
    {"array", 2, 2, &callArray},
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameByte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_'; }

// Recursive descent; the first fault ends it.
class Parser {
public:
    Parser(std::string_view text, std::vector<RequestRead>& reads) : text_(text), reads_(reads) {}

    Operand whole() {
        Operand all = sum(0);
        space();
        if (all && at_ < text_.size()) return fail("expected the end");
        return all;
    }
    const std::string& fault() const { return fault_; }

private:
    std::nullptr_t fail(std::string_view what) {
        if (fault_.empty()) fault_ = std::string(what) + " at position " + std::to_string(at_ + 1);
        return nullptr;
    }
    void space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
    bool take(char c) {
        space();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    std::string_view name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && isNameByte(text_[at_])) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    Operand sum(int depth) {
        if (depth > kDeepest) return fail("nested too deeply");
        Operand left = operand(depth);
        int terms = 0;
        while (left && take('+')) {
            if (++terms > kDeepest) return fail("too many terms");
            Operand right = operand(depth);
            if (!right) return nullptr;
            left = std::make_unique<Sum>(std::move(left), std::move(right));
        }
        return left;
    }

    Operand operand(int depth) {
        space();
        if (at_ == text_.size()) return fail("expected a value");
        const char c = text_[at_];
        if (c == '#') return function(depth);
        if (c == '\'' || c == '"') {
            std::string text;
            if (!quoted(text)) return nullptr;
            return std::make_unique<Constant>(Value{std::move(text), true});
        }
        if (isDigit(c) || c == '-') return number();
        if (take('(')) {
            Operand inner = sum(depth + 1);
            if (inner && !take(')')) return fail("expected ')'");
            return inner;
        }
        const std::size_t begin = at_;
        const std::string_view word = name();
        if (word == "true" || word == "false" || word == "null")
            return std::make_unique<Constant>(Value{std::string(word)});
        at_ = begin;
        return fail("expected a value");
    }

    // As in SpEL, the quote itself is written twice.
    bool quoted(std::string& out) {
        const char quote = text_[at_++];
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == quote) {
                ++at_;
                if (at_ == text_.size() || text_[at_] != quote) return true;
            }
            out += text_[at_];
        }
        fail("expected the end of a text");
        return false;
    }

    Operand number() {
        const std::size_t begin = at_;
        if (text_[at_] == '-') ++at_;
        while (at_ < text_.size() && (isDigit(text_[at_]) || text_[at_] == '.')) ++at_;
        const auto value = jsonValue(text_.substr(begin, at_ - begin));
        if (!value) return fail("expected a number");
        return std::make_unique<Constant>(Value{std::string(*value)});
    }

    Operand function(int depth) {
        ++at_;
        const std::string_view called = name();
        if (called == "req") return read();
        const auto* const known = std::ranges::find(kFunctions, called, &Known::name);
        if (known == std::end(kFunctions)) return fail("there is no #" + std::string(called));
        Operands operands;
        if (take('(')) {
            if (!take(')')) {
                do {
                    operands.push_back(sum(depth + 1));
                    if (!operands.back()) return nullptr;
                } while (take(','));
                if (!take(')')) return fail("expected ')'");
            }
        }
        if (operands.size() < known->least || operands.size() > known->most)
            return fail("wrong number of values for #" + std::string(called));
        if (known->function) return std::make_unique<Call>(known->function, std::move(operands));
        return called == "double" ? formatted(std::move(operands)) : current(called, operands);
    }

    // Formats and patterns are compiled once, so they are texts as they stand.
    const std::string* constantText(const Operand& operand) {
        const auto* constant = dynamic_cast<const Constant*>(operand.get());
        if (constant && constant->value().isString) return &constant->value().text;
        fail("expected a text in quotes");
        return nullptr;
    }
    Operand formatted(Operands operands) {
        std::optional<DoubleFormat> format = DoubleFormat();
        if (operands.size() == 3) {
            const std::string* text = constantText(operands[2]);
            if (!text) return nullptr;
            format = DoubleFormat::parse(*text);
            if (!format) return fail("expected a format like '%.2f'");
        }
        return std::make_unique<Double>(std::move(operands), *std::move(format));
    }
    Operand current(std::string_view called, const Operands& operands) {
        std::string text(called == "nowDate" ? "yyyy-MM-dd" : called == "nowTime" ? "HH:mm:ss" : kDefaultPattern);
        if (!operands.empty()) {
            const std::string* given = constantText(operands[0]);
            if (!given) return nullptr;
            text = *given;
        }
        std::optional<DatePattern> pattern = DatePattern::parse(text);
        if (!pattern) return fail("'" + text + "' is no pattern of a date");
        return std::make_unique<Current>(*std::move(pattern));
    }

    // Behind "#req".
    Operand read() {
        std::vector<RequestRead::Step> path;
        while (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == '[')) {
            if (!step(path.emplace_back())) return nullptr;
        }
        if (path.empty() || !path[0].byName) return fail("expected a part of #req, like .headers");
        const std::string part = std::move(path[0].name);
        path.erase(path.begin());
        std::optional<RequestRead> made = RequestRead::make(part, std::move(path));
        if (!made) return fail("#req has no such part");
        reads_.push_back(*std::move(made));
        return std::make_unique<Read>(reads_.size() - 1);
    }
    bool step(RequestRead::Step& made) {
        made.byName = true;
        if (text_[at_++] == '.') {
            made.name = name();
            return !made.name.empty() || fail("expected a name") != nullptr;
        }
        space();
        if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
            if (!quoted(made.name)) return false;
        } else {
            const char* const end = text_.data() + text_.size();
            const auto number = std::from_chars(text_.data() + at_, end, made.index);
            if (number.ec != std::errc()) return fail("expected a name in quotes or a number") != nullptr;
            at_ = static_cast<std::size_t>(number.ptr - text_.data());
            made.byName = false;
        }
        return take(']') || fail("expected ']'") != nullptr;
    }

    std::string_view text_;
    std::vector<RequestRead>& reads_;
    std::size_t at_ = 0;
    std::string fault_;
};

}  // namespace

std::unique_ptr<const Expression> Expression::parse(std::string_view text, std::vector<RequestRead>& reads,
                                                    std::string& fault) {
    const std::size_t before = reads.size();
    Parser parser(text, reads);
    std::unique_ptr<const Expression> made = parser.whole();
    if (made) return made;
    reads.resize(before);
    fault = parser.fault();
    return nullptr;
}

}  // namespace weir::mock
