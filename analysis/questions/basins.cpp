/// Basins: which attractor each of many initial states leads to, for one set of parameters.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "analysis/maps/attractor.hpp"
#include "analysis/maps/map_keys.hpp"
#include "analysis/maps/observables.hpp"
#include "analysis/run/axis.hpp"
#include "analysis/run/points.hpp"
#include "analysis/run/random_start.hpp"
#include "analysis/run/registry.hpp"
#include "core/system/memoising_system.hpp"

namespace graze {
namespace {

constexpr std::int32_t nowhere = -1;  // the basin of a start whose motion failed

/// One state over which the initial states are spread.
struct StateAxis {
  int state = 0;
  std::vector<double> values;
};

class Basins final : public Analysis {
 public:
  explicit Basins(const Problem& problem);

  Dataset layout() const override;
  std::vector<std::string> point_dimensions() const override;
  std::size_t least_points() const override {
    return least_attractors(model(), section_, problem_.tolerance, Box{{}, extents()}.points());
  }
  std::vector<Box> blocks(std::size_t points) const override {
    return split(extents(), std::max<std::size_t>(points, 1));
  }
  Dataset compute(const Box& box) const override;
  std::unique_ptr<Digest> digest() const override;

 private:
  const Model& model() const { return *problem_.model; }
  std::size_t state_count() const { return model().states().size(); }
  bool is_random() const { return axes_.empty(); }
  std::vector<std::size_t> extents() const;
  void read_axes(const Value& table);
  void read_sample(const Value& table);
  Dataset shape(const std::vector<std::size_t>& extents) const;
  std::optional<HybridState> start_of(System& system, const Box& box, std::size_t index) const;
  void store(const Attractor& found, const std::optional<HybridState>& start, std::size_t point,
             Dataset& block) const;

  Problem problem_;
  std::vector<StateAxis> axes_;
  std::size_t samples_ = 0;
  StartBox sample_box_;
  Section section_;
  AttractorOptions options_;
};

Basins::Basins(const Problem& problem) : problem_(problem) {
  const Value& table = problem.analysis;
  section_ = read_section(table, model(), problem.tolerance);
  options_ = read_attractor_options(table);
  read_axes(table);
  read_sample(table);
  if (!model().system(model().values(), problem.tolerance)) {
    throw InputError(Place{}, "model", "these parameters",
                     "make no system: " + advice(Outcome::bad_parameters));
  }
}

void Basins::read_axes(const Value& table) {
  for (const char* name : {"axis", "axis2", "axis3", "axis4"}) {
    const Value* axis = table.find(name);
    if (axis == nullptr) continue;
    const std::string path = std::string("analysis.") + name;
    const Value& state = axis->at("state");
    const int index = index_of(model().states(), state, path + ".state");
    for (const StateAxis& other : axes_) {
      if (other.state == index) {
        throw InputError(state.place(), path + ".state", state.toml(), "two axes go over the same state");
      }
    }
    axes_.push_back({index, axis_values(*axis, path)});
  }
}

void Basins::read_sample(const Value& table) {
  const Value* samples = table.find("samples");
  if ((samples != nullptr) != is_random()) {
    throw InputError(
        table.place(), "analysis", "basins",
        "needs either axis (and axis2, …) for a grid of initial states or samples for random ones");
  }
  for (const char* key : {"low", "high"}) {
    const Value* list = table.find(key);
    const std::string path = std::string("analysis.") + key;
    if ((list != nullptr) != is_random()) {
      throw InputError(list != nullptr ? list->place() : table.place(), path,
                       list != nullptr ? list->toml() : "", "goes with samples, one number per state");
    }
  }
  if (is_random()) sample_box_ = read_start_box(table, state_count());
  if (samples != nullptr) samples_ = static_cast<std::size_t>(samples->integer("analysis.samples"));
}

std::vector<std::size_t> Basins::extents() const {
  if (is_random()) return {samples_};
  std::vector<std::size_t> result;
  for (const StateAxis& axis : axes_) result.push_back(axis.values.size());
  return result;
}

std::vector<std::string> Basins::point_dimensions() const {
  if (is_random()) return {"sample"};
  std::vector<std::string> names;
  for (const StateAxis& axis : axes_)
    names.push_back(model().states()[static_cast<std::size_t>(axis.state)].name);
  return names;
}

Array array_of(const char* name, std::vector<std::string> dimensions, Array::Values values,
               const char* meaning, std::vector<std::string> flags = {}) {
  return {name, std::move(dimensions), std::move(values), "1", meaning, std::move(flags), {}};
}

/// Every array over these extents of the point dimensions, without values.
Dataset Basins::shape(const std::vector<std::size_t>& extents) const {
  PointArrays arrays(point_dimensions(), extents);
  arrays.dimension("state", state_count());
  const auto add = [&](const char* name, bool per_state, Array::Values like, const char* meaning,
                       std::vector<std::string> flags = {}) {
    const std::vector<std::string> further(per_state ? 1 : 0, "state");
    arrays.add(name, further, std::move(like), "1", meaning, std::move(flags));
  };
  using I8 = std::vector<std::int8_t>;
  using I32 = std::vector<std::int32_t>;
  using I64 = std::vector<std::int64_t>;
  using F64 = std::vector<double>;
  if (is_random()) add("start_state", true, F64{}, "initial state");
  add("attractor", false, I8{}, "what the motion settles to", attractor_names());
  add("period", false, I32{}, "iterates of the map after which a periodic attractor closes, else 0");
  add("orbit_state", true, F64{}, "a point of the refined periodic orbit");
  add("orbit_time", false, F64{}, "its time since phase zero of the forcing");
  add("state_low", true, F64{}, "least value over the recorded iterates");
  add("state_high", true, F64{}, "greatest value over the recorded iterates");
  add("lyapunov", false, F64{}, "largest Lyapunov exponent per time");
  add("lyapunov_error", false, F64{}, "standard error of the exponent; 0 when periodic");
  add("transient_used", false, I32{}, "map iterates dropped before the recorded ones");
  add("chaotic_iterates", false, I64{},
      "map iterates from the start on over which the motion has looked chaotic: when chaotic, so far; when "
      "periodic, until it was seen to settle, 0: never");
  if (problem_.observables) problem_.observables->add_arrays(arrays, "the orbit or window");
  add("outcome", false, I8{}, "what happened numerically", outcome_names());
  return arrays.take();
}

Dataset Basins::layout() const {
  Dataset data = shape(extents());
  for (const StateAxis& axis : axes_) {
    const Quantity& state = model().states()[static_cast<std::size_t>(axis.state)];
    data.arrays.push_back(
        {state.name, {state.name}, axis.values, state.unit, "initial " + state.meaning, {}, {}});
  }
  data.arrays.push_back(names_coordinate("state", model().states(), "state of the model"));
  return data;
}

/// The initial state of point number `index` of a box (the last dimension running fastest). Nothing: no
/// motion may start there, or in the whole box of a sample.
std::optional<HybridState> Basins::start_of(System& system, const Box& box, std::size_t index) const {
  HybridState state = problem_.start();
  if (is_random()) {
    if (draw_start(system, sample_box_, problem_.seed, box.offset[0] + index, state)) return state;
    return std::nullopt;
  }
  for (std::size_t d = axes_.size(); d-- > 0;) {
    state.x(axes_[d].state) = axes_[d].values[box.offset[d] + index % box.count[d]];
    index /= box.count[d];
  }
  if (may_start(system, state)) return state;
  return std::nullopt;
}

Dataset Basins::compute(const Box& box) const {
  Dataset block = shape(box.count);
  fill_missing(block);
  const std::size_t points = box.points();
  for (std::size_t first = 0; first < points; first += motions_at_once) {
    std::vector<std::unique_ptr<System>> systems;
    std::vector<std::optional<HybridState>> starts;
    for (std::size_t point = first; point < std::min(points, first + motions_at_once); ++point) {
      systems.push_back(recalling(model().system(model().values(), problem_.tolerance)));
      starts.push_back(start_of(*systems.back(), box, point));
    }
    const std::vector<Attractor> found = find_attractors(systems, starts, section_, options_);
    for (std::size_t k = 0; k < found.size(); ++k) {
      store(found[k], starts[k], first + k, block);
      if (!problem_.observables || found[k].outcome != Outcome::ok) continue;
      const auto seen =
          observe(*problem_.observables, model().values(), *systems[k], ways_of(found[k]), section_);
      problem_.observables->store(seen, first + k, block);
    }
  }
  return block;
}

/// Writes what was found into the block's arrays, at its point number `point`.
void Basins::store(const Attractor& found, const std::optional<HybridState>& start, std::size_t point,
                   Dataset& block) const {
  const std::size_t width = state_count();
  if (is_random() && start)
    std::copy(start->x.begin(), start->x.end(), row_of<double>(block, "start_state", point, width));
  *row_of<std::int8_t>(block, "attractor", point) = static_cast<std::int8_t>(found.kind);
  *row_of<std::int8_t>(block, "outcome", point) = static_cast<std::int8_t>(found.outcome);
  if (found.outcome != Outcome::ok) return;
  *row_of<std::int32_t>(block, "period", point) = found.orbit.period;
  *row_of<std::int32_t>(block, "transient_used", point) = found.transient_used;
  *row_of<double>(block, "lyapunov", point) = found.lyapunov;
  *row_of<double>(block, "lyapunov_error", point) = found.lyapunov_error;
  *row_of<std::int64_t>(block, "chaotic_iterates", point) = found.chaotic_iterates;
  if (found.kind == AttractorClass::periodic) {
    const HybridState& orbit = found.orbit.start;
    std::copy(orbit.x.begin(), orbit.x.end(), row_of<double>(block, "orbit_state", point, width));
    *row_of<double>(block, "orbit_time", point) = orbit.time;
  }
  double* low = row_of<double>(block, "state_low", point, width);
  double* high = row_of<double>(block, "state_high", point, width);
  const std::vector<double>& all = found.points.x();
  for (std::size_t k = 0; k < all.size(); ++k) {
    low[k % width] = std::fmin(low[k % width], all[k]);
    high[k % width] = std::fmax(high[k % width], all[k]);
  }
}

// ---- All points together: which attractors there are
// -------------------------------------------------------

/// One attractor, as known so far.
struct Known {
  AttractorClass kind = AttractorClass::failed;
  std::vector<HybridState> orbit;  ///< all points, when periodic
  std::vector<double> low, high;   ///< box of what was seen of it, when not
  std::int64_t points = 0;         ///< that lead to it
  std::size_t merged_into = 0;  ///< index of the attractor that it has turned out to be a part of, or its own
};

/// Tells attractors apart and numbers them.
///
/// Two periodic orbits are one when they have the same period and a point of the one lies within 1e-6 of its
/// size of a point of the other: refined orbits of one attractor agree to about 1e-10, whichever of their
/// points they begin at. Other motions have no orbit to compare. Those of one class are taken for one
/// attractor where the boxes that they fill overlap, or come as near to each other, as where a state dies out
/// from either side. Boxes grow by what is joined; chaotic attractors that are wound into each other are not
/// told apart.
class BasinDigest final : public Digest {
 public:
  BasinDigest(std::unique_ptr<System> system, const Section& section, const std::vector<Quantity>& states,
              std::vector<std::string> point_dimensions, std::vector<std::size_t> extents)
      : system_(std::move(system)),
        map_(*system_, section),
        width_(states.size()),
        point_dimensions_(std::move(point_dimensions)),
        extents_(std::move(extents)) {}

  void learn(const Dataset& block) override;
  Dataset conclude() override;
  Dataset describe(const Dataset& block) override;

 private:
  std::int32_t recognise(const Dataset& block, std::size_t point);
  std::size_t recognise_orbit(const Dataset& block, std::size_t point);
  std::size_t recognise_box(AttractorClass kind, const Dataset& block, std::size_t point);
  bool is_on(const HybridState& state, const std::vector<HybridState>& orbit) const;
  bool touch(const Known& a, const Known& b) const;
  std::size_t root(std::size_t index) const;
  void number();
  void add_fractions(Dataset& data) const;
  void add_orbits(Dataset& data) const;
  void add_uncertainty(Dataset& data) const;
  double uncertain_share(std::size_t distance) const;

  static constexpr double nearness = 1e-6;  // of the size

  std::unique_ptr<System> system_;
  PoincareMap map_;
  std::size_t width_;
  std::vector<std::string> point_dimensions_;
  std::vector<std::size_t> extents_;
  std::vector<Known> known_;
  std::vector<std::int32_t> basin_;  ///< of all points in the order of their places
  std::vector<std::size_t> order_;   ///< indices of the attractors that remain, largest basin first
  std::size_t described_ = 0;        ///< points whose basins have been given out
};

void BasinDigest::learn(const Dataset& block) {
  const std::size_t points = std::get<std::vector<std::int8_t>>(block.at("outcome").values).size();
  for (std::size_t point = 0; point < points; ++point) basin_.push_back(recognise(block, point));
}

std::int32_t BasinDigest::recognise(const Dataset& block, std::size_t point) {
  const auto kind = static_cast<AttractorClass>(*row_of<std::int8_t>(block, "attractor", point));
  if (kind == AttractorClass::failed) return nowhere;
  const std::size_t index =
      kind == AttractorClass::periodic ? recognise_orbit(block, point) : recognise_box(kind, block, point);
  ++known_[index].points;
  return static_cast<std::int32_t>(index);
}

std::size_t BasinDigest::recognise_orbit(const Dataset& block, std::size_t point) {
  const auto period = static_cast<std::size_t>(*row_of<std::int32_t>(block, "period", point));
  HybridState state;
  state.time = *row_of<double>(block, "orbit_time", point);
  state.x = Eigen::Map<const Eigen::VectorXd>(row_of<double>(block, "orbit_state", point, width_),
                                              static_cast<Eigen::Index>(width_));
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (known_[i].orbit.size() == period && is_on(state, known_[i].orbit)) return i;
  }
  Known fresh;
  fresh.kind = AttractorClass::periodic;
  for (std::size_t k = 0; k < period; ++k) {
    fresh.orbit.push_back(state);
    if (map_.iterate(state) != Outcome::ok) break;
  }
  fresh.orbit.resize(period, fresh.orbit.back());
  fresh.merged_into = known_.size();
  known_.push_back(std::move(fresh));
  return known_.size() - 1;
}

bool BasinDigest::is_on(const HybridState& state, const std::vector<HybridState>& orbit) const {
  double size = 0;
  for (const HybridState& p : orbit) size = std::max(size, map_.size(p));
  return std::any_of(orbit.begin(), orbit.end(),
                     [&](const HybridState& p) { return map_.distance(state, p, size) <= nearness; });
}

/// Whether two boxes do; also where there is nothing to compare: unbounded motions.
bool BasinDigest::touch(const Known& a, const Known& b) const {
  Eigen::VectorXd apart(width_), extent(width_);
  for (std::size_t i = 0; i < width_; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    apart(k) = std::fmax(0, std::fmax(a.low[i] - b.high[i], b.low[i] - a.high[i]));
    extent(k) = 0;
    for (const double end : {a.low[i], a.high[i], b.low[i], b.high[i]})
      extent(k) = std::fmax(extent(k), std::abs(end));
  }
  return map_.size(apart) <= nearness * map_.size(extent);
}

std::size_t BasinDigest::recognise_box(AttractorClass kind, const Dataset& block, std::size_t point) {
  const double* low = row_of<double>(block, "state_low", point, width_);
  const double* high = row_of<double>(block, "state_high", point, width_);
  Known fresh;
  fresh.kind = kind;
  fresh.low.assign(low, low + width_);
  fresh.high.assign(high, high + width_);
  fresh.merged_into = known_.size();
  known_.push_back(std::move(fresh));
  std::size_t last = known_.size() - 1;
  for (std::size_t i = 0; i < last;) {
    Known& other = known_[i];
    if (other.kind != kind || other.merged_into != i || !touch(other, known_[last])) {
      ++i;
      continue;
    }
    // The older one takes the newer one in; grown, it may touch those before it.
    for (std::size_t k = 0; k < width_; ++k) {
      other.low[k] = std::fmin(other.low[k], known_[last].low[k]);
      other.high[k] = std::fmax(other.high[k], known_[last].high[k]);
    }
    known_[last].merged_into = i;
    other.points += known_[last].points;
    if (last == known_.size() - 1) known_.pop_back();
    last = i;
    i = 0;
  }
  return last;
}

std::size_t BasinDigest::root(std::size_t index) const {
  while (known_[index].merged_into != index) index = known_[index].merged_into;
  return index;
}

/// Attractors by the size of their basins, the one that was met first among equals; basins by these numbers.
void BasinDigest::number() {
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (known_[i].merged_into == i) order_.push_back(i);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return known_[a].points > known_[b].points; });
  std::vector<std::int32_t> number(known_.size());
  for (std::size_t n = 0; n < order_.size(); ++n) number[order_[n]] = static_cast<std::int32_t>(n);
  for (std::int32_t& basin : basin_) {
    if (basin != nowhere) basin = number[root(static_cast<std::size_t>(basin))];
  }
}

Dataset BasinDigest::conclude() {
  number();
  Dataset data;
  data.dimensions.push_back({"number", order_.size()});
  data.arrays.push_back(array_of("basin", point_dimensions_, std::vector<std::int32_t>(),
                                 "number of the attractor that the motion settles to, -1: it failed"));
  add_fractions(data);
  add_orbits(data);
  if (point_dimensions_ != std::vector<std::string>{"sample"}) add_uncertainty(data);
  return data;
}

/// A share p of n points has the standard error sqrt(p (1 − p) / n) in a random sample, less on a grid.
void BasinDigest::add_fractions(Dataset& data) const {
  std::vector<std::int8_t> kinds;
  std::vector<std::int32_t> periods;
  std::vector<std::int64_t> points;
  std::vector<double> fractions;
  std::vector<double> errors;
  double all = 0;
  for (const std::size_t i : order_) all += static_cast<double>(known_[i].points);
  for (const std::size_t i : order_) {
    const double p = static_cast<double>(known_[i].points) / all;
    kinds.push_back(static_cast<std::int8_t>(known_[i].kind));
    periods.push_back(static_cast<std::int32_t>(known_[i].orbit.size()));
    points.push_back(known_[i].points);
    fractions.push_back(p);
    errors.push_back(std::sqrt(p * (1 - p) / all));
  }
  data.arrays.push_back(
      array_of("basin_attractor", {"number"}, kinds, "class of the attractor", attractor_names()));
  data.arrays.push_back(
      array_of("basin_period", {"number"}, periods, "period of the attractor, 0: not periodic"));
  data.arrays.push_back(array_of("basin_points", {"number"}, points, "initial states that lead to it"));
  data.arrays.push_back(
      array_of("basin_fraction", {"number"}, fractions, "share of the initial states that did not fail"));
  data.arrays.push_back(array_of("basin_fraction_error", {"number"}, errors,
                                 "standard error of this share (on a grid an upper bound)"));
}

void BasinDigest::add_orbits(Dataset& data) const {
  std::size_t longest = 1;
  for (const std::size_t i : order_) longest = std::max(longest, known_[i].orbit.size());
  std::vector<double> orbits;
  for (const std::size_t i : order_) {
    for (std::size_t k = 0; k < longest; ++k) {
      const bool there = k < known_[i].orbit.size();
      for (std::size_t j = 0; j < width_; ++j) {
        orbits.push_back(there ? known_[i].orbit[k].x(static_cast<Eigen::Index>(j)) : no_value);
      }
    }
  }
  data.dimensions.push_back({"iterate", longest});
  data.arrays.push_back(array_of("basin_orbit", {"number", "iterate", "state"}, orbits,
                                 "the periodic orbits, iterate by iterate"));
}

/// Share of the points with a neighbour at this distance along an axis that leads elsewhere, among those that
/// have all these neighbours.
double BasinDigest::uncertain_share(std::size_t distance) const {
  std::size_t certain = 0;
  std::size_t uncertain = 0;
  std::vector<std::size_t> place(extents_.size(), 0);
  for (std::size_t point = 0; point < basin_.size(); ++point) {
    bool inside = basin_[point] != nowhere;
    bool differs = false;
    std::size_t stride = 1;
    for (std::size_t d = extents_.size(); inside && d-- > 0;) {
      inside = place[d] >= distance && place[d] + distance < extents_[d];
      if (!inside) break;
      for (const std::size_t other : {point - distance * stride, point + distance * stride}) {
        differs = differs || (basin_[other] != nowhere && basin_[other] != basin_[point]);
      }
      stride *= extents_[d];
    }
    if (inside) ++(differs ? uncertain : certain);
    for (std::size_t d = extents_.size(); d-- > 0 && ++place[d] == extents_[d];) place[d] = 0;
  }
  const std::size_t all = certain + uncertain;
  return all == 0 ? no_value : static_cast<double>(uncertain) / static_cast<double>(all);
}

/// The straight line through points: slope and its standard error (NaN where there are too few).
struct Line {
  double slope = no_value;
  double error = no_value;
};

Line fit(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  if (x.size() < 2) return {};
  const double mx = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double my = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) * (y[i] - my);
  }
  const double slope = xy / xx;
  const double left = std::max(0.0, yy - slope * xy);
  return {slope, x.size() > 2 ? std::sqrt(left / ((n - 2) * xx)) : no_value};
}

/// The share f of uncertain points grows with the distance e as e^α; the boundary has the dimension D − α
/// (McDonald, Grebogi, Ott and Yorke, Physica D 17 (1985) 125). Distances in cells of the grid, doubled up to
/// an eighth of its shortest side; the fit takes those with 0 < f <= 1/2.
void BasinDigest::add_uncertainty(Dataset& data) const {
  const std::size_t side = *std::min_element(extents_.begin(), extents_.end());
  std::vector<std::int64_t> distances;
  std::vector<double> shares;
  std::vector<double> log_distance;
  std::vector<double> log_share;
  for (std::size_t distance = 1; 8 * distance <= side; distance *= 2) {
    distances.push_back(static_cast<std::int64_t>(distance));
    shares.push_back(uncertain_share(distance));
    if (!(shares.back() > 0 && shares.back() <= 0.5)) continue;
    log_distance.push_back(std::log(static_cast<double>(distance)));
    log_share.push_back(std::log(shares.back()));
  }
  const Line line = fit(log_distance, log_share);
  data.dimensions.push_back({"scale", distances.size()});
  data.arrays.push_back(
      array_of("uncertainty_distance", {"scale"}, distances, "distance in cells of the grid"));
  data.arrays.push_back(array_of("uncertain_fraction", {"scale"}, shares,
                                 "share of points with a neighbour at this distance in another basin"));
  data.arrays.push_back(array_of("uncertainty_exponent", {}, std::vector<double>{line.slope},
                                 "exponent of the uncertain share over the distance"));
  data.arrays.push_back(array_of("uncertainty_exponent_error", {}, std::vector<double>{line.error},
                                 "standard error of this exponent"));
}

Dataset BasinDigest::describe(const Dataset& block) {
  const std::size_t points = std::get<std::vector<std::int8_t>>(block.at("outcome").values).size();
  const auto begin = basin_.begin() + static_cast<std::ptrdiff_t>(described_);
  described_ += points;
  Dataset data;
  data.arrays.push_back(
      array_of("basin", point_dimensions_,
               std::vector<std::int32_t>(begin, begin + static_cast<std::ptrdiff_t>(points)), ""));
  return data;
}

std::unique_ptr<Digest> Basins::digest() const {
  return std::make_unique<BasinDigest>(model().system(model().values(), problem_.tolerance), section_,
                                       model().states(), point_dimensions(), extents());
}

std::vector<Key> basins_keys() {
  std::vector<Key> keys;
  const char* meaning = "a grid of initial states: a state and its values; the others are those of [initial]";
  for (const char* name : {"axis", "axis2", "axis3", "axis4"}) {
    add_key(keys, name, Key::Type::table, meaning).children = axis_keys("state", "a state of the model");
  }
  Key& samples =
      add_key(keys, "samples", Key::Type::integer, "random initial states in place of a grid: how many");
  samples.range = Range{1, 1e9, false, false};
  add_key(keys, "low", Key::Type::numbers, "samples: smallest initial state, one number per state").range =
      Range::finite();
  add_key(keys, "high", Key::Type::numbers, "samples: greatest initial state, one number per state").range =
      Range::finite();
  for (Key& key : map_keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace

GRAZE_ANALYSIS(basins) {
  return {"basins", "which attractor each of many initial states leads to", basins_keys(),
          analysis_of<Basins>};
}

}  // namespace graze
