#pragma once

#include <memory>
#include <utility>

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

}  // namespace weir::data
