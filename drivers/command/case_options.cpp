#include "drivers/command/case_options.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "core/settings/value.hpp"

namespace graze {
namespace {

constexpr std::size_t most_shards = 1000000;

/// A whole number above zero, nothing else; 0 for any other text.
std::size_t read_count(std::string_view text) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc{} && end == text.data() + text.size() ? count : 0;
}

}  // namespace

Shard read_shard(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t slash = std::min(text.find('/'), text.size());
  const Shard shard{read_count(std::string_view(text).substr(0, slash)),
                    slash < text.size() ? read_count(std::string_view(text).substr(slash + 1)) : 0};
  if (shard.part >= 1 && shard.part <= shard.parts && shard.parts <= most_shards) return shard;
  throw InputError("--shard " + text + ": must be I/N with 1 <= I <= N <= " + std::to_string(most_shards) +
                   ", such as 3/8");
}

void add_case_options(Verb& verb, CaseOptions& options) {
  verb.option("CASE", options.path, "case file (TOML)", {.required = true});
  verb.option("--set", options.overrides, "setting that replaces the one in the file; may be repeated",
              {.value = "KEY=VALUE"});
  verb.option("--threads", options.threads, "threads; 0: what the case says, else all",
              {.value = "N", .least = 0, .most = 1024});
  verb.option("--shard", options.shard, "part I of N of the blocks only; graze merge joins the parts",
              {.value = "I/N"});
  verb.option("--max-time", options.max_time, "stop between blocks after 3h, 20m, 45s …; exit code 75",
              {.value = "TIME"});
  verb.option("-o,--output", options.output, "result file; default: [output] file, else the case's name",
              {.value = "FILE"});
  verb.option("--events", options.events, "events as CSV, - for standard output (simulate)",
              {.value = "FILE"});
  verb.flag("--force", options.force, "replace a result that comes from another case");
  verb.flag("--quiet", options.quiet, "errors only");
}

std::string result_path(const Case& c, const std::string& output) {
  if (!output.empty()) return output;
  if (!c.output.empty()) return c.output;
  return std::filesystem::path(c.file.path).filename().replace_extension(".h5").string();
}

void refuse_foreign(const std::string& path, ResultState state, const CaseOptions& options) {
  if (state != ResultState::foreign || options.force) return;
  throw InputError(path +
                   ": exists and does not come from this case; another name (-o), or --force to replace it");
}

}  // namespace graze
