#include "match/value_source.hpp"

#include <utility>

#include "base/ascii.hpp"
#include "base/value.hpp"
#include "match/anchor.hpp"

namespace weir::match {
namespace {

using Kind = ValueSource::Kind;

struct BuiltIn {
    std::string_view name;
    Kind kind;
    bool named;  // needs a paramName; the others ignore it
};
constexpr BuiltIn kBuiltIn[] = {
    {"uri", Kind::Uri, false},          {"header", Kind::Header, true}, {"query", Kind::Query, true},
    {"cookie", Kind::Cookie, true},     {"host", Kind::ClientIp, false}, {"ip", Kind::ClientIp, false},
    {"req_method", Kind::Method, false}, {"domain", Kind::Domain, false}, {"post", Kind::Post, true},
};

struct Field {
    std::string_view name;
    ContextField field;
};
constexpr Field kFields[] = {
    {"path", ContextField::Path},
    {"realUrl", ContextField::RealUrl},
    {"module", ContextField::Module},
    {"method", ContextField::Method},
    {"rpcType", ContextField::RpcType},
    {"httpMethod", ContextField::HttpMethod},
    {"contextPath", ContextField::ContextPath},
    {"startDateTime", ContextField::StartDateTime},
    {"sign", ContextField::Sign},
    {"timestamp", ContextField::Timestamp},
    {"appKey", ContextField::AppKey},
};

base::Error refused(std::string message) { return {base::ErrorCode::InvalidConfig, "", std::move(message)}; }

base::Result<ContextField> contextField(const std::string& name) {
    std::vector<std::string_view> known;
    for (const auto& field : kFields) {
        if (field.name == name) return field.field;
        known.push_back(field.name);
    }
    std::string message = "paramName '" + name + "' is no field of the request's context";
    const std::string_view nearest = base::nearest(name, known);
    if (!nearest.empty()) message.append(", did you mean '").append(nearest).append("'?");
    return refused(std::move(message));
}

// The part of `text` before `separator`, which is removed from `text` together with it.
std::string_view takeUntil(std::string_view& text, char separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    countSteps(part.size() + 1);
    text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
    return part;
}

// The first value of the query parameter `name`, decoded; "" when it is absent.
std::string_view queryValue(std::string_view query, std::string_view name, DecodeBuffer& buffer) {
    while (!query.empty()) {
        std::string_view value = takeUntil(query, '&');
        const std::string_view key = takeUntil(value, '=');
        if (buffer.decode(key, DecodeBuffer::Plus::Space) == name) {
            return buffer.decode(value, DecodeBuffer::Plus::Space);
        }
    }
    return {};
}

// The first cookie called `name` of a Cookie field (RFC 6265, 4.2.1), without quotes around it; "" when it is absent.
std::string_view cookieValue(std::string_view field, std::string_view name) {
    while (!field.empty()) {
        std::string_view value = takeUntil(field, ';');
        if (trim(takeUntil(value, '=')) != name) continue;
        value = trim(value);
        const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
        return quoted ? value.substr(1, value.size() - 2) : value;
    }
    return {};
}

}  // namespace

std::string_view trim(std::string_view text) {
    const std::size_t size = text.size();
    while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
    while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
    countSteps(size - text.size() + 1);
    return text;
}

std::vector<std::string_view> ValueSource::types() {
    std::vector<std::string_view> names;
    for (const auto& type : kBuiltIn) names.push_back(type.name);
    return names;
}

base::Result<ValueSource> ValueSource::bind(const std::string& paramType, const std::string& paramName,
                                            const Providers& providers) {
    ValueSource source;
    for (const auto& type : kBuiltIn) {
        if (type.name != paramType) continue;
        if (type.named && paramName.empty()) {
            return refused("paramName is empty, expected the name of the " + paramType);
        }
        source.kind_ = type.kind;
        if (type.named) source.name_ = type.kind == Kind::Header ? base::toLower(paramName) : paramName;
    }
    if (source.kind_ == Kind::None) {
        const auto provided = providers.parameterTypes.find(paramType);
        if (provided == providers.parameterTypes.end()) return base::Error{base::ErrorCode::NotFound, "", ""};
        auto reader = provided->second->bind(paramName);
        if (!reader) return std::move(reader).error();
        source.kind_ = Kind::Provided;
        source.name_ = paramName;
        source.type_ = provided->second;
        source.reader_ = std::move(reader).value();
    }
    if (source.kind_ == Kind::Post) {
        const auto field = contextField(paramName);
        if (!field) return field.error();
        source.field_ = *field;
    }
    // Values of one module are not those of its next generation, even under the same name.
    const auto type = reinterpret_cast<std::uintptr_t>(source.type_.get());
    source.slot_ = static_cast<std::uint64_t>(source.kind_);
    if (!source.name_.empty() || type) source.slot_ = mixKey(source.slot_ ^ type, Hash::of(source.name_)) | kNamed;
    return source;
}

std::string_view ValueSource::readOther(const Subject& subject, DecodeBuffer& buffer) const noexcept {
    switch (kind_) {
        case Kind::None: return {};
        case Kind::Uri: break;  // read() itself does that
        case Kind::Header: return subject.header(name_);
        case Kind::Query: return queryValue(subject.rawQuery(), name_, buffer);
        case Kind::Cookie: return cookieValue(subject.header("cookie"), name_);
        case Kind::Method: return subject.method();
        case Kind::Domain: return subject.domain();
        case Kind::ClientIp: return subject.clientIp();
        case Kind::Post: return subject.contextField(field_);
        case Kind::Provided: return reader_->read(subject);
    }
    return {};
}

}  // namespace weir::match
