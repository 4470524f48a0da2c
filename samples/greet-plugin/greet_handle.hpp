#pragma once

#include <string>

#include <weir/fields.hpp>

struct GreetHandle {
    std::string text = "hello";
    static constexpr auto fields = weir::fields(weir::field("text", &GreetHandle::text));
};
