#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/settings_reader.hpp"
#include "data/data_set.hpp"
#include "data/source_files.hpp"

namespace weir::data {

// All that a configuration file says, checked as far as it can be without modules: handles are trees still.
struct Configuration {
    config::Settings settings;
    DataSet data;
    std::vector<std::string> warnings;  // for the log, each a line
};

// Reads the file with what its `include` names (files of data only, which may include others; relative to the file that
// names them, globs in the order of their names, each file once) and puts environment and command line over its
// settings. Variables in its values are those of `environment`, see config::Variables. A file is taken whole or not at
// all: the first mistake is the error, its text() is `weir.yaml:12:7: what is wrong, what was expected`. Of `shenyu:`
// and `server:` is taken what means the same here, see config::readShenyuSettings(); other roots that are not Weir's
// (`spring:`) are warnings. `read`, empty before, gets the files that were read, whatever came of it. Blocks; start-up and control
// thread only.
base::Result<Configuration> loadConfiguration(const std::filesystem::path& file,
                                              const std::vector<config::Override>& overrides,
                                              const config::Environment& environment, SourceFiles* read = nullptr);

}  // namespace weir::data
