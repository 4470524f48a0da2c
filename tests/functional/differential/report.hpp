#pragma once

#include <string>

#include "functional/differential/corpus.hpp"

namespace weir::functional {

// docs/differential.md: what is recorded, as tables for people.
std::string reportOf(const Corpus& corpus);

}  // namespace weir::functional
