/// Ragged lists and texts of results; branches of format version 1 as version 2 has them.
#include "core/results/ragged.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/version_1.hpp"
#include "tests/format/sample.hpp"

using namespace graze;

namespace {

using I32 = std::vector<std::int32_t>;
using F64 = std::vector<double>;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// A branch as version 1 has it: point k of branch b has the parameter b + k/10, iterate i of its orbit the
/// states 100 b + 10 k + i and the negative of that; its events are b and k.
Group old_branch(int b, int points, int iterates) {
  F64 parameter, states;
  I32 signature;
  Array events{"signature", {"q"}, I32{}, "1", "events of one period", {}, {}};
  for (int k = 0; k < points; ++k) {
    parameter.push_back(b + 0.1 * k);
    for (int i = 0; i < iterates; ++i)
      states.insert(states.end(), {100.0 * b + 10 * k + i, -100.0 * b - 10 * k - i});
    signature.push_back(k);
    events.attributes.emplace_back("signature_" + std::to_string(k),
                                   std::to_string(b) + " and " + std::to_string(k));
  }
  events.values = signature;
  Dataset data;
  data.dimensions = {{"q", parameter.size()}, {"iterate", static_cast<std::size_t>(iterates)}, {"state", 2}};
  data.attributes = {
      {"origin", "start " + std::to_string(b)}, {"begins", "at the border"}, {"ends", "at a fold"}};
  data.arrays = {{"q", {"q"}, parameter, "1", "flow", {}, {}},
                 {"state", {"state"}, std::vector<std::int8_t>{0, 1}, "1", "state", {"x", "v"}, {}},
                 {"orbit_state", {"q", "iterate", "state"}, states, "1", "orbit", {}, {}},
                 events};
  return {std::to_string(b), data};
}

Dataset old_branches() {
  Dataset data;
  data.dimensions = {{"branch_number", 2}};
  data.arrays = {{"points", {"branch_number"}, I32{3, 2}, "1", "points of the branch", {}, {}}};
  Dataset branches;
  branches.groups = {old_branch(0, 3, 1), old_branch(1, 2, 2)};
  data.groups = {{"branch", branches}, {"bifurcation", Dataset()}};
  return data;
}

}  // namespace

TEST_CASE("parts of a ragged list lie one after the other, no value counts as none", "[ragged]") {
  const std::vector<Part> parts = parts_from({"points", {"n"}, I32{2, 0, -1, 3}, "1", "", {}, {}});
  REQUIRE(parts.size() == 4);
  const std::vector<std::size_t> first = {0, 2, 2, 2};
  const std::vector<std::size_t> size = {2, 0, 0, 3};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(parts[k].first == first[k]);
    CHECK(parts[k].size == size[k]);
  }
}

TEST_CASE("a text stands once, whoever has it", "[ragged]") {
  const std::vector<std::string> texts = {"fold", "", "border", "fold"};
  const Array array = text_array("ends", {"n"}, texts, "why");
  CHECK(std::get<I32>(array.values) == I32{0, 1, 2, 0});
  for (std::size_t k = 0; k < texts.size(); ++k) CHECK(text_at(array, k) == texts[k]);
  CHECK(text_at({"ends", {"n"}, I32{5, -1}, "1", "", {}, array.attributes}, 0).empty());
  CHECK(text_at({"ends", {"n"}, I32{5, -1}, "1", "", {}, array.attributes}, 1).empty());
}

TEST_CASE("branches of version 1 become flat arrays, shorter orbits filled up", "[ragged]") {
  const Dataset flat = flat_branches(old_branches());
  CHECK(flat.group("branch") == nullptr);
  CHECK(flat.group("bifurcation") != nullptr);
  CHECK(flat.size("point") == 5);
  CHECK(flat.size("iterate") == 2);
  CHECK(std::get<I32>(flat.at("branch").values) == I32{0, 0, 0, 1, 1});
  CHECK(flat.at("q").dimensions == std::vector<std::string>{"point"});
  CHECK(test::same_values(flat.at("q").values, F64{0, 0.1, 0.2, 1, 1.1}));
  CHECK(test::same_values(flat.at("orbit_state").values,
                          F64{0,    -0,   none, none, 10,  -10,  none, none, 20,  -20,
                              none, none, 100,  -100, 101, -101, 110,  -110, 111, -111}));
  const std::vector<std::string> events = {"0 and 0", "0 and 1", "0 and 2", "1 and 0", "1 and 1"};
  for (std::size_t k = 0; k < events.size(); ++k) CHECK(text_at(flat.at("signature"), k) == events[k]);
  CHECK(text_at(flat.at("origin"), 1) == "start 1");
  CHECK(text_at(flat.at("begins"), 1) == "at the border");
  CHECK(text_at(flat.at("ends"), 0) == "at a fold");

  const Dataset second = slice(flat, "point", parts_from(flat.at("points"))[1]);
  CHECK(second.size("point") == 2);
  CHECK(test::same_values(second.at("q").values, F64{1, 1.1}));
  CHECK(test::same_values(second.at("orbit_state").values, F64{100, -100, 101, -101, 110, -110, 111, -111}));
  CHECK(second.at("state").flags == std::vector<std::string>{"x", "v"});
  CHECK_THROWS_AS(slice(flat, "point", {4, 2}), std::out_of_range);
}

TEST_CASE("branches of version 1 that contradict each other are refused", "[ragged]") {
  Dataset data = old_branches();
  Dataset& second = data.groups[0].data.groups[1].data;
  SECTION("an array is missing") { second.arrays.pop_back(); }
  SECTION("another number of states") {
    second.dimensions[2].size = 1;
    second.at("orbit_state").values = F64{1, 2, 3, 4};
    second.at("state").values = std::vector<std::int8_t>{0};
  }
  SECTION("no dimensions") { second.dimensions.clear(); }
  CHECK_THROWS_AS(flat_branches(data), std::out_of_range);
}
