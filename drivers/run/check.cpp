/// graze check: is the case valid, and what would a run do?
#include <fmt/format.h>

#include <Eigen/Core>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/maps/observables.hpp"
#include "analysis/run/execute.hpp"
#include "drivers/command/case_options.hpp"
#include "drivers/command/command.hpp"
#include "drivers/library/case.hpp"
#include "drivers/library/text.hpp"
#include "drivers/run/stop.hpp"

namespace graze {
namespace {

constexpr std::size_t sample_boxes = 5;
constexpr std::size_t sample_points = 2;  // of each box, about
constexpr double sample_seconds = 2;

/// Takes blocks and forgets them.
class Forget final : public Sink {
 public:
  bool has(std::size_t) const override { return false; }
  void put(std::size_t, const Dataset&) override {}
};

/// The beginning of a box, about so many points of it.
Box beginning(Box box, std::size_t points) {
  for (std::size_t& count : box.count) {
    const std::size_t rest = box.points() / count;
    count = std::clamp<std::size_t>(points / std::max<std::size_t>(1, rest), 1, count);
  }
  return box;
}

/// Seconds that one point takes, from a few spread over the case.
double seconds_per_point(const Analysis& analysis, const std::vector<Box>& boxes) {
  std::vector<Box> sample;
  const std::size_t n = std::min(sample_boxes, boxes.size());
  for (std::size_t k = 0; k < n; ++k) {
    sample.push_back(beginning(boxes[(2 * k + 1) * boxes.size() / (2 * n)], sample_points));
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::size_t points = 0;
  Forget forget;
  Execution execution;
  execution.threads = 1;
  execution.stop = [&] { return points > 0 && spent() > sample_seconds; };
  execution.done = [&](std::size_t more) { points += more; };
  execute(analysis, sample, forget, execution);
  return spent() / static_cast<double>(points);
}

const char* state_text(ResultState state) {
  switch (state) {
    case ResultState::absent:
      return "new";
    case ResultState::incomplete:
      return "to be resumed";
    case ResultState::complete:
      return "complete already";
    case ResultState::foreign:
      return "to be replaced, as it comes from another case";
  }
  return "";
}

/// Moves a motion on by a forcing period, or by the shortest natural one, and counts its impacts and jumps.
class Follower final : public Observer {
 public:
  Follower(const Problem& problem, Tolerance::Engine engine) {
    Tolerance tolerance = problem.tolerance;
    tolerance.engine = engine;
    system_ = problem.model->system(problem.model->values(), tolerance);
    if (!system_) throw InputError("these parameters make no system: " + advice(Outcome::bad_parameters));
    state = problem.start();
    period_.interval = 2 * M_PI / system_->rate();
  }
  void advance() {
    const Outcome outcome = system_->advance(state, period_, this);
    if (outcome != Outcome::ok) throw InputError("a motion broke off: " + advice(outcome));
  }
  void event(const Event& e) override {
    if (is_hit(e.kind) || e.kind == EventKind::jump) ++events;
  }

  HybridState state;
  int events = 0;

 private:
  std::unique_ptr<System> system_;
  Section period_;
};

/// The motion from [initial] by both engines, and how far they are apart.
void compare_engines(const Case& c) {
  constexpr int periods = 10;
  Follower series(c.problem, Tolerance::Engine::series), odeint(c.problem, Tolerance::Engine::odeint);
  Eigen::VectorXd worst = Eigen::VectorXd::Zero(series.state.x.size());
  for (int k = 0; k < periods; ++k) {
    series.advance();
    odeint.advance();
    worst = worst.cwiseMax((series.state.x - odeint.state.x).cwiseAbs());
  }
  fmt::print("engines:        series and odeint, greatest difference over {} periods:", periods);
  for (Eigen::Index i = 0; i < worst.size(); ++i)
    fmt::print(" {} {:.2g}", c.problem.model->states()[static_cast<std::size_t>(i)].name, worst(i));
  fmt::print("; impacts and jumps: {} and {}\n", series.events, odeint.events);
}

void check(const CaseOptions& options, bool compare) {
  const Shard shard = read_shard(options.shard);
  std::optional<Seconds> limit;
  if (!options.max_time.empty()) limit = read_duration(options.max_time);
  const Case c = load_case(options.path, options.overrides);
  if (compare && !is_typed(*c.model))
    throw InputError("--compare: the model is no system of equations, and has one engine only");
  const Plan plan = make_plan(c, options.threads);
  const std::string result = result_path(c, options.output);
  const ResultState state = result_state(result, c.identity);
  refuse_foreign(result, state, options);
  if (options.quiet) return;
  for (const std::string& text : c.warnings) fmt::print(stderr, "graze: warning: {}\n", text);
  fmt::print("{}: valid\n", options.path);
  for (const std::string& remark : c.problem.model->remarks()) fmt::print("note:           {}\n", remark);
  if (!c.title.empty()) fmt::print("title:          {}\n", c.title);
  fmt::print("model:          {}\n", c.model->name);
  fmt::print("analysis:       {}\n", c.question->name);
  if (c.problem.observables) {
    for (const Quantity& q : c.problem.observables->quantities())
      fmt::print("observable:     {}, {}\n", q.name, q.meaning);
  }
  if (compare) compare_engines(c);
  fmt::print("result:         {}, {}\n", result, state_text(state));
  if (!plan.blocks) {
    fmt::print("blocks:         1, in one piece; its size is known afterwards\n");
    return;
  }
  for (const std::string& name : c.analysis->point_dimensions()) {
    fmt::print("dimension:      {}, {} points\n", name, c.layout.size(name));
  }
  fmt::print("points:         {:.0f}\n", plan.points);
  fmt::print("blocks:         {}\n", plan.boxes.size());
  fmt::print("bytes:          {:.0f} ({} before compression)\n", plan.bytes, bytes_text(plan.bytes));
  double points = 0;
  const std::vector<std::size_t> share = dealt(plan.boxes.size(), shard);
  for (const std::size_t index : share) points += static_cast<double>(plan.boxes[index].points());
  if (!shard.is_whole()) {
    fmt::print("shard {}: {:.0f} points in {} blocks\n", options.shard, points, share.size());
  }
  const double workers =
      std::clamp<double>(plan.threads, 1, std::max<double>(1, static_cast<double>(share.size())));
  const double seconds = seconds_per_point(*c.analysis, plan.boxes) * points / workers;
  fmt::print("estimated time: {} with {} threads\n", time_text(seconds), plan.threads);
  if (limit)
    fmt::print("runs of {}: {:.0f}\n", options.max_time, std::max(1.0, std::ceil(seconds / limit->count())));
}

}  // namespace

GRAZE_COMMAND(check) {
  static_cast<void>(context);
  Verb verb = app.add_verb("check", "validate a case and estimate the time of a run");
  const auto options = std::make_shared<CaseOptions>();
  add_case_options(verb, *options);
  const auto compare = std::make_shared<bool>(false);
  verb.flag(
      "--compare", *compare,
      "follow the motion from [initial] by power series (or the exact flow) and by Boost.Odeint, and print "
      "how far they are apart");
  verb.footer(
      "Takes the options of graze run, to check a command before it is run, and writes nothing. The\n"
      "time is estimated from a few points spread over the case.");
  verb.callback([options, compare] { check(*options, *compare); });
}

}  // namespace graze
