#include "analysis/continuation/branch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "analysis/continuation/beginning.hpp"
#include "analysis/maps/multipliers.hpp"
#include "analysis/run/execute.hpp"

namespace graze {
namespace {

/// What lies on one side of a start.
struct Side {
  std::vector<BranchPoint> points;
  std::vector<Bifurcation> bifurcations;
  std::string end;
};

/// How many of the last points lead away from the others: they, and no more, lie beside the last one.
std::size_t on_last_way(const std::vector<BranchPoint>& points) {
  constexpr std::size_t most = 20;
  constexpr std::size_t turning = 2;  // where the parameter has turned, points lie beside each other
  const auto step = [&](std::size_t k) { return points[k].parameter - points[k - 1].parameter; };
  std::size_t k = points.size() - 1;
  while (k > 1 && step(k) * step(k - 1) > 0) --k;
  return std::min(points.size() - k + turning, most);
}

/// Whether the last point lies where this walk has been before.
bool comes_back(const Family& family, const Side& side) {
  const std::size_t recent = on_last_way(side.points);
  if (side.points.size() <= recent) return false;
  const BranchPoint& p = side.points.back();
  const std::span<const BranchPoint> before(side.points.data(), side.points.size() - recent);
  return distance_to(family, before, p.parameter, p.orbit, p.signature.periods, walking_near) <=
         on_branch * p.size;
}

/// Whether the last point is one of before with the halves of its turn exchanged.
bool comes_back_mirrored(const Family& family, const Side& side) {
  constexpr double apart = 1e-6;  // of the size: nearer, the halves are the same
  const BranchPoint& p = side.points.back();
  const std::size_t half = p.orbit.size() / 2;
  if (half == 0 || p.orbit.size() != 2 * half) return false;
  if ((p.orbit[half] - p.orbit[0]).cwiseAbs().maxCoeff() <= apart * p.size) return false;
  const std::span<const BranchPoint> before(side.points.data(), side.points.size() - 1);
  return distance_to(family, before, p.parameter, {p.orbit[half]}, p.signature.periods, walking_near) <=
         on_branch * p.size;
}

/// Whether an orbit magnifies errors so much that the states which its motion meets on the way are not its
/// own.
bool magnifies(const BranchPoint& point) {
  constexpr double strong = 1e2;
  return !point.multipliers.empty() && std::abs(point.multipliers.front()) > strong;
}

/// A point as it is told: the states of an orbit that magnifies errors are solved for.
BranchPoint told(const Solution& s) {
  BranchPoint point = s.point;
  if (!magnifies(point)) return point;
  std::vector<Eigen::VectorXd> states = states_on_section(s);
  if (states.size() == point.orbit.size()) point.orbit = std::move(states);
  return point;
}

/// Whether the motion closes from where an orbit is told to be, and not after fewer periods. The orbit may
/// lie so near to a grazing that the impact is lost in rounding on the way from there, and not from where its
/// equations begin, or so near to one of fewer periods, or of other events, that the state told is that
/// one's.
bool moves_as_told(const Family& family, const BranchPoint& point) {
  constexpr double closure = 1e-8;  // of the size, which an unstable orbit magnifies
  constexpr double same = 1e-9;     // of the size
  if (point.phase == 0 || point.orbit.empty()) return true;
  const auto system = family.system(point.parameter);
  if (!system) return true;
  const Record record = record_turn(*system, point.orbit.front(), point.signature.periods);
  const double growth = growth_of(point.multipliers);
  const double open = (record.end - point.orbit.front()).cwiseAbs().maxCoeff();
  return record.outcome == Outcome::ok && open <= closure * growth * record.size &&
         !repeats(record.states, 0, record.size, same) &&
         (!magnifies(point) || signature_of(record) == point.signature);
}

Side walk_along(const Family& family, const Solution& start, int direction, const Walk& walk) {
  Side side;
  Continuation continuation(family, start, direction, walk.options);
  const auto take_passed = [&] {
    const std::vector<Bifurcation>& passed = continuation.passed();
    side.bifurcations.insert(side.bifurcations.end(), passed.begin(), passed.end());
  };
  while (side.end.empty() && continuation.next()) {
    take_passed();
    BranchPoint point = told(continuation.solution());
    if (!moves_as_told(family, point)) continue;
    side.points.push_back(std::move(point));
    if (comes_back_mirrored(family, side)) {
      side.points.pop_back();
      side.end = mirrored_branch;
      break;
    }
    side.end = walk.known(continuation.point());
    if (side.end.empty() && comes_back(family, side)) side.end = "comes back on itself";
  }
  if (!side.end.empty()) return side;
  take_passed();
  side.end = continuation.end();
  return side;
}

/// Without the grazings that accumulate where a chatter sequence becomes complete: that place stands for
/// them.
void thin(std::vector<Bifurcation>& list, double range) {
  const std::vector<Bifurcation> all = list;
  std::erase_if(list, [&](const Bifurcation& b) {
    return b.kind == BifurcationKind::grazing &&
           std::any_of(all.begin(), all.end(), [&](const Bifurcation& border) {
             return border.kind == BifurcationKind::chatter_border && border.contact == b.contact &&
                    std::abs(border.parameter - b.parameter) < Continuation::crowd_width * range;
           });
  });
}

/// Without points that were located twice on the way.
void drop_repeated(std::vector<Bifurcation>& list, double range) {
  std::vector<Bifurcation> kept;
  for (Bifurcation& b : list) {
    const bool known = std::any_of(kept.begin(), kept.end(),
                                   [&](const Bifurcation& k) { return is_same_point(k, b, range); });
    if (!known) kept.push_back(std::move(b));
  }
  list = std::move(kept);
}

/// Nearest of some states to one; its distance.
std::pair<std::size_t, double> nearest(const std::vector<Eigen::VectorXd>& states,
                                       const Eigen::VectorXd& to) {
  std::pair<std::size_t, double> best{0, std::numeric_limits<double>::infinity()};
  for (std::size_t k = 0; k < states.size(); ++k) {
    const double distance = (states[k] - to).cwiseAbs().maxCoeff();
    if (distance < best.second) best = {k, distance};
  }
  return best;
}

/// Whether an orbit with the events of one of two neighbours on a branch may lie between them: no fold is
/// between it and that one, and its multipliers are between theirs, or where events change as strong as those
/// of that one, about. Newton's method may have come to another sheet.
bool may_lie_between(const BranchPoint& p, const BranchPoint& a, const BranchPoint& b) {
  constexpr double slack = 0.3;  // of the trace: where it is not monotonic
  constexpr double alike = 10;
  const auto sense = [](const BranchPoint& x) { return std::copysign(1.0, x.determinant()); };
  const auto trace = [](const BranchPoint& x) {
    return std::accumulate(x.multipliers.begin(), x.multipliers.end(), std::complex<double>(0)).real();
  };
  const double t = trace(p), from = trace(a), to = trace(b);
  if (a.signature == b.signature) {
    if (p.signature != a.signature || (sense(p) != sense(a) && sense(p) != sense(b))) return false;
    return std::abs(t - from) + std::abs(t - to) <= 1.5 * std::abs(to - from) + slack * (1 + std::abs(t));
  }
  const auto continues = [&](const BranchPoint& q, double other) {
    const double ratio = (1 + std::abs(t)) / (1 + std::abs(other));
    return p.signature == q.signature && sense(p) == sense(q) && ratio < alike && ratio > 1 / alike;
  };
  return continues(a, from) || continues(b, to);
}

}  // namespace

Branch continue_branch(const Family& family, const Solution& start, const Walk& walk) {
  std::array<Side, 2> sides;
  call_each(walk.threads, sides.size(),
            [&](std::size_t k) { sides[k] = walk_along(family, start, k == 0 ? -1 : +1, walk); });
  const auto& [back, ahead] = sides;
  Branch branch;
  branch.points.assign(back.points.rbegin(), back.points.rend());
  branch.bifurcations.assign(back.bifurcations.rbegin(), back.bifurcations.rend());
  branch.points.push_back(told(start));
  branch.begins = branch.ends = back.end;
  if (back.end != closed_branch) {  // else the other way come the same orbits
    branch.points.insert(branch.points.end(), ahead.points.begin(), ahead.points.end());
    branch.bifurcations.insert(branch.bifurcations.end(), ahead.bifurcations.begin(),
                               ahead.bifurcations.end());
    branch.ends = ahead.end;
  }
  thin(branch.bifurcations, walk.options.to - walk.options.from);
  drop_repeated(branch.bifurcations, walk.options.to - walk.options.from);
  return branch;
}

Branch continue_doubled(const Family& family, const Solution& start, const Bifurcation& from,
                        const Walk& walk) {
  const Eigen::VectorXd way = start.tangent.head(from.state.size());
  const bool away = way.dot(start.point.state - from.state) > 0;
  Side side = walk_along(family, start, (start.parameter_slope() > 0) == away ? 1 : -1, walk);
  Branch branch;
  branch.begins = "period doubling";
  branch.points.push_back(told(start));
  branch.points.insert(branch.points.end(), side.points.begin(), side.points.end());
  branch.bifurcations = std::move(side.bifurcations);
  branch.ends = std::move(side.end);
  thin(branch.bifurcations, walk.options.to - walk.options.from);
  drop_repeated(branch.bifurcations, walk.options.to - walk.options.from);
  return branch;
}

double distance_to(const Family& family, std::span<const BranchPoint> points, double parameter,
                   const std::vector<Eigen::VectorXd>& orbit, int periods, double near) {
  constexpr double bent = 1e-4;  // of the size: a branch between near neighbours, off the line between them
  double best = std::numeric_limits<double>::infinity();
  const auto try_from = [&](const BranchPoint& a, const BranchPoint& b, double share) {
    if (a.orbit.empty() || b.orbit.empty()) return;
    const auto between = [share](const auto& x, const auto& y) -> std::decay_t<decltype(x)> {
      return x + share * (y - x);
    };
    const double apart = (b.orbit.front() - a.orbit.front()).cwiseAbs().maxCoeff();
    const double aside = std::min(near * a.size, apart + bent * a.size);
    if (!passes_by(orbit, between(a.orbit.front(), b.orbit.front()), aside)) return;
    const bool alike = a.phase == b.phase;  // else both are known at phase zero
    auto found = refine_orbit(
        family, {parameter, alike ? between(a.state, b.state) : between(a.orbit.front(), b.orbit.front()),
                 periods, between(a.period, b.period), alike ? a.phase : 0});
    if (!found || found->point.orbit.empty()) return;
    const double away = nearest(orbit, found->point.orbit.front()).second;
    if (!(away < best)) return;
    take_stability(*found);
    if (may_lie_between(found->point, a, b)) best = away;
  };
  for (std::size_t k = 0; k + 1 < points.size() && best > 1e-10; ++k) {
    const BranchPoint& a = points[k];
    const BranchPoint& b = points[k + 1];
    if (a.signature.periods != periods && b.signature.periods != periods) continue;
    if ((parameter - a.parameter) * (parameter - b.parameter) > 0) continue;
    const double width = b.parameter - a.parameter;
    const double share = width == 0 ? 0 : (parameter - a.parameter) / width;
    try_from(a, b, share);
    if (best > 1e-10) try_from(a, b, share < 0.5 ? 0 : 1);
  }
  return best;
}

}  // namespace graze
