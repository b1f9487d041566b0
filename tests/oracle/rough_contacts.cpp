/// Typed systems with friction on rigid contacts: against the oblique pendulum in C++, against closed forms,
/// and their derivatives against differences.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Sets parameters of a model by name.
std::vector<double> with(const Model& model, const std::vector<std::pair<std::string, double>>& settings) {
  std::vector<double> values = model.values();
  for (const auto& [name, value] : settings) {
    const int place = model.parameter_index(name);
    REQUIRE(place >= 0);
    values[static_cast<std::size_t>(place)] = value;
  }
  return values;
}

/// The oblique pendulum in equations.
const char* pendulum =
    "name = 'equations'\n"
    "parameters = { eta = 1, f1 = 0.3, f2 = 0, psi = 0, zeta1 = 0.05, zeta2 = 0.05, kappa = 1, mass_ratio = "
    "0.6, "
    "clearance = 0.5, mu = 0.5, r = 0.6 }\n"
    "coordinates = ['theta', 'x']\n"
    "mass = { x = '1/mass_ratio' }\n"
    "force = { theta = \"f1*cos(eta*t) - 2*zeta1*theta' - theta\", x = \"(f2*cos(eta*t + psi) - "
    "2*zeta2*kappa*x' - "
    "kappa^2*x)/mass_ratio\" }\n"
    "period = '2*pi/eta'\n"
    "contact = [{ name = 'block', gap = 'clearance + x - sin(theta)', restitution = 'r', mu = 'mu', slip = "
    "\"sin(theta)*theta'\" }]\n";

struct Motion {
  Outcome outcome;
  Eigen::VectorXd x;
  Log log;
  Eigen::MatrixXd tangent;
};

Motion moved(const Model& model, const std::vector<double>& values, const std::vector<double>& start,
             double time) {
  Motion m;
  HybridState state = state_at(start);
  m.outcome = model.system(values, {})->advance(state, for_time(time), &m.log);
  m.x = state.x;
  const Eigen::Index n = state.x.size(), p = static_cast<Eigen::Index>(values.size());
  Tangent tangent{Eigen::MatrixXd::Identity(n, n + p), Eigen::RowVectorXd::Zero(n + p),
                  Eigen::MatrixXd::Zero(p, n + p)};
  tangent.parameter.rightCols(p).setIdentity();
  HybridState again = state_at(start);
  model.system(values, {})->advance(again, for_time(time), tangent);
  m.tangent = tangent.state;
  return m;
}

}  // namespace

TEST_CASE("rough contacts: the oblique pendulum in equations", "[equations]") {
  struct Run {
    std::vector<std::pair<std::string, double>> settings;
    std::vector<double> start;
    double time;
    std::vector<EventKind> through;
  };
  using enum EventKind;
  const std::vector<Run> runs = {
      {{{"mu", 0.4}, {"clearance", 0.4}, {"f1", 0.4}, {"f2", 0.1}, {"psi", 0.3}},
       {0, 0.9, 0, -0.1},
       15,
       {impact}},
      {{{"eta", 0.5}, {"f1", 0.6}, {"mu", 0.3}, {"clearance", 0.2}}, {0, 0, 0.6, 0}, 40, {slip_reversal}},
      {{{"eta", 0.8}, {"f1", 0.6}, {"mu", 3}, {"clearance", 0.2}}, {0, 0, 0.6, 0}, 40, {slip_to_stick}},
      {{{"eta", 0.5}, {"f1", 0.6}, {"mu", 0.3}, {"clearance", -0.5}}, {0, 0, 0.6, 0}, 40, {stick, release}},
      {{{"eta", 0.2}, {"f1", 0.6}, {"mu", 0.3}, {"clearance", 0.2}},
       {0, 0, 0.6, 0},
       100,
       {stick, slip_to_stick, stick_to_slip, release}},
      {{{"mu", 0}, {"clearance", 0.4}, {"f1", 0.3}, {"f2", 0.1}, {"psi", 0.3}},
       {0, 0.6, 0, -0.1},
       15,
       {impact}},
      {{{"mu", 0}, {"eta", 0.5}, {"f1", 0.6}, {"clearance", -0.5}}, {0, 0, 0.6, 0}, 40, {stick, release}},
      {{{"mu", 0}, {"eta", 0.2}, {"f1", 0.6}, {"clearance", 0.2}}, {0, 0, 0.6, 0}, 100, {stick, release}},
  };
  const auto built_in = make_model("name = 'oblique_pendulum'");
  const auto typed = make_model(pendulum);
  for (const Run& run : runs) {
    CAPTURE(&run - runs.data());
    const Motion a = moved(*built_in, with(*built_in, run.settings), run.start, run.time);
    const Motion b = moved(*typed, with(*typed, run.settings), run.start, run.time);
    CHECK(a.outcome == Outcome::ok);
    CHECK(b.outcome == Outcome::ok);
    for (const EventKind kind : {impact, chatter_complete, stick, release}) {
      const auto in_a = a.log.of(kind), in_b = b.log.of(kind);
      CAPTURE(static_cast<int>(kind));
      REQUIRE(in_a.size() == in_b.size());
      for (std::size_t k = 0; k < in_a.size(); ++k) {
        CHECK(std::abs(in_a[k].time - in_b[k].time) < 1e-10);
        if (kind == impact) CHECK(std::abs(in_a[k].speed - in_b[k].speed) < 1e-10);
      }
    }
    for (const EventKind kind : run.through) CHECK(!b.log.of(kind).empty());
    CHECK((a.x - b.x).cwiseAbs().maxCoeff() < 1e-10);
    CAPTURE((a.tangent - b.tangent).cwiseAbs().colwise().maxCoeff(),
            a.tangent.cwiseAbs().colwise().maxCoeff());
    CHECK((a.tangent - b.tangent).cwiseAbs().maxCoeff() < 1e-10 * (1 + a.tangent.cwiseAbs().maxCoeff()));
  }
}

namespace {

/// A body over a rough ground, of weight 1 and mass 1.
std::string body(const std::string& more) {
  return "name = 'equations'\nparameters = { mu = 0.3, r = 0.5, F = 0 }\ncoordinates = ['x', 'y']\n"
         "force = { x = 'F', y = -1 }\nfastest_rate = 1\n"
         "contact = [{ gap = 'y', restitution = 'r', mu = 'mu', slip = \"x'\" }]\n" +
         more;
}

}  // namespace

/// x' falls at the rate mu until it rests, and goes on only under more than mu.
TEST_CASE("rough contacts: a block slides to rest and stays", "[equations]") {
  const auto model = make_model(body(""));
  const Motion rests = moved(*model, model->values(), {0, 1, 0, 0}, 10);
  REQUIRE(rests.outcome == Outcome::ok);
  CHECK(rests.x(0) == Approx(1 / 0.6).epsilon(1e-14));
  CHECK(rests.x.tail(3).cwiseAbs().maxCoeff() == 0);
  REQUIRE(rests.log.of(EventKind::slip_to_stick).size() == 1);
  CHECK(rests.log.of(EventKind::slip_to_stick).front().time == Approx(1 / 0.3).epsilon(1e-14));
  CHECK(rests.tangent(0, 1) == Approx(1 / 0.3).epsilon(1e-13));          // of the way by the speed
  CHECK(rests.tangent(0, 4) == Approx(-1 / (2 * 0.09)).epsilon(1e-13));  // by mu
  const Motion held = moved(*model, with(*model, {{"F", 0.299}}), {0, 0, 0, 0}, 10);
  CHECK(held.x.cwiseAbs().maxCoeff() == 0);
  const Motion goes = moved(*model, with(*model, {{"F", -0.4}}), {0, 0, 0, 0}, 10);
  CHECK(goes.x(0) == Approx(-5).epsilon(1e-14));
}

/// Impacts take mu (1 + r) times the normal speed off the slip while that lasts; then it sticks.
TEST_CASE("rough contacts: a ball that bounces along the ground", "[equations]") {
  const auto model = make_model(body(""));
  Motion m = moved(*model, model->values(), {0, 1, 1, 0}, 12);
  REQUIRE(m.outcome == Outcome::ok);
  double fall = std::sqrt(2.0), time = fall, way = 0, slip = 1;
  way = slip * time;
  const auto impacts = m.log.of(EventKind::impact);
  REQUIRE(impacts.size() > 6);
  for (std::size_t k = 0; k < impacts.size(); ++k) {
    slip = std::max(0.0, slip - 0.3 * 1.5 * fall);
    CAPTURE(k);
    CHECK(impacts[k].time == Approx(time).epsilon(1e-13));
    CHECK(impacts[k].after[1] == Approx(slip).margin(1e-13));
    fall /= 2;
    time += 2 * fall;
    way += slip * 2 * fall;
  }
  const auto ends = m.log.of(EventKind::stick);
  REQUIRE(ends.size() == 1);
  CHECK(ends.front().time == Approx(3 * std::sqrt(2.0)).epsilon(1e-12));
  CHECK(m.x(0) == Approx(way).epsilon(1e-12));
  CHECK(m.log.of(EventKind::slip_to_stick).size() >= 1);
}

/// A ring that spins: friction takes spin and gives speed until it rolls, 1/2 of the spin's; in contact it
/// goes on so until then.
TEST_CASE("rough contacts: a spinning ring begins to roll", "[equations]") {
  const std::string ring =
      "name = 'equations'\ncoordinates = ['x', 'y', 'phi']\nforce = { x = 0, y = -1, phi = 0 }\nfastest_rate "
      "= 1\n"
      "parameters = { mu = 0.2 }\n"
      "contact = [{ gap = 'y', restitution = 0.5, mu = 'mu', slip = \"x' - phi'\" }]\n";
  const auto model = make_model(ring);
  const Motion m = moved(*model, model->values(), {0, 0, 0, 0, 0, 3}, 20);
  REQUIRE(m.outcome == Outcome::ok);
  CHECK(m.x(1) == Approx(1.5).epsilon(1e-13));
  CHECK(m.x(5) == Approx(1.5).epsilon(1e-13));
  const double rolls = 1.5 / 0.2;
  CHECK(m.log.of(EventKind::slip_to_stick).front().time == Approx(rolls).epsilon(1e-13));
  CHECK(m.x(0) == Approx(0.1 * rolls * rolls + 1.5 * (20 - rolls)).epsilon(1e-13));
  const Motion thrown = moved(*model, model->values(), {0, 0, 0.5, -1, 0, 3}, 1.0);
  const auto impacts = thrown.log.of(EventKind::impact);
  REQUIRE(!impacts.empty());
  CHECK(impacts.front().after[1] == Approx(0.2 * 1.5 * std::sqrt(2.0)).epsilon(1e-13));
  CHECK(impacts.front().after[5] == Approx(3 - 0.2 * 1.5 * std::sqrt(2.0)).epsilon(1e-13));
}

/// A plank on two feet: both carry, both rub; together as one body. Pushed at its top it tips over one of
/// them.
TEST_CASE("rough contacts: two feet share the weight and the friction", "[equations]") {
  const std::string plank =
      "name = 'equations'\nparameters = { mu = 0.3, F = 0, h = 0.5 }\ncoordinates = ['x', 'y', 'a']\n"
      "mass = { a = 0.4 }\nforce = { x = 'F', y = -1, a = 'F*h' }\nfastest_rate = 1\n"
      "contact = [{ name = 'left', gap = 'y - h*cos(a) - sin(a) + h', restitution = 0, mu = 'mu', slip = "
      "\"x' - a'*(h*cos(a) + sin(a))\" }, { name = 'right', gap = 'y - h*cos(a) + sin(a) + h', restitution = "
      "0, mu = "
      "'mu', slip = \"x' - a'*(h*cos(a) - sin(a))\" }]\n";
  const auto model = make_model(plank);
  const Motion slides = moved(*model, model->values(), {0, 1, 0, 0, 0, 0}, 10);
  REQUIRE(slides.outcome == Outcome::ok);
  CHECK(slides.x(0) == Approx(1 / 0.6).epsilon(1e-12));
  CHECK(slides.x.tail(4).cwiseAbs().maxCoeff() < 1e-12);
  const Motion held = moved(*model, with(*model, {{"F", 0.29}}), {0, 0, 0, 0, 0, 0}, 5);
  REQUIRE(held.outcome == Outcome::ok);
  CHECK(held.x.cwiseAbs().maxCoeff() < 1e-12);
  const Motion pushed = moved(*model, with(*model, {{"F", 0.5}}), {0, 0, 0, 0, 0, 0}, 5);
  REQUIRE(pushed.outcome == Outcome::ok);
  CHECK(pushed.x(0) == Approx(0.5 * 0.2 * 25).epsilon(1e-12));
  const Motion tips =
      moved(*model, with(*model, {{"F", 0.5}, {"h", 3}, {"mu", 0.8}}), {0, 0, 0, 0, 0, 0}, 0.5);
  REQUIRE(tips.outcome == Outcome::ok);
  const double y = tips.x(2) + 3 - 3 * std::cos(tips.x(4)), lift = std::sin(tips.x(4));
  CHECK(std::abs(lift) > 0.02);
  CHECK(std::min(y - lift, y + lift) == Approx(0).margin(1e-13));
  CHECK(std::max(y - lift, y + lift) > 0.04);
}

/// A rod that slides end first over ground too rough for it: no force holds it, none lets it go.
TEST_CASE("rough contacts: where rigid bodies have no answer that is the outcome", "[equations]") {
  const std::string rod =
      "name = 'equations'\nparameters = { mu = 2 }\ncoordinates = ['x', 'y', 'a']\nmass = { a = '1/3' }\n"
      "force = { x = 0, y = -1, a = 0 }\nfastest_rate = 1\n"
      "contact = [{ gap = 'y - sin(a)', restitution = 0, mu = 'mu', slip = \"x' + a'*sin(a)\" }]\n";
  const auto model = make_model(rod);
  const double a = 1.0;
  // end to the left below, moving to the left: friction turns the rod into the ground
  const double mobility = 1 + 3 * std::cos(a) * std::cos(a), cross = -3 * std::cos(a) * std::sin(a);
  REQUIRE(mobility - 2 * std::abs(cross) < 0);
  int ends = 0;
  for (const double speed : {-1.0, 1.0}) {
    const Motion m = moved(*model, model->values(), {0, speed, std::sin(a), 0, a, 0}, 0.1);
    ends += m.outcome == Outcome::painleve;
  }
  CHECK(ends == 1);
}
