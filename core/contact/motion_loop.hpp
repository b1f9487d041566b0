/// What every motion does, whatever flows: to the next event, apply it, repeat.
///
///     x⁻ ──arc──▶ first guard at zero ──▶ the engine's rules at that instant ──▶ x⁺
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/math/dual.hpp"
#include "core/math/root_search.hpp"
#include "core/system/interrupt.hpp"
#include "core/system/mode.hpp"
#include "core/system/system.hpp"
#include "core/system/tolerance.hpp"

namespace graze {

/// A start is on a contact when its gap is less than `on_contact` of the lengths there, and when it is behind
/// by less than `behind_contact`: states that come from files and tables have ten digits or more.
inline constexpr double on_contact = 1e-12;
inline constexpr double behind_contact = 1e-10;

/// The clock of a piece of an arc that begins at a time and lasts so long, if it runs evenly.
struct EvenClock {
  double begin, length;
  std::pair<double, double> operator()(double fraction) const { return {begin + fraction * length, length}; }
};

/// The first thing that happens on an arc.
struct Crossing {
  enum class Kind {
    none,   ///< nothing up to the end of the arc, which lies at `cell` and `fraction`
    guard,  ///< guard `guard` falls through zero
    level,  ///< the section's level is passed the right way
    arm,    ///< … the other way: from now on it can be
    floor   ///< the integrator can go no further
  } kind = Kind::none;
  int guard = -1;
  long cell = 0;        ///< piece of the arc
  double fraction = 0;  ///< of that piece
  double slope = 0;     ///< of the guard, per time

  /// Whether an event ends the arc that is none of this contact's gap.
  bool ends_elsewhere(int contact) const {
    return kind != Kind::none && !(kind == Kind::guard && guard == contact);
  }
};

/// One moving point with scalar S, as `Engine` moves it. An engine derives from this and provides
///
///     S period() const            forcing period, 0 when autonomous
///     bool commensurate() const   whether the right-hand side repeats after it
///     double fastest_rate() const                        of the motion, 1/time
///     Crossing search(double horizon, section, observer) first event within the horizon from here
///     void move(crossing)                                to a crossing, with derivatives at fixed time
///     void drift(S shift), drift_time(S shift)           by a value of zero of the flow's variable, of time
///     S guard(int k)                                     at the state
///     Outcome start(observer)                            a fresh start: mode and touches from x
///     Outcome meet(crossing, observer)                   a guard at zero
///     bool hits(int contact, crossing) const             whether that guard is an impact of this contact
///     void put_on(int contact)                           exactly onto a contact
///     void rest_slopes()                                 see below; or, of values too, rest_on_closed()
///     OuterState outer_state() const                     x without derivatives, as the outside orders it
template <class Engine, class S, class State>
class MotionLoop {
 public:
  State x;
  S time{0};

  /// Takes over everything of a state but x and time.
  void place(const HybridState& from, std::size_t guards) {
    turns_ = from.turns;
    mode_ = from.mode;
    settled_ = from.settled;
    heeded_ = from.heeded;
    touches_.assign(guards, {});
    for (std::size_t i = 0; i < std::min(guards, from.touches.size()); ++i) {
      touches_[i] = {from.touches[i].order, S(from.touches[i].speed)};
    }
  }
  void report(HybridState& to) const {
    to.turns = turns_;
    to.mode = mode_;
    to.settled = settled_;
    to.heeded = heeded_;
    to.touches.resize(touches_.size());
    for (std::size_t i = 0; i < touches_.size(); ++i) {
      to.touches[i] = {touches_[i].order, value_of(touches_[i].speed)};
    }
  }

  /// To the next meeting with the section.
  Outcome advance(const Section& section, Observer* observer);
  /// The time of the end of a leg moves, with the directions from `first` on (System::end_leg).
  Outcome end_leg(const LegEnd& end, Eigen::Index first);

 protected:
  struct ExactTouch {
    int order = 0;
    S speed{0};
  };

  explicit MotionLoop(const Tolerance& tolerance) : tolerance_(tolerance) {}

  /// What a leg that ends at an open contact is solved for, and what else is told of it: gap and approach
  /// speed at an impact, the other way round where the gap only touches zero.
  void tell_end(LegEnd& end, Eigen::Index first, const S& gap, const S& approach) const {
    const auto set = [&](const S& value, double& to, Eigen::RowVectorXd& slope) {
      to = value.value;
      for (Eigen::Index k = first; k < std::min<Eigen::Index>(slope.size(), first + directions); ++k)
        slope(k) = value.slope[static_cast<std::size_t>(k - first)];
    };
    const bool strikes = end.kind == EventKind::impact;
    set(strikes ? gap : S(-approach), end.guard, end.guard_slope);
    set(strikes ? approach : gap, end.measure, end.measure_slope);
  }

  /// Derivatives of what is at rest begin as it moves with what it rests on: into a contact that never opens
  /// nothing can be displaced. Of engines that have none to correct.
  void rest_slopes() {}
  /// Whether some rigid contact is closed, of an engine whose modes tell nothing else.
  bool any_rigid_closed() const { return mode_ != 0; }
  /// Whether guard k, its terms on a piece of the arc these, stays at zero all along; an engine that knows
  /// the size of rounding says so.
  bool stays_at_zero(int, std::span<const double> c) const {
    return std::all_of(c.begin(), c.end(), [](double a) { return a == 0; });
  }
  /// Up to which a slope of guard k is no more than rounding, per time: its instant depends on nothing then.
  double least_slope(int) const { return 0; }
  /// Of S.
  static constexpr Eigen::Index directions = [] {
    if constexpr (std::is_same_v<S, double>) {
      return 0;
    } else {
      return static_cast<Eigen::Index>(std::tuple_size_v<decltype(S::slope)>);
    }
  }();
  /// s without its value.
  static S slopes_of(const S& s) { return s - S(value_of(s)); }

  /// A state for observers, of an engine that has no entries of its own.
  using OuterState = Eigen::Matrix<double, State::RowsAtCompileTime, 1>;

  bool closed(int i) const { return is_closed(mode_, i); }
  /// The mode that events of this instant are told to come after.
  std::int64_t mode_told() const { return mode_; }
  /// Whether contact i counts; the motion passes through the others (HybridState::heeded).
  bool heeds(int i) const { return heeded_ == HybridState::all_contacts || is_closed(heeded_, i); }
  /// Whether guard k is the gap of a contact that is passed; engines that can pass contacts say so.
  bool passes(int) const { return false; }
  double absolute(double t) const { return t + static_cast<double>(turns_) * value_of(engine().period()); }
  bool finite() const { return values_of(x).allFinite(); }

  /// The section's level on a piece of the arc, from its coefficients there (level minus coordinate, times
  /// the direction): armed while the state is on the side it is to come from. `begins`: the arc begins here.
  void search_level(std::span<double> c, bool begins, double length, Crossing& first) const;
  /// A gap that may be small: its first zero, looked for behind the zeros that are known from a touch.
  template <class Coefficients>
  void search_guard(int guard, Coefficients& c, const ExactTouch& touch, double length,
                    Crossing& first) const;
  /// Reports where an open gap turns on a piece of the arc up to the crossing, once or twice;
  /// `clock(fraction)` gives the time there and what a unit of fraction lasts. It may turn just where an
  /// event ends the arc, as a section that looks for the zeros of its rate, or where friction turns round:
  /// neither this arc nor the next has the turn within it then.
  template <class Coefficients, class Clock>
  void watch_gap(Observer& observer, int contact, Coefficients c, const Clock& clock,
                 const Crossing& at) const;

  /// The state for an observer; nothing when there is none.
  auto snapshot(const Observer* observer) const {
    using Outer = decltype(engine().outer_state());
    return observer != nullptr ? engine().outer_state() : Outer{};
  }
  template <class Outer>
  void tell(Observer* observer, EventKind kind, int contact, const Outer& before, double event_time,
            double speed = std::numeric_limits<double>::quiet_NaN()) const;
  template <class Outer>
  void tell(Observer* observer, Event event, const Outer& before, double event_time) const;
  void close(int i, Observer* observer, double event_time);
  void open(int i, int order, Observer* observer);

  Tolerance tolerance_;
  std::int64_t turns_ = 0;
  std::int64_t mode_ = 0;
  bool settled_ = false;
  bool on_level_ = false;  ///< the arc starts exactly on the section's level
  std::int64_t heeded_ = HybridState::all_contacts;
  std::vector<ExactTouch> touches_;

 private:
  Engine& engine() { return static_cast<Engine&>(*this); }
  const Engine& engine() const { return static_cast<const Engine&>(*this); }

  S deadline(const Section& section) const;
  S flight_end(const Section& section, const S& deadline) const;
  void wrap(S& deadline);
  S at_phase(double phase) const { return phase == 0 ? S(0) : S(S(phase) * engine().period()); }
  S next_at_phase(double phase) const;
  Outcome finish(const Section& section, const S& deadline, bool to_phase);
  S event_shift(const Crossing& c, const Section& section);
};

template <class Engine, class S, class State>
Outcome MotionLoop<Engine, S, State>::end_leg(const LegEnd& end, Eigen::Index first) {
  S shift(end.shift);
  for (Eigen::Index k = first; k < std::min<Eigen::Index>(end.late.size(), first + directions); ++k)
    shift.slope[static_cast<std::size_t>(k - first)] = end.late(k);
  engine().drift_time(shift);
  return finite() ? Outcome::ok : Outcome::non_finite;
}

/// When the forcing next comes to a phase.
template <class Engine, class S, class State>
S MotionLoop<Engine, S, State>::next_at_phase(double phase) const {
  const S next = at_phase(phase);
  return value_of(next) > value_of(time) ? next : S(next + engine().period());
}

/// Where this iterate ends at the latest, on the clock of `time`.
template <class Engine, class S, class State>
S MotionLoop<Engine, S, State>::deadline(const Section& section) const {
  const S period = engine().period();
  const bool forced = period > S(0);
  switch (section.kind) {
    case Section::Kind::stroboscopic:
      if (forced) return engine().commensurate() ? next_at_phase(section.phase) : S(time + period);
      return time + S(section.interval);
    case Section::Kind::time:
      return time + S(section.interval);
    default:
      return time + S(tolerance_.patience * (forced ? value_of(period) : 2 * M_PI / engine().fastest_rate()));
  }
}

/// Where an iterate that ends in free flight does so if nothing happens before; at its deadline at latest.
template <class Engine, class S, class State>
S MotionLoop<Engine, S, State>::flight_end(const Section& section, const S& deadline) const {
  const double step = section.flights;
  if (!(step > 0) || engine().any_rigid_closed()) return deadline;
  constexpr double rounding = 1e-9;  // of a step: so near to a multiple the time is there
  const double next = step * (std::floor(value_of(time) / step + rounding) + 1);
  return next < value_of(deadline) - step / 2 ? S(next) : deadline;
}

/// Counts whole forcing periods apart, so that the phase keeps its digits however long the run.
template <class Engine, class S, class State>
void MotionLoop<Engine, S, State>::wrap(S& deadline) {
  if (!engine().commensurate()) return;
  const S period = engine().period();
  while (period > S(0) && time >= period) {
    time -= period;
    deadline -= period;
    ++turns_;
  }
}

/// The arc has come to its deadline without an event.
template <class Engine, class S, class State>
Outcome MotionLoop<Engine, S, State>::finish(const Section& section, const S& deadline, bool to_phase) {
  if constexpr (!std::is_same_v<S, double>) {
    const S rest = deadline - time;
    engine().drift_time(rest - S(value_of(rest)));
  }
  if (!finite()) return Outcome::non_finite;
  if (section.kind != Section::Kind::stroboscopic && section.kind != Section::Kind::time) {
    return Outcome::no_return;
  }
  if (to_phase) {
    if (!(value_of(deadline) < value_of(engine().period()))) ++turns_;
    time = at_phase(section.phase);
  } else {
    time = deadline;
  }
  return Outcome::ok;
}

/// How the instant of a crossing just moved to depends on what the motion is differentiated by: one Newton
/// step of the guard in dual numbers.
template <class Engine, class S, class State>
S MotionLoop<Engine, S, State>::event_shift(const Crossing& c, const Section& section) {
  const S guard = c.kind == Crossing::Kind::guard
                      ? engine().guard(c.guard)
                      : S(section.direction) * (S(section.level) - x(section.coordinate));
  return (S(value_of(guard)) - guard) / S(c.slope);
}

template <class Engine, class S, class State>
Outcome MotionLoop<Engine, S, State>::advance(const Section& section, Observer* observer) {
  S end = deadline(section);
  const bool to_phase =
      section.kind == Section::Kind::stroboscopic && engine().commensurate() && engine().period() > S(0);
  on_level_ = section.kind == Section::Kind::level && value_of(x(section.coordinate)) == section.level;
  if (!settled_) {
    const Outcome outcome = engine().start(observer);
    if (outcome != Outcome::ok) return outcome;
  } else if constexpr (requires { engine().rest_on_closed(); }) {
    engine().rest_on_closed();
  } else if constexpr (!std::is_same_v<S, double>) {
    engine().rest_slopes();
  }
  for (std::int64_t events = 0; events < tolerance_.events; ++events) {
    check_interrupt();
    if (!to_phase || section.phase > 0) wrap(end);
    const S stop = flight_end(section, end);
    const S left = stop - time;
    Crossing c;
    if (left > S(0)) {
      c = engine().search(value_of(left), section, observer);
      if (c.kind == Crossing::Kind::floor) return finite() ? Outcome::step_floor : Outcome::non_finite;
      engine().move(c);
    }
    if (c.kind == Crossing::Kind::none)
      return finish(section, stop, to_phase && value_of(stop) == value_of(end));
    if constexpr (!std::is_same_v<S, double>) {
      const double least = c.kind == Crossing::Kind::guard ? engine().least_slope(c.guard) : 0;
      if (c.kind != Crossing::Kind::arm && std::abs(c.slope) > least) engine().drift(event_shift(c, section));
    }
    if (!finite()) return Outcome::non_finite;
    if (c.kind == Crossing::Kind::arm) {
      on_level_ = true;
      continue;
    }
    if (c.kind == Crossing::Kind::level) {
      x(section.coordinate) = S(section.level);
      on_level_ = true;
      wrap(end);
      return Outcome::ok;
    }
    const bool target = engine().hits(section.contact, c);
    if (target && section.kind == Section::Kind::impact_before) {
      engine().put_on(section.contact);
      wrap(end);
      settled_ = false;
      return Outcome::ok;
    }
    const Outcome outcome = engine().meet(c, observer);
    if (outcome != Outcome::ok) return outcome;
    if (target && section.kind == Section::Kind::impact_after) {
      wrap(end);
      return Outcome::ok;
    }
  }
  return Outcome::event_limit;
}

template <class Engine, class S, class State>
void MotionLoop<Engine, S, State>::search_level(std::span<double> c, bool begins, double length,
                                                Crossing& first) const {
  // On the level its leading coefficients are zero, or would be but for rounding: a start at rest there.
  std::size_t zeros = 0;
  if ((on_level_ && begins) || c[0] == 0) {
    double size = 0;
    for (const double a : c) size = std::max(size, std::abs(a));
    c[zeros++] = 0;
    while (zeros < c.size() && std::abs(c[zeros]) <= 1e-13 * size) c[zeros++] = 0;
    if (zeros == c.size()) return;  // held there by a contact
  }
  const bool armed = c[zeros] > 0;
  if (!armed) {
    for (double& a : c) a = -a;
  }
  const auto zero = first_zero(std::span<const double>(c).subspan(zeros), first.fraction);
  if (!zero) return;
  first.kind = armed ? Crossing::Kind::level : Crossing::Kind::arm;
  first.guard = -1;
  first.fraction = *zero;
  first.slope = polynomial_slope(c, *zero) / length;
}

template <class Engine, class S, class State>
template <class Coefficients>
void MotionLoop<Engine, S, State>::search_guard(int guard, Coefficients& c, const ExactTouch& touch,
                                                double length, Crossing& first) const {
  std::size_t zeros = static_cast<std::size_t>(touch.order);
  if (engine().passes(guard) || zeros + 1 >= c.size() || engine().stays_at_zero(guard, c)) return;
  if (zeros == 0 && c[0] <= 0 && c[1] > 0) zeros = 1;
  if (touch.order == 1 && touch.speed > S(0)) c[1] = value_of(touch.speed) * length;
  const auto zero = first_zero(std::span<const double>(c).subspan(zeros), first.fraction);
  if (!zero) return;
  std::fill(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(zeros), 0.0);
  first.kind = Crossing::Kind::guard;
  first.guard = guard;
  first.fraction = *zero;
  first.slope = polynomial_slope(c, *zero) / length;
}

template <class Engine, class S, class State>
template <class Coefficients, class Clock>
void MotionLoop<Engine, S, State>::watch_gap(Observer& observer, int contact, Coefficients c,
                                             const Clock& clock, const Crossing& at) const {
  constexpr double rounding = 1e-14, same = 1e-6;
  const double end = at.fraction;
  double size = 0;
  for (const double a : c) size += std::abs(a);
  if (std::abs(c[1]) <= 1e-15 * size) c[1] = 0;  // it begins at rest
  const bool falls = c[1] < 0 || (c[1] == 0 && c[2] < 0);
  if (!falls) {
    for (double& a : c) a = -a;
  }
  const auto report = [&](double fraction, bool lowest, double least) {
    const double extreme = falls ? polynomial(c, fraction) : -polynomial(c, fraction);
    const auto [instant, unit] = clock(fraction);
    if (!lowest) {
      observer.excursion(contact, absolute(instant), extreme);
    } else if (extreme > least) {
      const double curvature = std::abs(polynomial_curvature(c, fraction));
      observer.near_miss(contact, absolute(instant),
                         std::sqrt(2 * std::max(extreme, 0.0) * curvature) / unit);
    }
  };
  const auto turn = first_minimum(c, end);
  if (turn) report(*turn, falls, 0);
  const double slope = polynomial_slope(c, end);
  if (at.ends_elsewhere(contact)) {
    // A rate's own series has one term more than the gap's slope.
    const double left_out = static_cast<double>(c.size()) * std::abs(c[c.size() - 1]);
    const double curvature = polynomial_curvature(c, end);
    if (std::abs(slope) <= rounding * size + left_out && std::abs(curvature) > rounding * size) {
      // A touch that rounding hides has no speed.
      if (turn.value_or(0) < (1 - same) * end) report(end, (curvature > 0) == falls, -rounding * size);
      return;
    }
  }
  if (!turn || slope >= 0) return;  // else it turns back
  const std::vector<double> turns = stationary_points(polynomial_part({c.begin(), c.end()}, 0, end));
  if (!turns.empty() && turns.back() * end > *turn + same * end) report(turns.back() * end, !falls, 0);
}

template <class Engine, class S, class State>
void MotionLoop<Engine, S, State>::close(int i, Observer* observer, double event_time) {
  tell(observer, EventKind::stick, i, snapshot(observer), event_time);
  mode_ |= std::int64_t{1} << i;
  touches_[static_cast<std::size_t>(i)] = {};
}

template <class Engine, class S, class State>
void MotionLoop<Engine, S, State>::open(int i, int order, Observer* observer) {
  touches_[static_cast<std::size_t>(i)] = {order, S(0)};
  if (!closed(i)) return;
  tell(observer, EventKind::release, i, snapshot(observer), value_of(time));
  mode_ &= ~(std::int64_t{1} << i);
  if (heeded_ != HybridState::all_contacts) heeded_ &= ~(std::int64_t{1} << i);
}

template <class Engine, class S, class State>
template <class Outer>
void MotionLoop<Engine, S, State>::tell(Observer* observer, EventKind kind, int contact, const Outer& before,
                                        double event_time, double speed) const {
  if (observer == nullptr) return;
  Event event;
  event.kind = kind;
  event.contact = contact;
  event.mode = static_cast<const Engine*>(this)->mode_told();
  event.approach_speed = speed;
  tell(observer, event, before, event_time);
}

template <class Engine, class S, class State>
template <class Outer>
void MotionLoop<Engine, S, State>::tell(Observer* observer, Event event, const Outer& before,
                                        double event_time) const {
  const Outer after = snapshot(observer);
  event.time = absolute(event_time);
  event.before = {before.data(), static_cast<std::size_t>(before.size())};
  event.after = {after.data(), static_cast<std::size_t>(after.size())};
  observer->event(event);
}

}  // namespace graze
