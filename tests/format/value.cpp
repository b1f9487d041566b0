#include "core/settings/value.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace graze;

TEST_CASE("a place says as much as is known") {
  CHECK(Place{}.text().empty());
  CHECK(Place{"--set", 0, 0}.text() == "--set");
  CHECK(Place{"a.toml", 3, 0}.text() == "a.toml:3");
  CHECK(Place{"a.toml", 3, 9}.text() == "a.toml:3:9");
}

TEST_CASE("an input error reads place, key, value, rule") {
  CHECK(std::string(InputError({"a.toml", 3, 9}, "model.r1", "1.5", "must satisfy x <= 1").what()) ==
        "a.toml:3:9: model.r1 = 1.5: must satisfy x <= 1");
  CHECK(std::string(InputError(Place{}, "model.name", "", "is missing").what()) == "model.name: is missing");
  const std::string longer = InputError(Place{}, "k", std::string(1000, 'x'), "rule").what();
  CHECK(longer.size() < 120);
  CHECK(longer.find("…: rule") != std::string::npos);
}

TEST_CASE("values are read by type, and only by type") {
  const Value whole(std::int64_t{3});
  const Value real(2.5);
  CHECK(whole.number("k") == 3.0);
  CHECK(whole.integer("k") == 3);
  CHECK(Value(4.0).integer("k") == 4);
  CHECK_THROWS_AS(real.integer("k"), InputError);
  CHECK_FALSE(Value(std::ldexp(1.0, 63)).is_integer());
  CHECK_FALSE(Value(std::numeric_limits<double>::infinity()).is_integer());
  CHECK_FALSE(Value(std::nan("")).is_integer());
  CHECK_THROWS_WITH(Value(Value::Data(true), Place{"f", 1, 2}).number("a.b"),
                    "f:1:2: a.b = true: must be a number");
  CHECK_THROWS_WITH(real.boolean("k"), "k = 2.5: must be true or false");
  CHECK_THROWS_WITH(real.text("k"), "k = 2.5: must be text in quotes");
  CHECK_THROWS_AS(real.array("k"), InputError);
  CHECK_THROWS_AS(real.table("k"), InputError);
}

TEST_CASE("arrays of numbers name the wrong element") {
  const Value numbers(Value::Array{Value(1.0), Value(std::int64_t{2})});
  CHECK(numbers.numbers("k") == std::vector<double>{1, 2});
  const Value wrong(Value::Array{Value(1.0), Value("two")});
  CHECK_THROWS_WITH(wrong.numbers("k"), "k.1 = \"two\": must be a number");
  const Value row(Value::Array{Value(1.0)});
  const Value ragged(Value::Array{numbers, row});
  CHECK(Value(Value::Array{numbers, numbers}).matrix("k") ==
        std::vector<std::vector<double>>{{1, 2}, {1, 2}});
  CHECK_THROWS_WITH(ragged.matrix("k"), Catch::Contains("k.1 = [1.0]") && Catch::Contains("equally long"));
}

TEST_CASE("tables are read and set by name") {
  Value table;
  table.set("a", Value(1.0));
  table.set("b", Value(2.0));
  table.set("a", Value(3.0));
  CHECK(table.table("t").size() == 2);
  CHECK(table.at("a").number("a") == 3.0);
  CHECK(table.find("c") == nullptr);
  CHECK_THROWS_WITH(table.at("c"), "c: is missing");
  table.set("a", Value());
  CHECK(table.find("a") == nullptr);
  Value number(1.0);
  CHECK_THROWS_AS(number.set("a", Value(1.0)), InputError);
}

TEST_CASE("TOML text can be read back") {
  CHECK(Value(1.0).toml() == "1.0");
  CHECK(Value(0.1).toml() == "0.1");
  CHECK(Value(1e300).toml() == "1e+300");
  CHECK(Value(-std::numeric_limits<double>::infinity()).toml() == "-inf");
  CHECK(Value(std::nan("")).toml() == "nan");
  CHECK(Value(std::int64_t{-5}).toml() == "-5");
  CHECK(Value("a\"b\\c\n\t\x01").toml() == "\"a\\\"b\\\\c\\n\\t\\u0001\"");
  Value inner;
  inner.set("x y", Value(Value::Array{Value(true), Value("é")}));
  Value table;
  table.set("k", inner);
  CHECK(table.toml() == "{ k = { \"x y\" = [true, \"é\"] } }");
  CHECK(Value(Value::Table{}).toml() == "{}");
}

TEST_CASE("the nearest name is near enough or none") {
  const std::vector<std::string> names{"delta", "d1", "transient", "restitution"};
  CHECK(nearest_name("detla", names) == "delta");  // neighbours swapped
  CHECK(nearest_name("Delta", names) == "delta");
  CHECK(nearest_name("transients", names) == "transient");
  CHECK(nearest_name("resttution", names) == "restitution");
  CHECK(nearest_name("d7", names) == "d1");
  CHECK(nearest_name("trans", names) == "transient");  // how it begins
  CHECK(nearest_name("frequency", names).empty());
  CHECK(nearest_name("x", {}).empty());
}
