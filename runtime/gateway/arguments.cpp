#include "gateway/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/value.hpp"
#include "config/messages.hpp"
#include "config/settings_table.hpp"

namespace weir::gateway {

namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

struct VerbRow {
    Verb verb;
    std::string_view name;
    std::string_view usage;
    std::string_view help;
};

constexpr VerbRow kVerbs[] = {
    {Verb::Run, "run", "weir run -c FILE [--no-ext-plugins] [--SETTING=VALUE ...]",
     "Runs the gateway in the foreground. SIGTERM, SIGINT and SIGQUIT let what runs end, a second one ends at once;\n"
     "SIGHUP takes changed data over, SIGUSR1 opens the log files again. --no-ext-plugins leaves the directory of\n"
     "extension modules alone, short for --extPlugin.enabled=false.\n"},
    {Verb::Check, "check", "weir check -c FILE [--SETTING=VALUE ...]",
     "Does all that `weir run` does before it opens a port, says what is wrong, and ends: 0 good, 78 not.\n"},
    {Verb::Explain, "explain",
     "weir explain [-c FILE | --url URL [--token TOKEN]] 'METHOD /PATH?QUERY' [-H 'NAME: VALUE' ...] [-d BODY]\n"
     "                    [--client ADDRESS] [--limit N] [--json] [--SETTING=VALUE ...]",
     "Says what would become of a request: for each plugin which selector and rule match and why the others do not,\n"
     "and where it would go. The plugins run as for a request, up to the call of the upstream, which is not made.\n"
     "With -c it is about a gateway as the file describes it, without extension modules; with --url about a running one.\n"
     "\n  -H, --header 'NAME: VALUE'\n      A header of the request; more of them may follow. Host is localhost if it is not among them.\n"
     "\n  -d, --data BODY\n      The request's body.\n"
     "\n  --client ADDRESS\n      Where the request comes from; 127.0.0.1.\n"
     "\n  --limit N\n      Selectors and rules to tell of for each plugin; 20.\n"
     "\n  --json\n      Print the answer of POST /explain as it is.\n"},
    {Verb::PluginList, "plugin list", "weir plugin list [-c FILE] [--url URL [--token TOKEN]] [--SETTING=VALUE ...]",
     "Lists what the modules provide, and which module serves each key. No module is loaded.\n"
     "With --url it asks the management port of a running gateway for what is so now.\n"},
    {Verb::PluginCheck, "plugin check", "weir plugin check MODULE.so [-c FILE] [--SETTING=VALUE ...]",
     "Does all that a running gateway does with a module before it loads it: the checks of the file, of who may write to\n"
     "it and who signed it, and a trial run in a process of its own, with the data of the configuration file if one is\n"
     "given. Ends: 0 good, 65 refused.\n"},
    {Verb::PluginWhy, "plugin why", "weir plugin why MODULE.so [-c FILE] [--SETTING=VALUE ...]",
     "Says what a module provides and needs, whether it would be taken here, and if not, why and what to do.\n"},
    {Verb::PluginDescribe, "plugin describe", "weir plugin describe MODULE.so",
     "Prints what the data of a module's plugins may say, as tables in Markdown: the keys of PluginData.config and of the\n"
     "handles of selectors and rules, with types, defaults, limits and meaning. The module is not loaded.\n"},
    {Verb::PluginInstall, "plugin install", "weir plugin install MODULE.so [-c FILE] [--SETTING=VALUE ...]",
     "Checks a module as `weir plugin check` and puts it into the directory of extension modules, where a running\n"
     "gateway takes it: no half-written file is ever seen. Ends: 0 good, 65 refused.\n"},
    {Verb::Version, "version", "weir version", "Prints the version of weir and of what it was built with.\n"},
};

constexpr std::string_view kExitCodes =
    "\nExit codes: 0 good, 64 wrong usage, 65 a module is refused, 69 an address cannot be used, 70 internal error, 78 wrong configuration.\n";

constexpr std::string_view kUrlHelp =
    "\n  --url URL\n      Of a running gateway's management port, like http://127.0.0.1:9196.\n"
    "\n  --token TOKEN\n      What a management port off loopback asks for: short for --management.token, whose other\n"
    "      ways are better, as every user of this machine sees a command line (ps): the environment's\n"
    "      WEIR_MANAGEMENT_TOKEN, --management.token.file=FILE, or the gateway's own file with -c.\n";

const VerbRow* find(Verb verb) {
    const auto* row = std::ranges::find(kVerbs, verb, &VerbRow::verb);
    return row == std::end(kVerbs) ? nullptr : row;
}

Error wrong(std::string message) { return {ErrorCode::Unsupported, "", std::move(message)}; }

// Paths that an override may name; a secret can be read from elsewhere.
std::vector<std::string> settingPaths() {
    std::vector<std::string> paths;
    for (const config::Setting& setting : config::settingsTable()) {
        paths.emplace_back(setting.path);
        if (!setting.isSecret()) continue;
        paths.push_back(std::string(setting.path) + ".file");
        paths.push_back(std::string(setting.path) + ".env");
    }
    return paths;
}

class Parser {
public:
    explicit Parser(std::span<const std::string_view> words) : words_(words) {}

    Result<Arguments> parse() {
        auto done = parseVerb();
        while (done && !arguments_.help && !words_.empty()) done = parseOption(take());
        if (!done) return done.error();
        if (takesModule() && !arguments_.help && arguments_.module.empty())
            return wrong(std::string(nameOf(arguments_.verb)) + " needs a module's file behind it");
        const bool needsFile = arguments_.verb == Verb::Run || arguments_.verb == Verb::Check;
        if (needsFile && !arguments_.help && arguments_.file.empty()) {
            return wrong(std::string(nameOf(arguments_.verb)) + " needs a configuration file: -c FILE");
        }
        if (arguments_.verb == Verb::Explain && !arguments_.help) {
            if (arguments_.explained.request.empty()) return wrong("explain needs a request behind it: 'GET /path'");
            if (arguments_.file.empty() && arguments_.url.empty())
                return wrong("explain needs a configuration file (-c FILE) or a running gateway (--url URL)");
        }
        return std::move(arguments_);
    }

private:
    std::string_view take() {
        std::string_view word = words_.front();
        words_ = words_.subspan(1);
        return word;
    }

    bool takeHelp() {
        if (words_.empty() || (words_.front() != "--help" && words_.front() != "-h")) return false;
        arguments_.help = true;
        return true;
    }

    Result<void> parseVerb() {
        if (takeHelp()) return {};
        if (words_.empty()) return wrong("expected a verb: run, check, explain, plugin list or version");
        const std::string_view word = take();
        if (word == "plugin") return parsePluginVerb();
        for (const VerbRow& row : kVerbs) {
            if (word == row.name) return arguments_.verb = row.verb, Result<void>();
        }
        const std::string hint = config::didYouMean(word, {"run", "check", "explain", "plugin", "version", "--help"});
        return wrong((word.starts_with("-") ? "unknown option " : "unknown verb ") + base::jsonQuote(word) +
                     (hint.empty() ? "; expected run, check, explain, plugin list or version" : hint));
    }

    Result<void> parsePluginVerb() {
        arguments_.verb = Verb::Plugin;
        if (takeHelp()) return {};
        if (words_.empty()) return wrong("plugin expects list, check, why, describe or install behind it");
        const std::string name = "plugin " + std::string(take());
        for (const VerbRow& row : kVerbs) {
            if (name == row.name) return arguments_.verb = row.verb, Result<void>();
        }
        return wrong("unknown verb " + base::jsonQuote(name) + "; expected plugin list, check, why, describe or install");
    }

    Result<void> parseOption(std::string_view word) {
        if (word == "-h" || word == "--help") return arguments_.help = true, Result<void>();
        if (arguments_.verb == Verb::Explain) {
            if (auto taken = parseExplainOption(word)) return std::move(*taken);
        }
        if (!word.starts_with("-")) {
            if (!takesModule() || !arguments_.module.empty()) return unexpected(word);
            arguments_.module = word;
            return {};
        }
        const bool runs = arguments_.verb == Verb::Run || arguments_.verb == Verb::Check;
        if (runs && word == "--no-ext-plugins") {
            arguments_.overrides.push_back({"extPlugin.enabled", "false"});
            return {};
        }
        const std::size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
        const std::string_view name = word.substr(0, equals);
        const bool file = takesSettings() && (name == "-c" || name == "--config");
        const bool setting = takesSettings() && isSetting(name);
        const bool url = takesUrl() && name == "--url";
        const bool token = takesUrl() && name == "--token";
        if (!file && !setting && !url && !token) return unknownOption(name);

        if (equals == word.npos && words_.empty()) return wrong(std::string(name) + " needs a value behind it");
        const std::string_view value = equals == word.npos ? take() : word.substr(equals + 1);
        if (setting) {
            arguments_.overrides.push_back({std::string(name.substr(2)), std::string(value)});
            return {};
        }
        if (token) {
            arguments_.overrides.push_back({"management.token", std::string(value)});
            return {};
        }
        if (value.empty()) return wrong(std::string(name) + (url ? " needs a URL" : " needs a file's name"));
        const bool twice = url ? !arguments_.url.empty() : !arguments_.file.empty();
        if (twice) return wrong(std::string(name) + " is given twice");
        if (url) arguments_.url = value;
        else arguments_.file = value;
        return {};
    }

    // What only explain takes; nothing: it is another option.
    std::optional<Result<void>> parseExplainOption(std::string_view word) {
        manage::ExplainRequest& request = arguments_.explained;
        if (!word.starts_with("-")) {
            if (!request.request.empty()) return std::nullopt;
            request.request = word;
            // Like curl: a path alone is a GET.
            if (word.starts_with("/")) request.request = "GET " + request.request;
            return Result<void>();
        }
        if (word == "--json") return arguments_.json = true, Result<void>();
        const std::size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
        const std::string_view name = word.substr(0, equals);
        constexpr std::string_view kNames[] = {"-H", "--header", "-d", "--data", "--client", "--limit"};
        if (std::ranges::find(kNames, name) == std::end(kNames)) return std::nullopt;
        if (equals == word.npos && words_.empty()) return wrong(std::string(name) + " needs a value behind it");
        const std::string_view value = equals == word.npos ? take() : word.substr(equals + 1);
        if (name == "-d" || name == "--data") return request.body = value, Result<void>();
        if (name == "--client") return request.client = value, Result<void>();
        if (name == "--limit") {
            const auto end = value.data() + value.size();
            const auto read = std::from_chars(value.data(), end, request.limit);
            if (read.ec != std::errc() || read.ptr != end || value.empty())
                return wrong("--limit expects a whole number, got " + base::jsonQuote(value));
            return Result<void>();
        }
        const std::size_t colon = value.find(':');
        if (colon == value.npos || colon == 0)
            return wrong(std::string(name) + " expects 'NAME: VALUE', got " + base::jsonQuote(value));
        std::string_view text = value.substr(colon + 1);
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        request.headers.emplace_back(value.substr(0, colon), text);
        return Result<void>();
    }

    bool takesUrl() const { return arguments_.verb == Verb::PluginList || arguments_.verb == Verb::Explain; }
    bool takesModule() const {
        return arguments_.verb == Verb::PluginCheck || arguments_.verb == Verb::PluginWhy ||
               arguments_.verb == Verb::PluginDescribe || arguments_.verb == Verb::PluginInstall;
    }
    bool takesSettings() const { return arguments_.verb != Verb::Version; }

    static bool isSetting(std::string_view option) {
        if (!option.starts_with("--")) return false;
        return std::ranges::count(settingPaths(), option.substr(2)) > 0;
    }

    Result<void> unexpected(std::string_view word) const {
        std::string hint = takesSettings() && arguments_.file.empty() ? "; a configuration file goes behind -c" : "";
        return wrong("unexpected " + base::jsonQuote(word) + hint);
    }

    Result<void> unknownOption(std::string_view name) const {
        std::vector<std::string> known = {"--help"};
        if (takesSettings()) {
            known.emplace_back("--config");
            if (arguments_.verb == Verb::Run) known.emplace_back("--no-ext-plugins");
            if (takesUrl()) known.insert(known.end(), {"--url", "--token"});
            if (arguments_.verb == Verb::Explain)
                known.insert(known.end(), {"--header", "--data", "--client", "--limit", "--json"});
            for (const std::string& path : settingPaths()) known.push_back("--" + path);
        }
        const std::string hint = config::didYouMean(name, {known.begin(), known.end()});
        return wrong("unknown option " + base::jsonQuote(name) + hint);
    }

    std::span<const std::string_view> words_;
    Arguments arguments_;
};

}  // namespace

Result<Arguments> parseArguments(std::span<const std::string_view> words) { return Parser(words).parse(); }

std::string_view nameOf(Verb verb) {
    if (verb == Verb::Plugin) return "plugin";
    const VerbRow* row = find(verb);
    return row ? row->name : "";
}

std::string helpText(Verb verb) {
    std::string text;
    const VerbRow* row = find(verb);
    if (!row) {  // `weir` and `weir plugin`
        text = "usage:\n";
        for (const VerbRow& each : kVerbs) {
            if (verb == Verb::None || each.name.starts_with("plugin ")) text += "  " + std::string(each.usage) + "\n";
        }
        text += "\nEach explains itself with --help.\n";
        return text + std::string(verb == Verb::None ? kExitCodes : "");
    }
    text = "usage: " + std::string(row->usage) + "\n\n" + std::string(row->help);
    if (verb == Verb::Version) return text;
    text += "\n  -c, --config FILE\n      The configuration file.\n";
    if (verb == Verb::PluginList || verb == Verb::Explain) text += kUrlHelp;
    text += "\nSettings; the command line goes before the environment, that before `weir:` in the file:\n\n";
    return text + config::describeSettings() + std::string(kExitCodes);
}

}  // namespace weir::gateway
