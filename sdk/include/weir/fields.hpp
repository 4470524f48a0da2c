#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weir/abi.h"
#include "weir/text.hpp"

// What a handle consists of, said once:
//
//     struct LimitHandle {
//         int limit = 100;
//         std::string key = "ip";
//         static constexpr auto fields = weir::fields(
//             weir::field("limit", &LimitHandle::limit).range(1, 1000000).about("requests a second"),
//             weir::field("key", &LimitHandle::key).oneOf("ip", "header").about("who they are counted for"));
//     };
//
// gives parsing from YAML or JSON, the defaults (the member initialisers), validation with a readable error, and the
// schema in the module's manifest. A handle that is a list at its top is a std::vector of such a struct; one that holds
// more than its list names the list: `static constexpr auto items = &PoolHandle::servers;`.
//
// Member types: bool, integers, double, std::string, std::chrono::milliseconds (a plain number), nested handles,
// std::vector of these (not of bool), std::vector<std::pair<std::string, std::string>> (a map of texts). A list or map
// that is given replaces the default one.

namespace weir {

namespace detail {

template <class Handle, class Member>
struct Field {
    std::string_view name;
    Member Handle::*member;
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    bool isRequired = false;
    std::string_view choices[8]{};
    std::size_t choiceCount = 0;
    std::string_view meaning{};

    // Numbers (and durations, in milliseconds), both ends included.
    constexpr Field range(double from, double to) const {
        Field copy = *this;
        copy.min = from;
        copy.max = to;
        return copy;
    }
    constexpr Field required() const {
        Field copy = *this;
        copy.isRequired = true;
        return copy;
    }
    // What it is for, in a line: for the manifest and the documentation made from it.
    constexpr Field about(std::string_view text) const {
        Field copy = *this;
        copy.meaning = text;
        return copy;
    }
    // Texts.
    template <class... Texts>
    constexpr Field oneOf(Texts... texts) const {
        static_assert(sizeof...(Texts) <= 8, "at most eight choices");
        Field copy = *this;
        ((copy.choices[copy.choiceCount++] = texts), ...);
        return copy;
    }
};

template <class T>
concept HasFields = requires { T::fields; };
template <class T>
concept HasItems = std::is_member_object_pointer_v<std::remove_const_t<decltype(T::items)>>;
template <class T>
using ItemsOf = std::remove_reference_t<decltype(std::declval<T&>().*T::items)>;

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {
    using Item = T;
};
using TextMap = std::vector<std::pair<std::string, std::string>>;

// Also a JSON number, when it is finite.
inline std::string numberText(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 15).ptr;
    return std::string(text, end);
}

// ---- Reading. Control thread; errors name the path below the handle. ----

class HandleReader {
public:
    explicit HandleReader(weir_error* error) : error_(error) {}

    bool fail(const std::string& path, const std::string& text) {
        hostTable->error_set(error_, str(path), str(text));
        return false;
    }

    bool wrong(const std::string& path, const weir_value* value, std::string_view expected) {
        static constexpr std::string_view kKinds[] = {"nothing", "", "a list", "a map"};
        const weir_kind kind = hostTable->value_kind(value);
        std::string found(kKinds[kind]);
        if (kind == WEIR_SCALAR) found.append("'").append(view(hostTable->value_text(value))).append("'");
        return fail(path, "expected " + std::string(expected) + ", found " + found);
    }

    template <class T, class Limits>
    bool read(const std::string& path, const weir_value* value, T& out, const Limits& limits) {
        if constexpr (std::is_same_v<T, bool>) {
            std::int32_t flag = 0;
            if (!hostTable->value_bool(value, &flag)) return wrong(path, value, "true or false");
            out = flag != 0;
            return true;
        } else if constexpr (std::is_integral_v<T>) {
            return readInteger(path, value, out, limits);
        } else if constexpr (std::is_floating_point_v<T>) {
            double number = 0;
            if (!hostTable->value_double(value, &number) || number < limits.min || number > limits.max)
                return wrong(path, value, "a number" + rangeText(limits.min, limits.max));
            out = static_cast<T>(number);
            return true;
        } else if constexpr (std::is_same_v<T, std::chrono::milliseconds>) {
            std::int64_t ms = 0;
            if (!readInteger(path, value, ms, limits)) return false;
            out = std::chrono::milliseconds(ms);
            return true;
        } else if constexpr (std::is_same_v<T, std::string>) {
            return readText(path, value, out, limits);
        } else if constexpr (std::is_same_v<T, TextMap>) {
            if (hostTable->value_kind(value) != WEIR_OBJECT) return wrong(path, value, "a map of texts");
            out.clear();
            for (std::size_t i = 0; i < hostTable->value_size(value); ++i) {
                auto& entry = out.emplace_back();
                entry.first = view(hostTable->value_key_at(value, i));
                if (!readText(prefixOf(path) + entry.first, hostTable->value_at(value, i), entry.second, kNoLimits))
                    return false;
            }
            return true;
        } else if constexpr (IsVector<T>::value) {
            if (hostTable->value_kind(value) != WEIR_ARRAY) return wrong(path, value, "a list");
            out.clear();
            for (std::size_t i = 0; i < hostTable->value_size(value); ++i) {
                const std::string place = path + "[" + std::to_string(i) + "]";
                if (!read(place, hostTable->value_at(value, i), out.emplace_back(), limits)) return false;
            }
            return true;
        } else if constexpr (HasItems<T>) {
            return read(path, value, out.*T::items, limits);
        } else {
            static_assert(HasFields<T>, "a handle needs `static constexpr auto fields = weir::fields(...)`");
            return readFields(path, value, out);
        }
    }

    template <class T>
    bool read(const weir_value* value, T& out) {
        return read(std::string(), value, out, kNoLimits);
    }

private:
    static constexpr Field<HandleReader, int> kNoLimits{};

    static std::string prefixOf(const std::string& path) { return path.empty() ? path : path + "."; }

    template <class T>
    bool readFields(const std::string& path, const weir_value* value, T& out) {
        if (hostTable->value_kind(value) != WEIR_OBJECT) return wrong(path, value, "a map");
        const std::string prefix = prefixOf(path);
        const bool good = std::apply(
            [&](const auto&... field) { return (readField(prefix, value, out, field) && ...); }, T::fields);
        if (!good) return false;
        for (std::size_t i = 0; i < hostTable->value_size(value); ++i) {
            const std::string_view key = view(hostTable->value_key_at(value, i));
            const bool known =
                std::apply([&](const auto&... field) { return ((field.name == key) || ...); }, T::fields);
            if (!known) hostTable->unknown_key(error_, str(prefix + std::string(key)));
        }
        return true;
    }

    template <class T, class FieldType>
    bool readField(const std::string& prefix, const weir_value* object, T& out, const FieldType& field) {
        const weir_value* value = hostTable->value_get(object, str(field.name));
        if (value) return read(prefix + std::string(field.name), value, out.*(field.member), field);
        if (field.isRequired) return fail(prefix + std::string(field.name), "is required");
        return true;
    }

    template <class T, class Limits>
    bool readInteger(const std::string& path, const weir_value* value, T& out, const Limits& limits) {
        std::int64_t number = 0;
        // Doubles hold every limit in use; the type's own limits are compared as integers.
        if (!hostTable->value_int(value, &number) || static_cast<double>(number) < limits.min ||
            static_cast<double>(number) > limits.max || !std::in_range<T>(number)) {
            const double low = std::max(limits.min, static_cast<double>(std::numeric_limits<T>::min()));
            const double high = std::min(limits.max, static_cast<double>(std::numeric_limits<T>::max()));
            return wrong(path, value, "a whole number" + rangeText(low, high));
        }
        out = static_cast<T>(number);
        return true;
    }

    template <class Limits>
    bool readText(const std::string& path, const weir_value* value, std::string& out, const Limits& limits) {
        if (hostTable->value_kind(value) != WEIR_SCALAR) return wrong(path, value, "a text");
        const std::string_view text = view(hostTable->value_text(value));
        if (limits.choiceCount != 0) {
            std::string expected = "one of";
            bool known = false;
            for (std::size_t i = 0; i < limits.choiceCount; ++i) {
                known = known || limits.choices[i] == text;
                expected += i ? ", " : " ";
                expected += limits.choices[i];
            }
            if (!known) return wrong(path, value, expected);
        }
        out = text;
        return true;
    }

    static std::string rangeText(double min, double max) {
        const bool low = min > -1e18;
        const bool high = max < 1e18;
        if (low && high) return " from " + numberText(min) + " to " + numberText(max);
        if (low) return ", at least " + numberText(min);
        if (high) return ", at most " + numberText(max);
        return "";
    }

    weir_error* error_;
};

// ---- Describing: the schema in the manifest, as JSON. Build time. ----

inline std::string quoteJson(std::string_view text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
}

template <class T>
constexpr std::string_view typeName() {
    if constexpr (std::is_same_v<T, bool>) return "boolean";
    else if constexpr (std::is_integral_v<T>) return "integer";
    else if constexpr (std::is_floating_point_v<T>) return "number";
    else if constexpr (std::is_same_v<T, std::chrono::milliseconds>) return "milliseconds";
    else if constexpr (std::is_same_v<T, std::string>) return "text";
    else if constexpr (std::is_same_v<T, TextMap>) return "map";
    else if constexpr (IsVector<T>::value) return "list";
    else return "object";
}

template <class T>
std::string describeFields();

template <class T>
std::string describeType(const T& standard) {
    std::string out = "\"type\":" + quoteJson(typeName<T>());
    if constexpr (std::is_same_v<T, bool>) {
        out += std::string(",\"default\":\"") + (standard ? "true" : "false") + "\"";
    } else if constexpr (std::is_floating_point_v<T>) {
        out += ",\"default\":\"" + numberText(standard) + "\"";
    } else if constexpr (std::is_integral_v<T>) {
        out += ",\"default\":\"" + std::to_string(standard) + "\"";
    } else if constexpr (std::is_same_v<T, std::chrono::milliseconds>) {
        out += ",\"default\":\"" + std::to_string(standard.count()) + "\"";
    } else if constexpr (std::is_same_v<T, std::string>) {
        out += ",\"default\":" + quoteJson(standard);
    } else if constexpr (IsVector<T>::value && !std::is_same_v<T, TextMap>) {
        out += ",\"items\":{" + describeType(typename IsVector<T>::Item{}) + "}";
    } else if constexpr (HasFields<T>) {
        out += ",\"fields\":" + describeFields<T>();
    }
    return out;
}

template <class T, class FieldType>
std::string describeField(const T& standard, const FieldType& field) {
    std::string out = "{\"name\":" + quoteJson(field.name) + "," + describeType(standard.*(field.member));
    if (std::isfinite(field.min)) out += ",\"min\":" + numberText(field.min);
    if (std::isfinite(field.max)) out += ",\"max\":" + numberText(field.max);
    if (field.isRequired) out += ",\"required\":true";
    if (!field.meaning.empty()) out += ",\"about\":" + quoteJson(field.meaning);
    if (field.choiceCount) {
        out += ",\"oneOf\":[";
        for (std::size_t i = 0; i < field.choiceCount; ++i) {
            if (i) out += ',';
            out += quoteJson(field.choices[i]);
        }
        out += "]";
    }
    return out + "}";
}

// The array of field descriptions of a handle; of its items' handle when the handle is a list.
template <class T>
std::string describeFields() {
    if constexpr (IsVector<T>::value) {
        return describeFields<typename IsVector<T>::Item>();
    } else if constexpr (HasItems<T>) {
        return describeFields<ItemsOf<T>>();
    } else {
        const T standard{};
        std::string out = "[";
        const auto add = [&](const auto& field) {
            if (out.size() > 1) out += ',';
            out += describeField(standard, field);
        };
        std::apply([&](const auto&... field) { (add(field), ...); }, T::fields);
        return out + "]";
    }
}

}  // namespace detail

template <class Handle, class Member>
constexpr detail::Field<Handle, Member> field(std::string_view name, Member Handle::*member) {
    return {name, member};
}

template <class... Fields>
constexpr std::tuple<Fields...> fields(Fields... all) {
    return {all...};
}

// For prepareRule and prepareSelector: says what is wrong at `path` below the handle ("[2].weight"), answers false.
inline bool refuse(weir_error* error, const std::string& path, const std::string& text) {
    return detail::HandleReader(error).fail(path, text);
}

// A plugin, selector or rule without settings of its own.
struct NoHandle {
    static constexpr auto fields = weir::fields();
};

}  // namespace weir
