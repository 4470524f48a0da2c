#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/arena.hpp"
#include "base/ascii.hpp"

namespace weir::http {

// Fields the gateway itself acts on; everything else is Other and found by name.
enum class FieldId : std::uint8_t {
    Other,
    Connection,
    ContentLength,
    ContentType,
    Date,
    Expect,
    Forwarded,
    Host,
    KeepAlive,
    Location,
    ProxyAuthenticate,
    ProxyAuthorization,
    ProxyConnection,
    Server,
    Te,
    Trailer,
    TransferEncoding,
    UnderscoreTwin,  // one of these with '_' for '-': many servers read it as the name itself, so it goes no further
    Upgrade,
    Via,
    XForwardedFor,
    XForwardedHost,
    XForwardedProto,
};

namespace detail {
// Whether a byte is a tchar (RFC 9110 5.6.2).
constexpr auto kTokenBytes = [] {
    std::array<bool, 256> table{};
    for (int c = '0'; c <= '9'; ++c) table[c] = true;
    for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 0x20] = true;
    for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
    return table;
}();
}  // namespace detail

// A set of ids is a word with the bits of its members.
using FieldIds = std::uint64_t;
constexpr FieldIds bit(FieldId id) { return FieldIds{1} << static_cast<unsigned>(id); }

// The id of a name, any case. Linear in the name's length.
FieldId fieldId(std::string_view name);
using base::equalsIgnoreCase;
constexpr bool isTokenByte(char c) { return detail::kTokenBytes[static_cast<unsigned char>(c)]; }
// RFC 9110 5.1 token; 5.5 field-value without CR, LF, NUL and other control bytes but HTAB.
bool isFieldName(std::string_view name);
bool isFieldValue(std::string_view value);
// Without the blanks and tabs around it.
std::string_view trimmed(std::string_view text);

// The fields of one message, in order, with edits as an append-only overlay: nothing is moved or freed, so that a mark
// is an integer and going back to it is cheap. Names and values are views that live as long as the arena (or the head
// buffer that the exchange owns). Loop thread of the exchange only.
class FieldTable {
public:
    using Mark = std::uint32_t;

    struct Field {
        std::string_view name;
        std::string_view value;
        std::uint32_t died;  // the edit that removed it; kAlive while it stands
        std::uint32_t born;
        FieldId id;
        bool parsed;    // came with the message, not by an edit
        bool verbatim;  // stands in memory as it goes on the wire: name, ": ", value, CRLF in one run

        bool alive() const { return died == kAlive; }
    };

    explicit FieldTable(base::Arena& arena) : arena_(arena) {}

    // As parsed: appends without copying. A head that arrives later than the marks it must yield to (an upstream's) is
    // preceded by beginEdit(). verbatim: ": " stands before the value and CRLF behind it, in the same memory.
    void beginEdit() { ++edits_; }
    void append(FieldId id, std::string_view name, std::string_view value, bool verbatim = false) {
        push(id, name, value, true, verbatim);
    }
    // Takes back what was appended behind the first `size` lines.
    std::uint32_t size() const { return size_; }
    void truncate(std::uint32_t size) {
        while (size_ > size) dropLast();
    }
    // Whether a line of one of these ids may stand; false is sure.
    bool mayHave(FieldIds ids) const { return (ids_ & ids) != 0; }
    // At least the bytes of all lines with ": " and CRLF.
    std::size_t bytes() const { return bytes_; }
    // The value of the first line of that name that stands; data() == nullptr when there is none.
    std::string_view get(std::string_view name) const;
    std::string_view get(FieldId id) const;
    // Edits copy name and value into the arena.
    void set(std::string_view name, std::string_view value);
    void add(std::string_view name, std::string_view value);
    void remove(std::string_view name);
    void remove(FieldId id);
    void removeParsed();  // those that came with the message, as one edit
    // Names that came with the message win over edits made before it came (ShenYu: upstream values replace the
    // gateway's own of the same name).
    void preferParsed();

    Mark mark() const { return edits_; }
    void restore(Mark mark);

    // Lines that stand, in order.
    const Field* begin() const { return fields_; }
    const Field* end() const { return fields_ + size_; }
    std::uint32_t count() const;             // standing ones
    const Field* standing(std::uint32_t index) const;  // the index-th standing one, null past the end

private:
    static constexpr std::uint32_t kAlive = 0xffffffff;

    void push(FieldId id, std::string_view name, std::string_view value, bool parsed, bool verbatim) {
        if (size_ == capacity_) grow();
        Field& field = fields_[size_++];  // one by one: a whole Field would be made elsewhere and copied
        field.name = name;
        field.value = value;
        field.died = kAlive;
        field.born = edits_;
        field.id = id;
        field.parsed = parsed;
        field.verbatim = verbatim;
        ids_ |= bit(id);
        bytes_ += name.size() + value.size() + 4;
    }
    void dropLast() {
        const Field& last = fields_[--size_];
        bytes_ -= last.name.size() + last.value.size() + 4;
    }
    void pushLine(FieldId id, std::string_view name, std::string_view value);
    void grow();
    void remove(FieldId id, std::string_view name);

    base::Arena& arena_;
    Field* fields_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t edits_ = 0;
    FieldIds ids_ = 0;       // of all lines that ever were
    std::size_t bytes_ = 0;  // of all lines, whether they stand or not
};

}  // namespace weir::http
