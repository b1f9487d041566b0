/// The marching engine (core/lanes/LANES.md) computes what System::advance does, whatever marches beside it,
/// with every kernel that this processor can run.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <random>

#include "analysis/maps/attractor.hpp"
#include "core/lanes/lanes.hpp"
#include "core/lanes/law.hpp"
#include "core/lanes/modes.hpp"
#include "tests/lane_starts.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Puts the choice of the kernel back.
/// The kernels that can be tested here; says which cannot.
std::vector<std::string> tested_kernels() {
  const std::vector<std::string> here = lane_kernels();
  std::vector<std::string> list;
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    if (std::find(here.begin(), here.end(), name) != here.end()) {
      list.push_back(name);
    } else {
      WARN("skipped: this processor has no " << name);
    }
  }
  return list;
}

/// Systems with their starts.
struct Crowd : LaneStarts {
  std::vector<std::shared_ptr<const Model>> models;
  std::vector<std::vector<double>> values;

  void add(const std::shared_ptr<const Model>& model, const std::vector<double>& at,
           const std::vector<double>& start) {
    std::unique_ptr<System> system = model->system(at, {});
    if (!system) return;
    models.push_back(model);
    values.push_back(at);
    systems.push_back(std::move(system));
    starts.push_back(state_at(start));
  }
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  double operator()(double low, double high) {
    return low + (high - low) * std::uniform_real_distribution<double>(0, 1)(random_);
  }
  bool chance(double p) { return (*this)(0, 1) < p; }
  double restitution() { return chance(0.1) ? 0.0 : chance(0.1) ? 1.0 : (*this)(0.3, 1); }

 private:
  std::mt19937_64 random_;
};

/// Values of a model's parameters, set by name.
struct Settings {
  const Model& model;
  std::vector<double> values;
  double& operator[](const char* name) {
    return values[static_cast<std::size_t>(model.parameter_index(name))];
  }
  void operator()(const char* name, double value) { (*this)[name] = value; }
};

void add_two_masses(Crowd& crowd, Draw& draw, int count) {
  const auto model = make_model("name = 'two_dof_stops'");
  for (int k = 0; k < count; ++k) {
    Settings set{*model, model->values()};
    set("m1", draw(0.5, 2));
    set("m2", draw(0.5, 2));
    set("k2", draw(0.5, 2));
    set("c1", draw(0.02, 0.3));
    set("c2", draw(0, 0.3));
    if (draw.chance(0.4)) set("c2", set["c1"] * set["k2"]);  // damping that mixes no modes
    set("A2", draw(-0.5, 0.5));
    set("delta", draw(0.15, 3));
    set("d1", draw.chance(0.2) ? std::numeric_limits<double>::infinity() : draw(-0.8, 0.8));
    set("d2", draw(-0.8, 0.8));
    set("r1", draw.restitution());
    set("r2", draw.restitution());
    crowd.add(model, set.values, {0, draw(-0.1, 0.1), 0, draw(-0.1, 0.1)});
  }
}

void add_one_mass(Crowd& crowd, Draw& draw, int count) {
  const auto model = make_model("name = 'impact_oscillator'\nb = 0.1");
  for (int k = 0; k < count; ++k) {
    Settings set{*model, model->values()};
    set("b", draw(0.02, 0.5));
    set("omega", draw(0.3, 4));
    set("offset", draw(-0.3, 0.3));
    set("stop", draw(0.05, 1));
    if (draw.chance(0.5)) set("stop_low", -draw(0.05, 1));
    set("r", draw.restitution());
    set("r_low", draw.restitution());
    crowd.add(model, set.values, {0, draw(-0.5, 0.5)});
  }
}

enum class Stops { rigid, compliant };

/// Chains of masses with forces of several orders and stops in any direction; damping mixes the modes of
/// every other one. Compliant: soft and stiff, with and without damping, some of them rigid.
void add_chains_with(Stops kind, Crowd& crowd, Draw& draw, int count) {
  for (int k = 0; k < count; ++k) {
    const int masses = 1 + static_cast<int>(draw(0, 4));
    const int stops = 1 + static_cast<int>(draw(0, std::min(masses, 3)));
    const auto list = [&](auto entry) {
      std::string text = "[";
      for (int i = 0; i < masses; ++i) text += (i > 0 ? ", " : "") + entry(i);
      return text + "]";
    };
    const auto chain = [&](auto self, double coupling) {
      return list([&](int i) {
        return list([&](int j) {
          return fmt_double(i == j ? self(i) : std::abs(i - j) == 1 ? -coupling : 0.0);
        });
      });
    };
    const auto same = [](double number) { return [number](int) { return number; }; };
    const double uneven = draw.chance(0.5) ? 0.2 : 0;
    const double damping = draw(0.1, 0.3), between = draw(0, 0.05);
    std::string toml = "name = 'linear_stops'\nomega = " + fmt_double(draw(0.5, 2)) +
                       "\nmass = " + chain(same(draw(1, 2)), draw(0, 0.3)) +
                       "\ndamping = " + chain([&](int) { return damping + draw(0, uneven); }, between) +
                       "\nstiffness = " + chain(same(draw(2, 3)), draw(0.2, 1)) + "\n";
    const int forces = 1 + static_cast<int>(draw(0, 2));
    for (int j = 0; j < forces; ++j) {
      toml += "[[model.force]]\norder = " + std::to_string(j + 1) + ".0\n";
      toml += "cosine = " + list([&](int) { return fmt_double(draw(-1, 1)); }) + "\n";
      toml += "sine = " + list([&](int) { return fmt_double(draw(-1, 1)); }) + "\n";
    }
    for (int j = 0; j < stops; ++j) {
      toml += "[[model.stop]]\nnormal = ";
      toml += list([&](int i) {
        return fmt_double(i == j ? 1.0 : draw.chance(0.3) ? draw(-0.5, 0.5) : 0.0);
      });
      toml += "\nposition = " + fmt_double(draw(0.05, 0.6)) + "\n";
      if (kind == Stops::rigid || (j > 0 && draw.chance(0.3))) {
        toml += "restitution = " + fmt_double(draw.restitution()) + "\n";
        continue;
      }
      toml += "stiffness = " + fmt_double(std::exp(draw(0, 5))) + "\n";
      if (draw.chance(0.6)) toml += "damping = " + fmt_double(draw(0, 3)) + "\n";
      if (draw.chance(0.4)) toml += "release = 'gap'\n";
    }
    const auto model = make_model(toml);
    crowd.add(model, model->values(), std::vector<double>(2 * static_cast<std::size_t>(masses), 0.0));
  }
}

void add_chains(Crowd& crowd, Draw& draw, int count) { add_chains_with(Stops::rigid, crowd, draw, count); }
void add_soft_chains(Crowd& crowd, Draw& draw, int count) {
  add_chains_with(Stops::compliant, crowd, draw, count);
}

/// One mass with a soft stop, and another one on the other side or none; two masses with one between them.
void add_soft_few(Crowd& crowd, Draw& draw, int count) {
  for (int k = 0; k < count; ++k) {
    const auto stop = [&](const std::string& normal) {
      return "{ normal = " + normal + ", position = " + fmt_double(draw(0.01, 0.8)) +
             ", stiffness = " + fmt_double(std::exp(draw(0, 6))) +
             ", damping = " + fmt_double(draw.chance(0.5) ? 0.0 : draw(0, 2)) +
             (draw.chance(0.3) ? ", release = 'gap' }" : " }");
    };
    std::string toml = "name = 'linear_stops'\nomega = " + fmt_double(draw(0.3, 3)) + "\n";
    if (k % 2 == 0) {
      toml += "mass = [[1]]\ndamping = [[" + fmt_double(draw(0.02, 0.3)) +
              "]]\nstiffness = [[1]]\nforce = [{ cosine = [1] }]\nstop = [" + stop("[1]") +
              (draw.chance(0.4) ? ", " + stop("[-1]") : "") + "]";
    } else {
      toml +=
          "mass = [[1, 0], [0, 2]]\ndamping = [[0.3, -0.1], [-0.1, 0.1]]\nstiffness = [[2, -1], [-1, "
          "1.5]]\nforce = [{ cosine = [1, 0] }]\nstop = [" +
          stop("[1, -1]") + "]";
    }
    const auto model = make_model(toml);
    crowd.add(model, model->values(), std::vector<double>(k % 2 == 0 ? 2 : 4, 0.0));
  }
}

Crowd some_of_each(std::uint64_t seed) {
  Crowd crowd;
  Draw draw(seed);
  add_two_masses(crowd, draw, 150);
  add_one_mass(crowd, draw, 150);
  add_chains(crowd, draw, 40);
  add_soft_chains(crowd, draw, 40);
  add_soft_few(crowd, draw, 60);
  return crowd;
}

bool same_bits(const LaneMotion& a, const LaneMotion& b) {
  const auto same = [](double one, double other) { return equal_bits(one, other); };
  return a.outcome == b.outcome && a.impacts == b.impacts &&
         std::equal(a.points.begin(), a.points.end(), b.points.begin(), b.points.end(), same) &&
         std::equal(a.state.x.begin(), a.state.x.end(), b.state.x.begin(), b.state.x.end(), same);
}

double difference(const LaneMotion& a, const LaneMotion& b) {
  if (a.points.size() != b.points.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t k = 0; k < a.points.size(); ++k) {
    largest = std::max(largest, std::abs(a.points[k] - b.points[k]));
  }
  return largest;
}

constexpr int periods = 60;

/// Whether no contact is closed; compliant stops may be engaged.
bool moves_freely(const LaneMotion& m) { return (m.state.mode & ((1 << m.system->contacts()) - 1)) == 0; }

void check_equality(const Crowd& crowd, double least_steady, double least_marched) {
  const KernelKept kept;
  // Two runs of the scalar engine, one moved a little after every period, tell how sensitive each motion is.
  choose_lane_kernel("none");
  std::vector<LaneMotion> exact = crowd.motions();
  Lanes(exact).advance(periods, true);
  std::vector<LaneMotion> moved = crowd.motions();
  Lanes moving(moved);
  for (int period = 0; period < periods; ++period) {
    for (LaneMotion& m : moved) {
      if (moves_freely(m)) m.state.x(1) += period % 2 == 0 ? 1e-15 : -1e-15;
    }
    moving.advance(1, true);
  }
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    std::vector<LaneMotion> marched = crowd.motions();
    Lanes lanes(marched);
    lanes.advance(periods, true);
    std::size_t steady = 0, wrong = 0;
    double worst = 0;
    for (std::size_t k = 0; k < marched.size(); ++k) {
      const double sensitivity = difference(exact[k], moved[k]);
      if (!(sensitivity < 2e-14) || exact[k].impacts != moved[k].impacts) continue;
      ++steady;
      const double d = difference(marched[k], exact[k]);
      worst = std::max(worst, d);
      const bool right = marched[k].outcome == exact[k].outcome && marched[k].impacts == exact[k].impacts &&
                         marched[k].state.mode == exact[k].state.mode &&
                         marched[k].state.turns == exact[k].state.turns &&
                         marched[k].state.time == exact[k].state.time;
      wrong += right ? 0 : 1;
    }
    const double share = static_cast<double>(lanes.share().marched) / static_cast<double>(lanes.share().all);
    INFO(kernel << ": " << steady << " of " << marched.size() << " steady, marched " << share << ", worst "
                << worst);
    CHECK(wrong == 0);
    CHECK(worst < 1e-12);
    CHECK(static_cast<double>(steady) > least_steady * static_cast<double>(marched.size()));
    CHECK(share > least_marched);
  }
}

}  // namespace

TEST_CASE("lanes: two masses with random parameters move as in the scalar engine") {
  Crowd crowd;
  Draw draw(7);
  add_two_masses(crowd, draw, 600);
  check_equality(crowd, 0.4, 0.3);
}

TEST_CASE("lanes: one mass between two stops moves as in the scalar engine") {
  Crowd crowd;
  Draw draw(8);
  add_one_mass(crowd, draw, 600);
  check_equality(crowd, 0.4, 0.3);
}

TEST_CASE("lanes: chains with any stops move as in the scalar engine") {
  Crowd crowd;
  Draw draw(9);
  add_chains(crowd, draw, 300);
  check_equality(crowd, 0.4, 0.3);
}

TEST_CASE("lanes: one or two masses with a few compliant stops move as in the scalar engine") {
  Crowd crowd;
  Draw draw(21);
  add_soft_few(crowd, draw, 600);
  check_equality(crowd, 0.4, 0.3);
}

TEST_CASE("lanes: chains with compliant and rigid stops move as in the scalar engine") {
  Crowd crowd;
  Draw draw(22);
  add_soft_chains(crowd, draw, 300);
  check_equality(crowd, 0.4, 0.3);
}

// What they are off by adds up over all periods: 1e-19 of a root of det(λ² M + λ C + K) = 0, of which double
// numbers tell 1e-16; damping that mixes modes or not, roots that are real or not.
TEST_CASE("lanes: rates of modes have more digits than the numbers they come from") {
  using Number = std::complex<long double>;
  Draw draw(31);
  int sound = 0;
  for (int k = 0; k < 300; ++k) {
    const double heavy = k % 3 == 0 ? 3 : 0.1;
    const Eigen::Matrix2d M{{draw(1, 2), 0.2}, {0.2, draw(1, 2)}}, K{{draw(2, 3), -0.8}, {-0.8, draw(1, 3)}};
    Eigen::Matrix2d C{{heavy * draw(1, 2), -0.02}, {-0.02, heavy * draw(1, 2)}};
    if (k % 2 == 0) C = 0.1 * M + 0.05 * K;
    const LaneModes modes(M, C, K);
    if (!modes.sound) continue;
    ++sound;
    for (Eigen::Index j = 0; j < 2; ++j) {
      for (const double side : {-1.0, 1.0}) {
        const Number root = Number(side) * std::sqrt(Number(modes.square(j))) - modes.decay(j);
        const auto entry = [&](Eigen::Index a, Eigen::Index b) {
          return (Number(M(a, b)) * root + Number(C(a, b))) * root + Number(K(a, b));
        };
        const auto slope = [&](Eigen::Index a, Eigen::Index b) {
          return Number(2 * M(a, b)) * root + Number(C(a, b));
        };
        const Number value = entry(0, 0) * entry(1, 1) - entry(0, 1) * entry(1, 0);
        const Number change = slope(0, 0) * entry(1, 1) + entry(0, 0) * slope(1, 1) -
                              slope(0, 1) * entry(1, 0) - entry(0, 1) * slope(1, 0);
        CAPTURE(k, j, side);
        CHECK(static_cast<double>(std::abs(value / change) / std::abs(root)) < 5e-18);
      }
    }
  }
  CHECK(sound > 250);
}

namespace {

/// How much two Jacobians differ, beside the greatest entry.
double difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff());
}

/// Motions some periods on, by the scalar engine.
std::vector<LaneMotion> gone_on(const Crowd& crowd) {
  choose_lane_kernel("none");
  std::vector<LaneMotion> motions = crowd.motions();
  Lanes(motions).advance(periods, false);
  return motions;
}

void check_tangents(const Crowd& crowd, double least_steady) {
  const KernelKept kept;
  const std::vector<LaneMotion> begun = gone_on(crowd);
  constexpr int turns = 3;
  const auto carried = [&](const std::string& kernel, double moved) {
    choose_lane_kernel(kernel);
    std::vector<LaneMotion> motions = begun;
    for (LaneMotion& m : motions) {
      if (moves_freely(m)) m.state.x(1) += moved;
      m.tangent = Eigen::MatrixXd::Identity(m.state.x.size(), m.state.x.size());
    }
    Lanes(motions).advance(turns, false);
    return motions;
  };
  const std::vector<LaneMotion> exact = carried("none", 0), moved = carried("none", 1e-13);
  for (const std::string& kernel : tested_kernels()) {
    const std::vector<LaneMotion> marched = carried(kernel, 0);
    std::size_t steady = 0;
    double worst = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      if (exact[k].outcome != Outcome::ok || !(difference(exact[k].tangent, moved[k].tangent) < 1e-11))
        continue;
      ++steady;
      const double d = difference(marched[k].tangent, exact[k].tangent);
      worst = std::max(worst, d);
    }
    INFO(kernel << ": " << steady << " of " << exact.size() << " steady, worst " << worst);
    CHECK(worst < 1e-11);
    CHECK(static_cast<double>(steady) > least_steady * static_cast<double>(exact.size()));
  }
}

}  // namespace

TEST_CASE("lanes: tangents are carried as in the scalar engine") {
  Draw draw(13);
  for (const auto add : {add_two_masses, add_one_mass, add_chains, add_soft_few, add_soft_chains}) {
    Crowd crowd;
    add(crowd, draw, 300);
    check_tangents(crowd, 0.4);
  }
}

namespace {

/// All that is told of a motion.
class Listener final : public Observer {
 public:
  struct Turn {
    int contact;
    double time, number;
  };
  void event(const Event& event) override {
    events.push_back(event);
    events.back().before = events.back().after = {};
  }
  bool follows_gaps() const override { return true; }
  void near_miss(int contact, double time, double speed) override {
    lowest.push_back({contact, time, speed});
  }
  void excursion(int contact, double time, double gap) override { highest.push_back({contact, time, gap}); }

  std::vector<Event> events;
  std::vector<Turn> lowest, highest;
};

double difference(const std::vector<Event>& a, const std::vector<Event>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].kind != b[k].kind || a[k].contact != b[k].contact) return HUGE_VAL;
    worst = std::max(worst, std::abs(a[k].time - b[k].time));
    if (std::isfinite(a[k].approach_speed) || std::isfinite(b[k].approach_speed))
      worst = std::max(worst, std::abs(a[k].approach_speed - b[k].approach_speed));
  }
  return worst;
}

/// By how much the gap that is told to turn here does not: the greatest of its rate and, of a highest one, of
/// the difference from its value. Where there is an impact in that instant it needs no rate of zero.
double untruth(const LaneMotion& begun, const Listener& listener, const Listener::Turn& told, bool highest) {
  System& system = *begun.system;
  HybridState state = begun.state;
  Section there;
  there.kind = Section::Kind::time;
  there.interval = told.time - state.time - static_cast<double>(state.turns) * system.period();
  if (system.advance(state, there, nullptr) != Outcome::ok) return HUGE_VAL;
  Eigen::VectorXd gap, rate;
  system.gaps(state, gap, rate);
  const bool corner =
      highest && std::any_of(listener.events.begin(), listener.events.end(), [&](const Event& e) {
        return e.contact != told.contact && e.time == told.time;
      });
  return std::max(corner ? 0.0 : std::abs(rate(told.contact)),
                  highest ? std::abs(gap(told.contact) - told.number) : 0.0);
}

void check_told(const Crowd& crowd, double least_steady) {
  const KernelKept kept;
  const std::vector<LaneMotion> begun = gone_on(crowd);
  constexpr int turns = 3;
  const auto heard = [&](const std::string& kernel, double moved) {
    choose_lane_kernel(kernel);
    std::vector<LaneMotion> motions = begun;
    std::vector<Listener> told(motions.size());
    for (std::size_t k = 0; k < motions.size(); ++k) {
      if (moves_freely(motions[k])) motions[k].state.x(1) += moved;
      motions[k].observer = &told[k];
    }
    Lanes(motions).advance(turns, false);
    return told;
  };
  const std::vector<Listener> exact = heard("none", 0), moved = heard("none", 1e-12);
  for (const std::string& kernel : tested_kernels()) {
    const std::vector<Listener> told = heard(kernel, 0);
    std::size_t steady = 0;
    double worst = 0, untrue = 0, missed = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      if (begun[k].outcome != Outcome::ok || !(difference(exact[k].events, moved[k].events) < 1e-10))
        continue;
      ++steady;
      worst = std::max(worst, difference(told[k].events, exact[k].events));
      for (const auto& turn : told[k].highest)
        untrue = std::max(untrue, untruth(begun[k], told[k], turn, true));
      for (const auto& turn : told[k].lowest)
        untrue = std::max(untrue, untruth(begun[k], told[k], turn, false));
      for (const auto& turn : exact[k].highest) {
        const auto same = [&](const auto& other) {
          return other.contact == turn.contact && std::abs(other.time - turn.time) < 1e-4 &&
                 std::abs(other.number - turn.number) < 1e-9;
        };
        const bool there = std::any_of(told[k].highest.begin(), told[k].highest.end(), same);
        missed += there ? 0 : 1;
      }
    }
    INFO(kernel << ": " << steady << " of " << exact.size() << " steady, worst " << worst << ", untrue "
                << untrue << ", missed " << missed);
    CHECK(worst < 1e-9);
    CHECK(untrue < 1e-9);
    CHECK(missed == 0);
    CHECK(static_cast<double>(steady) > least_steady * static_cast<double>(exact.size()));
  }
}

}  // namespace

// Impacts, sticks and releases with their times and speeds, and where gaps turn between them, each of which
// the scalar engine confirms.
TEST_CASE("lanes: who listens hears what the scalar engine tells") {
  Draw draw(15);
  for (const auto add : {add_two_masses, add_one_mass, add_chains}) {
    Crowd crowd;
    add(crowd, draw, 300);
    check_told(crowd, 0.4);
  }
}

namespace {

/// Systems of each family; GRAZE_TEST_SYSTEMS for more of them.
int questions() {
  const char* wanted = std::getenv("GRAZE_TEST_SYSTEMS");
  return wanted != nullptr ? std::atoi(wanted) : 100;
}

std::vector<Attractor> attractors(const Crowd& crowd, const std::string& kernel, double moved) {
  choose_lane_kernel(kernel);
  std::vector<std::unique_ptr<System>> systems;
  std::vector<std::optional<HybridState>> starts;
  for (std::size_t k = 0; k < crowd.systems.size(); ++k) {
    systems.push_back(crowd.models[k]->system(crowd.values[k], {}));
    starts.push_back(crowd.starts[k]);
    starts.back()->x(1) += moved;
  }
  return find_attractors(systems, starts, Section{}, {});
}

double multiplier_difference(const Attractor& a, const Attractor& b) {
  if (a.orbit.multipliers.size() != b.orbit.multipliers.size()) return HUGE_VAL;
  double worst = 0;
  for (std::size_t k = 0; k < a.orbit.multipliers.size(); ++k) {
    worst = std::max(worst, std::abs(a.orbit.multipliers[k] - b.orbit.multipliers[k]));
  }
  return worst;
}

/// Whether two searches have found the same, but for what rounding decides.
bool same_answer(const Attractor& a, const Attractor& b) {
  if (a.kind != b.kind || a.outcome != b.outcome || a.orbit.period != b.orbit.period) return false;
  if (a.kind != AttractorClass::periodic) return true;
  for (std::size_t i = 0; i < a.tally.contacts().size(); ++i) {
    const Tally::Contact &c = a.tally.contacts()[i], &d = b.tally.contacts()[i];
    if (c.impacts != d.impacts || c.chatter_complete != d.chatter_complete ||
        c.chatter_incomplete != d.chatter_incomplete || c.sticks != d.sticks || c.rises != d.rises) {
      return false;
    }
  }
  return true;
}

}  // namespace

// Left out are motions whose answer hangs on rounding, as after a long chaotic transient: other starts by
// 1e-13 change it; and multipliers that they change, as near grazing.
TEST_CASE("lanes: questions are answered as by the scalar engine") {
  const KernelKept kept;
  const int count = questions();
  for (const auto add : {add_two_masses, add_one_mass, add_chains, add_soft_few}) {
    Crowd crowd;
    Draw draw(14);
    add(crowd, draw, count);
    const std::vector<Attractor> exact = attractors(crowd, "none", 0);
    std::vector<std::vector<Attractor>> moved;
    for (const double by : {-2e-13, -1e-13, 1e-13, 2e-13}) moved.push_back(attractors(crowd, "none", by));
    for (const std::string& kernel : tested_kernels()) {
      const std::vector<Attractor> marched = attractors(crowd, kernel, 0);
      int steady = 0, different = 0, chaotic = 0, far = 0;
      double worst = 0;
      for (std::size_t k = 0; k < exact.size(); ++k) {
        bool clear = std::abs(spectral_radius(exact[k].orbit) - 1) > 1e-3;
        double sensitivity = 0;
        for (const std::vector<Attractor>& other : moved) {
          clear = clear && same_answer(exact[k], other[k]);
          sensitivity = std::max(sensitivity, multiplier_difference(exact[k], other[k]));
        }
        if (!clear) continue;
        if (exact[k].kind == AttractorClass::chaotic && marched[k].kind == AttractorClass::chaotic) {
          ++chaotic;
          const double error = std::hypot(exact[k].lyapunov_error, marched[k].lyapunov_error);
          far += std::abs(exact[k].lyapunov - marched[k].lyapunov) > 4 * error ? 1 : 0;
        }
        const bool soon =
            exact[k].chaotic_iterates == 0 && exact[k].transient_used == AttractorOptions{}.transient;
        if (exact[k].kind != AttractorClass::periodic || !soon) continue;
        ++steady;
        if (!same_answer(exact[k], marched[k])) {
          ++different;
          continue;
        }
        if (sensitivity > 1e-11) continue;
        worst = std::max(worst, multiplier_difference(exact[k], marched[k]));
      }
      INFO(kernel << ": " << steady << " periodic of " << exact.size() << ", " << different
                  << " answered otherwise, multipliers within " << worst << "; " << chaotic << " chaotic, "
                  << far << " exponents far off");
      CHECK(different == 0);
      CHECK(worst < 1e-9);
      CHECK(far <= chaotic / 20 + 1);
      CHECK(3 * steady > count);
    }
  }
}

// Under forces of two orders and slow ones, gaps turn twice on the way to an impact and twice behind it.
TEST_CASE("lanes: all turns of gaps in a cell with an impact are told") {
  const KernelKept kept;
  const auto model = make_model(
      "name = 'linear_stops'\nomega = 0.6\nmass = [[0.706, 0.0], [0.0, 0.798]]\n"
      "damping = [[0.203, -0.152], [-0.152, 0.152]]\nstiffness = [[3.357, -2.509], [-2.509, 2.509]]\n"
      "force = [{ order = 1, cosine = [-0.589, -1.063] },\n"
      "  { order = 2, cosine = [-0.076, -0.147], sine = [0.293, -0.223] }]\n"
      "stop = [{ normal = [-1.0, 1.0], position = 0.684, restitution = 0.848 }]\n");
  constexpr int count = 81;
  Crowd crowd;
  for (int k = 0; k < count; ++k) {
    Settings set{*model, model->values()};
    set("omega", 0.192 + 0.808 * k / (count - 1));
    crowd.add(model, set.values, {0, 0, 0, 0});
  }
  const std::vector<Attractor> exact = attractors(crowd, "none", 0);
  for (const std::string& kernel : tested_kernels()) {
    const std::vector<Attractor> marched = attractors(crowd, kernel, 0);
    int same = 0;
    for (std::size_t k = 0; k < count; ++k) same += same_answer(exact[k], marched[k]);
    INFO(kernel);
    CHECK(same == count);
  }
}

// Dozens of impacts that come ever closer, and then part again. The states at the ends of the periods are
// from the closed flow in 40 digits, every impact by Newton's method.
TEST_CASE("lanes: chatter that does not complete is followed to the last digits") {
  const KernelKept kept;
  const auto model = make_model("name = 'impact_oscillator'\nb = 0.1");
  Settings set{*model, model->values()};
  set("b", 0.44572229564992427);
  set("omega", 0.50248632762429457);
  set("offset", -0.22120636344486166);
  set("stop", 0.23781731429416764);
  set("stop_low", -0.19238200971455544);
  set("r", 0.91155002218431713);
  set("r_low", 0.85449839081772772);
  Crowd crowd;
  crowd.add(model, set.values, {0, -0.15663745329750844});
  const std::vector<double> exact = {0.13490213599271895549, 0.23749197729540010074, 0.13574912937224482621,
                                     0.23857148420792692322, 0.13580022255233732051, 0.23863278163579793056,
                                     0.13578534881837358276, 0.23861541311013242875};
  for (const std::string& kernel : lane_kernels()) {
    INFO(kernel);
    choose_lane_kernel(kernel);
    std::vector<LaneMotion> motion = crowd.motions();
    Lanes(motion).advance(4, true);
    REQUIRE(motion[0].points.size() == exact.size());
    for (std::size_t k = 0; k < exact.size(); ++k) {
      CHECK(motion[0].points[k] == Approx(exact[k]).epsilon(0).margin(2e-13));
    }
  }
}

TEST_CASE("lanes: a motion does not depend on those beside it, to the last bit") {
  const KernelKept kept;
  const Crowd crowd = some_of_each(10);
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    std::vector<LaneMotion> together = crowd.motions();
    Lanes(together).advance(periods, true);
    int different = 0;
    for (std::size_t k = 0; k < together.size(); ++k) {  // alone
      std::vector<LaneMotion> one = {crowd.motion(k)};
      Lanes(one).advance(periods, true);
      different += same_bits(one.front(), together[k]) ? 0 : 1;
    }
    std::vector<std::size_t> order(together.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    for (std::size_t begin = 0; begin < order.size(); begin += 13) {  // some strangers at a time
      std::vector<LaneMotion> some;
      const std::size_t end = std::min(order.size(), begin + 13);
      for (std::size_t k = begin; k < end; ++k) some.push_back(crowd.motion(order[k]));
      Lanes lanes(some);
      lanes.advance(25, true);
      lanes.advance(periods - 25, true);
      for (std::size_t k = begin; k < end; ++k) {
        different += same_bits(some[k - begin], together[order[k]]) ? 0 : 1;
      }
    }
    INFO(kernel);
    CHECK(different == 0);
  }
}

TEST_CASE("lanes: periods that are known are those that would have been gone through, to the last bit") {
  const KernelKept kept;
  const Crowd crowd = some_of_each(11);
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    std::vector<LaneMotion> known = crowd.motions(), gone = crowd.motions();
    std::int64_t spared = 0;
    for (auto* motions : {&known, &gone}) {
      Lanes lanes(*motions, {}, motions == &known ? Lanes::Repeats::known : Lanes::Repeats::gone_through);
      lanes.advance(300, false);
      lanes.advance(periods, true);
      lanes.advance(7, true);
      spared += lanes.share().known;
      CHECK((motions == &known) == (lanes.share().known > 0));
    }
    int different = 0;
    for (std::size_t k = 0; k < known.size(); ++k) {
      const HybridState &a = known[k].state, &b = gone[k].state;
      const bool same =
          same_bits(known[k], gone[k]) && a.turns == b.turns && a.time == b.time && a.mode == b.mode;
      different += same ? 0 : 1;
    }
    INFO(kernel << ": " << spared << " periods known");
    CHECK(different == 0);
    CHECK(spared > 340 * 100);  // of 340 motions, 367 periods each
  }
}

namespace {

/// A system that counts what it is asked for itself: impacts, motions.
class Counted final : public System {
 public:
  explicit Counted(std::unique_ptr<System> system) : system_(std::move(system)) {}
  int states() const override { return system_->states(); }
  int contacts() const override { return system_->contacts(); }
  Eigen::VectorXd contact_forces(const HybridState& state) override { return system_->contact_forces(state); }
  double period() const override { return system_->period(); }
  bool periodic() const override { return system_->periodic(); }
  double rate() const override { return system_->rate(); }
  Outcome advance(HybridState& state, const Section& section, Observer* observer) override {
    ++motions;
    Tally tally{observer};
    const Outcome outcome = system_->advance(state, section, &tally);
    impacts += tally.impacts;
    return outcome;
  }
  Outcome advance(HybridState& state, const Section& section, Tangent& tangent) override {
    return system_->advance(state, section, tangent);
  }
  void gaps(const HybridState& state, Eigen::VectorXd& gap, Eigen::VectorXd& rate) const override {
    system_->gaps(state, gap, rate);
  }
  Eigen::RowVectorXd gap_gradient(const HybridState& state, int contact) const override {
    return system_->gap_gradient(state, contact);
  }
  std::optional<LinearLaw> linear_law() const override { return system_->linear_law(); }

  std::int64_t motions = 0, impacts = 0;

 private:
  struct Tally final : Observer {
    Observer* told;
    std::int64_t impacts = 0;
    explicit Tally(Observer* observer) : told(observer) {}
    void event(const Event& e) override {
      impacts += e.kind == EventKind::impact ? 1 : 0;
      if (told != nullptr) told->event(e);
    }
    bool follows_gaps() const override { return true; }
    void near_miss(int contact, double time, double speed) override {
      if (told != nullptr) told->near_miss(contact, time, speed);
    }
    void excursion(int contact, double time, double gap) override {
      if (told != nullptr) told->excursion(contact, time, gap);
    }
  };
  std::unique_ptr<System> system_;
};

/// What is left to the scalar engine of two masses with stops at frequencies first + k × step.
struct Left {
  std::int64_t motions = 0, impacts = 0;  ///< by it
  std::int64_t all_impacts = 0;
  Left(double first, double step, int count, double d1, double d2, int turns) {
    const auto model = make_model("name = 'two_dof_stops'");
    Crowd crowd;
    for (int k = 0; k < count; ++k) {
      Settings set{*model, model->values()};
      set("delta", first + k * step);
      set("d1", d1);
      set("d2", d2);
      crowd.systems.push_back(std::make_unique<Counted>(model->system(set.values, {})));
      crowd.starts.push_back(state_at({0, 0, 0, 0}));
    }
    std::vector<LaneMotion> marched = crowd.motions();
    Lanes(marched, {}, Lanes::Repeats::gone_through).advance(turns, false);
    for (std::size_t k = 0; k < marched.size(); ++k) {
      const auto& system = dynamic_cast<const Counted&>(*crowd.systems[k]);
      motions += system.motions;
      impacts += system.impacts;
      for (const std::int64_t n : marched[k].impacts) all_impacts += n;
    }
  }
};

}  // namespace

// LANES.md, "What leaves": what only comes near a stop, or falls behind it and turns back, does not.
TEST_CASE("lanes: motions in chaos hardly ever leave") {
  const KernelKept kept;
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    const Left left(1.44, 3e-4, 200, 0.3, 0.3, 100);
    INFO(kernel << ": " << left.motions << " cells of " << left.all_impacts << " impacts");
    CHECK(left.all_impacts > 15'000);
    CHECK(left.motions < 10);
  }
}

// LANES.md, "What leaves": from where the last certain piece ends, which is the impact before the one that
// completes the chatter.
TEST_CASE("lanes: of the impacts of chatter the last ones leave only") {
  const KernelKept kept;
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    const Left left(0.28, 1e-4, 64, 0.3, 0.3, 20);
    INFO(kernel << ": " << left.impacts << " of " << left.all_impacts << " impacts");
    CHECK(left.all_impacts > 10'000);
    CHECK(left.impacts < left.all_impacts / 10);
    CHECK(left.impacts < 3 * left.motions);
  }
}

// LANES.md, "What leaves": a motion boards again where it is free, its contacts having been closed in
// between. Pieces to there and the motion at once are the same.
TEST_CASE("lanes: a motion that rests is followed to where it is free and goes on as it does at once") {
  const auto model = make_model("name = 'two_dof_stops'");
  constexpr int cells = 12, periods_on = 40;
  int stops = 0, rested = 0;
  for (int k = 0; k < 40; ++k) {
    Settings set{*model, model->values()};
    set("delta", 0.2 + 0.02 * k);
    set("d1", -0.3);
    set("d2", 0.1);
    const auto system = model->system(set.values, {});
    const double step = system->period() / cells;
    Section flight;
    flight.flights = step;
    HybridState at_once = state_at({0, 0, 0, 0});
    for (int period = 0; period < periods_on; ++period) {
      HybridState plain = at_once, in_pieces = at_once;
      Tangent all{Eigen::MatrixXd::Identity(4, 4), Eigen::RowVectorXd::Zero(4), Eigen::MatrixXd(0, 4)};
      Tangent pieces = all;
      REQUIRE(system->advance(at_once, Section{}, all) == Outcome::ok);
      double before = 0;
      while (in_pieces.turns < at_once.turns) {
        REQUIRE(system->advance(plain, flight, nullptr) == Outcome::ok);
        REQUIRE(system->advance(in_pieces, flight, pieces) == Outcome::ok);
        REQUIRE(plain.time == in_pieces.time);
        REQUIRE(plain.turns == in_pieces.turns);
        if (in_pieces.time == 0) break;
        ++stops;
        const double cell = in_pieces.time / step;
        CHECK(cell == Approx(std::round(cell)).margin(1e-9));
        CHECK((in_pieces.mode & 3) == 0);
        rested += cell - before > 1.5 ? 1 : 0;
        before = cell;
      }
      CHECK(in_pieces.time == at_once.time);
      CHECK(in_pieces.mode == at_once.mode);
      CHECK((in_pieces.x - at_once.x).cwiseAbs().maxCoeff() < 1e-12);
      CHECK(difference(pieces.state, all.state) < 1e-9);
    }
  }
  CHECK(stops > 10'000);
  CHECK(rested > 500);
}

namespace {

/// How near |row · z''''| of free motions of two masses comes to its bound, stretch × vigour; of so many
/// laws.
template <bool Classical>
double stretched_at_most(int& laws) {
  using Rows = LaneRows<2, 2, Classical>;
  const auto at = [](int row) { return static_cast<std::size_t>(row - Rows::constants); };
  Draw draw(12);
  double nearest = 0;
  for (int k = 0; k < 400; ++k) {
    Crowd crowd;
    add_two_masses(crowd, draw, 1);
    const LaneMotion motion = crowd.motion(0);
    LaneModesOfSets modes;
    const std::vector<LaneLaw> laws_of = LaneLaw::of(*motion.system->linear_law(), modes);
    if (laws_of.empty()) continue;
    const LaneLaw* const law = &laws_of.front();
    if (law->contacts.size() != 2 || law->classical != Classical) continue;
    ++laws;
    const std::vector<double>& rows = law->rows;
    const auto derived = [&](const std::array<double, 4>& z) {
      std::array<double, 4> rate{};
      for (std::size_t j = 0; j < 2; ++j) {
        const double a = rows[at(Rows::decay) + j], D = rows[at(Rows::square) + j];
        rate[j] = z[2 + j] - a * z[j];
        rate[2 + j] = D * z[j] - a * z[2 + j];
      }
      return rate;
    };
    std::array<double, 4> z{};
    for (double& number : z) number = draw(-1, 1);
    const double vigour = law->vigour(Eigen::Map<const Eigen::Vector4d>(z.data()));
    for (int cell = 0; cell < 50; ++cell) {
      const std::array<double, 4> fourth = derived(derived(derived(derived(z))));
      for (std::size_t i = 0; i < 2; ++i) {
        double stretched = 0;
        for (std::size_t j = 0; j < Rows::terms; ++j) {
          stretched += rows[at(Rows::value) + Rows::terms * i + j] * fourth[j];
        }
        nearest = std::max(nearest, std::abs(stretched) / (rows[at(Rows::stretch) + i] * vigour));
      }
      const std::array<double, 4> before = z;
      for (std::size_t j = 0; j < 2; ++j) {  // a cell on
        const double own = rows[at(Rows::step) + j];
        z[j] = own * before[j] + rows[at(Rows::across) + j] * before[2 + j];
        z[2 + j] = own * before[2 + j] + rows[at(Rows::back) + j] * before[j];
      }
    }
  }
  return nearest;
}

}  // namespace

// LANES.md, "Certificate": |row · z''''| of a free motion stays below stretch × vigour.
TEST_CASE("lanes: no fourth derivative exceeds its bound on a free flight") {
  int all = 0;
  for (const bool classical : {true, false}) {
    int laws = 0;
    const double nearest = classical ? stretched_at_most<true>(laws) : stretched_at_most<false>(laws);
    INFO("classical: " << classical);
    CHECK(laws > 80);
    CHECK(nearest <= 1 + 1e-9);
    CHECK(nearest > 0.8);  // it is no idle bound
    all += laws;
  }
  CHECK(all > 200);
}

TEST_CASE("lanes: a kernel that is not there is refused by name") {
  const KernelKept kept;
  CHECK_THROWS_WITH(choose_lane_kernel("sse9"),
                    Catch::Contains("GRAZE_CPU") && Catch::Contains("sse9") && Catch::Contains("baseline"));
  for (const std::string& name : lane_kernels()) {
    choose_lane_kernel(name);
    CHECK(lane_kernel() == name);
  }
}
