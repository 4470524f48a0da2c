#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "upstream/server_registry.hpp"

namespace weir::upstream {

// The lists of upstreams that are in use and whose they are, for people to look at.
class SetCatalog {
public:
    struct Owner {
        std::string plugin;
        std::string selector;  // its id
    };
    struct Listed {
        std::string protocol;
        std::uint32_t weight;
        bool status;
        bool gray;
        std::shared_ptr<const Server> server;
    };
    struct Set {
        Owner owner;
        std::vector<Listed> upstreams;  // all of the list, usable or not
    };

    // ---- control thread ----
    // Whose the sets are that are made from now on.
    void setOwner(Owner owner) { owner_ = std::move(owner); }
    // Shown for as long as the caller keeps it.
    [[nodiscard]] std::shared_ptr<const Set> add(std::vector<Listed> upstreams);

    // ---- any thread ----
    // Of each owner the one that was made last.
    std::vector<std::shared_ptr<const Set>> sets() const;
    std::size_t remembered() const;  // lists, those that are gone and not swept out yet, too

private:
    Owner owner_;
    mutable std::mutex mutex_;
    std::vector<std::weak_ptr<const Set>> sets_;  // in the order they were made
    std::size_t sweepAt_ = 64;                    // so many
};

// Names the owner of the sets that are made while it lives. Control thread.
class OwnedSets {
public:
    OwnedSets(SetCatalog* catalog, const std::string& plugin, const std::string& selector) : catalog_(catalog) {
        if (catalog_) catalog_->setOwner({plugin, selector});
    }
    ~OwnedSets() {
        if (catalog_) catalog_->setOwner({});
    }
    OwnedSets(const OwnedSets&) = delete;
    OwnedSets& operator=(const OwnedSets&) = delete;

private:
    SetCatalog* catalog_;  // null: nobody looks
};

}  // namespace weir::upstream
