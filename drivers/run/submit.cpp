/// graze submit: a script that hands a case to Slurm, as an array of shards and a merge after them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "drivers/command/case_options.hpp"
#include "drivers/command/command.hpp"
#include "drivers/library/case.hpp"
#include "drivers/library/text.hpp"
#include "drivers/run/stop.hpp"

namespace graze {
namespace {

namespace fs = std::filesystem;

struct SubmitOptions {
  std::string path;
  std::vector<std::string> overrides;
  std::string output;
  int tasks = 4;
  int threads = 1;
  std::string time = "1h";
};

/// A task stops by itself after this share of its time, so that the blocks in flight can be finished.
constexpr double share_of_time = 0.9;

/// What is put into the script, each piece as a shell takes it.
struct BatchJob {
  std::string name;
  std::string program;
  std::string run;  ///< case and options
  std::string result;
  int tasks = 1;
  int threads = 1;
  long minutes = 1;
  long seconds = 1;  ///< for --max-time
};

BatchJob job_of(const SubmitOptions& options) {
  const Case c = load_case(options.path, options.overrides);
  const Plan plan = make_plan(c, options.threads);
  if (!plan.blocks)
    throw InputError(c.question->name + " is computed in one piece, there is nothing to share out");
  const double limit = read_duration(options.time).count();
  BatchJob job;
  job.minutes = std::max(1L, std::lround(std::ceil(limit / 60)));
  job.seconds = std::max(1L, std::lround(share_of_time * limit));
  job.tasks = std::min(options.tasks, static_cast<int>(plan.boxes.size()));
  job.threads = options.threads;
  job.name = shell_text("graze-" + fs::path(options.path).stem().string());
  job.program = shell_text(fs::read_symlink("/proc/self/exe").string());
  job.result = shell_text(fs::absolute(result_path(c, options.output)).string());
  job.run = shell_text(fs::absolute(options.path).string());
  for (const std::string& text : options.overrides) job.run += " --set " + shell_text(text);
  return job;
}

/// The inner scripts are quoted here-documents: the shell that submits changes nothing in them.
std::string script(const BatchJob& job) {
  return fmt::format(
      R"(#!/bin/bash
# Made by graze submit. `bash FILE` hands {tasks} shards and the merge after them to Slurm.
set -eu
array=$(sbatch --parsable --job-name={name} --array=1-{tasks} --time={minutes} --cpus-per-task={threads} \
  --requeue --open-mode=append <<'SHARD'
#!/bin/bash
trap : TERM USR1  # are for graze, which finishes its blocks
# A shard that has not come to its end in its time (exit code 75) is queued again and goes on.
{program} run {run} -o {result} --shard "$SLURM_ARRAY_TASK_ID/{tasks}" --threads {threads} --max-time {seconds}s
code=$?
if [ $code -eq 75 ]; then
  scontrol requeue "$SLURM_JOB_ID"
  sleep 60
fi
exit $code
SHARD
)
sbatch --parsable --job-name={name}-merge --dependency="afterok:$array" --kill-on-invalid-dep=yes --time={minutes} \
  --open-mode=append <<'MERGE'
#!/bin/bash
{program} merge {result} -o {result}
MERGE
)",
      fmt::arg("name", job.name), fmt::arg("program", job.program), fmt::arg("run", job.run),
      fmt::arg("result", job.result), fmt::arg("tasks", job.tasks), fmt::arg("threads", job.threads),
      fmt::arg("minutes", job.minutes), fmt::arg("seconds", job.seconds));
}

}  // namespace

GRAZE_COMMAND(submit) {
  static_cast<void>(context);
  Verb verb = app.add_verb("submit", "print a script that runs a case as a Slurm job array");
  const auto options = std::make_shared<SubmitOptions>();
  verb.option("CASE", options->path, "case file (TOML)", {.required = true});
  verb.option("--set", options->overrides, "setting that replaces the one in the file; may be repeated",
              {.value = "KEY=VALUE"});
  verb.option("-o,--output", options->output, "result file; default: [output] file, else the case's name",
              {.value = "FILE"});
  verb.option("--tasks", options->tasks, "shards, each a task of the array; default 4",
              {.least = 1, .most = 1000000});
  verb.option("--threads", options->threads, "of each task; default 1", {.least = 1, .most = 1024});
  verb.option("--time", options->time,
              "limit of each task; what is not done then is queued again; default 1h", {.value = "TIME"});
  verb.footer(
      "Submits nothing. The script is for bash, where sbatch is; case, result and program must be seen "
      "under\n"
      "the same names by all machines.\n"
      "Example:\n"
      "  graze submit case.toml --tasks 100 --time 3h > job.sh && bash job.sh");
  verb.callback([options] { fmt::print("{}", script(job_of(*options))); });
}

}  // namespace graze
