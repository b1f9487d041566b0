#include "analysis/maps/poincare_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace graze {

PoincareMap::PoincareMap(System& system, const Section& section)
    : system_(system), section_(section), shifts_(system, section), weight_(system.states()) {
  for (Eigen::Index i = 0; i < weight_.size(); ++i) {
    weight_(i) = size_of(system, Eigen::VectorXd::Unit(weight_.size(), i));
  }
  plain_ = shifts_.none() && is_plain();
}

bool PoincareMap::is_plain() const {
  if (!fixes_time() || !shifts_.none()) return false;
  for (int i = 0; i < system_.states(); ++i) {
    if (system_.symmetry(i) == Symmetry::turn) return false;
  }
  return true;
}

std::vector<int> PoincareMap::kept(int dependent) const {
  std::vector<int> list;
  for (int i = 0; i < system_.states(); ++i) {
    if (i != dependent && !shifts_.is_free(i)) list.push_back(i);
  }
  return list;
}

int PoincareMap::dimension() const {
  if (plain_) return system_.states();
  const int all = static_cast<int>(kept(-1).size());
  if (fixes_time()) return all;
  const bool fixed_already = section_.kind == Section::Kind::level && shifts_.is_free(section_.coordinate);
  return all - (fixed_already ? 0 : 1) + (has_phase() ? 1 : 0);
}

Eigen::RowVectorXd PoincareMap::gradient(const HybridState& state) const {
  if (section_.kind != Section::Kind::level) return system_.gap_gradient(state, section_.contact);
  Eigen::RowVectorXd g = Eigen::RowVectorXd::Zero(system_.states() + 1);
  g(section_.coordinate) = 1;
  return g;
}

int PoincareMap::dependent(const HybridState& state) const {
  if (fixes_time()) return -1;
  Eigen::RowVectorXd g = gradient(state).head(system_.states()).cwiseAbs();
  if (section_.kind != Section::Kind::level) {
    for (const int i : shifts_.free()) g(i) = 0;
  }
  Eigen::Index k = 0;
  g.maxCoeff(&k);
  return static_cast<int>(k);
}

Eigen::VectorXd PoincareMap::coordinates(const HybridState& state) const {
  if (plain_) return state.x;
  const std::vector<int> entries = kept(dependent(state));
  const Eigen::VectorXd x = shifts_.unshifted(state.x);
  Eigen::VectorXd y(dimension());
  Eigen::Index k = 0;
  for (const int i : entries) {
    y(k++) = system_.symmetry(i) == Symmetry::turn ? std::remainder(x(i), 2 * std::numbers::pi) : x(i);
  }
  if (has_phase()) y(k) = state.time;
  return y;
}

HybridState PoincareMap::at(const Eigen::VectorXd& coordinates, const HybridState& like) const {
  HybridState state = like;
  state.settled = false;
  const int skip = dependent(like);
  Eigen::Index k = 0;
  const Eigen::VectorXd shift = like.x - shifts_.unshifted(like.x);
  for (const int i : kept(skip)) state.x(i) = coordinates(k++) + shift(i);
  if (fixes_time()) return state;
  if (has_phase()) {
    const double period = system_.period();
    state.time = coordinates(k) - period * std::floor(coordinates(k) / period);
  }
  // Along the section's tangent plane, then onto the contact itself where that is curved.
  const Eigen::RowVectorXd g = gradient(like).head(system_.states());
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

bool PoincareMap::rests(const HybridState& state, double size) const {
  constexpr double rounding = 1e-9;
  if (fixes_time() || system_.period() > 0) return false;
  HybridState later = state;
  Section soon;
  soon.kind = Section::Kind::time;
  soon.interval = 1 / system_.rate();
  return system_.advance(later, soon, nullptr) == Outcome::ok &&
         greatest(Eigen::VectorXd(later.x - state.x)) <= rounding * size;
}

bool PoincareMap::takes_time(const HybridState& a, const HybridState& b) const {
  constexpr double instant = 1e-6;
  return (time_of(b) - time_of(a)) * system_.rate() > instant;
}

Eigen::VectorXd PoincareMap::difference(const HybridState& b, const HybridState& a) const {
  if (plain_) return b.x - a.x;
  Eigen::VectorXd d = coordinates(b) - coordinates(a);
  Eigen::Index k = 0;
  for (const int i : kept(dependent(b))) {
    if (system_.symmetry(i) == Symmetry::turn) d(k) = std::remainder(d(k), 2 * std::numbers::pi);
    ++k;
  }
  if (has_phase()) d(k) = std::remainder(d(k), system_.period());
  return d;
}

Eigen::VectorXd PoincareMap::scales(const HybridState& state, double size) const {
  const double unit = size > 0 ? size : 1;  // all is zero, then
  if (plain_) return weight_ / unit;
  Eigen::VectorXd factors(dimension());
  Eigen::Index k = 0;
  for (const int i : kept(dependent(state))) factors(k++) = weight_(i) / unit;
  if (has_phase()) factors(k) = system_.rate();
  return factors;
}

double PoincareMap::share(const Eigen::VectorXd& difference, const HybridState& state, double size) const {
  return difference.cwiseProduct(scales(state, size)).cwiseAbs().maxCoeff();
}

Tangent PoincareMap::lifted(const HybridState& state, const Eigen::MatrixXd& directions) const {
  Tangent tangent;
  tangent.time = Eigen::RowVectorXd::Zero(directions.cols());
  if (plain_) {
    tangent.state = directions;
    return tangent;
  }
  tangent.state = Eigen::MatrixXd::Zero(system_.states(), directions.cols());
  const int skip = dependent(state);
  Eigen::Index k = 0;
  for (const int i : kept(skip)) tangent.state.row(i) = directions.row(k++);
  if (has_phase()) tangent.time = directions.row(k);
  if (skip >= 0) {
    const Eigen::RowVectorXd g = gradient(state);
    const Eigen::RowVectorXd along =
        g.head(system_.states()) * tangent.state + g(system_.states()) * tangent.time;
    tangent.state.row(skip) = -along / g(skip);
  }
  return tangent;
}

Eigen::MatrixXd PoincareMap::lowered(const HybridState& state, const Tangent& tangent) const {
  if (plain_) return tangent.state;
  const Eigen::MatrixXd changes = shifts_.unshifted(tangent.state);
  Eigen::MatrixXd directions(dimension(), changes.cols());
  Eigen::Index k = 0;
  for (const int i : kept(dependent(state))) directions.row(k++) = changes.row(i);
  if (has_phase()) directions.row(k) = tangent.time;
  return directions;
}

Outcome PoincareMap::iterate(HybridState& state, Eigen::MatrixXd& directions) const {
  Tangent tangent = lifted(state, directions);
  const Outcome outcome = system_.advance(state, section_, tangent);
  directions = lowered(state, tangent);
  return outcome;
}

}  // namespace graze
