/// What it costs to keep a run resumable: storing every block of the quick-start sweep in a file of its own
/// and joining them, beside computing them and writing the result in one piece at the end.
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/archive.hpp"
#include "drivers/library/case.hpp"
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
  std::unique_ptr<Archive> archive;
  Dataset whole;
  std::vector<Row> rows = {
      {"computing", [&] { blocks = computed(*c.analysis, plan.boxes, 1); }, {}},
      {"beginning",
       [&] {
         std::filesystem::remove(result);
         archive = std::make_unique<Archive>(result, c.layout, c.analysis->point_dimensions(), plan.boxes,
                                             Attributes{}, c.identity);
         archive->prepare(true);
       },
       {}},
      {"storing blocks",
       [&] {
         for (std::size_t k = 0; k < blocks.size(); ++k) archive->put(k, blocks[k]);
       },
       {}},
      {"joining", [&] { archive->consolidate(); }, {}},
      {"(reading the result)", [&] { whole = read_result(result).data; }, {}},
      {"writing in one piece", [&] { write_result(result, whole, {}, c.identity, true); }, {}}};
  run_in_turn(rows);
  std::filesystem::remove(result);

  std::printf("%s: %zu blocks\n%-22s %8s %13s\n", path.c_str(), plan.boxes.size(), "", "seconds",
              "of computing");
  const auto print = [&](const std::string& name, double seconds) {
    std::printf("%-22s %8.4f %12.2f%%\n", name.c_str(), seconds, 100 * seconds / rows.front().median());
  };
  for (const Row& row : rows) print(row.name, row.median());
  print("blocks beyond one piece",
        rows[1].median() + rows[2].median() + rows[3].median() - rows.back().median());
  return 0;
}

}  // namespace
}  // namespace graze::bench

int main(int argc, char** argv) {
  return graze::bench::reported(
      "bench_blocks", [&] { return graze::bench::run(argc > 1 ? argv[1] : "data/cases/quickstart.toml"); });
}
