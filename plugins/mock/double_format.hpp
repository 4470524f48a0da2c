#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::mock {

// Java's Formatter as far as a single number needs it: text around one %[-+ 0][width][.precision]f, %% for a percent
// sign. Without a format: as many digits as the number needs to be read back.
class DoubleFormat {
public:
    DoubleFormat() = default;
    static std::optional<DoubleFormat> parse(std::string_view text);  // nothing: it is no such format

    std::string format(double number) const;
    bool isNumber() const;  // what is made is a JSON number

private:
    bool parseSpecifier(std::string_view text, std::size_t& at);

    std::string before_;
    std::string behind_;
    std::size_t width_ = 0;
    int precision_ = -1;  // -1: the shortest text
    char sign_ = 0;       // in front of a number that is not negative
    bool left_ = false;
    bool zeros_ = false;
};

}  // namespace weir::mock
