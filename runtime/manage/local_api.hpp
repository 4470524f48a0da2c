#pragma once

#include <string_view>

#include "config/settings.hpp"
#include "manage/controls.hpp"
#include "manage/page.hpp"

namespace weir::manage {

// ShenYu's local management calls, /shenyu/** (fact sheet 10.2): whoever sends the right `localKey` changes the data in
// force. The key stands in for the management token. A call that changes something answers when every loop has
// switched; plain texts are as ShenYu's, errors of ours have `code` and `message`. Any thread.
class LocalApi {
public:
    static constexpr std::size_t kBodyLimit = 4 * 1024 * 1024;
    static constexpr std::size_t kUploadLimit = 24 * 1024 * 1024;  // a module of 16 MiB in base64

    // `sha512Key`: SHA-512 of the key in hex, any case; empty: every call is refused. controls.data is not null.
    LocalApi(const Controls& controls, const config::Secret& sha512Key);

    static bool owns(std::string_view path) { return path.starts_with("/shenyu/"); }

    // For a target that owns() its path. Reads the body only when the key is right.
    PageReply answer(const PageRequest& request) const;

private:
    Controls controls_;
    config::Secret sha512Key_;  // in lower case
};

}  // namespace weir::manage
