#include "analysis/poincare_map.hpp"

#include <cmath>

namespace graze {

int PoincareMap::dimension() const {
  if (fixes_time()) return system_.states();
  return system_.states() - 1 + (has_phase() ? 1 : 0);
}

Eigen::RowVectorXd PoincareMap::gradient(const HybridState& state) const {
  if (section_.kind != Section::Kind::level) return system_.gap_gradient(state, section_.contact);
  Eigen::RowVectorXd g = Eigen::RowVectorXd::Zero(system_.states());
  g(section_.coordinate) = 1;
  return g;
}

int PoincareMap::dependent(const HybridState& state) const {
  if (fixes_time()) return -1;
  Eigen::Index k = 0;
  gradient(state).cwiseAbs().maxCoeff(&k);
  return static_cast<int>(k);
}

Eigen::VectorXd PoincareMap::coordinates(const HybridState& state) const {
  if (fixes_time()) return state.x;
  const int skip = dependent(state);
  Eigen::VectorXd y(dimension());
  Eigen::Index k = 0;
  for (int i = 0; i < system_.states(); ++i) {
    if (i != skip) y(k++) = state.x(i);
  }
  if (has_phase()) y(k) = state.time;
  return y;
}

HybridState PoincareMap::at(const Eigen::VectorXd& coordinates, const HybridState& like) const {
  HybridState state = like;
  state.settled = false;
  if (fixes_time()) {
    state.x = coordinates;
    return state;
  }
  const int skip = dependent(like);
  Eigen::Index k = 0;
  for (int i = 0; i < system_.states(); ++i) {
    if (i != skip) state.x(i) = coordinates(k++);
  }
  if (has_phase()) {
    const double period = system_.period();
    state.time = coordinates(k) - period * std::floor(coordinates(k) / period);
  }
  // Along the section's tangent plane, then onto the contact itself where that is curved.
  const Eigen::RowVectorXd g = gradient(like);
  Eigen::VectorXd step = state.x - like.x;
  step(skip) = 0;
  state.x(skip) = like.x(skip) - g.dot(step) / g(skip);
  if (section_.kind == Section::Kind::level) return state;
  Eigen::VectorXd gap, rate;
  for (int pass = 0; pass < 3; ++pass) {
    system_.gaps(state, gap, rate);
    state.x(skip) -= gap(section_.contact) / system_.gap_gradient(state, section_.contact)(skip);
  }
  return state;
}

Eigen::VectorXd PoincareMap::difference(const HybridState& b, const HybridState& a) const {
  Eigen::VectorXd d = coordinates(b) - coordinates(a);
  if (has_phase()) {
    const double period = system_.period();
    double& phase = d(d.size() - 1);
    phase -= period * std::round(phase / period);
  }
  return d;
}

Outcome PoincareMap::iterate(HybridState& state, Eigen::MatrixXd& directions) const {
  Tangent tangent;
  const Eigen::Index n = system_.states();
  tangent.time = Eigen::RowVectorXd::Zero(directions.cols());
  if (fixes_time()) {
    tangent.state = directions;
    const Outcome outcome = system_.advance(state, section_, tangent);
    directions = tangent.state;
    return outcome;
  }
  tangent.state = Eigen::MatrixXd::Zero(n, directions.cols());
  int skip = dependent(state);
  const Eigen::RowVectorXd g = gradient(state);
  Eigen::Index k = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (i == skip) continue;
    tangent.state.row(i) = directions.row(k++);
    tangent.state.row(skip) -= g(i) / g(skip) * tangent.state.row(i);
  }
  if (has_phase()) tangent.time = directions.row(k);
  const Outcome outcome = system_.advance(state, section_, tangent);
  skip = dependent(state);
  k = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (i != skip) directions.row(k++) = tangent.state.row(i);
  }
  if (has_phase()) directions.row(k) = tangent.time;
  return outcome;
}

}  // namespace graze
