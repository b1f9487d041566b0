/// Typed systems that are not linear, with compliant contacts and dry friction: derivatives through every
/// kind of event against differences, energy, and what the rules say at rest.
#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "core/contact/friction_mode.hpp"
#include "tests/support.hpp"
#include "tests/typed_runs.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// A Duffing oscillator, its contacts and frictions left open.
std::string duffing(const std::string& laws) {
  return "name = 'equations'\n"
         "parameters = { c = 0.1, b = 0.3, F = 1.2, w = 0.9, s = 0.4, k = 20, d = 0.6, P = 0.3, f = 0.2, g = "
         "0.1 }\n"
         "coordinates = ['x', 'y']\n"
         "mass = [['1 + 0.1*y^2', 0.2], [0.2, 0.8]]\n"
         "force = { x = \"F*cos(w*t) - c*x' - x - b*x^3\", y = \"-0.7*y - 0.1*y' - 0.3*(y - x)^3\" }\n"
         "period = '2*pi/w'\n" +
         laws;
}

struct Example {
  const char* laws;
  std::vector<EventKind> through;
};

Eigen::VectorXd end_of(const Model& model, const std::vector<double>& values,
                       const std::vector<double>& start, double time, Log* log = nullptr) {
  HybridState state = state_at(start);
  REQUIRE(model.system(values, {})->advance(state, for_time(time), log) == Outcome::ok);
  return state.x;
}

}  // namespace

TEST_CASE("typed laws: derivatives by states and parameters agree with differences", "[equations]") {
  using enum EventKind;
  const std::vector<Example> examples = {
      {"contact = [{ gap = 's - x - 0.1*y^2', stiffness = 'k', damping = 'd' }]",
       {contact_begin, contact_end}},
      {"contact = [{ gap = 's - x', stiffness = 'k', damping = 'd', release = 'gap' }]",
       {contact_begin, contact_end}},
      {"contact = [{ gap = 's - x', stiffness = 'k', damping = 'd', preload = 'P' }]",
       {contact_begin, contact_end}},
      {"contact = [{ gap = 's - x', normal_force = \"k*depth^1.5*(1 + d*depth')\" }]",
       {contact_begin, contact_end}},
      {"contact = [{ gap = 's - x', normal_force = 'k*depth + 30*depth^3' }]", {contact_begin, contact_end}},
      {"contact = [{ gap = 's - x', normal_force = \"k*depth^2.2*(1 + 0.1*cos(w*t)) + d*depth'*depth\" }]",
       {contact_begin, contact_end}},
      {"contact = [{ gap = 's - x', normal_force = \"k*depth^1.5 + d*depth'\", release = 'gap' }]",
       {contact_begin, contact_end}},
      {"contact = [{ gap = 's - x', normal_force = \"k*depth^1.5 + d*depth'\", release = 'gap', mu = "
       "'f', slip = \"y' + 0.2*x'\" }]",
       {contact_begin, contact_end}},
      {"contact = [{ gap = 's - x', stiffness = 'k', damping = 'd', mu = 'f', slip = \"y' + 0.2*x'\" }]",
       {contact_begin, contact_end}},
      {"contact = [{ gap = 's - x', normal_force = 'k*depth^1.5', mu = '3*f', static = '4*f', slip = \"y' + "
       "0.2*x'\" }]",
       {contact_begin, slip_to_stick}},
      {"friction = [{ slip = \"x'\", amplitude = 'f*(1 + 0.3*sin(w*t))' }]", {slip_reversal}},
      {"friction = [{ slip = \"y'\", amplitude = '2*f', static = '2*f + g' }]",
       {slip_to_stick, stick_to_slip}},
      {"friction = [{ slip = \"y' - g\", amplitude = 'f*(1 + y^2)' }]", {slip_to_stick, stick_to_slip}},
      {"contact = [{ gap = 's - x', restitution = 0.6, mu = '2*f', slip = \"y' + 0.2*x'\" }]",
       {impact, slip_to_stick}},
      {"contact = [{ gap = '0.2 - x - 0.1*y^2', restitution = 0.3, mu = 'f', static = '1.5*f', slip = \"y' - "
       "g*cos(w*t)\" }]",
       {impact, chatter_complete, stick, release}},
      {"contact = [{ gap = 's - x', restitution = 0.7 }]\nfriction = [{ slip = \"y' - 0.5*x'\", amplitude = "
       "'f' }]",
       {impact, slip_to_stick}},
      {"contact = [{ gap = '0.2 - x', restitution = 0.3 }]\nfriction = [{ slip = \"x' - 2\", amplitude = 'f' "
       "}]",
       {impact, chatter_complete, stick, release}},
      {"contact = [{ gap = '0.2 - x + 0.3*cos(w*t)', restitution = 0.3 }]\nfriction = [{ slip = \"x'\", "
       "amplitude = 'f' }]",
       {impact, chatter_complete, stick, slip_reversal, release}},
  };
  const std::vector<double> start = {0.1, 0.8, 0.2, -0.4};
  for (const Example& e : examples) {
    CAPTURE(e.laws);
    const auto model = make_model(duffing(e.laws));
    const std::vector<double> values = model->values();
    constexpr double time = 14;
    Log log;
    end_of(*model, values, start, time, &log);
    for (const EventKind kind : e.through) {
      CAPTURE(static_cast<int>(kind));
      CHECK(!log.of(kind).empty());
    }
    const Eigen::Index n = 4, m = static_cast<Eigen::Index>(values.size());
    Tangent tangent{Eigen::MatrixXd::Zero(n, n + m), Eigen::RowVectorXd::Zero(n + m),
                    Eigen::MatrixXd::Zero(m, n + m)};
    tangent.state.leftCols(n).setIdentity();
    tangent.parameter.rightCols(m).setIdentity();
    HybridState state = state_at(start);
    REQUIRE(model->system(values, {})->advance(state, for_time(time), tangent) == Outcome::ok);
    const double size = tangent.state.cwiseAbs().maxCoeff();
    for (Eigen::Index k = 0; k < n + m; ++k) {
      const auto moved = [&](double by) {
        std::vector<double> from = start, at = values;
        (k < n ? from : at)[static_cast<std::size_t>(k < n ? k : k - n)] += by;
        return end_of(*model, at, from, time);
      };
      constexpr double h = 1e-5;
      const Eigen::VectorXd difference =
          (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
      CAPTURE(k, difference.transpose(), tangent.state.col(k).transpose());
      CHECK((difference - tangent.state.col(k)).cwiseAbs().maxCoeff() <= 1e-7 * (1 + size));
    }
  }
}

/// Hertz without damping loses nothing; with Hunt and Crossley's it loses at every contact.
TEST_CASE("typed laws: a ball on an elastic ground keeps its energy, or loses what the damper takes",
          "[equations]") {
  const std::string ball =
      "name = 'equations'\nparameters = { k = 1000, c = 0 }\ncoordinates = ['y']\nforce = { y = -1 }\n"
      "fastest_rate = 1\ncontact = [{ gap = 'y', normal_force = \"k*depth^1.5*(1 + c*depth')\" }]\n";
  const auto energy = [](const Eigen::VectorXd& x) {
    return x(1) * x(1) / 2 + x(0) + (x(0) < 0 ? 400 * std::pow(-x(0), 2.5) : 0);
  };
  const auto model = make_model(ball);
  Log log;
  const Eigen::VectorXd x = end_of(*model, {1000, 0}, {1, 0}, 100, &log);
  REQUIRE(log.of(EventKind::contact_end).size() > 30);
  CHECK(energy(x) == Approx(1).epsilon(1e-12));
  Log damped;
  end_of(*model, {1000, 0.2}, {1, 0}, 12, &damped);
  const auto begins = damped.of(EventKind::contact_begin);
  REQUIRE(begins.size() > 4);
  for (std::size_t k = 1; k < begins.size(); ++k) CHECK(begins[k].speed < 0.97 * begins[k - 1].speed);
}

/// A ball that is put down stays where weight and force are in balance, also from just at the ground.
TEST_CASE("typed laws: at rest on an elastic ground, and a start at its surface", "[equations]") {
  const std::string ball =
      "name = 'equations'\ncoordinates = ['x', 'y']\nforce = { x = '0.1*(1 - x)', y = -1 }\nfastest_rate = "
      "1\n"
      "contact = [{ gap = 'y', normal_force = \"1000*depth^1.5\", mu = 0.3, slip = \"x'\" }]\n";
  const double depth = std::pow(1e-3, 2.0 / 3);
  const auto system = make_system(ball);
  HybridState state = state_at({0, 0, -depth, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(20), &log) == Outcome::ok);
  CHECK(std::abs(state.x(2) + depth) < 1e-13);
  CHECK(state.x(0) == 0);  // it sticks: 0.1 < 0.3
  CHECK(log.of(EventKind::slip_to_stick).size() == 1);
  CHECK(system->sticks(state, 0));
  CHECK(system->in_contact(state, 0));
  HybridState surface = state_at({0, 0, 0, 0});
  REQUIRE(system->advance(surface, for_time(0.4), nullptr) == Outcome::ok);
  CHECK(std::abs(surface.x(3) * surface.x(3) / 2 + surface.x(2) + 400 * std::pow(-surface.x(2), 2.5)) <
        1e-12);
}

/// Just before the gap closes the rest of a force without power series there is done at once, with that of
/// its friction, whether this slides or sticks: from then on neither acts.
TEST_CASE("typed laws: friction ends with a force that parts before its contact does", "[equations]") {
  const ModeLayout layout{1, 1, 1};
  for (const double speed : {3.0, 0.01}) {
    CAPTURE(speed);
    const auto system = make_system(
        "name = 'equations'\ncoordinates = ['x', 'y']\nforce = { x = 0, y = 0 }\nfastest_rate = 1\n"
        "contact = [{ gap = 'y', normal_force = '1000*depth^1.5', mu = 0.3, slip = \"x'\" }]\n");
    const std::vector<double> start = {0, speed, 0.1, -1};
    HybridState state = state_at(start);
    Log log;
    REQUIRE(system->advance(state, for_time(1), &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::contact_end).size() == 1);
    const double end = log.of(EventKind::contact_end).front().time;
    CHECK(state.x(3) == Approx(1).epsilon(1e-13));
    CHECK(state.x(1) == Approx(speed > 1 ? speed - 0.6 : 0).margin(1e-12));
    CHECK(log.of(EventKind::slip_to_stick).size() == (speed > 1 ? 0 : 1));
    const auto ends = log.of(EventKind::stick_to_slip);
    REQUIRE(ends.size() == (speed > 1 ? 0 : 1));
    if (!ends.empty()) CHECK(ends.front().time == Approx(end).margin(1e-5).epsilon(0));
    CHECK(layout.sliding(state.mode, 0) == Sliding::absent);
    int parting = 0, engaged = 0;
    for (double before = 1e-3; before > 1e-9; before /= 2) {
      state = state_at(start);
      REQUIRE(system->advance(state, for_time(end - before), nullptr) == Outcome::ok);
      REQUIRE(system->advance(state, for_time(before / 4), nullptr) == Outcome::ok);
      CAPTURE(before);
      const Spring spring = layout.spring(state.mode, 0);
      parting += spring == Spring::parting;
      engaged += spring == Spring::engaged;
      const Sliding acts = speed > 1 ? Sliding::forward : Sliding::stuck;
      CHECK(layout.sliding(state.mode, 0) == (spring == Spring::engaged ? acts : Sliding::absent));
      CHECK(system->in_contact(state, 0));
    }
    CHECK(parting > 3);
    CHECK(engaged > 3);
  }
}

/// Friction against what moves past is a force that lasts, also while the body chatters against a stop: with
/// it and with the force itself the motions are the same, event by event.
TEST_CASE("typed laws: friction against a belt does not turn while a body chatters", "[equations]") {
  const std::string gap = GENERATE("0.4 - x", "0.4 - x + 0.05*x^2", "0.4 - x + 0.3*sin(0.3*t)");
  CAPTURE(gap);
  const auto motion = [&](const std::string& force, const std::string& friction) {
    const auto system = make_system(
        "name = 'equations'\ncoordinates = ['x']\nparameters = { f = 0.15 }\n"
        "force = { x = \"1.3*cos(0.3*t) - 0.06*x' - x - 0.2*x^3 + " +
        force +
        "\" }\nperiod = '2*pi/0.3'\n"
        "contact = [{ gap = '" +
        gap + "', restitution = 0.4 }]\n" + friction);
    return run(*system, {0, 0}, 60);
  };
  const Run belt = motion("0", "friction = [{ slip = \"x' - 5\", amplitude = 'f' }]\n");
  const Run force = motion("f", "");
  CHECK(force.log.of(EventKind::chatter_complete).size() > 2);
  check_alike(belt, force, 1e-12);
}

/// A body pressed by P onto a wall at A sin t, with friction f of the ground: the wall carries
/// P ± f − A sin t, + as it rises. Where it turns at its highest, the body stays on it, falls behind it, or
/// stays where it is.
TEST_CASE("typed laws: friction where a body on a moving wall turns with it", "[equations]") {
  const double A = 0.6, f = 0.4;
  const double P = GENERATE(1.3, 0.9, 0.3);
  CAPTURE(P);
  const auto system = make_system(
      "name = 'equations'\ncoordinates = ['x']\nparameters = { A = 0.6, f = 0.4, P = " + std::to_string(P) +
      " }\nforce = { x = '-P' }\nperiod = '2*pi'\ncontact = [{ gap = 'x - A*sin(t)', restitution = 0 }]\n"
      "friction = [{ slip = \"x'\", amplitude = 'f' }]\n");
  const double top = std::acos(-1.0) / 2, begin = 0.5;
  HybridState state;
  state.x = Eigen::Vector2d(A * std::sin(begin), A * std::cos(begin));
  state.time = begin;
  Log log;
  const double on = 0.6;  // behind the top
  REQUIRE(system->advance(state, for_time(top + on - begin), &log) == Outcome::ok);
  const bool stays = P - f > A, sticks = P < f;
  const double height = stays ? A * std::cos(on) : sticks ? A : A - (P - f) * on * on / 2;
  CHECK(std::abs(state.x(0) - height) < 1e-13);
  CHECK(system->in_contact(state, 0) == stays);
  const EventKind turn = sticks ? EventKind::slip_to_stick : EventKind::slip_reversal;
  for (const EventKind kind : {turn, EventKind::release}) {
    const auto events = log.of(kind);
    REQUIRE(events.size() == (kind == EventKind::release && stays ? 0 : 1));
    for (const auto& event : events) CHECK(std::abs(event.time - top) < 1e-13);
  }
  if (stays) CHECK(system->contact_forces(state)(0) == Approx(P - f - A * std::cos(on)).epsilon(1e-12));
}

namespace {

/// An oscillator with damping 0.1 that a force drives against a wall, of this many contacts in one place.
std::string against_wall(double w, const std::string& law, const std::string& release, int contacts = 1) {
  std::string list;
  for (int k = 0; k < contacts; ++k)
    list += "{ gap = '0.5 + z/3.1', normal_force = \"" + law + "\", release = '" + release + "' }, ";
  return "name = 'equations'\nparameters = { w = " + fmt_double(w) +
         " }\ncoordinates = ['z']\nforce = { z = \"-3.1*cos(w*t) - 0.1*z' - z\" }\nperiod = "
         "'2*pi/w'\ncontact = [" +
         list + "]\n";
}

/// Time that a motion has spent in contact.
double time_in_contact(const Log& log, double end) {
  double sum = 0;
  for (const auto& e : log.of(EventKind::contact_begin)) sum += end - e.time;
  for (const auto& e : log.of(EventKind::contact_end)) sum -= end - e.time;
  return sum;
}

}  // namespace

/// By Liouville the derivatives by the start have the determinant exp(−∫ damping dt), whatever the law's
/// elastic part. So it is only where the damper, which still acts at depth 0, is not lost as a contact ends
/// by its gap, however that is rounded.
TEST_CASE("typed laws: a damper that acts until depth is 0 takes its part of a volume of states",
          "[equations]") {
  constexpr double damping = 0.3, time = 60;
  std::size_t ended = 0;
  for (const std::string elastic : {"5*depth^1.5", "5*sqrt(depth)", "5*depth^2.5 + depth", "5*depth^2"}) {
    for (const double w : {0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.65, 1.8}) {
      CAPTURE(elastic, w);
      const Run found =
          typed(against_wall(w, "3.1^2*(" + elastic + " + 0.3*depth')", "gap"), {0.1, 0.3}, time);
      REQUIRE(found.outcome == Outcome::ok);
      ended += found.log.of(EventKind::contact_end).size();
      const double lost = 0.1 * time + damping * time_in_contact(found.log, time);
      CHECK(found.slopes.determinant() * std::exp(lost) == Approx(1).epsilon(1e-9));
    }
  }
  CHECK(ended > 250);
}

/// Two contacts in one place, each with half the force, are one.
TEST_CASE("typed laws: contacts that begin and end together", "[equations]") {
  for (const std::string half : {"24*depth^1.5*(1 + 0.3*depth')", "24*depth^1.5 + 0.8*depth'"}) {
    for (const std::string release : {"force", "gap"}) {
      for (const double w : {0.8, 1.1, 1.3, 1.65}) {
        CAPTURE(half, release, w);
        constexpr double time = 40;
        const Run one = typed(against_wall(w, "2*(" + half + ")", release), {0.1, 0.3}, time),
                  two = typed(against_wall(w, half, release, 2), {0.1, 0.3}, time);
        REQUIRE(one.outcome == Outcome::ok);
        REQUIRE(two.outcome == Outcome::ok);
        CHECK(two.log.of(EventKind::contact_end).size() == 2 * one.log.of(EventKind::contact_end).size());
        CHECK((one.end.x - two.end.x).cwiseAbs().maxCoeff() < 1e-9);
        CHECK((one.slopes - two.slopes).cwiseAbs().maxCoeff() < 1e-7);
      }
    }
  }
}

TEST_CASE("typed laws: a force is 0 at depth 0 wherever its factors stand", "[equations]") {
  const auto run = [](const std::string& law) {
    const auto system = make_system(
        "name = 'equations'\nparameters = { K = 10, L = 3.1 }\ncoordinates = ['x']\n"
        "force = { x = \"cos(t) - 0.1*x' - x\" }\nperiod = '2*pi'\n"
        "contact = [{ gap = '0.5 - x', normal_force = '" +
        law + "' }]");
    HybridState state = state_at({0, 0});
    REQUIRE(system->advance(state, for_time(10), nullptr) == Outcome::ok);
    return state.x;
  };
  const Eigen::VectorXd plain = run("K*L*(exp(3*depth) - 1)");
  for (const char* law :
       {"L*(K*(exp(3*depth) - 1))", "2*L*(0.5*K*(exp(3*depth) - 1))", "L*(K*(-1 + exp(3*depth)))",
        "K*(1 - exp(3*depth))*(-L)", "(K*(2*exp(3*depth) - 2))/(1/L)/2"}) {
    INFO(law);
    CHECK((run(law) - plain).cwiseAbs().maxCoeff() < 1e-11);
  }
}
