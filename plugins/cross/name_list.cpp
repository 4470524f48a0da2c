#include "name_list.hpp"

#include <algorithm>

#include "weir/http_field.hpp"

namespace weir::cross {

namespace {

std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Calls visit(name) for each that is not blank until one answers true; whether one did.
template <class Visit>
bool anyName(std::string_view list, Visit visit) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        const std::string_view name = trim(list.substr(0, end));
        if (!name.empty() && visit(name)) return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

}  // namespace

std::string joinNames(std::string_view first, std::string_view second) {
    std::string joined;
    const auto add = [&](std::string_view name) {
        if (!hasName(joined, name)) joined.append(joined.empty() ? "" : ",").append(name);
        return false;
    };
    anyName(first, add);
    anyName(second, add);
    return hasName(joined, "*") ? "*" : joined;
}

bool hasName(std::string_view list, std::string_view name) {
    return anyName(list, [&](std::string_view each) { return equalsIgnoreCase(each, name); });
}

std::string_view faultyName(std::string_view list) {
    std::string_view faulty;
    anyName(list, [&](std::string_view name) {
        if (isFieldName(name)) return false;
        faulty = name;
        return true;
    });
    return faulty;
}

}  // namespace weir::cross
