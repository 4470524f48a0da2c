#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "request_handle.hpp"

namespace weir::request {

// The pairs name=value of a query or of a Cookie header, in order. Pairs that are not edited stay as the client wrote
// them, byte by byte.
class PairList {
public:
    enum class Kind {
        Query,   // separated by '&', names and values percent-encoded (application/x-www-form-urlencoded)
        Cookie,  // separated by "; ", as they are
    };

    PairList(Kind kind, std::string_view text);

    // More pairs of the same kind, behind those that are there.
    void append(std::string_view text);

    void add(const Texts& pairs);
    void set(const Texts& pairs);      // takes the place of the first pair of that name; at the end when there is none
    void rename(const Texts& renames); // old name to new one
    void remove(const std::vector<std::string>& names);

    bool empty() const { return pairs_.empty(); }
    std::string text() const;

private:
    std::string written(std::string_view text) const;
    bool named(std::string_view pair, std::string_view name) const;

    Kind kind_;
    std::vector<std::string> pairs_;
};

}  // namespace weir::request
