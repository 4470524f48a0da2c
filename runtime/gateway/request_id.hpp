#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::gateway {

// Makes ids that no other source makes again, over restarts and machines too: a counter that begins at 128 random
// bits, with the bits mixed. One system call for each source, none for an id. Not secrets: who sees one can work out
// the next. One thread, usually a loop's own.
class IdSource {
public:
    static constexpr std::size_t kIdDigits = 32;
    static constexpr std::size_t kSpanDigits = 16;

    IdSource();  // throws std::system_error when the system has no random numbers

    // Writes kIdDigits lower-case hex digits, not all of them 0.
    void writeId(char* digits);
    // Writes kSpanDigits, likewise: unique within one trace, as W3C's parent-id has to be.
    void writeSpanId(char* digits);

private:
    void step();

    std::uint64_t high_;
    std::uint64_t low_;
};

// Whether a client's own request id may be taken over: 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-'.
bool isRequestId(std::string_view text);

}  // namespace weir::gateway
