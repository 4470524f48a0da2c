#include "http/chunk_decoder.hpp"

#include <algorithm>
#include <cstring>

namespace weir::http {

namespace {

constexpr std::uint32_t kExtensionTotal = 65536;
constexpr std::uint64_t kMaxSize = 0x7fffffffffffffff;
constexpr unsigned kMaxDigits = 16;

int hexDigit(unsigned char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool isNameByte(char c) { return isFieldName({&c, 1}); }

bool isControl(unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; }

}  // namespace

ChunkDecoder::Step ChunkDecoder::decode(char* bytes, std::size_t size) {
    char* run = bytes;  // decoded so far: [run, runEnd)
    char* runEnd = bytes;
    std::size_t at = 0;
    while (at < size && state_ != State::Done) {
        if (state_ == State::Data) {
            const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(size_, size - at));
            if (run == runEnd) run = runEnd = bytes + at;  // the first piece stays where it is
            else std::memmove(runEnd, bytes + at, take);
            runEnd += take;
            at += take;
            size_ -= take;
            if (size_ == 0) state_ = State::DataCr;
            continue;
        }
        const auto c = static_cast<unsigned char>(bytes[at++]);
        if (state_ >= State::TrailerStart) {
            if (const ParseError error = trailer(c)) return {0, {}, error};
        } else if (const char* wrong = framing(c)) {
            return {0, {}, {400, wrong}};
        }
    }
    return {at, {run, static_cast<std::size_t>(runEnd - run)}, {}};
}

const char* ChunkDecoder::framing(unsigned char c) {
    switch (state_) {
    case State::Size:
        return size(c);
    case State::Padding:
    case State::Extension:
        return extension(c);
    case State::SizeLf:
        if (c != '\n') return "bare CR in a chunk line";
        state_ = size_ ? State::Data : State::TrailerStart;
        return nullptr;
    case State::DataCr:
        if (c != '\r') return "chunk data longer than its size";
        state_ = State::DataLf;
        return nullptr;
    default:  // DataLf
        if (c != '\n') return "chunk data not followed by CRLF";
        digits_ = 0;
        extensionBytes_ = 0;
        state_ = State::Size;
        return nullptr;
    }
}

const char* ChunkDecoder::size(unsigned char c) {
    const int digit = hexDigit(c);
    if (digit < 0) {
        if (digits_ == 0) return "chunk size missing";
        state_ = State::Padding;
        return extension(c);
    }
    if (digits_ == kMaxDigits || size_ > kMaxSize >> 4) return "chunk size too large";
    ++digits_;
    size_ = size_ << 4 | static_cast<unsigned>(digit);
    return nullptr;
}

const char* ChunkDecoder::extension(unsigned char c) {
    if (c == '\r') {
        state_ = State::SizeLf;
        return nullptr;
    }
    if (state_ == State::Padding && c != ' ' && c != '\t') {
        if (c != ';') return "chunk size malformed";
        state_ = State::Extension;
    }
    if (isControl(c)) return "control byte in a chunk extension";
    if (state_ == State::Extension) ++extensionTotal_;  // padding comes with every chunk of a body of any length
    if (++extensionBytes_ > limits_.chunkExtension || extensionTotal_ > kExtensionTotal)
        return "chunk extensions too long";
    return nullptr;
}

ParseError ChunkDecoder::trailer(unsigned char c) {
    if (++trailerBytes_ > limits_.fieldBytes) return {431, "trailers too long"};
    switch (state_) {
    case State::TrailerStart:
        if (c == '\r') {
            state_ = State::EndLf;
            return {};
        }
        if (++trailerCount_ > limits_.fieldCount) return {431, "too many trailers"};
        if (!isNameByte(static_cast<char>(c))) return {400, "trailer name malformed"};  // a folded line too
        state_ = State::TrailerName;
        return {};
    case State::TrailerName:
        if (c == ':') state_ = State::TrailerValue;
        else if (!isNameByte(static_cast<char>(c))) return {400, "trailer name malformed"};
        return {};
    case State::TrailerValue:
        if (c == '\r') state_ = State::TrailerLf;
        else if (isControl(c)) return {400, "control byte in a trailer"};
        return {};
    case State::TrailerLf:
        if (c != '\n') return {400, "bare CR in a trailer"};
        state_ = State::TrailerStart;
        return {};
    default:  // EndLf
        if (c != '\n') return {400, "bare CR in a trailer"};
        state_ = State::Done;
        return {};
    }
}

}  // namespace weir::http
