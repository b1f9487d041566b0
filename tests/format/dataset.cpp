#include "core/results/dataset.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

#include "tests/format/sample.hpp"

using namespace graze;

TEST_CASE("sizes and arrays of a dataset are found by name") {
  Dataset data = test::sample_whole();
  CHECK(data.size("delta") == test::deltas);
  CHECK_THROWS_WITH(data.size("omega"), "no dimension omega");
  CHECK(data.elements(data.at("map_state")) == 2 * 11 * 3 * 2);
  CHECK(data.find("omega") == nullptr);
  CHECK_THROWS_AS(data.at("omega"), std::out_of_range);
  data.at("period").unit = "s";
  CHECK(static_cast<const Dataset&>(data).at("period").unit == "s");
  CHECK(data.elements(Array{}) == 1);
}

TEST_CASE("values are read by name and type") {
  const Dataset data = test::sample_whole();
  CHECK(&data.values<std::int32_t>("period") ==
        &std::get<std::vector<std::int32_t>>(data.at("period").values));
  CHECK(data.values<double>("delta").size() == test::deltas);
  CHECK_THROWS_WITH(data.values<double>("period"), "the values of period are of type std::int32_t");
  CHECK_THROWS_WITH(data.values<double>("omega"), "no array omega");
}

TEST_CASE("a box has as many points as its counts multiply to") {
  CHECK(Box{{5, 1}, {3, 4}}.points() == 12);
  CHECK(Box{}.points() == 1);
}

TEST_CASE("missing values are nan for numbers and -1 for integers") {
  const auto numbers = std::get<std::vector<double>>(missing_values(std::vector<double>{}, 3));
  CHECK(numbers.size() == 3);
  CHECK(std::isnan(numbers[2]));
  CHECK(missing_values(std::vector<std::int8_t>{}, 2) == Array::Values(std::vector<std::int8_t>{-1, -1}));
  CHECK(missing_values(std::vector<std::int64_t>{7}, 1) == Array::Values(std::vector<std::int64_t>{-1}));
}
