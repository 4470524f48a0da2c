#include <weir/module.hpp>

namespace {

// More than half of the conditions. Stops asking as soon as the answer is certain.
class Majority final : public weir::MatchStrategy {
    bool match(const weir::Conditions& conditions) const noexcept override {
        const std::uint32_t wanted = conditions.size() / 2 + 1;
        std::uint32_t held = 0;
        for (std::uint32_t i = 0; i < conditions.size() && held + (conditions.size() - i) >= wanted; ++i) {
            if (conditions.holds(i)) ++held;
            if (held == wanted) return true;
        }
        return false;
    }
};

}  // namespace

WEIR_MODULE(weir::matchStrategy<Majority>("majority"))
