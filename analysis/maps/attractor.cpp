#include "analysis/maps/attractor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/lanes/lanes.hpp"
#include "core/system/linear_law.hpp"

namespace graze {
namespace {

constexpr double stability_margin = 1e-8;  // multipliers of a stable orbit may exceed 1 by rounding

Outcome step(const PoincareMap& map, HybridState& state, Observer* observer = nullptr) {
  const Outcome outcome = map.iterate(state, observer);
  if (outcome == Outcome::ok && state.x.cwiseAbs().maxCoeff() > beyond_every_scale) return Outcome::unbounded;
  return outcome;
}

Outcome skip(const PoincareMap& map, HybridState& state, int iterates) {
  Outcome outcome = Outcome::ok;
  for (int k = 0; k < iterates && outcome == Outcome::ok; ++k) outcome = step(map, state);
  return outcome;
}

/// `count` iterates, kept.
Outcome record(const PoincareMap& map, HybridState& state, int count, std::vector<HybridState>& points) {
  points.clear();
  Outcome outcome = Outcome::ok;
  for (int k = 0; k < count && outcome == Outcome::ok; ++k) {
    outcome = step(map, state);
    points.push_back(state);
  }
  return outcome;
}

double size_of(const PoincareMap& map, const std::vector<HybridState>& points) {
  double size = 0;
  for (const HybridState& p : points) size = std::max(size, map.coordinates(p).cwiseAbs().maxCoeff());
  return size;
}

/// The orbit with its smallest period: one that closes after n iterates may close after a divisor of n.
Orbit shortest(const PoincareMap& map, const Orbit& orbit) {
  HybridState state = orbit.start;
  for (int n = 1; n < orbit.period; ++n) {
    if (map.iterate(state) != Outcome::ok) break;
    if (orbit.period % n != 0) continue;
    if (map.difference(state, orbit.start).cwiseAbs().maxCoeff() > 1e-8 * orbit.size) continue;
    Orbit shorter = refine_orbit(map, orbit.start, n);
    if (shorter.closed) return shorter;
  }
  return orbit;
}

/// A stable closed orbit to which the recorded iterates converge, of the smallest period; period 0: none.
Orbit confirmed_orbit(const PoincareMap& map, const std::vector<HybridState>& points, int max_period) {
  const double size = size_of(map, points);
  const HybridState& last = points.back();
  for (int n = 1; n <= max_period && n < static_cast<int>(points.size()); ++n) {
    const HybridState& before = points[points.size() - 1 - static_cast<std::size_t>(n)];
    const double step = map.difference(last, before).cwiseAbs().maxCoeff();
    if (!(step <= 1e-3 * size)) continue;
    Orbit orbit = refine_orbit(map, last, n);
    if (!orbit.closed) continue;
    const double radius = spectral_radius(orbit);
    if (!(radius <= 1 + stability_margin)) continue;
    const double away = map.difference(last, orbit.start).cwiseAbs().maxCoeff();
    const double slow = std::max(1 - radius, 1e-6);
    if (away <= 10 * step / slow + 1e-9 * size) return shortest(map, orbit);
  }
  return {};
}

/// Mean and standard error of the growth of a tangent vector, per iterate, and the time taken.
struct Growth {
  double mean = 0;
  double error = 0;
  double time = 0;
};

double absolute_time(const PoincareMap& map, const HybridState& s) {
  return s.time + static_cast<double>(s.turns) * map.system().period();
}

Outcome measure_growth(const PoincareMap& map, HybridState& state, int iterates, Growth& growth) {
  constexpr int alignment = 8;
  constexpr int batches = 8;
  const int per_batch = std::max(1, iterates / batches);
  Eigen::MatrixXd direction(map.dimension(), 1);
  for (Eigen::Index i = 0; i < direction.rows(); ++i) direction(i, 0) = 1.0 / static_cast<double>(i + 1);
  double begin = 0;
  double sum = 0;
  double sum_of_squares = 0;
  for (int batch = -1; batch < batches; ++batch) {
    const int count = batch < 0 ? alignment : per_batch;
    if (batch == 0) begin = absolute_time(map, state);
    double total = 0;
    for (int k = 0; k < count; ++k) {
      direction.normalize();
      const Outcome outcome = map.iterate(state, direction);
      if (outcome != Outcome::ok) return outcome;
      const double stretch = direction.norm();
      if (!(stretch > 0)) {
        growth = {-std::numeric_limits<double>::infinity(), 0, 1};
        return Outcome::ok;
      }
      total += std::log(stretch);
    }
    if (batch < 0) continue;
    const double mean = total / per_batch;
    sum += mean;
    sum_of_squares += mean * mean;
  }
  growth.mean = sum / batches;
  const double variance = std::max(0.0, sum_of_squares / batches - growth.mean * growth.mean);
  growth.error = std::sqrt(variance / (batches - 1));
  growth.time = (absolute_time(map, state) - begin) / (batches * per_batch);
  return Outcome::ok;
}

/// Counts over `count` iterates from `start`: once to learn the greatest gaps, once with them.
Outcome tally_window(const PoincareMap& map, const HybridState& start, int count, Attractor& found) {
  Tally scout(map.system());
  for (Tally* tally : {&scout, &found.tally}) {
    HybridState state = start;
    if (tally == &found.tally) found.tally.refer_to(scout);
    tally->open_window(absolute_time(map, start), map.system(), start);
    for (int k = 0; k < count; ++k) {
      const Outcome outcome = step(map, state, tally);
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
      const Outcome outcome = step(map, state, &found.tally);
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

/// From one stroboscopic section to the next, marched side by side. Nothing for a motion whose forcing is not
/// periodic.
std::vector<std::optional<Approach>> approach_together(std::span<const std::unique_ptr<System>> systems,
                                                       std::span<const HybridState> starts,
                                                       const AttractorOptions& options) {
  std::vector<std::optional<Approach>> found(systems.size());
  std::vector<LaneMotion> motions;
  std::vector<std::size_t> place;
  for (std::size_t k = 0; k < systems.size(); ++k) {
    if (!systems[k] || !(systems[k]->period() > 0) || !systems[k]->periodic()) continue;
    motions.push_back({systems[k].get(), starts[k], Outcome::ok, {}, {}});
    place.push_back(k);
  }
  Lanes lanes(motions);
  lanes.advance(options.transient, false);
  for (std::size_t m = 0; m < motions.size(); ++m) {
    found[place[m]].emplace();
    found[place[m]]->window = motions[m].state;
  }
  lanes.advance(options.record, true);
  for (std::size_t m = 0; m < motions.size(); ++m) {
    const LaneMotion& motion = motions[m];
    Approach& a = *found[place[m]];
    a.outcome = motion.outcome;
    a.last = motion.state;
    if (a.outcome != Outcome::ok) continue;
    const Eigen::Index states = a.last.x.size();
    for (int k = 0; k < options.record; ++k) {
      HybridState& point = a.points.emplace_back();
      point.x = Eigen::Map<const Eigen::VectorXd>(motion.points.data() + k * states, states);
      point.turns = a.window.turns + k + 1;
      point.settled = true;
    }
    if (!a.points.empty()) a.points.back() = a.last;
  }
  return found;
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
  found.outcome = skip(map, found.last, options.transient);
  found.window = found.last;
  if (found.outcome == Outcome::ok) found.outcome = record(map, found.last, options.record, found.points);
  return found;
}

Attractor find_attractor(const PoincareMap& map, const HybridState& start, const AttractorOptions& options) {
  return find_attractor(map, approach(map, start, options), options);
}

Attractor find_attractor(const PoincareMap& map, Approach approach, const AttractorOptions& options) {
  Attractor found;
  found.tally = Tally(map.system());
  HybridState state = std::move(approach.last);
  HybridState window = std::move(approach.window);
  const auto give_up = [&](Outcome outcome) {
    found.outcome = outcome;
    found.kind = outcome == Outcome::unbounded ? AttractorClass::unbounded : AttractorClass::failed;
    found.points.clear();
    found.lyapunov = std::numeric_limits<double>::quiet_NaN();
    found.last = state;
    return found;
  };
  Outcome outcome = approach.outcome;
  found.transient_used = options.transient;
  found.points = std::move(approach.points);
  const std::int64_t longest = std::int64_t{std::max(options.transient, 1)} * options.extension;
  int measure = 128;  // doubled while within `longest`
  while (true) {
    if (outcome != Outcome::ok) return give_up(outcome);
    found.orbit = confirmed_orbit(map, found.points, options.max_period);
    if (found.orbit.period > 0) {
      found.kind = AttractorClass::periodic;
      outcome = follow_orbit(map, options.record, found);
      if (outcome != Outcome::ok) return give_up(outcome);
      found.lyapunov = std::log(spectral_radius(found.orbit)) / (found.end_time - found.start_time);
      return found;
    }
    Growth growth;
    HybridState ahead = state;
    outcome = measure_growth(map, ahead, measure, growth);
    if (outcome != Outcome::ok) return give_up(outcome);
    const bool exhausted = std::int64_t{found.transient_used} + options.record + measure > longest;
    // A slowly converging orbit looks neutral at first: that verdict needs a second, longer look.
    const bool neutral = found.transient_used > options.transient &&
                         std::abs(growth.mean) <= options.neutral && growth.error <= options.neutral;
    const bool positive = growth.mean > options.neutral && growth.mean > 3 * growth.error;
    // Forcing without a common period: a motion that attracts its neighbours has the forcing's frequencies.
    const bool driven = !map.system().periodic() && growth.mean < -options.neutral;
    if (positive || neutral || driven || exhausted) {
      found.kind = positive            ? AttractorClass::chaotic
                   : neutral || driven ? AttractorClass::quasiperiodic
                                       : AttractorClass::undetermined;
      found.lyapunov = growth.mean / growth.time;
      found.last = state;
      found.start_time = absolute_time(map, window);
      found.end_time = absolute_time(map, state);
      outcome = tally_window(map, window, options.record, found);
      if (outcome != Outcome::ok) return give_up(outcome);
      return found;
    }
    found.transient_used += options.record + measure;
    state = ahead;
    measure *= 2;
    window = state;
    outcome = record(map, state, options.record, found.points);
  }
}

std::size_t least_attractors(const Model& model, const Section& section, const Tolerance& tolerance) {
  constexpr std::size_t computed = 16;
  constexpr std::size_t marched = 64;
  if (section.kind != Section::Kind::stroboscopic) return computed;
  const std::unique_ptr<System> system = model.system(model.values(), tolerance);
  const auto* source = dynamic_cast<const LinearSource*>(system.get());
  return source != nullptr && source->linear_law() ? marched : computed;
}

std::vector<Attractor> find_attractors(std::span<const std::unique_ptr<System>> systems,
                                       std::span<const HybridState> starts, const Section& section,
                                       const AttractorOptions& options) {
  std::vector<std::optional<Approach>> approaches(systems.size());
  if (section.kind == Section::Kind::stroboscopic) approaches = approach_together(systems, starts, options);
  std::vector<Attractor> found(systems.size());
  for (std::size_t k = 0; k < systems.size(); ++k) {
    if (!systems[k]) {
      found[k].outcome = Outcome::bad_parameters;
      found[k].lyapunov = std::numeric_limits<double>::quiet_NaN();
      found[k].last = starts[k];
      continue;
    }
    const PoincareMap map(*systems[k], section);
    found[k] = approaches[k] ? find_attractor(map, std::move(*approaches[k]), options)
                             : find_attractor(map, starts[k], options);
  }
  return found;
}

}  // namespace graze
