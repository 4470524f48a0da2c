#pragma once

#include "chain/host_patterns.hpp"
#include "unit/sdk/fake_host.hpp"

namespace weir::test {

// The fake gateway with the real one's regular expressions.
inline const weir_host& patternHost() {
    static const weir_host host = [] {
        weir_host table = fakeHost();
        table.pattern_compile = [](const weir_host*, weir_str expression, weir_pattern** out, weir_error* error) {
            weir_error refusal;
            const weir_status status = chain::HostPatterns::compile(nullptr, expression, out, &refusal);
            reinterpret_cast<FakeError*>(error)->text = refusal.text;
            return status;
        };
        table.pattern_release = &chain::HostPatterns::release;
        table.pattern_groups = &chain::HostPatterns::groups;
        table.pattern_find = &chain::HostPatterns::find;
        return table;
    }();
    return host;
}

}  // namespace weir::test
