/// Systems given by equations beside Boost.Odeint, kernel by kernel: what moves by power series in lanes
/// (core/lanes/series/SERIES.md), a Duffing oscillator at a wall and at a soft stop, two pendulums that knock
/// against each other, a gear pair; a capsule, which is linear and has friction, so that no kernel takes it.
/// The same forcing periods, one thread, in turn in one run. Times are per value of the forcing frequency,
/// with the making of systems and tables; what is slow does every so manieth value.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/lanes/lanes.hpp"
#include "core/system/compliant_stop.hpp"
#include "data/case_file.hpp"
#include "drivers/library/case.hpp"
#include "tests/bench/library.hpp"
#include "tests/bench/odeint_peer.hpp"
#include "tests/bench/side_by_side.hpp"
#include "tests/bench/work.hpp"

namespace graze::bench {
namespace {

constexpr std::size_t lanes_at_once = 128;

/// x'' + 0.1 x' + x + x³ = 1.5 cos ωt.
struct Duffing {
  static constexpr std::size_t contacts = 1;
  using State = std::array<double, 2>;
  static constexpr double lowest = 0.8, highest = 2;
  static constexpr std::size_t values = 1000, odeint_stride = 20;

  double frequency = 1;

  static State start() { return {0, 0}; }
  static const char* parameter() { return "omega"; }
  void operator()(const State& y, State& rate, double t) const {
    rate[0] = y[1];
    rate[1] = 1.5 * std::cos(frequency * t) - 0.1 * y[1] - y[0] - y[0] * y[0] * y[0];
  }
};

/// With x <= 0.8: `duffing_impact`.
struct DuffingAtWall : Duffing {
  static Value model() {
    Value table;
    table.set("name", "duffing_impact");
    table.set("b", Value(1.0));
    table.set("F", Value(1.5));
    table.set("r", Value(0.8));
    return table;
  }
  double gap(std::size_t, const State& y) const { return 0.8 - y[0]; }
  void hit(std::size_t, State& y) const {
    y[0] = 0.8;
    y[1] *= -0.8;
  }
};

/// At a soft stop that only pushes, 20 δ + 0.4 δ' with δ = x − 0.5: `equations`. Its events are where that is
/// met, where its force vanishes and where it is left.
struct DuffingAtSoftStop : Duffing {
  Spring spring = Spring::open;

  static Value model() {
    return parse_case(R"toml(
graze = 1
[model]
name = "equations"
parameters = { omega = 1 }
coordinates = ["x"]
force = { x = "1.5*cos(omega*t) - 0.1*x' - x - x^3" }
period = "2*pi/omega"
contact = [{ gap = "0.5 - x", stiffness = 20, damping = 0.4 }]
)toml",
                      "soft_stop.toml", {})
        .root.at("model");
  }
  static double force(const State& y) { return 20 * (y[0] - 0.5) + 0.4 * y[1]; }
  void operator()(const State& y, State& rate, double t) const {
    Duffing::operator()(y, rate, t);
    if (spring == Spring::engaged) rate[1] -= force(y);
  }
  double gap(std::size_t, const State& y) const {
    return spring == Spring::open ? 0.5 - y[0] : spring == Spring::engaged ? force(y) : y[0] - 0.5;
  }
  void hit(std::size_t, State&) {
    spring = spring == Spring::open      ? Spring::engaged
             : spring == Spring::engaged ? Spring::recovering
                                         : Spring::open;
  }
};

/// Two rods, the end of the shorter one on the side of the other: `two_pendulums`. (The end of the longer one
/// does not touch where they swing as here.)
struct TwoPendulums {
  static constexpr std::size_t contacts = 1;
  using State = std::array<double, 4>;  // angles, then their rates
  static constexpr double lowest = 2, highest = 6;
  static constexpr std::size_t values = 200, odeint_stride = 10;
  static constexpr double l1 = 1, l2 = 1.1, d = 0.5, gravity = 9.81, J1 = 1, J2 = 1.21;

  double frequency = 1;

  static State start() { return {0, 0, 0, 0}; }
  static Value model() {
    Value table;
    table.set("name", "two_pendulums");
    for (const char* damping : {"damping1", "damping2"}) table.set(damping, Value(1.0));
    table.set("torque1", Value(9.0));
    table.set("torque2", Value(4.0));
    table.set("e", Value(0.7));
    table.set("frequency", Value(3.0));
    return table;
  }
  static const char* parameter() { return "frequency"; }
  void operator()(const State& y, State& rate, double t) const {
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (9 * std::cos(frequency * t) - y[2] - 3 * gravity * l1 / 2 * std::sin(y[0])) / J1;
    rate[3] = (4 * std::cos(frequency * t) - y[3] - 3 * gravity * l2 / 2 * std::sin(y[1])) / J2;
  }
  double gap(std::size_t, const State& y) const { return d * std::cos(y[1]) - l1 * std::sin(y[0] - y[1]); }
  void hit(std::size_t, State& y) const {
    const double a = -l1 * std::cos(y[0] - y[1]), b = -d * std::sin(y[1]) - a;  // gradient of the gap
    const double opening = a * y[2] + b * y[3];
    const double impulse = -1.7 * opening / (a * a / J1 + b * b / J2);
    y[2] += impulse * a / J1;
    y[3] += impulse * b / J2;
  }
};

/// q'' + 0.1 q' + (1 + 0.2 cos ωt) (what q is beyond ±1) = 0.1 + 0.2 ω² cos ωt: `gear_pair`. Its events are
/// where the teeth meet and where they part.
struct GearPair {
  static constexpr std::size_t contacts = 2;
  using State = std::array<double, 2>;
  static constexpr double lowest = 0.5, highest = 1.5;
  static constexpr std::size_t values = 100, odeint_stride = 10;

  double frequency = 1;
  std::array<bool, 2> engaged{};

  static State start() { return {0, 0}; }
  static Value model() {
    Value table;
    table.set("name", "gear_pair");
    return table;
  }
  static const char* parameter() { return "omega"; }
  void operator()(const State& y, State& rate, double t) const {
    const double mesh = 1 + 0.2 * std::cos(frequency * t);
    rate[0] = y[1];
    rate[1] = 0.1 + 0.2 * frequency * frequency * std::cos(frequency * t) - 0.1 * y[1];
    if (engaged[0]) rate[1] -= mesh * (y[0] - 1);
    if (engaged[1]) rate[1] -= mesh * (y[0] + 1);
  }
  double gap(std::size_t i, const State& y) const {
    const double open = i == 0 ? 1 - y[0] : 1 + y[0];
    return engaged[i] ? -open : open;
  }
  void hit(std::size_t i, State&) { engaged[i] = !engaged[i]; }
};

/// An inner mass shakes a capsule of five times its mass on rough ground, by a spring and against a soft
/// stop: `vibro_impact_capsule`. Events are those of the stop, then those of the friction.
struct Capsule {
  static constexpr std::size_t contacts = 2;
  using State = std::array<double, 4>;  // inner mass, its velocity, capsule, its velocity
  static constexpr double lowest = 0.8, highest = 1.2;
  static constexpr std::size_t values = 100, odeint_stride = 10;

  double frequency = 1;
  bool engaged = false;
  int slides = 0;  ///< 1 forward, −1 backward, 0 not

  static State start() { return {0, 0, 0, 0}; }
  static Value model() {
    Value table;
    table.set("name", "vibro_impact_capsule");
    return table;
  }
  static const char* parameter() { return "omega"; }
  /// Of spring, damper and stop on the capsule.
  double load(const State& y) const {
    const double stop = engaged ? 15 * (y[0] - y[2] - 0.02) : 0;
    return y[0] - y[2] + 0.1 * (y[1] - y[3]) + stop;
  }
  void operator()(const State& y, State& rate, double t) const {
    rate[0] = y[1];
    rate[1] = 1.6 * std::cos(frequency * t) - load(y);
    rate[2] = y[3];
    rate[3] = slides == 0 ? 0 : (load(y) - slides) / 5;
  }
  double gap(std::size_t i, const State& y) const {
    if (i == 1) return slides == 0 ? 1 - std::abs(load(y)) : slides * y[3];
    const double open = 0.02 - y[0] + y[2];
    return engaged ? -open : open;
  }
  void hit(std::size_t i, State& y) {
    if (i == 0) {
      engaged = !engaged;
      return;
    }
    y[3] = 0;
    const bool stays = slides != 0 && std::abs(load(y)) <= 1;
    slides = stays ? 0 : load(y) > 0 ? 1 : -1;
  }
};

template <class Oscillator>
class Work {
 public:
  Work() {
    const Value table = Oscillator::model();
    const auto start = Oscillator::start();
    Value sweep;
    sweep.set("axis", axis());
    problem_ = problem(table, {start.begin(), start.end()}, "sweep", sweep, Value(Value::Table{}));
  }

  static double frequency(std::size_t k) {
    return Oscillator::lowest + (Oscillator::highest - Oscillator::lowest) * static_cast<double>(k) /
                                    static_cast<double>(Oscillator::values - 1);
  }

  /// The impacts of every value and its points.
  std::vector<Orbit> move() const {
    std::vector<Orbit> orbits;
    std::vector<double> values = problem_.model->values();
    double& varied =
        values[static_cast<std::size_t>(problem_.model->parameter_index(Oscillator::parameter()))];
    for (std::size_t begin = 0; begin < Oscillator::values; begin += lanes_at_once) {
      const std::size_t end = std::min(Oscillator::values, begin + lanes_at_once);
      std::vector<std::unique_ptr<System>> systems;
      std::vector<LaneMotion> motions;
      for (std::size_t k = begin; k < end; ++k) {
        varied = frequency(k);
        systems.push_back(problem_.model->system(values, problem_.tolerance));
        LaneMotion& m = motions.emplace_back();
        m.system = systems.back().get();
        m.state = problem_.start();
        m.impacts.assign(static_cast<std::size_t>(m.system->contacts()), 0);
      }
      Lanes lanes(motions);
      lanes.advance(dropped_periods, false);
      lanes.advance(recorded_periods, true);
      for (LaneMotion& m : motions) {
        Orbit& orbit = orbits.emplace_back();
        orbit.impacts = std::accumulate(m.impacts.begin(), m.impacts.end(), std::int64_t{0});
        orbit.points = std::move(m.points);
      }
    }
    return orbits;
  }

  /// Whether every kernel and Odeint find the same orbits for the most part, every kernel as many impacts to
  /// a twentieth on the way to them. (The others are chaotic, or come to another attractor by chance.)
  bool agree(const char* name) const {
    choose_lane_kernel("none");
    const std::vector<Orbit> exact = move();
    bool good = true;
    for (const std::string& kernel : lane_kernels()) {
      choose_lane_kernel(kernel);
      const std::vector<Orbit> found = move();
      std::size_t close = 0;
      std::int64_t impacts = 0, here = 0;
      for (std::size_t k = 0; k < found.size(); ++k) {
        if (!(difference(found[k].points, exact[k].points) < 1e-10)) continue;
        ++close;
        impacts += exact[k].impacts;
        here += found[k].impacts;
      }
      std::printf("%s, %s: %zu of %zu records within 1e-10, %lld impacts on the way (one by one %lld)\n",
                  name, kernel.c_str(), close, found.size(), static_cast<long long>(here),
                  static_cast<long long>(impacts));
      good = good && 2 * close > found.size() &&
             std::abs(static_cast<double>(here - impacts)) <= 0.05 * static_cast<double>(impacts);
    }
    std::int64_t theirs = 0;
    std::size_t same = 0, all = 0;
    for (std::size_t k = 0; k < Oscillator::values; k += Oscillator::odeint_stride, ++all) {
      const Orbit orbit = OdeintPeer<Oscillator>(Oscillator{frequency(k)}).run();
      same += difference(exact[k].points, orbit.points) < 1e-5 ? 1 : 0;
      theirs += orbit.impacts;
    }
    std::printf("%s, Boost.Odeint: %zu of %zu records within 1e-5, %lld impacts\n", name, same, all,
                static_cast<long long>(theirs));
    choose_lane_kernel("");
    return good && 2 * same > all;
  }

  void add_to(std::vector<Row>& rows) const {
    for (const std::string& kernel : lane_kernels()) {
      rows.push_back({kernel,
                      [this, kernel] {
                        choose_lane_kernel(kernel);
                        static_cast<void>(move());
                      },
                      {}});
    }
    rows.push_back({"Boost.Odeint",
                    [] {
                      for (std::size_t k = 0; k < Oscillator::values; k += Oscillator::odeint_stride)
                        static_cast<void>(OdeintPeer<Oscillator>(Oscillator{frequency(k)}).run());
                    },
                    {}});
  }
  static double done(const std::string& row) {
    return static_cast<double>(row == "Boost.Odeint" ? Oscillator::values / Oscillator::odeint_stride
                                                     : Oscillator::values);
  }

 private:
  static Value axis() {
    Value axis;
    axis.set("parameter", Value(std::string(Oscillator::parameter())));
    axis.set("from", Value(Oscillator::lowest));
    axis.set("to", Value(Oscillator::highest));
    axis.set("points", Value(static_cast<std::int64_t>(Oscillator::values)));
    return axis;
  }
  static double difference(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return HUGE_VAL;
    double greatest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) greatest = std::max(greatest, std::abs(a[i] - b[i]));
    return greatest;
  }

  Problem problem_;
};

template <class Oscillator>
bool compare(const char* name) {
  const Work<Oscillator> work;
  if (!work.agree(name)) return false;
  std::vector<Row> rows;
  work.add_to(rows);
  run_in_turn(rows);
  const double odeint = rows.back().median() / work.done(rows.back().name);
  std::printf("%-20s %12s %12s\n", name, "ms per value", "of Odeint");
  for (const Row& row : rows) {
    const double seconds = row.median() / work.done(row.name);
    std::printf("%-20s %12.3g %12.3g\n", row.name.c_str(), 1e3 * seconds, odeint / seconds);
  }
  choose_lane_kernel("");
  return true;
}

}  // namespace
}  // namespace graze::bench

int main() {
  return graze::bench::reported("bench_series", [] {
    using namespace graze::bench;
    const bool alike = compare<DuffingAtWall>("Duffing at a wall") &&
                       compare<DuffingAtSoftStop>("Duffing, soft stop") &&
                       compare<TwoPendulums>("two pendulums") && compare<GearPair>("gear pair") &&
                       compare<Capsule>("capsule");
    return alike ? 0 : 1;
  });
}
