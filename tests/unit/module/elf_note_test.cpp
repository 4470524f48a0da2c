#include "module/elf_note.hpp"

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/catch.hpp"

using weir::module::findManifestNote;

namespace {

std::string noteOf(const std::string& owner, std::uint32_t type, const std::string& content, std::size_t align = 4) {
    const auto pad = [&](std::string text) { return text.append((align - text.size() % align) % align, '\0'); };
    const Elf64_Nhdr header{static_cast<Elf64_Word>(owner.size() + 1), static_cast<Elf64_Word>(content.size()), type};
    std::string out(sizeof header, '\0');
    std::memcpy(out.data(), &header, sizeof header);
    return pad(pad(out + owner + '\0') + content);
}

struct Segment {
    std::uint32_t type;
    std::string bytes;
    std::uint64_t align = 4;
};

// A file with these segments and nothing else.
struct Image {
    std::vector<Segment> segments;
    Elf64_Ehdr header{};
    std::vector<Elf64_Phdr> programHeaders;

    explicit Image(std::vector<Segment> all) : segments(std::move(all)) {
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_DYN;
#if defined(__aarch64__)
        header.e_machine = EM_AARCH64;
#else
        header.e_machine = EM_X86_64;
#endif
        header.e_phoff = sizeof header;
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = static_cast<Elf64_Half>(segments.size());
        std::uint64_t offset = sizeof header + segments.size() * sizeof(Elf64_Phdr);
        for (const Segment& segment : segments) {
            Elf64_Phdr each{};
            each.p_type = segment.type;
            each.p_offset = offset;
            each.p_filesz = each.p_memsz = segment.bytes.size();
            each.p_align = segment.align;
            programHeaders.push_back(each);
            offset += segment.bytes.size();
        }
    }

    std::string bytes() const {
        std::string out(reinterpret_cast<const char*>(&header), sizeof header);
        out.append(reinterpret_cast<const char*>(programHeaders.data()), programHeaders.size() * sizeof(Elf64_Phdr));
        for (const Segment& segment : segments) out += segment.bytes;
        return out;
    }
};

Image goodImage() {
    return Image({{PT_LOAD, "code and data", 4096},
                  {PT_NOTE, noteOf("GNU", 5, "property", 8), 8},
                  {PT_NOTE, noteOf("GNU", 3, "build-id 20 bytes...") + noteOf("WEIR", 1, "{\"id\":\"x\"}")}});
}

std::string errorOf(const std::string& image) {
    const auto found = findManifestNote(image);
    return found ? "no error" : found.error().text();
}

}  // namespace

TEST_CASE("the manifest is found behind other notes and in any PT_NOTE segment") {
    const std::string weir = noteOf("WEIR", 1, "manifest!");
    const std::string other = noteOf("GNU", 3, "odd length");
    struct Row {
        const char* name;
        std::vector<Segment> segments;
    };
    const Row rows[] = {
        {"alone", {{PT_NOTE, weir}}},
        {"behind the build-id", {{PT_NOTE, other + weir}}},
        {"before the build-id", {{PT_NOTE, weir + other}}},
        {"in a second segment", {{PT_NOTE, other}, {PT_LOAD, "xyz"}, {PT_NOTE, weir}}},
        {"in a segment aligned to 8", {{PT_NOTE, noteOf("GNU", 5, "p", 8) + noteOf("WEIR", 1, "manifest!", 8), 8}}},
        {"without the last padding", {{PT_NOTE, weir.substr(0, weir.size() - 3)}}},
        {"beside a WEIR note of another type", {{PT_NOTE, noteOf("WEIR", 2, "newer") + weir}}},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        const std::string image = Image(row.segments).bytes();
        const auto found = findManifestNote(image);
        REQUIRE(found);
        CHECK(*found == "manifest!");
        CHECK(found->data() > image.data());
        CHECK(found->data() < image.data() + image.size());
    }
}

TEST_CASE("a file without exactly one WEIR note is refused") {
    const std::string weir = noteOf("WEIR", 1, "manifest");
    const std::string two = "bad_manifest: the number of WEIR notes is 2";
    CHECK(errorOf(Image({{PT_NOTE, noteOf("GNU", 3, "id")}}).bytes()).find("no_manifest: ") != std::string::npos);
    CHECK(errorOf(Image({{PT_NOTE, noteOf("WEIRD", 1, "id")}}).bytes()).find("no_manifest: ") != std::string::npos);
    CHECK(errorOf(Image({{PT_LOAD, weir}}).bytes()).find("no_manifest: ") != std::string::npos);
    CHECK(errorOf(Image({{PT_NOTE, weir + weir}}).bytes()).find(two) == 0);
    CHECK(errorOf(Image({{PT_NOTE, weir}, {PT_NOTE, weir}}).bytes()).find(two) == 0);
}

TEST_CASE("a header that is not a shared object for this machine is refused with what was found") {
    struct Row {
        const char* expected;
        void (*damage)(Image&);
    };
    const Row rows[] = {
        {"not_elf: it is not an ELF file", [](Image& image) { image.header.e_ident[1] = 'X'; }},
        {"wrong_machine: the ELF class is 1", [](Image& image) { image.header.e_ident[EI_CLASS] = ELFCLASS32; }},
        {"wrong_machine: the ELF byte order is 2", [](Image& image) { image.header.e_ident[EI_DATA] = ELFDATA2MSB; }},
        {"not_elf: the ELF version is 7", [](Image& image) { image.header.e_ident[EI_VERSION] = 7; }},
        {"wrong_machine: e_machine is 243", [](Image& image) { image.header.e_machine = EM_RISCV; }},
        {"not_shared: e_type is 1, expected 3", [](Image& image) { image.header.e_type = ET_REL; }},
        {"not_elf: the program header table is 3 of 32 bytes", [](Image& image) { image.header.e_phentsize = 32; }},
        {"not_elf: the program header table is 0 of 56 bytes", [](Image& image) { image.header.e_phnum = 0; }},
        {"not_elf: the program header table is 65535 of", [](Image& image) { image.header.e_phnum = 0xffff; }},
        {"truncated: the program header table is", [](Image& image) { image.header.e_phnum = 100; }},
        {"truncated: the program header table is", [](Image& image) { image.header.e_phoff = ~0ull; }},
        {"truncated: the program header table is", [](Image& image) { image.header.e_phoff = ~0ull - 100; }},
        {"truncated: segment 0 is 13 bytes", [](Image& image) { image.programHeaders[0].p_offset = 1u << 20; }},
        {"truncated: segment 0", [](Image& image) { image.programHeaders[0].p_filesz = ~0ull; }},
        {"not_elf: segment 0 is at address 0 with 13", [](Image& image) { image.programHeaders[0].p_memsz = 12; }},
        {"not_elf: segment 0", [](Image& image) { image.programHeaders[0].p_vaddr = ~0ull - 4; }},
        {"truncated: segment 2", [](Image& image) { image.programHeaders[2].p_offset = ~0ull - 8; }},
        {"not_elf: the note at byte 0", [](Image& image) { std::memset(image.segments[2].bytes.data(), 0xff, 4); }},
        {"not_elf: the note", [](Image& image) { std::memset(image.segments[2].bytes.data() + 4, 0xff, 4); }},
        {"not_elf: the note", [](Image& image) { std::memset(image.segments[1].bytes.data(), 0xff, 8); }},
    };
    for (const Row& row : rows) {
        Image image = goodImage();
        row.damage(image);
        INFO(row.expected);
        const std::string message = errorOf(image.bytes());
        INFO(message);
        CHECK(message.starts_with(row.expected));
    }
}

TEST_CASE("a manifest over the limit is refused") {
    const std::string content(weir::module::kMaxManifestBytes + 1, 'x');
    const std::string tooLarge = Image({{PT_NOTE, noteOf("WEIR", 1, content)}}).bytes();
    CHECK(errorOf(tooLarge) == "bad_manifest: the manifest's size is 262145 bytes, expected at most 262144");
    CHECK(findManifestNote(Image({{PT_NOTE, noteOf("WEIR", 1, content.substr(1))}}).bytes()));
}

TEST_CASE("a file cut short at any length is refused and not read past its end") {
    const std::string whole = goodImage().bytes();
    REQUIRE(findManifestNote(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        // A block of exactly this size, so that AddressSanitizer sees one byte too many.
        const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        INFO(size);
        CHECK_FALSE(findManifestNote(std::string_view(cut.data(), cut.size())));
    }
}

TEST_CASE("no single changed byte makes the reader leave the file") {
    const std::string whole = goodImage().bytes();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            std::vector<char> damaged(whole.begin(), whole.end());
            damaged[at] = static_cast<char>(value);
            const std::string_view image(damaged.data(), damaged.size());
            if (const auto found = findManifestNote(image)) {
                CHECK(found->data() >= image.data());
                CHECK(found->data() + found->size() <= image.data() + image.size());
            }
        }
    }
}
