#include "analysis/continuation/branch_set.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/branch_part.hpp"
#include "analysis/continuation/switching.hpp"
#include "analysis/run/execute.hpp"

namespace graze {
namespace {

/// Whether other branches leave a branch at such a point.
bool is_switch(const Bifurcation& b) {
  return b.kind == BifurcationKind::period_doubling || b.kind == BifurcationKind::branch_point;
}

Start as_start(const BranchPoint& p) { return {p.parameter, p.orbit, p.signature.periods, p.period, {}}; }

}  // namespace

std::optional<Atlas::Place> Atlas::find(const Start& start, const Search& search) const {
  double size = 1;
  for (const Eigen::VectorXd& state : start.orbit) size = std::max(size, state.cwiseAbs().maxCoeff());
  std::optional<Place> best;
  for (std::size_t b = search.first; b < std::min(search.last, branches_.size()); ++b) {
    const double distance =
        distance_to(family_, branches_[b].points, start.parameter, start.orbit, start.periods, search.near);
    if (distance <= on_branch * size && (!best || distance < best->distance)) best = {b, distance};
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
  if (full()) {
    budget_.leave_start();
    return std::nullopt;
  }
  const auto solution = refined(start);
  if (!solution) return std::nullopt;
  const std::size_t first = branches_.size();
  if (!recall()) keep(continue_branch(family_, *solution, walk(first)), start.origin);
  follow_switches(first);
  return find(start, {.first = first});
}

/// As far as to one of the branches of numbers below `known`.
Walk Atlas::walk(std::size_t known) const {
  Walk walk;
  walk.options = options_.continuation;
  walk.threads = journal_.threads;
  walk.known = [this, known](const BranchPoint& p) -> std::string {
    if (budget_.late()) return used_up;
    const auto place = find(as_start(p), {.last = known, .near = walking_near});
    return place ? "goes on as branch " + std::to_string(place->branch) : "";
  };
  return walk;
}

/// The next branch from the journal; false: it must be computed.
bool Atlas::recall() {
  const auto kept = journal_.recall(branches_.size());
  if (kept) branches_.push_back(unpacked(*kept));
  return kept.has_value();
}

void Atlas::keep(Branch branch, const std::string& origin) {
  branch.origin = origin;
  // Where branches meet, each has located the place: it is told of the first.
  const double range = options_.continuation.to - options_.continuation.from;
  std::erase_if(branch.bifurcations, [&](const Bifurcation& b) {
    return std::any_of(branches_.begin(), branches_.end(), [&](const Branch& known) {
      return std::any_of(known.bifurcations.begin(), known.bifurcations.end(),
                         [&](const Bifurcation& k) { return is_same_point(k, b, range); });
    });
  });
  journal_.keep(branches_.size(), packed(branch));
  branches_.push_back(std::move(branch));
}

/// The branches that leave the branches from number `first` on, some at a time.
void Atlas::follow_switches(std::size_t first) {
  constexpr std::size_t at_once = 2;  // more would meet each other too often
  for (int generation = 0; generation < options_.generations; ++generation) {
    const std::size_t last = branches_.size();
    std::vector<Departure> waiting;
    for (std::size_t b = first; b < last; ++b) {
      const std::vector<Bifurcation> points = branches_[b].bifurcations;
      for (const Bifurcation& at : points) {
        if (journal_.stop()) return;
        if (!is_switch(at)) continue;
        if (full()) {
          budget_.leave_point();
          continue;
        }
        for (Departure& departure : departures(at, b)) {
          waiting.push_back(std::move(departure));
          if (waiting.size() < at_once) continue;
          add(waiting);
          waiting.clear();
        }
      }
    }
    add(waiting);
    first = last;
  }
}

/// So near to it orbits are not exact enough for find().
bool Atlas::ends_at(const Bifurcation& doubling) const {
  constexpr double near = 1e-6;   // of the range
  constexpr double small = 1e-3;  // of the size, or
  constexpr double share = 0.1;   // of the way between the halves: a doubled orbit grows by a root
  const double range = options_.continuation.to - options_.continuation.from;
  const auto is_there = [&](const BranchPoint& p) {
    if (p.signature.periods != 2 * doubling.periods || p.orbit.empty() ||
        !(std::abs(p.parameter - doubling.parameter) <= near * range))
      return false;
    // Without forcing the halves may meet the section in different numbers.
    const std::size_t other = p.orbit.size() % 2 == 0 ? p.orbit.size() / 2 : 0;
    const Eigen::VectorXd apart = p.orbit[other] - p.orbit[0];
    const double within = std::max(small * doubling.size, share * apart.cwiseAbs().maxCoeff());
    return passes_by(doubling.orbit, p.orbit[0] + apart / 2, within);
  };
  return doubling.kind == BifurcationKind::period_doubling &&
         std::any_of(branches_.begin(), branches_.end(), [&](const Branch& b) {
           return !b.points.empty() && (is_there(b.points.front()) || is_there(b.points.back()));
         });
}

/// Orbits that leave a branch at a switch and lie on no branch yet.
std::vector<Atlas::Departure> Atlas::departures(const Bifurcation& at, std::size_t from) const {
  std::vector<Departure> list;
  if (ends_at(at)) return list;
  const std::string origin =
      bifurcation_names()[static_cast<std::size_t>(at.kind)] + " of branch " + std::to_string(from);
  for (Solution& solution : switched(family_, at, options_.continuation)) {
    if (!find(as_start(solution.point))) list.push_back({std::move(solution), at, origin});
  }
  return list;
}

Branch Atlas::departing(const Departure& d, std::size_t known, int threads) const {
  Walk way = walk(known);
  way.threads = threads;
  return d.at.kind == BifurcationKind::period_doubling ? continue_doubled(family_, d.start, d.at, way)
                                                       : continue_branch(family_, d.start, way);
}

/// All at the same time: none knows of the others, whether they are computed now or come from the journal, so
/// those are dropped that turn out to begin on one before them.
void Atlas::add(const std::vector<Departure>& group) {
  if (group.empty()) return;
  const std::size_t known = branches_.size();
  std::vector<Branch> made(group.size());
  const bool kept = recall();
  if (!kept) {
    const int each = group.size() > 1 ? 1 : journal_.threads;
    call_each(journal_.threads, group.size(),
              [&](std::size_t k) { made[k] = departing(group[k], known, each); });
  }
  for (std::size_t k = kept ? 1 : 0; k < group.size(); ++k) {
    if (k > 0 && full()) {
      budget_.leave_point();
      continue;
    }
    const auto is_known = [&] { return ends_at(group[k].at) || find(as_start(group[k].start.point)); };
    if (k > 0 && (is_known() || recall())) continue;
    if (made[k].points.empty()) made[k] = departing(group[k], known, journal_.threads);
    keep(std::move(made[k]), group[k].origin);
  }
}

}  // namespace graze
