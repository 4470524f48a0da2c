#include "module/refusal.hpp"

namespace weir::module {

std::string_view toText(RefusalCode code) {
    switch (code) {
        case RefusalCode::Unreadable: return "unreadable";
        case RefusalCode::TooLarge: return "too_large";
        case RefusalCode::NotElf: return "not_elf";
        case RefusalCode::Truncated: return "truncated";
        case RefusalCode::WrongMachine: return "wrong_machine";
        case RefusalCode::NotShared: return "not_shared";
        case RefusalCode::NoManifest: return "no_manifest";
        case RefusalCode::BadManifest: return "bad_manifest";
        case RefusalCode::AbiMismatch: return "abi_mismatch";
        case RefusalCode::TableTooSmall: return "table_too_small";
        case RefusalCode::BadTables: return "bad_tables";
        case RefusalCode::MissingSymbol: return "missing_symbol";
        case RefusalCode::UnresolvedSymbol: return "unresolved_symbol";
        case RefusalCode::ForbiddenLibrary: return "forbidden_library";
        case RefusalCode::MissingLibrary: return "missing_library";
        case RefusalCode::TextRelocations: return "text_relocations";
        case RefusalCode::ExecutableStack: return "executable_stack";
        case RefusalCode::StaticTls: return "static_tls";
        case RefusalCode::GnuUnique: return "gnu_unique";
        case RefusalCode::KeyConflict: return "key_conflict";
        case RefusalCode::IdConflict: return "id_conflict";
        case RefusalCode::CoreKey: return "core_key";
        case RefusalCode::Unsupported: return "unsupported";
        case RefusalCode::ProbeCrashed: return "probe_crashed";
        case RefusalCode::ProbeTimeout: return "probe_timeout";
        case RefusalCode::ProbeExited: return "probe_exited";
        case RefusalCode::ProbeFailed: return "probe_failed";
        case RefusalCode::CreateFailed: return "create_failed";
        case RefusalCode::CreateTimeout: return "create_timeout";
        case RefusalCode::ConfigRefused: return "config_refused";
        case RefusalCode::ResidentLimit: return "resident_limit";
        case RefusalCode::Untrusted: return "untrusted";
        case RefusalCode::WritablePath: return "writable_path";
        case RefusalCode::Disabled: return "disabled";
        case RefusalCode::SetAside: return "set_aside";
        case RefusalCode::StagingFailed: return "staging_failed";
        case RefusalCode::LoadFailed: return "load_failed";
    }
    return "unknown";
}

std::string Refusal::text() const {
    std::string text(toText(code));
    text += ": ";
    if (!field.empty()) text += field + " is ";
    text += found;
    if (!wanted.empty()) text += ", expected " + wanted;
    if (!remedy.empty()) text += ": " + remedy;
    return text;
}

base::Error Refusal::error(std::string origin) const {
    return {base::ErrorCode::InvalidModule, std::move(origin), text()};
}

}  // namespace weir::module
