#include "upstream/set_catalog.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weir::upstream {

std::shared_ptr<const SetCatalog::Set> SetCatalog::add(std::vector<Listed> upstreams) {
    auto set = std::make_shared<const Set>(Set{owner_, std::move(upstreams)});
    const std::lock_guard lock(mutex_);
    if (sets_.size() >= sweepAt_) {
        std::erase_if(sets_, [](const auto& each) { return each.expired(); });
        sweepAt_ = std::max<std::size_t>(64, 2 * sets_.size());
    }
    sets_.push_back(set);
    return set;
}

std::vector<std::shared_ptr<const SetCatalog::Set>> SetCatalog::sets() const {
    std::map<std::pair<std::string, std::string>, std::shared_ptr<const Set>> last;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& each : sets_)
            if (auto set = each.lock()) last.insert_or_assign({set->owner.plugin, set->owner.selector}, std::move(set));
    }
    std::vector<std::shared_ptr<const Set>> found;
    for (auto& [owner, set] : last) found.push_back(std::move(set));
    return found;
}

std::size_t SetCatalog::remembered() const {
    const std::lock_guard lock(mutex_);
    return sets_.size();
}

}  // namespace weir::upstream
