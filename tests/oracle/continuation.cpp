/// Located bifurcation points against closed formulas.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <string>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/branch_part.hpp"
#include "analysis/continuation/branch_set.hpp"
#include "analysis/continuation/switching.hpp"
#include "analysis/maps/attractor.hpp"
#include "analysis/maps/multipliers.hpp"
#include "tests/family.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// The orbit that the motion settles to.
std::optional<Solution> orbit_from(const Family& f, const std::vector<double>& state, double at) {
  const auto system = f.system(at);
  const Attractor a = find_attractor(PoincareMap(*system, f.section), state_at(state), {});
  REQUIRE(a.kind == AttractorClass::periodic);
  const auto near = between_events(f, {at, a.points.front().x, a.orbit.period, a.end_time - a.start_time});
  REQUIRE(near);
  auto found = find_orbit(f, *near);
  REQUIRE(found);
  const auto& expected = a.orbit.multipliers;
  for (std::size_t k = 0; k < std::min<std::size_t>(2, expected.size()); ++k) {
    INFO("multipliers of the products over legs and of the map");
    CHECK(std::abs(found->point.multipliers[k] - expected[k]) < 1e-6 + 1e-6 * std::abs(expected[0]));
  }
  return found;
}

/// The branch through it.
Branch branch_from(const Family& f, const std::vector<double>& state, double at, double from, double to) {
  const auto start = orbit_from(f, state, at);
  ContinuationOptions options;
  options.from = from;
  options.to = to;
  return continue_branch(f, *start, {options});
}

/// Distance of the nearest located point of a kind.
double missed(const Branch& branch, BifurcationKind kind, double expected) {
  double best = 1e300;
  for (const Bifurcation& b : branch.bifurcations) {
    if (b.kind == kind) best = std::min(best, std::abs(b.parameter - expected));
  }
  return best;
}

std::string oscillator(double omega, const char* rest) {
  return "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nomega = " + std::to_string(omega) + "\n" +
         rest;
}

}  // namespace

TEST_CASE("grazing amplitude of the damped oscillator: A = d sqrt((k - w^2)^2 + c^2 w^2)") {
  for (const double omega : {0.5, 1.2}) {
    const Family f = family(oscillator(omega,
                                       "damping = [[0.1]]\nforce = [{ cosine = [1] }]\n"
                                       "stop = [{ name = 'wall', normal = [1], position = 1 }]"),
                            "force_scale");
    const double expected = std::hypot(1 - omega * omega, 0.1 * omega);
    const Branch branch = branch_from(f, {0, 0}, 0.5 * expected, 0.4 * expected, 1.1 * expected);
    CHECK(missed(branch, BifurcationKind::grazing, expected) < 1e-10);
  }
}

TEST_CASE("grazing of a compliant stop: located at the closed form, the branch goes on engaged") {
  // x'' + 2ζx' + x + β(x − e)₊ = aω² cos ωt grazes at a ω² = e √((1 − ω²)² + (2ζω)²); the multipliers go on.
  constexpr double a = 0.7, e = 1.26, zeta = 0.01;
  const Family f = family(
      "name = 'linear_stops'\nmass = [[1]]\ndamping = [[0.02]]\nstiffness = [[1]]\nomega = 0.7\n"
      "force = [{ cosine = ['0.7*omega^2'] }]\n"
      "stop = [{ normal = [1], position = 1.26, stiffness = 29 }]",
      "omega");
  const double A = a * a - e * e, B = e * e * (2 - 4 * zeta * zeta), C = -e * e;
  const double expected = std::sqrt((-B + std::sqrt(B * B - 4 * A * C)) / (2 * A));
  const Branch branch = branch_from(f, {0, 0}, 0.7, 0.6, 1);
  CHECK(missed(branch, BifurcationKind::grazing, expected) < 1e-10);
  REQUIRE(branch.points.back().parameter == Approx(1).margin(1e-12));
  CHECK(branch.points.back().impacts.front() == 1);
  CHECK(branch.points.front().impacts.front() == 0);
}

TEST_CASE("branches pass grazings of damped, preloaded and two-sided compliant stops, all located as such") {
  // x'' + b x' + x = cos ωt grazes a stop at d where (1 − ω²)² + (bω)² = 1/d², whatever the stop does.
  constexpr double b = 0.1;
  const auto touching = [](double d) {
    return std::sqrt(1 - b * b / 2 + std::sqrt(b * b * b * b / 4 - b * b + 1 / (d * d)));
  };
  struct Stops {
    const char* text;
    double nearest;  ///< the one that is touched first
  };
  const Stops all[] = {
      {"stop = [{ normal = [1], position = 0.6, stiffness = 20, damping = 0.6, preload = 0.5 }]", 0.6},
      {"stop = [{ normal = [1], position = 0.6, stiffness = 20, damping = 0.6, release = 'gap' }]", 0.6},
      {"stop = [{ normal = [1], position = 0.6, stiffness = 20, preload = 0.5 }]", 0.6},
      {"stop = [{ normal = [1], position = 0.5, stiffness = 10, damping = 0.5 },\n"
       "  { normal = [-1], position = 0.6, stiffness = 8, damping = 0.4 }]",
       0.5}};
  for (const Stops& stops : all) {
    CAPTURE(stops.text);
    const Family f = family(
        std::string("name = 'linear_stops'\nmass = [[1]]\ndamping = [[0.1]]\nstiffness = [[1]]\nomega = 2.2\n"
                    "force = [{ cosine = [1] }]\n") +
            stops.text,
        "omega");
    const Branch branch = branch_from(f, {0, 0}, 1.2, 0.62, 2.4);
    CHECK(missed(branch, BifurcationKind::grazing, touching(stops.nearest)) < 1e-10);
    CHECK(branch.ends == "end of the range");
    CHECK(branch.begins == "end of the range");
    for (const Bifurcation& found : branch.bifurcations) {
      CHECK(found.kind != BifurcationKind::edge);
      CHECK(found.error == 0);
    }
  }
}

namespace {

/// Each located point of a branch through the motion from rest has its like on the branch of other equations
/// of the same system, and there are no others.
void branches_alike(const std::string& linear, const std::string& typed, double from, double at, double to,
                    std::size_t located) {
  const std::vector<double> rest{0, 0};
  const Branch expected =
      branch_from(family("name = 'linear_stops'\n" + linear, "omega"), rest, at, from, to);
  const Branch found = branch_from(family("name = 'equations'\n" + typed, "omega"), rest, at, from, to);
  CHECK(found.begins == expected.begins);
  CHECK(found.ends == expected.ends);
  REQUIRE(expected.bifurcations.size() == located);
  REQUIRE(found.bifurcations.size() == located);
  for (const Bifurcation& b : expected.bifurcations) {
    CAPTURE(static_cast<int>(b.kind), b.parameter);
    CHECK(missed(found, b.kind, b.parameter) < 1e-10);
  }
}

}  // namespace

TEST_CASE("branches of equations with compliant contacts are those of the linear system") {
  // Two soft stops: grazings of both, and where the contact with the damped one parts in two.
  branches_alike(
      "mass = [[1.129]]\ndamping = [[0.033507]]\nstiffness = [[3.074]]\nomega = 0.755\n"
      "force = [{ cosine = [0.87] }]\n"
      "stop = [{ normal = [-1], position = 0.322, stiffness = 28.24 },\n"
      "        { normal = [-1], position = 0.174, stiffness = 17.11, damping = 0.204 }]",
      "coordinates = ['x']\nforce = { x = \"0.87*cos(omega*t) - 3.074*x - 0.033507*x' - 1e-200*x^3\" }\n"
      "mass = { x = '1.129' }\nperiod = '2*pi/omega'\nparameters = { omega = 0.755 }\n"
      "contact = [{ gap = '0.322 + x', stiffness = 28.24 },\n"
      "           { gap = '0.174 + x', stiffness = 17.11, damping = 0.204 }]",
      0.6032, 0.755, 0.9068, 13);
}

TEST_CASE("with dry friction a branch of equations passes grazings as that of the linear system does") {
  branches_alike(
      "mass = [[1.459]]\ndamping = [[0.586755]]\nstiffness = [[2.655]]\nomega = 0.776\n"
      "force = [{ cosine = [0.526] }]\nstop = [{ normal = [-1], position = 0.288, restitution = 0.718 }]\n"
      "friction = [{ direction = [-1], amplitude = 0.09 }]",
      "coordinates = ['x']\nforce = { x = \"0.526*cos(omega*t) - 2.655*x - 0.586755*x' - 1e-200*x^3\" }\n"
      "mass = { x = '1.459' }\nperiod = '2*pi/omega'\nparameters = { omega = 0.776 }\n"
      "contact = [{ gap = '0.288 + x', restitution = 0.718 }]\n"
      "friction = [{ slip = \"-x'\", amplitude = 0.09 }]",
      0.5581, 0.776, 0.9939, 3);
}

TEST_CASE(
    "a body that friction holds on another one for good is held until the force on it is the greatest") {
  // Held at x − y = s both move as one: x = s + o + Re(Y e^(iωt)), and friction carries m₁ x'' + c x' + K q −
  // F.
  const double m1 = 1.585, m2 = 0.617, c11 = 0.075794, c12 = -0.032689, c22 = 0.064566;
  const double k11 = 3.267, k12 = -1.409, k22 = 2.783, f1 = 0.774, f2 = 0.652, most = 0.077;
  const auto carried = [&](double omega, double s) {
    const double k = k11 + 2 * k12 + k22, c = c11 + 2 * c12 + c22;
    const double o = -(k11 + k12) / k * s;
    const std::complex<double> i(0, 1);
    const std::complex<double> Y = (f1 + f2) / (k - (m1 + m2) * omega * omega + i * c * omega);
    const double swing = std::abs((k11 + k12 - m1 * omega * omega + i * omega * (c11 + c12)) * Y - f1);
    return swing + std::abs(k11 * (s + o) + k12 * o);
  };
  const Family f = family(
      "name = 'equations'\ncoordinates = ['x', 'y']\nmass = { x = '1.585', y = '0.617' }\n"
      "force = { x = \"0.774*cos(omega*t) - 3.267*x - 0.075794*x' + 1.409*y + 0.032689*y' - 1e-200*x^3\", "
      "y = \"0.652*cos(omega*t) + 1.409*x + 0.032689*x' - 2.783*y - 0.064566*y'\" }\n"
      "period = '2*pi/omega'\nparameters = { omega = 0.654 }\n"
      "contact = [{ gap = '0.696 - x + y', restitution = 0.803 }]\n"
      "friction = [{ slip = \"y' - x'\", amplitude = 0.077 }]",
      "omega");
  const Branch branch = branch_from(f, {0, 0, 0, 0}, 0.654, 0.4784, 0.8296);
  CHECK(branch.begins == "end of the range");
  REQUIRE(branch.bifurcations.size() == 1);
  const Bifurcation& border = branch.bifurcations.front();
  CHECK(border.kind == BifurcationKind::slip_border);
  CHECK(carried(border.parameter, border.state(0) - border.state(2)) == Approx(most).epsilon(1e-7));
}

TEST_CASE("fold and period doubling of one-impact orbits of the undamped oscillator") {
  const Family f =
      family(oscillator(2.8,
                        "force = [{ cosine = [1] }]\n"
                        "stop = [{ name = 'wall', normal = [1], position = -0.15, restitution = 0.8 }]"),
             "position_wall");
  const Branch branch = branch_from(f, {-0.3, 0}, -0.15, -2, 0);
  CHECK(missed(branch, BifurcationKind::fold, -1.780235601322) < 1e-10);
  CHECK(missed(branch, BifurcationKind::period_doubling, -0.0685756523) < 1e-10);
}

TEST_CASE("fold and period doubling of the bouncing ball, one bounce in n periods of the table") {
  // Gamma = a at the fold, hypot(a, b) at the doubling, a = n pi (1 - e)/(1 + e), b = 2 (1 + e^2)/(1 + e)^2.
  struct Point {
    double e;
    int n;
    std::vector<double> start;
    double at;
  };
  for (const Point& p : {Point{0.5, 1, {3, 1}, 1.4}, Point{0.8, 2, {15, 0}, 1.0}}) {
    CAPTURE(p.e, p.n);
    const double a = p.n * M_PI * (1 - p.e) / (1 + p.e);
    const double b = 2 * (1 + p.e * p.e) / ((1 + p.e) * (1 + p.e));
    const Family f = family("name = 'bouncing_ball'\ne = " + std::to_string(p.e), "Gamma");
    const Branch branch = branch_from(f, p.start, p.at, 0.6, 1.6);
    CHECK(missed(branch, BifurcationKind::fold, a) < 1e-10);
    CHECK(missed(branch, BifurcationKind::period_doubling, std::hypot(a, b)) < 1e-10);
  }
}

TEST_CASE("damped oscillator, one impact in two periods: period doubling and fold to 1e-9") {
  // Points computed to 30 digits from the flow of one arc (tests/oracle/classics).
  const auto oscillator_at = [](double omega) {
    return family(
        "name = 'impact_oscillator'\noffset = -1\nb = 0.04\nr = 0.9\nstop = 0\nomega = " + fmt_double(omega),
        "F");
  };
  const Family doubling = oscillator_at(0.81);
  CHECK(missed(branch_from(doubling, {-1, 0}, 0.40, 0.33, 0.42), BifurcationKind::period_doubling,
               0.347533397412283) < 1e-9);
  const Family fold = oscillator_at(0.799);
  CHECK(missed(branch_from(fold, {-1, 0}, 0.39, 0.33, 0.42), BifurcationKind::fold, 0.3628362019808887) <
        1e-9);
}

TEST_CASE(
    "resonant grazing of the damped oscillator: orbits of two periods come from the one without impacts") {
  const auto oscillator_with = [](const char* rest, const char* parameter) {
    return family(
        std::string("name = 'impact_oscillator'\noffset = -1\nb = 0.04\nr = 0.9\nstop = 0\n") + rest,
        parameter);
  };
  const std::string turned = "at this grazing it is an orbit of fewer periods, passed through several times";
  const double omega = 0.79984;
  const Family force = oscillator_with("omega = 0.79984", "F");
  const Branch over_force = branch_from(force, {-1, 0}, 0.40, 0.33, 0.42);
  CHECK(over_force.begins == turned);
  CHECK(over_force.ends == "end of the range");
  // F = sqrt((1 - omega^2)^2 + b^2 omega^2): the orbit without impacts touches the wall.
  CHECK(missed(over_force, BifurcationKind::grazing, std::hypot(1 - omega * omega, 0.04 * omega)) < 1e-10);
  const Family frequency = oscillator_with("F = 0.36167", "omega");
  const Branch impacting = branch_from(frequency, {-1, 0}, 0.805, 0.79, 0.81);
  CHECK(impacting.begins == turned);
  CHECK(impacting.ends == "end of the range");
  const Branch passing = branch_from(frequency, {-1, 0}, 0.792, 0.79, 0.81);
  CHECK(passing.begins == "end of the range");
  CHECK(passing.ends == "end of the range");
}

namespace {

/// A mass on a belt, over the belt's speed v; its states are told where x rises through `level`.
Family on_belt(const std::string& force, const std::string& friction, double level) {
  Family f =
      family("name = 'equations'\ncoordinates = ['x']\nparameters = { v = 0.5 }\nforce = { x = " + force +
                 " }\nfriction = [{ slip = \"x' - v\", " + friction + " }]",
             "v");
  f.section = at_level(0, level, 1);
  return f;
}

}  // namespace

TEST_CASE("stick and slip without forcing: the period of a mass on a belt") {
  // x'' + x = friction of a belt with speed v: x' = v up to x = S, where the mass lets go; then a circle
  // about D of radius hypot(S - D, v), until x' = v again at 2 D - S.
  constexpr double S = 0.5, D = 0.3;
  const Family f = on_belt("'-x'", "amplitude = 0.3, static = 0.5", D);
  const Branch branch = branch_from(f, {0.3, 0.4}, 0.4, 0.1, 2);
  CHECK(branch.begins == "end of the range");
  CHECK(branch.ends == "end of the range");
  CHECK(branch.bifurcations.empty());
  CHECK(branch.points.size() > 20);
  for (const BranchPoint& p : branch.points) {
    const double v = p.parameter;
    CHECK(p.admissible);
    CHECK(p.stable);
    CHECK(std::abs(p.period - 2 * (S - D) / v - 2 * (M_PI - std::atan((S - D) / v))) < 1e-10);
  }
}

TEST_CASE("stick and slip without forcing: where a belt begins to be too fast for a mass to stick",
          "[long]") {
  const Family f = on_belt("\"-x - 0.05*x'\"", "amplitude = \"0.4*(1 - 0.3*(x' - v)^2)\", static = 0.4", 0);
  const Branch branch = branch_from(f, {0, 0.5}, 0.5, 0.4, 1.2);
  CHECK(branch.begins == "end of the range");
  const auto sticks_at = [&](double v) {
    const auto system = f.system(v);
    HybridState state = state_at({0, 1.2});
    for (int k = 0; k < 500; ++k)
      REQUIRE(PoincareMap(*system, f.section).iterate(state, nullptr) == Outcome::ok);
    Log log;
    REQUIRE(PoincareMap(*system, f.section).iterate(state, &log) == Outcome::ok);
    return std::any_of(log.entries.begin(), log.entries.end(),
                       [](const Log::Entry& e) { return e.kind == EventKind::slip_to_stick; });
  };
  const auto border =
      std::find_if(branch.bifurcations.begin(), branch.bifurcations.end(),
                   [](const Bifurcation& b) { return b.kind == BifurcationKind::slip_border; });
  REQUIRE(border != branch.bifurcations.end());
  CHECK(sticks_at(border->parameter - 1e-7));
  CHECK(!sticks_at(border->parameter + 1e-7));
  const auto last = std::find_if(branch.bifurcations.begin(), branch.bifurcations.end(),
                                 [](const Bifurcation& b) { return b.kind == BifurcationKind::fold; });
  REQUIRE(last != branch.bifurcations.end());
  CHECK(last->parameter > border->parameter);
}

// Where the orbit begins depends on its phase; with 1.234 the wall is touched within a 64th of the first leg.
TEST_CASE("moving stops: a grazing is met however soon behind the beginning of the orbit it is") {
  for (const double phase : {0.0, 0.3, 1.234, 2.0, 4.0}) {
    const auto turned = [&](const char* text) {
      return std::string(text) + "*cos(omega*t + " + fmt_double(phase) + " + ";
    };
    const Family f = family(
        "name = 'equations'\ncoordinates = ['x']\nparameters = { omega = 1.7 }\n"
        "period = '2*pi/omega'\nforce = { x = \"" +
            turned("0.6") + "0) - 0.1*x' - x\" }\ncontact = [{ gap = '0.3 + " + turned("0.15") +
            "0.7) - x', restitution = 0.75 }, { gap = 'x + 0.6 - " + turned("0.1") +
            "0.2)', restitution = 0.75 }]",
        "omega");
    const Branch branch = branch_from(f, {0, 0}, 1.7, 0.9, 1.75);
    CAPTURE(phase, branch.begins);
    CHECK(missed(branch, BifurcationKind::grazing, 1.034533109) < 1e-9);
    CHECK(missed(branch, BifurcationKind::fold, 1.068392251) < 1e-9);
    CHECK(branch.begins == "end of the range");
  }
}

// Where sliding ends the friction fk turns or, where its bound fs holds, sticks: the motion jumps, orbits of
// both kinds may stand side by side, and each branch ends where |F cos(omega t) - 2 zeta vb - x| = fs on it.
TEST_CASE("static friction above that of sliding: a branch ends where its own orbit begins to stick") {
  constexpr double F = 0.6, vb = 0.4, fs = 0.45, zeta = 0.05;
  std::vector<double> ends;
  for (const double phase : {0.0, 1.234, 3.0}) {
    const std::string force = "0.6*cos(omega*t + " + fmt_double(phase) + ") - 2*0.05*x' - x";
    const Family f = family(
        "name = 'equations'\ncoordinates = ['x']\nparameters = { omega = 1.0 }\nperiod = '2*pi/omega'\n"
        "force = { x = \"" +
            force + "\" }\nfriction = [{ slip = \"x' - 0.4\", amplitude = '0.3', static = '0.45' }]",
        "omega");
    const Branch branch = branch_from(f, {0, 0}, 1.0, 0.55, 1.75);
    CAPTURE(phase);
    CHECK(branch.begins == "reversal_border: the motion jumps there");
    CHECK(branch.ends == "reversal_border: the motion jumps there");
    int count = 0;
    for (const Bifurcation& b : branch.bifurcations) {
      if (b.kind != BifurcationKind::reversal_border) continue;
      ++count;
      CAPTURE(b.parameter);
      const auto system = f.system(b.parameter);
      const Record record = record_turn(*system, b.orbit.front(), 1);
      double closest = 1;
      for (std::size_t k = 0; k < record.behind.size(); ++k) {
        const double demand = F * std::cos(b.parameter * record.times[k] + phase) - 2 * zeta * vb;
        const Step& step = record.itinerary.steps[k];
        if (step.end == EventKind::slip_reversal || step.end == EventKind::slip_to_stick)
          closest = std::min(closest, std::abs(std::abs(demand - record.behind[k](0)) - fs));
      }
      CHECK(closest < 1e-9);
      ends.push_back(b.parameter);
    }
    CHECK(count == 2);
  }
  REQUIRE(ends.size() == 6);
  std::sort(ends.begin(), ends.end());
  for (const std::size_t k : {0U, 3U}) CHECK(ends[k + 2] - ends[k] < 1e-9);
}

// At a soft wall a reversal of slip comes where a stick would no longer hold, and goes where the slip is zero
// as the contact begins: both between two points of the branch, whose events are alike but for the sense.
TEST_CASE("a reversal of slip that comes and goes between two points of a branch is told") {
  std::vector<double> places;
  for (const double phase : {0.0, 1.234}) {
    const std::string at = "(omega*t + " + fmt_double(phase) + ")";
    const Family f = family(
        "name = 'equations'\ncoordinates = ['x', 'y']\nmass = { y = 0.7 }\nparameters = { omega = 0.9 }\n"
        "period = '2*pi/omega'\nforce = { x = \"0.8*cos" +
            at + " - 0.12*x' - x - 0.2*(x - y)\", y = \"0.3*sin" + at +
            " - 0.2*(y - x) - 0.8*y - 0.12*y'\" }\ncontact = [{ gap = '0.2 - x', stiffness = 8, "
            "damping = 0.5, mu = 0.3, slip = \"y' - 0.2\", release = 'gap' }]",
        "omega");
    const Branch branch = branch_from(f, {0, 0, 0, 0}, 0.9, 0.5, 2.2);
    double slowest = 1;  // slip at a beginning
    for (const Bifurcation& b : branch.bifurcations) {
      if (b.kind != BifurcationKind::reversal_border || b.parameter > 0.74) continue;
      places.push_back(b.parameter);
      const auto system = f.system(b.parameter);
      const Record record = record_turn(*system, b.orbit.front(), 1);
      for (std::size_t k = 0; k < record.behind.size(); ++k) {
        if (record.itinerary.steps[k].end == EventKind::contact_begin)
          slowest = std::min(slowest, std::abs(record.behind[k](3) - 0.2));
      }
    }
    CHECK(slowest < 1e-9);
  }
  REQUIRE(places.size() == 4);
  std::sort(places.begin(), places.end());
  for (const std::size_t k : {0U, 2U}) CHECK(places[k + 1] - places[k] < 1e-9);
}

TEST_CASE("stick and slip without forcing: from Hopf point to Hopf point over the borders of sticking") {
  // A stick of time d comes from nothing where v is quadratic in d: with -d the equations hold as well.
  Family f = family(
      "name = 'equations'\ncoordinates = ['x', 'y']\nparameters = { v = 0.4 }\n"
      "force = { x = \"-0.16*x' - x - 0.2*x^3 - 0.4*(x - y)\", y = \"-0.16*y' - 1.3*y - 0.4*(y - x)\" }\n"
      "friction = [{ slip = \"x' - v\", amplitude = \"0.4 + 0.3*exp(-3*(x' - v)^2)\", static = 0.7 }]",
      "v");
  f.section = at_level(1, 0, -1);
  const Branch branch = branch_from(f, {1, 0, 0, 0}, 0.4, 0.05, 1.2);
  CHECK(branch.begins == "the orbit shrinks to rest");
  CHECK(branch.ends == "the orbit shrinks to rest");
  const auto count = [&](BifurcationKind kind) {
    return std::count_if(branch.bifurcations.begin(), branch.bifurcations.end(),
                         [&](const Bifurcation& b) { return b.kind == kind; });
  };
  CHECK(count(BifurcationKind::slip_border) == 2);
  CHECK(count(BifurcationKind::fold) == 1);
  CHECK(count(BifurcationKind::simultaneous) == 0);
  REQUIRE(count(BifurcationKind::hopf) == 2);
  for (const Bifurcation& b : branch.bifurcations) {
    if (b.kind != BifurcationKind::hopf) continue;
    const double v = b.parameter, weakening = 0.3 * std::exp(-3 * v * v);
    double x = 0;  // at rest y = 0.4 x/1.7
    for (int k = 0; k < 100; ++k) x = (0.4 + weakening - 0.2 * x * x * x) / (1.4 - 0.16 / 1.7);
    Eigen::MatrixXd A(4, 4);
    A << 0, 1, 0, 0, -1.4 - 0.6 * x * x, -0.16 + 6 * v * weakening, 0.4, 0, 0, 0, 0, 1, 0.4, 0, -1.7, -0.16;
    double fastest_growth = -1;
    for (const std::complex<double>& value : eigenvalues(A))
      fastest_growth = std::max(fastest_growth, value.real());
    CHECK(std::abs(fastest_growth) < 1e-10);
    CHECK(std::abs(b.orbit.front()(0) - x) < 1e-12);
    CHECK(std::abs(b.orbit.front()(2) - 0.4 * x / 1.7) < 1e-12);
  }
}

TEST_CASE("relief valve: orbits without forcing from the Hopf point through grazing") {
  Family f = family("name = 'relief_valve'", "q");
  f.section = at_level(1, 0, -1);  // greatest lift
  const Branch branch = branch_from(f, {0.2, 0, 0}, 8, 5, 8.6);
  CHECK(branch.ends == "the orbit shrinks to rest");
  CHECK(missed(branch, BifurcationKind::hopf, 8.491117635183) < 1e-10);
  int checked = 0;
  for (const Bifurcation& b : branch.bifurcations) {
    const auto system = f.system(b.parameter);
    const PoincareMap map(*system, f.section);
    if (b.kind == BifurcationKind::period_doubling) {
      HybridState told;
      told.x = b.orbit.front();
      const Orbit orbit = refine_orbit(map, told, 1);
      REQUIRE(orbit.closed);
      const auto nearest = std::min_element(
          orbit.multipliers.begin(), orbit.multipliers.end(),
          [](const auto& x, const auto& y) { return std::abs(x + 1.0) < std::abs(y + 1.0); });
      CHECK(std::abs(*nearest + 1.0) < 1e-8);
      ++checked;
    }
    if (b.kind == BifurcationKind::grazing) {  // the orbit's least lift is zero: the first touch has no speed
      HybridState state;
      state.x = b.state;
      Log log;
      for (int k = 0; k < 2; ++k) REQUIRE(map.iterate(state, &log) == Outcome::ok);
      const auto touch = std::find_if(log.entries.begin(), log.entries.end(),
                                      [](const Log::Entry& entry) { return entry.contact == 0; });
      REQUIRE(touch != log.entries.end());
      CHECK(touch->speed < 1e-5);
      ++checked;
    }
  }
  CHECK(checked == 2);
}

TEST_CASE("a branch that is kept comes back to the last bit") {
  const Family f = family("name = 'bouncing_ball'\ne = 0.5", "Gamma");
  const Branch branch = branch_from(f, {3, 1}, 1.4, 1.3, 1.6);
  const Dataset part = packed(branch);
  const Branch again = unpacked(part);
  CHECK(again.ends == branch.ends);
  CHECK(again.points.size() == branch.points.size());
  const auto& numbers = std::get<std::vector<double>>(part.at("numbers").values);
  CHECK(std::get<std::vector<double>>(packed(again).at("numbers").values) == numbers);
  // Of a file that is not what it was.
  const auto with = [&](std::size_t length, double first) {
    Dataset spoilt = part;
    std::vector<double> row(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(length));
    row.front() = first;
    spoilt.arrays.front().values = row;
    return spoilt;
  };
  CHECK_THROWS(unpacked(with(numbers.size() / 2, numbers.front())));
  CHECK_THROWS(unpacked(with(numbers.size(), 1e15)));
  CHECK_THROWS(unpacked(with(numbers.size(), -1)));
  CHECK_THROWS(unpacked(with(numbers.size(), std::nan(""))));
}

TEST_CASE("a branch of doubled orbits ends where they are born") {
  // of the bouncing ball: a period doubling at (pi (1-e)/(1+e))^2 + (2 (1+e^2)/(1+e)^2)^2 = Gamma^2
  const double birth = std::hypot(std::numbers::pi / 3, 2.5 / 2.25);
  const Family f = family("name = 'bouncing_ball'\ne = 0.5", "Gamma");
  const Branch branch = branch_from(f, {3, 1}, 1.56, 1.4, 1.6);
  CHECK(branch.begins ==
        "an orbit of half as many periods: behind it come the same orbits, half a turn later");
  double least = 2;
  for (const BranchPoint& p : branch.points) {
    CHECK(p.signature.periods == 2);
    least = std::min(least, p.parameter);
  }
  CHECK(least > birth - 1e-9);
  CHECK(least < birth + 1e-2);
}

TEST_CASE("a branch does not depend on how many of its forerunners come from a journal", "[long]") {
  class Shelf final : public Journal {
   public:
    std::vector<Dataset> parts;
    std::size_t kept = 0;  ///< so many are recalled
    std::optional<Dataset> recall(std::size_t number) override {
      return number < kept ? std::optional(parts[number]) : std::nullopt;
    }
    void keep(std::size_t number, const Dataset& part) override {
      CHECK(number == parts.size());
      parts.push_back(part);
    }
  };
  const Family f = family("name = 'impact_oscillator'\nb = 0.04\nr = 0.9\nstop = 0\nF = 0.4", "omega");
  AtlasOptions options;
  options.continuation.from = 0.78;
  options.continuation.to = 0.9;
  options.generations = 2;
  const auto start = orbit_from(f, {-1, 0}, 0.8);
  const BranchPoint& p = start->point;
  const auto numbers = [&](Shelf& shelf) {
    Atlas atlas(f, options, shelf);
    atlas.take({p.parameter, p.orbit, p.signature.periods, p.period, {}});
    std::vector<std::vector<double>> all;
    for (const Branch& b : atlas.branches())
      all.push_back(std::get<std::vector<double>>(packed(b).at("numbers").values));
    return all;
  };
  Shelf whole;
  const auto expected = numbers(whole);
  REQUIRE(expected.size() > 2);
  for (std::size_t kept = 0; kept < expected.size(); ++kept) {
    Shelf interrupted = whole;
    interrupted.kept = kept;
    interrupted.parts.resize(kept);
    CHECK(numbers(interrupted) == expected);
  }
}

TEST_CASE("the branch that leaves at a period doubling has the doubled orbit") {
  const Family f =
      family("name = 'impact_oscillator'\noffset = -1\nb = 0.04\nr = 0.9\nstop = 0\nomega = 0.81", "F");
  const Branch branch = branch_from(f, {-1, 0}, 0.40, 0.33, 0.42);
  ContinuationOptions options;
  options.from = 0.33;
  options.to = 0.42;
  for (const Bifurcation& b : branch.bifurcations) {
    if (b.kind != BifurcationKind::period_doubling) continue;
    const auto starts = switched(f, b, options);
    REQUIRE(starts.size() == 1);
    const BranchPoint& p = starts.front().point;
    CHECK(p.signature.periods == 4);
    const auto system = f.system(p.parameter);
    HybridState state;
    const Eigen::VectorXd start = p.orbit.front();
    state.x = start;
    for (int k = 0; k < 2; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
    CHECK((state.x - start).norm() > 1e-5);
    for (int k = 0; k < 2; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
    CHECK((state.x - start).norm() < 1e-10);
  }
}

TEST_CASE("forced pendulums: period doublings have the multiplier -1 of the map") {
  const Family f = family(
      "name = 'two_pendulums'\ngravity = 1\ne = 0.6\ndamping1 = 0.3\ndamping2 = 0.3\ntorque1 = "
      "0.8\nfrequency = 1",
      "frequency");
  const Branch branch = branch_from(f, {0, 0, 0, 0}, 0.9, 0.7, 1.12);
  int checked = 0;
  for (const Bifurcation& b : branch.bifurcations) {
    if (b.kind != BifurcationKind::period_doubling) continue;
    const auto system = f.system(b.parameter);
    HybridState start;
    start.x = b.orbit.front();
    const Orbit orbit = refine_orbit(PoincareMap(*system, Section{}), start, 1);
    REQUIRE(orbit.closed);
    double nearest = HUGE_VAL;
    for (const auto& m : orbit.multipliers) nearest = std::min(nearest, std::abs(m + 1.0));
    CHECK(nearest < 1e-8);
    ++checked;
  }
  CHECK(checked >= 2);
}

TEST_CASE("multipliers do not depend on the number of segments") {
  for (const char* parameters :
       {"delta = 0.8", "delta = 0.16", "delta = 0.25\nd1 = -0.3\nd2 = 0.1", "delta = 1.43"}) {
    INFO(parameters);
    const Family f = family(std::string("name = 'two_dof_stops'\n") + parameters, "delta");
    const double at = f.values[static_cast<std::size_t>(f.parameter)];
    const auto system = f.system(at);
    const Attractor a = find_attractor(PoincareMap(*system, Section{}), state_at({0, 0, 0, 0}), {});
    REQUIRE(a.kind == AttractorClass::periodic);
    const auto orbit = find_orbit(f, {at, a.orbit.start.x, a.orbit.period});
    REQUIRE(orbit);
    const auto one = orbit_multipliers(*orbit->shooting, orbit->u, 1);
    REQUIRE(one.size() == 4);
    for (const int segments : {3, 20}) {
      const auto many = orbit_multipliers(*orbit->shooting, orbit->u, segments);
      REQUIRE(many.size() == 4);
      for (std::size_t k = 0; k < 4; ++k) CHECK(std::abs(one[k] - many[k]) < 1e-9 * std::abs(one[0]) + 1e-14);
    }
  }
}

TEST_CASE("A linear oscillator with impacts shrinks areas by exp(-b T) and by r^2 at each impact") {
  const auto system =
      make_system(oscillator(2.8,
                             "damping = [[0.05]]\nforce = [{ cosine = [1] }]\n"
                             "stop = [{ normal = [1], position = -0.15, restitution = 0.8 }]"));
  const PoincareMap map(*system, Section{});
  HybridState state = state_at({-0.3, 0});
  for (int k = 0; k < 100; ++k) REQUIRE(map.iterate(state) == Outcome::ok);
  HybridState again = state;
  const int periods = 400;
  Log log;
  double shrinkage = 0;  // log of the area left
  for (int k = 0; k < periods; ++k) {
    REQUIRE(map.iterate(again, &log) == Outcome::ok);
    Eigen::MatrixXd frame = Eigen::MatrixXd::Identity(2, 2);
    REQUIRE(map.iterate(state, frame) == Outcome::ok);
    shrinkage += std::log(std::abs(frame(0, 0) * frame(1, 1) - frame(0, 1) * frame(1, 0)));
  }
  const double impacts = static_cast<double>(log.of(EventKind::impact).size());
  const double expected = -0.05 * periods * system->period() + 2 * std::log(0.8) * impacts;
  CHECK(shrinkage == Approx(expected).epsilon(1e-9));
}
