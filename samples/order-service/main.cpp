// The backend of the quickstart: the routes of ShenYu's HTTP example, and a few that echo, wait, fail or answer at
// length. It trusts its callers and is no example of a hardened service.
#include "call.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/NumberParser.h>

#include <csignal>
#include <iostream>

using namespace order_service;

namespace {

constexpr int kDefaultPort = 8189;  // as ShenYu's example

constexpr auto kHelp = R"(order-service: the example backend of the quickstart.

usage: order-service [--address A] [--port N]
  --address A   where to listen (default 127.0.0.1)
  --port N      port (default 8189); 0 takes a free one and says which
  --help        this text
)";

struct Options {
    std::string address = "127.0.0.1";
    int port = kDefaultPort;
    bool help = false;
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        std::string name = argv[i];
        if (name == "--help") {
            options.help = true;
            continue;
        }
        if (name != "--port" && name != "--address") throw Poco::SyntaxException("unknown option " + name);
        if (++i == argc) throw Poco::SyntaxException(name + " needs a value");
        if (name == "--address") {
            options.address = argv[i];
        } else {
            options.port = Poco::NumberParser::parse(argv[i]);
            if (options.port < 0 || options.port > 65535) throw Poco::RangeException("no port number", argv[i]);
        }
    }
    return options;
}

const std::vector<Route>& routes() {
    static const auto all = [] {
        auto table = orderRoutes();
        for (auto& more : {testRoutes(), toolRoutes()}) table.insert(table.end(), more.begin(), more.end());
        return table;
    }();
    return all;
}

bool accepts(const Route& route, const std::string& method) {
    std::string wanted = route.method;
    return wanted == "*" || wanted == method || (wanted == "GET" && method == "HEAD");
}

void replyError(Call& call, int status, const std::string& message) {
    Poco::JSON::Object answer(Poco::JSON_PRESERVE_KEY_ORDER);
    answer.set("code", status);
    answer.set("message", message);
    call.reply(answer, status);
}

void dispatch(Call& call) {
    for (const auto& route : routes()) {
        if (accepts(route, call.method()) && call.matches(route.pattern)) {
            route.run(call);
            return;
        }
    }
    replyError(call, 404, "no such route: " + call.method() + " " + call.path());
}

class Handler : public Poco::Net::HTTPRequestHandler {
    void handleRequest(Poco::Net::HTTPServerRequest& request, Poco::Net::HTTPServerResponse& response) override {
        Call call(request, response);
        try {
            dispatch(call);
        } catch (const Poco::Exception& error) {  // no JSON, no number: the caller's fault
            if (response.sent()) throw;
            replyError(call, 400, error.displayText());
        }
    }
};

class HandlerFactory : public Poco::Net::HTTPRequestHandlerFactory {
    Poco::Net::HTTPRequestHandler* createRequestHandler(const Poco::Net::HTTPServerRequest&) override {
        return new Handler;
    }
};

int serve(const Options& options) {
    // Blocked before the first thread starts, so that only the sigwait below sees them.
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ending, nullptr);

    Poco::Net::ServerSocket socket;
    socket.bind(Poco::Net::SocketAddress(options.address, static_cast<Poco::UInt16>(options.port)), true);
    socket.listen(1024);
    auto* parameters = new Poco::Net::HTTPServerParams;  // the server takes it over
    parameters->setMaxThreads(64);
    parameters->setMaxQueued(1024);
    parameters->setMaxKeepAliveRequests(0);  // no limit
    parameters->setKeepAliveTimeout(Poco::Timespan(60, 0));
    Poco::ThreadPool threads(4, 64);
    Poco::Net::HTTPServer server(new HandlerFactory, threads, socket, parameters);
    server.start();
    std::cout << "order-service listening on " << socket.address().toString() << std::endl;

    int signal = 0;
    sigwait(&ending, &signal);
    server.stopAll(true);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        auto options = parse(argc, argv);
        if (options.help) {
            std::cout << kHelp;
            return 0;
        }
        return serve(options);
    } catch (const Poco::Exception& error) {
        std::cerr << "order-service: " << error.displayText() << "\n";
        return 1;
    }
}
