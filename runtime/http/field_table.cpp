#include "http/field_table.hpp"

#include <array>
#include <cstring>

namespace weir::http {

namespace {

using base::toLower;

struct Known {
    std::string_view name;
    FieldId id = FieldId::Other;
};

constexpr Known kKnown[] = {
    {"te", FieldId::Te},
    {"via", FieldId::Via},
    {"host", FieldId::Host},
    {"date", FieldId::Date},
    {"expect", FieldId::Expect},
    {"server", FieldId::Server},
    {"trailer", FieldId::Trailer},
    {"upgrade", FieldId::Upgrade},
    {"location", FieldId::Location},
    {"forwarded", FieldId::Forwarded},
    {"connection", FieldId::Connection},
    {"keep-alive", FieldId::KeepAlive},
    {"content-type", FieldId::ContentType},
    {"content-length", FieldId::ContentLength},
    {"x-forwarded-for", FieldId::XForwardedFor},
    {"proxy-connection", FieldId::ProxyConnection},
    {"x-forwarded-host", FieldId::XForwardedHost},
    {"x-forwarded-proto", FieldId::XForwardedProto},
    {"transfer-encoding", FieldId::TransferEncoding},
    {"proxy-authenticate", FieldId::ProxyAuthenticate},
    {"proxy-authorization", FieldId::ProxyAuthorization},
};

// The known names of each length: two at most, which differ in their first byte. Those bytes stand apart, on one cache
// line, so that only names that are likely the known ones are read.
constexpr std::size_t kLongest = 19;
struct Slot {
    char name[31] = {};
    FieldId id = FieldId::Other;
};
static_assert(kLongest <= sizeof Slot::name && sizeof(Slot) == 32);
struct Names {
    alignas(64) std::array<std::array<char, 2>, kLongest + 1> firsts{};  // by length; 0: none
    std::array<std::array<Slot, 2>, kLongest + 1> slots{};
};
constexpr Names kNames = [] {
    Names names;
    for (const Known& known : kKnown) {
        const std::size_t length = known.name.size();
        std::array<char, 2>& firsts = names.firsts[length];
        const bool second = firsts[0] != 0;
        if (second && (firsts[1] != 0 || firsts[0] == known.name[0])) throw "no room";  // at compile time
        firsts[second] = known.name[0];
        known.name.copy(names.slots[length][second].name, length);
        names.slots[length][second].id = known.id;
    }
    return names;
}();

// Whether the name is the known one but for its case; they have the same length.
bool isSame(std::string_view name, const char* known) {
    // The bytes of known names with the bit 0x40 are letters: there the bit 0x20, in which the cases differ, is set.
    constexpr auto same = [](base::ByteWord of, base::ByteWord lower) {
        return (of | (lower & base::everyByte(0x40)) >> 1) == lower;
    };
    return base::sameWords(name.data(), known, name.size(), same);
}

// Whether the name is the known one with '_' for '-'; they have the same length.
bool isTwin(std::string_view name, const char* known) {
    for (std::size_t i = 0; i < name.size(); ++i)
        if (toLower(name[i]) != known[i] && (name[i] != '_' || known[i] != '-')) return false;
    return true;
}

// Fields of these ids can have different names.
bool isNamed(FieldId id) { return id == FieldId::Other || id == FieldId::UnderscoreTwin; }

}  // namespace

FieldId fieldId(std::string_view name) {
    if (name.empty() || name.size() > kLongest) return FieldId::Other;
    const auto first = static_cast<char>(name[0] | 0x20);  // known names begin with letters
    const std::array<char, 2>& firsts = kNames.firsts[name.size()];
    const bool second = firsts[0] != first;
    if (firsts[second] != first) return FieldId::Other;
    const Slot& slot = kNames.slots[name.size()][second];
    if (isSame(name, slot.name)) return slot.id;
    return isTwin(name, slot.name) ? FieldId::UnderscoreTwin : FieldId::Other;
}

bool isFieldName(std::string_view name) {
    if (name.empty()) return false;
    for (char c : name)
        if (!isTokenByte(c)) return false;
    return true;
}

bool isFieldValue(std::string_view value) {
    for (unsigned char c : value)
        if ((c < 0x20 && c != '\t') || c == 0x7f) return false;
    return true;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

void FieldTable::grow() {
    const std::uint32_t capacity = capacity_ ? capacity_ * 2 : 24;
    auto* grown = arena_.allocateArray<Field>(capacity);
    if (size_) std::memcpy(static_cast<void*>(grown), fields_, size_ * sizeof(Field));
    fields_ = grown;
    capacity_ = capacity;
}

std::string_view FieldTable::get(std::string_view name) const {
    const FieldId id = fieldId(name);
    if (!isNamed(id)) return get(id);
    if (!mayHave(bit(id))) return {};
    for (const Field& field : *this)
        if (field.alive() && field.id == id && equalsIgnoreCase(field.name, name)) return field.value;
    return {};
}

std::string_view FieldTable::get(FieldId id) const {
    if (!mayHave(bit(id))) return {};
    for (const Field& field : *this)
        if (field.alive() && field.id == id) return field.value;
    return {};
}

// An edit is kept as the line that it becomes on the wire.
void FieldTable::pushLine(FieldId id, std::string_view name, std::string_view value) {
    auto* const line = arena_.allocateArray<char>(name.size() + value.size() + 4);
    char* const behindName = base::copyText(line, name);
    behindName[0] = ':';
    behindName[1] = ' ';
    char* const behindValue = base::copyText(behindName + 2, value);
    behindValue[0] = '\r';
    behindValue[1] = '\n';
    push(id, {line, behindName}, {behindName + 2, behindValue}, false, true);
}

void FieldTable::set(std::string_view name, std::string_view value) {
    const FieldId id = fieldId(name);
    remove(id, name);
    pushLine(id, name, value);
}

void FieldTable::add(std::string_view name, std::string_view value) {
    ++edits_;
    pushLine(fieldId(name), name, value);
}

void FieldTable::remove(std::string_view name) { remove(fieldId(name), name); }

void FieldTable::remove(FieldId id, std::string_view name) {
    if (!isNamed(id)) return remove(id);
    ++edits_;
    if (!mayHave(bit(id))) return;
    for (std::uint32_t i = 0; i < size_; ++i) {
        Field& field = fields_[i];
        if (field.alive() && field.id == id && equalsIgnoreCase(field.name, name)) field.died = edits_;
    }
}

void FieldTable::remove(FieldId id) {
    ++edits_;
    if (!mayHave(bit(id))) return;
    for (std::uint32_t i = 0; i < size_; ++i)
        if (fields_[i].alive() && fields_[i].id == id) fields_[i].died = edits_;
}

void FieldTable::removeParsed() {
    ++edits_;
    for (std::uint32_t i = 0; i < size_; ++i)
        if (fields_[i].alive() && fields_[i].parsed) fields_[i].died = edits_;
}

void FieldTable::preferParsed() {
    for (std::uint32_t i = 0; i < size_; ++i) {
        Field& own = fields_[i];
        if (!own.alive() || own.parsed) continue;
        for (const Field& other : *this) {
            if (other.alive() && other.parsed && other.id == own.id && equalsIgnoreCase(other.name, own.name)) {
                own.died = edits_;
                break;
            }
        }
    }
}

void FieldTable::restore(Mark mark) {
    while (size_ && fields_[size_ - 1].born > mark) dropLast();
    for (std::uint32_t i = 0; i < size_; ++i)
        if (fields_[i].died != kAlive && fields_[i].died > mark) fields_[i].died = kAlive;
    edits_ = mark;
}

std::uint32_t FieldTable::count() const {
    std::uint32_t standing = 0;
    for (const Field& field : *this) standing += field.alive();
    return standing;
}

const FieldTable::Field* FieldTable::standing(std::uint32_t index) const {
    for (const Field& field : *this)
        if (field.alive() && index-- == 0) return &field;
    return nullptr;
}

}  // namespace weir::http
