#include "data/data_snapshot.hpp"

#include <array>
#include <cerrno>
#include <ctime>
#include <set>
#include <system_error>

#include "base/digest.hpp"
#include "base/replace_file.hpp"
#include "base/utc_time.hpp"
#include "config/messages.hpp"
#include "config/text_file.hpp"
#include "data/record_reader.hpp"
#include "data/record_writer.hpp"

namespace weir::data {

namespace {

using base::Result;
using base::Value;
namespace fs = std::filesystem;

constexpr std::string_view kVersion = "1";
constexpr std::string_view kSumLine = "sha256 ";
constexpr std::array<std::string_view, 5> kKinds = {"plugin", "selector", "rule", "metadata", "appAuth"};  // EntryKind

struct ToValue {
    Value operator()(const std::monostate&) const { return Value::null(); }
    Value operator()(const AppAuthData& auth) const { return toValue(auth, Secrets::Written); }
    template <class Record>
    Value operator()(const Record& record) const { return toValue(record); }
};

Value toValue(const SavedChange& change) {
    Value value = Value::object();
    value.set("kind", Value::scalar(std::string(kKinds[static_cast<std::size_t>(change.key.kind)]), true));
    value.set("plugin", Value::scalar(change.key.plugin, true));
    value.set("id", Value::scalar(change.key.id, true));
    value.set("fileHash", Value::scalar(change.fileHash, true));
    value.set("record", std::visit(ToValue{}, change.content));
    return value;
}

std::string toText(const std::vector<SavedChange>& changes) {
    std::string text = "{\"version\":" + std::string(kVersion) + ",\"changes\":[";
    const char* separator = "\n";
    for (const SavedChange& change : changes) {
        text += separator + base::toJson(toValue(change));
        separator = ",\n";
    }
    text += "\n]}\n";
    return text + std::string(kSumLine) + base::sha256Hex(text) + "\n";
}

base::Error failed(const fs::path& file, const std::string& what, int number) {
    return {base::ErrorCode::Io, file.string(), what + ": " + std::generic_category().message(number)};
}

// Reads what toText wrote; its errors mean that the file is damaged.
class SnapshotReader {
public:
    SnapshotReader(const fs::path& file, std::vector<std::string>& warnings)
        : file_(file.string()), reader_(file_, RecordReader::Mode::Lenient, warnings) {}

    Result<std::vector<SavedChange>> read(std::string_view text) {
        const std::size_t sumLength = kSumLine.size() + 64 + 1;
        if (text.size() < sumLength) return damaged({}, "it is too short");
        const std::string_view body = text.substr(0, text.size() - sumLength);
        if (text.substr(body.size()) != std::string(kSumLine) + base::sha256Hex(body) + "\n") {
            return damaged({}, "its checksum is not that of its content");
        }
        const auto tree = base::parseJson(body);
        if (!tree) return tree.error();
        const Value* version = tree->find("version");
        const Value* changes = tree->find("changes");
        if (!version || version->text() != kVersion || !changes || !changes->isArray()) {
            return damaged(tree->mark(), "it has another layout than version " + std::string(kVersion));
        }
        std::vector<SavedChange> read;
        for (const Value& item : changes->items()) {
            auto change = readChange(item);
            if (!change) return change.error();
            if (!seen_.insert(change->key).second) return damaged(item.mark(), "an entry is there twice");
            read.push_back(std::move(*change));
        }
        return read;
    }

private:
    Result<SavedChange> readChange(const Value& item) {
        const Value* record = item.find("record");
        SavedChange change;
        for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
            if (textOf(item, "kind") == kKinds[kind]) change.key.kind = static_cast<EntryKind>(kind);
        }
        if (kKinds[static_cast<std::size_t>(change.key.kind)] != textOf(item, "kind") || !record) {
            return damaged(item.mark(), "an entry of an unknown kind");
        }
        change.key.plugin = textOf(item, "plugin");
        change.key.id = textOf(item, "id");
        change.fileHash = textOf(item, "fileHash");
        if (record->isNull()) return change;
        switch (change.key.kind) {
            case EntryKind::Plugin: return fill(std::move(change), reader_.readPlugin(*record), item);
            case EntryKind::Selector: return fill(std::move(change), reader_.readSelector(*record), item);
            case EntryKind::Rule: return fill(std::move(change), reader_.readRule(*record), item);
            case EntryKind::MetaData: return fill(std::move(change), reader_.readMetaData(*record), item);
            case EntryKind::AppAuth: return fill(std::move(change), reader_.readAppAuth(*record), item);
        }
        return change;
    }

    template <class Record>
    Result<SavedChange> fill(SavedChange change, Result<Record> record, const Value& item) {
        if (!record) return record.error();
        if (keyOf(*record) != change.key) return damaged(item.mark(), "a record under another key than its own");
        change.content = std::move(*record);
        return change;
    }

    static std::string textOf(const Value& item, std::string_view key) {
        const Value* value = item.find(key);
        return value ? value->text() : "";
    }

    base::Error damaged(base::Mark mark, std::string message) const {
        return config::invalid(file_, mark, std::move(message));
    }

    std::string file_;
    RecordReader reader_;
    std::set<EntryKey> seen_;
};

Result<std::string> setAside(const fs::path& file) {
    const std::string aside = file.string() + ".damaged-" + base::utcText(std::time(nullptr), "%Y%m%dT%H%M%SZ");
    if (::rename(file.c_str(), aside.c_str()) != 0) return failed(file, "damaged, and cannot be renamed", errno);
    return aside;
}

}  // namespace

Result<void> saveSnapshot(const fs::path& file, const std::vector<SavedChange>& changes) {
    return base::replaceFile(file, toText(changes), 0600);
}

Result<std::vector<SavedChange>> loadSnapshot(const fs::path& file, std::vector<std::string>& warnings) {
    std::error_code unknown;
    if (!fs::exists(file, unknown) && !unknown) return std::vector<SavedChange>{};
    auto text = config::readTextFile(file);
    if (!text) return text.error();
    auto read = SnapshotReader(file, warnings).read(*text);
    if (read) return read;
    auto aside = setAside(file);
    if (!aside) return aside.error();
    warnings.push_back("the snapshot is damaged and ignored: " + read.error().text() + "; it is now " + *aside);
    return std::vector<SavedChange>{};
}

}  // namespace weir::data
