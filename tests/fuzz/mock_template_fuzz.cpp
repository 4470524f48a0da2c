// Input: a mock's responseContent, a NUL, the body of a request. The template is also read as one expression, whose
// answer must be JSON.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "mock/json_text.hpp"
#include "mock/mock_template.hpp"

namespace {

using namespace weir::mock;

struct FuzzRequest final : RequestData {
    std::string_view text;

    std::string_view method() const override { return "POST"; }
    std::string uri() const override { return "http://a/b?" + std::string(text); }
    std::string_view query() const override { return text; }
    std::string_view body() const override { return text; }
    std::optional<std::string_view> header(std::string_view name) const override {
        if (name == "x") return text;
        return std::nullopt;
    }
    void forEachHeader(const std::function<void(std::string_view, std::string_view)>& visit) const override {
        visit("x", text);
        visit(text, "x");
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(input.find('\0'), size);
    const std::string_view text = input.substr(0, end);
    FuzzRequest request;
    request.text = input.substr(std::min(end + 1, size));

    std::vector<std::string> faults;
    const Template whole = Template::parse(text, faults);
    const auto answer = whole.render(request);
    WEIR_ASSERT(!answer || answer->size() <= kLargestAnswer);
    if (text.find("${") == text.npos) WEIR_ASSERT(faults.empty() && answer == text);

    if (text.find_first_of("{}") == text.npos) {
        const Template one = Template::parse("${expression|" + std::string(text) + "}", faults);
        const auto made = one.render(request);
        WEIR_ASSERT(made && jsonValue(*made));
    }
    const std::string quoted = quoteJson(request.text);
    WEIR_ASSERT(jsonValue(quoted) == quoted && quoteJson(unquoteJson(quoted)) == quoted);
    return 0;
}
