#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::fuzz {

enum class MessageKind { Request, Response, ResponseToHead };

// What the plainest reading of RFC 9112 finds at the start of `bytes`. It shares no code with runtime/http, so that the
// two can be compared: what the gateway accepts, or writes itself, must read the same here.
struct ReadMessage {
    enum class State {
        Whole,
        Partial,     // more bytes may make it whole
        UntilClose,  // a response whose body ends with the connection; body is what is there
        Malformed,
    };
    struct Field {
        std::string_view name;
        std::string_view value;  // without blanks around it
    };

    State state = State::Partial;
    const char* fault = "";       // of a malformed one
    std::string_view method;      // requests
    std::string_view target;
    int status = 0;               // responses
    std::vector<Field> fields;    // of the head
    std::string body;             // decoded, as far as it is there
    std::size_t size = 0;         // bytes of a whole message, with empty lines before a request

    std::size_t count(std::string_view name) const;             // lines of that name, any case
    std::string_view value(std::string_view name) const;        // of the first; "" without one
};

ReadMessage readMessage(std::string_view bytes, MessageKind kind);

}  // namespace weir::fuzz
