/// Compliant stops in the linear family against exact modal motions of an independent program, closed forms
/// and the limits of stiff and weak stops.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tests/dice.hpp"
#include "tests/oracle/independent/modal_stops.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;
using namespace graze::independent;

namespace {

constexpr double pi = std::numbers::pi;

LongVector vector_of(const Value& list, const char* key) {
  const std::vector<double> numbers = list.numbers(key);
  return Eigen::Map<const Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()))
      .cast<Long>();
}

LongMatrix matrix_of(const Value& table, const char* key, Eigen::Index n) {
  LongMatrix m = LongMatrix::Zero(n, n);
  if (const Value* rows = table.find(key)) {
    for (Eigen::Index i = 0; i < n; ++i)
      m.row(i) = vector_of(rows->array(key)[static_cast<std::size_t>(i)], key).transpose();
  }
  return m;
}

Long number_of(const Value& table, const char* key, double fallback) {
  const Value* value = table.find(key);
  return static_cast<Long>(value != nullptr ? value->number(key) : fallback);
}

/// The same system for the reference; all of its numbers are literal.
ModalSystem reference_of(const std::string& toml) {
  const Value table = settings(toml);
  ModalSystem s;
  const Eigen::Index n = static_cast<Eigen::Index>(table.at("mass").array("mass").size());
  s.mass = matrix_of(table, "mass", n);
  s.damping = matrix_of(table, "damping", n);
  s.stiffness = matrix_of(table, "stiffness", n);
  s.constant = LongVector::Zero(n);
  if (const Value* f = table.find("constant")) s.constant = vector_of(*f, "constant");
  if (const Value* forces = table.find("force")) {
    for (const Value& force : forces->array("force")) {
      s.frequency.push_back(number_of(table, "omega", 1) * number_of(force, "order", 1));
      const auto amplitude = [&](const char* key) {
        const Value* list = force.find(key);
        return list != nullptr ? vector_of(*list, key) : LongVector(LongVector::Zero(n));
      };
      s.cosine.push_back(amplitude("cosine"));
      s.sine.push_back(amplitude("sine"));
    }
  }
  for (const Value& stop : table.at("stop").array("stop")) {
    ModalStop m;
    m.normal = vector_of(stop.at("normal"), "normal");
    m.position = number_of(stop, "position", 0);
    m.stiffness = number_of(stop, "stiffness", 0);
    if (!(m.stiffness > 0)) m.restitution = number_of(stop, "restitution", 0.7);
    m.damping = number_of(stop, "damping", 0);
    m.preload = number_of(stop, "preload", 0);
    const Value* release = stop.find("release");
    m.release_by_gap = release != nullptr && release->text("release") == "gap";
    m.relaxing_plate = stop.find("plate") != nullptr;
    s.stops.push_back(m);
  }
  return s;
}

LongVector start_of(const std::vector<double>& x) {
  const Eigen::Index n = static_cast<Eigen::Index>(x.size()) / 2;
  LongVector y(2 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    y(i) = static_cast<Long>(x[static_cast<std::size_t>(2 * i)]);
    y(n + i) = static_cast<Long>(x[static_cast<std::size_t>(2 * i + 1)]);
  }
  return y;
}

/// Moves both and compares states and the times and kinds of all events. @return the number of events
std::size_t compare(const std::string& toml, const std::vector<double>& start, double duration,
                    double step = 2e-3) {
  const ModalSystem modal = reference_of(toml);
  const std::vector<ModalStop>& stops = modal.stops;
  ModalMotion reference(modal, start_of(start), 0, static_cast<Long>(step));
  reference.run(static_cast<Long>(duration));
  const auto system = make_system("name = 'linear_stops'\n" + toml);
  std::vector<double> with_plates = start;
  with_plates.resize(static_cast<std::size_t>(system->states()));
  HybridState state = state_at(with_plates);
  Log log;
  REQUIRE(system->advance(state, for_time(duration), &log) == Outcome::ok);
  const LongVector expected = reference.state();
  const Eigen::Index n = expected.size() / 2;
  double error = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    error = std::max(error, std::abs(state.x(2 * i) - static_cast<double>(expected(i))));
    error = std::max(error, std::abs(state.x(2 * i + 1) - static_cast<double>(expected(n + i))));
  }
  Eigen::Index plate = 2 * n;
  for (std::size_t k = 0; k < stops.size(); ++k) {
    if (!stops[k].relaxing_plate) continue;
    error = std::max(error, std::abs(state.x(plate++) - static_cast<double>(reference.plate(k))));
  }
  REQUIRE(plate == state.x.size());
  CHECK(error < 1e-10);
  std::vector<Log::Entry> events;
  for (const Log::Entry& e : log.entries) {
    if (e.kind == EventKind::impact || e.kind == EventKind::contact_begin || e.kind == EventKind::contact_end)
      events.push_back(e);
  }
  REQUIRE(log.of(EventKind::stick).size() == 0);
  REQUIRE(events.size() == reference.events().size());
  double late = 0;
  for (std::size_t k = 0; k < events.size(); ++k) {
    const ModalEvent& e = reference.events()[k];
    const EventKind kind = e.kind == ModalEvent::Kind::impact  ? EventKind::impact
                           : e.kind == ModalEvent::Kind::begin ? EventKind::contact_begin
                                                               : EventKind::contact_end;
    REQUIRE(events[k].kind == kind);
    REQUIRE(events[k].contact == static_cast<int>(e.stop));
    late = std::max(late, std::abs(events[k].time - static_cast<double>(e.time)));
  }
  CHECK(late < 1e-10);
  return events.size();
}

const std::string one_mass =
    "omega = 0.9\nmass = [[1]]\ndamping = [[0.05]]\nstiffness = [[1]]\n"
    "force = [{ cosine = [1] }]\n";
const std::string two_masses =
    "omega = 0.7\nmass = [[1, 0.1], [0.1, 2]]\ndamping = [[0.2, -0.1], [-0.1, 0.15]]\n"
    "stiffness = [[2, -1], [-1, 1.5]]\nforce = [{ cosine = [1, 0] }, { order = 2, sine = [0, 0.5] }]\n";

}  // namespace

TEST_CASE("compliant stop: bilinear oscillator against exact modal motion") {
  CHECK(compare(one_mass + "stop = [{ normal = [1], position = 0.2, stiffness = 9 }]", {0, 0}, 60) > 15);
}

TEST_CASE("compliant stop: zero clearance, from the boundary") {
  CHECK(compare(one_mass + "stop = [{ normal = [1], position = 0, stiffness = 9 }]", {0, 0.1}, 40) > 10);
}

TEST_CASE("compliant stop: soft stops on both sides against exact modal motion") {
  CHECK(compare(one_mass + "stop = [{ normal = [1], position = 0.3, stiffness = 29, damping = 0.2 }, "
                           "{ normal = [-1], position = 0.3, stiffness = 12, damping = 0.1 }]",
                {0.1, 0.2}, 60) > 30);
}

TEST_CASE("compliant stop: between masses against exact modal motion") {
  CHECK(compare(two_masses + "stop = [{ normal = [1, -1], position = 0.1, stiffness = 15, damping = 0.3 }]",
                {0, 0.1, 0, 0}, 60) > 10);
}

TEST_CASE("compliant stop: two at once, overlapping, against exact modal motion") {
  CHECK(compare(two_masses + "stop = [{ normal = [1, 0], position = 0.2, stiffness = 8, damping = 0.1 }, "
                             "{ normal = [1, 0], position = 0.35, stiffness = 40 }, "
                             "{ normal = [0, 1], position = 0.1, stiffness = 5, damping = 0.5 }]",
                {0, 0.1, 0, 0}, 60) > 20);
}

TEST_CASE("compliant stop: damped, release by force before the gap closes and release by gap") {
  for (const char* release : {"force", "gap"}) {
    CHECK(compare(one_mass +
                      "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 3, release = '" +
                      release + "' }]",
                  {0, 0}, 60) > 10);
  }
}

TEST_CASE("compliant stop: relaxing plates against exact modal motion") {
  // Slow and fast against the period; between masses, two at once, beside a rigid stop.
  for (const char* damping : {"0.5", "4", "40"}) {
    CHECK(compare(one_mass + "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = " + damping +
                      ", plate = 'relaxing' }]",
                  {0, 0}, 60) > 10);
  }
  CHECK(compare(two_masses +
                    "stop = [{ normal = [1, -1], position = 0.1, stiffness = 15, damping = 9, plate "
                    "= 'relaxing' }, { normal = [1, 0], position = 0.3, stiffness = 8, damping = 20, "
                    "plate = 'relaxing' }, { normal = [-1, 0], position = 0.5, restitution = 0.8 }]",
                {0, 0.1, 0, 0}, 40) > 20);
}

TEST_CASE("compliant stop: overdamped while engaged") {
  CHECK(compare(one_mass + "stop = [{ normal = [1], position = 0.1, stiffness = 3, damping = 9 }]", {0, 0.5},
                60) > 10);
}

TEST_CASE("compliant stop: preloaded, with and without damping") {
  for (const char* damping : {"0", "0.4"}) {
    CHECK(compare(one_mass +
                      "stop = [{ normal = [1], position = 0.2, stiffness = 20, preload = 0.8, damping = " +
                      damping + " }, { normal = [-1], position = 0.3, stiffness = 7, preload = 0.2 }]",
                  {0, 0}, 25) > 10);
  }
}

TEST_CASE("compliant and rigid stops mixed against exact modal motion") {
  CHECK(compare(two_masses + "stop = [{ normal = [1, 0], position = 0.2, stiffness = 8, damping = 0.4 }, "
                             "{ normal = [1, 0], position = 0.4, restitution = 0.8 }, "
                             "{ normal = [-1, 1], position = 0.3, restitution = 0.9 }]",
                {0, 0.1, 0, 0}, 25) > 10);
}

TEST_CASE("preloaded stop: rests on its abutment until the load passes zero or the preload") {
  // x'' + x = 0.4 ± 0.3 sin t at x = 0: the load is 1 where the body goes in, 0 where it leaves.
  for (const double sign : {1.0, -1.0}) {
    const std::string toml =
        "omega = 0.5\nmass = [[1]]\nstiffness = [[1]]\nconstant = [0.4]\nforce = [{ sine = [" +
        fmt_double(sign * 0.7) +
        "] }]\nstop = [{ normal = [1], position = 0, stiffness = 4, preload = 0.8, damping "
        "= 0.3 }]";
    const auto system = make_system("name = 'linear_stops'\n" + toml);
    HybridState state = state_at({0, 0});
    Log log;
    const double parting = 2 * std::asin(0.4 / 0.7);
    const double end = parting + 0.8;
    REQUIRE(system->advance(state, for_time(end), &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::stick).size() == 1);
    REQUIRE(log.of(EventKind::release).size() == 1);
    CHECK(log.of(EventKind::release).front().time == Approx(parting).margin(1e-12));
    REQUIRE(log.of(EventKind::contact_begin).size() == (sign > 0 ? 1 : 0));
    ModalSystem reference = reference_of(toml);
    if (sign < 0) reference.stops.clear();
    LongVector rest(2);
    rest << (sign > 0 ? 1e-19L : 0), 0;  // inside
    ModalMotion motion(reference, rest, static_cast<Long>(parting), 1e-3L);
    motion.run(static_cast<Long>(end));
    CHECK(state.x(0) == Approx(static_cast<double>(motion.state()(0))).margin(1e-12));
    CHECK(state.x(1) == Approx(static_cast<double>(motion.state()(1))).margin(1e-12));
    CHECK(std::abs(state.x(0)) > 1e-3);
  }
}

TEST_CASE("compliant stop in the stiff limit: a rigid stop, first order in 1/omega") {
  // r(zeta) of a stop that can only push, damping ratio zeta.
  const double zeta = 0.2;
  const double root = std::sqrt(1 - zeta * zeta);
  const double r = std::exp(-zeta / root * (pi - std::atan2(2 * zeta * root, 1 - 2 * zeta * zeta)));
  const double r_gap = std::exp(-pi * zeta / root);
  for (const auto& [release, restitution] : {std::pair("force", r), std::pair("gap", r_gap)}) {
    const auto end_with = [&](const std::string& stop) {
      const auto system = make_system("name = 'linear_stops'\n" + one_mass +
                                      "stop = [{ normal = [1], position = 0.2, " + stop + " }]");
      HybridState state = state_at({0, 0});
      REQUIRE(system->advance(state, for_time(5), nullptr) == Outcome::ok);
      return state.x;
    };
    const Eigen::VectorXd rigid = end_with("restitution = " + fmt_double(restitution));
    std::vector<double> difference;
    for (const double k : {1e6, 1e8, 1e10}) {
      const Eigen::VectorXd soft = end_with("stiffness = " + fmt_double(k) + ", release = '" + release +
                                            "', damping = " + fmt_double(2 * zeta * std::sqrt(k)));
      difference.push_back((soft - rigid).cwiseAbs().maxCoeff());
    }
    CHECK(difference[1] / difference[0] == Approx(0.1).margin(0.01));
    CHECK(difference[2] / difference[1] == Approx(0.1).margin(0.01));
    CHECK(difference[2] < 1e-4);
  }
}

TEST_CASE(
    "compliant stop beside a body that chatters and sticks at a rigid stop: the rigid one as stiff limit") {
  const double zeta = 0.3;
  const double root = std::sqrt(1 - zeta * zeta);
  const double r = std::exp(-zeta / root * (pi - std::atan2(2 * zeta * root, 1 - 2 * zeta * zeta)));
  const auto end_with = [&](const std::string& wall, bool sticks) {
    const auto system = make_system(
        "name = 'linear_stops'\nomega = 0.4\nmass = [[1, 0], [0, 1]]\ndamping = [[0.2, -0.1], [-0.1, 0.1]]\n"
        "stiffness = [[2, -1], [-1, 1]]\nforce = [{ sine = [2, 0] }]\nstop = [{ normal = [1, 0], position = "
        "0.2, " +
        wall + " }, { normal = [-1, 1], position = 0.1, stiffness = 12, damping = 1.5 }]");
    HybridState state = state_at({0, 0, 0, 0});
    Log log;
    REQUIRE(system->advance(state, for_time(10), &log) == Outcome::ok);
    CHECK(log.of(EventKind::contact_begin, 1).size() > 0);
    CHECK(log.of(EventKind::stick).size() == (sticks ? 1 : 0));
    CHECK(log.of(EventKind::release).size() == (sticks ? 1 : 0));
    return state.x;
  };
  const Eigen::VectorXd rigid = end_with("restitution = " + fmt_double(r), true);
  std::vector<double> difference;
  for (const double k : {1e6, 1e8, 1e10}) {
    const Eigen::VectorXd soft = end_with(
        "stiffness = " + fmt_double(k) + ", damping = " + fmt_double(2 * zeta * std::sqrt(k)), false);
    difference.push_back((soft - rigid).cwiseAbs().maxCoeff());
  }
  CHECK(difference[1] < 0.15 * difference[0]);
  CHECK(difference[2] < 0.15 * difference[1]);
  CHECK(difference[2] < 1e-4);
}

TEST_CASE("compliant stop in the weak limit: none") {
  const auto end_with = [&](const std::string& stop) {
    const auto system = make_system("name = 'linear_stops'\n" + one_mass + stop);
    HybridState state = state_at({0, 0});
    REQUIRE(system->advance(state, for_time(20), nullptr) == Outcome::ok);
    return state.x;
  };
  const Eigen::VectorXd none = end_with("");
  const Eigen::VectorXd weak = end_with("stop = [{ normal = [1], position = 0.2, stiffness = 1e-8 }]");
  const Eigen::VectorXd weaker = end_with("stop = [{ normal = [1], position = 0.2, stiffness = 1e-9 }]");
  CHECK((weak - none).cwiseAbs().maxCoeff() < 1e-6);
  CHECK((weaker - none).cwiseAbs().maxCoeff() < 0.11 * (weak - none).cwiseAbs().maxCoeff());
}

TEST_CASE("compliant stops: random systems against exact modal motion") {
  Dice dice(4711);
  std::size_t events = 0;
  for (int k = 0; k < 150; ++k) {
    const Eigen::Index n = 1 + k % 3;
    std::string toml = forced_chain(dice, n) + "stop = [";
    const int stops = 1 + k % 4;
    for (int i = 0; i < stops; ++i) {
      toml += "{ normal = " + list(dice.pick(n, {-1.0, 0.5, 1.0})) +
              ", position = " + fmt_double(dice.number(0.1, 0.6));
      if (k % 2 == 0 && i == 1) {
        toml += ", restitution = 0.9 }, ";
        continue;
      }
      toml += ", stiffness = " + fmt_double(std::exp(dice.number(0, 4)));
      if (k % 7 == 0) {
        toml += ", damping = " + fmt_double(dice.number(0.5, 9)) + ", plate = 'relaxing' }, ";
        continue;
      }
      if (dice.coin()) toml += ", damping = " + fmt_double(dice.number(0, 4));
      if (k % 5 == 0) toml += ", preload = " + fmt_double(dice.number(0, 0.1));
      if (dice.coin()) toml += ", release = 'gap'";
      toml += " }, ";
    }
    CAPTURE(k, toml);
    events += compare(toml + "]", std::vector<double>(static_cast<std::size_t>(2 * n), 0.0), 8, 3e-3);
  }
  CHECK(events > 1000);
}

namespace {

/// One body in the plane above a stop along x, with friction along y.
std::string plane(const std::string& stop, const std::string& rest = "") {
  return "name = 'linear_stops'\nmass = [[1, 0], [0, 1]]\n" + rest +
         "stop = [{ normal = [1, 0], position = 0, slip = [0, 1], " + stop + " }]";
}

}  // namespace

TEST_CASE("friction on a compliant stop: tangential impulse is mu times the normal one while it slides") {
  for (const char* law : {"", ", damping = 1.5", ", damping = 1.5, plate = 'relaxing'"}) {
    for (const double s : {2.0, -2.0}) {
      const auto system = make_system(plane("stiffness = 9, mu = 0.3" + std::string(law)));
      std::vector<double> start = {-0.1, 1, 0, s};
      start.resize(static_cast<std::size_t>(system->states()));
      HybridState state = state_at(start);
      Log log;
      REQUIRE(system->advance(state, for_time(3), &log) == Outcome::ok);
      CAPTURE(law, s);
      REQUIRE(log.of(EventKind::contact_end).size() == 1);
      CHECK(state.x(1) < -0.5);
      CHECK(state.x(3) == Approx(s - std::copysign(0.3 * (1 - state.x(1)), s)).epsilon(1e-13));
      CHECK(log.of(EventKind::slip_to_stick).empty());
    }
  }
}

TEST_CASE("friction on a compliant stop: sticks for good where the impulse is more than it takes") {
  // In contact from t = 0.1 on: x' = cos wt, y' = s − mu (1 − cos wt), w = 3.
  const double mu = 0.8, w = 3;
  for (const double s : {0.5, -0.5}) {
    const auto system = make_system(plane("stiffness = 9, mu = 0.8"));
    HybridState state = state_at({-0.1, 1, 0, s});
    Log log;
    REQUIRE(system->advance(state, for_time(2), &log) == Outcome::ok);
    const double stops = std::acos(1 - 0.5 / mu) / w;
    const double way = 0.1 * 0.5 + (0.5 - mu) * stops + mu * std::sin(w * stops) / w;
    CHECK(state.x(3) == 0);
    CHECK(state.x(2) == Approx(std::copysign(way, s)).epsilon(1e-13));
    const auto sticks = log.of(EventKind::slip_to_stick);
    REQUIRE(sticks.size() == 1);
    CHECK(sticks.front().time == Approx(0.1 + stops).epsilon(1e-13));
    CHECK(log.of(EventKind::contact_end).size() == 1);
    CHECK(log.of(EventKind::stick_to_slip).empty());
    CHECK(state.x(1) == Approx(-1).epsilon(1e-13));
  }
}

TEST_CASE("friction on a compliant stop: a bound that moves lets go, and holds again") {
  // x = 0.5 + 0.2 cos 2t, so that mu F = 0.4 + 0.16 cos 2t, under a tangential load of 0.3.
  const auto system = make_system(plane("stiffness = 4, mu = 0.2", "constant = [2, 0.3]\n"));
  HybridState state = state_at({0.7, 0, 0, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(3), &log) == Outcome::ok);
  const double goes = std::acos(-0.625) / 2;
  const auto slips = log.of(EventKind::stick_to_slip);
  REQUIRE(slips.size() == 1);
  CHECK(slips.front().time == Approx(goes).epsilon(1e-12));
  const auto speed = [&](double t) {
    return -0.1 * (t - goes) - 0.08 * (std::sin(2 * t) - std::sin(2 * goes));
  };
  REQUIRE(log.of(EventKind::slip_to_stick).size() == 2);  // at the start, and again
  const double holds = log.of(EventKind::slip_to_stick).back().time;
  CHECK(std::abs(speed(holds)) < 1e-13);
  CHECK(speed(holds - 0.1) > 1e-4);
  const double way = -0.05 * (holds - goes) * (holds - goes) +
                     0.04 * (std::cos(2 * holds) - std::cos(2 * goes)) +
                     0.08 * std::sin(2 * goes) * (holds - goes);
  CHECK(state.x(2) == Approx(way).epsilon(1e-12));
  CHECK(state.x(3) == 0);
}

TEST_CASE("compliant stop beside dry friction: turning points by the energy lost to friction") {
  // x'' + x + k x₊ = −F sgn x' from rest at x₁: V(x₁) − V(x₂) = F |x₁ − x₂| with V = (x² + k x₊²)/2.
  const double k = 3, F = 0.1;
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nstop = [{ normal = [1], position = 0, "
      "stiffness "
      "= 3 }]\nfriction = [{ direction = [1], amplitude = 0.1 }]");
  HybridState state = state_at({-1.5, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(60), &log) == Outcome::ok);
  std::vector<double> turning;
  for (const Log::Entry& e : log.entries) {
    if (e.kind == EventKind::slip_reversal || (e.kind == EventKind::slip_to_stick && e.time > 0))
      turning.push_back(e.before[0]);
  }
  REQUIRE(turning.size() > 3);
  double x = -1.5;
  for (const double found : turning) {
    // (x₂² s₂ − x₁² s₁)/2 = −F |x₁ − x₂| with s = 1 or 1 + k on the other side of zero.
    const double side = x < 0 ? 1 : -1;
    const double here = x < 0 ? 1 : 1 + k, there = x < 0 ? 1 + k : 1;
    const double a = std::abs(x), energy = here * a * a / 2 - F * a;  // at zero
    x = side * (-F + std::sqrt(F * F + 2 * there * energy)) / there;
    CHECK(found == Approx(x).margin(1e-12));
  }
  CHECK(state.x(0) == turning.back());
  CHECK((system->sticks(state, 0) && std::abs(x) * (x < 0 ? 1 : 1 + k) <= F));
}
