/// The whole motion of the two-mass system with impacts, chatter, sticking and release, the slow and plain
/// way: Taylor series in extended precision, every impact of a chatter sequence followed one by one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/oracle/independent/two_masses.hpp"

namespace graze::independent {

/// A Taylor polynomial in the time since the start of a step, lowest order first.
using Series = std::array<Real, 27>;

namespace detail {

inline Real value(const Series& p, Real t) {
  Real sum = 0;
  for (std::size_t n = p.size(); n-- > 0;) sum = sum * t + p[n];
  return sum;
}

inline Series derivative(const Series& p) {
  Series d{};
  for (std::size_t n = 1; n < p.size(); ++n) d[n - 1] = static_cast<Real>(n) * p[n];
  return d;
}

/// p / t^k, the first k coefficients being zero by what has happened.
inline Series divided(const Series& p, std::size_t k) {
  Series q{};
  std::copy(p.begin() + static_cast<std::ptrdiff_t>(k), p.end(), q.begin());
  return q;
}

/// The first t in [a, b] with p(t) <= 0, given p(a) > 0; `curvature` bounds |p''|.
inline std::optional<Real> first_zero(const Series& p, const Series& rate, Real curvature, Real a, Real b) {
  const Real middle = a + (b - a) / 2;
  const Real half = (b - a) / 2;
  const Real height = value(p, middle);
  const Real slope = std::abs(value(rate, middle));
  if (height - slope * half - curvature * half * half / 2 > 0) return {};
  if (slope > curvature * half) {  // monotone
    if (value(p, b) > 0) return {};
    while (true) {
      const Real cut = a + (b - a) / 2;
      if (cut <= a || cut >= b) return b;
      (value(p, cut) > 0 ? a : b) = cut;
    }
  }
  if (middle <= a || middle >= b) return height > 0 ? std::nullopt : std::optional(middle);
  if (const auto zero = first_zero(p, rate, curvature, a, middle)) return zero;
  return first_zero(p, rate, curvature, middle, b);
}

/// The first t in [0, length] with p(t) <= 0.
inline std::optional<Real> first_zero(const Series& p, Real length) {
  if (p[0] <= 0) return Real{0};
  const Series rate = derivative(p);
  Series bend = derivative(rate);
  for (Real& c : bend) c = std::abs(c);
  return first_zero(p, rate, value(bend, length), Real{0}, length);
}

}  // namespace detail

/// Something that happened: its forcing period, its time within that period, the mass (0 or 1).
struct ReferenceEvent {
  enum class Kind { impact, stick, release };
  Kind kind = Kind::impact;
  std::int64_t turn = 0;
  Real time = 0;
  std::size_t mass = 0;
  Real speed = 0;  ///< approach speed of an impact
};

/// The motion with its events. Throws std::runtime_error where the rules of rigid impact decide nothing (a
/// mass let go by a force whose rate vanishes too).
class ReferenceMotion {
 public:
  /// Starts at a time within the first forcing period. `cut`: the rebound speed below which a pressed mass is
  /// at rest.
  ReferenceMotion(const TwoMasses& masses, const State& state, Real time = 0, Real cut = 1e-15L)
      : masses_(masses), state_(state), time_(time), cut_(cut) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (gap(i) == 0 && opening(i) == 0) meet(i);
    }
  }

  /// Moves on to the given number of beginnings of a forcing period.
  void run(std::int64_t periods) {
    for (const std::int64_t end = turn_ + periods; turn_ < end;) step();
  }

  const State& state() const { return state_; }
  bool sticks(std::size_t mass) const { return sticks_[mass]; }
  const std::vector<ReferenceEvent>& events() const { return events_; }
  void forget_events() { events_.clear(); }
  Real period() const { return 2 * std::numbers::pi_v<Real> / masses_.delta; }

 private:
  using Row = std::array<Real, 6>;  ///< over x1, v1, x2, v2, cos, sin

  Real side(std::size_t i) const { return static_cast<Real>(masses_.stops[i].side); }
  Real gap(std::size_t i) const { return side(i) * (masses_.stops[i].position - state_[2 * i]); }
  Real opening(std::size_t i) const { return -side(i) * state_[2 * i + 1]; }

  /// Force on a mass without that of its stop.
  Row force_row(std::size_t i) const {
    const TwoMasses& p = masses_;
    if (i == 0) return {-(p.k1 + p.k2), -(p.c1 + p.c2), p.k2, p.c2, p.A1, 0};
    return {p.k2, p.c2, -p.k2, -p.c2, p.A2, 0};
  }

  /// The force that presses a mass to its stop.
  Real pressing(std::size_t i) const {
    const Row row = force_row(i);
    const Row now = {state_[0],
                     state_[1],
                     state_[2],
                     state_[3],
                     std::cos(masses_.delta * time_),
                     std::sin(masses_.delta * time_)};
    Real sum = 0;
    for (std::size_t k = 0; k < 6; ++k) sum += row[k] * now[k];
    return side(i) * sum;
  }

  /// Right-hand side of the motion with the masses that stick held.
  std::array<Row, 6> matrix() const {
    std::array<Row, 6> rows{};
    for (std::size_t i = 0; i < 2; ++i) {
      if (sticks_[i]) continue;
      rows[2 * i][2 * i + 1] = 1;
      rows[2 * i + 1] = force_row(i);
      for (Real& entry : rows[2 * i + 1]) entry /= (i == 0 ? masses_.m1 : masses_.m2);
    }
    rows[4][5] = -masses_.delta;
    rows[5][4] = masses_.delta;
    return rows;
  }

  std::array<Series, 6> expand(const std::array<Row, 6>& rows) const {
    std::array<Series, 6> z{};
    for (std::size_t k = 0; k < 4; ++k) z[k][0] = state_[k];
    z[4][0] = std::cos(masses_.delta * time_);
    z[5][0] = std::sin(masses_.delta * time_);
    for (std::size_t n = 0; n + 1 < Series{}.size(); ++n) {
      for (std::size_t k = 0; k < 6; ++k) {
        Real sum = 0;
        for (std::size_t j = 0; j < 6; ++j) sum += rows[k][j] * z[j][n];
        z[k][n + 1] = sum / static_cast<Real>(n + 1);
      }
    }
    return z;
  }

  /// The step with which the series converges to rounding: 1 / (norm of the matrix).
  static Real safe_step(const std::array<Row, 6>& rows) {
    Real norm = 0;
    for (const Row& row : rows) {
      Real sum = 0;
      for (const Real entry : row) sum += std::abs(entry);
      norm = std::max(norm, sum);
    }
    return 1 / norm;
  }

  /// What ends the present mode of a mass when it turns to zero: the pressing force of a held mass, the gap
  /// of a free one, freed from the zeros that it starts with.
  Series guard(std::size_t i, const std::array<Series, 6>& z) const {
    Series g{};
    if (sticks_[i]) {
      const Row row = force_row(i);
      for (std::size_t n = 0; n < g.size(); ++n) {
        for (std::size_t k = 0; k < 6; ++k) g[n] += side(i) * row[k] * z[k][n];
      }
      return g;
    }
    for (std::size_t n = 0; n < g.size(); ++n) g[n] = -side(i) * z[2 * i][n];
    g[0] = gap(i);
    const Series open = detail::divided(g, contact_order_[i]);
    if (contact_order_[i] > 0 && !(open[0] > 0))
      throw std::runtime_error("reference motion: undecided release");
    return open;
  }

  /// One Taylor step, to its end, the next event or the end of the period.
  void step() {
    const std::array<Row, 6> rows = matrix();
    const std::array<Series, 6> z = expand(rows);
    Real length = safe_step(rows);
    const bool ends_period = time_ + length >= period();
    if (ends_period) length = period() - time_;
    std::optional<std::size_t> acting;
    for (std::size_t i = 0; i < 2; ++i) {
      if (const auto zero = detail::first_zero(guard(i, z), length)) {
        acting = i;
        length = *zero;
      }
    }
    for (std::size_t k = 0; k < 4; ++k) state_[k] = detail::value(z[k], length);
    time_ += length;
    if (length > 0) {
      for (std::size_t i = 0; i < 2; ++i) contact_order_[i] = 0;
    }
    if (acting && sticks_[*acting]) {
      release(*acting, 3);
    } else if (acting) {
      impact(*acting);
    } else if (ends_period) {
      time_ = 0;
      ++turn_;
    }
  }

  void impact(std::size_t i) {
    state_[2 * i] = masses_.stops[i].position;
    if (opening(i) > 0) {  // another event cut an arc so low that its gap is below rounding
      contact_order_[i] = 1;
      return;
    }
    record(ReferenceEvent::Kind::impact, i, -opening(i));
    state_[2 * i + 1] *= -masses_.stops[i].restitution;
    // The jump of this mass is felt by the other through the damper between them.
    const std::size_t other = 1 - i;
    if (sticks_[other] && pressing(other) <= 0) release(other, 2);
    if (opening(i) >= cut_ || pressing(i) <= 0) {
      contact_order_[i] = opening(i) > 0 ? 1 : 2;
    } else {
      meet(i);
    }
  }

  /// A mass at rest on its stop stays there or leaves at once.
  void meet(std::size_t i) {
    state_[2 * i + 1] = 0;
    if (pressing(i) > 0) {
      sticks_[i] = true;
      record(ReferenceEvent::Kind::stick, i, 0);
    } else {
      contact_order_[i] = 2;
    }
  }

  /// Lets a mass go whose gap opens with this power of time.
  void release(std::size_t i, std::size_t order) {
    sticks_[i] = false;
    contact_order_[i] = order;
    record(ReferenceEvent::Kind::release, i, 0);
  }

  void record(ReferenceEvent::Kind kind, std::size_t mass, Real speed) {
    events_.push_back({kind, turn_, time_, mass, speed});
  }

  TwoMasses masses_;
  State state_;
  Real time_;
  Real cut_;
  std::int64_t turn_ = 0;
  std::array<bool, 2> sticks_ = {false, false};
  std::array<std::size_t, 2> contact_order_ = {0, 0};
  std::vector<ReferenceEvent> events_;
};

}  // namespace graze::independent
