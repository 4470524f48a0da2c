#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>

namespace weir::support {

inline constexpr int kGzip = 15 + 16;  // zlib's window sizes choose the wrapping
inline constexpr int kZlib = 15;
inline constexpr int kRawDeflate = -15;

inline std::string deflated(const std::string& text, int window) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2");
    std::string out(deflateBound(&stream, text.size()) + 32, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int state = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (state != Z_STREAM_END) throw std::runtime_error("deflate");
    return out;
}

}  // namespace weir::support
