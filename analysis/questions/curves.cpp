/// Curves: loci of bifurcations over two parameters, and the points where they meet.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/curve_data.hpp"
#include "analysis/continuation/located_points.hpp"
#include "analysis/continuation/orbit_units.hpp"
#include "analysis/continuation/settled_start.hpp"
#include "analysis/maps/map_keys.hpp"
#include "analysis/questions/curve_setting.hpp"
#include "analysis/run/in_parts.hpp"
#include "analysis/run/registry.hpp"

namespace graze {
namespace {

class Curves final : public AnalysisInParts {
 public:
  explicit Curves(const Problem& problem);

  std::optional<Dataset> compute_with(const Box& box, Journal& journal) const override;

 private:
  const Model& model() const { return *problem_.model; }
  std::vector<BifurcationKind> read_kinds() const;
  void check_inside(const std::vector<LocatedPoint>& points) const;
  std::vector<LocatedPoint> located_from(const Start& start, const Family& family,
                                         const Budget& budget) const;

  Problem problem_;
  Plane plane_;
  CurveSetOptions options_;
  AttractorOptions attractor_;
  std::vector<BifurcationKind> kinds_;
  bool from_state_ = true;
};

BifurcationKind kind_named(const Value& name, const std::string& key) {
  const auto& names = bifurcation_names();
  const auto found = std::find(names.begin(), names.end(), name.text(key));
  const auto kind = static_cast<BifurcationKind>(found - names.begin());
  if (found != names.end() && has_curve(kind)) return kind;
  std::string rule = "must be one of";
  for (std::size_t k = 0; k < names.size(); ++k)
    if (has_curve(static_cast<BifurcationKind>(k))) rule += " " + names[k];
  throw InputError(name.place(), key, name.toml(), rule);
}

Curves::Curves(const Problem& problem) : problem_(problem) {
  const Value& table = problem.analysis;
  const CurveSetting setting = read_curve_setting(problem);
  plane_ = setting.plane;
  options_ = setting.options;
  attractor_ = read_attractor_options(table);
  options_.limits.seconds = read_seconds(table);
  options_.walk.beyond = table.at("beyond").boolean("analysis.beyond");
  kinds_ = read_kinds();
  from_state_ = table.at("start").text("analysis.start") == "state";
  if (!from_state_) {
    const Value& start = table.at("start");
    if (!problem_.sweep)
      throw InputError(start.place(), "analysis.start", start.toml(),
                       "needs the key branches, the result file of a continuation");
    check_inside(located_points(*problem_.sweep, plane_, table.at("branches")));
    return;
  }
  const double at = plane_.family.values[static_cast<std::size_t>(plane_.family.parameter)];
  const double at2 = plane_.family.values[static_cast<std::size_t>(plane_.second)];
  const CurveOptions& w = options_.walk;
  const bool inside = w.from[0] <= at && at <= w.to[0] && w.from[1] <= at2 && at2 <= w.to[1];
  if (!inside)
    throw InputError(
        table.at("axis").place(), "analysis.axis", table.at("axis").toml(),
        "start = \"state\": the values of both parameters in [model] must lie within from ... to");
}

/// All points of a continuation have one value of the parameter that it does not run over.
void Curves::check_inside(const std::vector<LocatedPoint>& points) const {
  const CurveOptions& w = options_.walk;
  for (int axis = 0; axis < 2; ++axis) {
    const auto inside = [&](const LocatedPoint& p) {
      const double value = axis == 0 ? p.seed.orbit.parameter : p.seed.second;
      return w.from[axis] <= value && value <= w.to[axis];
    };
    if (points.empty() || std::any_of(points.begin(), points.end(), inside)) continue;
    const Value& key = problem_.analysis.at(axis == 0 ? "axis" : "axis2");
    throw InputError(key.place(), axis == 0 ? "analysis.axis" : "analysis.axis2", key.toml(),
                     "none of the points of the continuation lies within from ... to");
  }
}

std::vector<BifurcationKind> Curves::read_kinds() const {
  const Value& table = problem_.analysis;
  std::vector<BifurcationKind> kinds;
  if (const Value* kind = table.find("kind")) kinds.push_back(kind_named(*kind, "analysis.kind"));
  if (const Value* list = table.find("kinds"))
    for (const Value& kind : list->array("analysis.kinds"))
      kinds.push_back(kind_named(kind, "analysis.kinds"));
  return kinds;
}

/// The points on the branch through an orbit, over the first parameter, nearest first.
std::vector<LocatedPoint> Curves::located_from(const Start& start, const Family& family,
                                               const Budget& budget) const {
  if (start.periods == 0) return {};
  const double at = start.parameter;
  const auto near = between_events(family, {at, start.orbit.front(), start.periods, start.turn, 0});
  const auto orbit = near ? find_orbit(family, *near) : std::nullopt;
  if (!orbit) return {};
  ContinuationOptions range;
  range.from = options_.walk.from[0];
  range.to = options_.walk.to[0];
  Walk walk;
  walk.options = range;
  walk.known = [&budget](const BranchPoint&) { return budget.late() ? used_up : ""; };
  const Branch branch = continue_branch(family, *orbit, walk);
  std::vector<LocatedPoint> points;
  for (const Bifurcation& b : branch.bifurcations)
    points.push_back({seed_at(b, family.values[static_cast<std::size_t>(plane_.second)]),
                      "the branch of the initial state"});
  std::stable_sort(points.begin(), points.end(), [at](const LocatedPoint& a, const LocatedPoint& b) {
    return std::abs(a.seed.orbit.parameter - at) < std::abs(b.seed.orbit.parameter - at);
  });
  return points;
}

std::optional<Dataset> Curves::compute_with(const Box&, Journal& journal) const {
  const Family& family = plane_.family;
  Start start;
  std::vector<LocatedPoint> points;
  Units units;
  if (from_state_) {
    const double value = family.values[static_cast<std::size_t>(family.parameter)];
    start = settled_start(family, value, problem_.start(), attractor_, "initial state");
    units = units_of(family, {start});
  } else {
    points = located_points(*problem_.sweep, plane_, problem_.analysis.at("branches"));
    if (!points.empty()) units = units_of(plane_.at(points.front().seed.second), points.front().seed.orbit);
  }
  const Plane plane = in_units(plane_, units);
  CurveSet set(plane, options_, journal);
  for (LocatedPoint& p : points) p.seed.orbit = in_units(std::move(p.seed.orbit), units);
  if (from_state_) points = located_from(in_units(std::move(start), units), plane.family, set.budget());
  const CurveOptions& w = options_.walk;
  std::erase_if(points, [&](const LocatedPoint& p) {
    const double at = p.seed.orbit.parameter;
    const bool inside =
        w.from[0] <= at && at <= w.to[0] && w.from[1] <= p.seed.second && p.seed.second <= w.to[1];
    return !inside ||
           (!kinds_.empty() && std::find(kinds_.begin(), kinds_.end(), p.seed.kind) == kinds_.end());
  });
  std::vector<TriedStart> tried;
  for (std::size_t k = 0; k < points.size(); ++k) {
    journal.progress(static_cast<double>(k) / static_cast<double>(points.size()));
    if (journal.stop()) return std::nullopt;
    tried.push_back({points[k].seed, set.take(points[k].seed, points[k].text())});
  }
  if (journal.stop()) return std::nullopt;
  Dataset data = curves_data(plane, set, problem_.observables.get());
  data.groups.push_back({"start", starts_data(plane, tried)});
  return data;
}

std::vector<Key> curves_keys() {
  std::vector<Key> keys = map_keys();
  add_curve_keys(keys, {"parameter", "from", "to"});
  Key& start =
      add_key(keys, "start", Key::Type::text,
              "where curves begin: at the points located on the branch, over the first parameter, of what "
              "[initial] settles to, or at those of a result of continue");
  start.choices = {"state", "from_continue"};
  start.fallback = Value("state");
  add_key(
      keys, "branches", Key::Type::text,
      "start = \"from_continue\": its result file, over one of the two parameters, from the folder of the "
      "case file, else from the current one");
  add_key(keys, "kind", Key::Type::text, "kind of the curves; default: all that have defining equations");
  add_key(keys, "kinds", Key::Type::open, "several kinds, a list of texts");
  Key& beyond = add_key(keys, "beyond", Key::Type::boolean,
                        "whether to go on where no motion takes the orbits, as behind a penetrated stop "
                        "(admissible = 0)");
  beyond.fallback = Value(false);
  add_seconds_key(keys);
  return keys;
}

}  // namespace

GRAZE_ANALYSIS(curves) {
  return {"curves", "curves of bifurcations over two parameters, and the points of codimension two on them",
          curves_keys(), analysis_of<Curves>};
}

}  // namespace graze
