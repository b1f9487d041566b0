#include "data/schema.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "tests/format/keys.hpp"

using namespace graze;

// Hidden: the test in Python looks into the schema with a JSON reader.
TEST_CASE("writes the schema of the sample keys to the file in GRAZE_SCHEMA", "[.schema]") {
  const char* path = std::getenv("GRAZE_SCHEMA");
  REQUIRE(path != nullptr);
  std::ofstream(path) << json_schema(test::sample_keys(), "sample \"case\"");
}

TEST_CASE("the schema has no numbers that JSON does not know") {
  Key key = test::make_number("x", Range::any(), Value(std::numeric_limits<double>::infinity()));
  const std::string schema = json_schema({key}, "t");
  CHECK(schema.find("inf") == std::string::npos);
  CHECK(schema.find("\"default\"") == std::string::npos);
  key.fallback = Value(2.5);
  CHECK(json_schema({key}, "t").find("\"default\": 2.5") != std::string::npos);
}
