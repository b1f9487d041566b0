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
  const Eigen::Index by_parameter = n, by_start = n + 1;  // columns
  Tangent tangent;
  tangent.state = Eigen::MatrixXd::Identity(n, n + 2);
  tangent.time = Eigen::RowVectorXd::Unit(n + 2, by_start);
  tangent.parameter = Eigen::MatrixXd::Zero(parameter + 1, n + 2);
  tangent.parameter(parameter, by_parameter) = 1;
  const double turns = std::round(leg.duration / period());
  Section section;
  section.phase = leg.time / period();
  section.phase -= std::floor(section.phase);
  HybridState state;
  state.x = leg.state;
  state.time = section.phase * period();
  for (double k = 0; k < turns; ++k) {
    if (advance(state, section, tangent) != Outcome::ok) return std::nullopt;
  }
  // The clock tells the phase only; the beginning moves with the period, too.
  const double start_slope = turns > 0 ? tangent.time(by_parameter) : 0;
  const Eigen::Index columns = n + 3;
  Reached reached;
  reached.state = state.x;
  reached.state_slope.setZero(n, columns);
  reached.state_slope.leftCols(n) = tangent.state.leftCols(n);
  reached.state_slope.col(columns - 1) =
      tangent.state.col(by_parameter) + start_slope * tangent.state.col(by_start);
  reached.time = leg.time + leg.duration;
  reached.time_slope.setZero(columns);
  reached.time_slope(n) = reached.time_slope(n + 1) = 1;
  reached.guard_slope.setZero(columns);
  reached.measure_slope.setZero(columns);
  Course course;
  course.period_slope = section.phase > 0 ? start_slope / section.phase : 0;
  course.legs.push_back(std::move(reached));
  return course;
}

}  // namespace graze
