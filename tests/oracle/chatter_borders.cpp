/// Borders of chatter against values worked out independently with 20 and more digits.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/chatter_border.hpp"
#include "analysis/maps/attractor.hpp"
#include "core/contact/chatter_border.hpp"
#include "core/contact/follow_segments.hpp"
#include "tests/family.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// The orbit that the motion settles to.
Solution settled(const Family& f, double at, const std::vector<double>& state) {
  const auto system = f.system(at);
  const Attractor a = find_attractor(PoincareMap(*system, f.section), state_at(state), {});
  CAPTURE(at);
  REQUIRE(a.kind == AttractorClass::periodic);
  const auto orbit = find_orbit(f, {at, a.orbit.start.x, a.orbit.period});
  REQUIRE(orbit);
  return *orbit;
}

/// Chatter borders of a contact, any for −1, on the branch through that orbit.
std::vector<Bifurcation> borders(const Family& f, const Solution& orbit, double from, double to,
                                 int contact = 0) {
  ContinuationOptions options;
  options.from = from;
  options.to = to;
  std::vector<Bifurcation> found;
  for (const Bifurcation& b : continue_branch(f, orbit, {options}).bifurcations)
    if (b.kind == BifurcationKind::chatter_border && (contact < 0 || b.contact == contact))
      found.push_back(b);
  return found;
}

void check(const std::vector<Bifurcation>& found, double expected) {
  INFO("expected at " << fmt_double(expected));
  REQUIRE(found.size() == 1);
  CHECK(std::abs(found[0].parameter - expected) < 1e-11);
  CHECK(std::abs(found[0].parameter - expected) <= found[0].error);
  CHECK(found[0].error < 1e-11);
}

}  // namespace

TEST_CASE("borderline sequence: z* repeats itself from bounce to bounce and repels with lambda") {
  struct Row {
    double r, ratio, remaining, multiplier;
  };
  for (const Row& row : {Row{0.5, 0.150562298, 0.660442250, 1.98960},
                         {0.7, 0.090090986, 0.807460929, 1.42754},
                         {0.8, 0.060023838, 0.874720688, 1.24978}}) {
    const ChatterBorderline line(row.r);
    CHECK(line.ratio == Approx(row.ratio).margin(5e-10).epsilon(0));
    CHECK(line.remaining == Approx(row.remaining).margin(5e-10).epsilon(0));
    CHECK(line.multiplier == Approx(row.multiplier).margin(5e-6).epsilon(0));
  }
  for (const double r : {0.02, 0.3, 0.6, 0.95, 0.999}) {
    CAPTURE(r);
    const ChatterBorderline line(r);
    // x = z t - t^2/2 + t^3/6 from the contact on, force a = 1 - t: the next impact in closed form.
    const auto next = [r](double z) {
      const double y = 1.5 * (1 - std::sqrt(1 - 8 * z / 3));
      return -r * (z - y + y * y / 2) / ((1 - y) * (1 - y));
    };
    CHECK(next(line.ratio) == Approx(line.ratio).epsilon(1e-11));
    const double h = 1e-5 * line.ratio;
    CHECK((next(line.ratio + h) - next(line.ratio - h)) / (2 * h) == Approx(line.multiplier).epsilon(1e-6));
    const double slope =
        (ChatterBorderline(r * 1.0001).ratio - ChatterBorderline(r * 0.9999).ratio) / (2e-4 * r);
    CHECK(line.ratio_slope == Approx(slope).epsilon(1e-5));
  }
}

TEST_CASE("a rebound v t + a t^2 - j t^3 ends at (a + sqrt(a^2 + 4 v j))/(2 j), whichever sign a has") {
  const double v = 1e-3;
  const double j = 0.9;
  for (const double a : {-0.5, -1e-3, -1e-12, 0.0, 1e-12, 1e-3, 0.5}) {
    CAPTURE(a);
    const double gap[] = {0, v, a, -j};
    const auto end = end_of_flight(gap, true);
    REQUIRE(end);
    const double root = std::sqrt(a * a + 4 * v * j);
    const double expected = a > 0 ? (a + root) / (2 * j) : 2 * v / (root - a);
    CHECK(*end == Approx(expected).epsilon(1e-14));
  }
  const double leaves[] = {0, v, 1e-3, 0.1};
  CHECK_FALSE(end_of_flight(leaves, true));
}

TEST_CASE("one mass: the border from where it sticks and from where it does not") {
  // x'' + x = cos wt, x <= stop: the orbit leaves the stop by itself and its impacts accumulate at the next
  // such instant.
  struct Border {
    double omega, r, stop;
  };
  for (const Border& b : {Border{2.8, 0.6, -0.67101674031870779},
                          {5, 0.6, -0.68095140309019672},
                          {2, 0.6, -0.65655647700211979},
                          {2.8, 0.2, -0.40171930330836292},
                          {2.8, 0.4, -0.53892387877844162},
                          {2.8, 0.8, -0.81294074778017178}}) {
    CAPTURE(b.omega, b.r);
    const Family f = family(
        "name = 'impact_oscillator'\nomega = " + fmt_double(b.omega) + "\nr = " + fmt_double(b.r), "stop");
    const Solution sticks = settled(f, b.stop - 0.01, {b.stop - 0.01, 0});
    check(borders(f, sticks, b.stop - 0.02, b.stop + 0.02), b.stop);
  }
  const double border = -0.440943392;  // omega = 5, r = 0.2
  const Family f = family("name = 'impact_oscillator'\nomega = 5\nr = 0.2", "stop");
  const Solution leaves = settled(f, border + 0.004, {border + 0.004, 0});
  const auto from_outside = borders(f, leaves, border - 0.1, border + 0.05);
  REQUIRE(from_outside.size() == 1);
  CHECK(std::abs(from_outside[0].parameter - border) < 5e-10);
  const Solution sticks = settled(f, border - 0.01, {border - 0.01, 0});
  check(borders(f, sticks, border - 0.1, border + 0.05), from_outside[0].parameter);
}

namespace {

/// A border of two masses by the state at phase zero there.
struct TwoMasses {
  const char* rest;
  int contact;
  double delta;
  double inside;  ///< where from it the contact sticks
  std::vector<double> state;
};

const char* const same = "d1 = 0.3\nd2 = 0.3";
const char* const opposite = "d1 = -0.3\nd2 = 0.1";

const std::vector<TwoMasses>& two_masses() {
  static const std::vector<TwoMasses> list = {
      {same, 0, 0.28474654127978390, -2e-4, {0.287293649809, -0.02132772919, 0.276248960329, -0.04269828799}},
      {opposite,
       0,
       0.25745567796266260,
       -2e-4,
       {0.29144925957, 0.148901766169, 0.07709417186, 0.007724982114}},
      {opposite,
       0,
       0.29654428597596540,
       -2e-4,
       {0.22060928075, -0.01810857317, 0.08163717965, -0.04046103655}},
      {opposite,
       1,
       0.36700491396836880,
       -2e-4,
       {0.3019346444, -0.00303698363, 0.075057777439, 0.066796058016}},
      {"A1 = 0.4\nA2 = 0.1",
       0,
       0.25022099030872210,
       2e-4,
       {0.294117140784, -0.01617518982, 0.297503481672, -0.00039764893}}};
  return list;
}

Family two_masses_family(const char* rest) {
  return family(std::string("name = 'two_dof_stops'\n") + rest, "delta");
}

}  // namespace

TEST_CASE("two masses: ends of a stick, of a rise and of a motionless phase, from where the contact sticks",
          "[long]") {
  for (const TwoMasses& at : two_masses()) {
    CAPTURE(at.rest, at.contact, at.delta);
    const Family f = two_masses_family(at.rest);
    const Solution sticks = settled(f, at.delta + at.inside, at.state);
    check(borders(f, sticks, at.delta - 3e-4, at.delta + 3e-4, at.contact), at.delta);
  }
}

TEST_CASE("two masses: the end of a stick, from where the contact does not stick") {
  const TwoMasses& at = two_masses().front();
  const Family f = two_masses_family(at.rest);
  for (const double outside : {1e-3, 2e-4}) {
    CAPTURE(outside);
    const Solution leaves = settled(f, at.delta + outside, at.state);
    REQUIRE(leaves.point.signature.count(EventKind::chatter_complete, at.contact) == 0);
    check(borders(f, leaves, at.delta - 1.5e-3, at.delta + 1.5e-3, at.contact), at.delta);
  }
}

TEST_CASE("two masses: borders of both contacts 6e-6 apart are told apart") {
  const Family f = two_masses_family(opposite);
  const Solution sticks = settled(f, 0.405, {0.3019346444, -0.00303698363, 0.075057777439, 0.066796058016});
  const auto found = borders(f, sticks, 0.402, 0.406, -1);
  REQUIRE(found.size() == 2);
  CHECK(found[0].contact == 1);
  CHECK(std::abs(found[0].parameter - 0.40382793) < 5e-9);
  CHECK(found[1].contact == 0);
  CHECK(std::abs(found[1].parameter - 0.40383372) < 5e-9);
}

TEST_CASE("the border's equation has the derivative of its value") {
  const TwoMasses& at = two_masses().front();
  for (const char* parameter : {"delta", "r1"}) {
    CAPTURE(parameter);
    Family f = two_masses_family(at.rest);
    f.parameter = f.model->parameter_index(parameter);
    f.values[static_cast<std::size_t>(f.model->parameter_index("delta"))] = at.delta + at.inside;
    const double value = f.values[static_cast<std::size_t>(f.parameter)];
    const Solution orbit = settled(f, value, at.state);
    const Shooting& shooting = *orbit.shooting;
    const auto sticks = chatter_sticks(shooting.itinerary());
    REQUIRE(sticks.size() == 1);
    const Leg impact = (*shooting.placed_legs(orbit.u))[sticks[0].impact];
    const Condition condition = chatter_border_condition(shooting, sticks[0], impact);
    const auto at_unknowns = [&](const Eigen::VectorXd& u) { return condition(u, *shooting.equations(u)); };
    const ConditionValue here = at_unknowns(orbit.u);
    CHECK(here.value > 0);  // it sticks
    for (Eigen::Index k = 0; k <= shooting.size(); ++k) {
      const double h = 1e-8 * std::max(std::abs(orbit.u(k)), 1e-2);
      const Eigen::VectorXd step = h * Eigen::VectorXd::Unit(shooting.size() + 1, k);
      const double slope = (at_unknowns(orbit.u + step).value - at_unknowns(orbit.u - step).value) / (2 * h);
      CAPTURE(k);
      CHECK(here.slope(k) == Approx(slope).epsilon(1e-4).margin(1e-4 * here.slope.cwiseAbs().maxCoeff()));
    }
  }
}
