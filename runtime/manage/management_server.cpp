#include "manage/management_server.hpp"

#include <system_error>

#include <Poco/Exception.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/ThreadPool.h>

#include "base/log.hpp"
#include "manage/pages.hpp"
#include "net/socket.hpp"

namespace weir::manage {

namespace {

constexpr int kThreads = 4;
constexpr int kQueued = 64;    // connections that wait for a thread; more are closed
constexpr int kTimeout = 10;   // seconds without a byte
constexpr int kBacklog = 64;

class PageHandler final : public Poco::Net::HTTPRequestHandler {
public:
    PageHandler(const Pages& pages, std::uint16_t port) : pages_(pages), port_(port) {}

    void handleRequest(Poco::Net::HTTPServerRequest& request, Poco::Net::HTTPServerResponse& response) override {
        const std::string authorization = request.get("Authorization", "");
        const std::string localKey = request.get("localKey", "");
        // Without a length Poco would read until the client closes.
        const bool hasBody = request.hasContentLength() || request.getChunkedTransferEncoding();
        const PageReply reply = pages_.answer({request.getMethod(), request.getURI(), authorization, localKey,
                                               hasBody ? &request.stream() : nullptr}, port_);
        response.setStatus(static_cast<Poco::Net::HTTPResponse::HTTPStatus>(reply.status));
        response.setReason(Poco::Net::HTTPResponse::getReasonForStatus(response.getStatus()));
        response.setContentType(reply.type.empty() ? "application/json" : reply.type);
        if (!reply.allow.empty()) response.set("Allow", reply.allow);
        if (!reply.challenge.empty()) response.set("WWW-Authenticate", reply.challenge);
        if (request.getMethod() == Poco::Net::HTTPRequest::HTTP_HEAD) {
            response.setContentLength64(static_cast<Poco::Int64>(reply.body.size()));
            response.send();
            return;
        }
        response.sendBuffer(reply.body.data(), reply.body.size());
    }

private:
    const Pages& pages_;
    std::uint16_t port_;
};

class PageHandlerFactory final : public Poco::Net::HTTPRequestHandlerFactory {
public:
    PageHandlerFactory(const Pages& pages, std::uint16_t port) : pages_(pages), port_(port) {}
    Poco::Net::HTTPRequestHandler* createRequestHandler(const Poco::Net::HTTPServerRequest&) override {
        return new PageHandler(pages_, port_);
    }

private:
    const Pages& pages_;
    std::uint16_t port_;
};

// A body that nobody read would be taken for the next request of its connection: one request for each.
Poco::Net::HTTPServerParams* parameters() {
    auto* made = new Poco::Net::HTTPServerParams;  // the server takes it over
    made->setKeepAlive(false);
    made->setTimeout(Poco::Timespan(kTimeout, 0));
    made->setMaxThreads(kThreads);
    made->setMaxQueued(kQueued);
    return made;
}

// Without SO_REUSEPORT, which would silently share the port with another gateway of this user.
Poco::Net::ServerSocket listenOn(const Poco::Net::SocketAddress& address) {
    Poco::Net::ServerSocket socket;
    if (address.family() == Poco::Net::SocketAddress::IPv6) {
        socket.bind6(address, true, false, false);
    } else {
        socket.bind(address, true, false);
    }
    socket.listen(kBacklog);
    return socket;
}

}  // namespace

struct ManagementServer::Running {
    Running(Pages answers, const Poco::Net::ServerSocket& socket)
        : pages(std::move(answers)),
          address(socket.address()),
          threads("management", 1, kThreads),
          server(new PageHandlerFactory(pages, address.port()), threads, socket, parameters()) {
        server.start();
    }
    ~Running() {
        server.stopAll(true);
        threads.joinAll();
    }

    Pages pages;
    Poco::Net::SocketAddress address;
    Poco::ThreadPool threads;
    Poco::Net::HTTPServer server;
};

ManagementServer::ManagementServer(const config::Settings::Management& settings, const StatusSource& source,
                                   const Controls& controls, const config::Secret& localKey)
    : settings_(settings), source_(source), controls_(controls), localKey_(localKey) {}

ManagementServer::~ManagementServer() = default;

base::Result<void> ManagementServer::start() {
    const auto endpoints = net::resolve(settings_.address, static_cast<std::uint16_t>(settings_.port));
    if (!endpoints) return endpoints.error();
    const net::Endpoint& endpoint = endpoints->front();
    try {
        const Poco::Net::SocketAddress address(endpoint.address(), endpoint.length());
        const bool loopback = address.host().isLoopback();
        if (!loopback && settings_.token.empty()) {
            base::logWarning("the management port is not on loopback and there is no weir.management.token: it answers "
                             "403 only");
        }
        running_ = std::make_unique<Running>(Pages(source_, settings_.token, loopback, controls_, localKey_),
                                             listenOn(address));
    } catch (const Poco::Exception& e) {
        return base::Error{base::ErrorCode::Io, endpoint.text(),
                           "cannot listen (management): " +
                               (e.code() ? std::generic_category().message(e.code()) : e.displayText())};
    }
    return {};
}

std::uint16_t ManagementServer::port() const { return running_ ? running_->address.port() : 0; }
std::string ManagementServer::address() const { return running_ ? running_->address.toString() : ""; }
void ManagementServer::stop() { running_.reset(); }

}  // namespace weir::manage
