#include "analysis/maps/attractor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/maps/multipliers.hpp"
#include "core/lanes/lanes.hpp"
#include "core/system/memoising_system.hpp"

namespace graze {
namespace {

constexpr double stability_margin = 1e-8;  // multipliers of a stable orbit may exceed 1 by rounding
constexpr double near_return = 1e-3;       // of a motion's size
constexpr double same_point = 1e-8;        // of it
constexpr double on_orbit = 1e-13;         // of its size: what Newton's method would move what is there by
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

/// What is asked of a motion: to go on by so many iterates.
struct Stretch {
  HybridState state;  ///< where it stands
  Outcome outcome = Outcome::ok;
  double bound = std::numeric_limits<double>::infinity();  ///< a size beyond which it is unbounded
  int iterates = 0;
  bool recorded = false;
  bool replaced = false;  ///< it does not stand where its last iterate has led
  Iterates points{};      ///< of the iterates, if they are recorded
  /// In columns, carried along in coordinates of the section; one alone is scaled to the size 1 after each
  /// iterate, when `growth` takes down the size that it had. Sizes are those beside `size`.
  Eigen::MatrixXd tangent{};
  std::vector<double> growth{};
  double size = 1;
  EventLog* log = nullptr;  ///< hears of what happens, while nothing is carried along
};

/// One motion by itself.
void go_alone(const PoincareMap& map, Stretch& s) {
  for (; s.iterates > 0 && s.outcome == Outcome::ok; --s.iterates) {
    s.outcome = s.tangent.cols() > 0 ? map.iterate(s.state, s.tangent) : map.iterate(s.state, s.log);
    if (s.outcome == Outcome::ok && map.size(s.state) > s.bound) s.outcome = Outcome::unbounded;
    if (s.recorded) s.points.add(s.state);
    if (s.tangent.cols() != 1) continue;
    s.growth.push_back(map.share(s.tangent.col(0), s.state, s.size));
    if (s.growth.back() > 0) s.tangent /= s.growth.back();
  }
}

double size_of_all(const PoincareMap& map, const Iterates& points) {
  double size = 0;
  for (std::size_t k = 0; k < points.size(); ++k) size = std::max(size, map.size(points[k].x));
  return size;
}

/// The orbit with its smallest period: one that closes after n iterates may close after a divisor of n.
Orbit shortest(const PoincareMap& map, const Orbit& orbit) {
  HybridState state = orbit.start;
  for (int n = 1; n < orbit.period; ++n) {
    if (map.iterate(state) != Outcome::ok) break;
    if (orbit.period % n != 0) continue;
    if (map.distance(state, orbit.start, orbit.size) > same_point) continue;
    Orbit shorter = refine_orbit(map, orbit.start, n);
    if (shorter.closed) return shorter;
  }
  return orbit;
}

constexpr double repelling = 2;   // growth in a turn near which no motion stays
constexpr double arrived = 1e-9;  // of an orbit's size: nearer to it a motion need not come

/// The state of a motion at a point; what the points leave out is like that of another state of it.
HybridState at_point(const Iterates::Point& point, const HybridState& like) {
  HybridState state = like;
  state.x = point.x;
  state.time = point.time;
  return state;
}

/// How far a motion comes in n iterates, as a share of its size.
class Returns {
 public:
  /// `last`: where the iterates end.
  Returns(const PoincareMap& map, const Iterates& points, const HybridState& last)
      : map_(map), points_(points), size_(size_of_all(map, points)), before_(last), after_(last) {}
  bool known(int n, int turns = 1) const { return turns * n < static_cast<int>(points_.size()); }
  /// In the last n iterates, or in those before `turns` − 1 times as many.
  double step(int n, int turns = 1) {
    put(turns * n, before_);
    put((turns - 1) * n, after_);
    return map_.distance(after_, before_, size_);
  }

 private:
  void put(int back, HybridState& state) const {
    const Iterates::Point point = points_[points_.size() - 1 - static_cast<std::size_t>(back)];
    state.x = point.x;
    state.time = point.time;
  }

  const PoincareMap& map_;
  const Iterates& points_;
  double size_;
  HybridState before_, after_;
};

/// Whether a tangent vector of these sizes after each iterate has grown in the last ones.
bool has_grown(std::span<const double> growth, int iterates) {
  constexpr double clearly = 2;
  double product = 1;
  const std::size_t last = std::min(static_cast<std::size_t>(iterates), growth.size());
  for (const double size : growth.last(last)) product *= size;
  return product > clearly;
}

/// After how many iterates it first returns nearly to where it was; 0: it does not.
int returned_after(const PoincareMap& map, const Iterates& points, const HybridState& last, int max_period) {
  Returns returns(map, points, last);
  for (int n = 1; n <= max_period && returns.known(n); ++n) {
    if (returns.step(n) <= near_return) return n;
  }
  return 0;
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
      return orbit.closed ? shortest(map, orbit) : Orbit{};  // rounding may take several turns to come back
    }
    if (period < span) continue;
    mark = state;
    span *= 2;
    period = 0;
  }
  return {};
}

/// The growth of a tangent vector along a motion.
class Growth {
 public:
  static constexpr int turning = 8;  ///< iterates that only turn the vector

  /// The vector to begin with, for a motion of this size at `state`.
  static Eigen::MatrixXd direction(const PoincareMap& map, const HybridState& state, double size) {
    Eigen::MatrixXd direction(map.dimension(), 1);
    for (Eigen::Index i = 0; i < direction.rows(); ++i) {
      const double unit = map.share(Eigen::VectorXd::Unit(direction.rows(), i), state, size);
      direction(i, 0) = 1.0 / (static_cast<double>(i + 1) * unit);
    }
    return direction;
  }
  /// Its sizes after further iterates, and what these have lasted.
  void add(std::span<const double> sizes, double time) {
    for (const double size : sizes) logarithms_.push_back(std::log(size));
    time_ += time;
  }
  std::int64_t iterates() const { return static_cast<std::int64_t>(logarithms_.size()); }

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
  std::vector<double> logarithms_;
  double time_ = 0;
};

/// Counts what the log has heard over a window, from `start` to `end`: once to learn the greatest gaps, once
/// with them.
void count_window(const PoincareMap& map, const HybridState& start, const HybridState& end, Iterates iterates,
                  const EventLog& log, Attractor& found) {
  found.points = std::move(iterates);
  found.last = end;
  found.start_time = map.time_of(start);
  found.end_time = map.time_of(end);
  Tally scout(map.system());
  for (Tally* tally : {&scout, &found.tally}) {
    if (tally == &found.tally) found.tally.refer_to(scout);
    tally->open_window(found.start_time, map.system(), start);
    log.tell(*tally);
    tally->close_window(found.end_time);
  }
}

/// The same over one turn of the orbit, which ends at `end`: told once to know what is under way at its
/// start, once to count. `iterates`: those of the turn; they are repeated to `count`.
void count_orbit(const PoincareMap& map, const HybridState& end, const Iterates& iterates, int count,
                 const EventLog& log, Attractor& found) {
  const HybridState& start = found.orbit.start;
  const std::size_t states = static_cast<std::size_t>(start.x.size());
  const auto period = static_cast<std::size_t>(found.orbit.period);
  found.last = start;
  found.points.clear();
  found.points.reserve(std::max(static_cast<std::size_t>(count), period), states);
  found.points.add(start);
  for (std::size_t k = 0; k + 1 < period; ++k) {
    const Iterates::Point point = iterates[k];
    found.points.add(point.x, point.time, point.turns);
  }
  found.points.repeat(static_cast<std::size_t>(count), end.turns - start.turns);
  const double begin = map.time_of(start);
  found.start_time = map.time_of(end);
  found.end_time = found.start_time + (found.start_time - begin);
  found.tally = Tally(map.system());
  found.tally.open_window(begin, map.system(), start);
  log.tell(found.tally);
  found.tally.open_window(found.start_time, map.system(), end);
  log.tell(found.tally, found.start_time - begin);
  found.tally.close_window(found.end_time);
}

/// How large a motion was over a window of iterates.
struct Extent {
  std::int64_t end = 0;  ///< iterates since the start
  double least = 0, greatest = 0;
};

/// Whether a motion comes nearer to an orbit turn by turn, half as fast at least as the multipliers say,
/// until it has arrived or is a thousand times as near. (One that only passes by, as a chaotic one around an
/// orbit with a small basin does, leaves again.)
class Approach {
 public:
  Approach(double radius, double distance) : radius_(radius), begin_(distance), away_(distance) {}
  /// Whether another turn is needed to know.
  bool is_open() const { return turns_ < most_turns && due_ > nearer && away_ > arrived; }
  void add_turn(double distance) {
    ++turns_;
    away_ = distance;
    due_ *= std::max(radius_, nearer);
  }
  /// From afar only multipliers tell: in resonance Newton's method closes an orbit as large as rounding makes
  /// it.
  bool may_succeed() const { return begin_ <= 0.1 || radius_ < 1 - 1e-9; }
  bool has_succeeded() const { return away_ <= arrived || away_ <= std::sqrt(due_) * begin_; }

 private:
  static constexpr double nearer = 1e-3;
  static constexpr int most_turns = 64;
  double radius_, begin_, away_;
  double due_ = 1;  ///< of the distance at the beginning
  int turns_ = 0;
};

bool is_unstable(const Orbit& orbit) { return orbit.closed && spectral_radius(orbit) > 1 + stability_margin; }

/// Whether a motion that stands so far from a closed orbit may come to it. `step`: how far it has moved in
/// the last iterates, as many as the orbit has.
bool is_in_reach(const Orbit& orbit, double distance, double step) {
  if (!orbit.closed || is_unstable(orbit)) return false;
  const double slow = std::max(1 - spectral_radius(orbit), 1e-6);
  return distance <= 10 * step / slow + arrived;
}

/// Whether a motion comes to a stable orbit of so many iterates: Newton's method from where it stands, then
/// whether it comes to what that has found. It asks for turns and is told them.
class Nearby {
 public:
  /// `step`: how far the motion that stands at `state` has moved in the last so many iterates.
  Nearby(const PoincareMap& map, const HybridState& state, int period, double step)
      : map_(map), state_(state), step_(step), refinement_(map, state, period) {}

  /// Nothing more is asked for.
  bool over() const { return over_; }
  bool has_found() const { return found_; }
  /// Whether Newton's method has led to an unstable orbit.
  bool is_unstable_there() const { return is_unstable(orbit_); }
  /// What has been found; period 0: nothing.
  Orbit orbit() const { return found_ ? shortest(map_, orbit_) : Orbit{}; }
  /// From where the next turn is to be gone, and whether with its derivative.
  const HybridState& start() const { return approach_ ? here_ : refinement_.start(); }
  bool with_derivative() const { return !approach_; }
  /// That turn; without derivative its end and outcome only.
  void add(Turn turn);

 private:
  void end(bool found) {
    over_ = true;
    found_ = found;
  }
  void refined();
  void come_nearer() {
    if (!approach_->is_open()) end(approach_->has_succeeded());
  }

  const PoincareMap& map_;
  HybridState state_;
  double step_;
  bool over_ = false, found_ = false;
  Refinement refinement_;
  Orbit orbit_;
  HybridState here_;  ///< the motion on its way to the orbit
  std::optional<Approach> approach_;
};

void Nearby::add(Turn turn) {
  if (!approach_) {
    if (!refinement_.begun() && turn.outcome == Outcome::ok && growth_of(turn.multipliers(map_)) > repelling)
      return end(false);
    refinement_.add(std::move(turn));
    if (refinement_.over()) refined();
    return;
  }
  if (turn.outcome != Outcome::ok) return end(false);
  here_ = std::move(turn.end);
  approach_->add_turn(map_.distance(here_, orbit_.start, orbit_.size));
  come_nearer();
}

void Nearby::refined() {
  orbit_ = refinement_.orbit();
  const double distance = map_.distance(state_, orbit_.start, orbit_.size);
  if (!is_in_reach(orbit_, distance, step_)) return end(false);
  approach_.emplace(spectral_radius(orbit_), distance);
  if (!approach_->may_succeed()) return end(false);
  here_ = state_;
  come_nearer();
}

/// By itself.
Orbit orbit_nearby(const PoincareMap& map, const HybridState& state, int period, double step) {
  Nearby nearby(map, state, period, step);
  while (!nearby.over()) {
    if (nearby.with_derivative()) {
      nearby.add(turn_from(map, nearby.start(), period));
      continue;
    }
    Turn turn;
    turn.end = nearby.start();
    for (int k = 0; k < period && turn.outcome == Outcome::ok; ++k) turn.outcome = map.iterate(turn.end);
    nearby.add(std::move(turn));
  }
  return nearby.orbit();
}

/// The search for an orbit to which a motion converges, for one period after the other. It asks for turns and
/// is told them.
class Hunt {
 public:
  /// The iterates are the last ones of the motion that stands at `last`; sizes of its tangent after each, if
  /// known. Of so many iterates at least.
  Hunt(const PoincareMap& map, const Iterates& points, const HybridState& last, int min_period,
       int max_period, std::span<const double> growth)
      : map_(map),
        last_(last),
        returns_(map, points, last),
        growth_(growth.begin(), growth.end()),
        max_period_(max_period),
        n_(min_period - 1) {
    try_next();
  }

  /// Nothing more is asked for.
  bool over() const { return !nearby_ || nearby_->over(); }
  /// What has been found; period 0: nothing.
  Orbit orbit() const { return nearby_ ? nearby_->orbit() : Orbit{}; }
  /// The next turn, of so many iterates: as Nearby.
  const HybridState& start() const { return nearby_->start(); }
  int iterates() const { return n_; }
  bool with_derivative() const { return nearby_->with_derivative(); }
  void add(Turn turn) {
    nearby_->add(std::move(turn));
    if (!nearby_->over() || nearby_->has_found()) return;
    if (nearby_->is_unstable_there()) astray_ = std::min(astray_, returns_.step(n_));
    try_next();
  }

 private:
  /// What comes to an orbit has been around it for a turn or two, and tangents have not grown there.
  bool is_worth_it(double step) {
    constexpr double not_far = 1e-2;  // of its size, a turn before
    if (!(step <= near_return)) return false;
    if (step <= arrived) return true;
    if (returns_.known(n_, 2) && !(returns_.step(n_, 2) <= not_far)) return false;
    return !has_grown(growth_, 2 * n_);
  }
  void try_next() {
    nearby_.reset();
    for (++n_; n_ <= max_period_ && returns_.known(n_); ++n_) {
      const double step = returns_.step(n_);
      if (step >= astray_ || !is_worth_it(step)) continue;
      nearby_.emplace(map_, last_, n_, step);
      return;
    }
  }

  const PoincareMap& map_;
  HybridState last_;
  Returns returns_;
  std::vector<double> growth_;
  int max_period_, n_;
  double astray_ = std::numeric_limits<double>::infinity();  ///< the nearest return, to an unstable orbit
  std::optional<Nearby> nearby_;                             ///< of n iterates; none: no more are tried
};

/// Looks for what one motion settles to. What it needs of the motion it asks for; whoever moves it then lets
/// the search proceed.
class Search {
 public:
  Search(const PoincareMap& map, const HybridState& start, const AttractorOptions& options)
      : map_(map),
        options_(options),
        longest_(std::int64_t{std::max(options.transient, 1)} * options.extension),
        start_(start) {
    found_.tally = Tally(map.system());
    found_.transient_used = options.transient;
    asked_.state = start;
    drop(std::min(options.transient, 1), Stage::first);
  }

  /// What is asked for; nothing, no iterates, at the end.
  Stretch& asked() { return asked_; }
  bool over() const { return stage_ == Stage::over; }
  /// What was asked for has been done.
  void proceed();
  Attractor take() { return std::move(found_); }

 private:
  /// What is being done.
  enum class Stage {
    first,       ///< iterate of all
    dropping,    ///< the transient
    recording,   ///< a window
    closing,     ///< the turn by which an orbit may have closed, with its derivative
    measuring,   ///< the growth behind the window
    persisting,  ///< on and on, of what looks chaotic
    hunting,     ///< an orbit to which it may converge
    counting,    ///< what happens on the orbit or in the window that has been found
    over
  };

  std::int64_t iterates() const { return std::int64_t{found_.transient_used} + options_.record; }
  void ask(std::int64_t iterates, bool recorded, Stage stage);
  void drop(int iterates, Stage stage) { ask(iterates, false, stage); }
  void ask_window();
  void give_up(Outcome outcome);
  void go_to(const HybridState& state);
  void ask_events(const HybridState& start, int iterates);
  void count();
  void look();
  void close();
  bool has_come_to(const Orbit& orbit) const;
  void ask_turn(HybridState start);
  void ask_derivative();
  Turn asked_turn(const HybridState& start) const;
  void look_nearby(int min_period);
  void hunt();
  void hunted();
  void grow();
  void measured();
  void persist();
  void persisted();
  void take_up(bool moved);
  void note_growth(int turning);
  void periodic(Orbit orbit, std::int64_t chaotic);
  void not_periodic(AttractorClass kind);
  bool grows();
  bool is_positive(const Growth::Mean& mean) const {
    return mean.value > options_.neutral && mean.value > 3 * mean.error;
  }
  void go_on();

  const PoincareMap& map_;
  const AttractorOptions& options_;
  std::int64_t longest_;
  HybridState start_;
  Stage stage_ = Stage::first;
  Stretch asked_;
  double asked_at_ = 0;         ///< time when it was asked
  HybridState window_, state_;  ///< where the recorded window begins and ends
  double size_ = 0;             ///< of it
  int measure_ = 128;           ///< iterates over which the growth is taken, doubled at each look
  int period_ = 0;              ///< after which it seems to have returned
  HybridState orbit_;           ///< from where it is gone once round the orbit that it may be on
  int corrections_ = 0;         ///< of that by Newton's method
  bool growing_ = false;        ///< how the motion looked
  Growth growth_;
  EventLog log_;
  std::optional<Hunt> hunt_;
  std::optional<Stretch> persisted_;  ///< where what is followed on and on stands
  std::int64_t length_ = 0;           ///< iterates over which what looks chaotic is followed
  std::vector<Extent> extents_;
  Attractor found_;
};

void Search::ask(std::int64_t iterates, bool recorded, Stage stage) {
  asked_.iterates = static_cast<int>(iterates);
  asked_.recorded = recorded;
  asked_.points.clear();
  asked_.growth.clear();
  asked_at_ = map_.time_of(asked_.state);
  stage_ = stage;
}

/// The recorded window begins where the motion stands.
void Search::ask_window() {
  window_ = asked_.state;
  asked_.tangent.resize(0, 0);
  ask(options_.record, true, Stage::recording);
}

void Search::proceed() {
  const bool ok = asked_.outcome == Outcome::ok;
  switch (stage_) {
    case Stage::first:
      asked_.bound = bound_of(map_.system(), start_, asked_.state);
      if (ok) return drop(options_.transient - std::min(options_.transient, 1), Stage::dropping);
      break;
    case Stage::dropping:
      if (ok) return ask_window();
      break;
    case Stage::recording:
      found_.points = std::move(asked_.points);
      size_ = size_of_all(map_, found_.points);
      if (ok && size_ > asked_.bound) asked_.outcome = Outcome::unbounded;
      state_ = asked_.state;
      if (asked_.outcome == Outcome::ok) return look();
      break;
    case Stage::closing:
      return close();
    case Stage::measuring:
      return ok ? measured() : give_up(asked_.outcome);
    case Stage::persisting:
      return ok ? persisted() : give_up(asked_.outcome);
    case Stage::hunting:
      return hunted();
    case Stage::counting:
      return ok ? count() : give_up(asked_.outcome);
    case Stage::over:
      return;
  }
  state_ = asked_.state;
  give_up(asked_.outcome);
}

void Search::give_up(Outcome outcome) {
  found_.kind = outcome == Outcome::unbounded ? AttractorClass::unbounded : AttractorClass::failed;
  found_.points.clear();
  found_.lyapunov = found_.lyapunov_error = std::numeric_limits<double>::quiet_NaN();
  found_.last = state_;
  found_.outcome = outcome;
  stage_ = Stage::over;
}

/// What is asked for next begins there, and carries nothing along.
void Search::go_to(const HybridState& state) {
  asked_.state = state;
  asked_.replaced = true;
  asked_.outcome = Outcome::ok;
  asked_.tangent.resize(0, 0);
}

/// All is known but for what happens on these iterates. (A window that is chaotic is recorded anew, that its
/// events are those of the states that are told.)
void Search::ask_events(const HybridState& start, int iterates) {
  go_to(start);
  asked_.log = &log_;
  ask(iterates, true, Stage::counting);
}

void Search::count() {
  if (found_.kind == AttractorClass::periodic) {
    count_orbit(map_, asked_.state, asked_.points, options_.record, log_, found_);
    found_.lyapunov = std::log(spectral_radius(found_.orbit)) / (found_.end_time - found_.start_time);
  } else {
    count_window(map_, window_, asked_.state, std::move(asked_.points), log_, found_);
  }
  stage_ = Stage::over;
}

void Search::periodic(Orbit orbit, std::int64_t chaotic) {
  if (map_.rests(orbit.start, orbit.size)) return give_up(Outcome::no_return);
  found_.kind = AttractorClass::periodic;
  found_.orbit = std::move(orbit);
  found_.chaotic_iterates = chaotic;
  ask_events(found_.orbit.start, found_.orbit.period);
}

void Search::not_periodic(AttractorClass kind) {
  const Growth::Mean mean = growth_.mean();
  found_.kind = kind;
  found_.lyapunov = mean.value / growth_.time_per_iterate();
  found_.lyapunov_error = mean.error / growth_.time_per_iterate();
  ask_events(window_, options_.record);
}

/// Whether the motion has been growing all along: each recorded window lies outside the one before it, the
/// later half of the first outside its earlier half.
bool Search::grows() {
  const auto extent = [&](std::size_t first, std::size_t end) {
    Extent e{std::int64_t{found_.transient_used} + static_cast<std::int64_t>(end),
             map_.size(found_.points[first].x), 0};
    for (std::size_t k = first; k < end; ++k) {
      const double size = map_.size(found_.points[k].x);
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

/// A later window is recorded.
void Search::go_on() {
  found_.transient_used += static_cast<int>(options_.record + growth_.iterates());
  measure_ *= 2;
  ask_window();
}

/// At a window that has been recorded.
void Search::look() {
  period_ = returned_after(map_, found_.points, state_, options_.max_period);
  if (period_ == 0) return look_nearby(1);
  corrections_ = 0;
  ask_turn(state_);
}

void Search::ask_turn(HybridState start) {
  orbit_ = std::move(start);
  asked_.state = orbit_;
  asked_.replaced = corrections_ > 0;
  ask_derivative();
  ask(period_, true, Stage::closing);
}

/// One vector alone would be scaled.
void Search::ask_derivative() {
  asked_.tangent = Eigen::MatrixXd::Identity(map_.dimension(), std::max(map_.dimension(), 2));
}

/// What was asked for, as a turn from there.
Turn Search::asked_turn(const HybridState& start) const {
  Turn turn;
  turn.outcome = asked_.outcome;
  turn.end = asked_.state;
  if (asked_.tangent.cols() == 0 || asked_.outcome != Outcome::ok) return turn;
  turn.jacobian = asked_.tangent.leftCols(map_.dimension());
  turn.size = std::max(map_.size(start), size_of_all(map_, asked_.points));
  turn.close(map_, start);
  return turn;
}

/// Whether the window shows a motion that has come as near to a stable orbit as its multipliers allow, half
/// as fast at least as they say, and the orbit does not close earlier.
bool Search::has_come_to(const Orbit& orbit) const {
  const double radius = spectral_radius(orbit);
  const auto away = [&](const Iterates::Point& point) {
    return map_.distance(at_point(point, state_), orbit.start, orbit.size);
  };
  for (int n = 1; n < orbit.period; ++n) {
    if (orbit.period % n == 0 && away(asked_.points[static_cast<std::size_t>(n - 1)]) <= same_point)
      return false;
  }
  const double now = map_.distance(state_, orbit.start, orbit.size);
  if (now <= arrived) return true;
  const std::size_t last = found_.points.size() - 1;
  const std::size_t turns = last / static_cast<std::size_t>(orbit.period);
  const double before = away(found_.points[last - turns * static_cast<std::size_t>(orbit.period)]);
  const double due = std::pow(radius, static_cast<double>(turns));
  return before <= 0.1 && now <= std::sqrt(due) * before;
}

/// A motion that has nearly returned is on an orbit, or near it, if that is stable and Newton's method soon
/// has next to nothing to change.
void Search::close() {
  constexpr int most_corrections = 4;
  constexpr double slowest = 1 - 1e-3;  // of the multipliers of an orbit that a motion may still be coming to
  if (asked_.outcome != Outcome::ok) return look_nearby(1);
  Turn turn;
  turn.end = asked_.state;
  turn.jacobian = asked_.tangent.leftCols(map_.dimension());
  turn.size = size_;
  turn.close(map_, orbit_);
  if (turn.outcome != Outcome::ok) return look_nearby(1);
  const Eigen::VectorXd step = turn.step(map_);
  const double change = map_.share(step, turn.end, turn.size);
  if (change <= on_orbit) {
    Orbit orbit = turn.orbit(map_, orbit_, period_, RefineOptions{}.closure);
    const double radius = spectral_radius(orbit);
    const bool stable = radius <= (corrections_ > 0 ? slowest : 1 + stability_margin);
    if (orbit.closed && stable && has_come_to(orbit)) return periodic(std::move(orbit), 0);
    if (is_unstable(orbit)) return look_nearby(period_ + 1);
  } else if (change <= 10 * near_return && ++corrections_ <= most_corrections) {
    return ask_turn(map_.at(map_.coordinates(orbit_) + step, orbit_));
  }
  look_nearby(1);
}

/// At a window that has been recorded: an orbit of so many iterates at least to which the motion comes, or
/// how it grows.
void Search::look_nearby(int min_period) {
  hunt_.emplace(map_, found_.points, state_, min_period, options_.max_period, std::span<const double>{});
  hunt();
}

/// The next turn, or what follows from them.
void Search::hunt() {
  if (!hunt_->over()) {
    go_to(hunt_->start());
    if (hunt_->with_derivative()) ask_derivative();
    return ask(hunt_->iterates(), hunt_->with_derivative(), Stage::hunting);
  }
  Orbit orbit = hunt_->orbit();
  hunt_.reset();
  const std::int64_t chaotic = persisted_ ? iterates() + growth_.iterates() : 0;
  if (orbit.period > 0) {
    if (persisted_) found_.transient_used = static_cast<int>(chaotic);
    return periodic(std::move(orbit), chaotic);
  }
  persisted_ ? take_up(true) : grow();
}

void Search::hunted() {
  hunt_->add(asked_turn(hunt_->start()));
  hunt();
}

void Search::grow() {
  growing_ = grows();
  growth_ = Growth();
  go_to(state_);
  asked_.size = size_;
  asked_.tangent = Growth::direction(map_, asked_.state, asked_.size);
  ask(Growth::turning + measure_, true, Stage::measuring);
}

/// The first `turning` iterates of the stretch do not count.
void Search::note_growth(int turning) {
  double begin = asked_at_;
  if (turning > 0) begin = map_.time_of(asked_.points[static_cast<std::size_t>(turning - 1)]);
  growth_.add(std::span(asked_.growth).subspan(static_cast<std::size_t>(turning)),
              map_.time_of(asked_.state) - begin);
}

/// Of the recorded window and the growth behind it.
void Search::measured() {
  note_growth(Growth::turning);
  const Growth::Mean mean = growth_.mean();
  if (mean.value == -std::numeric_limits<double>::infinity()) {
    Orbit orbit = returning_orbit(map_, state_, longest_);
    if (orbit.period > 0) return periodic(std::move(orbit), 0);
  }
  if (!growing_ && is_positive(mean)) {
    const auto again = static_cast<std::int64_t>(options_.persist * static_cast<double>(iterates()));
    length_ = std::max<std::int64_t>(options_.exponent, again);
    return persist();
  }
  // A slowly converging orbit looks neutral at first: that verdict needs a second, longer look.
  const bool neutral = found_.transient_used > options_.transient &&
                       std::abs(mean.value) <= options_.neutral && mean.error <= options_.neutral;
  // Forcing without a common period: a motion that attracts its neighbours has the forcing's frequencies.
  const bool driven = !map_.system().periodic() && mean.value < -options_.neutral;
  if (!growing_ && (neutral || driven)) return not_periodic(AttractorClass::quasiperiodic);
  const bool exhausted = iterates() + measure_ > longest_;
  if (!exhausted) return go_on();
  if (growing_ && extents_.size() > 3 && extents_.back().greatest > 2 * extents_.front().greatest) {
    Orbit orbit = orbit_nearby(map_, state_, 1, 1.0);  // towards which it may be on a very long way
    return orbit.period > 0 ? periodic(std::move(orbit), 0) : give_up(Outcome::unbounded);
  }
  not_periodic(AttractorClass::undetermined);
}

/// Follows what looks chaotic at least as long again, times `persist`, and looks for a period on the way.
void Search::persist() {
  const std::int64_t left = length_ - growth_.iterates();
  if (left > 0) return ask(std::min<std::int64_t>(options_.record, left), true, Stage::persisting);
  if (!is_positive(growth_.mean())) return go_on();
  found_.chaotic_iterates = iterates() + growth_.iterates();
  not_periodic(AttractorClass::chaotic);
}

void Search::persisted() {
  note_growth(0);
  if (!(options_.persist > 0)) return persist();
  persisted_.emplace(std::move(asked_));
  asked_ = Stretch{};
  asked_.bound = persisted_->bound;
  hunt_.emplace(map_, persisted_->points, persisted_->state, 1, options_.max_period, persisted_->growth);
  hunt_->over() ? take_up(false) : hunt();
}

/// What is followed on and on, after a hunt; whether that has asked for something else.
void Search::take_up(bool moved) {
  hunt_.reset();
  asked_ = std::move(*persisted_);
  asked_.replaced = asked_.replaced || moved;
  persisted_.reset();
  persist();
}

void search_alone(const PoincareMap& map, Search& search) {
  while (!search.over()) {
    go_alone(map, search.asked());
    search.proceed();
  }
}

// ---- Many searches side by side -------------------------------------------------------------------------

/// The search number `place` of all.
struct Task {
  std::size_t place;
  PoincareMap map;
  bool with_tangents;  ///< lanes carry them
  bool told;           ///< lanes tell what happens
  std::optional<Search> search;
};

/// Whether lanes may move a motion from section to section. (They carry changes of the state along as they
/// are, those too that coordinates leave out.)
bool may_march(const PoincareMap& map, const Section& section) {
  const System& system = map.system();
  if (system.series_law()) return true;
  return section.kind == Section::Kind::stroboscopic && section.phase == 0 && system.period() > 0 &&
         system.periodic() && !map.has_shifts();
}

/// What the lanes are to do at a time: all that carry as many tangents, and are listened to, recorded or not.
using Sort = std::tuple<Eigen::Index, bool, bool>;
Sort sort_of(const Stretch& asked) { return {asked.tangent.cols(), asked.log != nullptr, asked.recorded}; }

/// Lets the lanes do what these searches ask for, those of one sort.
void march(std::span<Task> tasks, std::span<const std::size_t> open, const Sort& sort,
           std::span<LaneMotion> motions, Lanes& lanes) {
  const bool carries = std::get<0>(sort) > 0;
  std::vector<int> iterates(tasks.size(), 0);
  std::vector<std::size_t> chosen;
  for (const std::size_t k : open) {
    Stretch& asked = tasks[k].search->asked();
    if (sort_of(asked) != sort) continue;
    LaneMotion& motion = motions[k];
    motion.tangent.resize(0, 0);
    motion.tangent_time.resize(0);
    chosen.push_back(k);
    iterates[k] = asked.iterates;
    motion.bound = asked.bound;
    motion.observer = asked.log;
    if (carries) {
      Tangent tangent = tasks[k].map.lifted(asked.state, asked.tangent);
      motion.tangent = std::move(tangent.state);
      if (tasks[k].map.has_phase()) motion.tangent_time = std::move(tangent.time);
    }
    const bool there = motion.state.turns == asked.state.turns && go_on_alike(motion.state, asked.state);
    const bool moved = !(tasks[k].with_tangents && tasks[k].told) && !there;  // it has gone on alone
    if (!std::exchange(asked.replaced, false) && !moved) continue;
    motion.state = asked.state;
    motion.outcome = Outcome::ok;
    lanes.replace(k);
  }
  lanes.advance(iterates, std::get<2>(sort));
  for (const std::size_t k : chosen) {
    Stretch& asked = tasks[k].search->asked();
    LaneMotion& motion = motions[k];
    const std::size_t count = motion.points.size() / static_cast<std::size_t>(motion.state.x.size());
    asked.points =
        motion.stamps.empty()
            ? Iterates::stroboscopic(std::exchange(motion.points, {}), count, asked.state.turns + 1)
            : Iterates::stamped(std::exchange(motion.points, {}), std::exchange(motion.stamps, {}));
    asked.state = motion.state;
    asked.outcome = motion.outcome;
    if (carries)
      asked.tangent = tasks[k].map.lowered(motion.state, {motion.tangent, motion.tangent_time, {}});
    asked.growth = std::exchange(motion.growth, {});
    asked.iterates = 0;
    motion.observer = nullptr;
    tasks[k].search->proceed();
  }
}

/// What a search asks for that lanes do not do: tangents that they do not carry, events that they do not
/// tell.
void do_alone(Task& task) {
  const auto is_alone = [&](const Stretch& asked) {
    return (!task.with_tangents && asked.tangent.cols() > 0) || (!task.told && asked.log != nullptr);
  };
  while (!task.search->over() && is_alone(task.search->asked())) {
    go_alone(task.map, task.search->asked());
    task.search->proceed();
  }
}

void search_together(std::span<Task> tasks, const Section& section) {
  std::vector<LaneMotion> motions(tasks.size());
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    motions[k].system = &tasks[k].map.system();
    motions[k].state = tasks[k].search->asked().state;
  }
  Lanes lanes(motions, section);
  std::vector<std::size_t> open(tasks.size());  // searches that are not over
  std::iota(open.begin(), open.end(), std::size_t{0});
  for (;;) {
    for (const std::size_t k : open) do_alone(tasks[k]);
    std::erase_if(open, [&](std::size_t k) { return tasks[k].search->over(); });
    if (open.empty()) return;
    std::map<Sort, int> longest;  // of what is asked for
    for (const std::size_t k : open) {
      const Stretch& asked = tasks[k].search->asked();
      int& iterates = longest[sort_of(asked)];
      iterates = std::max(iterates, asked.iterates);
    }
    // What is soon done comes first: meanwhile those gather that take longer, and fill the lanes.
    const auto next = std::min_element(longest.begin(), longest.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    march(tasks, open, next->first, motions, lanes);
  }
}

}  // namespace

const std::vector<std::string>& attractor_names() {
  static const std::vector<std::string> names = {"undetermined", "periodic",  "quasiperiodic",
                                                 "chaotic",      "unbounded", "failed"};
  return names;
}

Attractor find_attractor(const PoincareMap& map, const HybridState& start, const AttractorOptions& options) {
  Search search(map, start, options);
  search_alone(map, search);
  return search.take();
}

std::size_t least_attractors(const Model& model, const Section& section, const Tolerance& tolerance,
                             std::size_t all) {
  constexpr std::size_t computed = 16;
  constexpr std::size_t fewest = 64, most = 1024;  // so soon done that files would cost more
  const std::size_t marched = std::clamp(all / 16, fewest, most);
  const std::unique_ptr<System> system = model.system(model.values(), tolerance);
  if (!system) return computed;
  const bool marches = section.kind == Section::Kind::stroboscopic && system->linear_law();
  return marches || system->series_law() ? marched : computed;
}

std::vector<Attractor> find_attractors(std::span<const std::unique_ptr<System>> systems,
                                       std::span<const std::optional<HybridState>> starts,
                                       const Section& section, const AttractorOptions& options) {
  std::vector<Attractor> found(systems.size());
  std::vector<Task> together;
  for (std::size_t k = 0; k < systems.size(); ++k) {
    if (!systems[k] || !starts[k]) {
      found[k].outcome = systems[k] ? Outcome::bad_start : Outcome::bad_parameters;
      found[k].lyapunov = found[k].lyapunov_error = std::numeric_limits<double>::quiet_NaN();
      if (starts[k]) found[k].last = *starts[k];
      continue;
    }
    const PoincareMap map(*systems[k], section);
    if (may_march(map, section)) {
      together.push_back({k, map, !map.has_shifts(), Lanes::can_tell(*systems[k]), {}});
    } else {
      found[k] = find_attractor(map, *starts[k], options);
    }
  }
  for (Task& task : together) task.search.emplace(task.map, *starts[task.place], options);
  search_together(together, section);
  for (Task& task : together) found[task.place] = task.search->take();
  return found;
}

std::vector<HybridState> ways_of(const Attractor& found) {
  const bool periodic = found.kind == AttractorClass::periodic;
  const std::size_t count = periodic ? static_cast<std::size_t>(found.orbit.period) : found.points.size();
  std::vector<HybridState> starts;
  for (std::size_t k = 0; k < std::min(count, found.points.size()); ++k) {
    const Iterates::Point p = found.points[k];
    starts.emplace_back();
    starts.back().x = p.x;
    starts.back().time = p.time;
    starts.back().turns = p.turns;
  }
  return starts;
}

}  // namespace graze
