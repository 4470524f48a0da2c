#include "base/byte_words.hpp"

#include <string>

#include "base/ascii.hpp"
#include "support/catch.hpp"

using namespace weir::base;

TEST_CASE("a word is in lower case when each of its bytes is") {
    for (int c = 0; c < 256; ++c) {
        for (std::size_t at = 0; at < 8; ++at) {
            std::string text(8, 'x');
            text[at] = static_cast<char>(c);
            const ByteWord word = loadWord(text.data());
            std::string lower(8, 'x');
            lower[at] = toLower(text[at]);
            CHECK(toLowerWord(word) == loadWord(lower.data()));
        }
    }
}

TEST_CASE("the first byte of its kind is found wherever it stands") {
    constexpr auto isColon = [](auto c) { return c == ':'; };
    for (std::size_t size = 0; size < 50; ++size) {
        for (std::size_t at = 0; at <= size; ++at) {
            std::string text(size, ';');
            for (std::size_t i = at; i < size; i += 3) text[i] = ':';
            const char* const begin = text.data();
            CHECK(findByte(begin, begin + size, isColon) == begin + at);
        }
    }
}

TEST_CASE("a row says of each byte what the byte says of itself") {
    constexpr auto is = [](auto c) {
        const auto lower = c | 0x20;
        return ((lower >= 'k') & (lower <= 'n')) | (c < 0x20) | (c == 0x7f) | (c >= 0xf0);
    };
    for (int c = 0; c < 256; ++c) {
        for (std::size_t at = 0; at < 16; ++at) {
            std::string text(16, 'x');
            text[at] = static_cast<char>(c);
            CHECK(bitsOf(is(loadRow(text.data()))) == unsigned(is(static_cast<unsigned char>(c))) << at);
        }
    }
}

TEST_CASE("a text of any size is copied, and nothing beside it") {
    const std::string text = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (std::size_t size = 0; size <= text.size(); ++size) {
        std::string to(text.size() + 1, '.');
        CHECK(copyText(to.data(), std::string_view(text).substr(0, size)) == to.data() + size);
        CHECK(to == text.substr(0, size) + std::string(to.size() - size, '.'));
    }
    CHECK(copyText(nullptr, {}) == nullptr);
}

TEST_CASE("texts are equal but for the case of their letters, at any size") {
    CHECK(equalsIgnoreCase("", ""));
    for (std::size_t size = 1; size < 20; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (int c = 0; c < 256; ++c) {
                std::string a(size, 'q'), b(size, 'Q');
                a[at] = static_cast<char>(c);
                b[at] = 'K';
                const bool same = equalsIgnoreCase(a, b);
                if (same != (c == 'k' || c == 'K')) FAIL("size " << size << " at " << at << " byte " << c);
                b[at] = static_cast<char>(c ^ 0x20);
                const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                if (equalsIgnoreCase(a, b) != letter) FAIL("size " << size << " at " << at << " byte " << c);
            }
        }
    }
    CHECK_FALSE(equalsIgnoreCase("abc", "abcd"));
}
