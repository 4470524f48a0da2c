#include "functional/differential/message_reading.hpp"

#include <string.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace weir::functional {

namespace {

using support::HttpMessage;

// Up to the next CR LF, which is taken too; nothing when there is none.
std::optional<std::string> takeLine(std::string_view& bytes) {
    const auto end = bytes.find("\r\n");
    if (end == bytes.npos) return std::nullopt;
    std::string line(bytes.substr(0, end));
    bytes.remove_prefix(end + 2);
    return line;
}

// False when the empty line behind the fields has not come.
bool takeFields(std::string_view& bytes, HttpMessage& message, const std::string& prefix) {
    for (;;) {
        const auto line = takeLine(bytes);
        if (!line) return false;
        if (line->empty()) return true;
        const auto colon = line->find(':');
        const auto value = colon == line->npos ? colon : line->find_first_not_of(" \t", colon + 1);
        message.fields.emplace_back(prefix + line->substr(0, colon),
                                    value == line->npos ? "" : line->substr(value));
    }
}

bool takeChunks(std::string_view& bytes, HttpMessage& message) {
    for (;;) {
        const auto line = takeLine(bytes);
        if (!line) return false;
        const auto size = std::strtoul(line->c_str(), nullptr, 16);
        if (size == 0) return takeFields(bytes, message, "trailer ");
        message.body += bytes.substr(0, size);
        if (bytes.size() < size + 2) return false;
        bytes.remove_prefix(size + 2);
    }
}

bool takeLength(std::string_view& bytes, HttpMessage& message, const std::string& length) {
    const auto size = std::strtoul(length.c_str(), nullptr, 10);
    message.body = bytes.substr(0, size);
    bytes.remove_prefix(message.body.size());
    return message.body.size() == size;
}

int statusOf(const std::string& line) {
    constexpr std::size_t kAt = 9;  // behind "HTTP/1.1 "
    return line.rfind("HTTP/1.", 0) == 0 && line.size() > kAt ? std::atoi(line.c_str() + kAt) : 0;
}

bool hasNoBody(int status) { return status / 100 == 1 || status == 204 || status == 304; }

Reading read(std::string_view bytes, bool isResponse, bool bodyless) {
    Reading reading;
    auto& message = reading.message;
    auto rest = bytes;
    const auto line = takeLine(rest);
    message.startLine = line.value_or(std::string(bytes));
    reading.headWhole = line && takeFields(rest, message, "");
    if (isResponse) reading.status = statusOf(message.startLine);
    if (reading.headWhole) {
        const auto coding = message.field("Transfer-Encoding");
        const auto length = message.field("Content-Length");
        message.chunked = coding && strcasestr(coding->c_str(), "chunked");
        if (bodyless || hasNoBody(reading.status)) {
            reading.whole = true;
        } else if (message.chunked) {
            reading.whole = takeChunks(rest, message);
        } else if (length) {
            reading.whole = takeLength(rest, message, *length);
        } else {
            reading.whole = true;
            reading.untilClose = isResponse;
        }
        if (reading.untilClose) {
            message.body = rest;
            rest = {};
        }
    }
    reading.size = reading.whole ? bytes.size() - rest.size() : bytes.size();
    return reading;
}

}  // namespace

Reading readRequest(std::string_view bytes) { return read(bytes, false, false); }

Reading readResponse(std::string_view bytes, bool bodyless) { return read(bytes, true, bodyless); }

}  // namespace weir::functional
