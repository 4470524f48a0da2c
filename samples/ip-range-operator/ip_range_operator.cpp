#include "ip_ranges.hpp"

#include <weir/module.hpp>

namespace {

// The list is parsed once, when the data changes; what is thrown there refuses the condition.
class IpRange final : public weir::PredicateJudge {
public:
    explicit IpRange(const weir::Condition& condition) : ranges_(condition.paramValue) {}

    bool judge(std::string_view value) const noexcept override {
        const auto address = IpAddress::parse(value);
        return address && ranges_.contain(*address);
    }

private:
    const IpRanges ranges_;
};

}  // namespace

WEIR_MODULE(weir::predicateJudge<IpRange>("ipRange"))
