/// graze run: from the case file to the result file.
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/execute.hpp"
#include "data/archive.hpp"
#include "drivers/case.hpp"
#include "drivers/case_options.hpp"
#include "drivers/command.hpp"
#include "drivers/event_table.hpp"
#include "drivers/output_file.hpp"
#include "drivers/progress.hpp"
#include "drivers/stop.hpp"
#include "drivers/summary.hpp"
#include "drivers/text.hpp"

namespace graze {
namespace {

struct RunOptions : CaseOptions {
  std::string output;
  std::string events;
  std::string max_time;
  bool force = false;
  bool quiet = false;
};

/// What belongs to one run, decided before anything is computed.
struct Job {
  const RunOptions& options;
  Case problem;
  Plan plan;
  std::string path;
  Attributes attributes;
  std::optional<Seconds> limit;
};

/// Keeps the block of an analysis that has but one.
class Keep final : public Sink {
 public:
  bool has(std::size_t) const override { return false; }
  void put(std::size_t, const Dataset& block) override { data = block; }
  Dataset data;
};

template <class... Parts>
void say(const Job& job, fmt::format_string<Parts...> text, Parts&&... parts) {
  if (job.options.quiet) return;
  fmt::print(stderr, "graze: {}\n", fmt::format(text, std::forward<Parts>(parts)...));
}

std::string result_path(const Case& c, const RunOptions& options) {
  if (!options.output.empty()) return options.output;
  if (!c.output.empty()) return c.output;
  return std::filesystem::path(c.file.path).filename().replace_extension(".h5").string();
}

Attributes attributes_of(const Case& c, const Plan& plan, const Context& context) {
  std::string overrides;
  for (const std::string& text : c.file.overrides) overrides += text + "\n";
  return {{"title", c.title},
          {"model", c.model->name},
          {"analysis", c.question->name},
          {"case_toml", c.file.text},
          {"overrides", overrides},
          {"command_line", context.command_line},
          {"seed", std::to_string(c.problem.seed)},
          {"threads", std::to_string(plan.threads)}};
}

void check_targets(const Job& job) {
  check_can_write(job.path);
  std::error_code error;
  if (std::filesystem::equivalent(job.path, job.problem.file.path, error)) {
    throw InputError(job.path + ": is the case file itself, not a place for the result");
  }
  const std::string& events = job.options.events;
  if (events.empty()) return;
  if (job.plan.blocks) {
    throw InputError("--events: only for an analysis of one motion, not for " + job.problem.question->name);
  }
  if (events != "-") check_can_write(events);
}

Job prepare(const RunOptions& options, const Context& context) {
  Case c = load_case(options.path, options.overrides);
  Plan plan = make_plan(c, options.threads);
  std::string path = result_path(c, options);
  Attributes attributes = attributes_of(c, plan, context);
  std::optional<Seconds> limit;
  if (!options.max_time.empty()) limit = read_duration(options.max_time);
  Job job{options, std::move(c), std::move(plan), std::move(path), std::move(attributes), limit};
  check_targets(job);
  return job;
}

Exit summarise(const Job& job, const Dataset& data) {
  if (!job.options.quiet) print_summary(stderr, data);
  return exit_of(data);
}

void refuse_foreign(const Job& job, ResultState state) {
  if (state != ResultState::foreign || job.options.force) return;
  throw InputError(job.path +
                   ": exists and does not come from this case; another name (-o), or --force to replace it");
}

Exit run_whole(const Job& job) {
  const ResultState state = result_state(job.path, job.problem.identity);
  refuse_foreign(job, state);
  if (job.limit) {
    say(job, "--max-time has no effect: {} is computed in one piece", job.problem.question->name);
  }
  if (state == ResultState::complete) {
    say(job, "{} is complete already", job.path);
  } else {
    Keep keep;
    Execution execution;
    execution.threads = job.plan.threads;
    execute(*job.problem.analysis, job.plan.boxes, keep, execution);
    write_result(job.path, keep.data, job.attributes, job.problem.identity, job.options.force);
    say(job, "{} written", job.path);
  }
  const Result result = read_result(job.path);
  if (!job.options.events.empty()) write_text(job.options.events, event_table(result.data));
  return summarise(job, result.data);
}

std::size_t points_done(const Archive& archive, const std::vector<Box>& boxes) {
  std::size_t points = 0;
  for (std::size_t index = 0; index < boxes.size(); ++index) {
    if (archive.has(index)) points += boxes[index].points();
  }
  return points;
}

/// Computes what is missing; false: stopped before the end.
bool compute_blocks(const Job& job, Archive& archive) {
  const StopWatch watch(job.limit);
  const auto begin = std::chrono::steady_clock::now();
  const auto total = static_cast<std::size_t>(job.plan.points);
  const std::size_t before = points_done(archive, job.plan.boxes);
  std::size_t now = before;
  if (before > 0) say(job, "{}: going on after {} of {} points", job.path, before, total);

  std::size_t missing = 0;
  {
    Progress progress(total, before, job.options.quiet);
    Execution execution;
    execution.threads = job.plan.threads;
    execution.stop = [&] { return watch.stop(); };
    execution.done = [&](std::size_t points) {
      now += points;
      progress.add(points);
    };
    missing = execute(*job.problem.analysis, job.plan.boxes, archive, execution);
  }
  if (missing > 0) {
    say(job, "{}: stopped ({}) after {} of {} points; the same command goes on", job.path, watch.reason(),
        now, total);
    return false;
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  say(job, "{}: {} points in {}", job.path, now - before, time_text(spent.count()));
  archive.consolidate();
  return true;
}

Exit run_blocks(const Job& job) {
  Archive archive(job.path, job.problem.layout, job.problem.analysis->point_dimensions(), job.plan.boxes,
                  job.attributes, job.problem.identity);
  const ResultState state = archive.state();
  refuse_foreign(job, state);
  if (state == ResultState::complete) {
    say(job, "{} is complete already", job.path);
  } else {
    archive.prepare(job.options.force);
    if (!compute_blocks(job, archive)) return Exit::stopped_early;
  }
  return summarise(job, read_result(job.path, classifying(job.problem.layout.arrays)).data);
}

}  // namespace

GRAZE_COMMAND(run) {
  CLI::App& verb = *app.add_subcommand("run", "do the analysis that a case names, or go on with it");
  const auto options = std::make_shared<RunOptions>();
  add_case_options(verb, *options);
  verb.add_option("-o,--output", options->output, "result file; default: [output] file, else the case's name")
      ->type_name("FILE");
  verb.add_option("--max-time", options->max_time, "stop between blocks after 3h, 20m, 45s …; exit code 75")
      ->type_name("TIME");
  verb.add_option("--events", options->events, "events as CSV, - for standard output (simulate)")
      ->type_name("FILE");
  verb.add_flag("--force", options->force, "replace a result that comes from another case");
  verb.add_flag("--quiet", options->quiet, "errors only");
  verb.footer(
      "A result of the same case is gone on with, or reported when it is complete. SIGINT, SIGTERM and\n"
      "SIGUSR1 finish the blocks in flight; a second SIGINT ends the program at once.\n"
      "Examples:\n"
      "  graze run case.toml\n"
      "  graze run case.toml -o fine.h5 --set analysis.axis.points=5601 --max-time 3h\n"
      "  graze run simulate.toml --events - | head");
  verb.callback([options, &context] {
    const Job job = prepare(*options, context);
    context.exit = job.plan.blocks ? run_blocks(job) : run_whole(job);
  });
}

}  // namespace graze
