#include "config/messages.hpp"

namespace weir::config {

std::string place(std::string_view fileName, base::Mark mark) {
    std::string text(fileName);
    if (mark.line > 0) text += ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
    return text;
}

base::Error invalid(std::string_view fileName, base::Mark mark, std::string message) {
    return {base::ErrorCode::InvalidConfig, place(fileName, mark), std::move(message)};
}

std::string got(const base::Value& value) {
    constexpr std::size_t shown = 60;
    if (!value.isScalar() || value.isNull()) return "got " + std::string(value.describe());
    if (value.text().size() <= shown) return "got " + base::jsonQuote(value.text());
    std::size_t cut = shown;
    while ((value.text()[cut] & 0xC0) == 0x80) --cut;  // not inside a UTF-8 character
    return "got " + base::jsonQuote(value.text().substr(0, cut) + "...");
}

std::string unknownKey(std::string_view key, const std::vector<std::string_view>& known) {
    std::string text = "unknown key " + base::jsonQuote(key);
    std::string hint = didYouMean(key, known);
    if (!hint.empty()) return text + hint;
    text += "; expected one of";
    const char* comma = " ";
    for (std::string_view name : known) {
        text += comma + std::string(name);
        comma = ", ";
    }
    return text;
}

std::string didYouMean(std::string_view word, const std::vector<std::string_view>& known) {
    std::string_view near = base::nearest(word, known);
    return near.empty() ? "" : "; did you mean " + base::jsonQuote(near) + "?";
}

}  // namespace weir::config
