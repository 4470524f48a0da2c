#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "weir/abi.h"
#include "weir/arena.hpp"
#include "weir/error.hpp"
#include "weir/text.hpp"

namespace weir {

class Exchange;
class BodyAwaiter;          // task.hpp
class ResponseBodyAwaiter;  // task.hpp

// What a plugin answers from onRequest().
enum class Answer {
    Execute = 0,           // never reaches the host: execute(), which the plugin overrides too, takes this request
    Next = WEIR_FORWARD,   // go on with the next plugin
    Reply = WEIR_REPLY,    // the response is set: the plugins that were entered see it on their way back
};

// Routing state that matching and the upstream request read.
enum class Slot {
    RealUrl = WEIR_SLOT_REAL_URL,
    ContextPath = WEIR_SLOT_CONTEXT_PATH,
    RewriteUri = WEIR_SLOT_REWRITE_URI,
    RewriteContextPath = WEIR_SLOT_REWRITE_CONTEXT_PATH,
    RpcType = WEIR_SLOT_RPC_TYPE,
    Module = WEIR_SLOT_MODULE,
    Method = WEIR_SLOT_METHOD,
};

// How the last upstream call of an exchange ended.
enum class Call {
    None = WEIR_CALL_NONE,
    Ok = WEIR_CALL_OK,
    Refused = WEIR_CALL_REFUSED,
    ConnectTimeout = WEIR_CALL_CONNECT_TIMEOUT,
    Timeout = WEIR_CALL_TIMEOUT,
    Reset = WEIR_CALL_RESET,
    BadReply = WEIR_CALL_BAD_REPLY,
    Unresolved = WEIR_CALL_UNRESOLVED,
};

// What the data says of a service's method (ShenYu's MetaData). Texts live until the exchange ends; one that the data
// leaves out is empty.
struct Metadata {
    std::string_view id;
    std::string_view appName;
    std::string_view contextPath;
    std::string_view path;
    std::string_view rpcType;
    std::string_view serviceName;
    std::string_view methodName;
    std::string_view parameterTypes;
    std::string_view rpcExt;  // JSON
};

// The fields of a message. Names compare without case. Texts that are returned live until the exchange ends.
class Headers {
public:
    Headers(weir_exchange* exchange, weir_side side) : exchange_(exchange), side_(side) {}

    // The first line's value; nullopt when there is none.
    std::optional<std::string_view> header(std::string_view name) const {
        const weir_str value = detail::hostTable->header_get(exchange_, side_, detail::str(name));
        if (!value.data) return std::nullopt;
        return detail::view(value);
    }
    std::size_t headerCount() const { return detail::hostTable->header_count(exchange_, side_); }

    // Replaces all lines of that name. false when the name or value is not one HTTP allows, or is the host's own
    // (Connection, Content-Length, Transfer-Encoding).
    bool setHeader(std::string_view name, std::string_view value) {
        return detail::hostTable->header_set(exchange_, side_, detail::str(name), detail::str(value)) == WEIR_OK;
    }
    bool addHeader(std::string_view name, std::string_view value) {
        return detail::hostTable->header_add(exchange_, side_, detail::str(name), detail::str(value)) == WEIR_OK;
    }
    void removeHeader(std::string_view name) {
        detail::hostTable->header_remove(exchange_, side_, detail::str(name));
    }
    // Calls visit(name, value) for each line, in order.
    template <class Visit>
    void forEachHeader(Visit visit) const {
        weir_str name{};
        weir_str value{};
        for (std::size_t i = 0; detail::hostTable->header_at(exchange_, side_, i, &name, &value); ++i)
            visit(detail::view(name), detail::view(value));
    }

protected:
    weir_exchange* exchange_;
    weir_side side_;
};

class Request : public Headers {
public:
    explicit Request(weir_exchange* exchange) : Headers(exchange, WEIR_REQUEST) {}

    std::string_view method() const { return part(WEIR_PART_METHOD); }
    std::string_view target() const { return part(WEIR_PART_TARGET); }       // origin-form, as received
    std::string_view path() const { return part(WEIR_PART_PATH); }           // undecoded, up to '?'
    std::string_view query() const { return part(WEIR_PART_QUERY); }         // undecoded, behind '?'
    std::string_view clientAddress() const { return part(WEIR_PART_CLIENT_ADDRESS); }
    std::string_view id() const { return part(WEIR_PART_REQUEST_ID); }

    // The query that later plugins and the upstream get, without '?'; data null: none. false when it has bytes that no
    // request target has.
    bool setQuery(std::string_view query) {
        return detail::hostTable->query_set(exchange_, detail::str(query)) == WEIR_OK;
    }

    // co_await: the whole body, at most `limit` bytes; buffered, so that a second next() is possible. Throws
    // Error(413) past the limit. Bytes live until the exchange ends.
    [[nodiscard]] BodyAwaiter body(std::size_t limit);
    // Another body, copied; the host sets its length. false: the client's streams and was not read by body().
    bool setBody(std::string_view bytes) {
        return detail::hostTable->request_body_set(exchange_, detail::str(bytes)) == WEIR_OK;
    }

private:
    std::string_view part(weir_part which) const { return detail::view(detail::hostTable->part(exchange_, which)); }
};

class Response : public Headers {
public:
    explicit Response(weir_exchange* exchange) : Headers(exchange, WEIR_RESPONSE) {}

    int status() const { return detail::hostTable->status_get(exchange_); }  // 0 while there is no response
    bool setStatus(int status) { return detail::hostTable->status_set(exchange_, status) == WEIR_OK; }

    // co_await, behind the upstream's call: the whole body, empty when the response has none. nullopt: it has more than
    // `limit` bytes, or is a switch of protocols, and goes to the client as if nobody had read it. Throws Error(502)
    // when it broke off. Bytes live until the exchange ends.
    [[nodiscard]] ResponseBodyAwaiter body(std::size_t limit);
    // Another body, copied; the host sets its length. false: no body can come with this response.
    bool setBody(std::string_view bytes) {
        return detail::hostTable->response_body_set(exchange_, detail::str(bytes)) == WEIR_OK;
    }
};

// One request and its response, on one loop's thread. Lives until finished() has run and every coroutine of it is gone;
// references to it stay valid across every co_await.
class Exchange : private weir_exchange {
public:
    Exchange() = delete;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    static Exchange& from(weir_exchange* raw) { return static_cast<Exchange&>(*raw); }
    weir_exchange* raw() { return this; }

    Request request() { return Request(this); }
    Response response() { return Response(this); }

    std::string_view slot(Slot which) const {
        return detail::view(detail::hostTable->slot_get(self(), static_cast<weir_slot>(which)));
    }
    void setSlot(Slot which, std::string_view value) {
        detail::hostTable->slot_set(this, static_cast<weir_slot>(which), detail::str(value));
    }
    // Other values that travel with the exchange, by an id from Host::attributeId().
    std::optional<std::string_view> attribute(std::uint32_t id) const {
        const weir_str value = detail::hostTable->attribute_get(self(), id);
        if (!value.data) return std::nullopt;
        return detail::view(value);
    }
    void setAttribute(std::uint32_t id, std::string_view value) {
        detail::hostTable->attribute_set(this, id, detail::str(value));
    }

    // A copy of a text that lives until the exchange ends. Empty, with a null pointer, when there is no memory for it.
    std::string_view keep(std::string_view text) noexcept {
        if (text.empty()) return std::string_view("", 0);
        try {
            char* copy = static_cast<char*>(detail::arenaAllocate(*this, text.size()));
            std::memcpy(copy, text.data(), text.size());
            return {copy, text.size()};
        } catch (const std::bad_alloc&) {
            return {};
        }
    }

    // The bytes of a body in the content coding that Content-Encoding names: gzip, x-gzip, deflate or identity; "" is
    // identity. nullopt: another coding, malformed, or more than `limit` bytes. Live until the exchange ends.
    std::optional<std::string_view> decode(std::string_view coding, std::string_view body, std::size_t limit) {
        weir_str out{};
        if (detail::hostTable->content_decode(this, detail::str(coding), detail::str(body), limit, &out) != WEIR_OK)
            return std::nullopt;
        return detail::view(out);
    }

    // Attaches the enabled metadata entry whose path matches; false: there is none, and what was attached stays. Other
    // plugins see the same one.
    bool findMetadata(std::string_view path) { return detail::hostTable->metadata_find(this, detail::str(path)) != 0; }
    // The attached entry; nullopt when none is.
    std::optional<Metadata> metadata() const {
        weir_metadata raw{};
        raw.size = sizeof raw;
        if (!detail::hostTable->metadata_get(self(), &raw)) return std::nullopt;
        return Metadata{detail::view(raw.id),           detail::view(raw.app_name),    detail::view(raw.context_path),
                        detail::view(raw.path),         detail::view(raw.rpc_type),    detail::view(raw.service_name),
                        detail::view(raw.method_name),  detail::view(raw.parameter_types),
                        detail::view(raw.rpc_ext)};
    }

    // Sets the whole response. From onRequest: `return exchange.reply(...)`; in a coroutine: call it and co_return.
    Answer reply(int status, std::string_view body, std::string_view contentType = "text/plain; charset=utf-8") {
        detail::hostTable->reply(this, status, detail::str(contentType), detail::str(body));
        return Answer::Reply;
    }
    // ShenYu's error envelope {"code": code, "message": message} under an HTTP status.
    Answer replyError(int status, int code, std::string_view message) {
        detail::hostTable->reply_error(this, status, code, detail::str(message));
        return Answer::Reply;
    }

    // The request goes through the chain again from its start, as one for `target`: a path, with a query or else with
    // the client's. Used as reply() is. The plugins entered so far are dropped without their return parts, what they
    // did to request and response is undone; attributes stay, and finished() runs once for each. Throws Error(500)
    // for a target that is none, after WEIR_DISPATCHES times, and when the request's body is gone.
    Answer redispatch(std::string_view target) {
        switch (detail::hostTable->redispatch(this, detail::str(target))) {
            case WEIR_OK: return Answer::Reply;
            case WEIR_TOO_LARGE: throw Error(500, -1, "the request was dispatched anew too often already");
            case WEIR_IO: throw Error(500, -1, "the request can not be dispatched anew, its body is gone");
            default: throw Error(500, -1, "the request can not be dispatched to '" + std::string(target) + "'");
        }
    }

    // Where the request goes: set by a proxy plugin, carried out by httpClient. An index of `set`'s usable upstreams.
    void setRoute(const weir_route& route) { detail::hostTable->route_set(this, &route); }
    std::optional<weir_route> route() const {
        weir_route route{};
        route.size = sizeof route;
        if (!detail::hostTable->route_get(self(), &route)) return std::nullopt;
        return route;
    }
    // A balancer's choice; -1 when no upstream is left. `excluded`: one bit per index, null: none.
    int pickUpstream(weir_upstream_set* set, std::uint32_t balancer, const std::uint64_t* excluded = nullptr) {
        return detail::hostTable->upstream_pick(this, set, balancer, excluded);
    }
    // How many indexes the set has.
    static std::uint32_t upstreamCount(const weir_upstream_set* set) { return detail::hostTable->upstream_count(set); }
    // After an upstream call that failed: whether the request can be sent again, because nothing of it was sent or its
    // method is idempotent, and its body is still there.
    bool mayRepeatCall() { return detail::hostTable->upstream_repeat(this, 0) != WEIR_REPEAT_NEVER; }
    // Whether to make the next call now; false: too many are being repeated already, ask again later.
    bool beginRepeat() { return detail::hostTable->upstream_repeat(this, 1) == WEIR_REPEAT_NOW; }
    // A GET that asks to switch protocols (WebSocket) is passed on as such; without this it goes as a plain request.
    // After the upstream's 101 the exchange is a byte tunnel that no plugin sees into; finished() tells its end.
    void allowUpgrade(bool on = true) { detail::hostTable->option_set(this, WEIR_OPTION_ALLOW_UPGRADE, on); }
    // The upstream gets the client's Host, not its own host:port.
    void preserveHost(bool on = true) { detail::hostTable->option_set(this, WEIR_OPTION_PRESERVE_HOST, on); }
    Call callResult() const { return static_cast<Call>(detail::hostTable->call_result(self())); }

private:
    weir_exchange* self() const { return const_cast<Exchange*>(this); }
};

}  // namespace weir
