#include "analysis/branch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace graze {
namespace {

constexpr double near = 1e-2;  // of the orbit's size: worth a refinement

/// One direction; `points` gets what lies behind the start.
std::string walk(const Family& family, const Solution& start, int direction,
                 const ContinuationOptions& options, std::vector<BranchPoint>& points,
                 std::vector<Bifurcation>& bifurcations) {
  Continuation continuation(family, start, direction, options);
  while (continuation.next()) {
    bifurcations.insert(bifurcations.end(), continuation.passed().begin(), continuation.passed().end());
    points.push_back(continuation.point());
  }
  bifurcations.insert(bifurcations.end(), continuation.passed().begin(), continuation.passed().end());
  return continuation.end();
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

}  // namespace

Branch continue_branch(const Family& family, const Solution& start, const ContinuationOptions& options) {
  Branch branch;
  std::vector<BranchPoint> back;
  std::vector<Bifurcation> back_points;
  branch.begins = walk(family, start, -1, options, back, back_points);
  branch.points.assign(back.rbegin(), back.rend());
  branch.bifurcations.assign(back_points.rbegin(), back_points.rend());
  branch.points.push_back(start.point);
  if (branch.begins == closed_branch) {
    branch.ends = branch.begins;
    return branch;
  }
  branch.ends = walk(family, start, +1, options, branch.points, branch.bifurcations);
  thin(branch.bifurcations, options.to - options.from);
  return branch;
}

Branch continue_doubled(const Family& family, const Solution& start, const Bifurcation& from,
                        const ContinuationOptions& options) {
  Branch branch;
  branch.begins = "period doubling";
  branch.points.push_back(start.point);
  const Eigen::VectorXd way = start.tangent.head(from.state.size());
  const bool away = way.dot(start.point.state - from.state) > 0;
  const int direction = (start.parameter_slope() > 0) == away ? 1 : -1;
  branch.ends = walk(family, start, direction, options, branch.points, branch.bifurcations);
  thin(branch.bifurcations, options.to - options.from);
  return branch;
}

double distance_to(const Family& family, const Branch& branch, double parameter,
                   const std::vector<Eigen::VectorXd>& orbit, int periods) {
  double best = std::numeric_limits<double>::infinity();
  const auto try_from = [&](const BranchPoint& a, const BranchPoint& b, double share) {
    if (a.orbit.empty() || b.orbit.empty()) return;
    const auto between = [share](const auto& x, const auto& y) -> std::decay_t<decltype(x)> {
      return x + share * (y - x);
    };
    if (nearest(orbit, between(a.orbit.front(), b.orbit.front())).second > near * a.size) return;
    const auto found =
        find_orbit(family, {parameter, between(a.state, b.state), periods, between(a.period, b.period)});
    if (found && !found->point.orbit.empty())
      best = std::min(best, nearest(orbit, found->point.orbit.front()).second);
  };
  for (std::size_t k = 0; k + 1 < branch.points.size() && best > 1e-10; ++k) {
    const BranchPoint& a = branch.points[k];
    const BranchPoint& b = branch.points[k + 1];
    if (a.signature.periods != periods && b.signature.periods != periods) continue;
    if ((parameter - a.parameter) * (parameter - b.parameter) > 0) continue;
    const double width = b.parameter - a.parameter;
    const double share = width == 0 ? 0 : (parameter - a.parameter) / width;
    try_from(a, b, share);
    const BranchPoint& closer = share < 0.5 ? a : b;
    if (best > 1e-10) try_from(closer, closer, 0);
  }
  return best;
}

}  // namespace graze
