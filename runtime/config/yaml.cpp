#include "config/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "config/messages.hpp"
#include "config/yaml_text.hpp"

namespace weir::config {

namespace {

using base::Mark;
using base::Value;

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxAliased = 16 << 20;  // bytes of memory

Mark markOf(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

std::string at(Mark mark) { return "line " + std::to_string(mark.line) + ", column " + std::to_string(mark.column); }

// Builds the tree from yaml-cpp's events: its own Node loses duplicates, merges and the text of nulls.
class Builder final : public YAML::EventHandler {
public:
    Builder(std::string_view text, YamlLines& lines) : text_(text), lines_(lines) {}

    Value take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ == 0) return;
        throw YamlFault{markOf(mark), "a second document, or text behind the end of the first; expected one document "
                                      "(there are no profiles: each needs a file of its own)"};
    }
    void OnDocumentEnd() override {}
    void OnAnchor(const YAML::Mark&, const std::string&) override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        Mark where = markOf(mark);
        auto pos = static_cast<std::size_t>(mark.pos);
        std::string_view word = nullWord(pos);
        if (!word.empty()) return add(Value::scalar(std::string(word), false, where), anchor);
        if (valueExpected()) {
            const Frame& frame = frames_.back();
            if (!frame.flow && frame.keyPos == pos) {
                throw YamlFault{where, "expected \":\" after " + base::jsonQuote(*frame.key)};
            }
            where = frame.keyMark;  // yaml-cpp names the token behind the missing value
        }
        add(Value::null(where), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (keyExpected()) throw YamlFault{markOf(mark), "expected a key as text, got an alias"};
        auto found = anchors_.find(anchor);
        if (found == anchors_.end()) throw YamlFault{markOf(mark), "an alias inside the value of its own anchor"};
        aliased_ += found->second.size;
        if (aliased_ > kMaxAliased) throw YamlFault{markOf(mark), "aliases expand to more than 16 MiB"};
        addSized(found->second.value, found->second.size, 0);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        bool plain = tag == "?" || plainTag(tag, mark);
        if (tag != "?") lines_.scalar(static_cast<std::size_t>(mark.pos));
        if (!keyExpected()) return add(Value::scalar(text, !plain, markOf(mark)), anchor);
        if (anchor != 0) {
            Value key = Value::scalar(text, !plain, markOf(mark));
            anchors_.insert_or_assign(anchor, Anchored{std::move(key), sizeof(Value) + text.size()});
        }
        startKey(text, !plain, mark);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override {
        open(Value::array(markOf(mark)), tag, anchor, mark, style);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override {
        open(Value::object(markOf(mark)), tag, anchor, mark, style);
    }
    void OnMapEnd() override {
        merge();
        close();
    }

private:
    struct Anchored {
        Value value;
        std::size_t size;
    };
    struct Frame {
        Frame(Value start, YAML::anchor_t name, bool inFlow) : value(std::move(start)), anchor(name), flow(inFlow) {}

        Value value;
        YAML::anchor_t anchor;
        bool flow;
        std::size_t size = sizeof(Value);
        std::optional<std::string> key;  // read, its value not yet
        bool mergeKey = false;
        Mark keyMark;
        std::size_t keyPos = 0;
        std::unordered_map<std::string, Mark> keys;
        std::vector<Value> merges;
    };

    bool keyExpected() const { return !frames_.empty() && frames_.back().value.isObject() && !frames_.back().key; }
    bool valueExpected() const { return !frames_.empty() && frames_.back().key.has_value(); }

    // The core types' tags say what our fields decide themselves; !!str makes a text of it.
    static bool plainTag(const std::string& tag, const YAML::Mark& mark) {
        constexpr std::string_view core = "tag:yaml.org,2002:";
        if (tag == "!") return false;
        if (std::string_view(tag).starts_with(core)) {
            std::string_view type = std::string_view(tag).substr(core.size());
            if (type == "str") return false;
            if (type == "int" || type == "float" || type == "bool" || type == "null") return true;
        }
        throw YamlFault{markOf(mark), "the tag " + base::jsonQuote(tag) + " is not taken here"};
    }

    // How the null at `at` was written, "" when it is a value left out.
    std::string_view nullWord(std::size_t at) const {
        if (at >= text_.size()) return {};
        if (text_[at] == '&') at = std::min(text_.find_first_not_of(' ', text_.find_first_of(" \n", at)), text_.size());
        std::string_view rest = text_.substr(at);
        std::string_view word = rest.substr(0, rest.find_first_of(" \t\n,]}:#"));
        std::size_t next = rest.find_first_not_of(" \t", word.size());
        bool key = next != rest.npos && rest[next] == ':';  // the value was left out, this is the next key
        return !key && Value::scalar(std::string(word), false).isNull() ? word : std::string_view();
    }

    void startKey(const std::string& text, bool quoted, const YAML::Mark& place) {
        Mark mark = markOf(place);
        Frame& frame = frames_.back();
        auto [first, fresh] = frame.keys.emplace(text, mark);
        if (!fresh) {
            throw YamlFault{mark, "the key " + base::jsonQuote(text) + " is there twice in one map, first at " +
                                  at(first->second)};
        }
        frame.key = text;
        frame.keyMark = mark;
        frame.keyPos = static_cast<std::size_t>(place.pos);
        frame.mergeKey = text == "<<" && !quoted;
    }

    void open(Value value, const std::string& tag, YAML::anchor_t anchor, const YAML::Mark& mark,
              YAML::EmitterStyle::value style) {
        if (keyExpected()) {
            throw YamlFault{markOf(mark), "expected a key as text, got " + std::string(value.describe())};
        }
        if (tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:map" && tag != "tag:yaml.org,2002:seq") {
            throw YamlFault{markOf(mark), "the tag " + base::jsonQuote(tag) + " is not taken here"};
        }
        if (frames_.size() == kMaxDepth) throw YamlFault{markOf(mark), "nested deeper than 64 levels"};
        frames_.emplace_back(std::move(value), anchor, style == YAML::EmitterStyle::Flow);
    }

    void close() {
        Frame frame = std::move(frames_.back());
        frames_.pop_back();
        addSized(std::move(frame.value), frame.size, frame.anchor);
    }

    void add(Value value, YAML::anchor_t anchor) {
        if (keyExpected()) {
            throw YamlFault{value.mark(), "expected a key as text, got nothing; quote it if it is meant"};
        }
        std::size_t size = sizeof(Value) + value.text().size();
        addSized(std::move(value), size, anchor);
    }

    void addSized(Value value, std::size_t size, YAML::anchor_t anchor) {
        if (anchor != 0) anchors_.insert_or_assign(anchor, Anchored{value, size});
        if (frames_.empty()) {
            root_ = std::move(value);
            return;
        }
        Frame& frame = frames_.back();
        frame.size += size + (frame.key ? frame.key->size() : 0);
        if (frame.value.isArray()) {
            frame.value.append(std::move(value));
            return;
        }
        if (frame.mergeKey) {
            addMerge(frame, std::move(value));
        } else {
            frame.value.set(std::move(*frame.key), std::move(value), frame.keyMark);
        }
        frame.key.reset();
    }

    static void addMerge(Frame& frame, Value value) {
        std::vector<Value> maps = value.isArray() ? value.items() : std::vector<Value>{value};
        for (Value& map : maps) {
            if (!map.isObject()) {
                throw YamlFault{frame.keyMark, "expected a map, or a list of maps, to merge with <<, got " +
                                               std::string(map.describe())};
            }
            frame.merges.push_back(std::move(map));
        }
    }

    void merge() {
        Frame& frame = frames_.back();
        std::unordered_map<std::string, Mark> merged;
        for (const Value& map : frame.merges) {
            for (const Value::Member& member : map.members()) {
                if (frame.keys.count(member.key)) continue;
                auto [first, fresh] = merged.emplace(member.key, member.keyMark);
                if (!fresh) {
                    throw YamlFault{member.keyMark, "the key " + base::jsonQuote(member.key) +
                                                    " is merged twice into one map, also from " + at(first->second)};
                }
                frame.value.set(member.key, member.value, member.keyMark);
            }
        }
    }

    std::string_view text_;
    YamlLines& lines_;
    int documents_ = 0;
    std::vector<Frame> frames_;
    std::unordered_map<YAML::anchor_t, Anchored> anchors_;
    std::size_t aliased_ = 0;
    Value root_;
};

// yaml-cpp's words for the mistakes people make most, in ours. `at`: where it noticed.
std::string explain(const std::string& message, std::string_view text, std::size_t at) {
    if (at > 0 && text.substr(at - 1).starts_with("${")) return "\"${...}\" inside { } or [ ] needs quotes";
    struct Row {
        std::string_view theirs;
        const char* ours;
    };
    static constexpr Row rows[] = {
        {"illegal map value",
         "a \":\" where no key can stand; check the indentation, or quote a value that contains \": \""},
        {"end of map not found", "expected the next key of this map or less indentation"},
        {"end of sequence not found", "expected the next \"- \" of this list or less indentation"},
        {"end of map flow not found", "expected \",\" or \"}\"; the map opened with \"{\" is not closed"},
        {"end of sequence flow not found", "expected \",\" or \"]\"; the list opened with \"[\" is not closed"},
        {"illegal tab when looking for indentation", "a tab indents this line; expected spaces"},
        {"illegal flow end", "a \"]\" or \"}\" that closes nothing"},
        {"unknown token", "a value cannot begin with this character; quote it"},
        {"the referenced anchor is not defined", "an alias to an anchor that is not defined before it"},
    };
    for (const Row& row : rows) {
        if (message == row.theirs) return row.ours;
    }
    return message;
}

Value build(const std::string& text, YamlLines& lines) {
    std::istringstream stream(text);
    Builder builder(text, lines);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
}

Value parse(std::string_view raw) {
    std::string text = checkedYamlText(raw);
    YamlLines lines(text);
    std::optional<YamlFault> fault;
    Value value;
    try {
        value = build(text, lines);
    } catch (const YAML::Exception& error) {
        // Of its marks at the end of the text only the position is right.
        const auto at = std::min(static_cast<std::size_t>(std::max(error.mark.pos, 0)), text.size());
        fault = YamlFault{markAt(text, at), explain(error.msg, text, at)};
    } catch (const YamlFault& error) {
        fault = error;
    }
    // A tab that indents explains whatever yaml-cpp made of the text behind it.
    auto tab = lines.indentingTab();
    if (tab) {
        Mark mark = markAt(text, *tab);
        if (!fault || mark.line <= fault->mark.line) throw YamlFault{mark, "a tab indents this line; expected spaces"};
    }
    if (fault) throw *fault;
    return value;
}

}  // namespace

base::Result<Value> parseYaml(std::string_view text, std::string_view fileName) {
    try {
        return parse(text);
    } catch (const YamlFault& fault) {
        return invalid(fileName, fault.mark, fault.message);
    } catch (const std::exception& error) {
        return invalid(fileName, {}, std::string("not readable as YAML: ") + error.what());
    }
}

}  // namespace weir::config
