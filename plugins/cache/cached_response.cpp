#include "cached_response.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <span>

#include "cache_control.hpp"

namespace weir::cache {

namespace {

// Repeatable without being asked for by the upstream (RFC 9110 15.1), less what only fits the request it was made for.
constexpr std::array kStatuses = {200, 203, 300, 301, 308, 404, 410, 414, 501};

// The host's own, of one connection only, or made anew for each reply.
constexpr std::array<std::string_view, 11> kNotKept = {
    "Connection", "Content-Length",      "Transfer-Encoding", "Keep-Alive", "TE",  "Trailer",
    "Upgrade",    "Proxy-Authenticate",  "Proxy-Connection",  "Age",        "Content-Type"};

// Responses that end when somebody leaves, if at all.
constexpr std::array<std::string_view, 4> kStreams = {"text/event-stream", "application/x-ndjson",
                                                      "application/stream+json", "multipart/x-mixed-replace"};

bool isAmong(std::string_view name, std::span<const std::string_view> names) {
    return std::ranges::any_of(names, [name](std::string_view one) { return equalsIgnoreCase(one, name); });
}

bool isStream(std::string_view type) {
    return std::ranges::any_of(
        kStreams, [type](std::string_view stream) { return equalsIgnoreCase(type.substr(0, stream.size()), stream); });
}

// All lines of a field as one list (RFC 9110 5.3).
std::string joined(const FieldViews& fields, std::string_view name) {
    std::string all;
    for (const auto& [field, value] : fields) {
        if (!equalsIgnoreCase(field, name)) continue;
        if (!all.empty()) all += ", ";
        all += value;
    }
    return all;
}
std::string joined(const Headers& headers, std::string_view name) { return joined(fieldsOf(headers), name); }

// The fields that Vary names, of the client's request, which is what they are compared with later. false: there is one
// that no request tells, or that the upstream got another value of.
bool addSelecting(CachedResponse& copy, const FieldViews& asked, const FieldViews& sent, std::string_view list) {
    bool known = true;
    forEachMember(list, [&](std::string_view name) {
        std::string value = joined(asked, name);
        known = name != "*" && value == joined(sent, name);
        if (known) copy.selecting.emplace_back(name, std::move(value));
        return known;
    });
    return known;
}

// Seconds; nullopt: they can not be read.
std::optional<std::int64_t> ageOf(const Response& response) {
    const std::string_view text = response.header("Age").value_or("0");
    std::uint32_t told = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), told);
    if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    const auto made = httpDate(response.header("Date").value_or(""));
    const std::int64_t apparent = made ? std::time(nullptr) - *made : 0;
    return std::max<std::int64_t>(told, apparent);
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

bool CachedResponse::selects(const FieldViews& request) const {
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
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - made);
    response.setHeader("Age", std::to_string(age.count()));
}

RequestUse RequestUse::of(const Request& request) {
    const bool get = request.method() == "GET";
    const CacheControl control = CacheControl::of(request);
    const bool body = request.header("Content-Length").value_or("0") != "0" || request.header("Transfer-Encoding");
    if ((!get && request.method() != "HEAD") || body || control.noStore || request.header("Range")) return {};
    RequestUse use;
    use.store = get;
    use.serve = !control.noCache && control.maxAge != std::optional<std::uint64_t>(0) &&
                !equalsIgnoreCase(request.header("Pragma").value_or(""), "no-cache");
    return use;
}

bool isPersonal(const Request& request) { return request.header("Authorization") || request.header("Cookie"); }

FieldViews fieldsOf(const Headers& headers) {
    FieldViews fields;
    headers.forEachHeader([&fields](std::string_view name, std::string_view value) { fields.emplace_back(name, value); });
    return fields;
}

std::optional<Life> lifeOf(const Response& response, bool personal, std::chrono::seconds timeout) {
    if (std::ranges::find(kStatuses, response.status()) == kStatuses.end()) return std::nullopt;
    const CacheControl control = CacheControl::of(response);
    if (control.noStore || control.noCache || control.isPrivate || response.header("Set-Cookie")) return std::nullopt;
    const bool forEveryone = control.isPublic || control.sharedMaxAge;
    if (personal && !forEveryone) return std::nullopt;
    if (isStream(response.header("Content-Type").value_or(""))) return std::nullopt;
    const auto age = ageOf(response);
    if (!age) return std::nullopt;

    auto most = static_cast<std::int64_t>(timeout.count());
    const auto told = control.sharedMaxAge ? control.sharedMaxAge : control.maxAge;
    if (told) {
        most = std::min(most, static_cast<std::int64_t>(std::min<std::uint64_t>(*told, 0xffffffff)) - *age);
    } else if (const auto expires = response.header("Expires")) {  // one that is no date is past (RFC 9111 5.3)
        const auto made = httpDate(response.header("Date").value_or("")).value_or(std::time(nullptr));
        most = std::min(most, httpDate(*expires).value_or(0) - made - *age);
    }
    if (most <= 0) return std::nullopt;
    return Life{std::chrono::seconds(*age), std::chrono::seconds(most), forEveryone};
}

std::shared_ptr<CachedResponse> copyOf(const Before& before, const Request& request, const Response& response,
                                       std::string_view body, const Life& life) {
    auto copy = std::make_shared<CachedResponse>();
    copy->status = response.status();
    copy->contentType = response.header("Content-Type").value_or("");
    std::vector<std::string_view> hops;
    const std::string connection = joined(response, "Connection");
    forEachMember(connection, [&hops](std::string_view name) {
        hops.push_back(name);
        return true;
    });
    for (const auto& field : fieldsOf(response)) {
        const bool others = std::ranges::find(before.response, field) != before.response.end();
        if (others || isAmong(field.first, kNotKept) || isAmong(field.first, hops)) continue;
        copy->fields.emplace_back(field.first, field.second);
    }
    copy->body = body;
    const FieldViews sent = fieldsOf(request);
    if (!addSelecting(*copy, before.request, sent, joined(response, "Vary"))) return nullptr;
    // A coded body is for who takes that coding, also where the upstream does not say so.
    if (!find(copy->fields, "Content-Encoding").empty() && find(copy->selecting, "Accept-Encoding").data() == nullptr &&
        !addSelecting(*copy, before.request, sent, "Accept-Encoding"))
        return nullptr;
    copy->forEveryone = life.forEveryone;
    const Clock::time_point now = Clock::now();
    copy->made = now - life.age;
    copy->fresh = now + life.left;
    return copy;
}

}  // namespace weir::cache
