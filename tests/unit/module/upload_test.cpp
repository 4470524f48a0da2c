#include "module/upload.hpp"

#include <string>

#include "support/catch.hpp"

using namespace weir::module;

TEST_CASE("base64 is decoded as RFC 4648 writes it, with line breaks") {
    struct Row { const char* text; const char* bytes; };
    const Row rows[] = {
        {"", ""}, {"Zg==", "f"}, {"Zm8=", "fo"}, {"Zm9v", "foo"}, {"Zm9vYg==", "foob"}, {"Zm9vYmE=", "fooba"},
        {"Zm9vYmFy", "foobar"}, {"Zm9v\r\nYmFy\r\n", "foobar"}, {" Z g\t=\n= ", "f"}, {"+/+/", "\xfb\xff\xbf"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const auto decoded = decodeBase64(row.text);
        REQUIRE(decoded);
        CHECK(*decoded == row.bytes);
    }
}

TEST_CASE("broken base64 is refused with the place and the reason") {
    struct Row { const char* text; std::size_t position; const char* problem; };
    const Row rows[] = {
        {"Zm9v!mFy", 5, "'!' is not of the alphabet"},
        {"Zm9v\nYm\x01y", 8, "the byte 0x01 is not of the alphabet"},
        {"Zm9v_-8=", 5, "'_' is not of the alphabet"},  // base64url is another encoding
        {"Zg==Zg==", 5, "'Z' follows the padding"},
        {"Zg=a", 4, "'a' follows the padding"},
        {"=", 1, "'=' is not expected here"},
        {"Z===", 2, "'=' is not expected here"},
        {"Zg===", 5, "'=' is not expected here"},
        {"Zm9v=", 5, "'=' is not expected here"},
        {"Zm9vZ", 6, "it ends within a group of four"},
        {"Zm9vZg", 7, "it ends within a group of four"},
        {"Zg=", 4, "it ends within a group of four"},
        {"Zh==", 4, "its last character has bits left over"},
        {"Zm9=", 4, "its last character has bits left over"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const auto decoded = decodeBase64(row.text);
        REQUIRE_FALSE(decoded);
        CHECK(decoded.error().position == row.position);
        CHECK(decoded.error().problem == row.problem);
    }
}

TEST_CASE("an upload that is no module's base64 is refused with what to do") {
    struct Row { const char* text; std::size_t limit; RefusalCode code; const char* message; };
    const Row rows[] = {
        {"", 100, RefusalCode::Unreadable,
         "unreadable: pluginJar is empty, expected a module file in base64 (RFC 4648): send the bytes of the .so file"},
        {" \n", 100, RefusalCode::Unreadable,
         "unreadable: pluginJar is empty, expected a module file in base64 (RFC 4648): send the bytes of the .so file"},
        {"Zm9v*g==", 100, RefusalCode::Unreadable,
         "unreadable: pluginJar is broken base64 at character 5: '*' is not of the alphabet, expected a module file in "
         "base64 (RFC 4648): encode it with base64 -w0 FILE"},
        // The size counts first: nothing of it is decoded.
        {"Zm9vYmFyZg==*", 6, RefusalCode::TooLarge,
         "too_large: pluginJar is a module of 8 bytes, expected at most 6 bytes: strip it, or copy the file into "
         "extPlugin.path"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const auto decoded = decodeModule(row.text, row.limit);
        REQUIRE_FALSE(decoded);
        CHECK(decoded.error().code == row.code);
        CHECK(decoded.error().text() == row.message);
    }
}

TEST_CASE("an upload may have as many bytes as the limit says, whatever its line breaks") {
    CHECK(decodeModule("Zm9v\n\n\nYmFy", 6).value() == "foobar");
    CHECK(decodeModule("Zm9vYg==", 4).value() == "foob");
    CHECK_FALSE(decodeModule("Zm9vYg==", 3));
    CHECK(decodeModule(std::string(kMaxUploadBytes / 3 * 4, 'A')).value().size() == kMaxUploadBytes / 3 * 3);
    CHECK_FALSE(decodeModule(std::string(kMaxUploadBytes / 3 * 4 + 4, 'A')));
}
