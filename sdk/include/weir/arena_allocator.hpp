#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "weir/arena.hpp"
#include "weir/exchange.hpp"

namespace weir {

// Standard containers in an exchange's memory, for what a request builds and throws away: no malloc in the common case.
//     weir::ArenaString path{weir::ArenaAllocator<char>(exchange)};
// They must go before the exchange ends, as a coroutine's locals do. Throws std::bad_alloc. Loop thread.
template <class T>
class ArenaAllocator {
public:
    using value_type = T;
    static_assert(alignof(T) <= WEIR_ARENA_ALIGN);

    explicit ArenaAllocator(Exchange& exchange) : exchange_(exchange.raw()) {}
    template <class U>
    ArenaAllocator(const ArenaAllocator<U>& other) noexcept : exchange_(other.exchange()) {}

    T* allocate(std::size_t count) {
        return static_cast<T*>(detail::arenaAllocate(*exchange_, bytesFor(count)));
    }
    void deallocate(T* block, std::size_t count) noexcept { detail::arenaFree(*exchange_, block, bytesFor(count)); }

    weir_exchange* exchange() const noexcept { return exchange_; }
    template <class U>
    bool operator==(const ArenaAllocator<U>& other) const noexcept {
        return exchange_ == other.exchange();
    }

private:
    // The arena has no blocks of 0 bytes.
    static std::size_t bytesFor(std::size_t count) noexcept { return std::max<std::size_t>(count, 1) * sizeof(T); }

    weir_exchange* exchange_;
};

using ArenaString = std::basic_string<char, std::char_traits<char>, ArenaAllocator<char>>;
template <class T>
using ArenaVector = std::vector<T, ArenaAllocator<T>>;

}  // namespace weir
