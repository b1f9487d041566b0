#include "core/settings/parameter.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "core/system/event.hpp"
#include "core/system/outcome.hpp"
#include "tests/analyses.hpp"
#include "tests/format/keys.hpp"

using namespace graze;
using namespace graze::test;
using Catch::Contains;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Value ball() {
  Value model;
  model.set("name", "ball");
  Value root;
  root.set("graze", Value(std::int64_t{1}));
  root.set("model", model);
  return root;
}

Value chain(Value stops) {
  Value root = ball();
  Value& model = *root.find("model");
  model.set("name", "chain");
  model.set("mass", Value(Value::Array{Value(Value::Array{Value(std::int64_t{2})})}));
  model.set("stops", std::move(stops));
  return root;
}

Value analysis(const std::string& name, Value setting) {
  Value table;
  table.set(name, std::move(setting));
  Value root = ball();
  root.set("analysis", table);
  return root;
}

Value check(const Value& root) { return checked(root, test::sample_keys(), ""); }

}  // namespace

TEST_CASE("ranges contain what their text says, never nan") {
  CHECK(Range::any().contains(inf));
  CHECK_FALSE(Range::finite().contains(inf));
  CHECK_FALSE(Range::finite().contains(-inf));
  CHECK(Range::positive().contains(1e-300));
  CHECK_FALSE(Range::positive().contains(0));
  CHECK(Range::non_negative().contains(0));
  CHECK(Range::unit().contains(1));
  CHECK_FALSE(Range::unit().contains(1.0000001));
  for (const Range& range : {Range::any(), Range::finite(), Range::positive(), Range::unit()})
    CHECK_FALSE(range.contains(std::nan("")));
  CHECK(Range::any().text() == "any number");
  CHECK(Range::finite().text() == "x finite");
  CHECK(Range::positive().text() == "0 < x < inf");
  CHECK(Range::unit().text() == "0 <= x <= 1");
  CHECK(Range{0, inf, true, false}.text() == "0 < x");
  CHECK(Range{-inf, 0.5, false, true}.text() == "x < 0.5");
}

TEST_CASE("defaults are filled in, whole numbers become numbers") {
  Value root = ball();
  root.find("model")->set("height", Value(std::int64_t{2}));
  const Value result = check(root);
  CHECK(std::get<double>(result.at("model").at("height").data()) == 2.0);
  CHECK(result.at("model").at("restitution").number("") == 0.7);
  CHECK(result.at("analysis").at("map").text("") == "stroboscopic");
  CHECK(result.at("analysis").at("transient").integer("") == 100);
  CHECK_FALSE(result.at("analysis").at("follow").boolean(""));
  CHECK(result.at("analysis").find("axis") == nullptr);   // has a required key, so it is not made up
  CHECK(result.at("analysis").find("limit") == nullptr);  // has no default
}

TEST_CASE("the order of keys in the file does not matter") {
  Value other;
  other.set("model", ball().at("model"));
  other.set("graze", Value(std::int64_t{1}));
  CHECK(check(other).toml() == check(ball()).toml());
}

TEST_CASE("unknown keys are errors with the nearest valid one") {
  Value root = ball();
  root.find("model")->set("hieght", Value(2.0));
  CHECK_THROWS_WITH(check(root), "model.hieght = 2.0: unknown key; did you mean height?");
  root = ball();
  root.set("mdoel", Value(1.0));
  CHECK_THROWS_WITH(check(root), Contains("did you mean model?"));
  root = ball();
  root.find("model")->set("wavelength", Value(2.0));
  CHECK_THROWS_WITH(check(root), Contains("unknown key; valid: name, height, restitution"));
  // a key of another variant is unknown here
  root = ball();
  root.find("model")->set("mass", Value(2.0));
  CHECK_THROWS_WITH(check(root), Contains("model.mass") && Contains("unknown key"));
}

TEST_CASE("missing keys are errors at the table that lacks them") {
  Value root = ball();
  root.set("model", Value(Value::Table{}, Place{"c.toml", 4, 2}));
  CHECK_THROWS_WITH(check(root), "c.toml:4:2: model.name: is missing; one of ball, chain");
  Value empty{Value::Table{}};
  CHECK_THROWS_WITH(check(empty), "graze: is missing");
  CHECK_THROWS_WITH(check(chain(Value(Value::Array{Value(Value::Table{})}))),
                    "model.stops.0.position: is missing");
}

TEST_CASE("values are checked against type, choices and range") {
  Value root = ball();
  root.find("model")->set("name", "bal");
  CHECK_THROWS_WITH(check(root), "model.name = \"bal\": must be one of ball, chain; did you mean ball?");
  root = ball();
  root.find("model")->set("height", Value(0.0));
  CHECK_THROWS_WITH(check(root), "model.height = 0.0: must satisfy 0 < x < inf");
  root.find("model")->set("height", Value(std::nan("")));
  CHECK_THROWS_WITH(check(root), "model.height = nan: must be a number, not nan");
  root.find("model")->set("height", Value("tall"));
  CHECK_THROWS_WITH(check(root), "model.height = \"tall\": must be a number");

  CHECK_THROWS_WITH(check(analysis("limit", Value(std::nan("")))), Contains("not nan"));
  CHECK(check(analysis("limit", Value(inf))).at("analysis").at("limit").number("") == inf);
  CHECK_THROWS_WITH(check(analysis("transient", Value(1.5))), Contains("must be a whole number"));
  CHECK_THROWS_WITH(check(analysis("transient", Value(std::int64_t{-1}))), Contains("0 <= x"));
  CHECK(std::get<std::int64_t>(
            check(analysis("transient", Value(1e3))).at("analysis").at("transient").data()) == 1000);
  CHECK_THROWS_WITH(check(analysis("follow", Value(std::int64_t{1}))), Contains("must be true or false"));
  CHECK_THROWS_WITH(check(analysis("map", "stroboscopc")), Contains("did you mean stroboscopic?"));
  CHECK_THROWS_WITH(check(analysis("axis", Value(1.0))), Contains("analysis.axis") && Contains("table"));
  CHECK_THROWS_WITH(check(analysis("levels", Value(Value::Array{Value(1.0), Value(inf)}))),
                    "analysis.levels.1 = inf: must satisfy x finite");
}

TEST_CASE("tables in arrays are checked one by one and get their defaults") {
  Value stop;
  stop.set("position", Value(0.3));
  const Value result = check(chain(Value(Value::Array{stop, stop})));
  const Value::Array& stops = result.at("model").at("stops").array("");
  CHECK(stops.size() == 2);
  CHECK(stops[1].at("restitution").number("") == 0.5);
  stop.set("restitution", Value(2.0));
  CHECK_THROWS_WITH(check(chain(Value(Value::Array{stop}))),
                    "model.stops.0.restitution = 2.0: must satisfy 0 <= x <= 1");
  Value root = chain(Value(Value::Array{}));
  root.find("model")->set("mass", Value(1.0));
  CHECK_THROWS_WITH(check(root), Contains("model.mass = 1.0: must be an array"));
}

TEST_CASE("a parameter's key has all that the parameter has") {
  Parameter parameter;
  parameter.name = "delta";
  parameter.unit = "rad/s";
  parameter.meaning = "forcing frequency";
  parameter.value = 0.16;
  parameter.range = Range::positive();
  const Key key = parameter_key(parameter);
  Value given{Value::Table{}};
  CHECK(checked(given, {key}, "model").at("delta").number("") == 0.16);
  given.set("delta", Value(-1.0));
  CHECK_THROWS_WITH(checked(given, {key}, "model"), "model.delta = -1.0: must satisfy 0 < x < inf");
  CHECK(key.unit == "rad/s");
  CHECK(key.meaning == "forcing frequency");
}

TEST_CASE("every event and outcome has its name in its place") {
  CHECK(event_names().size() == static_cast<std::size_t>(EventKind::jump) + 1);
  CHECK(event_names().at(static_cast<std::size_t>(EventKind::release)) == "release");
  CHECK(event_names().at(static_cast<std::size_t>(EventKind::section)) == "section");
  CHECK(outcome_names().size() == static_cast<std::size_t>(Outcome::bad_jump) + 1);
  CHECK(outcome_names().at(static_cast<std::size_t>(Outcome::painleve)) == "painleve");
  CHECK(outcome_names().back() == "bad_jump");
  for (std::size_t k = 0; k < outcome_names().size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      CHECK(advice(static_cast<Outcome>(k)) != advice(static_cast<Outcome>(j)));
}

TEST_CASE("Parameters stand at their indices, whatever order they are written in") {
  const Parameter a{{"a", "1", ""}, 1, Range::any()}, b{{"b", "1", ""}, 2, Range::any()};
  const std::vector<Parameter> list = by_index({{1, b}, {0, a}});
  REQUIRE(list.size() == 2);
  CHECK(list[0].name == "a");
  CHECK(list[1].name == "b");
  CHECK_THROWS_AS(by_index({{0, a}, {0, b}}), std::logic_error);
  CHECK_THROWS_AS(by_index({{0, a}, {2, b}}), std::logic_error);
}

TEST_CASE("States and stops of long chains are told apart in results: 200 states, stop 36 of 40 closed") {
  const int masses = 100, stops = 40, closed = 35;
  std::string identity, pushes, list;
  for (int i = 0; i < masses; ++i) {
    identity += i > 0 ? ", [" : "[";
    for (int j = 0; j < masses; ++j) identity += (j > 0 ? "," : "") + std::string(i == j ? "1" : "0");
    identity += "]";
    pushes += (i > 0 ? "," : "") + std::string(i == closed ? "1" : "0");
  }
  for (int c = 0; c < stops; ++c) {
    list += "[[model.stop]]\nposition = " + std::string(c == closed ? "0" : "1") + "\nnormal = [";
    for (int j = 0; j < masses; ++j) list += (j > 0 ? "," : "") + std::string(c == j ? "1" : "0");
    list += "]\n";
  }
  const std::string model = "name = 'linear_stops'\nmass = [" + identity + "]\nstiffness = [" + identity +
                            "]\nconstant = [" + pushes + "]\n" + list;
  const Problem problem = make_problem("simulate", model, "end_time = 0.5\nsamples = 3");
  const Dataset result = result_of(*make_analysis("simulate", problem));
  const auto& mode = std::get<std::vector<std::int64_t>>(result.at("mode").values);
  REQUIRE(!mode.empty());
  CHECK(mode.back() == std::int64_t{1} << closed);
  const auto& component = std::get<std::vector<std::int32_t>>(result.at("component").values);
  REQUIRE(component.size() == 2 * masses);
  CHECK(component.back() == 2 * masses - 1);
}
