#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/settings_reader.hpp"
#include "data/data_set.hpp"

namespace weir::data {

// All that a configuration file says, checked as far as it can be without modules: handles are trees still.
struct Configuration {
    config::Settings settings;
    DataSet data;
    std::vector<std::string> warnings;         // for the log, each a line
    std::vector<std::filesystem::path> files;  // read, the main file first; for watching
};

// Reads the file with what its `include` names (files of data only, relative to it, globs in the order of their names)
// and puts environment and command line over its settings. A file is taken whole or not at all: the first mistake is
// the error, its text() is `weir.yaml:12:7: what is wrong, what was expected`. Roots that are not Weir's (`spring:`)
// are warnings. Blocks; start-up and control thread only.
base::Result<Configuration> loadConfiguration(const std::filesystem::path& file,
                                              const std::vector<config::Override>& overrides,
                                              const config::Environment& environment);

}  // namespace weir::data
