#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/abi.h"
#include "weir/text.hpp"

namespace weir {

// A value of the gateway's data: null, a scalar, a list or a map. It is a view, as are the texts it gives: valid until
// the call that received it returns, on that call's thread. What is missing reads as null, so a path needs no checks:
// `record["conditionList"].at(0)["paramName"].text()` is "" when any step is absent.
class Value {
public:
    enum class Kind { Null = WEIR_NULL, Scalar = WEIR_SCALAR, Array = WEIR_ARRAY, Object = WEIR_OBJECT };

    Value() = default;  // null
    explicit Value(const weir_value* raw) : raw_(raw) {}

    Kind kind() const { return static_cast<Kind>(detail::hostTable->value_kind(raw_)); }
    bool isNull() const { return kind() == Kind::Null; }

    std::size_t size() const { return detail::hostTable->value_size(raw_); }  // items or members
    Value at(std::size_t index) const { return Value(detail::hostTable->value_at(raw_, index)); }
    std::string_view keyAt(std::size_t index) const {  // "" out of range
        return detail::view(detail::hostTable->value_key_at(raw_, index));
    }
    Value operator[](std::string_view key) const {
        return Value(detail::hostTable->value_get(raw_, detail::str(key)));
    }
    Value operator[](std::size_t index) const = delete;  // a literal 0 would be a key's null pointer: use at()

    std::string_view text() const { return detail::view(detail::hostTable->value_text(raw_)); }  // as written; "": none
    std::optional<bool> toBool() const {
        std::int32_t out = 0;
        if (!detail::hostTable->value_bool(raw_, &out)) return std::nullopt;
        return out != 0;
    }
    std::optional<std::int64_t> toInt() const {
        std::int64_t out = 0;
        if (!detail::hostTable->value_int(raw_, &out)) return std::nullopt;
        return out;
    }
    std::optional<double> toDouble() const {
        double out = 0;
        if (!detail::hostTable->value_double(raw_, &out)) return std::nullopt;
        return out;
    }

private:
    const weir_value* raw_ = nullptr;
};

}  // namespace weir
