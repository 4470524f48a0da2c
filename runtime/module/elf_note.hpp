#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"
#include "module/refusal.hpp"

namespace weir::module {

// A manifest larger than this is refused.
inline constexpr std::size_t kMaxManifestBytes = 256 * 1024;

// The manifest text of a module: the descriptor of the ELF note with owner "WEIR" and type 1, searched in every PT_NOTE
// segment (it usually shares one with the build-id). `image` is the whole file; the answer points into it.
//
// Fit for bytes of any origin: nothing outside `image` is read. Refused are what readSegments() (elf_image.hpp)
// refuses, no WEIR note, and two of them.
base::Result<std::string_view, Refusal> findManifestNote(std::string_view image);

}  // namespace weir::module
