#include "upstream/server_registry.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.hpp"

namespace weir::upstream {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kThreads = 8;                // that look names up, at most
constexpr std::chrono::seconds kImpatience{10};    // without waiting, after a wait that was too short
constexpr std::chrono::seconds kEnd{1};            // for lookups that run when all ends

struct HostPort {
    std::string host;
    std::uint16_t port;
};

base::Result<HostPort> split(const std::string& url) {
    const std::size_t colon = url.rfind(':');
    unsigned port = 0;
    const char* end = url.data() + url.size();
    const bool good = colon != std::string::npos && colon > 0 &&
                      std::from_chars(url.data() + colon + 1, end, port) == std::from_chars_result{end, std::errc()} &&
                      port > 0 && port < 65536;
    if (!good) return base::Error{base::ErrorCode::InvalidConfig, "", "expected host:port, found '" + url + "'"};
    return HostPort{url.substr(0, colon), static_cast<std::uint16_t>(port)};
}

// What net::resolve() answers without asking anybody.
bool needsNoLookup(const std::string& host) {
    in_addr address{};
    return host == "localhost" || host.find(':') != host.npos || ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

}  // namespace

struct ServerRegistry::Shared : std::enable_shared_from_this<Shared> {
    struct Entry {
        std::shared_ptr<const Server> server;
        HostPort name;
        std::shared_ptr<const AddressList> addresses;
        Clock::time_point due{};  // of the next lookup
        std::optional<Clock::time_point> unheldSince;  // as far as anybody has looked
        bool isName = false;
        bool looking = false;
        bool looked = false;
        bool failing = false;

        bool held() const { return server.use_count() > 1; }
    };
    using Key = std::pair<std::string, bool>;  // url, checked

    base::Result<std::shared_ptr<const Server>> get(const std::string& url, bool check);
    std::shared_ptr<const Server> known(Entry& entry);
    void forgetUnheld(Clock::time_point now);
    Entry& add(const Key& key, HostPort name);
    void awaitFirst(std::unique_lock<std::mutex>& lock, const Entry& entry);
    void startThread();
    void work();
    Entry* nextDue();
    void lookUp(std::unique_lock<std::mutex>& lock, Entry& entry);
    void take(Entry& entry, base::Result<Endpoints> found);
    void give(Entry& entry, Endpoints addresses);

    Options options;
    mutable std::mutex mutex;  // of all below
    std::condition_variable wake;    // something is due, or all ends
    std::condition_variable looked;  // a lookup or a thread is over
    std::map<Key, Entry> entries;    // an entry stays while it is being looked up
    std::vector<std::uint32_t> freeIds;
    const std::shared_ptr<std::atomic<std::uint32_t>> out = std::make_shared<std::atomic<std::uint32_t>>(0);
    std::uint32_t ids = 0;
    std::size_t names = 0;
    std::size_t threads = 0;
    Clock::time_point patientFrom{};
    Clock::time_point nextSweep{};
    Follower follower;
    bool stopping = false;
};

ServerRegistry::ServerRegistry() : shared_(std::make_shared<Shared>()) {}

ServerRegistry::~ServerRegistry() {
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->follower = {};
    shared_->wake.notify_all();
    shared_->looked.wait_for(lock, kEnd, [this] { return shared_->threads == 0; });
}

void ServerRegistry::configure(Options options) { shared_->options = std::move(options); }

base::Result<std::shared_ptr<const Server>> ServerRegistry::get(const std::string& url, bool check) {
    return shared_->get(url, check && shared_->options.checks);
}

void ServerRegistry::follow(Follower follower) {
    const std::lock_guard lock(shared_->mutex);
    shared_->follower = std::move(follower);
    if (!shared_->follower) return;
    for (const auto& [key, entry] : shared_->entries)
        if (entry.addresses) shared_->follower(entry.server->id, entry.addresses);
}

std::vector<ServerRegistry::Known> ServerRegistry::checked() const {
    std::vector<Known> found;
    const std::lock_guard lock(shared_->mutex);
    for (const auto& [key, entry] : shared_->entries)
        if (entry.server->checked && entry.held()) found.push_back({entry.server, entry.addresses});
    return found;
}

std::shared_ptr<const AddressList> ServerRegistry::addresses(const Server& server) const {
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->entries.find({server.url, server.checked});
    return found == shared_->entries.end() ? nullptr : found->second.addresses;
}

// ---- Servers ----

base::Result<std::shared_ptr<const Server>> ServerRegistry::Shared::get(const std::string& url, bool check) {
    std::unique_lock lock(mutex);
    forgetUnheld(Clock::now());
    const Key key(url, check);
    if (const auto found = entries.find(key); found != entries.end()) return known(found->second);
    auto name = split(url);
    if (!name.ok()) return std::move(name).error();
    Entry& entry = add(key, std::move(name).value());
    const std::shared_ptr<const Server> server = entry.server;
    if (!entry.isName) take(entry, net::resolve(entry.name.host, entry.name.port));
    else awaitFirst(lock, entry);
    return server;
}

// The name of one that nobody held was not looked up meanwhile.
std::shared_ptr<const Server> ServerRegistry::Shared::known(Entry& entry) {
    if (entry.isName && !entry.held()) {
        entry.due = {};
        wake.notify_one();
    }
    return entry.server;
}

ServerRegistry::Shared::Entry& ServerRegistry::Shared::add(const Key& key, HostPort name) {
    auto server = std::make_shared<Server>();
    server->url = key.first;
    server->checked = key.second;
    server->state.out = out;
    if (freeIds.empty()) {
        server->id = ids++;
    } else {
        server->id = freeIds.back();
        freeIds.pop_back();
    }
    Entry& entry = entries[key];
    entry.server = std::move(server);
    entry.isName = !needsNoLookup(name.host);
    entry.name = std::move(name);
    if (!entry.isName) return entry;
    ++names;
    if (threads < std::min(names, kThreads)) startThread();
    wake.notify_one();
    return entry;
}

// Data that comes and goes must not leave servers behind. Holders of none are safe from getting one meanwhile: only
// get() hands them out. What has none keeps its state for a while, for a list that names it again.
void ServerRegistry::Shared::forgetUnheld(Clock::time_point now) {
    if (now < nextSweep) return;
    nextSweep = now + options.keep / 4;
    for (auto at = entries.begin(); at != entries.end();) {
        Entry& entry = at->second;
        if (entry.held()) entry.unheldSince.reset();
        else if (!entry.unheldSince) entry.unheldSince = now;
        if (entry.looking || !entry.unheldSince || now - *entry.unheldSince < options.keep) {
            ++at;
            continue;
        }
        if (follower) follower(entry.server->id, nullptr);
        freeIds.push_back(entry.server->id);
        names -= entry.isName;
        at = entries.erase(at);
    }
}

// So that the first requests after a change find addresses where the resolver is well, and a change is not held up for
// each name where it is not.
void ServerRegistry::Shared::awaitFirst(std::unique_lock<std::mutex>& lock, const Entry& entry) {
    if (Clock::now() < patientFrom) return;
    if (looked.wait_for(lock, options.patience, [&] { return entry.looked; })) return;
    patientFrom = Clock::now() + kImpatience;
    base::logWarning("upstream " + entry.server->url +
                     ": the name is still being looked up; requests to it answer 502 until it has an address");
}

// ---- Lookups ----

// Detached, with a hold on all it uses: nothing ends a lookup that hangs.
void ServerRegistry::Shared::startThread() {
    std::thread([self = shared_from_this()] { self->work(); }).detach();
    ++threads;
}

void ServerRegistry::Shared::work() {
    std::unique_lock lock(mutex);
    while (!stopping) {
        Entry* next = nextDue();
        if (!next) {
            wake.wait(lock);
        } else if (next->due > Clock::now()) {
            const Clock::time_point due = next->due;  // the entry may be gone when the wait ends
            wake.wait_until(lock, due);
        } else {
            lookUp(lock, *next);
        }
    }
    --threads;
    looked.notify_all();
}

ServerRegistry::Shared::Entry* ServerRegistry::Shared::nextDue() {
    Entry* next = nullptr;
    for (auto& [key, entry] : entries)
        if (entry.isName && !entry.looking && (!next || entry.due < next->due)) next = &entry;
    return next;
}

void ServerRegistry::Shared::lookUp(std::unique_lock<std::mutex>& lock, Entry& entry) {
    if (!entry.held()) {
        entry.due = Clock::now() + options.interval;
        return;
    }
    entry.looking = true;
    const HostPort name = entry.name;
    lock.unlock();
    auto found = options.resolve(name.host, name.port);
    lock.lock();
    entry.looking = false;
    if (stopping) return;
    take(entry, std::move(found));
    entry.due = Clock::now() + (entry.failing ? std::min(options.retry, options.interval) : options.interval);
    looked.notify_all();
}

void ServerRegistry::Shared::take(Entry& entry, base::Result<Endpoints> found) {
    const bool wasFailing = std::exchange(entry.failing, !found.ok());
    entry.looked = true;
    if (found.ok()) {
        if (wasFailing) base::logInfo("upstream " + entry.server->url + ": the name resolves again");
        give(entry, std::move(found).value());
    } else if (!wasFailing) {
        base::logWarning("upstream " + found.error().text() +
                         (entry.addresses ? "; the addresses found before serve on"
                                          : "; requests to it answer 502 until it has an address"));
    }
}

void ServerRegistry::Shared::give(Entry& entry, Endpoints addresses) {
    auto list = std::make_shared<const AddressList>(std::move(addresses));
    if (entry.addresses && *entry.addresses == *list) return;
    entry.addresses = std::move(list);
    if (follower) follower(entry.server->id, entry.addresses);
}

}  // namespace weir::upstream
