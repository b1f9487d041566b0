#include "analysis/atlas.hpp"

#include <algorithm>
#include <utility>

#include "analysis/branch_part.hpp"
#include "analysis/switching.hpp"

namespace graze {
namespace {

constexpr double closeness = 1e-9;  // to a branch, of the orbit's size, to lie on it

}  // namespace

std::optional<Atlas::Place> Atlas::find(const Start& start, std::size_t first) const {
  double size = 1;
  for (const Eigen::VectorXd& state : start.orbit) size = std::max(size, state.cwiseAbs().maxCoeff());
  std::optional<Place> best;
  for (std::size_t b = first; b < branches_.size(); ++b) {
    const double distance = distance_to(family_, branches_[b], start.parameter, start.orbit, start.periods);
    if (distance <= closeness * size && (!best || distance < best->distance)) best = {b, distance};
    if (best && best->distance < 1e-10) break;
  }
  return best;
}

std::optional<Solution> Atlas::refined(const Start& start) const {
  const auto near =
      between_events(family_, {start.parameter, start.orbit.front(), start.periods, start.turn});
  return near ? find_orbit(family_, *near) : std::nullopt;
}

std::optional<Atlas::Place> Atlas::take(const Start& start) {
  if (const auto place = find(start)) return place;
  if (full()) return std::nullopt;
  const auto solution = refined(start);
  if (!solution) return std::nullopt;
  const std::size_t first = branches_.size();
  add(start.origin, [&] { return continue_branch(family_, *solution, options_.continuation); });
  follow_switches(first);
  return find(start, first);
}

void Atlas::add(const std::string& origin, const std::function<Branch()>& made) {
  const std::size_t number = branches_.size();
  if (const auto kept = journal_.recall(number)) {
    branches_.push_back(unpacked(*kept));
    return;
  }
  branches_.push_back(made());
  branches_.back().origin = origin;
  journal_.keep(number, packed(branches_.back()));
}

/// The branches that leave the branches from number `first` on.
void Atlas::follow_switches(std::size_t first) {
  for (int generation = 0; generation < options_.generations; ++generation) {
    const std::size_t last = branches_.size();
    for (std::size_t b = first; b < last; ++b) {
      const std::vector<Bifurcation> points = branches_[b].bifurcations;
      for (const Bifurcation& at : points) follow_switch(at, b);
    }
    first = last;
  }
}

void Atlas::follow_switch(const Bifurcation& at, std::size_t from) {
  if (at.kind != BifurcationKind::period_doubling && at.kind != BifurcationKind::branch_point) return;
  if (full() || journal_.stop()) return;
  for (const Solution& solution : switched(family_, at, options_.continuation)) {
    const BranchPoint& p = solution.point;
    if (find({p.parameter, p.orbit, p.signature.periods, p.period, {}})) continue;
    const std::string origin =
        bifurcation_names()[static_cast<std::size_t>(at.kind)] + " of branch " + std::to_string(from);
    const bool doubling = at.kind == BifurcationKind::period_doubling;
    add(origin, [&] {
      return doubling ? continue_doubled(family_, solution, at, options_.continuation)
                      : continue_branch(family_, solution, options_.continuation);
    });
  }
}

}  // namespace graze
