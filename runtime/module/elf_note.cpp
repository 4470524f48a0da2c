#include "module/elf_note.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "module/elf_image.hpp"

namespace weir::module {
namespace {

using base::Result;

constexpr std::string_view kOwner{"WEIR", 5};  // with the terminator, as notes have it
constexpr std::uint32_t kType = 1;

// Notes are padded to 4 bytes, or to 8 in a segment aligned to 8 (.note.gnu.property).
std::uint64_t padded(std::uint64_t size, std::uint64_t align) { return (size + align - 1) & ~(align - 1); }

// Walks one segment. `found` is kept across segments, so that a second WEIR note anywhere is seen.
Result<void, Refusal> walkNotes(std::string_view notes, std::uint64_t align, std::optional<std::string_view>& found) {
    std::uint64_t at = 0;
    while (notes.size() - at >= sizeof(Elf64_Nhdr)) {
        const auto note = readAt<Elf64_Nhdr>(notes, at);
        const std::uint64_t name = at + sizeof(Elf64_Nhdr);
        const std::uint64_t descriptor = at + padded(sizeof(Elf64_Nhdr) + std::uint64_t{note.n_namesz}, align);
        if (!within(name, note.n_namesz, notes.size()) || !within(descriptor, note.n_descsz, notes.size())) {
            return Refusal{RefusalCode::NotElf, "the note at byte " + std::to_string(at),
                           "a name of " + std::to_string(note.n_namesz) + " and a content of " +
                               std::to_string(note.n_descsz) + " bytes",
                           "at most the " + std::to_string(notes.size()) + " bytes of its segment", "build it again"};
        }
        if (note.n_type == kType && notes.substr(name, note.n_namesz) == kOwner) {
            if (found) {
                return Refusal{RefusalCode::BadManifest, "the number of WEIR notes", "2", "1",
                               "link one manifest into it"};
            }
            if (note.n_descsz > kMaxManifestBytes) {
                return Refusal{RefusalCode::BadManifest, "the manifest's size",
                               std::to_string(note.n_descsz) + " bytes",
                               "at most " + std::to_string(kMaxManifestBytes), ""};
            }
            found = notes.substr(descriptor, note.n_descsz);
        }
        at = padded(descriptor + note.n_descsz, align);
        if (at > notes.size()) break;  // the last note's padding may be missing
    }
    return {};
}

}  // namespace

Result<std::string_view, Refusal> findManifestNote(std::string_view image) {
    const auto segments = readSegments(image);
    if (!segments) return segments.error();

    std::optional<std::string_view> found;
    for (const Elf64_Phdr& segment : *segments) {
        if (segment.p_type != PT_NOTE) continue;
        auto walked = walkNotes(image.substr(segment.p_offset, segment.p_filesz), segment.p_align == 8 ? 8 : 4, found);
        if (!walked) return std::move(walked).error();
    }
    if (!found) {
        return Refusal{RefusalCode::NoManifest, "", "it has no WEIR note: it is no module", "one",
                       "build it with weir_add_plugin"};
    }
    return *found;
}

}  // namespace weir::module
