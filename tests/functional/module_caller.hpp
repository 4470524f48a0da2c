#pragma once

#include <string>
#include <vector>

#include "functional/ext_folder.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

namespace weir::functional {

// Calls that change modules of a gateway, and what can be seen of them. A std::runtime_error when nobody answers.

inline constexpr const char* kTokenField = "Authorization: Bearer opener\r\n";
inline constexpr const char* kUploadKey = "123456";  // the localKey

// Command line of a gateway that uses the folder and takes these calls.
std::vector<std::string> callArguments(const ExtFolder& folder, const std::vector<std::string>& more = {});

// POST to the management port.
support::HttpMessage call(const support::GatewayProcess& gateway, const std::string& path,
                          const std::string& body = "", const std::string& fields = kTokenField);
// Plugin data of `hello` with this pluginJar; `more`: members of the JSON, with a comma in front.
support::HttpMessage upload(const support::GatewayProcess& gateway, const std::string& jar,
                            const std::string& more = "");
std::string base64(const std::string& bytes);

// The body of a page of the management port.
std::string page(const support::GatewayProcess& gateway, const std::string& path);
bool shows(const support::GatewayProcess& gateway, const std::string& path, const std::string& text);

// X-Hello of a request; "none" without one. becomes() waits for it.
std::string hello(const support::GatewayProcess& gateway);
bool becomes(const support::GatewayProcess& gateway, const std::string& value);

}  // namespace weir::functional
