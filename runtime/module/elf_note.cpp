#include "module/elf_note.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace weir::module {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::string_view kOwner{"WEIR", 5};  // with the terminator, as notes have it
constexpr std::uint32_t kType = 1;
constexpr std::size_t kMaxSegments = 128;  // linkers write about ten

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
#error "add this machine's EM_ constant"
#endif

Error refuse(std::string message) { return Error{ErrorCode::InvalidModule, "", std::move(message)}; }

// True when [offset, offset + size) lies within `total`; no sum here can wrap.
bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
    return offset <= total && size <= total - offset;
}

template <class T>
T readAt(std::string_view bytes, std::size_t offset) {  // the caller has checked the range
    T out;
    std::memcpy(&out, bytes.data() + offset, sizeof out);
    return out;
}

Result<Elf64_Ehdr> readHeader(std::string_view image) {
    if (image.size() < SELFMAG || image.substr(0, SELFMAG) != ELFMAG) return refuse("it is not an ELF file");
    if (image.size() < sizeof(Elf64_Ehdr)) {
        return refuse("the ELF header is cut short: the file has " + std::to_string(image.size()) +
                      " bytes, expected " + std::to_string(sizeof(Elf64_Ehdr)) + " or more");
    }
    const auto header = readAt<Elf64_Ehdr>(image, 0);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_ident[EI_VERSION] != EV_CURRENT) {
        return refuse("it is not a 64-bit little-endian ELF file");
    }
    if (header.e_machine != kMachine) {
        return refuse("it is built for another machine: e_machine is " + std::to_string(header.e_machine) +
                      ", expected " + std::to_string(kMachine));
    }
    if (header.e_type != ET_DYN) {
        return refuse("it is not a shared object: e_type is " + std::to_string(header.e_type) + ", expected " +
                      std::to_string(ET_DYN));
    }
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phnum > kMaxSegments) {
        return refuse("its program headers are impossible: " + std::to_string(header.e_phnum) + " of " +
                      std::to_string(header.e_phentsize) + " bytes, expected 1 to " + std::to_string(kMaxSegments) +
                      " of " + std::to_string(sizeof(Elf64_Phdr)));
    }
    if (!within(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), image.size())) {
        return refuse("its program headers at byte " + std::to_string(header.e_phoff) + " lie past the file's end at " +
                      std::to_string(image.size()));
    }
    return header;
}

// Notes are padded to 4 bytes, or to 8 in a segment aligned to 8 (.note.gnu.property).
std::uint64_t padded(std::uint64_t size, std::uint64_t align) { return (size + align - 1) & ~(align - 1); }

// Walks one segment. `found` is kept across segments, so that a second WEIR note anywhere is seen.
Result<void> walkNotes(std::string_view notes, std::uint64_t align, std::optional<std::string_view>& found) {
    std::uint64_t at = 0;
    while (notes.size() - at >= sizeof(Elf64_Nhdr)) {
        const auto note = readAt<Elf64_Nhdr>(notes, at);
        const std::uint64_t name = at + sizeof(Elf64_Nhdr);
        const std::uint64_t descriptor = at + padded(sizeof(Elf64_Nhdr) + std::uint64_t{note.n_namesz}, align);
        if (!within(name, note.n_namesz, notes.size()) || !within(descriptor, note.n_descsz, notes.size())) {
            return refuse("a note is broken: at byte " + std::to_string(at) + " of " + std::to_string(notes.size()) +
                          " it claims a name of " + std::to_string(note.n_namesz) + " and a content of " +
                          std::to_string(note.n_descsz) + " bytes");
        }
        if (note.n_type == kType && notes.substr(name, note.n_namesz) == kOwner) {
            if (found) return refuse("it has two WEIR notes, expected one");
            if (note.n_descsz > kMaxManifestBytes) {
                return refuse("its manifest has " + std::to_string(note.n_descsz) + " bytes, allowed are " +
                              std::to_string(kMaxManifestBytes));
            }
            found = notes.substr(descriptor, note.n_descsz);
        }
        at = padded(descriptor + note.n_descsz, align);
        if (at > notes.size()) break;  // the last note's padding may be missing
    }
    return {};
}

}  // namespace

Result<std::string_view> findManifestNote(std::string_view image) {
    const auto header = readHeader(image);
    if (!header) return header.error();

    std::optional<std::string_view> found;
    for (std::size_t i = 0; i < header->e_phnum; ++i) {
        const auto segment = readAt<Elf64_Phdr>(image, header->e_phoff + i * sizeof(Elf64_Phdr));
        if (segment.p_type != PT_LOAD && segment.p_type != PT_NOTE) continue;
        if (!within(segment.p_offset, segment.p_filesz, image.size())) {
            return refuse("segment " + std::to_string(i) + " (" + std::to_string(segment.p_filesz) + " bytes at byte " +
                          std::to_string(segment.p_offset) + ") reaches past the file's end at " +
                          std::to_string(image.size()) + ": the file is cut short");
        }
        if (segment.p_type != PT_NOTE) continue;
        auto walked = walkNotes(image.substr(segment.p_offset, segment.p_filesz), segment.p_align == 8 ? 8 : 4, found);
        if (!walked) return std::move(walked).error();
    }
    if (!found) return refuse("it has no WEIR note: it is no module, or was not built with weir_add_plugin");
    return *found;
}

}  // namespace weir::module
