#include "gateway/configuration_watch.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#include "data/configuration.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/temp_directory.hpp"

using namespace weir;
using namespace std::chrono_literals;
using data::SourceFiles;
using gateway::ConfigurationWatch;
using support::eventually;

namespace {

SourceFiles readBy(const std::filesystem::path& file) {
    SourceFiles read;
    (void)data::loadConfiguration(file, {}, {}, &read);
    return read;
}

}  // namespace

TEST_CASE("a watch reports each change once, also one from before it began") {
    support::TempDirectory directory;
    const auto file = directory.write("weir.yaml", "include: ['*.more']\n");
    const SourceFiles read = readBy(file);
    directory.write("a.more", "");
    std::atomic<int> reported{0};
    ConfigurationWatch watch(read, [&] { ++reported; });
    CHECK(eventually([&] { return reported == 1; }));
    watch.follow(readBy(file));
    directory.write("weir.yaml", "include: ['*.most']\n");
    CHECK(eventually([&] { return reported == 2; }));
    watch.follow(readBy(file));  // a.more is watched no longer: other files, which may be news
    CHECK(eventually([&] { return reported == 3; }));
    directory.write("a.more", "plugins: []\n");
    std::this_thread::sleep_for(400ms);
    CHECK(reported == 3);
}

TEST_CASE("a watch waits until a file that is being written stays as it is") {
    support::TempDirectory directory;
    const auto file = directory.write("weir.yaml", "");
    std::atomic<int> reported{0};
    ConfigurationWatch watch(readBy(file), [&] { ++reported; });
    std::ofstream out(file);
    auto longest = 0ns;
    for (int i = 0; i < 40; ++i) {
        const auto before = std::chrono::steady_clock::now();
        out << "# a line\n" << std::flush;
        std::this_thread::sleep_for(10ms);
        longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - before);
    }
    if (longest < 100ms) CHECK(reported == 0);  // else the machine was too busy to write without a pause
    out.close();
    CHECK(eventually([&] { return reported == 1; }));
}

TEST_CASE("a watch ends while nothing happens") {
    support::TempDirectory directory;
    const auto file = directory.write("weir.yaml", "");
    for (int i = 0; i < 20; ++i) ConfigurationWatch watch(readBy(file), [] {});
}
