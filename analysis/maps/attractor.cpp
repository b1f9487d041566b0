#include "analysis/maps/attractor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "core/lanes/lanes.hpp"
#include "core/system/memoising_system.hpp"

namespace graze {
namespace {

constexpr double stability_margin = 1e-8;  // multipliers of a stable orbit may exceed 1 by rounding
constexpr double every_scale = 1e12;       // times its scale no motion grows that comes back

/// What a motion must not outgrow, if it begins at `start` and has come to `next` after an iterate: the
/// state, the gaps and what the forces make of them tell the scale of the system.
double bound_of(const System& system, const HybridState& start, const HybridState& next) {
  double scale = std::max(size_of(system, start.x), size_of(system, next.x));
  Eigen::VectorXd gap, rate;
  system.gaps(start, gap, rate);
  for (const double g : gap) {
    if (std::isfinite(g)) scale = std::max(scale, g);
  }
  return scale > 0 ? every_scale * scale : std::numeric_limits<double>::infinity();
}

Outcome step(const PoincareMap& map, HybridState& state, double bound, Observer* observer = nullptr) {
  const Outcome outcome = map.iterate(state, observer);
  return outcome == Outcome::ok && map.size(state) > bound ? Outcome::unbounded : outcome;
}

/// `count` iterates, kept.
Outcome record(const PoincareMap& map, HybridState& state, int count, double bound,
               std::vector<HybridState>& points) {
  points.clear();
  Outcome outcome = Outcome::ok;
  for (int k = 0; k < count && outcome == Outcome::ok; ++k) {
    outcome = step(map, state, bound);
    points.push_back(state);
  }
  return outcome;
}

double size_of_all(const PoincareMap& map, std::span<const HybridState> points) {
  double size = 0;
  for (const HybridState& p : points) size = std::max(size, map.size(p));
  return size;
}

/// The orbit with its smallest period: one that closes after n iterates may close after a divisor of n.
Orbit shortest(const PoincareMap& map, const Orbit& orbit) {
  HybridState state = orbit.start;
  for (int n = 1; n < orbit.period; ++n) {
    if (map.iterate(state) != Outcome::ok) break;
    if (orbit.period % n != 0) continue;
    if (map.distance(state, orbit.start, orbit.size) > 1e-8) continue;
    Orbit shorter = refine_orbit(map, orbit.start, n);
    if (shorter.closed) return shorter;
  }
  return orbit;
}

constexpr double arrived = 1e-9;  // of an orbit's size: nearer to it a motion need not come

/// Whether the motion that stands at `state` comes nearer to the orbit turn by turn, half as fast at least as
/// the multipliers say, until it has arrived or is a thousand times as near. (One that only passes by, as a
/// chaotic one around an orbit with a small basin does, leaves again.)
bool settles(const PoincareMap& map, HybridState state, const Orbit& orbit) {
  constexpr double nearer = 1e-3;
  constexpr int most_turns = 64;
  const double radius = spectral_radius(orbit);
  const double begin = map.distance(state, orbit.start, orbit.size);
  // From afar only multipliers tell: in resonance Newton's method closes an orbit as large as rounding makes
  // it.
  if (begin > 0.1 && !(radius < 1 - 1e-9)) return false;
  double due = 1;  // of the distance at the beginning
  double away = begin;
  for (int turns = 0; turns < most_turns && due > nearer && away > arrived; ++turns) {
    for (int k = 0; k < orbit.period; ++k) {
      if (map.iterate(state) != Outcome::ok) return false;
    }
    away = map.distance(state, orbit.start, orbit.size);
    due *= std::max(radius, nearer);
  }
  return away <= arrived || away <= std::sqrt(due) * begin;
}

/// A stable closed orbit of so many iterates to which the motion that stands at `state` settles; period 0:
/// none. `step`: how far it has moved in the last ones, as a share of its size.
Orbit orbit_nearby(const PoincareMap& map, const HybridState& state, int period, double step) {
  Orbit orbit = refine_orbit(map, state, period);
  if (!orbit.closed) return {};
  const double radius = spectral_radius(orbit);
  if (!(radius <= 1 + stability_margin)) return {};
  const double slow = std::max(1 - radius, 1e-6);
  if (map.distance(state, orbit.start, orbit.size) > 10 * step / slow + arrived) return {};
  return settles(map, state, orbit) ? shortest(map, orbit) : Orbit{};
}

/// The one to which these iterates, the last ones of a motion, converge.
Orbit confirmed_orbit(const PoincareMap& map, std::span<const HybridState> points, int max_period) {
  const double size = size_of_all(map, points);
  const HybridState& last = points.back();
  for (int n = 1; n <= max_period && n < static_cast<int>(points.size()); ++n) {
    const HybridState& before = points[points.size() - 1 - static_cast<std::size_t>(n)];
    const double step = map.distance(last, before, size);
    if (!(step <= 1e-3)) continue;
    Orbit orbit = orbit_nearby(map, last, n, step);
    if (orbit.period > 0) return orbit;
  }
  return {};
}

/// The orbit of a motion that comes back to a state to the last bit within so many iterates, as one does that
/// now and then forgets all that it was; period 0: it does not. (Brent's search for a cycle.)
Orbit returning_orbit(const PoincareMap& map, HybridState state, std::int64_t iterates) {
  HybridState mark = state;
  std::int64_t span = 1;
  int period = 0;
  for (std::int64_t k = 0; k < iterates; ++k) {
    if (map.iterate(state) != Outcome::ok) return {};
    ++period;
    if (go_on_alike(state, mark)) {
      Orbit orbit = refine_orbit(map, state, period);
      return orbit.closed ? orbit : Orbit{};
    }
    if (period < span) continue;
    mark = state;
    span *= 2;
    period = 0;
  }
  return {};
}

double absolute_time(const PoincareMap& map, const HybridState& s) {
  return s.time + static_cast<double>(s.turns) * map.system().period();
}

/// The growth of a tangent vector along a motion.
class Growth {
 public:
  /// `size`: of the motion, beside which directions are measured.
  Growth(const PoincareMap& map, const HybridState& state, double size)
      : map_(map), size_(size > 0 ? size : 1), direction_(map.dimension(), 1) {
    for (Eigen::Index i = 0; i < direction_.rows(); ++i) {
      const double unit = map.share(Eigen::VectorXd::Unit(direction_.rows(), i), state, size_);
      direction_(i, 0) = 1.0 / (static_cast<double>(i + 1) * unit);
    }
  }
  /// So many iterates of `state`; the first few ever only turn the vector.
  Outcome follow(HybridState& state, std::int64_t iterates) {
    for (; turned_ < turning; ++turned_) {
      const Outcome outcome = carry(state);
      if (outcome != Outcome::ok) return outcome;
    }
    const double begin = absolute_time(map_, state);
    for (std::int64_t k = 0; k < iterates; ++k) {
      const Outcome outcome = carry(state);
      if (outcome != Outcome::ok) return outcome;
      logarithms_.push_back(logarithm_);
    }
    time_ += absolute_time(map_, state) - begin;
    return Outcome::ok;
  }
  std::int64_t iterates() const { return static_cast<std::int64_t>(logarithms_.size()); }
  static constexpr int turning = 8;

  /// Logarithm per iterate and its standard error, of the means of eight parts.
  struct Mean {
    double value, error;
  };
  Mean mean() const {
    constexpr std::size_t parts = 8;
    const std::size_t length = logarithms_.size() / parts;
    double sum = 0;
    double squares = 0;
    for (std::size_t k = 0; k < parts; ++k) {
      const auto begin = logarithms_.begin() + static_cast<std::ptrdiff_t>(k * length);
      const double part = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(length), 0.0) /
                          static_cast<double>(length);
      sum += part;
      squares += part * part;
    }
    const double value = sum / parts;
    if (!std::isfinite(value)) return {value, 0};
    return {value, std::sqrt(std::max(0.0, squares / parts - value * value) / (parts - 1))};
  }
  double time_per_iterate() const { return time_ / static_cast<double>(logarithms_.size()); }

 private:
  Outcome carry(HybridState& state) {
    const double before = map_.share(direction_.col(0), state, size_);
    if (before > 0) direction_ /= before;
    const Outcome outcome = map_.iterate(state, direction_);
    logarithm_ = std::log(map_.share(direction_.col(0), state, size_));
    return outcome;
  }

  const PoincareMap& map_;
  double size_;
  Eigen::MatrixXd direction_;
  double logarithm_ = 0;
  int turned_ = 0;
  std::vector<double> logarithms_;
  double time_ = 0;
};

/// Counts over `count` iterates from `start`: once to learn the greatest gaps, once with them.
Outcome tally_window(const PoincareMap& map, const HybridState& start, int count, Attractor& found) {
  Tally scout(map.system());
  for (Tally* tally : {&scout, &found.tally}) {
    HybridState state = start;
    if (tally == &found.tally) found.tally.refer_to(scout);
    tally->open_window(absolute_time(map, start), map.system(), start);
    for (int k = 0; k < count; ++k) {
      const Outcome outcome = map.iterate(state, tally);
      if (outcome != Outcome::ok) return outcome;
    }
    tally->close_window(absolute_time(map, state));
  }
  return Outcome::ok;
}

/// One turn of the orbit to know its points and what is under way at its start, one to count. The points are
/// repeated to `count`.
Outcome follow_orbit(const PoincareMap& map, int count, Attractor& found) {
  found.last = found.orbit.start;
  found.points.clear();
  found.tally = Tally(map.system());
  HybridState state = found.orbit.start;
  std::int64_t turns = 0;  // forcing periods in one orbit
  for (const bool first : {true, false}) {
    found.start_time = absolute_time(map, state);
    found.tally.open_window(found.start_time, map.system(), state);
    for (int k = 0; k < found.orbit.period; ++k) {
      if (first) found.points.push_back(state);
      const Outcome outcome = map.iterate(state, &found.tally);
      if (outcome != Outcome::ok) return outcome;
    }
    if (first) turns = state.turns - found.orbit.start.turns;
  }
  found.end_time = absolute_time(map, state);
  found.tally.close_window(found.end_time);
  const std::size_t period = found.points.size();
  while (found.points.size() < static_cast<std::size_t>(count)) {
    found.points.push_back(found.points[found.points.size() - period]);
    found.points.back().turns += turns;
  }
  return Outcome::ok;
}

/// Whether approaches of this system are moved side by side.
bool goes_together(const System& system, const Section& section) {
  if (system.series_law()) return true;
  return section.kind == Section::Kind::stroboscopic && system.period() > 0 && system.periodic();
}

/// The iterates that a motion has recorded from the state `before` on.
std::vector<HybridState> recorded_points(const LaneMotion& motion, const HybridState& before) {
  std::vector<HybridState> points;
  const Eigen::Index states = motion.state.x.size();
  const Eigen::Index count = static_cast<Eigen::Index>(motion.points.size()) / states;
  for (Eigen::Index k = 0; k < count; ++k) {
    HybridState& point = points.emplace_back();
    point.x = Eigen::Map<const Eigen::VectorXd>(motion.points.data() + k * states, states);
    point.settled = true;
    if (motion.stamps.empty()) {
      point.turns = before.turns + k + 1;
    } else {
      const LaneMotion::Stamp& stamp = motion.stamps[static_cast<std::size_t>(k)];
      point.time = stamp.time;
      point.turns = stamp.turns;
      point.mode = stamp.mode;
    }
  }
  if (!points.empty()) points.back() = motion.state;
  return points;
}

/// From one section to the next, moved side by side. Nothing for a motion that cannot be, or that has no
/// start.
std::vector<std::optional<Approach>> approach_together(std::span<const std::unique_ptr<System>> systems,
                                                       std::span<const std::optional<HybridState>> starts,
                                                       const Section& section,
                                                       const AttractorOptions& options) {
  std::vector<std::optional<Approach>> found(systems.size());
  std::vector<LaneMotion> motions;
  std::vector<std::size_t> place;
  for (std::size_t k = 0; k < systems.size(); ++k) {
    if (!systems[k] || !starts[k] || !goes_together(*systems[k], section)) continue;
    motions.push_back({systems[k].get(), *starts[k], Outcome::ok, {}, {}});
    place.push_back(k);
  }
  Lanes lanes(motions, section);
  const int first = std::min(options.transient, 1);
  lanes.advance(first, false);
  for (std::size_t m = 0; m < motions.size(); ++m) {
    motions[m].bound = bound_of(*motions[m].system, *starts[place[m]], motions[m].state);
  }
  lanes.advance(options.transient - first, false);
  for (std::size_t m = 0; m < motions.size(); ++m) {
    found[place[m]].emplace();
    found[place[m]]->window = motions[m].state;
    found[place[m]]->bound = motions[m].bound;
  }
  lanes.advance(options.record, true);
  for (std::size_t m = 0; m < motions.size(); ++m) {
    const LaneMotion& motion = motions[m];
    Approach& a = *found[place[m]];
    a.outcome = motion.outcome;
    a.last = motion.state;
    if (a.outcome != Outcome::ok) continue;
    a.points = recorded_points(motion, a.window);
    if (size_of_all(PoincareMap(*motion.system, section), a.points) > a.bound) {
      a.outcome = Outcome::unbounded;
    }
  }
  return found;
}

/// How large a motion was over a window of iterates.
struct Extent {
  std::int64_t end = 0;  ///< iterates since the start
  double least = 0, greatest = 0;
};

/// Looks for what one motion settles to.
class Search {
 public:
  Search(const PoincareMap& map, Approach approach, const AttractorOptions& options)
      : map_(map),
        options_(options),
        longest_(std::int64_t{std::max(options.transient, 1)} * options.extension),
        bound_(approach.bound),
        outcome_(approach.outcome),
        window_(std::move(approach.window)),
        state_(std::move(approach.last)) {
    found_.tally = Tally(map.system());
    found_.points = std::move(approach.points);
    found_.transient_used = options.transient;
  }

  Attractor run() {
    while (!look()) {
    }
    return std::move(found_);
  }

 private:
  std::int64_t iterates() const { return std::int64_t{found_.transient_used} + options_.record; }
  bool give_up(Outcome outcome);
  bool look();
  bool periodic(Orbit orbit, std::int64_t chaotic);
  bool not_periodic(AttractorClass kind, const Growth& growth);
  bool grows();
  bool is_positive(const Growth::Mean& mean) const {
    return mean.value > options_.neutral && mean.value > 3 * mean.error;
  }
  bool persists(Growth& growth, HybridState& ahead);
  void go_on(const HybridState& ahead, std::int64_t further);

  const PoincareMap& map_;
  const AttractorOptions& options_;
  std::int64_t longest_;
  double bound_;
  Outcome outcome_;
  HybridState window_, state_;  ///< where the recorded window begins and ends
  int measure_ = 128;           ///< iterates over which the growth is taken, doubled at each look
  std::vector<Extent> extents_;
  Attractor found_;
};

bool Search::give_up(Outcome outcome) {
  found_.outcome = outcome;
  found_.kind = outcome == Outcome::unbounded ? AttractorClass::unbounded : AttractorClass::failed;
  found_.points.clear();
  found_.lyapunov = found_.lyapunov_error = std::numeric_limits<double>::quiet_NaN();
  found_.last = state_;
  return true;
}

bool Search::periodic(Orbit orbit, std::int64_t chaotic) {
  found_.kind = AttractorClass::periodic;
  found_.orbit = std::move(orbit);
  found_.chaotic_iterates = chaotic;
  const Outcome outcome = follow_orbit(map_, options_.record, found_);
  if (outcome != Outcome::ok) return give_up(outcome);
  found_.lyapunov = std::log(spectral_radius(found_.orbit)) / (found_.end_time - found_.start_time);
  return true;
}

bool Search::not_periodic(AttractorClass kind, const Growth& growth) {
  const Growth::Mean mean = growth.mean();
  found_.kind = kind;
  found_.lyapunov = mean.value / growth.time_per_iterate();
  found_.lyapunov_error = mean.error / growth.time_per_iterate();
  found_.last = state_;
  found_.start_time = absolute_time(map_, window_);
  found_.end_time = absolute_time(map_, state_);
  const Outcome outcome = tally_window(map_, window_, options_.record, found_);
  return outcome == Outcome::ok || give_up(outcome);
}

/// Whether the motion has been growing all along: each recorded window lies outside the one before it, the
/// later half of the first outside its earlier half.
bool Search::grows() {
  const auto extent = [&](std::size_t first, std::size_t end) {
    Extent e{std::int64_t{found_.transient_used} + static_cast<std::int64_t>(end),
             map_.size(found_.points[first]), 0};
    for (std::size_t k = first; k < end; ++k) {
      const double size = map_.size(found_.points[k]);
      e.least = std::min(e.least, size);
      e.greatest = std::max(e.greatest, size);
    }
    return e;
  };
  const std::size_t count = found_.points.size();
  if (extents_.empty()) {
    extents_ = {extent(0, count / 2), extent(count / 2, count)};
  } else {
    extents_.push_back(extent(0, count));
  }
  for (std::size_t k = 1; k < extents_.size(); ++k) {
    if (!(extents_[k].least > extents_[k - 1].greatest)) return false;
  }
  return true;
}

/// The recorded window begins where the motion has gone on to.
void Search::go_on(const HybridState& ahead, std::int64_t further) {
  found_.transient_used += static_cast<int>(options_.record + further);
  state_ = ahead;
  measure_ *= 2;
  window_ = state_;
  outcome_ = record(map_, state_, options_.record, bound_, found_.points);
}

/// Follows what looks chaotic at least as long again, times `persist`, and looks for a period on the way.
/// @return whether that has decided what it is
bool Search::persists(Growth& growth, HybridState& ahead) {
  const auto again = static_cast<std::int64_t>(options_.persist * static_cast<double>(iterates()));
  const std::int64_t length = std::max<std::int64_t>(options_.exponent, again);
  std::vector<HybridState> points;
  while (growth.iterates() < length) {
    points.clear();
    for (int k = 0; k < options_.record && growth.iterates() < length; ++k) {
      const Outcome outcome = growth.follow(ahead, 1);
      if (outcome != Outcome::ok) return give_up(outcome);
      points.push_back(ahead);
    }
    if (options_.persist == 0) continue;
    Orbit orbit = confirmed_orbit(map_, points, options_.max_period);
    if (orbit.period == 0) continue;
    const std::int64_t chaotic = iterates() + growth.iterates();
    found_.transient_used = static_cast<int>(chaotic);
    return periodic(std::move(orbit), chaotic);
  }
  if (!is_positive(growth.mean())) return false;
  found_.chaotic_iterates = iterates() + growth.iterates();
  return not_periodic(AttractorClass::chaotic, growth);
}

/// One look at the recorded window and the growth behind it. @return whether the search is over; otherwise a
/// later window is recorded
bool Search::look() {
  if (outcome_ != Outcome::ok) return give_up(outcome_);
  Orbit orbit = confirmed_orbit(map_, found_.points, options_.max_period);
  if (orbit.period > 0) return periodic(std::move(orbit), 0);
  const bool growing = grows();
  HybridState ahead = state_;
  Growth growth(map_, state_, size_of_all(map_, found_.points));
  const Outcome outcome = growth.follow(ahead, measure_);
  if (outcome != Outcome::ok) return give_up(outcome);
  const Growth::Mean mean = growth.mean();
  if (mean.value == -std::numeric_limits<double>::infinity()) {
    orbit = returning_orbit(map_, state_, longest_);
    if (orbit.period > 0) return periodic(std::move(orbit), 0);
  }
  if (!growing && is_positive(mean)) {
    if (persists(growth, ahead)) return true;
    go_on(ahead, growth.iterates());
    return false;
  }
  // A slowly converging orbit looks neutral at first: that verdict needs a second, longer look.
  const bool neutral = found_.transient_used > options_.transient &&
                       std::abs(mean.value) <= options_.neutral && mean.error <= options_.neutral;
  // Forcing without a common period: a motion that attracts its neighbours has the forcing's frequencies.
  const bool driven = !map_.system().periodic() && mean.value < -options_.neutral;
  if (!growing && (neutral || driven)) return not_periodic(AttractorClass::quasiperiodic, growth);
  const bool exhausted = iterates() + measure_ > longest_;
  if (!exhausted) {
    go_on(ahead, measure_);
    return false;
  }
  if (growing && extents_.size() > 3 && extents_.back().greatest > 2 * extents_.front().greatest) {
    orbit = orbit_nearby(map_, state_, 1, 1.0);  // towards which it may be on a very long way
    return orbit.period > 0 ? periodic(std::move(orbit), 0) : give_up(Outcome::unbounded);
  }
  return not_periodic(AttractorClass::undetermined, growth);
}

}  // namespace

const std::vector<std::string>& attractor_names() {
  static const std::vector<std::string> names = {"undetermined", "periodic",  "quasiperiodic",
                                                 "chaotic",      "unbounded", "failed"};
  return names;
}

Approach approach(const PoincareMap& map, const HybridState& start, const AttractorOptions& options) {
  Approach found;
  found.last = start;
  for (int k = 0; k < options.transient && found.outcome == Outcome::ok; ++k) {
    found.outcome = step(map, found.last, found.bound);
    if (k == 0) found.bound = bound_of(map.system(), start, found.last);
  }
  found.window = found.last;
  if (found.outcome == Outcome::ok) {
    found.outcome = record(map, found.last, options.record, found.bound, found.points);
  }
  return found;
}

Attractor find_attractor(const PoincareMap& map, const HybridState& start, const AttractorOptions& options) {
  return find_attractor(map, approach(map, start, options), options);
}

Attractor find_attractor(const PoincareMap& map, Approach approach, const AttractorOptions& options) {
  return Search(map, std::move(approach), options).run();
}

std::size_t least_attractors(const Model& model, const Section& section, const Tolerance& tolerance) {
  constexpr std::size_t computed = 16;
  constexpr std::size_t marched = 64;
  const std::unique_ptr<System> system = model.system(model.values(), tolerance);
  if (!system) return computed;
  const bool marches = section.kind == Section::Kind::stroboscopic && system->linear_law();
  return marches || system->series_law() ? marched : computed;
}

std::vector<Attractor> find_attractors(std::span<const std::unique_ptr<System>> systems,
                                       std::span<const std::optional<HybridState>> starts,
                                       const Section& section, const AttractorOptions& options) {
  std::vector<std::optional<Approach>> approaches = approach_together(systems, starts, section, options);
  std::vector<Attractor> found(systems.size());
  for (std::size_t k = 0; k < systems.size(); ++k) {
    if (!systems[k] || !starts[k]) {
      found[k].outcome = systems[k] ? Outcome::bad_start : Outcome::bad_parameters;
      found[k].lyapunov = found[k].lyapunov_error = std::numeric_limits<double>::quiet_NaN();
      if (starts[k]) found[k].last = *starts[k];
      continue;
    }
    const PoincareMap map(*systems[k], section);
    found[k] = approaches[k] ? find_attractor(map, std::move(*approaches[k]), options)
                             : find_attractor(map, *starts[k], options);
  }
  return found;
}

}  // namespace graze
