// Everything at once: clients that leave at random moments, upstreams that die, data that changes, an extension that
// comes, changes and goes. Each answer must be its own request's, whole, and what the gateway holds must not grow.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "stress/soak/soak_changes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

using namespace weir::soak;
using weir::functional::ExtFolder;
using weir::support::GatewayProcess;

namespace {

// A run ends at what comes first.
struct Length {
    std::uint64_t requests;
    std::uint64_t seconds;
};

std::uint64_t fromEnvironment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::stoull(text) : otherwise;
}

struct Holdings {
    std::size_t resident = 0;
    std::size_t descriptors = 0;
    std::size_t mappings = 0;
};

std::ostream& operator<<(std::ostream& out, const Holdings& holdings) {
    return out << holdings.resident / 1024 << " KiB resident, " << holdings.descriptors << " descriptors, "
               << holdings.mappings << " mappings";
}

class Soak {
public:
    explicit Soak(std::uint64_t seed)
        : seed_(seed), upstreams_(seed, findings_), gateway_(configuration(), arguments()),
          changes_(gateway_, upstreams_), swaps_(gateway_, folder_) {}

    // Everything at once for that long.
    void run(const Length& length) {
        const std::uint64_t last = tally_.sent + length.requests;
        const auto begin = Clock::now();
        auto told = begin;
        upstreams_.go();
        changes_.start(++seed_, findings_);
        swaps_.start(findings_);
        Clients clients(gateway_.port(), kClients, ++seed_, changes_.count(), tally_, findings_);
        while (tally_.sent < last && Clock::now() - begin < std::chrono::seconds(length.seconds) &&
               findings_.count() == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (Clock::now() - told < std::chrono::seconds(10)) continue;
            told = Clock::now();
            std::cerr << progress() << "; " << gateway_.residentBytes() / 1024 << " KiB resident" << std::endl;
        }
        clients.stop();
        swaps_.stop();
        changes_.stop();
        upstreams_.rest();
    }

    // When all is quiet: the extension is unmapped, and no more than so many descriptors are left.
    Holdings holdings(std::size_t descriptors) const {
        CHECK(weir::support::eventually([&] { return gateway_.mappedFiles("/soak-extension-").empty(); }));
        if (!weir::support::eventually([&] { return gateway_.descriptors() <= descriptors; }))
            FAIL_CHECK("more than " << descriptors << " descriptors:\n" << gateway_.descriptorTargets());
        return {gateway_.residentBytes(), gateway_.descriptors(), gateway_.mappings()};
    }
    std::size_t descriptors() const { return gateway_.descriptors(); }

    std::string progress() const {
        std::ostringstream out;
        out << tally_.sent << " requests:";
        for (std::size_t i = 0; i < kEndNames.size(); ++i) out << ' ' << tally_.ends[i] << ' ' << kEndNames[i] << ',';
        out << ' ' << findings_.count() << " wrong; " << tally_.extended << " answers marked, " << tally_.folded
            << " lengthened; " << upstreams_.deaths() << " deaths, " << changes_.made() << " changes, "
            << swaps_.made() << " swaps";
        return out.str();
    }

    std::uint64_t ended() const {
        std::uint64_t sum = 0;
        for (const auto& each : tally_.ends) sum += each;
        return sum;
    }
    const Tally& tally() const { return tally_; }
    const Findings& findings() const { return findings_; }
    const Upstreams& upstreams() const { return upstreams_; }
    const Changes& changes() const { return changes_; }
    const Swaps& swaps() const { return swaps_; }
    GatewayProcess& gateway() { return gateway_; }

private:
    static constexpr std::size_t kClients = 128;

    std::vector<std::string> arguments() const {
        std::vector<std::string> all = folder_.arguments();
        all.push_back("--extPlugin.settleMs=5");
        return all;
    }

    std::uint64_t seed_;
    Findings findings_;
    Tally tally_;
    ExtFolder folder_;
    Upstreams upstreams_;
    GatewayProcess gateway_;
    Changes changes_;
    Swaps swaps_;
};

// What a gateway has logged of itself; what upstreams and clients do are warnings.
std::string errorLines(const std::string& log) {
    std::istringstream lines(log);
    std::string found;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("Z error ") != std::string::npos) found += line + "\n";
    }
    return found;
}

void soak(const Length& length) {
    const std::uint64_t seed = fromEnvironment("WEIR_SOAK_SEED", static_cast<std::uint64_t>(::getpid()));
    std::cerr << "soak with WEIR_SOAK_SEED=" << seed << std::endl;
    INFO("WEIR_SOAK_SEED=" << seed);
    Soak soak(seed);
    const std::size_t before = soak.descriptors();
    const auto begin = Clock::now();
    soak.run({length.requests / 10, length.seconds / 10 + 1});
    const Holdings early = soak.holdings(before + weir::support::kThreadsOwn);
    soak.run({length.requests - length.requests / 10, length.seconds});
    const Holdings late = soak.holdings(early.descriptors + weir::support::kThreadsOwn);
    const std::chrono::duration<double> took = Clock::now() - begin;
    std::cerr << soak.progress() << "\n" << took.count() << " s; " << early << " after a tenth; " << late << " now"
              << std::endl;

    CHECK(soak.findings().count() == 0);
    CHECK(soak.findings().kept() == std::vector<std::string>());
    CHECK(soak.ended() == soak.tally().sent);
    // Nothing of what it is about has stayed away.
    for (const End end : {End::Planned, End::Unavailable, End::Late, End::Unmatched, End::Cut, End::Aborted}) {
        INFO(kEndNames[static_cast<std::size_t>(end)]);
        CHECK(soak.tally().of(end) > 0);
    }
    CHECK(soak.tally().extended > 0);
    CHECK(soak.tally().folded > 0);
    CHECK(soak.tally().hints > 0);
    CHECK(soak.tally().continues > 0);
    CHECK(soak.upstreams().deaths() > 0);
    CHECK(soak.changes().made() > 0);
    CHECK(soak.swaps().made() >= 6);

#ifndef WEIR_SANITIZED  // whose runtimes keep memory of their own
    CHECK(late.mappings <= early.mappings + 16);
    // How far memory may settle later than after a tenth. It hides no leak of 64 bytes a request in the short run, none
    // of 1 in the long one.
    CHECK(late.resident <= early.resident + (8 << 20));
#endif
    CHECK(soak.gateway().stop() == 0);
    CHECK(errorLines(soak.gateway().process().output()) == "");
}

}  // namespace

TEST_CASE("with aborts, upstream deaths, data changes and swaps at once each answer is its own request's") {
#ifdef WEIR_SANITIZED
    soak({15'000, 30});
#else
    soak({150'000, 30});
#endif
}

// By hand; WEIR_SOAK_REQUESTS, WEIR_SOAK_SECONDS and WEIR_SOAK_SEED say how many, for how long at most, and which.
TEST_CASE("a soak of ten million requests", "[.big]") {
    soak({fromEnvironment("WEIR_SOAK_REQUESTS", 10'000'000), fromEnvironment("WEIR_SOAK_SECONDS", 3600)});
}
