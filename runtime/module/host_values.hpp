#pragma once

#include <cstddef>
#include <cstdint>

#include "weir/abi.h"

namespace weir::module {

// The functions of a host table that need nothing but this process: memory, the clock, and the reading of values, where
// a weir_value is a base::Value. Each is what abi.h says of the table's member.
struct HostValues {
    static void* allocate(std::size_t size);
    static void release(void* block, std::size_t size);
    static std::uint64_t nowNs();

    static weir_kind kind(const weir_value* value);
    static std::size_t size(const weir_value* value);
    static const weir_value* at(const weir_value* value, std::size_t index);
    static weir_str keyAt(const weir_value* value, std::size_t index);
    static const weir_value* get(const weir_value* value, weir_str key);
    static weir_str text(const weir_value* value);
    static std::int32_t toBool(const weir_value* value, std::int32_t* out);
    static std::int32_t toInt(const weir_value* value, std::int64_t* out);
    static std::int32_t toDouble(const weir_value* value, double* out);
};

}  // namespace weir::module
