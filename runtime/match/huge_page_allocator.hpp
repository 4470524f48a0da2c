#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace weir::match {

// For containers that many random reads go to. A large block lies in huge pages where the system has them (madvise(2),
// MADV_HUGEPAGE): reading it needs no walk of the page table, and filling it few page faults. Small ones come from the
// heap as ever. Any thread.
template <class T>
struct HugePageAllocator {
    using value_type = T;

    HugePageAllocator() = default;
    template <class Other>
    HugePageAllocator(const HugePageAllocator<Other>&) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        void* const memory = ::operator new(bytes, alignmentOf(bytes));
        if (bytes >= kLarge) ::madvise(memory, bytes, MADV_HUGEPAGE);  // refused: small pages do as well, but slower
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) noexcept { ::operator delete(memory, alignmentOf(count * sizeof(T))); }

    bool operator==(const HugePageAllocator&) const = default;

private:
    static constexpr std::size_t kPage = std::size_t{2} << 20;
    static constexpr std::size_t kLarge = 2 * kPage;  // below, more would be lost at the ends than won

    static std::align_val_t alignmentOf(std::size_t bytes) {
        return std::align_val_t(bytes >= kLarge ? kPage : alignof(T));
    }
};

}  // namespace weir::match
