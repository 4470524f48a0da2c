#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"

namespace weir::module {

// A manifest larger than this is refused.
inline constexpr std::size_t kMaxManifestBytes = 256 * 1024;

// The manifest text of a module: the descriptor of the ELF note with owner "WEIR" and type 1, searched in every PT_NOTE
// segment (it usually shares one with the build-id). `image` is the whole file; the answer points into it.
//
// Fit for bytes of any origin: nothing outside `image` is read. Refused are files for another machine, files whose
// PT_LOAD segments reach past the end (cut short: the loader would die of SIGBUS), no WEIR note, and two of them. The
// error's origin is empty; the caller knows the file.
base::Result<std::string_view> findManifestNote(std::string_view image);

}  // namespace weir::module
