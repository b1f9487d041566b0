#include "analysis/continuation/switching.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/math/spectra.hpp"

namespace graze {
namespace {

using Vector = Eigen::VectorXd;

/// Unknowns of an orbit, or a direction, without inner nodes.
Vector plain(const Vector& v, Eigen::Index states, Eigen::Index steps) {
  Vector w(states + steps + 1);
  w << v.head(states), v.tail(steps + 1);
  return w;
}

/// The same passed through twice: the last leg of the first turn and the first of the second are one.
Vector passed_twice(const Vector& v, Eigen::Index states, Eigen::Index steps) {
  const Vector durations = v.segment(states, steps);
  Vector w(states + 2 * steps);
  w << v.head(states), durations.head(steps - 1), durations, v.tail(1);
  w(states + steps - 1) += durations(steps - 1);
  return w;
}

/// Of the two directions that the equations leave free at a point where branches meet, the one across the
/// branch (in the metric).
Vector across_branch(const Equations& e, const Vector& tangent, const Vector& weights) {
  const Vector t = weights.cwiseProduct(tangent).normalized();
  const Eigen::MatrixXd free =
      right_singular_vectors(e.slope * weights.cwiseInverse().asDiagonal()).rightCols(2);
  const Eigen::Vector2d share = Eigen::Vector2d(-free.col(1).dot(t), free.col(0).dot(t)).normalized();
  return weights.cwiseInverse().cwiseProduct(free * share);
}

/// Whether an orbit closes after half its turn already.
bool is_single(const Family& family, const Solution& orbit, double size) {
  const auto system = family.system(orbit.point.parameter);
  const int periods = orbit.shooting->itinerary().periods;
  Section section;
  section.kind = Section::Kind::time;
  section.interval = orbit.point.period / periods;
  HybridState half;
  half.x = orbit.point.state;
  half.time = time_in_period(*system, orbit.point.phase);
  for (int k = 0; k < periods / 2; ++k) static_cast<void>(system->advance(half, section, nullptr));
  return (half.x - orbit.point.state).cwiseAbs().maxCoeff() < 1e-7 * size;
}

}  // namespace

std::optional<WayAcross> way_across(const Family& family, const Bifurcation& at, double range) {
  const bool doubling = at.kind == BifurcationKind::period_doubling;
  WayAcross way{doubling ? doubled(at.itinerary) : at.itinerary, {}, {}, {}};
  way.anchor = anchor_at(family, at.parameter, at.state, way.itinerary.steps.front().mode);
  way.anchor.phase = at.phase;
  const Shooting shooting(family, way.itinerary, way.anchor);
  const Eigen::Index n = shooting.states();
  const Eigen::Index steps = static_cast<Eigen::Index>(at.itinerary.steps.size());
  const auto stretched = [&](const Vector& v) {
    const Vector once = plain(v, n, steps);
    return doubling ? passed_twice(once, n, steps) : once;
  };
  Vector tangent = at.tangent;
  if (tangent.size() == 0) {
    const auto once = Shooting(family, at.itinerary, way.anchor).equations(plain(at.unknowns, n, steps));
    if (!once) return std::nullopt;
    tangent = right_singular_vectors(once->slope).rightCols(1);
  }
  way.u = stretched(at.unknowns);
  const auto e = shooting.equations(way.u);
  if (!e) return std::nullopt;
  const Metric metric{at.size, shooting.turn(way.u), range};
  way.direction = across_branch(*e, stretched(tangent), metric.weights(shooting));
  return way;
}

std::vector<Solution> switched(const Family& family, const Bifurcation& at,
                               const ContinuationOptions& options) {
  const bool doubling = at.kind == BifurcationKind::period_doubling;
  const double range = options.to - options.from;
  std::vector<Solution> starts;
  const auto way = way_across(family, at, range);
  if (!way) return starts;
  const Shooting shooting(family, way->itinerary, way->anchor);
  const Metric metric{at.size, shooting.turn(way->u), range};
  const Vector normal = metric.plane(shooting, way->direction);
  for (const double sense : doubling ? std::vector<double>{1} : std::vector<double>{1, -1}) {
    for (const double step : {1e-5, 3e-5, 1e-4, 3e-6, 1e-3, 3e-3, 1e-2}) {
      const Closing closing = solve_plane(shooting, way->u + sense * step * way->direction, normal);
      if (!closing.ok) continue;
      auto found = find_orbit(family, {closing.u(shooting.size()), closing.u.head(shooting.states()),
                                       way->itinerary.periods, shooting.turn(closing.u), at.phase});
      if (!found) continue;
      const Vector away = found->point.state - at.state;
      if (!(metric.size * 1e-6 < away.cwiseAbs().maxCoeff())) continue;
      if (doubling && is_single(family, *found, metric.size)) continue;
      starts.push_back(std::move(*found));
      break;
    }
  }
  return starts;
}

}  // namespace graze
