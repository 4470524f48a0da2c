#include "http/field_table.hpp"

#include <array>
#include <cstring>

#include "base/ascii.hpp"

namespace weir::http {

namespace {

using base::toLower;

constexpr bool isTokenByte(unsigned char c) {
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
    for (char s : std::string_view("!#$%&'*+-.^_`|~"))
        if (c == static_cast<unsigned char>(s)) return true;
    return false;
}

constexpr auto kTokenBytes = [] {
    std::array<bool, 256> table{};
    for (int c = 0; c < 256; ++c) table[c] = isTokenByte(static_cast<unsigned char>(c));
    return table;
}();

struct Known {
    std::string_view name;
    FieldId id;
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

// How a name compares with a known one of its length.
FieldId compare(std::string_view name, const Known& known) {
    bool twin = false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = toLower(name[i]);
        if (c == known.name[i]) continue;
        if (c != '_' || known.name[i] != '-') return FieldId::Other;
        twin = true;
    }
    return twin ? FieldId::UnderscoreTwin : known.id;
}

// Fields of these ids can have different names.
bool isNamed(FieldId id) { return id == FieldId::Other || id == FieldId::UnderscoreTwin; }

}  // namespace

bool equalsIgnoreCase(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (toLower(a[i]) != toLower(b[i])) return false;
    return true;
}

FieldId fieldId(std::string_view name) {
    for (const Known& known : kKnown) {
        if (known.name.size() > name.size()) break;  // the list is sorted by length
        if (known.name.size() != name.size() || toLower(name[0]) != known.name[0]) continue;
        if (const FieldId id = compare(name, known); id != FieldId::Other) return id;
    }
    return FieldId::Other;
}

bool isFieldName(std::string_view name) {
    if (name.empty()) return false;
    for (unsigned char c : name)
        if (!kTokenBytes[c]) return false;
    return true;
}

bool isFieldValue(std::string_view value) {
    for (unsigned char c : value)
        if ((c < 0x20 && c != '\t') || c == 0x7f) return false;
    return true;
}

void FieldTable::push(FieldId id, std::string_view name, std::string_view value, bool parsed) {
    if (size_ == capacity_) {
        const std::uint32_t capacity = capacity_ ? capacity_ * 2 : 24;
        auto* grown = arena_.allocateArray<Field>(capacity);
        if (size_) std::memcpy(static_cast<void*>(grown), fields_, size_ * sizeof(Field));
        fields_ = grown;
        capacity_ = capacity;
    }
    fields_[size_++] = Field{name, value, kAlive, edits_, id, parsed};
}

void FieldTable::append(FieldId id, std::string_view name, std::string_view value) { push(id, name, value, true); }

std::string_view FieldTable::get(std::string_view name) const {
    const FieldId id = fieldId(name);
    if (!isNamed(id)) return get(id);
    for (const Field& field : *this)
        if (field.alive() && field.id == id && equalsIgnoreCase(field.name, name)) return field.value;
    return {};
}

std::string_view FieldTable::get(FieldId id) const {
    for (const Field& field : *this)
        if (field.alive() && field.id == id) return field.value;
    return {};
}

void FieldTable::set(std::string_view name, std::string_view value) {
    remove(name);
    push(fieldId(name), arena_.copy(name), arena_.copy(value), false);
}

void FieldTable::add(std::string_view name, std::string_view value) {
    ++edits_;
    push(fieldId(name), arena_.copy(name), arena_.copy(value), false);
}

void FieldTable::remove(std::string_view name) {
    const FieldId id = fieldId(name);
    ++edits_;
    for (std::uint32_t i = 0; i < size_; ++i) {
        Field& field = fields_[i];
        if (field.alive() && field.id == id && (!isNamed(id) || equalsIgnoreCase(field.name, name)))
            field.died = edits_;
    }
}

void FieldTable::remove(FieldId id) {
    ++edits_;
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
    while (size_ && fields_[size_ - 1].born > mark) --size_;
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
