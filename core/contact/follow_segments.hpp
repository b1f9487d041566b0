/// Legs one after the other in dual numbers: what every engine's System::follow does alike.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/math/dual.hpp"
#include "core/math/root_search.hpp"
#include "core/system/segment.hpp"

namespace graze {

/// Zero of the first three terms of a gap, ahead; nothing: none.
inline std::optional<double> end_of_parabola(std::span<const double> gap) {
  const double root = std::sqrt(gap[1] * gap[1] - 4 * gap[0] * gap[2]);
  if (!(root >= 0) || (gap[1] >= 0 && gap[2] >= 0)) return std::nullopt;
  // Opening: over the top. Closing: straight on, also while it is braked.
  return gap[1] > 0 ? -(gap[1] + root) / (2 * gap[2]) : 2 * gap[0] / (root - gap[1]);
}

/// The same of a gap that begins at zero, with its fourth term: where the force that leads it back is about
/// to vanish, only its rate does.
inline std::optional<double> end_of_rebound(std::span<const double> gap) {
  const double square = gap[2] * gap[2] - 4 * gap[1] * gap[3];
  const double s = 2 * gap[1] / ((square > 0 ? std::sqrt(square) : -gap[2]) - gap[2]);
  return s > 0 ? std::optional(s) : std::nullopt;
}

/// Fraction of a piece at which a gap is zero again, by Newton's method on its polynomial from the zero of
/// its first terms. `rebound`: it begins on the contact, and that zero is divided out. Nothing: no such zero.
inline std::optional<double> end_of_flight(std::span<const double> gap, bool rebound) {
  auto guess = end_of_parabola(gap);
  if (rebound && !(guess && *guess <= 1)) guess = end_of_rebound(gap);
  if (!guess) return std::nullopt;
  double s = *guess;
  const std::span<const double> p = gap.subspan(rebound ? 1 : 0);
  constexpr int rounds = 10;
  const double least = rebound ? 0 : -1;
  for (int round = 0; round < rounds && s > least && s <= 1; ++round)
    s -= polynomial(p, s) / polynomial_slope(p, s);
  if (!(s > least && s <= 1)) return std::nullopt;
  return s;
}

/// What is asked of the end of a leg (core/system/segment).
template <class S>
struct Ending {
  S guard{0};
  S measure{0};
  GuardOf guard_of = GuardOf::gap;
};

/// Values at the end of a leg that a point has followed.
template <class Point, class Inner>
void take_values(const Point& point, const Inner& inner, Reached& reached) {
  reached.state.resize(point.x.size());
  for (Eigen::Index i = 0; i < reached.state.size(); ++i) reached.state(i) = value_of(point.x(inner(i)));
  reached.time = value_of(point.time);
  reached.guard = value_of(point.ending.guard);
  reached.measure = value_of(point.ending.measure);
  reached.guard_of = point.ending.guard_of;
}

/// Without derivatives; `point` as below, with scalar double.
template <class Point, class Inner>
bool follow_values(const Leg& leg, Point point, const Inner& inner, Reached& reached) {
  point.x.resize(leg.state.size());
  for (Eigen::Index i = 0; i < leg.state.size(); ++i) point.x(inner(i)) = leg.state(i);
  point.time = leg.time;
  if (!point.follow(leg, leg.duration)) return false;
  take_values(point, inner, reached);
  return true;
}

/// Derivatives of a leg in pieces; those by so many parameters are the last of the `N` slopes in all of them.
///
/// `point_for(leg)` makes a point with scalar Dual<N> at the leg's mode; it has the members x, time,
/// `Ending ending` and `bool follow(leg, duration)`. `inner(i)` is the place of state i in x.
template <int N, class PointFor, class Inner>
bool follow_leg(const Leg& leg, Eigen::Index states, Eigen::Index parameters, const PointFor& point_for,
                const Inner& inner, Reached& reached) {
  const Eigen::Index own = states + 2, columns = own + parameters, piece = N - parameters;
  reached.state_slope.resize(states, columns);
  reached.time_slope.resize(columns);
  reached.guard_slope.resize(columns);
  reached.measure_slope.resize(columns);
  for (Eigen::Index first = 0; first < own; first += piece) {
    const Eigen::Index last = std::min(own, first + piece);
    const auto seeded = [&](double value, Eigen::Index column) {
      Dual<N> s(value);
      if (first <= column && column < last) s.slope[static_cast<std::size_t>(column - first)] = 1;
      return s;
    };
    auto point = point_for(leg);
    point.x.resize(states);
    for (Eigen::Index i = 0; i < states; ++i) point.x(inner(i)) = seeded(leg.state(i), i);
    point.time = seeded(leg.time, states);
    if (!point.follow(leg, seeded(leg.duration, states + 1))) return false;
    take_values(point, inner, reached);
    const auto fill = [&](Eigen::Index column, std::size_t k) {
      for (Eigen::Index i = 0; i < states; ++i) reached.state_slope(i, column) = point.x(inner(i)).slope[k];
      reached.time_slope(column) = point.time.slope[k];
      reached.guard_slope(column) = point.ending.guard.slope[k];
      reached.measure_slope(column) = point.ending.measure.slope[k];
    };
    for (Eigen::Index column = first; column < last; ++column)
      fill(column, static_cast<std::size_t>(column - first));
    for (Eigen::Index k = 0; k < parameters; ++k) fill(own + k, static_cast<std::size_t>(piece + k));
  }
  return true;
}

/// `follow_one(leg, reached)` follows one of them.
template <class FollowOne>
std::optional<Course> one_by_one(std::span<const Leg> legs, const FollowOne& follow_one) {
  Course course;
  for (Leg leg : legs) {
    if (leg.state.size() == 0) leg.state = course.legs.back().state;
    if (std::isnan(leg.time)) leg.time = course.legs.back().time;
    Reached reached;
    if (!follow_one(leg, reached)) return std::nullopt;
    course.legs.push_back(std::move(reached));
  }
  return course;
}

template <int N, class PointFor, class Inner>
std::optional<Course> follow_legs(std::span<const Leg> legs, Eigen::Index states, Eigen::Index parameters,
                                  const PointFor& point_for, const Inner& inner) {
  return one_by_one(legs, [&](const Leg& leg, Reached& reached) {
    return follow_leg<N>(leg, states, parameters, point_for, inner, reached);
  });
}

/// Adds the derivatives by the last parameter of the same legs.
inline void add_parameter(Course& course, const Course& other) {
  const auto add = [](auto& slopes, const auto& more) {
    slopes.conservativeResize(Eigen::NoChange, slopes.cols() + 1);
    slopes.rightCols(1) = more.rightCols(1);
  };
  for (std::size_t k = 0; k < course.legs.size(); ++k) {
    add(course.legs[k].state_slope, other.legs[k].state_slope);
    add(course.legs[k].time_slope, other.legs[k].time_slope);
    add(course.legs[k].guard_slope, other.legs[k].guard_slope);
    add(course.legs[k].measure_slope, other.legs[k].measure_slope);
  }
  add(course.period_slope, other.period_slope);
}

/// Parameter values with some of them varied: the last of the N slopes.
template <int N>
std::vector<Dual<N>> varied_parameters(const std::vector<double>& values, std::span<const int> parameters) {
  std::vector<Dual<N>> varied(values.begin(), values.end());
  std::size_t slope = N - parameters.size();
  for (const int parameter : parameters) varied[static_cast<std::size_t>(parameter)].slope[slope++] = 1;
  return varied;
}

}  // namespace graze
