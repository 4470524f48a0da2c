#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string>

#include <weir/module.hpp>

namespace {

constexpr std::size_t kMaxLabel = 63;  // RFC 1035, 2.3.4

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Host names compare without case (RFC 4343).
bool sameName(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

// For the domain "shop.example" and the Host "Acme.shop.example:8443" it is "acme": the one label in front of the
// domain, in small letters.
class Tenant final : public weir::ParameterData {
public:
    explicit Tenant(const std::string& domain) : suffix_("." + domain) {
        if (domain.empty()) throw std::invalid_argument("paramName is empty, expected the domain that tenants are in");
        if (domain.front() == '.') throw std::invalid_argument("paramName begins with '.', expected a domain's name");
    }

    std::string_view read(weir::Exchange& exchange) noexcept override {
        std::string_view host = exchange.request().header("host").value_or("");
        host = host.substr(0, host.find(':'));
        if (host.ends_with('.')) host.remove_suffix(1);  // the root's
        if (host.size() <= suffix_.size()) return {};
        const std::string_view label = host.substr(0, host.size() - suffix_.size());
        if (!sameName(host.substr(label.size()), suffix_)) return {};
        if (label.size() > kMaxLabel || label.find('.') != std::string_view::npos) return {};

        if (std::none_of(label.begin(), label.end(), [](char c) { return lower(c) != c; })) return label;
        char text[kMaxLabel];
        std::transform(label.begin(), label.end(), text, lower);
        return exchange.keep({text, label.size()});
    }

private:
    const std::string suffix_;
};

}  // namespace

WEIR_MODULE(weir::parameterData<Tenant>("tenant"))
