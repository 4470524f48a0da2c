#pragma once

// Catch2 2.13 (Debian 12) and Catch2 3 name their headers differently; the tests use what both have.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
