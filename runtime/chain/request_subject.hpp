#pragma once

#include "chain/exchange.hpp"
#include "match/subject.hpp"

namespace weir::chain {

// What conditions see of an exchange.
class RequestSubject final : public match::Subject {
public:
    explicit RequestSubject(Exchange& exchange) : exchange_(exchange) {}

    std::string_view uri() const noexcept override { return exchange_.rewrittenPath(); }
    std::string_view method() const noexcept override { return exchange_.request.method; }
    std::string_view rawQuery() const noexcept override { return exchange_.request.query; }
    std::string_view domain() const noexcept override;
    std::string_view clientIp() const noexcept override;
    std::string_view header(std::string_view name) const noexcept override {
        return exchange_.request.fields.get(name);
    }
    std::string_view contextField(match::ContextField field) const noexcept override;
    weir_exchange* exchange() const noexcept override { return &exchange_; }

private:
    std::string_view startDateTime() const noexcept;

    Exchange& exchange_;
};

}  // namespace weir::chain
