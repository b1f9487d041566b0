/// The oblique pendulum by a second method, in long double: closed-form flight searched by brute force,
/// contact as one degree of freedom by Runge-Kutta steps, chatter followed impact by impact. Shares with the
/// engine nothing but the law of impact.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/contact/oblique_impact.hpp"
#include "tests/support.hpp"

namespace graze::test {

using Real = long double;

struct ObliqueParameters {
  double eta = 1, f1 = 0.3, f2 = 0, psi = 0, zeta1 = 0.05, zeta2 = 0.05, kappa = 1, mass_ratio = 0.6,
         clearance = 0.5, mu = 0.5, r = 0.6;

  std::string toml() const {
    std::string text = "name = 'oblique_pendulum'\n";
    const auto add = [&](const char* name, double value) {
      text += std::string(name) + " = " + fmt_double(value) + "\n";
    };
    add("eta", eta);
    add("f1", f1);
    add("f2", f2);
    add("psi", psi);
    add("zeta1", zeta1);
    add("zeta2", zeta2);
    add("kappa", kappa);
    add("mass_ratio", mass_ratio);
    add("clearance", clearance);
    add("mu", mu);
    add("r", r);
    return text;
  }
};

/// q'' + 2 ζ ω q' + ω² q = F cos(η t + φ), ζ < 1.
class Oscillator {
 public:
  Oscillator(Real omega, Real zeta, Real force, Real eta, Real phase, Real t0, Real q0, Real v0)
      : eta_(eta), phase_(phase), t0_(t0), decay_(zeta * omega), rate_(omega * std::sqrt(1 - zeta * zeta)) {
    const Real a = omega * omega - eta * eta, b = 2 * zeta * omega * eta;
    cosine_ = force * a / (a * a + b * b);
    sine_ = force * b / (a * a + b * b);
    const Real c = std::cos(eta * t0 + phase), s = std::sin(eta * t0 + phase);
    a_ = q0 - cosine_ * c - sine_ * s;
    b_ = (v0 - eta * (sine_ * c - cosine_ * s) + decay_ * a_) / rate_;
  }
  std::array<Real, 2> at(Real t) const {
    const Real h = t - t0_;
    const Real e = std::exp(-decay_ * h), c = std::cos(rate_ * h), s = std::sin(rate_ * h);
    const Real C = std::cos(eta_ * t + phase_), S = std::sin(eta_ * t + phase_);
    return {e * (a_ * c + b_ * s) + cosine_ * C + sine_ * S,
            e * ((b_ * rate_ - decay_ * a_) * c - (a_ * rate_ + decay_ * b_) * s) +
                eta_ * (sine_ * C - cosine_ * S)};
  }

 private:
  Real eta_, phase_, t0_, decay_, rate_, cosine_, sine_, a_, b_;
};

/// Free motion of both bodies from (theta, theta', x, x') at t0 on.
class ObliqueFlight {
 public:
  using State = std::array<Real, 4>;
  ObliqueFlight(const ObliqueParameters& p, Real t0, const State& y)
      : bob_(1, p.zeta1, p.f1, p.eta, 0, t0, y[0], y[1]),
        block_(p.kappa, p.zeta2, p.f2, p.eta, p.psi, t0, y[2], y[3]),
        clearance_(p.clearance) {}
  State at(Real t) const {
    const auto a = bob_.at(t), b = block_.at(t);
    return {a[0], a[1], b[0], b[1]};
  }
  Real gap(Real t) const { return clearance_ + block_.at(t)[0] - std::sin(bob_.at(t)[0]); }
  Real gap_rate(Real t) const {
    const auto a = bob_.at(t);
    return block_.at(t)[1] - a[1] * std::cos(a[0]);
  }

 private:
  Oscillator bob_, block_;
  Real clearance_;
};

/// What happens while a contact is closed, and when it closes and opens.
struct ObliqueChange {
  Real time;
  EventKind kind;
};

class ObliqueReference {
 public:
  using State = ObliqueFlight::State;
  ObliqueReference(const ObliqueParameters& p, Real t0, const State& y) : p_(p), t_(t0), y_(y) {}

  const State& state() const { return y_; }
  const std::vector<ObliqueChange>& changes() const { return changes_; }
  int impacts() const { return impacts_; }

  void run(Real end) {
    while (t_ < end) {
      if (mode_ == Mode::open) {
        fly(end);
      } else if (mode_ == Mode::stuck) {
        rest(end);
      } else {
        slide(end);
      }
    }
  }

 private:
  enum class Mode { open, forward, backward, stuck };

  Real drive(Real t, const State& y) const {
    return p_.f1 * std::cos(p_.eta * t) - 2 * p_.zeta1 * y[1] - y[0];
  }
  Real pull(Real t, const State& y) const {
    return p_.f2 * std::cos(p_.eta * t + p_.psi) - 2 * p_.zeta2 * p_.kappa * y[3] -
           p_.kappa * p_.kappa * y[2];
  }
  Real friction(const State& y) const { return p_.mu * std::abs(std::sin(y[0])); }
  Real brake(const State& y) const {
    return std::cos(y[0]) + (mode_ == Mode::forward ? 1 : -1) * friction(y);
  }
  /// Block on the bob.
  State bound(Real theta, Real u) const {
    return {theta, u, std::sin(theta) - static_cast<Real>(p_.clearance), u * std::cos(theta)};
  }
  /// θ'' with the contact closed: both bodies as one, friction and normal force eliminated.
  Real slip_rate(Real t, const State& y) const {
    const Real a = brake(y), m = p_.mass_ratio;
    return (m * drive(t, y) + a * (pull(t, y) + y[1] * y[1] * std::sin(y[0]))) / (m + a * std::cos(y[0]));
  }
  Real force(Real t, const State& y) const {
    const Real x2 = slip_rate(t, y) * std::cos(y[0]) - y[1] * y[1] * std::sin(y[0]);
    return (x2 - pull(t, y)) / static_cast<Real>(p_.mass_ratio);
  }
  void note(EventKind kind) { changes_.push_back({t_, kind}); }

  void fly(Real end) {
    const ObliqueFlight flight(p_, t_, y_);
    const Real away = y_[3] - y_[1] * std::cos(y_[0]);
    const Real press = drive(t_, y_) * std::cos(y_[0]) - pull(t_, y_) - y_[1] * y_[1] * std::sin(y_[0]);
    Real step = 0.01L, t = t_;
    if (fresh_ && press > 0) step = std::min(step, away / press / 2);
    bool positive = !fresh_;  // right after an impact the gap is zero but for rounding
    while (true) {
      const Real next = std::min(t + step, end);
      const Real g = flight.gap(next);
      if (positive && g <= 0) {
        Real low = t, high = next;
        for (int k = 0; k < 70; ++k) {
          const Real middle = (low + high) / 2;
          (flight.gap(middle) > 0 ? low : high) = middle;
        }
        t_ = high;
        y_ = flight.at(t_);
        return hit();
      }
      positive = positive || g > 0;
      t = next;
      if (t >= end) break;
    }
    t_ = end;
    y_ = flight.at(end);
    fresh_ = false;
  }

  void hit() {
    ++impacts_;
    const Real c = std::cos(y_[0]);
    const auto after = closed_form(ObliqueContact<Real>{c, friction(y_), p_.mass_ratio, p_.r}, y_[1], y_[3]);
    y_ = bound(y_[0], after.slip);
    y_[3] = after.block;
    const Real away = after.block - after.slip * c;
    const Real press = drive(t_, y_) * c - pull(t_, y_) - y_[1] * y_[1] * std::sin(y_[0]);
    fresh_ = true;
    if (away > 1e-8L || press <= 0) return;
    note(EventKind::stick);
    if (std::abs(y_[1]) < 1e-7L) y_[1] = 0;
    y_ = bound(y_[0], y_[1]);
    choose();
  }

  /// At zero gap and approach.
  void choose() {
    const Real f = friction(y_), c = std::cos(y_[0]), N = -pull(t_, y_) / static_cast<Real>(p_.mass_ratio);
    if (y_[1] != 0) {
      mode_ = y_[1] > 0 ? Mode::forward : Mode::backward;
    } else if (std::abs(drive(t_, y_) - c * N) <= f * N) {
      mode_ = Mode::stuck;
    } else {
      mode_ = drive(t_, y_) > c * N ? Mode::forward : Mode::backward;
    }
  }

  State slid(Real h) const {
    const auto rate = [&](Real t, Real theta, Real u) { return slip_rate(t, bound(theta, u)); };
    const Real q = y_[0], u = y_[1];
    const Real a1 = rate(t_, q, u), u2 = u + h / 2 * a1;
    const Real a2 = rate(t_ + h / 2, q + h / 2 * u, u2), u3 = u + h / 2 * a2;
    const Real a3 = rate(t_ + h / 2, q + h / 2 * u2, u3), u4 = u + h * a3;
    const Real a4 = rate(t_ + h, q + h * u3, u4);
    return bound(q + h / 6 * (u + 2 * u2 + 2 * u3 + u4), u + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4));
  }

  void slide(Real end) {
    const Real sign = mode_ == Mode::forward ? 1 : -1;
    bool begun = y_[1] != 0;
    while (t_ < end) {
      const Real h = std::min<Real>(1e-3L, end - t_);
      const State next = slid(h);
      const bool stops = begun && sign * next[1] <= 0;
      if (stops || force(t_ + h, next) <= 0) {
        Real low = 0, high = h;
        for (int k = 0; k < 60; ++k) {
          const Real middle = (low + high) / 2;
          const State y = slid(middle);
          ((stops && sign * y[1] <= 0) || force(t_ + middle, y) <= 0 ? high : low) = middle;
        }
        const State y = slid(high);
        const bool released = force(t_ + high, y) <= 0;
        t_ += high;
        y_ = y;
        if (released) {
          note(EventKind::release);
          mode_ = Mode::open;
          fresh_ = false;
          return;
        }
        y_ = bound(y_[0], 0);
        choose();
        note(mode_ == Mode::stuck ? EventKind::slip_to_stick : EventKind::slip_reversal);
        return;
      }
      begun = true;
      t_ += h;
      y_ = next;
    }
  }

  void rest(Real end) {
    const auto holds = [&](Real t) {
      const Real N = -pull(t, y_) / static_cast<Real>(p_.mass_ratio);
      return std::abs(drive(t, y_) - std::cos(y_[0]) * N) <= friction(y_) * N;
    };
    for (Real t = t_; t < end; t += 1e-3L) {
      if (holds(std::min(t + 1e-3L, end))) continue;
      Real low = t, high = t + 1e-3L;
      for (int k = 0; k < 60; ++k) {
        const Real middle = (low + high) / 2;
        (holds(middle) ? low : high) = middle;
      }
      t_ = high;
      choose();
      note(EventKind::stick_to_slip);
      return;
    }
    t_ = end;
  }

  ObliqueParameters p_;
  Real t_;
  State y_;
  Mode mode_ = Mode::open;
  bool fresh_ = false;
  int impacts_ = 0;
  std::vector<ObliqueChange> changes_;
};

}  // namespace graze::test
