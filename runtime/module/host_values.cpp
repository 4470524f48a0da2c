#include "module/host_values.hpp"

#include <new>
#include <optional>
#include <string_view>

#include "base/steady_clock.hpp"
#include "base/value.hpp"
#include "module/abi_text.hpp"

namespace weir::module {

namespace {

const base::Value& valueOf(const weir_value* raw) {
    static const base::Value null;
    return raw ? *reinterpret_cast<const base::Value*>(raw) : null;
}
const weir_value* rawOf(const base::Value& value) { return reinterpret_cast<const weir_value*>(&value); }

template <class T, class Out>
std::int32_t store(const std::optional<T>& value, Out* out) {
    if (!value) return 0;
    *out = static_cast<Out>(*value);
    return 1;
}

}  // namespace

void* HostValues::allocate(std::size_t size) {
    return ::operator new(size, std::align_val_t{WEIR_ARENA_ALIGN}, std::nothrow);
}
void HostValues::release(void* block, std::size_t) { ::operator delete(block, std::align_val_t{WEIR_ARENA_ALIGN}); }

std::uint64_t HostValues::nowNs() { return base::steadyNs(); }

weir_kind HostValues::kind(const weir_value* raw) {
    const base::Value& value = valueOf(raw);
    if (value.isNull()) return WEIR_NULL;
    switch (value.kind()) {
        case base::Value::Kind::Scalar: return WEIR_SCALAR;
        case base::Value::Kind::Array: return WEIR_ARRAY;
        case base::Value::Kind::Object: return WEIR_OBJECT;
        case base::Value::Kind::Null: break;
    }
    return WEIR_NULL;
}
std::size_t HostValues::size(const weir_value* raw) {
    const base::Value& value = valueOf(raw);
    return value.isArray() ? value.items().size() : value.members().size();
}
const weir_value* HostValues::at(const weir_value* raw, std::size_t index) {
    const base::Value& value = valueOf(raw);
    if (value.isArray()) return index < value.items().size() ? rawOf(value.items()[index]) : nullptr;
    return index < value.members().size() ? rawOf(value.members()[index].value) : nullptr;
}
weir_str HostValues::keyAt(const weir_value* raw, std::size_t index) {
    const base::Value& value = valueOf(raw);
    return index < value.members().size() ? str(value.members()[index].key) : weir_str{nullptr, 0};
}
const weir_value* HostValues::get(const weir_value* raw, weir_str key) {
    const base::Value* found = valueOf(raw).find(view(key));
    return found && !found->isNull() ? rawOf(*found) : nullptr;
}
weir_str HostValues::text(const weir_value* raw) { return str(valueOf(raw).text()); }

std::int32_t HostValues::toBool(const weir_value* raw, std::int32_t* out) { return store(valueOf(raw).toBool(), out); }
std::int32_t HostValues::toInt(const weir_value* raw, std::int64_t* out) { return store(valueOf(raw).toInt(), out); }
std::int32_t HostValues::toDouble(const weir_value* raw, double* out) { return store(valueOf(raw).toDouble(), out); }

}  // namespace weir::module
