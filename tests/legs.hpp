/// Legs by prescription: of a recorded turn, and their derivatives.
#pragma once

#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "analysis/maps/itinerary.hpp"

namespace graze::test {

/// The legs of a turn from `start`. Short flights within chatter find their ends themselves, the others are
/// given.
inline std::vector<Leg> legs_of(const Record& record, const Eigen::VectorXd& start) {
  std::vector<Leg> legs;
  for (std::size_t k = 0; k < record.itinerary.steps.size(); ++k) {
    const Step& step = record.itinerary.steps[k];
    Leg leg;
    leg.time = k == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    leg.duration = record.durations[k];
    leg.length = step.length;
    leg.mode = step.mode;
    leg.end = step.end;
    leg.contact = step.contact;
    legs.push_back(leg);
  }
  legs.front().state = start;
  return legs;
}

/// Differences of what legs lead to, by the state and the time at the beginning, the duration of a leg and
/// the parameter, against the derivatives that come with it.
inline void check_slopes(
    const std::function<Reached(const Eigen::VectorXd&, double, double, double)>& followed,
    const Eigen::VectorXd& x, double time, double duration, double parameter) {
  const Reached reached = followed(x, time, duration, parameter);
  const Eigen::Index n = x.size();
  const auto compare = [&](Eigen::Index column, const std::function<Reached(double)>& moved) {
    constexpr double h = 1e-6;
    const Reached ahead = moved(h), behind = moved(-h);
    CAPTURE(column);
    const Eigen::VectorXd by_state = (ahead.state - behind.state) / (2 * h);
    CHECK((reached.state_slope.col(column) - by_state).norm() <= 1e-6 * (1 + by_state.norm()));
    CHECK(reached.guard_slope(column) == Approx((ahead.guard - behind.guard) / (2 * h)).margin(1e-6));
    CHECK(reached.measure_slope(column) == Approx((ahead.measure - behind.measure) / (2 * h)).margin(1e-6));
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(n, i);
    compare(i, [&](double h) { return followed(x + h * unit, time, duration, parameter); });
  }
  compare(n, [&](double h) { return followed(x, time + h, duration, parameter); });
  compare(n + 1, [&](double h) { return followed(x, time, duration + h, parameter); });
  compare(n + 2, [&](double h) { return followed(x, time, duration, parameter + h); });
}

}  // namespace graze::test
