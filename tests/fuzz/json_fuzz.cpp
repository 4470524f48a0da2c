// Input: a JSON text. What is taken must be JSON to a plain recogniser too, and come back the same when written and
// read again; what is refused must be no JSON, or have one of the few reasons beyond the grammar.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/value.hpp"

namespace {

using namespace weir;

// RFC 8259's grammar and no more. UTF-8 and surrogate pairs are left to the reader.
class Recogniser {
public:
    explicit Recogniser(std::string_view text) : rest_(text) {}
    bool accepts() { return value(0) && (space(), rest_.empty()); }

private:
    void space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
    bool take(std::string_view text) {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }
    bool digits() {
        const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        rest_.remove_prefix(count);
        return count > 0;
    }
    bool number() {
        take("-");
        if (!take("0") && !digits()) return false;
        if (take(".") && !digits()) return false;
        if (!take("e") && !take("E")) return true;
        if (!take("+")) take("-");
        return digits();
    }
    bool string() {
        if (!take("\"")) return false;
        while (!take("\"")) {
            if (rest_.empty() || static_cast<unsigned char>(rest_[0]) < 0x20) return false;
            const bool escape = rest_[0] == '\\';
            rest_.remove_prefix(1);
            if (escape && !escaped()) return false;
        }
        return true;
    }
    bool escaped() {
        if (rest_.empty()) return false;
        const char name = rest_[0];
        rest_.remove_prefix(1);
        if (std::string_view("\"\\/bfnrt").find(name) != std::string_view::npos) return true;
        if (name != 'u' || rest_.size() < 4) return false;
        const std::string_view hex = rest_.substr(0, 4);
        rest_.remove_prefix(4);
        return hex.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    }
    template <class Item>
    bool list(std::string_view end, Item item) {
        space();
        if (take(end)) return true;
        do {
            space();
            if (!item()) return false;
            space();
        } while (take(","));
        return take(end);
    }
    bool value(int depth) {
        if (depth > 64) return false;
        space();
        if (take("[")) return list("]", [&] { return value(depth + 1); });
        if (take("{")) return list("}", [&] { return string() && (space(), take(":")) && value(depth + 1); });
        return take("true") || take("false") || take("null") || (rest_.starts_with('"') ? string() : number());
    }

    std::string_view rest_;
};

// What the reader refuses beyond the grammar.
bool refusesMore(std::string_view message) {
    for (const char* reason : {"is there twice", "nested deeper than 64", "not UTF-8", "half of a surrogate pair"})
        if (message.find(reason) != std::string_view::npos) return true;
    return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto value = base::parseJson(text);
    if (value) {
        WEIR_ASSERT(Recogniser(text).accepts());
        const std::string written = base::toJson(*value);
        const auto again = base::parseJson(written);
        WEIR_ASSERT(again && base::toJson(*again) == written);
    } else {
        WEIR_ASSERT(!value.error().origin.empty());
        WEIR_ASSERT(!Recogniser(text).accepts() || refusesMore(value.error().message));
    }
    const auto quoted = base::parseJson(base::jsonQuote(text));
    WEIR_ASSERT(quoted && quoted->isScalar() && quoted->quoted());
    return 0;
}
