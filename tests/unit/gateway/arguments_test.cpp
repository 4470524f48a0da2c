#include "gateway/arguments.hpp"

#include "support/catch.hpp"

using namespace weir;
using namespace weir::gateway;

namespace {

using Words = std::vector<std::string_view>;

Arguments good(const Words& words) {
    auto parsed = parseArguments(words);
    INFO((parsed ? "" : parsed.error().text()));
    REQUIRE(parsed);
    return std::move(*parsed);
}

std::string problem(const Words& words) {
    auto parsed = parseArguments(words);
    return parsed ? "" : parsed.error().text();
}

}  // namespace

TEST_CASE("the words of a command become verb, file and overrides") {
    Arguments run = good({"run", "-c", "weir.yaml", "--server.port=0", "--extPlugin.scheduleTime", "1"});
    CHECK(run.verb == Verb::Run);
    CHECK(run.file == "weir.yaml");
    CHECK_FALSE(run.help);
    REQUIRE(run.overrides.size() == 2);
    CHECK(run.overrides[0].path == "server.port");
    CHECK(run.overrides[0].text == "0");
    CHECK(run.overrides[1].path == "extPlugin.scheduleTime");
    CHECK(run.overrides[1].text == "1");

    CHECK(good({"check", "--config", "a b.yaml"}).file == "a b.yaml");
    CHECK(good({"check", "--config=-c"}).file == "-c");
    CHECK(good({"version"}).verb == Verb::Version);
    CHECK(good({"plugin", "list"}).verb == Verb::PluginList);
    CHECK(good({"plugin", "list"}).file.empty());
    CHECK(good({"plugin", "list", "-c", "f"}).file == "f");
    const Arguments running = good({"plugin", "list", "--url=http://a:1", "--token", "t", "-c", "f"});
    CHECK(running.url == "http://a:1");
    CHECK(running.file == "f");
    REQUIRE(running.overrides.size() == 1);
    CHECK(running.overrides[0].path == "management.token");
    CHECK(running.overrides[0].text == "t");
}

TEST_CASE("explain takes a request, its headers and body, and where to ask") {
    const Arguments file = good({"explain", "-c", "f", "GET /x?y=1", "-H", "a: b", "--header=Host:x", "-d", "{}",
                                 "--client", "10.0.0.1", "--limit=3", "--json"});
    CHECK(file.verb == Verb::Explain);
    CHECK(file.explained.request == "GET /x?y=1");
    REQUIRE(file.explained.headers.size() == 2);
    CHECK(file.explained.headers[0] == std::pair<std::string, std::string>("a", "b"));
    CHECK(file.explained.headers[1] == std::pair<std::string, std::string>("Host", "x"));
    CHECK(file.explained.body == "{}");
    CHECK(file.explained.client == "10.0.0.1");
    CHECK(file.explained.limit == 3);
    CHECK(file.json);
    CHECK(good({"explain", "/x", "--url", "http://a:1"}).explained.request == "GET /x");

    CHECK(problem({"explain", "-c", "f"}) == "explain needs a request behind it: 'GET /path'");
    CHECK(problem({"explain", "/x"}) ==
          "explain needs a configuration file (-c FILE) or a running gateway (--url URL)");
    CHECK(problem({"explain", "-c", "f", "/x", "/y"}) == "unexpected \"/y\"");
    CHECK(problem({"explain", "-c", "f", "/x", "-H", "none"}) == "-H expects 'NAME: VALUE', got \"none\"");
    CHECK(problem({"explain", "-c", "f", "/x", "--limit", "many"}) ==
          "--limit expects a whole number, got \"many\"");
    CHECK(problem({"explain", "-c", "f", "/x", "-H"}) == "-H needs a value behind it");
    CHECK(problem({"explain", "-c", "f", "/x", "--jason"}) == "unknown option \"--jason\"; did you mean \"--json\"?");
    CHECK(problem({"check", "-c", "f", "--json"}).starts_with("unknown option"));
}

TEST_CASE("a value is taken as it is, also when it looks like an option or is empty") {
    Arguments run = good({"run", "-c", "f", "--management.token=a=b --x", "--log.file", "--help", "--extPlugin.path="});
    CHECK_FALSE(run.help);
    REQUIRE(run.overrides.size() == 3);
    CHECK(run.overrides[0].text == "a=b --x");
    CHECK(run.overrides[1].text == "--help");
    CHECK(run.overrides[2].text.empty());
    CHECK(good({"run", "-c", "f", "--management.token.file=t"}).overrides[0].path == "management.token.file");
}

TEST_CASE("help needs nothing else") {
    struct Row { Words words; Verb verb; };
    const Row rows[] = {
        {{"--help"}, Verb::None},
        {{"-h"}, Verb::None},
        {{"run", "--help"}, Verb::Run},
        {{"run", "-c", "f", "-h", "--nonsense"}, Verb::Run},
        {{"check", "-h"}, Verb::Check},
        {{"plugin", "--help"}, Verb::Plugin},
        {{"plugin", "list", "--help"}, Verb::PluginList},
        {{"version", "--help"}, Verb::Version},
    };
    for (const Row& row : rows) {
        Arguments parsed = good(row.words);
        CHECK(parsed.help);
        CHECK(parsed.verb == row.verb);
        CHECK_THAT(helpText(row.verb), Catch::StartsWith("usage:"));
    }
}

TEST_CASE("help names the settings where they are taken") {
    for (Verb verb : {Verb::Run, Verb::Check, Verb::PluginList}) {
        CHECK_THAT(helpText(verb), Catch::Contains("--server.port=9195") && Catch::Contains("WEIR_SERVER_PORT") &&
                                       Catch::Contains("weir " + std::string(nameOf(verb))));
    }
    CHECK_THAT(helpText(Verb::PluginList), Catch::Contains("--url") && Catch::Contains("WEIR_MANAGEMENT_TOKEN"));
    CHECK(helpText(Verb::Run).find("--url") == std::string::npos);
    CHECK(helpText(Verb::Version).find("server.port") == std::string::npos);
    CHECK_THAT(helpText(Verb::None), Catch::Contains("weir run -c FILE") && Catch::Contains("weir plugin list"));
}

TEST_CASE("what is wrong is named with what is near it") {
    struct Row { Words words; const char* error; };
    const Row rows[] = {
        {{}, "expected a verb: run, check, explain, plugin list or version"},
        {{"rum"}, "unknown verb \"rum\"; did you mean \"run\"?"},
        {{"chekc"}, "unknown verb \"chekc\"; did you mean \"check\"?"},
        {{"frobnicate"}, "unknown verb \"frobnicate\"; expected run, check, explain, plugin list or version"},
        {{"--hepl"}, "unknown option \"--hepl\"; did you mean \"--help\"?"},
        {{"-c", "f"}, "unknown option \"-c\"; expected run, check, explain, plugin list or version"},
        {{"plugin"}, "plugin expects list, check, why, describe or install behind it"},
        {{"plugin", "lst"}, "unknown verb \"plugin lst\"; expected plugin list, check, why, describe or install"},
        {{"run"}, "run needs a configuration file: -c FILE"},
        {{"check"}, "check needs a configuration file: -c FILE"},
        {{"check", "weir.yaml"}, "unexpected \"weir.yaml\"; a configuration file goes behind -c"},
        {{"run", "-c", "f", "g"}, "unexpected \"g\""},
        {{"version", "x"}, "unexpected \"x\""},
        {{"version", "-c", "f"}, "unknown option \"-c\""},
        {{"run", "-c"}, "-c needs a value behind it"},
        {{"run", "-c", ""}, "-c needs a file's name"},
        {{"run", "-c", "f", "--config=g"}, "--config is given twice"},
        {{"run", "-c", "f", "--server.port"}, "--server.port needs a value behind it"},
        {{"run", "-c", "f", "--server.prot=1"}, "unknown option \"--server.prot\"; did you mean \"--server.port\"?"},
        {{"run", "-c", "f", "--no-such-option"}, "unknown option \"--no-such-option\""},
        {{"run", "-c", "f", "--server"}, "unknown option \"--server\""},
        {{"run", "-c", "f", "--server.po=1"}, "unknown option \"--server.po\"; did you mean \"--server.port\"?"},
        {{"run", "-c", "f", "--daemon"}, "unknown option \"--daemon\""},
        {{"run", "-c", "f", "--"}, "unknown option \"--\""},
        {{"run", "-cf"}, "unknown option \"-cf\""},
        {{"run", "-c", "f", "--url=http://a"}, "unknown option \"--url\""},
        {{"plugin", "list", "--ulr=x"}, "unknown option \"--ulr\"; did you mean \"--url\"?"},
        {{"plugin", "list", "--url"}, "--url needs a value behind it"},
        {{"plugin", "list", "--url="}, "--url needs a URL"},
        {{"plugin", "list", "--url=a", "--url=b"}, "--url is given twice"},
    };
    for (const Row& row : rows) CHECK(problem(row.words) == row.error);
}
