/// Names and units as pictures show them.
#include "core/settings/symbol.hpp"

#include <catch2/catch.hpp>

using namespace graze;

TEST_CASE("exponents of units are raised") {
  CHECK(typeset_unit("m s-1") == "m s⁻¹");
  CHECK(typeset_unit("rad") == "rad");
  CHECK(typeset_unit("m2 s-2") == "m² s⁻²");
  CHECK(typeset_unit("N m-1.5") == "N m⁻¹·⁵");
  CHECK(typeset_unit("N.m") == "N.m");
}

TEST_CASE("names spell symbols") {
  CHECK(spelled_symbol("delta") == "δ");
  CHECK(spelled_symbol("x1") == "x₁");
  CHECK(spelled_symbol("mass_ratio") == "mass ratio");
}
