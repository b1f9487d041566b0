/// Motions through any events by a second method: Runge-Kutta-Fehlberg 7(8) in extended precision, guards
/// bracketed by their signs on short pieces; what happens where one is zero the caller works out by hand.
#pragma once

#include <array>
#include <boost/math/tools/toms748_solve.hpp>
#include <boost/numeric/odeint.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace graze::independent {

template <std::size_t N>
struct HybridReference {
  using Real = long double;
  using State = std::array<Real, N>;

  std::function<void(int mode, const State& x, State& rate, Real t)> rates;
  /// Positive while the mode lasts.
  std::function<std::vector<Real>(int mode, const State& x, Real t)> guards;
  /// The mode after guard number `guard` has come to zero; x may jump.
  std::function<int(int mode, std::size_t guard, State& x, Real t)> next;
  Real piece = 0.004L;  ///< no guard has two zeros within one

  struct Event {
    Real time;
    int mode, next;  ///< before and after
    std::size_t guard;
    State before, after;
  };

  /// Until the time `end`, or so many events; x becomes the state there.
  std::vector<Event> run(State& x, int mode, Real t, Real end,
                         std::size_t most = std::numeric_limits<std::size_t>::max()) const {
    std::vector<Event> list;
    while (t < end && list.size() < most) {
      Real length = std::min(piece, end - t);
      const int fired = first_guard(mode, x, t, length);
      x = moved(mode, x, t, length);
      t += length;
      if (fired < 0) continue;
      Event event{t, mode, mode, static_cast<std::size_t>(fired), x, x};
      event.next = mode = next(mode, event.guard, event.after, t);
      x = event.after;
      list.push_back(event);
      const Real off = std::min(1e-9L, end - t);
      x = moved(mode, x, t, off);
      t += off;
    }
    return list;
  }

  State moved(int mode, State x, Real t, Real length) const {
    namespace odeint = boost::numeric::odeint;
    using Stepper = odeint::runge_kutta_fehlberg78<State, Real>;
    const auto f = [&](const State& y, State& rate, Real time) { rates(mode, y, rate, time); };
    odeint::integrate_adaptive(odeint::make_controlled<Stepper>(1e-17L, 1e-17L), f, x, t, t + length, length);
    return x;
  }

 private:
  /// The guard that is zero first within `length`, which becomes the time until then; −1: none.
  int first_guard(int mode, const State& x, Real t, Real& length) const {
    int first = -1;
    const Real whole = length;
    const std::vector<Real> begin = guards(mode, x, t),
                            end = guards(mode, moved(mode, x, t, whole), t + whole);
    for (std::size_t i = 0; i < begin.size(); ++i) {
      if (!(begin[i] > 0) || end[i] > 0) continue;
      std::uintmax_t steps = 200;
      const auto guard = [&](Real h) {
        return h > 0 ? guards(mode, moved(mode, x, t, h), t + h)[i] : begin[i];
      };
      const auto bracket = boost::math::tools::toms748_solve(
          guard, Real(0), whole, boost::math::tools::eps_tolerance<Real>(60), steps);
      if (bracket.second > length) continue;
      first = static_cast<int>(i);
      length = bracket.second;
    }
    return first;
  }
};

}  // namespace graze::independent
