/// The loop of a sweep in many threads at once, into block files: the same arrays as in one. Under the thread
/// sanitizer (tests/run_threads.sh) it says more.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/run/execute.hpp"
#include "data/archive.hpp"
#include "drivers/library/case.hpp"
#include "drivers/library/run.hpp"
#include "tests/format/sample.hpp"

using namespace graze;

namespace {

Case sweep(const std::string& start) {
  const std::string text =
      "graze = 1\n[model]\nname = \"impact_oscillator\"\nb = 0.05\n[initial]\nstate = [-1.0, 0.0]\n"
      "[run]\nblock = 2\n[analysis]\nname = \"sweep\"\ntransient = 20\nrecord = 40\nmax_period = 8\n"
      "extension = 2\nstart = \"" +
      start + "\"\naxis = { parameter = \"stop\", from = -0.3, to = 0.3, points = 40 }\n";
  return make_case(parse_case(text, "sweep.toml", {}));
}

Dataset result_of(const Case& c, int threads, const std::string& path) {
  const Plan plan = make_plan(c, threads);
  Archive archive(path, c.layout, c.analysis->point_dimensions(), plan.boxes, {}, c.identity);
  archive.prepare(false);
  double points = 0;
  Execution execution;
  execution.threads = threads;
  execution.stop = [] { return false; };
  execution.done = [&](std::size_t more) { points += static_cast<double>(more); };
  CHECK(execute(*c.analysis, plan.boxes, archive, execution));
  CHECK(points == plan.points);
  const std::unique_ptr<Digest> digest = c.analysis->digest();
  archive.consolidate(digest.get());
  return read_result(path).data;
}

}  // namespace

TEST_CASE("a result in memory is that in its file") {
  const test::Folder folder;
  const std::string basins =
      "graze = 1\n[model]\nname = \"impact_oscillator\"\nb = 0.05\nstop = 0.2\n[run]\nblock = 3\n"
      "[analysis]\nname = \"basins\"\ntransient = 20\nrecord = 40\nmax_period = 8\n"
      "axis = { state = \"x\", from = -1.0, to = 0.1, points = 5 }\n"
      "axis2 = { state = \"v\", from = -0.5, to = 0.5, points = 4 }\n";
  for (const Case& c : {sweep("fixed"), make_case(parse_case(basins, "basins.toml", {}))}) {
    const Dataset file = result_of(c, 1, folder.file(c.question->name + ".h5"));
    const Dataset memory = run(c, 2);
    REQUIRE(memory.arrays.size() == file.arrays.size());
    for (const Array& array : file.arrays)
      CHECK(test::same_values(memory.at(array.name).values, array.values));
  }
}

TEST_CASE("a sweep in eight threads is that in one") {
  const test::Folder folder;
  for (const std::string start : {"fixed", "follow_both"}) {
    const Case c = sweep(start);
    const Dataset one = result_of(c, 1, folder.file(start + "1.h5"));
    const Dataset eight = result_of(c, 8, folder.file(start + "8.h5"));
    REQUIRE(one.arrays.size() == eight.arrays.size());
    for (std::size_t k = 0; k < one.arrays.size(); ++k)
      CHECK(test::same_values(one.arrays[k].values, eight.arrays[k].values));
  }
}
