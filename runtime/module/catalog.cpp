#include "module/catalog.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "module/spi_index.hpp"

namespace weir::module {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorCode;

// Why a line of the index holds for none of the modules.
std::string unbacked(const SpiLine& line, const std::vector<FoundModule>& modules) {
    const auto it =
        std::ranges::find_if(modules, [&](const auto& each) { return each.manifest.id == line.module; });
    if (it == modules.end()) return "there is no module \"" + line.module + "\" to serve \"" + line.key + "\"";
    return "the module \"" + line.module + "\" (" + it->file.string() + ") does not provide " + line.interface + " \"" +
           line.key + "\"";
}

}  // namespace

ModuleCatalog ModuleCatalog::scan(const fs::path& directory, const fs::path& spi) {
    ModuleCatalog catalog;
    FoundModules found = findModules(directory);
    catalog.modules_ = std::move(found.modules);
    catalog.problems_ = std::move(found.problems);
    catalog.resolve(spi);
    return catalog;
}

void ModuleCatalog::resolve(const fs::path& spiDirectory) {
    auto index = SpiIndex::read(spiDirectory);
    if (!index) problems_.push_back(index.error());

    for (const FoundModule& each : modules_) {
        for (const Provided& item : each.manifest.provides) {
            const SpiLine* line = index ? index->find(item.interface, item.key) : nullptr;
            const bool chosen = line != nullptr && line->module == each.manifest.id;
            entries_.push_back({&each, &item, chosen ? State::Selected : State::NotSelected});
        }
    }
    std::ranges::sort(entries_, {}, [](const Entry& entry) {
        return std::tuple(std::string_view(entry.provided->interface), entry.provided->order,
                          std::string_view(entry.provided->key), entry.state,
                          std::string_view(entry.module->manifest.id));
    });

    if (!index) return;
    for (const SpiLine& line : index->lines()) {
        if (selected(line.interface, line.key) != nullptr) continue;
        problems_.push_back(Error{ErrorCode::InvalidConfig, line.origin, unbacked(line, modules_)});
    }
}

const ModuleCatalog::Entry* ModuleCatalog::selected(std::string_view interface, std::string_view key) const {
    const auto it = std::ranges::find_if(entries_, [&](const Entry& entry) {
        return entry.state == State::Selected && entry.provided->interface == interface && entry.provided->key == key;
    });
    return it == entries_.end() ? nullptr : &*it;
}

std::string_view toText(ModuleCatalog::State state) {
    return state == ModuleCatalog::State::Selected ? "selected" : "not selected";
}

}  // namespace weir::module
