/// What it costs to keep a run resumable: storing every block of the quick-start sweep in a file of its own
/// and joining them, beside computing them.
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "data/archive.hpp"
#include "drivers/case.hpp"
#include "tests/bench/library.hpp"
#include "tests/bench/side_by_side.hpp"

namespace graze::bench {
namespace {

int run(const std::string& path) {
  const Case c = load_case(path, {});
  const Plan plan = make_plan(c, 1);
  const std::string result =
      (std::filesystem::temp_directory_path() / ("bench_blocks." + std::to_string(::getpid()) + ".h5"))
          .string();
  std::vector<Dataset> blocks;
  std::vector<Row> rows(2);
  rows[0] = {"computing", [&] { blocks = computed(*c.analysis, plan.boxes, 1); }, {}};
  rows[1] = {"storing, joining",
             [&] {
               Archive archive(result, c.layout, c.analysis->point_dimensions(), plan.boxes, {}, c.identity);
               archive.prepare(true);
               for (std::size_t k = 0; k < blocks.size(); ++k) archive.put(k, blocks[k]);
               archive.consolidate();
               std::filesystem::remove(result);
             },
             {}};
  run_in_turn(rows);
  std::printf("%s: %zu blocks\n%-18s %10s %12s\n", path.c_str(), plan.boxes.size(), "", "seconds",
              "of computing");
  for (const Row& row : rows) {
    std::printf("%-18s %10.4g %11.3g%%\n", row.name.c_str(), row.median(),
                100 * row.median() / rows.front().median());
  }
  return 0;
}

}  // namespace
}  // namespace graze::bench

int main(int argc, char** argv) {
  return graze::bench::reported(
      "bench_blocks", [&] { return graze::bench::run(argc > 1 ? argv[1] : "data/cases/quickstart.toml"); });
}
