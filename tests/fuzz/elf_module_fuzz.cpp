// Input: a module file, or a manifest alone when it begins with '{'.
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "module/elf_image.hpp"
#include "module/elf_note.hpp"
#include "module/manifest.hpp"
#include "module/module_check.hpp"

namespace {

using namespace weir;

bool within(std::string_view part, std::string_view whole) {
    return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void checkManifest(const module::Manifest& manifest) {
    WEIR_ASSERT(!manifest.id.empty() && !manifest.version.empty() && manifest.abi > 0);
    WEIR_ASSERT(!manifest.provides.empty());
    WEIR_ASSERT(manifest.id.find('/') == std::string::npos);  // it names files
    for (const module::Provided& each : manifest.provides) {
        WEIR_ASSERT(manifest.find(each.interface, each.key) == &each);
        WEIR_ASSERT(each.interface.find_first_of("/.") == std::string::npos);
    }
}

void checkImage(std::string_view image) {
    const auto read = module::readElfImage(image);
    if (!read) return;
    WEIR_ASSERT(within(read->soname, image) && within(read->runpath, image));
    for (const std::string_view name : read->needed) WEIR_ASSERT(within(name, image));
    for (const module::ElfSymbol& symbol : read->symbols) WEIR_ASSERT(within(symbol.name, image));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (text.starts_with('{')) {
        if (const auto manifest = module::parseManifest(text)) checkManifest(*manifest);
        return 0;
    }
    checkImage(text);
    const auto note = module::findManifestNote(text);
    if (!note) return 0;
    WEIR_ASSERT(note->size() <= module::kMaxManifestBytes && within(*note, text));
    const auto manifest = module::parseManifest(*note);
    if (!manifest) return 0;
    checkManifest(*manifest);
    (void)module::checkModule(text, *manifest, {});
    return 0;
}
