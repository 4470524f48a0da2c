// What a choice costs with 10, 1000 and 100,000 entries, and what it costs to make and to free an index of them. The
// hot set is ten requests over and over; random requests go evenly over all entries, so each finds its memory cold.
//   match_bench [rounds] [largest] [requests]
// rounds: the best counts, 2 at least, default 5; largest: no more entries than that, default 100000; requests of each
// round, default 200000.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/micro_bench.hpp"
#include "match/plugin_matcher.hpp"
#include "unit/match/fake_subject.hpp"

namespace {

using namespace weir::match;
using weir::bench::argument;
using weir::bench::cpuNanoseconds;

constexpr std::size_t kSizes[] = {10, 1000, 100000};
constexpr std::size_t kPiece = 1000;
constexpr std::size_t kHot = 10;

struct Shape {
    const char* name;
    ConditionSpec (*condition)(const std::string& number);
    void (*request)(FakeSubject& subject, const std::string& number);
};

const Shape kShapes[] = {
    {"pathPattern /svcN/**",
     [](const std::string& n) { return ConditionSpec{"uri", "pathPattern", "/", "/svc" + n + "/**"}; },
     [](FakeSubject& s, const std::string& n) { s.path = "/svc" + n + "/order/7"; }},
    {"uri = /svc/N", [](const std::string& n) { return ConditionSpec{"uri", "=", "/", "/svc/" + n}; },
     [](FakeSubject& s, const std::string& n) { s.path = "/svc/" + n; }},
    {"match /{v}/uN", [](const std::string& n) { return ConditionSpec{"uri", "match", "/", "/{v}/u" + n}; },
     [](FakeSubject& s, const std::string& n) { s.path = "/1/u" + n; }},
    {"header =", [](const std::string& n) { return ConditionSpec{"header", "=", "x-id", n}; },
     [](FakeSubject& s, const std::string& n) { s.headers = {{"x-id", n}}; }},
    {"domain =", [](const std::string& n) { return ConditionSpec{"domain", "=", "", "h" + n + ".example.org"}; },
     [](FakeSubject& s, const std::string& n) { s.host = "h" + n + ".example.org"; }},
};

struct Layout {
    const char* name;
    bool selectors;  // one rule each; else one selector with all rules
};
constexpr Layout kLayouts[] = {{"selectors", true}, {"rules", false}};

double milliseconds(const std::function<void()>& work) {
    const double start = cpuNanoseconds();
    work();
    return (cpuNanoseconds() - start) / 1e6;
}

class World {
public:
    World(const Shape& shape, const Layout& layout, std::size_t size) : layout_(layout) {
        for (std::size_t i = 0; i < size; ++i) {
            RuleSpec rule;
            rule.id = "rule-" + std::to_string(i);
            rule.name = rule.id;
            rule.sort = static_cast<int>(i);
            rule.conditions = {shape.condition(std::to_string(i))};
            rules_.push_back(compile(rule, {}).value());
            if (!layout.selectors) continue;
            SelectorSpec selector;
            selector.id = "selector-" + std::to_string(i);
            selector.name = selector.id;
            selector.sort = rule.sort;
            selector.conditions = rule.conditions;
            entries_.push_back({compile(selector, {}).value(), RuleSet::build({rules_.back()}, Order::Best)});
        }
        if (layout.selectors) return;
        SelectorSpec selector;
        selector.id = "all";
        selector.conditions = {{"uri", "startsWith", "/", "/"}};
        entries_.push_back({compile(selector, {}).value(), RuleSet::build(rules_, Order::Best)});
    }

    // What one change needs: every compiled entry is kept.
    double rebuild() {
        auto rules = rules_;
        auto entries = entries_;
        return milliseconds([&] {
            if (!layout_.selectors) entries[0].rules = RuleSet::build(std::move(rules), Order::Best);
            next_ = PluginMatcher::build(std::move(entries), Order::Best);
        });
    }
    double replace() {
        std::swap(matcher_, next_);
        return milliseconds([&] { next_.reset(); });
    }
    const PluginMatcher& matcher() const { return *matcher_; }

private:
    const Layout& layout_;
    std::vector<std::shared_ptr<const CompiledRule>> rules_;
    std::vector<PluginMatcher::Entry> entries_;
    std::shared_ptr<const PluginMatcher> matcher_;
    std::shared_ptr<const PluginMatcher> next_;
};

// The requests are made beforehand and read in order: only the matcher's memory is cold. They are timed in pieces of a
// fraction of a millisecond, of which the quickest tenth counts: the others may have been interrupted.
double nanoseconds(const PluginMatcher& matcher, const std::vector<FakeSubject>& requests, std::size_t count) {
    std::size_t matched = 0;
    std::size_t next = 0;
    std::vector<double> pieces((count + kPiece - 1) / kPiece);
    for (double& piece : pieces) {
        piece = milliseconds([&] {
            for (std::size_t i = 0; i < kPiece; ++i) {
                matched += matcher.choose(requests[next]).outcome == Choice::Matched;
                if (++next == requests.size()) next = 0;
            }
        });
    }
    if (matched < pieces.size() * kPiece) std::abort();
    std::ranges::sort(pieces);
    return pieces[pieces.size() / 10] * 1e6 / static_cast<double>(kPiece);
}

double conditions(const PluginMatcher& matcher, const std::vector<FakeSubject>& requests) {
    Work work;
    for (const FakeSubject& request : requests) matcher.choose(request, &work);
    return static_cast<double>(work.conditions) / static_cast<double>(requests.size());
}

std::vector<FakeSubject> requestsFor(const Shape& shape, std::size_t size, std::size_t count, bool hot) {
    std::mt19937 random(7);
    std::vector<FakeSubject> requests(count);
    for (std::size_t i = 0; i < count; ++i) {
        shape.request(requests[i], std::to_string(hot ? (size - kHot) / 2 + i : random() % size));
    }
    return requests;
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t rounds = std::max<std::size_t>(argument(count, arguments, 1, 5), 2);
    const std::size_t largest = argument(count, arguments, 2, 100000);
    const std::size_t requests = argument(count, arguments, 3, 200000);
    std::printf("%-22s %-10s %8s | %8s %6s %6s | %8s %6s %6s | %9s %8s\n", "entries", "layout", "number", "hot ns",
                "x 10", "cond.", "random", "x 10", "cond.", "build ms", "free ms");
    for (const Layout& layout : kLayouts) {
        for (const Shape& shape : kShapes) {
            double hotOfTen = 0;
            double randomOfTen = 0;
            for (const std::size_t size : kSizes) {
                if (size > largest) continue;
                World world(shape, layout, size);
                double build = 1e9;
                double release = 1e9;
                double hotTime = 1e9;
                double randomTime = 1e9;
                const auto hot = requestsFor(shape, size, kHot, true);
                const auto random = requestsFor(shape, size, requests, false);
                for (std::size_t i = 0; i < rounds; ++i) {
                    build = std::min(build, world.rebuild());
                    const double freed = world.replace();
                    if (i > 0) release = std::min(release, freed);  // the first replaces nothing
                    hotTime = std::min(hotTime, nanoseconds(world.matcher(), hot, requests));
                    randomTime = std::min(randomTime, nanoseconds(world.matcher(), random, requests));
                }
                if (size == kSizes[0]) hotOfTen = hotTime;
                if (size == kSizes[0]) randomOfTen = randomTime;
                std::printf("%-22s %-10s %8zu | %8.0f %6.2f %6.1f | %8.0f %6.2f %6.1f | %9.2f %8.2f\n", shape.name,
                            layout.name, size, hotTime, hotTime / hotOfTen, conditions(world.matcher(), hot),
                            randomTime, randomTime / randomOfTen, conditions(world.matcher(), random), build, release);
                std::fflush(stdout);
            }
        }
    }
}
