#include "mock_template.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "date_pattern.hpp"
#include "double_format.hpp"
#include "generators.hpp"

namespace weir::mock {

namespace {

using Generator = Template::Generator;
using Made = std::unique_ptr<const Generator>;

constexpr int kDeepest = 16;

// ---- What makes the parts ----

class Text final : public Generator {
public:
    explicit Text(std::string_view text) : text_(text) {}
    bool append(ReadValues, std::string& out) const override {
        out += text_;
        return true;
    }

private:
    std::string text_;
};

class Sequence final : public Generator {
public:
    void add(Made part) { parts_.push_back(std::move(part)); }
    bool append(ReadValues reads, std::string& out) const override {
        return std::ranges::all_of(parts_, [&](const Made& part) {
            return part->append(reads, out) && out.size() <= kLargestAnswer;
        });
    }

private:
    std::vector<Made> parts_;
};

// Calls a function for a text, which is at most some 30 KB.
template <class Draw>
class Drawn final : public Generator {
public:
    explicit Drawn(Draw draw) : draw_(std::move(draw)) {}
    bool append(ReadValues, std::string& out) const override {
        out += draw_();
        return true;
    }

private:
    Draw draw_;
};
template <class Draw>
Made drawn(Draw draw) {
    return std::make_unique<Drawn<Draw>>(std::move(draw));
}

class Array final : public Generator {
public:
    Array(Made item, std::int64_t count) : item_(std::move(item)), count_(count) {}
    bool append(ReadValues reads, std::string& out) const override {
        out += '[';
        for (std::int64_t i = 0; i < count_; ++i) {
            if (i) out += ',';
            if (!item_->append(reads, out)) return false;
        }
        out += ']';
        return true;
    }

private:
    Made item_;
    std::int64_t count_;
};

class Evaluated final : public Generator {
public:
    explicit Evaluated(std::unique_ptr<const Expression> expression) : expression_(std::move(expression)) {}
    bool append(ReadValues reads, std::string& out) const override {
        Value made;
        const Value* value = expression_->evaluate(reads, made);
        out += value ? value->json() : std::string(kErrorText);
        return true;
    }

private:
    std::unique_ptr<const Expression> expression_;
};

std::string quoted(const std::string& text) { return '"' + text + '"'; }

// ---- Parsing ----

template <class Number>
bool readNumber(std::string_view& rest, Number& out) {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const char* const end = rest.data() + digits;
    const auto read = std::from_chars(rest.data(), end, out);
    if (read.ec != std::errc() || read.ptr != end) return false;
    rest.remove_prefix(digits);
    return true;
}

// "a-b" at the front of `rest`.
template <class Number>
struct Range {
    Number from{};
    Number to{};

    bool read(std::string_view& rest) {
        if (!readNumber(rest, from) || !rest.starts_with('-')) return false;
        rest.remove_prefix(1);
        return readNumber(rest, to);
    }
};

class Parser {
public:
    Parser(std::vector<RequestRead>& reads, std::vector<std::string>& faults) : reads_(reads), faults_(faults) {}

    Made text(std::string_view rest, int depth) {
        auto all = std::make_unique<Sequence>();
        for (;;) {
            const std::size_t begin = rest.find("${");
            const std::size_t size = begin == rest.npos ? 0 : placeholderSize(rest.substr(begin));
            if (size == 0) break;
            if (begin) all->add(std::make_unique<Text>(rest.substr(0, begin)));
            all->add(placeholder(rest.substr(begin, size), depth));
            rest.remove_prefix(begin + size);
        }
        if (!rest.empty()) all->add(std::make_unique<Text>(rest));
        return all;
    }

private:
    // With its braces, in which others may be nested; 0 when the last is missing.
    static std::size_t placeholderSize(std::string_view text) {
        int open = 1;
        for (std::size_t i = 2; i < text.size(); ++i) {
            open += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
            if (open == 0) return i + 1;
        }
        return 0;
    }

    Made placeholder(std::string_view whole, int depth) {
        const std::string_view rule = whole.substr(2, whole.size() - 3);
        const std::size_t bar = std::min(rule.find('|'), rule.size());
        const bool hasArguments = bar < rule.size();
        fault_ = "expected something else behind its name";
        Made made = hasArguments ? withArguments(rule.substr(0, bar), rule.substr(bar + 1), depth) : plain(rule);
        if (made) return made;
        faults_.push_back("'" + std::string(whole) + "': " + fault_);
        return std::make_unique<Text>(kErrorText);
    }

    std::nullptr_t fail(std::string why) {
        fault_ = std::move(why);
        return nullptr;
    }

    Made plain(std::string_view name) {
        if (name == "bool") return drawn([] { return std::string(drawWhole(0, 1) ? "true" : "false"); });
        if (name == "email") return drawn([] { return quoted(drawEmail()); });
        if (name == "phone") return drawn([] { return quoted(drawPhone()); });
        if (name == "current") return current(kDefaultPattern);
        return fail("there is no such placeholder");
    }

    Made withArguments(std::string_view name, std::string_view rest, int depth) {
        if (name == "int") return whole(rest);
        if (name == "double") return number(rest);
        if (name == "zh") return letters(rest, &drawChinese);
        if (name == "en") return letters(rest, &drawLetters);
        if (name == "list") return list(rest);
        if (name == "current") return current(rest);
        if (name == "array") return array(rest, depth);
        if (name != "expression") return fail("there is no such placeholder");
        std::unique_ptr<const Expression> made = Expression::parse(rest, reads_, fault_);
        if (!made) return nullptr;
        return std::make_unique<Evaluated>(std::move(made));
    }

    Made whole(std::string_view rest) {
        Range<std::int64_t> range;
        if (!range.read(rest) || !rest.empty() || range.from > range.to) return fail("expected int|a-b, a not above b");
        return drawn([range] { return std::to_string(drawWhole(range.from, range.to)); });
    }

    Made number(std::string_view rest) {
        Range<double> range;
        const bool hasRange = range.read(rest) && (rest.empty() || rest.starts_with('|'));
        if (!hasRange) return fail("expected double|a-b or double|a-b|format");
        std::optional<DoubleFormat> format = DoubleFormat();
        if (rest.size() > 1) format = DoubleFormat::parse(rest.substr(1));
        if (!format) return fail("expected a format like %.2f");
        return drawn([range, format = *std::move(format)] {
            return quoted(format.format(drawNumber(range.from, range.to)));
        });
    }

    Made letters(std::string_view rest, std::string (*draw)(std::size_t)) {
        Range<std::int64_t> range;
        if (!range.read(rest) || !rest.empty() || range.from > range.to || range.to > kMostItems)
            return fail("expected a-b, a not above b, b at most " + std::to_string(kMostItems));
        return drawn([range, draw] {
            return quoted(draw(static_cast<std::size_t>(drawWhole(range.from, range.to))));
        });
    }

    Made list(std::string_view rest) {
        if (rest.size() < 3 || rest.front() != '[' || rest.back() != ']') return fail("expected list|[x,y]");
        rest = rest.substr(1, rest.size() - 2);
        if (rest.find_first_not_of(" \t\r\n") == rest.npos) return fail("expected list|[x,y]");
        std::vector<std::string> items(1);
        for (std::size_t i = 0; i < rest.size(); ++i) {
            if (rest.substr(i).starts_with("\\,")) items.back() += rest[++i];
            else if (rest[i] == ',') items.emplace_back();
            else items.back() += rest[i];
        }
        return drawn([items = std::move(items)] {
            return quoted(items[static_cast<std::size_t>(drawWhole(0, static_cast<std::int64_t>(items.size()) - 1))]);
        });
    }

    Made current(std::string_view text) {
        std::optional<DatePattern> pattern = DatePattern::parse(text);
        if (!pattern) return fail("'" + std::string(text) + "' is no pattern of a date");
        return drawn([pattern = *std::move(pattern)] { return quoted(pattern.format(Moment::now())); });
    }

    Made array(std::string_view rest, int depth) {
        const std::size_t bar = rest.rfind('|');
        std::string_view digits = bar == rest.npos ? "" : rest.substr(bar + 1);
        std::int64_t count = 0;
        if (bar == 0 || !readNumber(digits, count) || !digits.empty() || count > kMostItems)
            return fail("expected array|item|n, n at most " + std::to_string(kMostItems));
        if (depth == kDeepest) return fail("arrays are nested too deeply");
        return std::make_unique<Array>(text(rest.substr(0, bar), depth + 1), count);
    }

    std::vector<RequestRead>& reads_;
    std::vector<std::string>& faults_;
    std::string fault_;
};

}  // namespace

Template Template::parse(std::string_view text, std::vector<std::string>& faults) {
    Template made;
    made.all_ = Parser(made.reads_, faults).text(text, 0);
    return made;
}

bool Template::readsBody() const { return std::ranges::any_of(reads_, &RequestRead::readsBody); }

std::optional<std::string> Template::render(const RequestData& request) const {
    std::vector<std::optional<Value>> values;
    for (const RequestRead& read : reads_) values.push_back(read.from(request));
    std::string out;
    if (all_ && !all_->append(values, out)) return std::nullopt;
    return out;
}

}  // namespace weir::mock
