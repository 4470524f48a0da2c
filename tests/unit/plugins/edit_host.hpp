#pragma once

#include <deque>
#include <map>
#include <string>

#include "unit/plugins/pattern_host.hpp"

namespace weir::test {

// An exchange that remembers what else a plugin that edits can do to it.
struct EditExchange : FakeExchange {
    std::map<std::uint32_t, std::string> attributes;
    bool preserveHost = false;
    std::deque<std::string> shown;  // texts that a plugin got: they live until the exchange ends, whatever it edits

    using FakeExchange::FakeExchange;
    static EditExchange& of(weir_exchange* raw) { return static_cast<EditExchange&>(*raw); }
    weir_str show(weir_str value) { return value.data ? str(shown.emplace_back(text(value))) : value; }

    // All lines of one side, "name: value" each, in order.
    std::string lines(weir_side side) const {
        std::string out;
        for (const auto& [name, value] : fields[side]) out += (out.empty() ? "" : " | ") + name + ": " + value;
        return out;
    }
};

// The fake gateway with the real one's regular expressions, and every edit of a message, for an EditExchange.
inline const weir_host& editHost() {
    static const weir_host host = [] {
        weir_host table = patternHost();
        table.header_get = [](weir_exchange* e, weir_side side, weir_str name) {
            return EditExchange::of(e).show(fakeHost().header_get(e, side, name));
        };
        table.header_at = [](weir_exchange* e, weir_side side, std::size_t i, weir_str* name,
                             weir_str* value) -> std::int32_t {
            if (!fakeHost().header_at(e, side, i, name, value)) return 0;
            *name = EditExchange::of(e).show(*name);
            *value = EditExchange::of(e).show(*value);
            return 1;
        };
        table.header_add = [](weir_exchange* e, weir_side side, weir_str name, weir_str value) {
            FakeExchange::of(e).fields[side].emplace_back(text(name), text(value));
            return WEIR_OK;
        };
        table.header_remove = [](weir_exchange* e, weir_side side, weir_str name) {
            std::erase_if(FakeExchange::of(e).fields[side],
                          [&](const auto& one) { return detail::sameName(one.first, text(name)); });
        };
        table.reply = [](weir_exchange* e, std::int32_t status, weir_str, weir_str body) {
            FakeExchange& exchange = FakeExchange::of(e);
            exchange.status = status;
            exchange.body = text(body);
            exchange.replied = true;
            return WEIR_OK;
        };
        table.attribute_id = [](const weir_host*, weir_str name) { return text(name) == "generalContext" ? 5u : 6u; };
        table.attribute_set = [](weir_exchange* e, std::uint32_t id, weir_str value) {
            EditExchange::of(e).attributes[id] = text(value);
        };
        table.option_set = [](weir_exchange* e, weir_option option, std::int32_t on) {
            if (option == WEIR_OPTION_PRESERVE_HOST) EditExchange::of(e).preserveHost = on;
            return WEIR_OK;
        };
        return table;
    }();
    return host;
}

}  // namespace weir::test
