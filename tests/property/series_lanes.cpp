/// The series engine (core/lanes/series/SERIES.md) computes what System::advance does, whatever moves beside
/// it, with every kernel that this processor can run and from every kind of section to the next.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "analysis/maps/poincare_map.hpp"
#include "core/lanes/lanes.hpp"
#include "core/math/rough_logarithm.hpp"
#include "tests/lane_starts.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double operator()(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  bool chance(double p) { return (*this)(0, 1) < p; }
  int below(int count) { return static_cast<int>((*this)(0, count)); }

 private:
  std::mt19937_64 engine_;
};

/// Systems with their starts, all from one kind of section to the next.
struct Set : LaneStarts {
  Section section{};

  void add(const Model& model, const std::vector<double>& values, const std::vector<double>& start) {
    Tolerance tolerance;
    tolerance.patience = 30;  // some sections are never met again
    std::unique_ptr<System> system = model.system(values, tolerance);
    if (!system) return;
    systems.push_back(std::move(system));
    starts.push_back(state_at(start));
  }
};

/// Some values of a model's parameters, each drawn between two others.
struct Drawn {
  const char* parameter;
  double low, high;
};

Set drawn(const std::string& model, const std::vector<Drawn>& ranges, const std::vector<Drawn>& start,
          int count, std::uint64_t seed, const Section& section = {}) {
  Random random(seed);
  const auto made = make_model(model);
  std::vector<double> values = made->values();
  Set set{{}, section};
  for (int k = 0; k < count; ++k) {
    for (const Drawn& range : ranges) {
      values[static_cast<std::size_t>(made->parameter_index(range.parameter))] =
          random(range.low, range.high);
    }
    std::vector<double> x;
    for (const Drawn& range : start) x.push_back(random(range.low, range.high));
    set.add(*made, values, x);
  }
  return set;
}

Section hit(int contact) {
  Section section;
  section.kind = Section::Kind::impact_after;
  section.contact = contact;
  return section;
}

Section about_to_hit(int contact) {
  Section section = hit(contact);
  section.kind = Section::Kind::impact_before;
  return section;
}

Section stroboscopic(double phase) {
  Section section;
  section.phase = phase;
  return section;
}

Section every(double interval) {
  Section section;
  section.interval = interval;
  return section;
}

Set pendulums(const Section& section = {}) {
  return drawn("name = 'two_pendulums'\nfrequency = 3",
               {{"torque1", 1, 9},
                {"torque2", -6, 6},
                {"damping1", 0.5, 2},
                {"damping2", 0.5, 2},
                {"frequency", 2, 6},
                {"e", 0.2, 0.9}},
               {{"", -0.9, -0.6}, {"", 0.1, 0.3}, {"", -0.1, 0.1}, {"", -0.1, 0.1}}, 60, 2, section);
}

Set valves(const Section& section) {
  return drawn("name = 'relief_valve'", {{"q", 0.5, 9.5}, {"r", 0.3, 0.95}, {"k", 1, 1.5}},
               {{"", 0.1, 0.3}, {"", -0.1, 0.1}, {"", 1, 12}}, 60, 3, section);
}

Set oscillators(const Section& section = {}) {
  return drawn(
      "name = 'duffing_impact'",
      {{"omega", 0.6, 2}, {"F", 0.3, 2}, {"b", 0.1, 1.5}, {"s", 0.2, 1.2}, {"r", 0, 0.95}, {"c", 0.1, 0.4}},
      {{"", -0.5, 0.1}, {"", -0.5, 0.5}}, 100, 4, section);
}

/// Between a gear's flanks, or of a Duffing oscillator at a soft stop.
Set gears(const Section& section = {}) {
  return drawn("name = 'gear_pair'", {{"omega", 0.5, 1.5}, {"kappa", 0.1, 0.4}, {"zeta", 0.03, 0.2}},
               {{"", -0.5, 1.5}, {"", -0.2, 0.2}}, 100, 13, section);
}

Set soft_stops(const Section& section = {}) {
  return drawn(R"toml(
name = 'equations'
parameters = { w = 1, F = 1.5, k = 20, c = 0.2, P = 0 }
coordinates = ["x"]
force = { x = "F*cos(w*t) - 0.2*x' - x - x^3" }
period = "2*pi/w"
contact = [{ gap = "0.5 - x", stiffness = "k", damping = "c", preload = "P" },
           { gap = "1 + x", stiffness = "k/2", damping = "c", release = "gap" }]
)toml",
               {{"w", 0.6, 2}, {"F", 0.5, 2}, {"k", 5, 40}, {"c", 0.05, 0.5}, {"P", 0, 0.3}},
               {{"", -0.5, 0.8}, {"", -0.5, 0.5}}, 100, 14, section);
}

/// A sum of smooth terms in these variables, bounded where it drives and restoring where it does not.
std::string random_force(Random& random, const std::vector<std::string>& coordinates, std::size_t own) {
  const std::string x = coordinates[own], v = x + "'";
  const auto number = [&](double low, double high) { return fmt_double(random(low, high)); };
  std::string text = "-" + number(0.1, 0.5) + "*" + v + " - " + number(0.5, 2) + "*" + x;
  text += " + " + number(0.3, 1.5) + "*cos(w*t + " + number(0, 3) + ")";
  const std::vector<std::string> more = {" - " + number(0.1, 1) + "*" + x + "^3",
                                         " - " + number(0.1, 1) + "*sinh(" + x + "/2)",
                                         " - " + number(0.1, 0.5) + "*tanh(" + v + ")",
                                         " - " + number(0.1, 0.5) + "*atan(2*" + v + ")",
                                         " + " + number(0.1, 0.5) + "*sin(" + x + ")",
                                         " + " + number(0.1, 0.5) + "*sin(2*w*t)*" + x,
                                         " + " + number(0.1, 0.5) + "/sqrt(1 + " + x + "^2)",
                                         " - " + number(0.1, 0.4) + "*" + x + "*(1 + " + x + "^2)^0.75",
                                         " + " + number(0.1, 0.4) + "*exp(-" + x + "^2)",
                                         " + " + number(0.1, 0.4) + "*" + x + "/(2 + cos(" + x + "))",
                                         " - " + number(0.1, 0.4) + "*" + v + "*log(2 + " + x + "^2)"};
  for (int k = random.below(4); k >= 0; --k)
    text += more[static_cast<std::size_t>(random.below(static_cast<int>(more.size())))];
  for (std::size_t other = 0; other < coordinates.size(); ++other) {
    if (other != own) text += " + " + number(-0.3, 0.3) + "*sin(" + coordinates[other] + ")";
  }
  return text;
}

/// A contact's law: rigid, or by a linear or any other force, that ends by itself or with the gap.
std::string random_law(Random& random) {
  const auto number = [&](double low, double high) { return fmt_double(random(low, high)); };
  const std::vector<std::string> forces = {
      number(2, 20) + "*depth*(1 + " + number(0, 1) + "*depth^2)",
      number(2, 20) + "*depth + " + number(0.05, 0.6) + "*depth'",
      number(5, 40) + "*depth^2*(1 + " + number(0.1, 1) + "*depth')",
      number(2, 10) + "*(1 + 0.3*cos(w*t))*depth",
      number(2, 20) + "*depth/(1 + depth) + " + number(0.05, 0.3) + "*tanh(3*depth')",
      number(1, 5) + "*(exp(3*depth) - 1) + " + number(0.05, 0.5) + "*depth'"};
  const std::string law =
      random.chance(0.4)
          ? "stiffness = " + number(2, 20) + ", damping = " + (random.chance(0.3) ? "0" : number(0.05, 0.6)) +
                (random.chance(0.3) ? ", preload = " + number(0.05, 0.5) : std::string())
          : "normal_force = \"" + forces[static_cast<std::size_t>(random.below(6))] + "\"";
  return law + (random.chance(0.25) ? ", release = 'gap'" : "");
}

/// A typed system of one to three coordinates with mass matrix, moving and curved stops, drawn at random;
/// some are compliant.
std::string random_system(Random& random) {
  const std::size_t n = 1 + static_cast<std::size_t>(random.below(3));
  const std::vector<std::string> all = {"x", "y", "z"};
  const std::vector<std::string> names(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
  const auto number = [&](double low, double high) { return fmt_double(random(low, high)); };
  std::string coordinates, force, mass;
  for (std::size_t i = 0; i < n; ++i) {
    coordinates += (i > 0 ? ", \"" : "\"") + names[i] + "\"";
    force += (i > 0 ? ", " : "") + names[i] + " = \"" + random_force(random, names, i) + "\"";
    mass += (i > 0 ? ", " : "") + names[i] + " = \"" + number(0.8, 1.5) +
            (random.chance(0.3) ? " + 0.2*cos(" + names[i] + ")" : std::string()) + "\"";
  }
  std::string text = "name = 'equations'\nparameters = { w = " + number(0.7, 2.5) + " }\ncoordinates = [" +
                     coordinates + "]\nmass = { " + mass + " }\nforce = { " + force +
                     " }\nperiod = '2*pi/w'\ncontact = [";
  for (int stops = 1 + random.below(2); stops > 0; --stops) {
    const std::string& x = names[static_cast<std::size_t>(random.below(static_cast<int>(n)))];
    const std::string sign = random.chance(0.5) ? " - " : " + ";
    const std::vector<std::string> gaps = {sign + x, sign + x + " - 0.2*" + x + "^2",
                                           sign + "sin(" + x + "/2)*2", sign + x + " + 0.1*sin(w*t)"};
    text += (text.back() == '[' ? "{ gap = '" : ", { gap = '") + number(0.2, 0.9) +
            gaps[static_cast<std::size_t>(random.below(4))] + "', " +
            (random.chance(0.5) ? "restitution = " + number(0.2, 0.95) : random_law(random)) + " }";
  }
  return text + "]\n";
}

Set random_systems(int count, std::uint64_t seed) {
  Random random(seed);
  Set set;
  set.bound = 100;  // what runs away has no digits left that could be compared
  while (static_cast<int>(set.systems.size()) < count) {
    const auto model = make_model(random_system(random));
    REQUIRE(!model->contacts().empty());
    set.add(*model, model->values(), std::vector<double>(model->states().size(), 0.05));
  }
  return set;
}

bool same_bits(const LaneMotion& a, const LaneMotion& b) {
  const auto same = [](double one, double other) { return equal_bits(one, other); };
  const auto same_stamp = [](const LaneMotion::Stamp& one, const LaneMotion::Stamp& other) {
    return equal_bits(one.time, other.time) && one.turns == other.turns;
  };
  return a.outcome == b.outcome && a.impacts == b.impacts && equal_bits(a.state.time, b.state.time) &&
         a.state.turns == b.state.turns && a.state.mode == b.state.mode &&
         std::equal(a.points.begin(), a.points.end(), b.points.begin(), b.points.end(), same) &&
         std::equal(a.stamps.begin(), a.stamps.end(), b.stamps.begin(), b.stamps.end(), same_stamp) &&
         std::equal(a.state.x.begin(), a.state.x.end(), b.state.x.begin(), b.state.x.end(), same);
}

/// Largest difference of what two motions have recorded, times too, as a share of 1 and more.
double difference(const LaneMotion& a, const LaneMotion& b) {
  if (a.points.size() != b.points.size() || a.stamps.size() != b.stamps.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t k = 0; k < a.points.size(); ++k)
    largest = std::max(largest, std::abs(a.points[k] - b.points[k]) / (1 + std::abs(b.points[k])));
  for (std::size_t k = 0; k < a.stamps.size(); ++k) {
    if (a.stamps[k].turns != b.stamps[k].turns) return HUGE_VAL;
    largest =
        std::max(largest, std::abs(a.stamps[k].time - b.stamps[k].time) / (1 + std::abs(a.stamps[k].time)));
  }
  return largest;
}

std::vector<std::string> tested_kernels() {
  std::vector<std::string> names = lane_kernels();
  names.erase(names.begin());  // none
  return names;
}

/// Motions whose states are made greater, or in turn greater and smaller, by last digits of what they reach
/// before every iterate.
std::vector<LaneMotion> disturbed(const Set& set, int iterates, bool in_turn) {
  std::vector<LaneMotion> motions = set.motions();
  Lanes lanes(motions, set.section);
  for (int k = 0; k < iterates; ++k) {
    const auto other = [&](Eigen::Index i) {
      return set.section.kind != Section::Kind::level || i != set.section.coordinate;
    };
    for (LaneMotion& m : motions) {
      for (Eigen::Index i = 0; i < m.state.x.size(); ++i) {
        const double by = in_turn && (k + i) % 2 != 0 ? -4e-16 : 4e-16;
        if (m.state.mode == 0 && other(i)) m.state.x(i) += by * (1 + std::abs(m.state.x(i)));
      }
    }
    lanes.advance(1, true);
  }
  return motions;
}

/// Motions that the scalar engine finds the same when they are disturbed must be found the same by every
/// kernel.
void check_equality(const Set& set, int iterates, double least_steady, double least_share) {
  const KernelKept kept;
  choose_lane_kernel("none");
  std::vector<LaneMotion> exact = set.motions();
  Lanes(exact, set.section).advance(iterates, true);
  const std::vector<LaneMotion> moved[] = {disturbed(set, iterates, true), disturbed(set, iterates, false)};
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    std::vector<LaneMotion> side_by_side = set.motions();
    Lanes lanes(side_by_side, set.section);
    lanes.advance(iterates, true);
    std::size_t steady = 0, wrong = 0;
    double worst = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      const bool is_steady = std::all_of(std::begin(moved), std::end(moved), [&](const auto& motions) {
        return difference(exact[k], motions[k]) < 1e-13 && exact[k].impacts == motions[k].impacts;
      });
      if (!is_steady) continue;
      ++steady;
      const LaneMotion &a = side_by_side[k], &b = exact[k];
      worst = std::max(worst, difference(a, b));
      const bool right = a.outcome == b.outcome && a.impacts == b.impacts && a.state.mode == b.state.mode &&
                         a.state.turns == b.state.turns;
      wrong += right ? 0 : 1;
    }
    const double share = static_cast<double>(lanes.share().marched) / static_cast<double>(lanes.share().all);
    INFO(kernel << ": " << steady << " of " << exact.size() << " steady, by the kernel " << share
                << ", worst " << worst);
    CHECK(wrong == 0);
    CHECK(worst < 1e-12);
    CHECK(static_cast<double>(steady) >= least_steady * static_cast<double>(exact.size()));
    CHECK(share >= least_share);
  }
}

}  // namespace

// Vectors take whole numbers in halves where their processor has no instruction for it (core/math).
TEST_CASE(
    "rough logarithms and powers of vectors are those of numbers, bit by bit, and off by less than 0.09") {
  using Two = double __attribute__((vector_size(16)));
  using Whole = unsigned long long __attribute__((vector_size(16)));
  Random random(5);
  for (int k = 0; k < 100000; ++k) {
    const double size = random(-1022, 1023);
    const double a = std::exp2(size), b = random(-1022, 1023);
    const Two logarithm = rough_logarithm<Whole>(Two{a, 0}), power = rough_power<Whole>(Two{b, size});
    REQUIRE(logarithm[0] == rough_logarithm(a));
    REQUIRE(logarithm[1] == -1023);
    REQUIRE(power[0] == rough_power(b));
    REQUIRE(power[1] == rough_power(size));
    REQUIRE(std::abs(rough_logarithm(a) - size) < 0.09);
    REQUIRE(std::abs(std::log2(rough_power(b)) - b) < 0.09);
  }
}

TEST_CASE("series lanes: a Duffing oscillator at a wall moves as in the scalar engine") {
  check_equality(oscillators(), 40, 0.5, 0.5);
  check_equality(oscillators(stroboscopic(0.3)), 20, 0.5, 0.5);
}

TEST_CASE("series lanes: impacts by state-dependent normals, contacts with an end") {
  check_equality(pendulums(), 20, 0.4, 0.5);
}

TEST_CASE("series lanes: a valve without forcing, from level to level and from impact to impact") {
  check_equality(valves(at_level(1, 0, -1)), 15, 0.1, 0.7);
  check_equality(valves(at_level(1, 0, 1)), 15, 0.1, 0.7);
  check_equality(valves(every(1.7)), 10, 0.1, 0.7);
  check_equality(valves(hit(0)), 8, 0.1, 0.4);
  check_equality(valves(about_to_hit(0)), 8, 0.1, 0.4);
  check_equality(oscillators(about_to_hit(0)), 8, 0.3, 0.3);
}

TEST_CASE("series lanes: sections of forced systems that do not belong to a phase") {
  check_equality(oscillators(at_level(1, 0.02, 1)), 15, 0.3, 0.4);
  check_equality(oscillators(at_level(1, 0.05, -1)), 15, 0.3, 0.4);
}

TEST_CASE("series lanes: compliant contacts, by force and by gap, with preload, with moving stiffness") {
  check_equality(gears(), 25, 0.3, 0.7);
  check_equality(gears(stroboscopic(0.4)), 10, 0.3, 0.7);
  check_equality(soft_stops(), 25, 0.3, 0.7);
  check_equality(soft_stops(at_level(1, 0.02, 1)), 15, 0.3, 0.4);
  check_equality(soft_stops(hit(0)), 10, 0.3, 0.4);
  check_equality(soft_stops(about_to_hit(0)), 10, 0.3, 0.3);
}

TEST_CASE("series lanes: a pendulum between stops and a follower on its cam") {
  check_equality(drawn("name = 'parametric_pendulum'", {{"omega", 1, 3}, {"p", 0.3, 1}, {"c", 0.1, 0.5}},
                       {{"", -0.5, 0.5}, {"", -0.9, 0.9}}, 100, 5),
                 25, 0.3, 0.5);
  check_equality(drawn("name = 'cam_follower'", {{"omega", 1.5, 4}, {"r", 0.3, 0.8}, {"b", 0.1, 0.5}},
                       {{"", 1.5, 1.7}, {"", -0.1, 0.1}}, 60, 6),
                 10, 0.3, 0.05);
}

TEST_CASE("series lanes: 150 random typed systems move as in the scalar engine") {
  check_equality(random_systems(150, 7), 12, 0.4, 0.4);
}

TEST_CASE("series lanes: 1e4 random typed systems move as in the scalar engine", "[heavy]") {
  check_equality(random_systems(10000, 8), 12, 0.4, 0.4);
}

TEST_CASE("series lanes: a motion does not depend on those beside it, bit by bit") {
  const KernelKept kept;
  std::vector<Set> sets;
  sets.push_back(oscillators());
  sets.push_back(pendulums());
  sets.push_back(valves(at_level(1, 0, -1)));
  sets.push_back(gears());
  sets.push_back(soft_stops(at_level(1, 0.02, 1)));
  sets.push_back(random_systems(40, 9));
  constexpr int iterates = 12;
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    int different = 0;
    for (const Set& set : sets) {
      std::vector<LaneMotion> together = set.motions();
      Lanes(together, set.section).advance(iterates, true);
      for (std::size_t k = 0; k < together.size(); k += 3) {
        std::vector<LaneMotion> one = {set.motion(k)};
        Lanes(one, set.section).advance(iterates, true);
        different += same_bits(one.front(), together[k]) ? 0 : 1;
      }
      std::vector<std::size_t> order(together.size());
      for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
      std::shuffle(order.begin(), order.end(), std::mt19937(3));
      for (std::size_t begin = 0; begin < order.size(); begin += 13) {  // others beside it, in two parts
        std::vector<LaneMotion> some;
        const std::size_t end = std::min(order.size(), begin + 13);
        for (std::size_t k = begin; k < end; ++k) some.push_back(set.motion(order[k]));
        Lanes lanes(some, set.section);
        lanes.advance(5, true);
        lanes.advance(iterates - 5, true);
        for (std::size_t k = begin; k < end; ++k)
          different += same_bits(some[k - begin], together[order[k]]) ? 0 : 1;
      }
    }
    INFO(kernel);
    CHECK(different == 0);
  }
}

TEST_CASE("series lanes: iterates that are known are those that would have been gone through, bit by bit") {
  const KernelKept kept;
  std::vector<Set> sets;
  sets.push_back(oscillators());
  sets.push_back(oscillators(at_level(1, 0.05, -1)));
  sets.push_back(pendulums());
  sets.push_back(soft_stops());
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    int different = 0;
    std::int64_t found = 0;
    for (const Set& set : sets) {
      std::vector<LaneMotion> known = set.motions(), gone = set.motions();
      for (std::vector<LaneMotion>* motions : {&known, &gone}) {
        Lanes lanes(*motions, set.section,
                    motions == &known ? Lanes::Repeats::known : Lanes::Repeats::gone_through);
        lanes.advance(120, false);
        lanes.advance(40, true);
        found += lanes.share().known;
      }
      for (std::size_t k = 0; k < known.size(); ++k) different += same_bits(known[k], gone[k]) ? 0 : 1;
    }
    INFO(kernel);
    CHECK(different == 0);
    CHECK(found > 1000);
  }
}

namespace {

/// How much two matrices differ, beside the greatest entry.
double difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff());
}

/// Gives motions that stand at the section changes of all coordinates there.
void vary(std::vector<LaneMotion>& motions, const Section& section) {
  for (LaneMotion& m : motions) {
    const PoincareMap map(*m.system, section);
    Tangent all = map.lifted(m.state, Eigen::MatrixXd::Identity(map.dimension(), map.dimension()));
    m.tangent = std::move(all.state);
    if (map.has_phase()) m.tangent_time = std::move(all.time);
  }
}

/// DP³ of every kernel is that of the scalar engine, in dual numbers, where that hardly changes with the
/// state.
void check_tangents(const Set& set, double least_steady, double least_share) {
  const KernelKept kept;
  choose_lane_kernel("none");
  std::vector<LaneMotion> begun = set.motions();
  Lanes(begun, set.section).advance(8, false);
  std::erase_if(begun, [](const LaneMotion& m) { return m.outcome != Outcome::ok; });
  double share = 0;
  const auto carried = [&](const std::string& kernel, double moved) {
    choose_lane_kernel(kernel);
    std::vector<LaneMotion> motions = begun;
    for (LaneMotion& m : motions) {
      const Eigen::Index last = m.state.x.size() - 1;
      const bool fixed = set.section.kind == Section::Kind::level && set.section.coordinate == last;
      if (m.state.mode == 0) m.state.x(fixed ? 0 : last) += moved;
    }
    vary(motions, set.section);
    Lanes lanes(motions, set.section);
    lanes.advance(3, false);
    share = static_cast<double>(lanes.share().marched) / static_cast<double>(lanes.share().all);
    return motions;
  };
  const std::vector<LaneMotion> exact = carried("none", 0), moved = carried("none", 1e-13);
  for (const std::string& kernel : tested_kernels()) {
    const std::vector<LaneMotion> found = carried(kernel, 0);
    std::size_t steady = 0;
    double worst = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      const LaneMotion &a = found[k], &b = exact[k];
      if (b.outcome != Outcome::ok || !(difference(b.tangent, moved[k].tangent) < 1e-10)) continue;
      ++steady;
      worst = std::max(worst, difference(a.tangent, b.tangent));
      if (b.tangent_time.size() > 0) worst = std::max(worst, difference(a.tangent_time, b.tangent_time));
    }
    INFO(kernel << ": " << steady << " of " << exact.size() << " steady, by the kernel " << share
                << ", worst " << worst);
    CHECK(worst < 1e-10);
    CHECK(static_cast<double>(steady) >= least_steady * static_cast<double>(exact.size()));
    CHECK(share >= least_share);
  }
}

}  // namespace

TEST_CASE("series lanes: changes of the state are carried along as in the scalar engine") {
  check_tangents(oscillators(), 0.4, 0.5);
  check_tangents(oscillators(stroboscopic(0.3)), 0.4, 0.5);
  check_tangents(oscillators(at_level(1, 0.02, 1)), 0.3, 0.4);
  check_tangents(pendulums(), 0.4, 0.4);
  check_tangents(valves(at_level(1, 0, -1)), 0.3, 0.5);
  check_tangents(valves(hit(0)), 0.3, 0.4);
  check_tangents(valves(about_to_hit(0)), 0.3, 0.4);
  check_tangents(oscillators(about_to_hit(0)), 0.3, 0.3);
  check_tangents(gears(), 0.4, 0.6);
  check_tangents(soft_stops(), 0.4, 0.6);
  check_tangents(soft_stops(stroboscopic(0.3)), 0.4, 0.6);
  check_tangents(soft_stops(at_level(1, 0.02, 1)), 0.3, 0.4);
  check_tangents(soft_stops(hit(0)), 0.3, 0.4);
  check_tangents(soft_stops(about_to_hit(0)), 0.3, 0.3);
  check_tangents(random_systems(100, 10), 0.4, 0.4);
}

TEST_CASE("series lanes: changes of the state by 3000 random typed systems", "[heavy]") {
  check_tangents(random_systems(3000, 12), 0.4, 0.4);
}

TEST_CASE("series lanes: changes of the state do not depend on motions beside it, bit by bit") {
  const KernelKept kept;
  const Set sets[] = {oscillators(at_level(1, 0.05, -1)), pendulums(), valves(at_level(1, 0, -1)),
                      soft_stops(at_level(1, 0.02, 1))};
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    int different = 0;
    for (const Set& set : sets) {
      std::vector<LaneMotion> together = set.motions();
      Lanes(together, set.section).advance(1, false);  // onto the section
      std::vector<LaneMotion> each = together;
      vary(together, set.section);
      vary(each, set.section);
      Lanes(together, set.section).advance(4, true);
      for (std::size_t k = 0; k < together.size(); k += 3) {
        const std::span<LaneMotion> one(&each[k], 1);
        Lanes lanes(one, set.section);
        lanes.advance(1, true);
        lanes.advance(3, true);
        const auto same = [](double a, double b) { return equal_bits(a, b); };
        const Eigen::MatrixXd &a = each[k].tangent, &b = together[k].tangent;
        const bool alike = std::equal(a.data(), a.data() + a.size(), b.data(), b.data() + b.size(), same);
        different += alike && same_bits(each[k], together[k]) ? 0 : 1;
      }
    }
    INFO(kernel);
    CHECK(different == 0);
  }
}

TEST_CASE("series lanes: an oscillator contracts areas by its damper and its impacts (Liouville)") {
  // det DP = exp(-c T) r^2 per impact, whatever the spring.
  const KernelKept kept;
  const Set set =
      drawn("name = 'duffing_impact'\nb = 0.8\nc = 0.1\nr = 0.9",
            {{"omega", 0.8, 2}, {"F", 1, 2}, {"s", 0.3, 0.9}}, {{"", -0.5, 0.1}, {"", -0.5, 0.5}}, 100, 11);
  for (const std::string& kernel : tested_kernels()) {
    choose_lane_kernel(kernel);
    std::vector<LaneMotion> plain = set.motions(), carrying = set.motions();
    vary(carrying, set.section);
    Lanes(plain).advance(1, false);
    Lanes(carrying).advance(1, false);
    std::int64_t impacts = 0;
    double worst = 0;
    for (std::size_t k = 0; k < plain.size(); ++k) {
      const double due = std::exp(-0.1 * plain[k].system->period()) *
                         std::pow(0.9, 2.0 * static_cast<double>(plain[k].impacts[0]));
      const Eigen::MatrixXd& D = carrying[k].tangent;
      impacts += plain[k].impacts[0];
      worst = std::max(worst, std::abs(D(0, 0) * D(1, 1) - D(0, 1) * D(1, 0) - due) / D.squaredNorm());
    }
    INFO(kernel << ": " << impacts << " impacts");
    CHECK(worst < 1e-14);
    CHECK(impacts > 100);
  }
}

namespace {

/// u'' + c u' + u = F + A cos wt in long double. With q = log u the same motion is nonlinear, and so is its
/// distance d − exp q from a stop.
class ExactMotion {
 public:
  ExactMotion(long double q, long double rate, long double F, long double A, long double w, long double c)
      : F_(F), w_(w), decay_(c / 2), omega_(std::sqrt(1 - c * c / 4)) {
    const long double a = 1 - w * w, b = c * w;
    cosine_ = A * a / (a * a + b * b);
    sine_ = A * b / (a * a + b * b);
    const long double u = std::exp(q) - F - cosine_, v = std::exp(q) * rate - w * sine_;
    a_ = u;
    b_ = (v + decay_ * u) / omega_;
  }
  long double u(long double t) const {
    return F_ + cosine_ * std::cos(w_ * t) + sine_ * std::sin(w_ * t) +
           std::exp(-decay_ * t) * (a_ * std::cos(omega_ * t) + b_ * std::sin(omega_ * t));
  }
  long double v(long double t) const {
    const long double C = std::cos(omega_ * t), S = std::sin(omega_ * t);
    return w_ * (sine_ * std::cos(w_ * t) - cosine_ * std::sin(w_ * t)) +
           std::exp(-decay_ * t) * ((b_ * omega_ - decay_ * a_) * C - (a_ * omega_ + decay_ * b_) * S);
  }
  /// Greatest u on (0, end) where it is an interior maximum and u stays positive.
  std::optional<long double> peak(long double end) const {
    constexpr int samples = 60;
    int best = 0;
    long double top = u(0), least = top;
    for (int i = 1; i <= samples; ++i) {
      const long double here = u(end * i / samples);
      least = std::min(least, here);
      if (here > top) {
        top = here;
        best = i;
      }
    }
    if (best == 0 || best == samples || least < 0.2L) return std::nullopt;
    long double low = end * (best - 1) / samples, high = end * (best + 1) / samples;
    for (int i = 0; i < 80; ++i) {
      const long double middle = (low + high) / 2;
      (v(middle) > 0 ? low : high) = middle;
    }
    return u((low + high) / 2);
  }

 private:
  long double F_, w_, decay_, omega_, cosine_, sine_, a_, b_;
};

/// So many periods that penetrate by 1e-13 … 1e-3 and as many that stay out by as much, nonlinear in motion
/// and gap, by every kernel.
void check_near_grazing(int wanted) {
  const KernelKept kept;
  Random random(20240302);
  const auto model = make_model(R"toml(
name = 'equations'
parameters = { F = 2, A = 0.5, w = 1, c = 0.1, d = 3 }
coordinates = ["q"]
force = { q = "(F + A*cos(w*t))*exp(-q) - c*q' - 1 - q'^2" }
period = "2*pi/w"
contact = [{ gap = "d - exp(q)", restitution = 0.8 }]
)toml");
  std::vector<double> values = model->values();
  const auto index = [&](const char* name) { return static_cast<std::size_t>(model->parameter_index(name)); };
  const std::vector<std::string> kernels = tested_kernels();
  std::vector<int> missed(kernels.size()), invented(kernels.size());
  std::int64_t by_kernel = 0;
  constexpr int at_once = 1000;
  for (int flights = 0; flights < wanted; flights += at_once) {
    std::vector<std::unique_ptr<System>> systems;
    std::vector<std::vector<double>> starts;
    std::vector<bool> penetrates;
    while (systems.size() < 2 * at_once) {
      const std::vector<double> start = {random(0, 1), random(-0.5, 0.5)};
      const double w = values[index("w")] = random(1.2, 3), A = values[index("A")] = random(0, 1);
      const ExactMotion truth(start[0], start[1], 2, A, w, values[index("c")]);
      const auto peak = truth.peak(2 * M_PIl / static_cast<long double>(w));
      if (!peak) continue;
      const double depth = std::pow(10.0, random(-13, -3));
      for (const int side : {+1, -1}) {
        values[index("d")] = static_cast<double>(*peak - side * static_cast<long double>(depth));
        systems.push_back(model->system(values, {}));
        starts.push_back(start);
        penetrates.push_back(*peak > static_cast<long double>(values[index("d")]));
      }
    }
    for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
      choose_lane_kernel(kernels[kernel]);
      std::vector<LaneMotion> motions;
      for (std::size_t k = 0; k < systems.size(); ++k) {
        LaneMotion m{systems[k].get(), state_at(starts[k]), Outcome::ok, {}, {0}};
        m.state.settled = true;  // in free flight
        motions.push_back(std::move(m));
      }
      Lanes lanes(motions);
      lanes.advance(1, false);
      by_kernel += lanes.share().marched;
      for (std::size_t k = 0; k < systems.size(); ++k) {
        if (motions[k].outcome != Outcome::ok) FAIL("outcome " << static_cast<int>(motions[k].outcome));
        const bool hit = motions[k].impacts[0] > 0;
        missed[kernel] += penetrates[k] && !hit;
        invented[kernel] += !penetrates[k] && hit;
      }
    }
  }
  for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
    INFO(kernels[kernel]);
    CHECK(missed[kernel] == 0);
    CHECK(invented[kernel] == 0);
  }
  INFO(by_kernel << " by the kernels to the end");
  CHECK(by_kernel > static_cast<std::int64_t>(kernels.size()) * wanted);
}

}  // namespace

TEST_CASE("near grazing with nonlinear gaps: 1e4 periods that penetrate, 1e4 that stay out") {
  check_near_grazing(10000);
}

TEST_CASE("near grazing with nonlinear gaps: 1e5 periods that penetrate, 1e5 that stay out", "[heavy]") {
  check_near_grazing(100000);
}
