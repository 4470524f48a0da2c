#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::fuzz {

// Bytes read as choices; when they are used up, the first of each.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}

    bool empty() const { return data_ == end_; }
    unsigned below(unsigned limit) { return empty() ? 0 : *data_++ % limit; }
    const char* oneOf(const std::vector<const char*>& words) {
        return words[below(static_cast<unsigned>(words.size()))];
    }
    std::string text(const std::vector<const char*>& words) {
        std::string result;
        for (unsigned left = below(9); left > 0; --left) {
            const unsigned word = below(static_cast<unsigned>(words.size()) + 1);
            if (word < words.size()) result += words[word];
            else result += static_cast<char>(' ' + below(95));
        }
        return result;
    }

private:
    const std::uint8_t* data_;
    const std::uint8_t* end_;
};

}  // namespace weir::fuzz
