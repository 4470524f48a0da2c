#include "cached_response.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "cache_control.hpp"

namespace weir::cache {

namespace {

// Repeatable without being asked for by the upstream (RFC 9110 15.1), less what only fits the request it was made for.
constexpr std::array kStatuses = {200, 203, 300, 301, 308, 404, 410, 414, 501};

// The host's own, of one connection only, or made anew for each reply.
constexpr std::array<std::string_view, 11> kNotKept = {
    "Connection", "Content-Length",      "Transfer-Encoding", "Keep-Alive", "TE",  "Trailer",
    "Upgrade",    "Proxy-Authenticate",  "Proxy-Connection",  "Age",        "Content-Type"};

bool isKept(std::string_view name) {
    return std::ranges::none_of(kNotKept, [name](std::string_view one) { return equalsIgnoreCase(one, name); });
}

// All lines of a field as one list (RFC 9110 5.3).
std::string joined(const Headers& headers, std::string_view name) {
    std::string all;
    headers.forEachHeader([&](std::string_view field, std::string_view value) {
        if (!equalsIgnoreCase(field, name)) return;
        if (!all.empty()) all += ", ";
        all += value;
    });
    return all;
}

bool addSelecting(CachedResponse& copy, const Request& request, std::string_view list) {
    bool known = true;
    forEachMember(list, [&](std::string_view name) {
        known = name != "*";
        if (known) copy.selecting.emplace_back(name, joined(request, name));
        return known;
    });
    return known;
}

std::string_view withoutWeak(std::string_view tag) { return tag.starts_with("W/") ? tag.substr(2) : tag; }

std::string_view find(const CachedResponse::Fields& fields, std::string_view name) {
    for (const auto& [field, value] : fields)
        if (equalsIgnoreCase(field, name)) return value;
    return {};
}

// If-None-Match decides alone when it is there (RFC 9110 13.2.2).
bool clientHas(const CachedResponse& response, const Request& request) {
    const std::string tags = joined(request, "If-None-Match");
    if (!tags.empty()) {
        const std::string_view own = withoutWeak(find(response.fields, "ETag"));
        bool same = tags == "*";
        forEachMember(tags, [&](std::string_view tag) {
            same = same || (!own.empty() && withoutWeak(tag) == own);
            return !same;
        });
        return same;
    }
    const auto since = httpDate(request.header("If-Modified-Since").value_or(""));
    const auto modified = httpDate(find(response.fields, "Last-Modified"));
    return since && modified && *modified <= *since;
}

}  // namespace

std::size_t CachedResponse::bytes() const {
    std::size_t sum = sizeof *this + contentType.size() + body.size();
    for (const Fields* list : {&fields, &selecting})
        for (const auto& [name, value] : *list) sum += sizeof(Fields::value_type) + name.size() + value.size();
    return sum;
}

bool CachedResponse::selects(const Request& request) const {
    return std::ranges::all_of(selecting,
                               [&](const auto& field) { return joined(request, field.first) == field.second; });
}

void CachedResponse::replyTo(Exchange& exchange) const {
    const bool unchanged = status == 200 && clientHas(*this, exchange.request());
    exchange.reply(unchanged ? 304 : status, unchanged ? std::string_view() : body,
                   contentType.empty() ? std::string_view() : std::string_view(contentType));
    Response response = exchange.response();
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto& [name, value] = fields[i];
        const bool again = std::any_of(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const auto& field) { return equalsIgnoreCase(field.first, name); });
        if (again) response.addHeader(name, value);
        else response.setHeader(name, value);
    }
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - stored);
    response.setHeader("Age", std::to_string(age.count()));
}

RequestUse RequestUse::of(const Request& request) {
    const bool get = request.method() == "GET";
    const CacheControl control = CacheControl::of(request);
    if ((!get && request.method() != "HEAD") || control.noStore || request.header("Range")) return {};
    RequestUse use;
    use.store = get;
    use.serve = !control.noCache && control.maxAge != std::optional<std::uint64_t>(0) &&
                !equalsIgnoreCase(request.header("Pragma").value_or(""), "no-cache");
    use.personal = request.header("Authorization") || request.header("Cookie");
    return use;
}

std::optional<std::chrono::seconds> lifetime(const RequestUse& use, const Response& response,
                                             std::chrono::seconds timeout) {
    const int status = response.status();
    if (!use.store || std::ranges::find(kStatuses, status) == kStatuses.end()) return std::nullopt;
    const CacheControl control = CacheControl::of(response);
    if (control.noStore || control.noCache || control.isPrivate || response.header("Set-Cookie")) return std::nullopt;
    if (use.personal && !control.isPublic && !control.sharedMaxAge) return std::nullopt;
    // Streams that only end when somebody leaves.
    const std::string_view type = response.header("Content-Type").value_or("");
    if (type.starts_with("text/event-stream") || type.starts_with("application/x-ndjson")) return std::nullopt;

    auto most = static_cast<std::int64_t>(timeout.count());
    const auto told = control.sharedMaxAge ? control.sharedMaxAge : control.maxAge;
    if (told) {
        most = std::min(most, static_cast<std::int64_t>(std::min<std::uint64_t>(*told, 0xffffffff)));
    } else if (const auto expires = response.header("Expires")) {  // one that is no date is past (RFC 9111 5.3)
        const auto now = httpDate(response.header("Date").value_or("")).value_or(std::time(nullptr));
        most = std::min(most, httpDate(*expires).value_or(0) - now);
    }
    if (most <= 0) return std::nullopt;
    return std::chrono::seconds(most);
}

std::shared_ptr<CachedResponse> copyOf(const Request& request, const Response& response, std::string_view body,
                                       std::chrono::seconds lifetime) {
    auto copy = std::make_shared<CachedResponse>();
    copy->status = response.status();
    copy->contentType = response.header("Content-Type").value_or("");
    response.forEachHeader([&copy](std::string_view name, std::string_view value) {
        if (isKept(name)) copy->fields.emplace_back(name, value);
    });
    copy->body = body;
    if (!addSelecting(*copy, request, joined(response, "Vary"))) return nullptr;
    // A coded body is for who takes that coding, also where the upstream does not say so.
    if (!find(copy->fields, "Content-Encoding").empty() && find(copy->selecting, "Accept-Encoding").data() == nullptr)
        addSelecting(*copy, request, "Accept-Encoding");
    const CacheControl control = CacheControl::of(response);
    copy->forEveryone = control.isPublic || control.sharedMaxAge;
    copy->stored = Clock::now();
    copy->fresh = copy->stored + lifetime;
    return copy;
}

}  // namespace weir::cache
