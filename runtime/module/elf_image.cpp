#include "module/elf_image.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace weir::module {
namespace {

using base::Result;

constexpr std::size_t kMaxSegments = 128;  // linkers write about ten
constexpr std::size_t kMaxDynamicEntries = 4096;
constexpr std::size_t kMaxSymbols = 262144;
constexpr std::size_t kMaxName = 4096;

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
#error "add this machine's EM_ constant"
#endif

Refusal broken(std::string field, std::string found, std::string wanted) {
    return {RefusalCode::NotElf, std::move(field), std::move(found), std::move(wanted), "build it again"};
}

Result<Elf64_Ehdr, Refusal> readHeader(std::string_view image) {
    if (!image.starts_with(std::string_view(ELFMAG, SELFMAG))) {
        return Refusal{RefusalCode::NotElf, "", "it is not an ELF file", "a shared object", ""};
    }
    if (image.size() < sizeof(Elf64_Ehdr)) {
        return Refusal{RefusalCode::Truncated, "the file's size", std::to_string(image.size()) + " bytes",
                       std::to_string(sizeof(Elf64_Ehdr)) + " for the ELF header alone", "copy the whole file"};
    }
    const auto header = readAt<Elf64_Ehdr>(image, 0);
    const auto wrongMachine = [](std::string field, unsigned found, unsigned wanted) {
        return Refusal{RefusalCode::WrongMachine, std::move(field), std::to_string(found), std::to_string(wanted),
                       "build it for this machine"};
    };
    if (header.e_ident[EI_CLASS] != ELFCLASS64) {
        return wrongMachine("the ELF class", header.e_ident[EI_CLASS], ELFCLASS64);
    }
    if (header.e_ident[EI_DATA] != ELFDATA2LSB) {
        return wrongMachine("the ELF byte order", header.e_ident[EI_DATA], ELFDATA2LSB);
    }
    if (header.e_machine != kMachine) return wrongMachine("e_machine", header.e_machine, kMachine);
    if (header.e_ident[EI_VERSION] != EV_CURRENT) {
        return broken("the ELF version", std::to_string(header.e_ident[EI_VERSION]), std::to_string(EV_CURRENT));
    }
    if (header.e_type != ET_DYN) {
        return Refusal{RefusalCode::NotShared, "e_type", std::to_string(header.e_type), std::to_string(ET_DYN),
                       "link it as a shared object"};
    }
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phnum > kMaxSegments) {
        return broken("the program header table",
                      std::to_string(header.e_phnum) + " of " + std::to_string(header.e_phentsize) + " bytes",
                      "1 to " + std::to_string(kMaxSegments) + " of " + std::to_string(sizeof(Elf64_Phdr)));
    }
    return header;
}

Refusal pastTheEnd(std::string field, std::uint64_t size, std::uint64_t offset, std::uint64_t total) {
    return {RefusalCode::Truncated, std::move(field),
            std::to_string(size) + " bytes at byte " + std::to_string(offset) + ", past the file's end at " +
                std::to_string(total),
            "", "the file is cut short; copy the whole file"};
}

// What the loader reads of the file; other segments only describe memory.
bool hasBytes(const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD || segment.p_type == PT_NOTE || segment.p_type == PT_DYNAMIC ||
           segment.p_type == PT_TLS;
}

// The bytes of the file by the addresses that the loader gives them.
class AddressSpace {
public:
    AddressSpace(std::string_view image, const std::vector<Elf64_Phdr>& segments)
        : image_(image), segments_(segments) {}

    // From `address` to the end of its segment's bytes; empty when nothing of the file lies there.
    std::string_view from(std::uint64_t address) const {
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
            const std::uint64_t skipped = address - segment.p_vaddr;
            if (skipped < segment.p_filesz) {
                return image_.substr(segment.p_offset + skipped, segment.p_filesz - skipped);
            }
        }
        return {};
    }

private:
    std::string_view image_;
    const std::vector<Elf64_Phdr>& segments_;
};

// The dynamic section's entries that matter here.
struct Dynamic {
    std::vector<std::uint64_t> needed;
    std::optional<std::uint64_t> soname;
    std::optional<std::uint64_t> runpath;
    std::uint64_t strings = 0;
    std::uint64_t stringBytes = 0;
    std::uint64_t symbols = 0;
    std::uint64_t hash = 0;
    std::uint64_t gnuHash = 0;
    std::uint64_t flags = 0;
    std::uint64_t flags1 = 0;
    bool textRelocations = false;

    void take(const Elf64_Dyn& entry) {
        const std::uint64_t value = entry.d_un.d_val;
        switch (entry.d_tag) {
            case DT_NEEDED:
            case DT_FILTER:
            case DT_AUXILIARY: needed.push_back(value); break;
            case DT_SONAME: soname = value; break;
            case DT_RPATH:
            case DT_RUNPATH: runpath = value; break;
            case DT_STRTAB: strings = value; break;
            case DT_STRSZ: stringBytes = value; break;
            case DT_SYMTAB: symbols = value; break;
            case DT_HASH: hash = value; break;
            case DT_GNU_HASH: gnuHash = value; break;
            case DT_FLAGS: flags |= value; break;
            case DT_FLAGS_1: flags1 |= value; break;
            case DT_TEXTREL: textRelocations = true; break;
            default: break;
        }
    }
};

// As the loader does it: from the address on to DT_NULL, whatever the segment's size says.
Result<Dynamic, Refusal> readDynamic(std::string_view bytes) {
    Dynamic dynamic;
    for (std::size_t i = 0; i < kMaxDynamicEntries && within(i * sizeof(Elf64_Dyn), sizeof(Elf64_Dyn), bytes.size());
         ++i) {
        const auto entry = readAt<Elf64_Dyn>(bytes, i * sizeof(Elf64_Dyn));
        if (entry.d_tag == DT_NULL) return dynamic;
        dynamic.take(entry);
    }
    return broken("the dynamic section", "without an end", "DT_NULL among the first " +
                  std::to_string(kMaxDynamicEntries) + " entries");
}

// The name at `offset`; null when it does not lie in the table or has no end. At most kMaxName bytes of it.
std::optional<std::string_view> nameAt(std::string_view strings, std::uint64_t offset) {
    if (offset >= strings.size()) return std::nullopt;
    const std::string_view rest = strings.substr(offset, kMaxName);
    const auto end = rest.find('\0');
    if (end != std::string_view::npos) return rest.substr(0, end);
    if (rest.size() < kMaxName) return std::nullopt;
    return rest;
}

Refusal badHash() {
    return broken("the symbol hash table", "reaching past its segment", "a table that lies within it");
}

Result<std::uint64_t, Refusal> countByHash(std::string_view table) {
    if (table.size() < 8) return badHash();
    return std::uint64_t{readAt<std::uint32_t>(table, 4)};  // its chains are as many as the symbols
}

// The last symbol's chain ends with a set lowest bit.
Result<std::uint64_t, Refusal> countByGnuHash(std::string_view table) {
    if (table.size() < 16) return badHash();
    const std::uint64_t buckets = readAt<std::uint32_t>(table, 0);
    const std::uint64_t firstHashed = readAt<std::uint32_t>(table, 4);
    const std::uint64_t bloomWords = readAt<std::uint32_t>(table, 8);
    const std::uint64_t bucketsAt = 16 + bloomWords * 8;
    if (!within(bucketsAt, buckets * 4, table.size())) return badHash();
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < buckets; ++i) {
        last = std::max<std::uint64_t>(last, readAt<std::uint32_t>(table, bucketsAt + i * 4));
    }
    if (last < firstHashed) return firstHashed;  // nothing is exported
    const std::uint64_t chainsAt = bucketsAt + buckets * 4;
    for (;; ++last) {
        const std::uint64_t at = chainsAt + (last - firstHashed) * 4;
        if (!within(at, 4, table.size())) return badHash();
        if ((readAt<std::uint32_t>(table, at) & 1) != 0) return last + 1;
    }
}

Result<std::uint64_t, Refusal> countSymbols(const Dynamic& dynamic, const AddressSpace& memory) {
    if (dynamic.hash == 0 && dynamic.gnuHash == 0) {
        return broken("the symbol hash table", "missing", "DT_GNU_HASH or DT_HASH");
    }
    std::uint64_t count = 0;
    if (dynamic.hash != 0) {
        const auto counted = countByHash(memory.from(dynamic.hash));
        if (!counted) return counted.error();
        count = *counted;
    }
    if (dynamic.gnuHash != 0) {
        const auto counted = countByGnuHash(memory.from(dynamic.gnuHash));
        if (!counted) return counted.error();
        count = std::max(count, *counted);
    }
    return count;
}

Result<std::vector<ElfSymbol>, Refusal> readSymbols(const Dynamic& dynamic, const AddressSpace& memory,
                                                    std::string_view strings) {
    const auto count = countSymbols(dynamic, memory);
    if (!count) return count.error();
    if (*count > kMaxSymbols) {
        return Refusal{RefusalCode::TooLarge, "the number of dynamic symbols", std::to_string(*count),
                       "at most " + std::to_string(kMaxSymbols), "export weir_module_v1 only"};
    }
    const std::string_view table = memory.from(dynamic.symbols);
    if (!within(0, *count * sizeof(Elf64_Sym), table.size())) {
        return broken("DT_SYMTAB", std::to_string(*count) + " symbols in " + std::to_string(table.size()) + " bytes",
                      "a table that lies within its segment");
    }
    std::vector<ElfSymbol> symbols;
    for (std::uint64_t i = 1; i < *count; ++i) {  // the first is none
        const auto raw = readAt<Elf64_Sym>(table, i * sizeof(Elf64_Sym));
        const auto name = nameAt(strings, raw.st_name);
        if (!name) return broken("the name of symbol " + std::to_string(i), "outside DT_STRTAB", "one inside");
        if (ELF64_ST_BIND(raw.st_info) == STB_LOCAL) continue;
        symbols.push_back({*name, raw.st_shndx != SHN_UNDEF, ELF64_ST_TYPE(raw.st_info) == STT_OBJECT,
                           ELF64_ST_BIND(raw.st_info) == STB_GNU_UNIQUE});
    }
    return symbols;
}

Result<void, Refusal> readNames(const Dynamic& dynamic, std::string_view strings, ElfImage& out) {
    for (std::size_t i = 0; i < dynamic.needed.size(); ++i) {
        const auto name = nameAt(strings, dynamic.needed[i]);
        if (!name) return broken("DT_NEEDED " + std::to_string(i), "outside DT_STRTAB", "a name inside");
        out.needed.push_back(*name);
    }
    if (dynamic.soname) out.soname = nameAt(strings, *dynamic.soname).value_or("");
    if (dynamic.runpath) out.runpath = nameAt(strings, *dynamic.runpath).value_or("");
    return {};
}

}  // namespace

Result<std::vector<Elf64_Phdr>, Refusal> readSegments(std::string_view image) {
    const auto header = readHeader(image);
    if (!header) return header.error();
    const std::uint64_t tableBytes = std::uint64_t{header->e_phnum} * sizeof(Elf64_Phdr);
    if (!within(header->e_phoff, tableBytes, image.size())) {
        return pastTheEnd("the program header table", tableBytes, header->e_phoff, image.size());
    }
    std::vector<Elf64_Phdr> segments(header->e_phnum);
    std::memcpy(segments.data(), image.data() + header->e_phoff, tableBytes);

    std::uint64_t loadedTo = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const Elf64_Phdr& segment = segments[i];
        const std::string name = "segment " + std::to_string(i);
        if (hasBytes(segment) && !within(segment.p_offset, segment.p_filesz, image.size())) {
            return pastTheEnd(name, segment.p_filesz, segment.p_offset, image.size());
        }
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_filesz > segment.p_memsz || segment.p_vaddr < loadedTo ||
            !within(segment.p_vaddr, segment.p_memsz, ~std::uint64_t{0})) {
            return broken(name, "at address " + std::to_string(segment.p_vaddr) + " with " +
                                    std::to_string(segment.p_filesz) + " bytes of the file in " +
                                    std::to_string(segment.p_memsz) + " of memory",
                          "one behind the segment before and not smaller than its bytes");
        }
        loadedTo = segment.p_vaddr + segment.p_memsz;
    }
    return segments;
}

Result<ElfImage, Refusal> readElfImage(std::string_view image) {
    const auto segments = readSegments(image);
    if (!segments) return segments.error();

    ElfImage out;
    out.executableStack = true;  // what the loader assumes
    const Elf64_Phdr* dynamicSegment = nullptr;
    for (const Elf64_Phdr& segment : *segments) {  // of several the last counts, as for the loader
        if (segment.p_type == PT_DYNAMIC) dynamicSegment = &segment;
        if (segment.p_type == PT_GNU_STACK) out.executableStack = (segment.p_flags & PF_X) != 0;
        if (segment.p_type == PT_TLS) out.threadLocals = true;
    }
    if (dynamicSegment == nullptr) return broken("the dynamic section", "missing", "one");

    const AddressSpace memory(image, *segments);
    const auto dynamic = readDynamic(memory.from(dynamicSegment->p_vaddr));
    if (!dynamic) return dynamic.error();
    out.textRelocations = dynamic->textRelocations || (dynamic->flags & DF_TEXTREL) != 0;
    out.staticTls = (dynamic->flags & DF_STATIC_TLS) != 0;
    out.noDelete = (dynamic->flags1 & DF_1_NODELETE) != 0;

    std::string_view strings = memory.from(dynamic->strings);
    if (!within(0, dynamic->stringBytes, strings.size())) {
        return broken("DT_STRSZ", std::to_string(dynamic->stringBytes),
                      "at most " + std::to_string(strings.size()) + ", the rest of its segment");
    }
    strings = strings.substr(0, dynamic->stringBytes);
    if (auto named = readNames(*dynamic, strings, out); !named) return std::move(named).error();
    auto symbols = readSymbols(*dynamic, memory, strings);
    if (!symbols) return std::move(symbols).error();
    out.symbols = std::move(symbols).value();
    return out;
}

}  // namespace weir::module
