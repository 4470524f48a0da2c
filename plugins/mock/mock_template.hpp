#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expression.hpp"
#include "request_read.hpp"

namespace weir::mock {

// What stands in place of a placeholder that is none or fails.
constexpr std::string_view kErrorText = "\"[#ERROR EXPRESSION#]\"";

// A text with ShenYu's ${...} placeholders, compiled. Made once; several threads may make answers of it.
class Template {
public:
    // Makes one part of the answer.
    class Generator {
    public:
        virtual ~Generator() = default;
        // false: `out` is over kLargestAnswer.
        virtual bool append(ReadValues reads, std::string& out) const = 0;
    };

    // Every text is a template; `faults` gets a sentence for each placeholder that will be kErrorText.
    static Template parse(std::string_view text, std::vector<std::string>& faults);

    bool readsBody() const;
    // Nothing: the answer would be over kLargestAnswer.
    std::optional<std::string> render(const RequestData& request) const;

private:
    std::unique_ptr<const Generator> all_;
    std::vector<RequestRead> reads_;
};

}  // namespace weir::mock
