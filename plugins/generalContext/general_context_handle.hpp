#pragma once

#include <string>
#include <vector>

#include "weir/fields.hpp"

namespace weir::general_context {

// One attachment of the call.
struct Entry {
    std::string generalContextType;
    std::string generalContextKey;
    std::string generalContextValue;
    static constexpr auto fields = weir::fields(
        weir::field("generalContextType", &Entry::generalContextType)
            .required()
            .oneOf("addGeneralContext", "transmitHeaderToGeneralContext")
                .about("addGeneralContext: key and value are given here; transmitHeaderToGeneralContext: the value "
                       "is that of a request header"),
        weir::field("generalContextKey", &Entry::generalContextKey).required()
            .about("the attachment's key; or the header's name"),
        weir::field("generalContextValue", &Entry::generalContextValue)
            .about("the value; or the attachment's key, blank: the header's name"));

    bool fromHeader() const { return generalContextType == "transmitHeaderToGeneralContext"; }
};

// ShenYu's rule handle: the attachments by RPC type.
struct GeneralContextHandle {
    std::vector<Entry> dubbo;
    std::vector<Entry> grpc;
    std::vector<Entry> sofa;
    std::vector<Entry> tars;
    static constexpr auto fields = weir::fields(
        weir::field("dubbo", &GeneralContextHandle::dubbo).about("what a call of that RPC type carries"),
        weir::field("grpc", &GeneralContextHandle::grpc).about("likewise"),
        weir::field("sofa", &GeneralContextHandle::sofa).about("likewise"),
        weir::field("tars", &GeneralContextHandle::tars).about("likewise"));
};

}  // namespace weir::general_context
