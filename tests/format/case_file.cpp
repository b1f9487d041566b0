#include "data/case_file.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/settings/parameter.hpp"
#include "tests/format/keys.hpp"
#include "tests/format/sample.hpp"

using namespace graze;
using Catch::Contains;

namespace {

const std::string good = R"(# a comment
graze = 1
title = "β"

[model]
name = "chain"
mass = [[2, 0.0], [0.0, 1]]

[[model.stops]]
position = 0.3
[[model.stops]]
position = -0.3

[analysis]
axis = { from = 1e-1, parameter = "delta" }
)";

struct Case {
  test::Folder folder;
  std::string path = folder.file("case.toml");

  explicit Case(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  CaseFile read(const std::vector<std::string>& overrides = {}) const { return read_case(path, overrides); }
  Value check(const std::vector<std::string>& overrides = {}) const {
    return checked(read(overrides).root, test::sample_keys(), "");
  }
};

}  // namespace

TEST_CASE("a case file is read with positions, in its order, verbatim") {
  const Case file(good);
  const CaseFile result = file.read({"title=x"});
  CHECK(result.text == good);
  CHECK(result.path == file.path);
  CHECK(result.overrides == std::vector<std::string>{"title=x"});
  const Value& axis = result.root.at("analysis").at("axis");
  CHECK(axis.place().text() == file.path + ":15:1");
  CHECK(axis.table("")[0].first == "from");                            // not sorted by name
  CHECK(axis.at("parameter").place().text() == file.path + ":15:36");  // the text itself
  const Value& stop = result.root.at("model").at("stops").array("")[1];
  CHECK(stop.at("position").place().line == 12);
  CHECK(result.root.at("model").at("mass").matrix("") == std::vector<std::vector<double>>{{2, 0}, {0, 1}});
  CHECK(file.check().at("model").at("stops").array("").size() == 2);
}

TEST_CASE("errors point at the line and column of the setting") {
  const Case file(good);
  CHECK_THROWS_WITH(Case(good + "transiemt = 5\n").check(),
                    Contains("case.toml:16:1: analysis.transiemt = 5: unknown key; did you mean transient?"));
  CHECK_THROWS_WITH(Case(good + "  levels = [1,\n 2, nan]\n").check(),
                    Contains("case.toml:17:5: analysis.levels.2 = nan: must be a number"));
  CHECK_THROWS_WITH(Case("graze = 1\n[model]\nname = \"ball\"\nheight = \"1\"\n").check(),
                    Contains("case.toml:4:11: model.height = \"1\": must be a number"));
}

TEST_CASE("what is no case file is refused with its place") {
  CHECK_THROWS_WITH(Case("graze = 1\ntitle = \n").read(), Contains("case.toml:2:"));
  CHECK_THROWS_WITH(Case("graze = 1\ngraze = 1\n").read(), Contains("case.toml:2:"));
  CHECK_THROWS_WITH(Case("graze = 1\nday = 2020-01-01\n").read(), Contains("case.toml:2:1: dates"));
  CHECK_THROWS_WITH(Case("title = \"x\"\n").read(), Contains("graze: is missing"));
  CHECK_THROWS_WITH(Case("\ngraze = 2\n").read(),
                    Contains("case.toml:2:1: graze = 2: is a case-file format"));
  CHECK_THROWS_AS(Case("graze = \"1\"\n").read(), InputError);
  CHECK_THROWS_AS(Case(std::string("graze = 1\0\n", 11)).read(), InputError);
  CHECK_THROWS_AS(Case("graze = 1 # \xff\xfe\n").read(), InputError);
  CHECK_THROWS_WITH(read_case("/nonexistent/x.toml", {}),
                    "/nonexistent/x.toml: cannot be read: No such file or directory");
  const test::Folder folder;
  CHECK_THROWS_WITH(read_case(folder.file(""), {}), Contains("is a folder"));
}

TEST_CASE("overrides reach every setting") {
  const Case file(good);
  const Value root =
      file.check({"model.stops.0.position = 0.5", "model.stops.1.restitution=0.25", "analysis.transient=7",
                  "analysis.follow=true", "analysis.map=impact", "model.mass=[[3]]",
                  "analysis.axis.parameter=\"mass ratio\"", "title=out/x-1.h5", "analysis.transient=8"});
  const Value::Array& stops = root.at("model").at("stops").array("");
  CHECK(stops[0].at("position").number("") == 0.5);
  CHECK(stops[1].at("position").number("") == -0.3);
  CHECK(stops[1].at("restitution").number("") == 0.25);
  CHECK(root.at("analysis").at("transient").integer("") == 8);
  CHECK(root.at("analysis").at("follow").boolean(""));
  CHECK(root.at("analysis").at("map").text("") == "impact");
  CHECK(root.at("model").at("mass").matrix("") == std::vector<std::vector<double>>{{3}});
  CHECK(root.at("analysis").at("axis").at("parameter").text("") == "mass ratio");
  CHECK(root.at("title").text("") == "out/x-1.h5");
}

TEST_CASE("an override makes the tables on its way") {
  const Case file("graze = 1\n[model]\nname = \"ball\"\n");
  CHECK(file.check({"analysis.axis.parameter=delta"}).at("analysis").at("axis").at("parameter").text("") ==
        "delta");
}

TEST_CASE("wrong overrides are refused") {
  const Case file(good);
  CHECK_THROWS_WITH(file.read({"title"}), "--set: title: an override is written key=value");
  CHECK_THROWS_WITH(file.read({"=1"}), Contains("no dotted key"));
  CHECK_THROWS_WITH(file.read({"a..b=1"}), Contains("no dotted key"));
  CHECK_THROWS_WITH(file.read({"a.=1"}), Contains("no dotted key"));
  CHECK_THROWS_WITH(file.read({"analysis.transient=1.2.3"}),
                    Contains("--set: analysis.transient = 1.2.3: is no TOML value"));
  CHECK_THROWS_WITH(file.read({"title="}), Contains("is no TOML value"));
  CHECK_THROWS_WITH(file.read({"title=two words"}), Contains("is no TOML value"));
  CHECK_THROWS_WITH(file.read({"title=1\nother=2"}), Contains("must be one value"));
  CHECK_THROWS_WITH(file.read({"title.x=1"}), Contains("there is no x in the value \"β\""));
  CHECK_THROWS_WITH(file.read({"model.stops.2.position=1"}), Contains("2 is no element of an array of 2"));
  CHECK_THROWS_WITH(file.read({"model.stops.x=1"}), Contains("x is no element"));
  CHECK_THROWS_WITH(file.read({"graze=7"}), Contains("--set: graze = 7: is a case-file format"));
  CHECK_THROWS_WITH(file.check({"model.stosp=1"}), Contains("--set: model.stosp = 1: unknown key"));
}
