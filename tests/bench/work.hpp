/// The works that are timed: forced oscillators with stops as anyone would write them down for an integrator,
/// and what every program has to hand in for one of their parameter values.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace graze::bench {

/// Forcing periods followed at every parameter value.
inline constexpr int dropped_periods = 200;
inline constexpr int recorded_periods = 64;
/// Relative and absolute tolerance of the integrators.
inline constexpr double tolerance = 1e-9;

/// What a program finds at one parameter value.
struct Orbit {
  std::int64_t impacts = 0;           ///< in all periods
  std::int64_t recorded_impacts = 0;  ///< in the recorded periods
  std::vector<double> points;         ///< states at phase zero, one recorded period after another
};

/// Two masses in a chain, each with a stop above it, `two_dof_stops` with its defaults.
struct TwoMasses {
  static constexpr std::size_t states = 4;
  static constexpr std::size_t contacts = 2;
  using State = std::array<double, states>;

  double frequency = 1;

  static State start() { return {}; }
  void operator()(const State& y, State& rate, double t) const {
    const double spring = y[0] - y[2];
    const double damper = 0.1 * (y[1] - y[3]);
    rate[0] = y[1];
    rate[1] = 0.5 * std::cos(frequency * t) - y[0] - 0.1 * y[1] - spring - damper;
    rate[2] = y[3];
    rate[3] = spring + damper;
  }
  double gap(std::size_t contact, const State& y) const { return 0.3 - y[2 * contact]; }
  void hit(std::size_t contact, State& y) const {
    y[2 * contact] = 0.3;
    y[2 * contact + 1] *= -0.7;
  }
};

/// One mass below a stop at its rest position.
struct OneMass {
  static constexpr std::size_t states = 2;
  static constexpr std::size_t contacts = 1;
  using State = std::array<double, states>;

  double frequency = 1;

  static State start() { return {-0.1, 0}; }
  void operator()(const State& y, State& rate, double t) const {
    rate[0] = y[1];
    rate[1] = std::cos(frequency * t) - y[0] - 0.1 * y[1];
  }
  double gap(std::size_t, const State& y) const { return -y[0]; }
  void hit(std::size_t, State& y) const {
    y[0] = 0;
    y[1] *= -0.8;
  }
};

/// What a soft stop does: its events are an engagement, a loss of force at a penetration that is left (with a
/// damper only), the return.
struct SoftStop {
  double position, stiffness, damping;
  enum class Phase { open, engaged, recovering } phase = Phase::open;

  double force(double x, double v) const {
    return phase == Phase::engaged ? stiffness * (x - position) + damping * v : 0;
  }
  double gap(double x, double v) const {
    if (phase == Phase::open) return position - x;
    return phase == Phase::engaged ? stiffness * (x - position) + damping * v : x - position;
  }
  void go_on() {
    phase = phase == Phase::open                     ? Phase::engaged
            : phase == Phase::engaged && damping > 0 ? Phase::recovering
                                                     : Phase::open;
  }
};

/// A bilinear oscillator: one mass that meets a second spring.
struct Bilinear {
  static constexpr std::size_t states = 2;
  static constexpr std::size_t contacts = 1;
  static constexpr int events_per_contact = 2;
  using State = std::array<double, states>;

  double frequency = 1;
  SoftStop stop = {0.2, 9, 0};

  static State start() { return {}; }
  void operator()(const State& y, State& rate, double t) const {
    rate[0] = y[1];
    rate[1] = std::cos(frequency * t) - y[0] - 0.1 * y[1] - stop.force(y[0], y[1]);
  }
  double gap(std::size_t, const State& y) const { return stop.gap(y[0], y[1]); }
  void hit(std::size_t, State&) { stop.go_on(); }
};

/// Two masses in a chain as above, the first one below a stop with a spring and a damper.
struct SoftChain {
  static constexpr std::size_t states = 4;
  static constexpr std::size_t contacts = 1;
  static constexpr int events_per_contact = 3;
  using State = std::array<double, states>;

  double frequency = 1;
  SoftStop stop = {0.3, 20, 0.5};

  static State start() { return {}; }
  void operator()(const State& y, State& rate, double t) const {
    TwoMasses{frequency}(y, rate, t);
    rate[1] -= stop.force(y[0], y[1]);
  }
  double gap(std::size_t, const State& y) const { return stop.gap(y[0], y[1]); }
  void hit(std::size_t, State&) { stop.go_on(); }
};

template <class Oscillator>
double forcing_period(const Oscillator& oscillator) {
  return 2 * std::numbers::pi / oscillator.frequency;
}

}  // namespace graze::bench
