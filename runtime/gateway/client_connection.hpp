#pragma once

#include <cstdint>
#include <string_view>

#include "chain/exchange.hpp"
#include "gateway/gateway_loop.hpp"
#include "http/head_writer.hpp"
#include "net/out_queue.hpp"
#include "net/socket.hpp"
#include "upstream/connection.hpp"

namespace weir::gateway {

// One client's connection: reads requests one after the other, carries each through the chain, writes the responses in
// order. Stays on its loop for life. Between requests it holds no buffer and no exchange.
//
// Both bodies stream, each with its own back-pressure: nothing is read from one side while the other has not taken what
// was read before. After a 101 the same two streams carry bytes that nobody looks at (a tunnel).
//
// Its sources: client_connection.cpp (life and events), client_request.cpp (heads and bodies of requests),
// client_call.cpp (the upstream's side), client_response.cpp, collected.cpp (bodies that plugins read).
class ClientConnection final : public net::Source, private chain::Carrier, private upstream::CallListener {
public:
    // Takes fd over; the connection deletes itself when it is over.
    static void open(GatewayLoop& loop, int fd, const net::PeerAddress& peer);
    // The same, but answers 503 to whatever comes and closes.
    static void turnAway(GatewayLoop& loop, int fd, const net::PeerAddress& peer);
    ~ClientConnection() = default;

    // Close as soon as no request runs.
    void drain();
    // Close now: cancels what runs.
    [[gnu::cold]] void abort();

private:
    friend class GatewayLoop;

    enum class Phase : std::uint8_t {
        Idle,       // no byte of the next request is here
        Head,       // some are
        Chain,      // plugins decide
        Response,   // the response is being written
        Drain,      // the response is written, the rest of the request body is thrown away
        Linger,     // our side is closed; what the client still sends is thrown away so that it reads the response
        Dead,       // closed; waits at most for offloaded work of its exchange
    };
    // What the request body is read for.
    enum class Sink : std::uint8_t { None, Call, Collect, Discard };
    // Of a request body: a client may be slow but not at will. Time is counted only while it is waited for.
    struct Pace {
        std::uint64_t waitingSince = 0;  // ms; 0: it is not waited for
        std::uint64_t waited = 0;        // ms
        std::uint64_t bytes = 0;
    };

    static constexpr int kReadsPerWake = 8;  // body reads, then the others have their turn

    ClientConnection(GatewayLoop& loop, const net::PeerAddress& peer);

    // Source
    void onReady() override;
    void onDeferred() override;
    static void onTimer(void* self);

    // Reading requests
    void readHead();
    bool skipBlankLines();
    void parseHead();
    http::ParseError mayServe() const;
    void answerOptions();
    void startRequest();
    [[gnu::cold]] void refuse(int status, std::string_view reason);
    void waitForBody();
    void bodyCame(std::size_t bytes);
    bool stillTakes();
    bool readBodyBytes();
    bool takeBodyBytes();
    void bodyEnded();
    void bodyFault(const http::ParseError& error);
    void askForBody();
    void sendContinue();
    void pumpBody();
    void stopReading();
    void pumpToCall();
    void collect();
    void discard();
    void nextRequest();
    void checkClientGone();

    // Carrier
    void startCall(chain::Exchange& exchange, weir_operation operation) override;
    void cancelCall(chain::Exchange& exchange) override;
    void readBody(chain::Exchange& exchange, weir_operation operation, std::size_t limit) override;
    void cancelReadBody(chain::Exchange& exchange) override;
    void readResponse(chain::Exchange& exchange, weir_operation operation, std::size_t limit) override;
    void cancelReadResponse(chain::Exchange& exchange) override;
    void commit(chain::Exchange& exchange) override;
    void released(chain::Exchange& exchange) override;

    // CallListener
    void onCallInterim() override;
    void onCallHead() override;
    void onCallBody() override;
    void onCallFailed(weir_call why) override;
    void onCallBroken() override;
    void onCallWritten() override;

    // Calling and answering
    void dial(bool fresh);
    upstream::Connection* endCall();
    std::uint64_t noteTime();
    void noteFailure(const upstream::Server& server, weir_call why, std::uint64_t nowNs);
    void sendRequest();
    void restoreBody(weir_call why);
    bool mayReplay() const;
    bool stale(weir_call why) const;
    bool mayRedial(weir_call why) const;
    void queueBody(std::string_view piece, bool last);
    http::ResponseFraming framing();
    void collectResponse();
    void queueResponse(std::string_view piece, bool last);
    [[gnu::cold]] void cutResponse();
    void flush();
    void written();
    void responseOver();
    [[gnu::cold]] void beginTunnel();
    [[gnu::cold]] void tunnelEnded();
    void finishExchange(weir_finish how);
    void account(int status, bool aborted);
    void closeAfterResponse();
    [[gnu::cold]] void close();
    void giveBuffers();

    GatewayLoop& loop_;
    net::Timer timer_;
    net::PeerAddress peer_;
    ClientConnection* next_ = nullptr;   // the loop's list
    ClientConnection** link_ = nullptr;
    net::OutQueue out_;

    chain::Exchange* exchange_ = nullptr;
    http::RequestParser* parser_ = nullptr;
    upstream::Connection* call_ = nullptr;
    net::Buffer* in_ = nullptr;          // holds the head while its exchange lives; then the bytes of the next request
    net::Buffer* bodyIn_ = nullptr;      // request body behind what came with the head
    net::Buffer* heads_ = nullptr;       // response heads of the exchange's calls
    std::string_view piece_;             // request body bytes that nobody has taken yet
    std::string_view firstPiece_;        // those that the call took along with the request's head
    std::uint64_t callBeganNs_ = 0;      // 0: no call waits for its head
    weir_operation operation_ = 0;       // the exchange's, of a call or a collection
    struct Collected {
        char* data = nullptr;
        std::size_t size = 0;
        std::size_t capacity = 0;
        std::size_t limit = 0;

        std::string_view bytes() const { return data ? std::string_view(data, size) : std::string_view("", 0); }
        // `whole`: how large it is going to be, if that is known.
        void add(base::Arena& arena, std::string_view piece, std::size_t whole);
    };
    Collected* collected_ = nullptr;     // in the exchange's arena, as is
    Collected* response_ = nullptr;      // likewise, of the response's body, as far as it was read before commit
    Collected* replay_ = nullptr;        // what the call has got of a body that may be sent again; null: it is not kept
    Pace* pace_ = nullptr;               // likewise, made when the body is waited for first
    std::uint64_t taken_ = 0;            // of the response by the client, when that was asked last
    std::uint64_t bodyBytes_ = 0;        // of the request body, decoded, so far
    char* chunkHeads_ = nullptr;         // in the arena: room for a chunk size line of each direction
    std::uint64_t headEnd_ = 0;          // how far the response's head reaches among the bytes written
    http::ParseError refusal_;           // a body fault, while its exchange is being cancelled

    Phase phase_ = Phase::Idle;
    Sink sink_ = Sink::None;
    bool bodyDone_ = false;        // the request is read to its end
    bool bodyForwarded_ = false;   // and queued to the upstream to its end
    bool chunkedUp_ = false;
    bool chunkedDown_ = false;
    bool bodyless_ = false;        // no body bytes go to the client
    bool endsByClose_ = false;     // the end of the connection is that of the response
    bool responseDone_ = false;    // all of it is queued
    bool keepAlive_ = true;
    bool continued_ = false;       // 100 Continue was sent, or is not needed any more
    bool awaitContinue_ = false;   // the upstream is asked whether it wants the body
    bool upgradeAsked_ = false;    // the upstream may switch protocols
    bool tunnel_ = false;          // and has
    bool eof_ = false;             // the client has closed its side
    bool overLimit_ = false;       // is one too many
    bool redialled_ = false;
    bool collecting_ = false;      // the response's body, for a plugin
    bool committed_ = false;       // a response head was made
    bool accounted_ = false;       // the exchange is counted, and in the access log
    bool running_ = false;         // counted among the loop's requests
};

}  // namespace weir::gateway
