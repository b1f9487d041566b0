/// Continue: branches of periodic orbits over one parameter, with their bifurcations.
#include <limits>
#include <optional>
#include <utility>

#include "analysis/continuation/branch_data.hpp"
#include "analysis/continuation/branch_set.hpp"
#include "analysis/continuation/observed_orbits.hpp"
#include "analysis/continuation/orbit_units.hpp"
#include "analysis/continuation/settled_start.hpp"
#include "analysis/continuation/sweep_starts.hpp"
#include "analysis/maps/attractor.hpp"
#include "analysis/maps/map_keys.hpp"
#include "analysis/run/axis.hpp"
#include "analysis/run/in_parts.hpp"
#include "analysis/run/random_start.hpp"
#include "analysis/run/registry.hpp"

namespace graze {
namespace {

/// What has become of an attractor of the sweep.
enum class Fate : std::int8_t { on_branch = 0, off_branch, not_refined, not_periodic, failed, outside };

const std::vector<std::string>& fate_names() {
  static const std::vector<std::string> names = {"on_branch",    "off_branch", "not_refined",
                                                 "not_periodic", "failed",     "outside"};
  return names;
}

/// Of every attractor of a sweep.
struct Fates {
  std::vector<std::int8_t> fate;
  std::vector<std::int32_t> branch;
  std::vector<double> distance;

  explicit Fates(std::size_t n) : fate(n), branch(n, -1), distance(n, no_value) {}
  void set(std::size_t point, Fate f) { fate[point] = static_cast<std::int8_t>(f); }
  void set(std::size_t point, const Atlas::Place& place) {
    set(point, Fate::on_branch);
    branch[point] = static_cast<std::int32_t>(place.branch);
    distance[point] = place.distance;
  }
};

class Continue final : public AnalysisInParts {
 public:
  explicit Continue(const Problem& problem);

  std::optional<Dataset> compute_with(const Box& box, Journal& journal) const override;

 private:
  const Model& model() const { return *problem_.model; }
  void read_axis_of(const Value& axis);
  void read_start(const Value& table);
  std::vector<Start> own_starts() const;
  std::optional<Fates> place(const SweepStarts& sweep, const std::vector<Start>& starts, Atlas& atlas,
                             Journal& journal) const;
  Dataset sweep_data(const Fates& fates) const;

  Problem problem_;
  Family family_;
  AtlasOptions options_;
  AttractorOptions attractor_;
  std::string start_;
  double at_ = 0;
  int starts_ = 1;
  StartBox box_;
};

Continue::Continue(const Problem& problem) : problem_(problem) {
  const Value& table = problem.analysis;
  family_.model = problem.model;
  family_.values = model().values();
  family_.tolerance = problem.tolerance;
  family_.section = read_section(table, model(), problem.tolerance);
  attractor_ = read_attractor_options(table);
  options_.generations = static_cast<int>(table.at("generations").integer("analysis.generations"));
  options_.limits.most = static_cast<std::size_t>(table.at("branches").integer("analysis.branches"));
  options_.limits.seconds = read_seconds(table);
  options_.continuation.step = table.at("step").number("analysis.step");
  options_.continuation.points = static_cast<int>(table.at("points").integer("analysis.points"));
  read_axis_of(table.at("axis"));
  check_continued(table, family_, options_.continuation.from);
  read_start(table);
}

void Continue::read_axis_of(const Value& axis) {
  ContinuationOptions& range = options_.continuation;
  range.from = axis.at("from").number("analysis.axis.from");
  range.to = axis.at("to").number("analysis.axis.to");
  if (!(range.from < range.to)) {
    throw InputError(axis.at("from").place(), "analysis.axis.from", axis.at("from").toml(),
                     "must be less than to");
  }
  Value ends;
  ends.set("parameter", axis.at("parameter"));
  ends.set("values", Value(Value::Array{axis.at("from"), axis.at("to")}));
  family_.parameter = read_axis(ends, model(), "analysis.axis").parameter;
}

void Continue::read_start(const Value& table) {
  start_ = table.at("start").text("analysis.start");
  starts_ = static_cast<int>(table.at("starts").integer("analysis.starts"));
  box_ = read_start_box(table, model().states().size());
  if (start_ == "from_sweep") {
    if (!problem_.sweep) {
      throw InputError(table.at("start").place(), "analysis.start", table.at("start").toml(),
                       "needs the key sweep, a sweep's result file");
    }
    const SweepStarts checked(*problem_.sweep, family_, table.at("sweep"));
    return;
  }
  const Value* at = table.find("at");
  at_ =
      at != nullptr ? at->number("analysis.at") : family_.values[static_cast<std::size_t>(family_.parameter)];
  if (!(options_.continuation.from <= at_ && at_ <= options_.continuation.to)) {
    const Value& named = at != nullptr ? *at : table.at("axis");
    throw InputError(named.place(), "analysis.at", Value(at_).toml(),
                     "the start must lie within from ... to of the axis");
  }
}

std::vector<Start> Continue::own_starts() const {
  HybridState begin = problem_.start();
  const auto settled = [&](const std::string& origin) {
    return settled_start(family_, at_, begin, attractor_, origin);
  };
  if (start_ == "state") return {settled("initial state")};
  std::vector<Start> starts;
  const auto system = family_.system(at_);
  for (int k = 0; k < starts_ && system; ++k) {
    const bool drawn = draw_start(*system, box_, problem_.seed, static_cast<std::uint64_t>(k), begin);
    starts.push_back(drawn ? settled("random start " + std::to_string(k)) : Start{});
  }
  return starts;
}

/// Branches through all attractors of a sweep; what becomes of each. Nothing: stopped.
std::optional<Fates> Continue::place(const SweepStarts& sweep, const std::vector<Start>& starts, Atlas& atlas,
                                     Journal& journal) const {
  Fates fates(sweep.size());
  std::vector<std::size_t> open;
  for (std::size_t k = 0; k < sweep.size(); ++k) {
    journal.progress(static_cast<double>(k) / static_cast<double>(sweep.size()));
    if (journal.stop()) return std::nullopt;
    const double parameter = sweep.parameter(k);
    fates.set(k, sweep.failed(k) ? Fate::failed : Fate::not_periodic);
    if (starts[k].periods == 0) continue;
    fates.set(k, Fate::outside);
    if (parameter < options_.continuation.from || parameter > options_.continuation.to) continue;
    if (const auto place = atlas.take(starts[k])) {
      fates.set(k, *place);
    } else {
      open.push_back(k);
    }
  }
  for (const std::size_t k : open) {  // on branches that were found from others
    if (const auto place = atlas.find(starts[k])) {
      fates.set(k, *place);
    } else {
      fates.set(k, atlas.refined(starts[k]) ? Fate::off_branch : Fate::not_refined);
    }
  }
  return fates;
}

std::optional<Dataset> Continue::compute_with(const Box&, Journal& journal) const {
  std::optional<SweepStarts> sweep;
  if (start_ == "from_sweep") sweep.emplace(*problem_.sweep, family_, problem_.analysis.at("sweep"));
  std::vector<Start> starts = sweep ? sweep->all("attractor of the sweep") : own_starts();
  const Family family = in_units(family_, units_of(family_, starts));
  for (Start& start : starts) start = in_units(std::move(start), family.units);
  Atlas atlas(family, options_, journal);
  std::size_t lost = 0;
  std::optional<Fates> fates;
  if (sweep) {
    fates = place(*sweep, starts, atlas, journal);
    for (std::size_t k = 0; fates && k < fates->distance.size(); ++k)
      fates->distance[k] *= family.units.length;
  } else {
    for (std::size_t k = 0; k < starts.size() && !journal.stop(); ++k) {
      journal.progress(static_cast<double>(k) / static_cast<double>(starts.size()));
      lost += starts[k].periods > 0 && atlas.take(starts[k]) ? 0 : 1;
    }
  }
  if (journal.stop()) return std::nullopt;
  Dataset data = branches_data(family, atlas.branches());
  if (problem_.observables) {
    std::vector<std::pair<const Family*, const BranchPoint*>> points;
    for (const Branch& branch : atlas.branches()) {
      for (const BranchPoint& point : branch.points) points.emplace_back(&family, &point);
    }
    add_observables(data, *problem_.observables, points);
  }
  data.attributes.emplace_back("starts_without_orbit", std::to_string(lost));
  if (const std::string left = atlas.budget().left(); !left.empty())
    data.attributes.emplace_back("left", left);
  if (fates) data.groups.push_back({"sweep", sweep_data(*fates)});
  return data;
}

/// The attractors of the sweep that were started from, and what became of them.
Dataset Continue::sweep_data(const Fates& fates) const {
  const Dataset& sweep = *problem_.sweep;
  const std::vector<std::string>& points = sweep.at("attractor").dimensions;
  Dataset data;
  data.dimensions = sweep.dimensions;
  for (const Array& array : sweep.arrays) {
    const bool coordinate = array.dimensions == std::vector{array.name};
    if (coordinate || array.name == "attractor" || array.name == "period" || array.name == "map_state") {
      data.arrays.push_back(array);
    }
  }
  add_array(data, "fate", points, fates.fate, "what became of the attractor", fate_names());
  add_array(data, "branch", points, fates.branch, "branch on which it lies, -1: none");
  add_array(data, "distance", points, fates.distance, "from the branch, greatest state");
  return data;
}

std::vector<Key> continue_keys() {
  std::vector<Key> keys = map_keys();
  const auto key = [&](const char* name, Key::Type type, const char* meaning) -> Key& {
    return add_key(keys, name, type, meaning);
  };
  const auto integer = [&](const char* name, std::int64_t fallback, double low, const char* meaning) {
    Key& k = key(name, Key::Type::integer, meaning);
    k.fallback = Value(fallback);
    k.range = Range{low, 1e9, false, false};
  };
  Key& axis = key("axis", Key::Type::table, "the parameter and its range");
  axis.required = true;
  for (Key& k : axis_keys()) {
    if (k.name != "parameter" && k.name != "from" && k.name != "to") continue;
    k.required = true;
    axis.children.push_back(std::move(k));
  }
  Key& start = key("start", Key::Type::text,
                   "where orbits come from: what [initial] settles to, what random states settle to, every "
                   "attractor of a sweep");
  start.choices = {"state", "random", "from_sweep"};
  start.fallback = Value("state");
  key("sweep", Key::Type::text,
      "start = \"from_sweep\": its result file, from the folder of the case file, else from the current one");
  key("at", Key::Type::number, "the parameter's value at the start; default: that of the model").range =
      Range::finite();
  integer("starts", 10, 1, "start = \"random\": number of states");
  key("low", Key::Type::numbers, "start = \"random\": smallest start state; default -1").range =
      Range::finite();
  key("high", Key::Type::numbers, "start = \"random\": greatest start state; default 1").range =
      Range::finite();
  const ContinuationOptions defaults;
  Key& step =
      key("step", Key::Type::number, "greatest step along a branch; the whole range of the axis is 1");
  step.fallback = Value(defaults.step);
  step.range = Range{1e-6, 0.5, false, false};
  integer("points", defaults.points, 1, "points of a branch at most, in either direction");
  integer("generations", 1, 0,
          "how often in a row to follow what leaves at period doublings and branch points");
  integer("branches", 400, 1, "branches at most");
  add_seconds_key(keys);
  return keys;
}

}  // namespace

GRAZE_ANALYSIS(continue) {
  return {"continue", "branches of periodic orbits over a parameter, stable or not, and their bifurcations",
          continue_keys(), analysis_of<Continue>};
}

}  // namespace graze
