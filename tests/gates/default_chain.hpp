#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/recording_upstream.hpp"
#include "support/wire_connection.hpp"

namespace weir::gates {

// The configuration that figures per request are taken with: global, contextPath, rewrite, divide, httpClient,
// modifyResponse and response, with one rule that matches /http/** each where they need one. Without access log.
std::string defaultChain(const std::string& upstream);

// Answers each request as nginx would, with a body of that many bytes, and keeps nothing: there will be many.
support::RecordingUpstream::Serve answersOf(std::size_t bytes);

// What it asks for; with a body when `bytes` is more than 0.
std::string requestOf(std::size_t bytes);

// Sends a request that often on a keep-alive connection; throws when an answer is not 200.
void repeat(support::RawClient& client, const std::string& request, std::uint64_t times);

}  // namespace weir::gates
