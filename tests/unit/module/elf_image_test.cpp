#include "module/elf_image.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "fixtures/elf_edit.hpp"
#include "fixtures/fixture_files.hpp"
#include "support/catch.hpp"

using namespace weir::module;

namespace {

std::string fixtureBytes() { return bytesOf(fixtureFile("fixture")); }

// In a block of exactly its size, so that AddressSanitizer sees one byte too many.
weir::base::Result<ElfImage, Refusal> readExactly(const std::vector<char>& block) {
    return readElfImage(std::string_view(block.data(), block.size()));
}

const ElfSymbol* find(const ElfImage& elf, std::string_view name) {
    const auto it = std::ranges::find(elf.symbols, name, &ElfSymbol::name);
    return it == elf.symbols.end() ? nullptr : &*it;
}

}  // namespace

TEST_CASE("a module's libraries, flags and symbols are read as the loader sees them") {
    const std::string bytes = fixtureBytes();
    const auto elf = readElfImage(bytes);
    REQUIRE(elf);
    CHECK(std::ranges::count(elf->needed, "libc.so.6") == 1);
    CHECK_FALSE(elf->textRelocations);
    CHECK_FALSE(elf->executableStack);
    CHECK_FALSE(elf->staticTls);
    CHECK_FALSE(elf->noDelete);
    CHECK(elf->soname.empty());
    const ElfSymbol* table = find(*elf, "weir_module_v1");
    REQUIRE(table != nullptr);
    CHECK(table->defined);
    CHECK(table->data);
    CHECK_FALSE(table->unique);
    const ElfSymbol* import = find(*elf, "strcmp");
    REQUIRE(import != nullptr);
    CHECK_FALSE(import->defined);
}

TEST_CASE("thread-local data, a SONAME and a RUNPATH are seen") {
    std::string bytes = bytesOf(std::string(WEIR_TEST_BAD_MODULES) + "/static-tls/bad-static-tls.so");
    const std::uint64_t name = dynamicValue(bytes, DT_NEEDED);
    setDynamic(bytes, DT_INIT, DT_RUNPATH, name);
    setDynamic(bytes, DT_FINI, DT_SONAME, name);
    const auto elf = readElfImage(bytes);
    REQUIRE(elf);
    CHECK(elf->threadLocals);
    CHECK(elf->staticTls);
    CHECK(elf->runpath == elf->needed.front());
    CHECK(elf->soname == elf->needed.front());
}

TEST_CASE("libraries that are loaded as filters count as needed") {
    for (const std::int64_t tag : {DT_FILTER, DT_AUXILIARY}) {
        std::string bytes = fixtureBytes();
        const auto before = readElfImage(bytes);
        REQUIRE(before);
        setDynamic(bytes, DT_NEEDED, tag, dynamicValue(bytes, DT_NEEDED));
        const auto after = readElfImage(bytes);
        REQUIRE(after);
        CHECK(after->needed == before->needed);
    }
}

TEST_CASE("a dynamic section that leads out of its segments is refused with what was found") {
    struct Row {
        const char* expected;
        void (*damage)(std::string&);
    };
    const Row rows[] = {
        {"not_elf: the dynamic section is missing",
         [](std::string& bytes) {
             Elf64_Phdr dynamic = segmentOf(bytes, PT_DYNAMIC);
             dynamic.p_type = PT_NULL;
             setSegment(bytes, PT_DYNAMIC, dynamic);
         }},
        {"not_elf: the dynamic section is without an end",
         [](std::string& bytes) {
             Elf64_Phdr dynamic = segmentOf(bytes, PT_DYNAMIC);
             dynamic.p_vaddr = ~0ull - 15;
             setSegment(bytes, PT_DYNAMIC, dynamic);
         }},
        {"truncated: segment",
         [](std::string& bytes) {
             Elf64_Phdr dynamic = segmentOf(bytes, PT_DYNAMIC);
             dynamic.p_offset = bytes.size();
             setSegment(bytes, PT_DYNAMIC, dynamic);
         }},
        {"not_elf: DT_STRSZ is ", [](std::string& bytes) { setDynamic(bytes, DT_STRSZ, ~0ull); }},
        {"not_elf: DT_STRSZ is ", [](std::string& bytes) { setDynamic(bytes, DT_STRTAB, 1ull << 40); }},
        {"not_elf: DT_NEEDED 0 is outside DT_STRTAB", [](std::string& bytes) { setDynamic(bytes, DT_NEEDED, ~0ull); }},
        {"not_elf: DT_NEEDED 0 is outside DT_STRTAB", [](std::string& bytes) { setDynamic(bytes, DT_STRSZ, 0); }},
        {"not_elf: DT_SYMTAB is ", [](std::string& bytes) { setDynamic(bytes, DT_SYMTAB, ~0ull); }},
        {"not_elf: the name of symbol ", [](std::string& bytes) { setDynamic(bytes, DT_SYMTAB, 0); }},
        {"not_elf: the symbol hash table is missing",
         [](std::string& bytes) { setDynamic(bytes, DT_GNU_HASH, DT_DEBUG, 0); }},
        {"not_elf: the symbol hash table is reaching",
         [](std::string& bytes) { setDynamic(bytes, DT_GNU_HASH, 1ull << 40); }},
        {"not_elf: the symbol hash table is reaching",
         [](std::string& bytes) { std::memset(bytes.data() + dynamicValue(bytes, DT_GNU_HASH), 0xff, 4); }},
        {"not_elf: the symbol hash table is reaching",
         [](std::string& bytes) { std::memset(bytes.data() + dynamicValue(bytes, DT_GNU_HASH) + 8, 0xff, 4); }},
        {"too_large: the number of dynamic symbols is 4294967295",
         [](std::string& bytes) { std::memset(bytes.data() + dynamicValue(bytes, DT_GNU_HASH) + 4, 0xff, 4); }},
        {"not_elf: the symbol hash table is reaching",
         [](std::string& bytes) { setDynamic(bytes, DT_GNU_HASH, DT_HASH, 1ull << 40); }},
    };
    for (const Row& row : rows) {
        std::string bytes = fixtureBytes();
        row.damage(bytes);
        const auto elf = readElfImage(bytes);
        INFO(row.expected);
        REQUIRE_FALSE(elf);
        INFO(elf.error().text());
        CHECK(elf.error().text().starts_with(row.expected));
    }
}

TEST_CASE("a module cut at any length is refused, unless only what the loader never reads is missing") {
    const std::string whole = fixtureBytes();
    const std::size_t needed = loadableSize(whole);
    REQUIRE(needed < whole.size());
    for (std::size_t size = 0; size <= whole.size(); size += 64) {
        const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        INFO(size);
        const auto elf = readExactly(cut);
        CHECK(elf.ok() == (size >= needed));
        if (!elf && size >= 64) CHECK(elf.error().code == RefusalCode::Truncated);
    }
}

TEST_CASE("no single changed byte of what the loader reads makes the reader leave the file") {
    const std::string whole = fixtureBytes();
    std::vector<char> block(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(loadableSize(whole)));
    const auto code = static_cast<std::size_t>(dynamicValue(whole, DT_INIT));  // what is before it are tables
    const Elf64_Phdr dynamic = segmentOf(whole, PT_DYNAMIC);
    for (std::size_t at = 0; at < block.size(); ++at) {
        const bool interesting = at < code || (at >= dynamic.p_offset && at < dynamic.p_offset + dynamic.p_filesz);
        if (!interesting) continue;
        const char before = block[at];
        for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            block[at] = static_cast<char>(value);
            const auto elf = readExactly(block);
            if (!elf) continue;
            for (const ElfSymbol& symbol : elf->symbols) {
                REQUIRE((symbol.name.data() >= block.data() &&
                         symbol.name.data() + symbol.name.size() <= block.data() + block.size()));
            }
        }
        block[at] = before;
    }
    CHECK(readExactly(block));
}
