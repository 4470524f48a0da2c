#pragma once

#include <string>
#include <vector>

#include "weir/fields.hpp"

namespace weir::general_context {

// One attachment of the call.
struct Entry {
    std::string generalContextType;   // where its value is from: given here, or the header generalContextKey
    std::string generalContextKey;
    std::string generalContextValue;  // the value; or what the header is called in the attachments, blank: as it is
    static constexpr auto fields = weir::fields(
        weir::field("generalContextType", &Entry::generalContextType)
            .required()
            .oneOf("addGeneralContext", "transmitHeaderToGeneralContext"),
        weir::field("generalContextKey", &Entry::generalContextKey).required(),
        weir::field("generalContextValue", &Entry::generalContextValue));

    bool fromHeader() const { return generalContextType == "transmitHeaderToGeneralContext"; }
};

// ShenYu's rule handle: the attachments by RPC type.
struct GeneralContextHandle {
    std::vector<Entry> dubbo;
    std::vector<Entry> grpc;
    std::vector<Entry> sofa;
    std::vector<Entry> tars;
    static constexpr auto fields = weir::fields(
        weir::field("dubbo", &GeneralContextHandle::dubbo),
        weir::field("grpc", &GeneralContextHandle::grpc),
        weir::field("sofa", &GeneralContextHandle::sofa),
        weir::field("tars", &GeneralContextHandle::tars));
};

}  // namespace weir::general_context
