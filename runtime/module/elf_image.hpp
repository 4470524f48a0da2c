#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "module/refusal.hpp"

namespace weir::module {

// True when [offset, offset + size) lies within `total`; no sum here can wrap.
inline bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
    return offset <= total && size <= total - offset;
}

template <class T>
T readAt(std::string_view bytes, std::uint64_t offset) {  // the caller has checked the range
    T out;
    std::memcpy(&out, bytes.data() + offset, sizeof out);
    return out;
}

// The program headers of a shared object for this machine. Refused are files for another machine, files that are no
// shared objects, segments that reach past the file's end (cut short: the loader would die of SIGBUS) and PT_LOAD
// segments that overlap or are out of order.
base::Result<std::vector<Elf64_Phdr>, Refusal> readSegments(std::string_view image);

struct ElfSymbol {
    std::string_view name;  // mangled; of a longer one the first 4096 bytes
    bool defined = false;   // here; else somewhere else, when it is loaded
    bool data = false;
    bool unique = false;    // STB_GNU_UNIQUE: one for the whole process
};

// What a shared object tells the dynamic loader. The names point into the image.
struct ElfImage {
    std::vector<std::string_view> needed;  // DT_NEEDED, DT_FILTER, DT_AUXILIARY: what is loaded with it
    std::string_view soname;
    std::string_view runpath;              // DT_RUNPATH or DT_RPATH
    bool textRelocations = false;          // code would be made writable
    bool executableStack = false;          // PT_GNU_STACK asks for it, or is missing
    bool threadLocals = false;             // PT_TLS
    bool staticTls = false;                // these need the small space that is laid out at program start
    bool noDelete = false;                 // linked with -z nodelete
    // The dynamic ones, at most 262144. An object that exports nothing at all may show only some of its imports: its
    // hash table does not count them.
    std::vector<ElfSymbol> symbols;
};

// Reads what lies at the addresses that the loader would look at. Fit for bytes of any origin: nothing outside `image`
// is read, and the time is bounded by its size. `image` is the whole file and must outlive the answer.
base::Result<ElfImage, Refusal> readElfImage(std::string_view image);

}  // namespace weir::module
