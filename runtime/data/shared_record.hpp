#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace weir::data {

// A record that never changes, held in common by all versions of the data that have it: copying a list of them copies
// no text, and what was made of a record is known by the record's address to be still good. Reads like the record.
template <class Record>
class Shared {
public:
    Shared(Record record, bool fromCall = false)
        : record_(std::make_shared<const Record>(std::move(record))), fromCall_(fromCall) {}

    operator const Record&() const { return *record_; }
    const Record& operator*() const { return *record_; }
    const Record* operator->() const { return record_.get(); }
    const std::shared_ptr<const Record>& pointer() const { return record_; }

    // Whether a call brought it, not a file.
    bool fromCall() const { return fromCall_; }

private:
    std::shared_ptr<const Record> record_;
    bool fromCall_;
};

// A list of them that versions of the data share until one edits it.
template <class Record>
class SharedList {
public:
    using Records = std::vector<Shared<Record>>;

    auto begin() const { return records_->begin(); }
    auto end() const { return records_->end(); }
    std::size_t size() const { return records_->size(); }
    bool empty() const { return records_->empty(); }
    const Shared<Record>& operator[](std::size_t index) const { return (*records_)[index]; }

    // For who changes it; a copy of its own if others have it too.
    Records& edit() {
        if (records_.use_count() > 1) records_ = std::make_shared<Records>(*records_);
        return *records_;
    }

private:
    std::shared_ptr<Records> records_ = std::make_shared<Records>();
};

}  // namespace weir::data
