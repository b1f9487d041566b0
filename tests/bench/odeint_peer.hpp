/// The same work with Boost.Odeint: dense output of the Dormand-Prince method, gaps sampled along each step,
/// roots polished by TOMS 748, a fresh start after each impact.
#pragma once

#include <boost/math/tools/toms748_solve.hpp>
#include <boost/numeric/odeint.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tests/bench/work.hpp"

namespace graze::bench {

template <class Oscillator>
class OdeintPeer {
 public:
  explicit OdeintPeer(const Oscillator& oscillator)
      : oscillator_(oscillator),
        period_(forcing_period(oscillator)),
        stepper_(boost::numeric::odeint::make_dense_output(
            tolerance, tolerance, boost::numeric::odeint::runge_kutta_dopri5<State>())) {}

  Orbit run() {
    stepper_.initialize(Oscillator::start(), 0.0, period_ / 100);
    for (int period = 1; period <= dropped_periods + recorded_periods;) {
      stepper_.do_step(oscillator_);
      const std::optional<Impact> impact = first_impact();
      const double reached = impact ? impact->time : stepper_.current_time();
      for (; period <= dropped_periods + recorded_periods && period * period_ <= reached; ++period) {
        if (period > dropped_periods) record(period * period_);
      }
      if (impact && period <= dropped_periods + recorded_periods) {
        ++orbit_.impacts;
        if (period > dropped_periods) ++orbit_.recorded_impacts;
        restart(*impact);
      }
    }
    return orbit_;
  }

 private:
  using State = typename Oscillator::State;
  struct Impact {
    double time;
    std::size_t contact;
  };
  static constexpr int samples = 2;  ///< a step; the step control keeps steps to about a 30th of a period

  State state_at(double t) const {
    State y;
    stepper_.calc_state(t, y);
    return y;
  }

  /// The first passage of a gap through zero in the last step.
  std::optional<Impact> first_impact() const {
    const double begin = stepper_.previous_time();
    const double end = stepper_.current_time();
    State before = stepper_.previous_state();
    double time = begin;
    for (int sample = 1; sample <= samples; ++sample) {
      const double next = sample == samples ? end : begin + (end - begin) * sample / samples;
      const State after = sample == samples ? stepper_.current_state() : state_at(next);
      std::optional<Impact> first;
      for (std::size_t i = 0; i < Oscillator::contacts; ++i) {
        const double gap_after = oscillator_.gap(i, after);
        if (gap_after > 0) continue;
        // Straight after an impact the gap is zero and opening: look a little later.
        double from = time;
        double gap_before = oscillator_.gap(i, before);
        if (gap_before <= 0) {
          from += 1e-3 * (next - time);
          gap_before = oscillator_.gap(i, state_at(from));
          if (gap_before <= 0) continue;
        }
        const double root = polish(i, from, next, gap_before, gap_after);
        if (!first || root < first->time) first = Impact{root, i};
      }
      if (first) return first;
      before = after;
      time = next;
    }
    return {};
  }

  double polish(std::size_t contact, double from, double to, double gap_from, double gap_to) const {
    if (gap_to == 0) return to;
    std::uintmax_t iterations = 50;
    const auto bracket = boost::math::tools::toms748_solve(
        [&](double t) { return oscillator_.gap(contact, state_at(t)); }, from, to, gap_from, gap_to,
        boost::math::tools::eps_tolerance<double>(45), iterations);
    return bracket.first + (bracket.second - bracket.first) / 2;
  }

  void record(double time) {
    const State y = state_at(time);
    orbit_.points.insert(orbit_.points.end(), y.begin(), y.end());
  }

  void restart(const Impact& impact) {
    State y = state_at(impact.time);
    oscillator_.hit(impact.contact, y);
    stepper_.initialize(y, impact.time, stepper_.current_time_step());
  }

  Oscillator oscillator_;
  double period_;
  typename boost::numeric::odeint::result_of::make_dense_output<
      boost::numeric::odeint::runge_kutta_dopri5<State>>::type stepper_;
  Orbit orbit_;
};

}  // namespace graze::bench
