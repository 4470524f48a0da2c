#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weir::balance {

// MD5 (RFC 1321), for places on the hash ring only: it protects nothing.
std::array<std::uint8_t, 16> md5(std::string_view text) noexcept;

}  // namespace weir::balance
