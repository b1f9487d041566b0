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

#include "analysis/run/execute.hpp"
#include "core/results/shard.hpp"
#include "core/results/sink.hpp"
#include "data/archive.hpp"
#include "drivers/command/case_options.hpp"
#include "drivers/command/command.hpp"
#include "drivers/command/event_table.hpp"
#include "drivers/command/summary.hpp"
#include "drivers/library/case.hpp"
#include "drivers/library/text.hpp"
#include "drivers/run/output_file.hpp"
#include "drivers/run/part_checkpoint.hpp"
#include "drivers/run/progress.hpp"
#include "drivers/run/ranks.hpp"
#include "drivers/run/run.hpp"
#include "drivers/run/stop.hpp"

namespace graze {
namespace {

/// What belongs to one run, decided before anything is computed.
struct Job {
  const CaseOptions& options;
  Case problem;
  Plan plan;
  Shard shard;
  std::string path;
  Attributes attributes;
  std::optional<Seconds> limit;
  Ranks& ranks;
};

template <class... Parts>
void say(const Job& job, fmt::format_string<Parts...> text, Parts&&... parts) {
  if (job.options.quiet || !job.ranks.is_first()) return;
  fmt::print(stderr, "graze: {}\n", fmt::format(text, std::forward<Parts>(parts)...));
}

/// What is said where a signal ends the run and what is in flight is dropped.
std::string last_words(const Job& job) {
  if (job.options.quiet || !job.ranks.is_first()) return {};
  return fmt::format(
      "\ngraze: {}: stopped by a signal, unfinished blocks are dropped; the same command resumes\n",
      job.path);
}

/// Tells the temporary files of the ranks of one run apart.
std::string helper_name(const Job& job) {
  const Shard& shard = job.shard;
  return fmt::format("{}-of-{}.rank{}", shard.part, shard.parts, job.ranks.rank());
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

/// Threads of each rank: one, unless it is said otherwise, because mpirun starts a rank per core.
int threads_of(const CaseOptions& options, const Case& c, const Ranks& ranks) {
  return options.threads == 0 && c.threads == 0 && !ranks.is_alone() ? 1 : options.threads;
}

Job prepare(Case c, const CaseOptions& options, const Context& context, Ranks& ranks) {
  const Shard shard = read_shard(options.shard);
  Plan plan = make_plan(c, threads_of(options, c, ranks));
  std::string path = result_path(c, options.output);
  Attributes attributes = case_attributes(c, plan.threads);
  attributes.emplace_back("command_line", context.command_line);
  std::optional<Seconds> limit;
  if (!options.max_time.empty()) limit = read_duration(options.max_time);
  Job job{options,         std::move(c),          std::move(plan), shard,
          std::move(path), std::move(attributes), limit,           ranks};
  check_targets(job);
  for (const std::string& text : job.problem.warnings) say(job, "warning: {}", text);
  return job;
}

Exit summarise(const Job& job, const Dataset& data) {
  if (!job.options.quiet) print_summary(stderr, data);
  return exit_of(data);
}

/// Of a result that was finished earlier: it counts when it is what was written then.
void say_complete(const Job& job) {
  if (!job.ranks.is_first()) return;
  check_undamaged(job.path);
  say(job, "{} is complete already", job.path);
}

Exit run_whole(const Job& job) {
  if (!job.shard.is_whole()) {
    throw InputError("--shard: " + job.problem.question->name + " is computed in one piece");
  }
  if (!job.ranks.is_first()) return Exit::done;
  const ResultState state = result_state(job.path, job.problem.identity);
  refuse_foreign(job.path, state, job.options);
  const bool has_parts = job.problem.analysis->has_parts();
  if (job.limit && !has_parts) {
    say(job, "--max-time has no effect: {} is computed in one piece", job.problem.question->name);
  }
  if (state == ResultState::complete) {
    say_complete(job);
  } else {
    MemorySink memory(1);
    Execution execution;
    execution.threads = job.plan.threads;
    std::optional<PartJournal> journal;
    std::optional<StopWatch> signals;
    if (has_parts) {
      journal.emplace(job.path, job.problem.identity, job.limit, last_words(job), job.options.quiet);
      execution.journal = &*journal;
    } else {
      signals.emplace(std::nullopt, last_words(job));
    }
    if (!execute(*job.problem.analysis, job.plan.boxes, memory, execution)) {
      say(job, "{}: stopped ({}); the same command resumes", job.path, journal->reason());
      return Exit::stopped_early;
    }
    write_result(job.path, memory.blocks.front(), job.attributes, job.problem.identity, job.options.force);
    if (journal) warn(journal->remove_parts());
    say(job, "{} written", job.path);
  }
  const Result result = read_result(job.path);
  if (!job.options.events.empty()) write_text(job.options.events, event_table(result.data));
  return summarise(job, result.data);
}

/// Points of the blocks of this shard: all, or those that are there.
std::size_t points_of_share(const Job& job, const Archive* done) {
  std::size_t points = 0;
  for (const std::size_t index : dealt(job.plan.boxes.size(), job.shard)) {
    if (done == nullptr || done->has(index)) points += job.plan.boxes[index].points();
  }
  return points;
}

/// Computes what is missing, together with the other ranks.
void compute_blocks(const Job& job, Archive& archive, const StopWatch& watch) {
  const std::size_t before = points_of_share(job, &archive);
  Progress progress(points_of_share(job, nullptr), before, job.options.quiet || !job.ranks.is_first());
  std::size_t told = 0;
  Execution execution;
  execution.threads = job.plan.threads;
  execution.shard = job.shard;
  execution.draw = [&] { return job.ranks.draw(); };
  execution.stop = [&] { return watch.stop(); };
  execution.done = [&](std::size_t points) {
    const std::size_t all = job.ranks.add(points);
    progress.add(all - told);
    told = all;
  };
  execute(*job.problem.analysis, job.plan.boxes, archive, execution);
}

/// What the first rank does when all have come to their end.
Exit finish(const Job& job, Archive& archive, const StopWatch& watch, std::size_t before, Seconds spent) {
  if (!job.ranks.is_alone()) archive.look();
  const std::size_t total = points_of_share(job, nullptr);
  const std::size_t now = points_of_share(job, &archive);
  if (now < total) {
    say(job, "{}: stopped ({}) after {} of {} points; the same command resumes", job.path, watch.reason(),
        now, total);
    return Exit::stopped_early;
  }
  say(job, "{}: {} in {}", job.path, points_text(now - before), time_text(spent.count()));
  if (!job.shard.is_whole()) {
    say(job, "shard {} is done; when all are, graze merge {} -o {} joins them", job.options.shard, job.path,
        job.path);
    return Exit::done;
  }
  const std::unique_ptr<Digest> digest = job.problem.analysis->digest();
  warn(archive.consolidate(digest.get(), job.plan.threads));
  return Exit::done;
}

Exit go_on(const Job& job, Archive& archive) {
  if (job.ranks.is_first()) archive.prepare(job.options.force, job.shard);
  job.ranks.meet();
  if (!job.ranks.is_first()) archive.assist(helper_name(job));
  job.ranks.meet();
  const StopWatch watch(job.limit, last_words(job));
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t before = points_of_share(job, &archive);
  if (before > 0) {
    say(job, "{}: resuming after {} of {} points", job.path, before, points_of_share(job, nullptr));
  }
  compute_blocks(job, archive, watch);
  job.ranks.meet();
  if (!job.ranks.is_first()) return Exit::done;
  return finish(job, archive, watch, before, std::chrono::steady_clock::now() - begin);
}

Exit run_blocks(const Job& job) {
  Archive archive(job.path, job.problem.layout, job.problem.analysis->point_dimensions(), job.plan.boxes,
                  job.attributes, job.problem.identity);
  const ResultState state = archive.state();
  refuse_foreign(job.path, state, job.options);
  if (job.ranks.tell(static_cast<int>(state == ResultState::complete)) != 0) {
    say_complete(job);
  } else {
    const Exit exit = go_on(job, archive);
    if (exit != Exit::done || !job.shard.is_whole()) return exit;
  }
  if (!job.ranks.is_first()) return Exit::done;
  return summarise(job, read_result(job.path, summarised(job.problem.layout.arrays)).data);
}

}  // namespace

Exit run_case(const std::function<Case()>& load, const CaseOptions& options, const Context& context) {
  return with_ranks([&](Ranks& ranks) {
    const Job job = prepare(load(), options, context, ranks);
    for (const std::string& remark : job.problem.problem.model->remarks()) say(job, "note: {}", remark);
    return job.plan.blocks ? run_blocks(job) : run_whole(job);
  });
}

GRAZE_COMMAND(run) {
  Verb verb = app.add_verb("run", "run the analysis of a case, or resume it");
  const auto options = std::make_shared<CaseOptions>();
  add_case_options(verb, *options);
  verb.footer(
      "An incomplete result of the same case is resumed, a complete one is summarised. After SIGUSR1 or\n"
      "--max-time the blocks being computed are finished; after SIGINT or SIGTERM only those that need\n"
      "less than a second. A second SIGINT ends the program at once.\n"
      "Examples:\n"
      "  graze run case.toml\n"
      "  graze run case.toml -o fine.h5 --set analysis.axis.points=5601 --max-time 3h\n"
      "  graze run case.toml --shard 3/8\n"
      "  graze run simulate.toml --events - | head");
  verb.callback([options, &context] {
    context.exit = run_case([&] { return load_case(options->path, options->overrides); }, *options, context);
  });
}

}  // namespace graze
