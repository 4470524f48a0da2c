#pragma once

#include <string>
#include <string_view>

#include "weir/exchange.hpp"
#include "weir/host.hpp"

namespace weir {

// Where conditions with one paramType take their value from (ShenYu's ParameterData). One object for each paramName
// that conditions use, constructed on the control thread from that paramName (`const std::string&`, "" when a condition
// has none); an exception refuses the paramName, with its text.
class ParameterData {
public:
    virtual ~ParameterData() = default;
    // The value for a request; blank or empty: it is missing. It must live until the exchange ends: what the exchange
    // or this object holds does, for a text made here there is Exchange::keep(). May read the exchange, not change it.
    // Loop thread, on several loops at once. Must not block. An exception is logged, and the value is missing.
    virtual std::string_view read(Exchange& exchange) = 0;

protected:
    ParameterData() = default;
    Host host() const { return Host(); }
};

namespace detail {

// The C table of a parameter type's class.
class ParameterDataTable {
public:
    template <class T>
    static weir_parameter_data make(std::string_view key) {
        return {sizeof(weir_parameter_data), 0, str(key), &create<T>, &destroy, &read};
    }

private:
    template <class T>
    static weir_status create(const weir_host* host, weir_str paramName, void** state, weir_error* error) noexcept {
        if (const weir_status adopted = adoptHost(host, error); adopted != WEIR_OK) return adopted;
        return guarded(error, [&] {
            *state = static_cast<ParameterData*>(new T(std::string(view(paramName))));
            return WEIR_OK;
        });
    }
    static void destroy(void* state) noexcept { delete static_cast<ParameterData*>(state); }
    static weir_str read(void* state, weir_exchange* exchange) noexcept {
        auto* parameter = static_cast<ParameterData*>(state);
        return str(answerOr(std::string_view(), "read", [&] { return parameter->read(Exchange::from(exchange)); }));
    }
};

}  // namespace detail

}  // namespace weir
