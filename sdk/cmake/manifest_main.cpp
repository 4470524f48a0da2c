// Writes a module's manifest. weir_add_plugin() links it with the module's own objects and runs it at build time:
//   <name>_manifest OUTPUT ID VERSION UNLOAD
// ID, VERSION and UNLOAD are checked by weir_add_plugin and need no escaping. It writes to a file, not to standard
// output, because the module's static constructors run in this process and may print.
#include <cstdio>
#include <string>

#include "weir/abi.h"
#include "weir/describe.h"

extern "C" {
extern const weir_module weir_module_v1;
}

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: %s OUTPUT ID VERSION UNLOAD\n", argv[0]);
        return 2;
    }
    const void* table = weir_module_v1.find(WEIR_INTERFACE_DESCRIBE);
    if (table == nullptr) {
        std::fprintf(stderr, "%s: the module does not answer %s: define it with WEIR_MODULE, or give weir_add_plugin a "
                             "MANIFEST file\n", argv[2], WEIR_INTERFACE_DESCRIBE);
        return 1;
    }
    std::string manifest = std::string("{\"schema\":1,\"id\":\"") + argv[2] + "\",\"version\":\"" + argv[3] +
                           "\",\"abi\":" + std::to_string(weir_module_v1.abi) + ",\"unload\":\"" + argv[4] +
                           "\",\"provides\":";
    static_cast<const weir_describe*>(table)->provides(
        [](void* context, const char* text, std::size_t size) {
            static_cast<std::string*>(context)->append(text, size);
        },
        &manifest);
    manifest += "}\n";

    std::FILE* file = std::fopen(argv[1], "wb");
    const bool written = file != nullptr && std::fwrite(manifest.data(), 1, manifest.size(), file) == manifest.size();
    if (file == nullptr || std::fclose(file) != 0 || !written) {
        std::perror(argv[1]);
        return 1;
    }
    return 0;
}
