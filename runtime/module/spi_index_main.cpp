// weir-spi-index DIR: writes DIR/spi/<Interface> from the manifests of the modules in DIR. The build and the
// installation run it; lines that an operator chose stay (spi_index.hpp).
#include <cstdio>
#include <utility>
#include <vector>

#include "module/module_file.hpp"
#include "module/spi_index.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: weir-spi-index DIRECTORY\n");
        return 2;
    }
    const std::filesystem::path directory = argv[1];
    auto found = weir::module::findModules(directory);
    for (const auto& problem : found.problems) std::fprintf(stderr, "weir-spi-index: %s\n", problem.text().c_str());
    if (!found.problems.empty()) return 1;  // a broken module's lines must not be taken for stale

    std::vector<weir::module::Manifest> manifests;
    for (auto& each : found.modules) manifests.push_back(std::move(each.manifest));
    const auto updated = weir::module::updateSpiFiles(directory / "spi", manifests);
    if (!updated) std::fprintf(stderr, "weir-spi-index: %s\n", updated.error().text().c_str());
    return updated ? 0 : 1;
}
