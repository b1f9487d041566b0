/// The nonlinear engine at its default tolerance beside a plain Boost.Odeint program at 1e-10: the relief
/// valve over its flow, the same map iterates. Both must agree before anything is timed.
#include <array>
#include <boost/math/tools/toms748_solve.hpp>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/run/execute.hpp"
#include "core/lanes/lanes.hpp"
#include "tests/bench/library.hpp"
#include "tests/bench/side_by_side.hpp"

namespace graze::bench {
namespace {

constexpr int dropped = 1024;
constexpr int recorded = 32;
constexpr double odeint_tolerance = 1e-10;
constexpr double lowest = 0.2, highest = 10;
constexpr int values = 200;
constexpr double patience = 50;
/// Counts of impacts of chaotic motions may differ by so many standard deviations.
constexpr double chance = 4;
/// Above the Hopf point the valve rests open, and an integrator sees its own noise only.
constexpr double hopf_point = 8.491117635183;

/// What a program finds at one q: lift and pressure at the recorded passages, and all impacts.
struct Passages {
  std::vector<std::array<double, 2>> points;
  std::int64_t impacts = 0;
};

double flow_at(int index) { return lowest + (highest - lowest) * index / (values - 1); }

/// The valve as one would write it down for an integrator.
class OdeintValve {
 public:
  explicit OdeintValve(double q)
      : q_(q),
        stepper_(boost::numeric::odeint::make_dense_output(
            odeint_tolerance, odeint_tolerance, boost::numeric::odeint::runge_kutta_dopri5<State>())) {}

  Passages run() {
    const auto rates = [this](const State& y, State& rate, double) {
      rate[0] = y[1];
      rate[1] = -1.25 * y[1] - (y[0] + 10) + y[2];
      rate[2] = 20 * (q_ - y[0] * std::sqrt(y[2]));
    };
    Passages found;
    stepper_.initialize(State{0.2, 0, 0}, 0, 1e-3);
    double last = 0;
    for (int passage = 0; passage < dropped + recorded;) {
      stepper_.do_step(rates);
      if (stepper_.current_time() > last + patience) break;  // it rests
      const State before = stepper_.previous_state();
      const State after = stepper_.current_state();
      std::optional<double> hit;
      if (before[0] > 0 && after[0] <= 0) hit = root(0);
      // A passage through the section that lies before the impact counts.
      const State until = hit ? at(*hit) : after;
      if (before[1] > 0 && until[1] <= 0) {
        last = root(1);
        const State y = at(last);
        if (++passage > dropped) found.points.push_back({y[0], y[2]});
      }
      if (hit) {
        ++found.impacts;
        stepper_.initialize(State{0, -0.8 * until[1], until[2]}, *hit, stepper_.current_time_step());
      }
    }
    return found;
  }

 private:
  using State = std::array<double, 3>;

  State at(double t) const {
    State y;
    stepper_.calc_state(t, y);
    return y;
  }
  double root(std::size_t component) const {
    std::uintmax_t iterations = 50;
    const auto bracket = boost::math::tools::toms748_solve(
        [&](double t) { return at(t)[component]; }, stepper_.previous_time(), stepper_.current_time(),
        boost::math::tools::eps_tolerance<double>(45), iterations);
    return bracket.first + (bracket.second - bracket.first) / 2;
  }

  double q_;
  boost::numeric::odeint::result_of::make_dense_output<
      boost::numeric::odeint::runge_kutta_dopri5<State>>::type stepper_;
};

Problem valve() {
  Value model;
  model.set("name", "relief_valve");
  Value axis;
  axis.set("parameter", "q");
  axis.set("from", Value(lowest));
  axis.set("to", Value(highest));
  axis.set("points", Value(std::int64_t{values}));
  Value sweep;
  sweep.set("axis", axis);
  sweep.set("map", "section");
  sweep.set("coordinate", "y2");
  sweep.set("level", Value(0.0));
  sweep.set("direction", "down");
  sweep.set("transient", Value(std::int64_t{dropped}));
  sweep.set("record", Value(std::int64_t{recorded}));
  sweep.set("max_period", Value(std::int64_t{8}));
  return problem(model, {0.2, 0, 0}, "sweep", sweep, Value(Value::Table{}));
}

Section passage() {
  Section section;
  section.kind = Section::Kind::level;
  section.coordinate = 1;
  section.direction = -1;
  return section;
}

/// The plain motions of all values, side by side.
std::vector<Passages> follow_together(const Problem& problem) {
  std::vector<double> parameters = problem.model->values();
  std::vector<std::unique_ptr<System>> systems;
  std::vector<LaneMotion> motions;
  for (int index = 0; index < values; ++index) {
    parameters[static_cast<std::size_t>(problem.model->parameter_index("q"))] = flow_at(index);
    systems.push_back(problem.model->system(parameters, problem.tolerance));
    motions.push_back({systems.back().get(), problem.start(), Outcome::ok, {}, {0}});
  }
  Lanes lanes(motions, passage());
  lanes.advance(dropped, false);
  lanes.advance(recorded, true);
  std::vector<Passages> found;
  for (const LaneMotion& motion : motions) {
    Passages& passages = found.emplace_back();
    passages.impacts = motion.impacts[0];
    for (std::size_t k = 0; k + 2 < motion.points.size(); k += 3)
      passages.points.push_back({motion.points[k], motion.points[k + 2]});
  }
  return found;
}

/// The plain motion, without the questions that a sweep asks about it.
Passages follow(const Problem& problem, double q) {
  std::vector<double> parameters = problem.model->values();
  parameters[static_cast<std::size_t>(problem.model->parameter_index("q"))] = q;
  const std::unique_ptr<System> system = problem.model->system(parameters, problem.tolerance);
  HybridState state = problem.start();
  const Section section = passage();
  Passages found;
  ImpactCounter counter;
  for (int passage = 0; passage < dropped + recorded; ++passage) {
    const Outcome outcome = system->advance(state, section, &counter);
    if (outcome == Outcome::no_return) break;  // it rests
    if (outcome != Outcome::ok) throw std::runtime_error(advice(outcome));
    if (passage >= dropped) found.points.push_back({state.x(0), state.x(2)});
  }
  found.impacts = counter.impacts;
  return found;
}

/// Largest difference of two records; the second may begin anywhere on an orbit of up to eight passages.
double difference(const Passages& a, const Passages& b) {
  double smallest = HUGE_VAL;
  for (std::size_t shift = 0; shift < 8; ++shift) {
    double largest = 0;
    for (std::size_t k = 0; k + shift < a.points.size(); ++k) {
      for (std::size_t i = 0; i < 2; ++i) {
        largest = std::max(largest, std::abs(a.points[k][i] - b.points[k + shift][i]));
      }
    }
    smallest = std::min(smallest, largest);
  }
  return smallest;
}

/// Whether both programs find the same below the Hopf point: the same orbit where it is periodic, about as
/// many impacts where it is not.
bool agree(const Problem& problem) {
  int same_orbits = 0, chaotic = 0, wrong = 0;
  const std::vector<Passages> together = follow_together(problem);
  double worst = 0;
  for (int index = 0; index < values && flow_at(index) < hopf_point; ++index) {
    const Passages plain = follow(problem, flow_at(index));
    const Passages peer = OdeintValve(flow_at(index)).run();
    const double same_point = 1e-6;
    const Passages& beside = together[static_cast<std::size_t>(index)];
    const double apart = std::max(difference(plain, peer), difference(plain, beside));
    const double impacts = static_cast<double>(
        std::max(std::abs(plain.impacts - peer.impacts), std::abs(plain.impacts - beside.impacts)));
    if (apart <= same_point && impacts <= 5) {
      ++same_orbits;
      worst = std::max(worst, apart);
    } else if (impacts <= chance * std::sqrt(static_cast<double>(plain.impacts))) {
      ++chaotic;
    } else {
      ++wrong;
      std::printf("q = %.17g: %lld and %lld impacts\n", flow_at(index), static_cast<long long>(plain.impacts),
                  static_cast<long long>(peer.impacts));
    }
  }
  std::printf(
      "valve: %d orbits within %.1e, %d chaotic motions with the same share of impacts, %d disagree\n",
      same_orbits, worst, chaotic, wrong);
  return wrong == 0 && same_orbits > 2 * chaotic;
}

int run() {
  const Problem problem = valve();
  if (!agree(problem)) return 1;
  const std::unique_ptr<Analysis> sweep = named(analyses(), "sweep").make(problem);
  const std::vector<Box> blocks = sweep->blocks(sweep->least_points());
  std::vector<Row> rows(2);
  rows[0] = {"graze sweep", [&] { static_cast<void>(computed(*sweep, blocks, 1)); }, {}};
  rows[1] = {"graze one by one",
             [&] {
               for (int index = 0; index < values; ++index)
                 static_cast<void>(follow(problem, flow_at(index)));
             },
             {}};
  for (const std::string& kernel : lane_kernels()) {
    if (kernel == "none") continue;
    rows.push_back({"graze " + kernel,
                    [&problem, kernel] {
                      choose_lane_kernel(kernel);
                      static_cast<void>(follow_together(problem));
                      choose_lane_kernel("");
                    },
                    {}});
  }
  rows.push_back({"Boost.Odeint",
                  [&] {
                    for (int index = 0; index < values; ++index)
                      static_cast<void>(OdeintValve(flow_at(index)).run());
                  },
                  {}});
  run_in_turn(rows);
  std::printf("%-20s %12s %12s\n", "program, one thread", "ms per q", "of Odeint");
  for (const Row& row : rows) {
    std::printf("%-20s %12.3g %12.3g\n", row.name.c_str(), 1e3 * row.median() / values,
                rows.back().median() / row.median());
  }
  return 0;
}

}  // namespace
}  // namespace graze::bench

int main() {
  return graze::bench::reported("bench_valve", [] { return graze::bench::run(); });
}
