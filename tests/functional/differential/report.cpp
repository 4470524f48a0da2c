#include "functional/differential/report.hpp"

#include <algorithm>

namespace weir::functional {

namespace {

constexpr char kIntroduction[] = R"(# Weir beside nginx and HAProxy

The same bytes were sent to all three, in front of the same kind of upstream, by `tests/functional/differential`; its
`corpus.txt` has the bytes, input by input, and this page is made from it. The test holds Weir to its column; another
version of nginx or HAProxy may do otherwise than theirs and is reported, not failed.

How to read a cell: the statuses the client got, in order, then whether the connection went on to serve another request
(kept) or was closed; behind the arrow what reached the upstream as a whole request, or as part of one. Without an arrow
nothing reached it (where the upstream's reply is the input: the plain request did). Only fields out of the ordinary are
named, in braces; bodies in quotes, except "ok". "or": timing decides.

)";

// For a table cell: a bar would end it.
std::string code(const std::string& text) {
    std::string escaped;
    for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
    return "`" + escaped + "`";
}

std::string disagreement(const Input& input) {
    std::string row = "| " + input.name;
    for (const auto& recorded : input.recorded) row += " | " + code(recorded);
    row += " | " + input.why;
    if (!input.safe.empty()) row += ". **Weir is the lenient one:** " + input.safe;
    return row + " |\n";
}

std::string agreement(const Input& input) {
    const auto& all = input.recorded;
    const bool same = all[Weir] == all[Nginx] && all[Weir] == all[Haproxy];
    std::string row = "| " + input.name + " | " + code(all[Weir]) + " |";
    return row + (same ? "" : " " + code(all[Nginx]) + ", " + code(all[Haproxy])) + " |\n";
}

// The rows of one kind, under a heading for each section that has some.
std::string tables(const Corpus& corpus, bool agreements, const std::string& head, std::string (*row)(const Input&)) {
    std::string text;
    std::string section;
    for (const auto& input : corpus.inputs) {
        if (agree(input) != agreements) continue;
        if (input.section != section) {
            section = input.section;
            text += "\n### " + section + "\n\n" + head;
        }
        text += row(input);
    }
    return text;
}

}  // namespace

std::string reportOf(const Corpus& corpus) {
    const auto agreed = static_cast<std::size_t>(std::count_if(corpus.inputs.begin(), corpus.inputs.end(), agree));
    const auto lenient = std::count_if(corpus.inputs.begin(), corpus.inputs.end(),
                                       [](const Input& input) { return !leniencies(input).empty(); });
    std::string text = kIntroduction;
    text += "Tested with " + corpus.tested + ": " + std::to_string(corpus.inputs.size()) + " inputs, " +
            std::to_string(corpus.inputs.size() - agreed) + " disagreements.\nIn " + std::to_string(lenient) +
            " of them Weir takes or passes on what one of the others does not, each for a reason given below.\n";
    text += "\n## Disagreements\n" + tables(corpus, false,
                                            "| input | Weir | nginx | HAProxy | our reason |\n"
                                            "|---|---|---|---|---|\n",
                                            disagreement);
    text += "\n## Agreements\n\nAll three do the same, or all refuse, each in its way.\n" +
            tables(corpus, true, "| input | Weir | nginx, HAProxy, where their words differ |\n|---|---|---|\n",
                   agreement);
    return text;
}

}  // namespace weir::functional
