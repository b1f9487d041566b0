/// graze merge: one file out of the blocks that shards have computed, here or elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/archive.hpp"
#include "drivers/command/command.hpp"
#include "drivers/command/summary.hpp"
#include "drivers/library/case.hpp"
#include "drivers/run/output_file.hpp"

namespace graze {
namespace {

namespace fs = std::filesystem;

struct MergeOptions {
  std::vector<std::string> sources;
  std::string output;
  bool force = false;
  bool quiet = false;
};

/// The result files that a source names: itself, the one that a folder of blocks belongs to, or all in a
/// folder.
std::vector<std::string> results_of(std::string source) {
  constexpr std::string_view ending = ".blocks";
  while (source.size() > 1 && source.back() == '/') source.pop_back();
  if (!fs::is_directory(source)) return {source};
  if (source.ends_with(ending)) return {source.substr(0, source.size() - ending.size())};
  std::vector<std::string> results;
  for (const auto& entry : fs::directory_iterator(source)) {
    if (entry.is_regular_file() && entry.path().extension() == ".h5") results.push_back(entry.path());
  }
  if (results.empty()) throw InputError(source + ": there is no result (.h5) in this folder");
  std::sort(results.begin(), results.end());
  return results;
}

std::vector<std::string> results_of(const std::vector<std::string>& sources) {
  std::vector<std::string> all;
  for (const std::string& source : sources) {
    const std::vector<std::string> results = results_of(source);
    all.insert(all.end(), results.begin(), results.end());
  }
  return all;
}

/// The case that a result was made from, as this program understands it.
Case case_of(const std::string& result, const Attributes& attributes) {
  Case c = make_case(recorded_case(attributes, result + " (its case)"));
  if (c.identity == attribute(attributes, "identity")) return c;
  throw InputError(fmt::format("{}: was made by graze {}; only that version can join its blocks", result,
                               attribute(attributes, "graze_version")));
}

/// Takes the blocks of a result that belongs to the same case.
void take(Archive& archive, const std::string& result, const std::string& identity) {
  const RootAttributes root = read_attributes(result);
  if (attribute(root.attributes, "identity") != identity) {
    throw InputError(result + ": comes from another case than the results before it");
  }
  if (root.blocks == 0) throw InputError(result + ": is in one file already, there is nothing to merge");
  archive.adopt(result);
}

Exit merge(const MergeOptions& options) {
  const std::vector<std::string> results = results_of(options.sources);
  const RootAttributes root = read_attributes(results.front());
  const Case c = case_of(results.front(), root.attributes);
  const Plan plan = make_plan(c, 1);
  check_can_write(options.output);
  Archive archive(options.output, c.layout, c.analysis->point_dimensions(), plan.boxes, root.attributes,
                  c.identity);
  const ResultState state = archive.state();
  if (state == ResultState::complete) {
    check_undamaged(options.output);
    if (!options.quiet) fmt::print(stderr, "graze: {} is complete already\n", options.output);
  } else {
    for (const std::string& result : results) take(archive, result, c.identity);
    if (archive.missing() > 0) {
      fmt::print(stderr, "graze: {} of {} blocks are missing; run the shards that are not done again\n",
                 archive.missing(), plan.boxes.size());
      return Exit::stopped_early;
    }
    archive.prepare(options.force);
    const std::unique_ptr<Digest> digest = c.analysis->digest();
    warn(archive.consolidate(digest.get()));
  }
  const Dataset data = read_result(options.output, classifying(c.layout.arrays)).data;
  if (!options.quiet) print_summary(stderr, data);
  return exit_of(data);
}

}  // namespace

GRAZE_COMMAND(merge) {
  Verb verb = app.add_verb("merge", "join what shards have computed into one file");
  const auto options = std::make_shared<MergeOptions>();
  verb.option("DIR_OR_FILES", options->sources,
              "unfinished results, their folders of blocks, or folders with unfinished results",
              {.required = true});
  verb.option("-o,--output", options->output, "result file; may be one of those that are merged",
              {.value = "FILE", .required = true});
  verb.flag("--force", options->force, "replace a result that comes from another case");
  verb.flag("--quiet", options->quiet, "errors only");
  verb.footer(
      "With blocks missing nothing is written and the exit code is 75. Results in another place than FILE\n"
      "are left as they are.\n"
      "Examples:\n"
      "  graze merge case.h5 -o case.h5                    shards that worked in one folder\n"
      "  graze merge node1/case.h5 node2/case.h5 -o all.h5 shards that worked in several");
  verb.callback([options, &context] { context.exit = merge(*options); });
}

}  // namespace graze
