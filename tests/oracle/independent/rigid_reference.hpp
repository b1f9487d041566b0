/// Motions between rigid contacts by a second method: Runge-Kutta-Fehlberg 7(8) in extended precision, gaps
/// bracketed by their signs on short pieces, impacts as the caller works them out by hand.
#pragma once

#include <array>
#include <boost/math/tools/toms748_solve.hpp>
#include <boost/numeric/odeint.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace graze::independent {

template <std::size_t N>
struct RigidReference {
  using Real = long double;
  using State = std::array<Real, N>;

  std::function<void(const State& x, State& rate, Real t)> rates;
  std::vector<std::function<Real(const State& x, Real t)>> gaps;
  std::function<void(int contact, State& x, Real t)> impact;
  Real piece = 0.004L;  ///< a gap does not close and open again within one

  struct Impact {
    Real time;
    int contact;
    State before, after;
  };

  /// Until all these impacts have happened. The motion must not come to rest on a contact.
  std::vector<Impact> impacts(State x, std::size_t count) const {
    std::vector<Impact> list;
    Real t = 0;
    while (list.size() < count) {
      Real length = piece;
      const int hit = first_contact(x, t, length);
      const State before = moved(x, t, length);
      t += length;
      x = before;
      if (hit < 0) continue;
      impact(hit, x, t);
      list.push_back({t, hit, before, x});
      x = moved(x, t, 1e-9L);  // off the contact
      t += 1e-9L;
    }
    return list;
  }

  State moved(State x, Real t, Real length) const {
    namespace odeint = boost::numeric::odeint;
    using Stepper = odeint::runge_kutta_fehlberg78<State, Real>;
    odeint::integrate_adaptive(odeint::make_controlled<Stepper>(1e-17L, 1e-17L), std::cref(rates), x, t,
                               t + length, length);
    return x;
  }

 private:
  /// The contact whose gap closes first within `length`, which becomes the time until then; −1: none.
  int first_contact(const State& x, Real t, Real& length) const {
    int first = -1;
    const State end = moved(x, t, length);
    const Real whole = length;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      if (!(gaps[i](x, t) > 0) || gaps[i](end, t + whole) > 0) continue;
      std::uintmax_t steps = 200;
      const auto gap = [&](Real h) { return h > 0 ? gaps[i](moved(x, t, h), t + h) : gaps[i](x, t); };
      const auto bracket = boost::math::tools::toms748_solve(
          gap, Real(0), whole, boost::math::tools::eps_tolerance<Real>(60), steps);
      if (bracket.second > length) continue;
      first = static_cast<int>(i);
      length = bracket.second;
    }
    return first;
  }
};

}  // namespace graze::independent
