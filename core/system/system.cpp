#include "core/system/system.hpp"

#include <algorithm>
#include <cmath>

namespace graze {

double size_of(const System& system, const Eigen::VectorXd& x) {
  double size = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double entry = std::abs(x(i));
    size = std::max(size, system.is_velocity(static_cast<int>(i)) ? entry / system.rate() : entry);
  }
  return size;
}

bool may_start(System& system, HybridState state) {
  state.settled = false;
  Section at_once;
  at_once.kind = Section::Kind::time;
  at_once.interval = 0;
  return system.advance(state, at_once, nullptr) != Outcome::bad_start;
}

std::optional<Course> System::follow(std::span<const Leg> legs, int parameter) {
  if (legs.size() != 1 || legs.front().length != Leg::Length::own || !(period() > 0)) return std::nullopt;
  const Leg& leg = legs.front();
  const Eigen::Index n = leg.state.size();
  Tangent tangent;
  tangent.state = Eigen::MatrixXd::Identity(n, n + 1);
  tangent.time = Eigen::RowVectorXd::Zero(n + 1);
  tangent.parameter = Eigen::MatrixXd::Zero(parameter + 1, n + 1);
  tangent.parameter(parameter, n) = 1;
  HybridState state;
  state.x = leg.state;
  const double turns = std::round(leg.duration / period());
  for (double k = 0; k < turns; ++k) {
    if (advance(state, Section{}, tangent) != Outcome::ok) return std::nullopt;
  }
  const Eigen::Index columns = n + 3;
  Reached reached;
  reached.state = state.x;
  reached.state_slope.setZero(n, columns);
  reached.state_slope.leftCols(n) = tangent.state.leftCols(n);
  reached.state_slope.col(columns - 1) = tangent.state.col(n);
  reached.time = leg.time + leg.duration;
  reached.time_slope.setZero(columns);
  reached.time_slope(n) = reached.time_slope(n + 1) = 1;
  reached.guard_slope.setZero(columns);
  reached.measure_slope.setZero(columns);
  Course course;
  course.period_slope = turns > 0 ? tangent.time(n) / turns : 0;
  course.legs.push_back(std::move(reached));
  return course;
}

}  // namespace graze
