#pragma once

#include <string>
#include <vector>

#include "weir/abi.h"

// What a module leaves behind when it refuses something on the control thread (abi.h).
struct weir_error {
    std::string path;                      // relative to the value that was refused
    std::string text;                      // "" when no reason was given
    std::vector<std::string> unknownKeys;  // known to nobody, not an error

    // "retry: expected ..."
    std::string message() const { return path.empty() ? text : path + ": " + text; }
};
