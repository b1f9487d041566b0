/// Compliant contacts and dry friction of typed systems: against the linear family, where that knows the
/// system, by its exact flow and by power series.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "analysis/maps/impact_log.hpp"
#include "tests/dice.hpp"
#include "tests/typed_runs.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// A linear system in matrices and in equations.
struct Twins {
  std::string matrices, equations;
  std::vector<double> start;
};

/// A linear combination of the names x1, x2 …, each with a mark behind it.
std::string combination(const Eigen::VectorXd& factors, const std::string& mark) {
  std::string text;
  for (Eigen::Index i = 0; i < factors.size(); ++i) {
    if (factors(i) == 0) continue;
    text +=
        (text.empty() ? "" : " + ") + ("(" + fmt_double(factors(i)) + ")*x" + std::to_string(i + 1)) + mark;
  }
  return text.empty() ? "0" : text;
}

Twins random_twins(unsigned seed) {
  Dice dice(seed);
  const Eigen::Index n = 1 + static_cast<Eigen::Index>(seed % 3);
  const double omega = dice.number(0.5, 2);
  const Eigen::MatrixXd M = dice.definite(n, 0.3, 1), C = dice.definite(n, 0.1, 0.05),
                        K = dice.definite(n, 1, 0.5);
  const Eigen::VectorXd a = dice.vector(n, 3), b = dice.vector(n, 3);
  Twins t;
  t.matrices = "name = 'linear_stops'\nomega = " + fmt_double(omega) + "\nmass = " + rows(M) +
               "\ndamping = " + rows(C) + "\nstiffness = " + rows(K) + "\nforce = [{ cosine = " + list(a) +
               ", sine = " + list(b) + " }]\n";
  std::string names, forces;
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::string x = "x" + std::to_string(i + 1);
    names += "'" + x + "', ";
    forces += "force." + x + " = \"(" + fmt_double(a(i)) + ")*cos(w*t) + (" + fmt_double(b(i)) +
              ")*sin(w*t) - (" + combination(K.row(i), "") + ") - (" + combination(C.row(i), "'") + ")\"\n";
    t.start.insert(t.start.end(), {dice.number(-0.2, 0.2), dice.number(-1, 1)});
  }
  std::string stops, contacts;
  const int count = dice.coin() ? 2 : 1;
  for (int c = 0; c < count; ++c) {
    Eigen::VectorXd normal = dice.vector(n, 1);
    normal(0) = dice.coin() ? 1 : -1;
    const double place = dice.number(0.25, 0.6);
    const int kind = static_cast<int>(dice.number(0, 4));
    std::string law = kind == 0 ? "restitution = " + fmt_double(dice.number(0.3, 0.9))
                                : "stiffness = " + fmt_double(dice.number(2, 60));
    if (kind >= 2) law += ", damping = " + fmt_double(dice.number(0.1, 2));
    if (kind == 2 && dice.coin()) law += ", release = 'gap'";
    if (kind == 3) law += ", preload = " + fmt_double(dice.number(0.1, 2));
    std::string typed_law = law;
    const bool by_force =
        law.starts_with("stiffness") && law.find("release") == law.npos && law.find("preload") == law.npos;
    if (by_force && n > 1 && seed % 2 == 0) {
      Eigen::VectorXd along = dice.vector(n, 1);
      along(n - 1) = 1;
      const std::string mu = ", mu = " + fmt_double(dice.number(0.1, 0.6)) + ", slip = ";
      law += mu + list(along);
      typed_law += mu + "\"" + combination(along, "'") + "\"";
    }
    stops += "{ normal = " + list(normal) + ", position = " + fmt_double(place) + ", " + law + " }, ";
    contacts +=
        "{ gap = \"" + fmt_double(place) + " - (" + combination(normal, "") + ")\", " + typed_law + " }, ";
  }
  t.matrices += "stop = [" + stops + "]\n";
  t.equations = "name = 'equations'\nparameters = { w = " + fmt_double(omega) + " }\ncoordinates = [" +
                names + "]\nmass = " + rows(M) + "\n" + forces + "period = '2*pi/w'\ncontact = [" + contacts +
                "]\n";
  if (seed % 2 == 0) return t;
  Eigen::VectorXd along = dice.vector(n, 1);
  along(n - 1) = 1;
  const std::string amplitude = fmt_double(dice.number(0.1, 1.5));
  t.matrices += "friction = [{ direction = " + list(along) + ", amplitude = " + amplitude + " }]\n";
  t.equations +=
      "friction = [{ slip = \"" + combination(along, "'") + "\", amplitude = " + amplitude + " }]\n";
  return t;
}

/// Without what rounding or an estimate decides: near misses, as a gap may turn just where something else
/// ends the arc; and the last impacts before a chatter sequence is completed, which is once it is brief
/// beside each engine's own estimate of the fastest rate.
Run only_events(Run run) {
  const std::vector<Log::Entry> completed = run.log.of(EventKind::chatter_complete);
  std::erase_if(run.log.entries, [&](const Log::Entry& e) {
    return e.kind == EventKind::section ||
           (e.kind == EventKind::impact &&
            std::any_of(completed.begin(), completed.end(), [&](const auto& c) {
              return e.contact == c.contact && e.time < c.time && e.time > c.time - 1e-3;
            }));
  });
  return run;
}

/// Loads of all contacts of a motion, put together impact by impact.
std::vector<ImpactRecord> loads(System& system, const std::vector<double>& start, double time) {
  HybridState state = state_at(start);
  ImpactLog log;
  REQUIRE(system.advance(state, for_time(time), &log) == Outcome::ok);
  return log.records();
}

void check_loads(const std::vector<ImpactRecord>& found, const std::vector<ImpactRecord>& expected,
                 double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    const ImpactRecord &a = found[k], &b = expected[k];
    CAPTURE(k, b.begin, b.end);
    CHECK(a.contact == b.contact);
    if (std::isnan(b.end)) continue;
    const double force = std::abs(b.peak_force), work = force * b.greatest_penetration;
    CHECK(std::abs(a.peak_force - b.peak_force) <= tolerance * (1 + force));
    CHECK(std::abs(a.greatest_penetration - b.greatest_penetration) <= tolerance);
    CHECK(std::abs(a.impulse - b.impulse) <= tolerance * (1 + b.impulse));
    CHECK(std::abs(a.damping_work - b.damping_work) <= tolerance * (1 + work));
    CHECK(std::abs(a.friction_work - b.friction_work) <= tolerance * (1 + b.friction_work));
    CHECK(std::isnan(a.turn) == std::isnan(b.turn));
    if (!std::isnan(b.turn)) CHECK(std::abs(a.turn - b.turn) <= 1e-7);
    CHECK(a.phases.size() == b.phases.size());
    CHECK(a.painleve == b.painleve);
    CHECK(a.first.contact == b.first.contact);
    CHECK(a.first.friction == Approx(b.first.friction).epsilon(1e-12));
    CHECK(a.first.cross_mobility == Approx(b.first.cross_mobility).epsilon(1e-10).margin(1e-12));
    CHECK(a.first.normal_mobility == Approx(b.first.normal_mobility).epsilon(1e-10));
  }
}

}  // namespace

TEST_CASE("typed laws: recognised as linear, the numbers of linear_stops", "[equations]") {
  std::size_t begun = 0, stuck = 0, rough = 0;
  for (unsigned seed = 0; seed < 160; ++seed) {
    const Twins twins = random_twins(seed);
    CAPTURE(seed, twins.equations);
    const auto model = std::dynamic_pointer_cast<const TypedModel>(make_model(twins.equations));
    REQUIRE(model != nullptr);
    CHECK(model->is_linear());
    const Run expected = run(*make_system(twins.matrices), twins.start, 40);
    begun += expected.log.of(EventKind::contact_begin).size();
    stuck += expected.log.of(EventKind::slip_to_stick).size();
    if (twins.equations.find("mu = ") != std::string::npos)
      rough += expected.log.of(EventKind::slip_to_stick).size();
    check_alike(typed(twins.equations, twins.start, 40), expected, 1e-12);
  }
  CHECK(begun > 300);
  CHECK(rough > 20);
  CHECK(stuck > 100);
}

TEST_CASE("typed laws: power series move linear systems as their exact flow does", "[equations]") {
  std::size_t begun = 0, stuck = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Twins twins = random_twins(seed);
    CAPTURE(seed, twins.equations);
    const Run expected = run(*make_system(twins.matrices), twins.start, 12);
    begun += expected.log.of(EventKind::contact_begin).size();
    stuck += expected.log.of(EventKind::slip_to_stick).size();
    check_alike(only_events(by_series(twins.equations, twins.start, 12)), only_events(expected), 1e-10);
  }
  CHECK(begun > 100);
  CHECK(stuck > 20);
}

namespace {

/// rod_on_ground in equations.
const std::string typed_rod = R"toml(
name = "equations"
coordinates = ["x_c", "y_c", "phi"]
order = ["x_c", "y_c", "phi", "x_c_dot", "y_c_dot", "phi_dot"]
mass = { x_c = "m", y_c = "m", phi = "m*l^2/12" }
force = { x_c = "0", y_c = "-m*g", phi = "0" }
definitions = { h = "l/2*sin(phi)", u = "l/2*sin(phi)*phi'" }
fastest_rate = "sqrt(2*g/l)"

[[model.contact]]
name = "A"
gap = "y_c + h"
normal_force = "K*depth^1.5*(1 + c*depth')"
mu = "mu"
slip = "x_c' + u"

[[model.contact]]
name = "B"
gap = "y_c - h"
normal_force = "K*depth^1.5*(1 + c*depth')"
mu = "mu"
slip = "x_c' - u"

[model.parameters]
l = 0.1
m = 0.2
g = 9.81
K = 1.5384615384615385e10
)toml";

}  // namespace

TEST_CASE("typed laws: Hertzian contact with friction, the rod on the ground", "[equations]") {
  struct Case {
    double mu, c, angle, omega;
  };
  for (const Case& c :
       {Case{0, 0, 0.5, 0}, Case{0.1, 0, M_PI / 6, 0}, Case{0.9, 0, M_PI / 6, 40}, Case{0.4, 0.2, 1.0, 5}}) {
    CAPTURE(c.mu, c.c, c.angle, c.omega);
    const std::string values = "mu = " + fmt_double(c.mu) + "\n";
    const auto rod = make_system("name = 'rod_on_ground'\n" + values + "damping = " + fmt_double(c.c));
    const auto typed_system = make_system(typed_rod + values + "c = " + fmt_double(c.c));
    REQUIRE(typed_system != nullptr);
    const double s = std::sin(c.angle), k = std::cos(c.angle);
    const std::vector<double> start = {-0.05 * k, 0.05 * s + 1e-4, c.angle, 2 * k, -2 * s, c.omega};
    constexpr double time = 2e-3;
    const Run expected = run(*rod, start, time), found = run(*typed_system, start, time);
    REQUIRE(found.outcome == Outcome::ok);
    for (const EventKind kind : {EventKind::contact_begin, EventKind::contact_end, EventKind::slip_to_stick,
                                 EventKind::stick_to_slip, EventKind::slip_reversal}) {
      const auto a = expected.log.of(kind), b = found.log.of(kind);
      CAPTURE(static_cast<int>(kind));
      CHECK(a.size() == b.size());
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        CHECK(std::abs(a[i].time - b[i].time) < 1e-14);
    }
    CHECK((expected.end.x - found.end.x).cwiseAbs().maxCoeff() < 1e-10);
    if (c.mu > 0) check_loads(loads(*typed_system, start, time), loads(*rod, start, time), 1e-9);
    HybridState a = state_at(start), b = state_at(start);
    int pressed = 0;
    for (int sample = 0; sample < 400; ++sample) {
      REQUIRE(rod->advance(a, for_time(time / 400), nullptr) == Outcome::ok);
      REQUIRE(typed_system->advance(b, for_time(time / 400), nullptr) == Outcome::ok);
      const Eigen::VectorXd N = rod->contact_forces(a);
      pressed += N.maxCoeff() > 0 ? 1 : 0;
      CHECK((N - typed_system->contact_forces(b)).cwiseAbs().maxCoeff() < 1e-6 * (1 + N.maxCoeff()));
    }
    CHECK(pressed > 3);
    CHECK((expected.slopes - found.slopes).cwiseAbs().maxCoeff() <
          1e-7 * expected.slopes.cwiseAbs().maxCoeff());
  }
}

// Ends of a rod that turns part with phi'^2 where it passes through flat: both cannot stick there.
TEST_CASE("typed laws: a rod thrown on soft ground, turning through flat", "[equations]") {
  const std::string soft = "m = 0.27\ng = 9.81\nK = 1700\nl = 1\nc = 0.15\nmu = 0.9\n";
  const auto typed_system = make_system(typed_rod.substr(0, typed_rod.find("l = 0.1")) + soft);
  const auto rod =
      make_system("name = 'rod_on_ground'\nl = 1\nm = 0.27\nstiffness = 1700\ndamping = 0.15\nmu = 0.9\n");
  std::size_t stuck = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Dice dice(seed);
    const std::vector<double> start = {0,
                                       dice.number(0.1, 0.25),
                                       dice.number(-0.2, 0.2),
                                       dice.number(-1, 1),
                                       dice.number(-2, -1),
                                       dice.number(-3, 3)};
    CAPTURE(seed, start);
    const Run expected = run(*rod, start, 0.4), found = run(*typed_system, start, 0.4);
    REQUIRE(expected.outcome == found.outcome);
    for (const EventKind kind :
         {EventKind::contact_begin, EventKind::contact_end, EventKind::slip_to_stick}) {
      const auto a = expected.log.of(kind), b = found.log.of(kind);
      CAPTURE(static_cast<int>(kind));
      CHECK(a.size() == b.size());
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        CHECK(std::abs(a[i].time - b[i].time) < 1e-9);
      stuck += kind == EventKind::slip_to_stick ? b.size() : 0;
    }
    CHECK((expected.end.x - found.end.x).cwiseAbs().maxCoeff() < 1e-8);
  }
  CHECK(stuck > 10);
}

TEST_CASE("typed laws: loads by power series are those by the exact flow", "[equations]") {
  std::size_t contacts = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Twins twins = random_twins(seed);
    CAPTURE(seed, twins.equations);
    const auto model = std::dynamic_pointer_cast<const TypedModel>(make_model(twins.equations));
    const auto expected = loads(*make_system(twins.matrices), twins.start, 8);
    check_loads(loads(*model->smooth_system(model->values(), {}), twins.start, 8), expected, 1e-9);
    contacts += expected.size();
  }
  CHECK(contacts > 100);
}

/// From depth 0 with speed w, mass 1: w²/2 = ∫ K δ^p dδ at the greatest depth; the impulse turns the speed.
TEST_CASE("typed laws: loads of an elastic contact with a power law in closed form", "[equations]") {
  const double K = 30, w = 1.3;
  for (const double p : {1.0, 1.5, 2.0, 3.0}) {
    CAPTURE(p);
    const auto system = make_system(
        "name = 'equations'\ncoordinates = ['x']\nforce = { x = 0 }\nfastest_rate = 1\ncontact = [{ gap = "
        "'-x', normal_force = '30*depth^" +
        fmt_double(p) + "' }]");
    const auto found = loads(*system, {-0.1, w}, 4);
    REQUIRE(found.size() == 1);
    const double depth = std::pow(w * w / 2 * (p + 1) / K, 1 / (p + 1));
    CHECK(found[0].greatest_penetration == Approx(depth).epsilon(1e-11));
    CHECK(found[0].peak_force == Approx(K * std::pow(depth, p)).epsilon(1e-11));
    CHECK(found[0].impulse == Approx(2 * w).epsilon(1e-11));
    CHECK(std::abs(found[0].damping_work) < 1e-13);
    CHECK(found[0].turn - found[0].begin == Approx((found[0].end - found[0].begin) / 2).epsilon(1e-8));
  }
}

/// With F = K δ^1.5 (1 + c δ') the damper takes what the body has lost.
TEST_CASE("typed laws: the damper takes the energy that a body loses", "[equations]") {
  const auto system = make_system(
      "name = 'equations'\ncoordinates = ['x']\nforce = { x = 0 }\nfastest_rate = 1\ncontact = [{ gap = "
      "'-x', normal_force = \"30*depth^1.5*(1 + 0.3*depth')\" }]");
  const auto found = loads(*system, {-0.1, 1.3}, 4);
  REQUIRE(found.size() == 1);
  const double v = found[0].separation_speed;
  CHECK(found[0].damping_work == Approx((1.3 * 1.3 - v * v) / 2).epsilon(1e-11));
  CHECK(found[0].impulse == Approx(1.3 + v).epsilon(1e-11));
}
