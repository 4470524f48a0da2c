#pragma once

#include <string>

#include "mock_template.hpp"
#include "weir/fields.hpp"

namespace weir::mock {

// ShenYu's rule handle. One that says neither mocks nothing.
struct MockHandle {
    int httpStatusCode = 0;       // 0: not given, which is 200
    std::string responseContent;  // with placeholders, see mock_template.hpp
    static constexpr auto fields = weir::fields(
        weir::field("httpStatusCode", &MockHandle::httpStatusCode).range(200, 999)
            .about("of the answer; 200 when it is not given"),
        weir::field("responseContent", &MockHandle::responseContent).about("body of the answer, with placeholders"));

    Template content;  // made when the handle is prepared

    bool mocks() const { return httpStatusCode != 0 || !responseContent.empty(); }
    int status() const { return httpStatusCode == 0 ? 200 : httpStatusCode; }
};

}  // namespace weir::mock
