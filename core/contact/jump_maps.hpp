/// Jump maps beside the contacts of a motion: where a trigger passes through zero, the state is set anew.
///
///     trigger at zero ──▶ falls, or rises, as its jump asks? ──▶ x⁺ = set(x⁻) ──▶ contacts stand anew ──▶ …
///
/// Rules (each has its test):
/// - A jump fires where its trigger passes through zero in its direction. A trigger that only touches zero
///   does not pass through it.
/// - All that a jump sets is worked out from the state before it.
/// - After a jump the contacts stand as at a start: those that are approached are hit, those at rest
///   settle. A contact whose body the jump has taken away is released; one that is penetrated ends the
///   motion (Outcome::bad_jump).
/// - A jump or an impact that carries a trigger from one side of zero to the other counts as passing through:
///   that jump fires in the same instant. So jumps may fire one after the other; more of them than
///   Tolerance::events are Outcome::event_limit.
/// - A jump that leaves its own trigger at zero does not fire again at once: the motion goes to the side to
///   which the trigger then moves.
/// - Jumps that accumulate, each of which leaves its trigger on the side that it came from and nearer to zero
///   than the one before, fire without end: Outcome::event_limit. They do where the trigger would be at zero
///   again within rounding; or goes through it after a jump since the last of which it has been no further
///   from zero than a little more than rounding.
/// - A start at a trigger's zero does not fire; the side is the one that the motion goes to.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/contact/motion_loop.hpp"
#include "core/contact/resting.hpp"

namespace graze {

/// Which way a trigger passes through zero where its jump fires.
enum class JumpDirection : signed char { down, up, both };

/// Rules of jumps on top of those of `Contacts`. An engine provides, beyond what these ask for,
///
///     int jumps() const
///     int jump_guard(int k) const           number of its guard: the trigger, with the sign of its side
///     std::int64_t jump_bit(int k) const    of the mode; set on the side where the trigger is negative
///     JumpDirection direction(int k) const
///     S trigger(int k) const                at the state, whatever the side
///     double trigger_size(int k) const      of the terms that it is the sum of
///     auto trigger_terms(int k)             first terms of its power series, of the mode's motion, where
///                                           time counts in the system's shortest, 1/rate
///     double rate() const
///     void set_anew(int k)                  the state
template <class Contacts, class Engine, class S, class State>
class JumpMaps : public Contacts {
 public:
  using Loop = typename Contacts::Loop;
  friend Loop;

  void place(const HybridState& from, std::size_t guards) {
    Loop::place(from, guards);
    fired_.assign(static_cast<std::size_t>(engine().jumps()), -std::numeric_limits<double>::infinity());
  }

 protected:
  using Contacts::Contacts;
  using Loop::mode_;
  using Loop::tolerance_;
  using Loop::touches_;

  /// With few contacts the guard of a jump may have the number of a contact that there is not.
  bool hits(int contact, const Crossing& c) const {
    return c.guard < engine().count() && Contacts::hits(contact, c);
  }
  Outcome start(Observer* observer) {
    const Outcome outcome = Contacts::start(observer);
    for (int k = 0; outcome == Outcome::ok && k < engine().jumps(); ++k) choose_side(k);
    return outcome;
  }
  Outcome meet(const Crossing& c, Observer* observer) {
    for (int k = 0; k < engine().jumps(); ++k) {
      if (c.guard == engine().jump_guard(k)) return follow(pass(k, observer), observer);
    }
    return follow(Contacts::meet(c, observer), observer);
  }

 private:
  static constexpr double slack = 1e-12;  // of a trigger's terms, and of its change within the shortest time

  /// When each jump has fired last.
  std::vector<double> fired_;

  Engine& engine() { return static_cast<Engine&>(*this); }
  const Engine& engine() const { return static_cast<const Engine&>(*this); }
  bool is_below(int k) { return (mode_ & engine().jump_bit(k)) != 0; }
  void put_on_side(int k, bool below, int order) {
    mode_ = below ? mode_ | engine().jump_bit(k) : mode_ & ~engine().jump_bit(k);
    touches_[static_cast<std::size_t>(engine().jump_guard(k))] = {order, S(0)};
  }
  bool fires(int k) {
    const JumpDirection direction = engine().direction(k);
    return direction == JumpDirection::both || (direction == JumpDirection::up) == is_below(k);
  }

  template <class Terms>
  double size_of(int k, const Terms& terms) {
    double size = engine().trigger_size(k);
    for (const double term : terms) size = std::max(size, std::abs(term));
    return size;
  }
  /// Where a trigger goes from here: its first term that is not zero but for rounding; order for_good: none.
  Onset course(int k) {
    const auto terms = engine().trigger_terms(k);
    const double size = size_of(k, terms);
    for (std::size_t order = 0; order < terms.size(); ++order) {
      if (!(std::abs(terms[order]) > slack * size)) continue;
      if (order == 1 && turns_at_once(terms[1], terms[2], size)) continue;
      return {static_cast<int>(order), terms[order]};
    }
    return {for_good, 0};
  }
  /// Whether a trigger near zero goes no deeper than rounding before it turns.
  static bool turns_at_once(double rate, double curvature, double size) {
    constexpr double digits = 16 * std::numeric_limits<double>::epsilon();
    return rate * curvature < 0 && rate * rate <= 4 * std::abs(curvature) * digits * size;
  }
  void choose_side(int k) {
    const Onset onset = course(k);
    put_on_side(k, onset.coefficient < 0 || (onset.order == for_good && is_below(k)), onset.order);
  }
  /// The trigger of jump k is at zero.
  Outcome pass(int k, Observer* observer) {
    const Onset onset = course(k);
    const bool goes_below = onset.coefficient < 0;
    if (onset.order > 0 && (onset.order == for_good || goes_below == is_below(k))) {  // a touch
      put_on_side(k, is_below(k), onset.order);
      return Outcome::ok;
    }
    if (fires(k)) return fire(k, observer);
    put_on_side(k, !is_below(k), 1);
    return Outcome::ok;
  }
  Outcome fire(int k, Observer* observer) {
    const auto before = this->snapshot(observer);
    Event event;
    event.kind = EventKind::jump;
    event.jump = k;
    event.mode = mode_;
    event.approach_speed = std::numeric_limits<double>::quiet_NaN();
    const bool again = fires_at_once_again(k);
    this->tell_corners(Contacts::Gaps::rising_to_here, observer);
    engine().set_anew(k);
    if (observer != nullptr) this->tell(observer, event, before, value_of(this->time));
    if (!this->finite()) return Outcome::non_finite;
    this->forget_touches();
    const Outcome outcome = Contacts::stand(observer);
    if (outcome == Outcome::bad_start) return Outcome::bad_jump;
    if (outcome != Outcome::ok) return outcome;
    this->tell_corners(Contacts::Gaps::falling_from_here, observer);
    const bool came_from_below = is_below(k);
    const double leaves = engine().trigger_terms(k)[1];
    choose_side(k);
    const bool back = came_from_below ? leaves < 0 : leaves > 0;
    const bool accumulates = back || again;
    return accumulates && is_below(k) != came_from_below && is_at_zero(k) ? Outcome::event_limit
                                                                          : Outcome::ok;
  }
  /// Whether since a jump last fired its trigger has been no further from zero than a little more than
  /// rounding. From now on it has fired last now.
  bool fires_at_once_again(int k) {
    constexpr double little = 1e3;  // times the rounding
    const double now = value_of(this->time);
    const double since = now - std::exchange(fired_[static_cast<std::size_t>(k)], now);
    const auto terms = engine().trigger_terms(k);
    return since > 0 && std::abs(terms[1]) * engine().rate() * since <= little * slack * size_of(k, terms);
  }
  bool is_at_zero(int k) const {
    return touches_[static_cast<std::size_t>(engine().jump_guard(k))].order > 0;
  }
  /// A jump whose trigger has been carried to the other side of zero; −1: none.
  int carried_through() {
    for (int k = 0; k < engine().jumps(); ++k) {
      const double value = value_of(engine().trigger(k));
      const bool elsewhere = is_below(k) ? value > 0 : value < 0;
      if (elsewhere && course(k).order == 0) return k;
    }
    return -1;
  }
  Outcome follow(Outcome outcome, Observer* observer) {
    for (std::int64_t n = 0; outcome == Outcome::ok && n < tolerance_.events; ++n) {
      const int k = carried_through();
      if (k < 0) return Outcome::ok;
      if (fires(k)) {
        outcome = fire(k, observer);
      } else {
        put_on_side(k, !is_below(k), 0);
      }
    }
    return outcome == Outcome::ok ? Outcome::event_limit : outcome;
  }
};

}  // namespace graze
