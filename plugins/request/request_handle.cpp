#include "request_handle.hpp"

#include <algorithm>
#include <string_view>

#include "weir/http_field.hpp"

namespace weir::request {

namespace {

// Fields that the gateway writes anew for the upstream, or keeps back: an edit of them would go nowhere.
bool isGatewayField(const std::string& name) {
    static constexpr std::string_view kOwn[] = {
        "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
        "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "X-Forwarded-Host", "X-Forwarded-Proto"};
    // Written with '_' for '-' these stay behind as well.
    static constexpr std::string_view kTwinsOnly[] = {"Content-Type", "X-Forwarded-For"};
    std::string dashed = name;
    std::ranges::replace(dashed, '_', '-');
    const auto isIt = [&](std::string_view own) { return equalsIgnoreCase(dashed, own); };
    return std::ranges::any_of(kOwn, isIt) || (dashed != name && std::ranges::any_of(kTwinsOnly, isIt));
}

// A field that an upstream is to get.
bool checkNewField(const std::string& name, const std::string& path, weir_error* error) {
    if (!checkFieldName(name, path, error)) return false;
    return !isGatewayField(name) ||
           refuse(error, path, "the gateway decides itself whether the upstream gets " + name + ", and which");
}

bool checkHeaders(const Texts& headers, const std::string& path, weir_error* error) {
    for (const auto& [name, value] : headers) {
        const std::string at = path + "." + name;
        if (!checkNewField(name, at, error) || !checkFieldValue(value, at, error)) return false;
    }
    return true;
}

bool checkRenames(const Texts& renames, const std::string& path, weir_error* error) {
    for (const auto& [from, to] : renames)
        if (!checkFieldName(from, path + "." + from, error) || !checkNewField(to, path + "." + from, error))
            return false;
    return true;
}

// Blank names, which ShenYu's forms leave behind, are dropped.
bool checkNames(std::vector<std::string>& names, const std::string& path, weir_error* error) {
    std::erase(names, "");
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!checkFieldName(names[i], path + "[" + std::to_string(i) + "]", error)) return false;
    return true;
}

bool checkParameters(const Texts& parameters, const std::string& path, weir_error* error) {
    for (const auto& [name, value] : parameters)
        if (name.empty())
            return refuse(error, path, "a parameter needs a name, found one without (value '" + value + "')");
    return true;
}

bool checkCookieName(const std::string& name, const std::string& path, weir_error* error) {
    return isFieldName(name) || refuse(error, path, "expected the name of a cookie, found '" + name + "'");
}

bool checkCookies(const Texts& cookies, const std::string& path, weir_error* error) {
    for (const auto& [name, value] : cookies) {
        const std::string at = path + "." + name;
        if (!checkCookieName(name, at, error)) return false;
        if (!isFieldValue(value) || value.find(';') != value.npos)
            return refuse(error, at, "has bytes that the value of a cookie can not have");
    }
    return true;
}

bool checkCookieRenames(const Texts& renames, const std::string& path, weir_error* error) {
    for (const auto& [from, to] : renames)
        if (!checkCookieName(to, path + "." + from, error)) return false;
    return true;
}

bool readNames(std::string_view text, std::vector<std::string>& names, const char* path, weir_error* error) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        std::string name(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        name.erase(0, name.find_first_not_of(' '));
        name.erase(name.find_last_not_of(' ') + 1);
        if (name.empty()) continue;
        if (!checkFieldName(name, path, error)) return false;
        names.push_back(std::move(name));
    }
    return true;
}

}  // namespace

bool RequestHandle::prepare(weir_error* error) {
    return checkHeaders(header.addHeaders, "header.addHeaders", error) &&
           checkHeaders(header.setHeaders, "header.setHeaders", error) &&
           checkRenames(header.replaceHeaderKeys, "header.replaceHeaderKeys", error) &&
           checkNames(header.removeHeaderKeys, "header.removeHeaderKeys", error) &&
           checkParameters(parameter.addParameters, "parameter.addParameters", error) &&
           checkParameters(parameter.setParameters, "parameter.setParameters", error) &&
           checkCookies(cookie.addCookies, "cookie.addCookies", error) &&
           checkCookies(cookie.setCookies, "cookie.setCookies", error) &&
           checkCookieRenames(cookie.replaceCookieKeys, "cookie.replaceCookieKeys", error) &&
           readNames(requestUniqueHeaders, requestUnique, "requestUniqueHeaders", error) &&
           readNames(respUniqueHeaders, responseUnique, "respUniqueHeaders", error);
}

}  // namespace weir::request
