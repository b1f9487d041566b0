/// The reference orbits of two_dof_stops: states, event phases and multipliers computed to 30 digits by an
/// independent program (stops on the same side: case a; on opposite sides: case b).
#include <catch2/catch.hpp>

#include "analysis/maps/attractor.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

struct Settled {
  std::unique_ptr<System> system;
  Attractor attractor;
  Log log;  ///< of one orbit

  double phase(const Log::Entry& e) const {
    const double period = system->period();
    return (e.time - attractor.orbit.start.time - static_cast<double>(attractor.orbit.start.turns) * period) /
           period;
  }
};

Settled settle(const std::string& parameters) {
  Settled s;
  s.system = make_system("name = 'two_dof_stops'\n" + parameters);
  const PoincareMap map(*s.system, Section{});
  s.attractor = find_attractor(map, state_at({0, 0, 0, 0}), {});
  REQUIRE(s.attractor.kind == AttractorClass::periodic);
  REQUIRE(s.attractor.orbit.period == 1);
  HybridState state = s.attractor.orbit.start;
  REQUIRE(map.iterate(state, &s.log) == Outcome::ok);
  return s;
}

void check_state(const Settled& s, const std::vector<double>& reference) {
  for (std::size_t i = 0; i < reference.size(); ++i) {
    INFO("component " << i);
    CHECK(s.attractor.orbit.start.x(static_cast<Eigen::Index>(i)) ==
          Approx(reference[i]).margin(1e-11).epsilon(0));
  }
}

void check_phase(const Settled& s, const Log::Entry& e, double reference) {
  CHECK(s.phase(e) == Approx(reference).margin(1e-11).epsilon(0));
}

}  // namespace

TEST_CASE("case (a), delta 0.16: mass 1 sticks after complete chatter, mass 2 chatters incompletely") {
  const Settled s = settle("delta = 0.16");
  check_state(s, {0.3, 0, 0.27280670881226, 0.0029426150777787});
  const auto release = s.log.of(EventKind::release, 0);
  const auto stick = s.log.of(EventKind::stick, 0);
  REQUIRE(release.size() == 1);
  REQUIRE(stick.size() == 1);
  check_phase(s, release[0], 0.143997456300751);
  check_phase(s, stick[0], 0.949959406445186);
  const auto impacts = s.log.of(EventKind::impact, 1);
  REQUIRE(impacts.size() == 4);
  check_phase(s, impacts[0], 0.0385657254461221);
  CHECK(impacts[0].speed == Approx(0.02522134695926).margin(1e-11).epsilon(0));
  check_phase(s, impacts[1], 0.118665913337603);
  CHECK(impacts[1].speed == Approx(0.01508558183655).margin(1e-11).epsilon(0));
  CHECK(s.log.of(EventKind::stick, 1).empty());
  const auto& counts = s.attractor.tally.contacts();
  CHECK(counts[0].chatter_complete == 1);
  CHECK(counts[0].chatter_incomplete == 0);
  CHECK(counts[0].sticks == 1);
  CHECK(counts[1].chatter_complete == 0);
  CHECK(counts[1].chatter_incomplete == 1);
  CHECK(counts[1].impacts == 4);
  CHECK(counts[1].sticks == 0);
  CHECK(counts[0].stick_time / s.system->period() ==
        Approx(1 - 0.949959406445186 + 0.143997456300751).margin(1e-11).epsilon(0));
  const auto& mu = s.attractor.orbit.multipliers;
  CHECK(mu[0].real() == Approx(-0.0828787560).margin(1e-9));
  CHECK(mu[1].real() == Approx(-0.0508184815).margin(1e-9));
  CHECK(std::abs(mu[2]) < 1e-14);
  CHECK(std::abs(mu[3]) < 1e-14);
}

TEST_CASE("case (a), A = (0.4, 0.1): motionless, both masses stick at once") {
  const Settled s = settle("delta = 0.16\nA1 = 0.4\nA2 = 0.1");
  check_state(s, {0.3, 0, 0.3, 0});
  CHECK(s.attractor.orbit.start.mode == 3);
  check_phase(s, s.log.of(EventKind::release, 0).at(0), 0.115026728081308);
  check_phase(s, s.log.of(EventKind::release, 1).at(0), 0.169382917306329);
  check_phase(s, s.log.of(EventKind::stick, 1).at(0), 0.937794598954344);
  check_phase(s, s.log.of(EventKind::stick, 0).at(0), 0.938757759455988);
  CHECK(s.attractor.tally.all_stick_time() / s.system->period() ==
        Approx(1 - 0.938757759455988 + 0.115026728081308).margin(1e-11).epsilon(0));
  for (const auto& mu : s.attractor.orbit.multipliers) CHECK(mu == 0.0);
}

TEST_CASE("case (b), delta 0.25: the masses stick in turn") {
  const Settled s = settle("delta = 0.25\nd1 = -0.3\nd2 = 0.1");
  check_state(s, {0.33979996922474, 0.10654734166035, 0.09770447427250, 0.09747087673247});
  check_phase(s, s.log.of(EventKind::stick, 1).at(0), 0.0737238420262722);
  check_phase(s, s.log.of(EventKind::release, 1).at(0), 0.234006553297403);
  check_phase(s, s.log.of(EventKind::stick, 0).at(0), 0.51805598699534);
  check_phase(s, s.log.of(EventKind::release, 0).at(0), 0.686993483846799);
  CHECK(s.attractor.tally.contacts()[0].rises == 0);
  const auto& mu = s.attractor.orbit.multipliers;
  CHECK(mu[0].real() == Approx(-0.0034708818).margin(1e-9));
  CHECK(mu[0].imag() == Approx(0.1407569138).margin(1e-9));
  CHECK(std::abs(mu[2]) < 1e-14);
}

TEST_CASE("case (b), delta 0.257: one rise of mass 1") {
  const Settled s = settle("delta = 0.257\nd1 = -0.3\nd2 = 0.1");
  check_state(s, {0.29605791364612, 0.14737484867934, 0.07763354830930, 0.01501175645218});
  const auto stick = s.log.of(EventKind::stick, 0);
  const auto release = s.log.of(EventKind::release, 0);
  REQUIRE(stick.size() == 2);
  REQUIRE(release.size() == 2);
  check_phase(s, stick[0], 0.49988290018512);
  check_phase(s, release[0], 0.565016753315074);
  check_phase(s, stick[1], 0.661732354262187);
  check_phase(s, release[1], 0.696215791224524);
  CHECK(s.attractor.tally.contacts()[0].rises == 1);
  CHECK(s.attractor.tally.contacts()[1].rises == 0);
}

TEST_CASE("rising of mass 1 exists between delta 0.2560063 and 0.2574557 only") {
  const std::vector<std::pair<double, int>> around = {{0.25600, 0}, {0.25601, 1}, {0.2565, 1},
                                                      {0.25745, 1}, {0.25746, 0}, {0.2576, 0}};
  for (const auto& [delta, rises] : around) {
    INFO("delta " << delta);
    const Settled s = settle("d1 = -0.3\nd2 = 0.1\ndelta = " + std::to_string(delta));
    CHECK(s.attractor.tally.contacts()[0].rises == rises);
  }
}

TEST_CASE("sticking of mass 1 in case (a) ends near delta 0.28475") {
  CHECK(settle("delta = 0.2847").attractor.tally.contacts()[0].sticks == 1);
  CHECK(settle("delta = 0.2848").attractor.tally.contacts()[0].sticks == 0);
}

TEST_CASE("period doublings of cases (a) and (b) lie where the reference says") {
  const auto period = [](const std::string& parameters) {
    const auto system = make_system("name = 'two_dof_stops'\n" + parameters);
    AttractorOptions options;
    options.transient = 2000;
    const Attractor a = find_attractor(PoincareMap(*system, Section{}), state_at({0, 0, 0, 0}), options);
    return a.kind == AttractorClass::periodic ? a.orbit.period : 0;
  };
  // delta = 1.414386051256 (a); a period-2 bubble from 0.798367710816 to 0.860001522699 (b)
  CHECK(period("delta = 1.4142") == 1);
  CHECK(period("delta = 1.4146") == 2);
  CHECK(period("d1 = -0.3\nd2 = 0.1\ndelta = 0.7982") == 1);
  CHECK(period("d1 = -0.3\nd2 = 0.1\ndelta = 0.7985") == 2);
  CHECK(period("d1 = -0.3\nd2 = 0.1\ndelta = 0.8599") == 2);
  CHECK(period("d1 = -0.3\nd2 = 0.1\ndelta = 0.8601") == 1);
}
