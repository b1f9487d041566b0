/// Curves of sticking over two parameters: dry friction and stops without restitution.
#include <Eigen/Core>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/curve_start.hpp"
#include "analysis/continuation/settled_start.hpp"
#include "analysis/continuation/slip_border.hpp"
#include "analysis/maps/poincare_map.hpp"
#include "core/math/spectra.hpp"
#include "tests/dice.hpp"
#include "tests/family.hpp"

using namespace graze;
using namespace graze::test;

namespace {

struct Case {
  Plane plane;
  CurveOptions options;
  double at[2]{0, 0};
};

/// A model over two of its parameters, from its own values of both on.
Case over(const std::string& model, const char* first, const char* second, const double (&first_range)[2],
          const double (&second_range)[2]) {
  Case c;
  c.plane.family = family(model, first);
  c.plane.second = c.plane.family.model->parameter_index(second);
  const double* const ranges[] = {first_range, second_range};
  const int parameters[] = {c.plane.family.parameter, c.plane.second};
  for (int k = 0; k < 2; ++k) {
    c.options.from[k] = ranges[k][0];
    c.options.to[k] = ranges[k][1];
    c.plane.widths[k] = ranges[k][1] - ranges[k][0];
    c.at[k] = c.plane.family.values[static_cast<std::size_t>(parameters[k])];
  }
  return c;
}

/// The branch over the first parameter.
Branch followed(const Case& c) {
  const Family& f = c.plane.family;
  const auto states = static_cast<Eigen::Index>(f.model->states().size());
  HybridState rest;
  rest.x = Eigen::VectorXd::Zero(states);
  const Start begin = settled_start(f, c.at[0], rest, {}, "");
  if (begin.periods == 0) return {};
  const auto near = between_events(f, {c.at[0], begin.orbit.front(), begin.periods, 0, 0});
  const auto orbit = near ? find_orbit(f, *near) : std::nullopt;
  if (!orbit) return {};
  Walk walk;
  walk.options.from = c.options.from[0];
  walk.options.to = c.options.to[0];
  return continue_branch(f, *orbit, walk);
}

/// What it locates.
std::vector<Bifurcation> located(const Case& c) { return followed(c).bifurcations; }

CurveStart started(const Case& c, const Bifurcation& b) { return start_curve(c.plane, seed_at(b, c.at[1])); }

/// All points of the curve, both ways, and the ends.
std::vector<CurvePoint> walked(const Case& c, const CurveSolution& start, std::string& ends,
                               std::vector<Codim2>* passed = nullptr) {
  std::vector<CurvePoint> points{start.point};
  for (const int direction : {-1, 1}) {
    CurveWalk walk(start, direction, c.options);
    while (walk.next()) {
      points.push_back(walk.point());
      if (passed != nullptr) passed->insert(passed->end(), walk.passed().begin(), walk.passed().end());
    }
    ends += walk.end() + "; ";
  }
  return points;
}

/// The curve through the only located point of a kind.
std::vector<CurvePoint> curve_of(const Case& c, BifurcationKind kind) {
  const std::vector<Bifurcation> points = located(c);
  const auto of_kind = [kind](const Bifurcation& b) { return b.kind == kind; };
  REQUIRE(std::count_if(points.begin(), points.end(), of_kind) == 1);
  const CurveStart start = started(c, *std::find_if(points.begin(), points.end(), of_kind));
  INFO(start.reason);
  REQUIRE(start.solution);
  std::string ends;
  std::vector<CurvePoint> all = walked(c, *start.solution, ends);
  CHECK(ends == "end of the range; end of the range; ");
  return all;
}

}  // namespace

TEST_CASE("slip border: Den Hartog's oscillator sticks where the spring holds it at its turning points") {
  // x'' + x + F sgn x' = cos wt without a stick: A^2 = V^2 - F^2 U^2, V = 1/(1 - w^2),
  // U = sin(pi/w)/(w (1 + cos(pi/w))), and the force at x = A is A/V (Den Hartog 1931). Friction would have
  // to hold A/V - A = -w^2 A: it does from F = w^2 A on.
  const std::string models[] = {
      "name = 'linear_stops'\nparameters = { F = 0.4 }\nmass = [[1]]\nstiffness = [[1]]\nomega = 1.5\n"
      "force = [{ cosine = [1] }]\nfriction = [{ direction = [1], amplitude = 'F' }]",
      // By power series: the spring may be cubic, too.
      "name = 'equations'\ncoordinates = ['x']\nparameters = { F = 0.4, omega = 1.5, b = 0 }\n"
      "force = { x = 'cos(omega*t) - x - b*x^3' }\nperiod = '2*pi/omega'\n"
      "friction = [{ slip = \"x'\", amplitude = 'F' }]"};
  for (const std::string& model : models) {
    const Case c = over(model, "F", "omega", {0.1, 0.99}, {1.2, 3});
    const std::vector<CurvePoint> all = curve_of(c, BifurcationKind::slip_border);
    CHECK(all.size() > 50);
    for (const CurvePoint& p : all) {
      const double w = p.second;
      const double V = 1 / (1 - w * w), U = std::sin(M_PI / w) / (w * (1 + std::cos(M_PI / w)));
      CHECK(p.orbit.admissible);
      CHECK(std::abs(p.orbit.parameter - std::abs(V) / std::hypot(U, 1 / (w * w))) < 1e-10);
    }
  }
}

TEST_CASE("stick border: a mass without rebound meets its stop where the force ceases to press") {
  // x'' + x = F cos wt beyond a stop at s, r = 0: released at cos phi = s/F with x = s, v = 0; after one
  // period it is at s again where (s - X cos phi) tan(pi/w) = X w sin phi, X = F/(1 - w^2).
  constexpr double s = 0.2;
  const Case c = over(
      "name = 'linear_stops'\nparameters = { F = 1 }\nmass = [[1]]\nstiffness = [[1]]\nomega = 1.8\n"
      "force = [{ cosine = ['F'] }]\nstop = [{ normal = [1], position = 0.2, restitution = 0 }]",
      "omega", "F", {1.5, 2.2}, {0.3, 2});
  const std::vector<CurvePoint> all = curve_of(c, BifurcationKind::stick_border);
  CHECK(all.size() > 50);
  for (const CurvePoint& p : all) {
    const double w = p.orbit.parameter, X = p.second / (1 - w * w), phi = std::acos(s / p.second);
    CHECK(p.orbit.admissible);
    CHECK(std::abs((s - X * std::cos(phi)) * std::sin(M_PI / w) -
                   X * w * std::sin(phi) * std::cos(M_PI / w)) < 1e-10);
  }
}

namespace {

/// The events, in order, of the motion that is near an orbit at other parameters, by simulation of many
/// turns.
std::vector<std::pair<EventKind, int>> settled(const Plane& plane, const CurvePoint& p,
                                               const Eigen::Vector2d& aside, int turns) {
  const Family f = plane.at(p.second + aside(1));
  const auto system = f.system(p.orbit.parameter + aside(0));
  REQUIRE(system);
  const int periods = p.orbit.signature.periods;
  HybridState state;
  state.x = p.orbit.orbit.front();
  for (int k = 0; k < turns * periods; ++k) REQUIRE(system->advance(state, {}, nullptr) == Outcome::ok);
  std::vector<std::pair<EventKind, int>> events;
  for (const Step& step : record_turn(*system, state.x, periods, 0).itinerary.steps)
    events.emplace_back(step.end, step.contact);
  return events;
}

Case chain(unsigned seed) {
  Dice dice(seed);
  const auto number = [&](double from, double to) { return fmt_double(dice.number(from, to)); };
  const std::string model =
      "name = 'two_dof_stops'\nd1 = inf\nd2 = inf\ndelta = 0.7\nA1 = " + number(0.3, 0.8) +
      "\nf1 = " + number(0.02, 0.2) + "\nf2 = " + number(0.02, 0.2) + "\nk2 = " + number(0.5, 2) +
      "\nm2 = " + number(0.5, 2) + "\nc1 = " + number(0.02, 0.2) + "\nc2 = " + number(0.02, 0.2);
  const double f1 = family(model, "f1").values[static_cast<std::size_t>(family(model, "f1").parameter)];
  Case c = over(model, "delta", "f1", {0.2, 1.6}, {0.3 * f1, 1.5 * f1});
  c.options.points = 40;
  return c;
}

}  // namespace

namespace {

/// Curves from located points of sticking, and the motion on both sides of them.
struct Compared {
  int turns = 2000;  ///< until the motion has settled
  int points = 0, led = 0, beside = 0, alike = 0;
  std::string others;

  void add(const Case& c, const std::string& name) { add(c, located(c), name); }
  void add(const Case& c, const std::vector<Bifurcation>& from, const std::string& name) {
    for (const Bifurcation& b : from) {
      if (!of_slip(b.kind) && b.kind != BifurcationKind::simultaneous) continue;
      ++points;
      const CurveStart start = started(c, b);
      std::string ends = start.reason;
      const std::vector<CurvePoint> curve =
          start.solution ? walked(c, *start.solution, ends) : std::vector<CurvePoint>();
      const std::string& kind = bifurcation_names()[static_cast<std::size_t>(b.kind)];
      if (curve.size() >= 10) {
        ++led;
      } else {
        others.append(kind).append(" at ").append(fmt_double(b.parameter));
        others.append(" of ").append(name).append(": ").append(ends).append("\n");
      }
      for (std::size_t k = 3; k < curve.size(); k += 20) compare(c, curve[k - 1], curve[k], name);
    }
  }
  void compare(const Case& c, const CurvePoint& before, const CurvePoint& p, const std::string& name) {
    if (!p.orbit.admissible || !p.orbit.stable) return;
    // Across the curve, the ranges being 1.
    const double way[] = {(p.orbit.parameter - before.orbit.parameter) / c.plane.widths[0],
                          (p.second - before.second) / c.plane.widths[1]};
    const double length = std::hypot(way[0], way[1]);
    if (!(length < 2 * c.options.step)) return;
    const Eigen::Vector2d aside(1e-6 * c.plane.widths[0] * way[1] / length,
                                -1e-6 * c.plane.widths[1] * way[0] / length);
    ++beside;
    if (settled(c.plane, p, aside, turns) != settled(c.plane, p, -aside, turns)) return;
    ++alike;
    others.append("alike at ").append(fmt_double(p.orbit.parameter)).append(", ");
    others.append(fmt_double(p.second)).append(": ").append(name).append("\n");
  }
};

}  // namespace

TEST_CASE("random chains with dry friction: located points lead to curves across which the motion changes",
          "[long]") {
  Compared all;
  for (unsigned seed = 1; seed <= 6; ++seed) all.add(chain(seed), "system " + std::to_string(seed));
  INFO(all.others);
  CAPTURE(all.points, all.led, all.beside, all.alike);
  CHECK(all.points >= 30);
  CHECK(all.led >= 0.9 * all.points);
  CHECK(all.beside >= 60);
  CHECK(all.alike == 0);
}

TEST_CASE("a chain with dry friction and a stop: located points lead to curves", "[long]") {
  const Case c = [] {
    Case made = over(
        "name = 'two_dof_stops'\ndelta = 0.8\nA1 = 0.4116\nf1 = 0.0835\nf2 = 0.0552\nk2 = 1.16\n"
        "m2 = 0.8415\nc1 = 0.1193\nc2 = 0.0883\nd1 = 0.3322\nr1 = 0.6681\nd2 = inf",
        "delta", "A1", {0.42, 1.6}, {0.16, 0.66});
    made.options.points = 12;
    return made;
  }();
  int points = 0, led = 0, numerical = 0;
  std::string others;
  for (const Bifurcation& b : located(c)) {
    if (b.kind == BifurcationKind::chatter_border) continue;
    ++points;
    const CurveStart start = started(c, b);
    std::string ends = start.reason;
    const std::size_t count = start.solution ? walked(c, *start.solution, ends).size() : 0;
    const bool stated = count > 0 && ends.find("Newton") == std::string::npos &&
                        ends.find("another way") == std::string::npos &&
                        ends.find("no motion") == std::string::npos;
    if (!stated) ++numerical;
    if (count >= 10 || stated) {
      ++led;
    } else {
      others += bifurcation_names()[static_cast<std::size_t>(b.kind)] + " at " + fmt_double(b.parameter) +
                ": " + ends + "\n";
    }
  }
  INFO(others);
  CAPTURE(points, led, numerical);
  CHECK(points >= 30);
  CHECK(led >= 0.9 * points);
  CHECK(numerical <= 0.1 * points);
}

TEST_CASE(
    "corners of sticking: the force at rest is at its bound, and stands still or is so at another stop") {
  // x'' + b x' + x + F sgn x' = f(t), f = cos wt + cos(3 wt)/2: where x' = 0 friction has to hold f - x,
  // whose rate is f'.
  const Case c = over(
      "name = 'linear_stops'\nparameters = { F = 0.4 }\nmass = [[1]]\ndamping = [[0.1]]\nstiffness = [[1]]\n"
      "omega = 0.4\nforce = [{ cosine = [1] }, { order = 3, cosine = [0.5] }]\n"
      "friction = [{ direction = [1], amplitude = 'F' }]",
      "omega", "F", {0.2, 1.2}, {0.05, 0.9});
  int own = 0, crossings = 0;
  for (const Bifurcation& b : located(c)) {
    if (!of_slip(b.kind)) continue;
    const CurveStart start = started(c, b);
    INFO(start.reason);
    REQUIRE(start.solution);
    std::string ends;
    std::vector<Codim2> corners;
    walked(c, *start.solution, ends, &corners);
    for (const Codim2& corner : corners) {
      if (corner.kind != Codim2Kind::stick_corner) continue;
      const double w = corner.at.parameter, F = corner.second;
      const auto system = c.plane.at(F).system(w);
      HybridState state = state_at({corner.at.orbit.front()(0), corner.at.orbit.front()(1)});
      Log log;
      REQUIRE(system->advance(state, {}, &log) == Outcome::ok);
      double rate = 1;
      int at_bound = 0;
      for (const Log::Entry& e : log.entries) {
        if (!of_friction(e.kind)) continue;
        const double t = w * e.time;
        const double left = F - std::abs(std::cos(t) + std::cos(3 * t) / 2 - e.after[0]);
        if (!(std::abs(left) < 1e-7)) continue;
        if (ends_sliding(e.kind)) ++at_bound;
        rate = std::min(rate, w * std::abs(std::sin(t) + 1.5 * std::sin(3 * t)));
      }
      CAPTURE(w, F, at_bound, rate);
      const bool alone = rate < 1e-6;
      const bool touches = corner.at.itinerary.steps[corner.step].end == EventKind::graze ||
                           !ends_sliding(corner.at.itinerary.steps[corner.other].end);
      // Twice a period, each half being the other's mirror; what only touches is no event.
      CHECK((alone || at_bound >= (touches ? 2 : 4)));
      (alone ? own : crossings) += 1;
    }
  }
  CAPTURE(own, crossings);
  CHECK(own >= 2);
  CHECK(crossings >= 1);
}

TEST_CASE("coinciding events: two events of the motion are at one instant, others at instants beside them") {
  Case c = over(
      "name = 'two_dof_stops'\nd1 = 0.131669252389717883\nd2 = 0.25795674285031478\n"
      "r1 = 0.710132723792838760\nr2 = 0.812039532257304408\nA1 = 0.678477189751052867\n"
      "f1 = 0.190096677647242945\nf12 = 0.0303781896748568855\nk2 = 1.58189533114675762\n"
      "m2 = 1.6110481528394609\nc1 = 0.178823983413682358\nc2 = 0.135656089625220883\n"
      "delta = 0.438326206926080041",
      "delta", "A1", {0.3, 1.6}, {0.2713908759004212, 1.0855635036016845});
  c.options.points = 60;
  const Eigen::Vector4d state(0.13075425938360055, 0, 0.041430271177269273, 0.29117113162955988);
  const CurveStart start = start_curve(
      c.plane, {BifurcationKind::simultaneous, -1, {c.at[0], state, 1, 0, 0.17123613265354587}, c.at[1]});
  INFO(start.reason);
  REQUIRE(start.solution);
  std::string ends;
  const std::vector<CurvePoint> all = walked(c, *start.solution, ends);
  CHECK(all.size() > 20);
  for (const CurvePoint& p : all) {
    if (!p.orbit.admissible) continue;
    const auto system = c.plane.at(p.second).system(p.orbit.parameter);
    const Record record = record_turn(*system, p.orbit.state, 1, 0, p.orbit.phase);
    REQUIRE(record.outcome == Outcome::ok);
    const std::vector<Step>& steps = record.itinerary.steps;
    double apart = 1;
    for (std::size_t k = 1; k + 1 < steps.size(); ++k)
      if (steps[k].contact != steps[k - 1].contact) apart = std::min(apart, record.durations[k]);
    CHECK(apart < 1e-9);
  }
}

TEST_CASE("systems that are not linear: borders of sticking lead to curves across which the motion changes",
          "[long]") {
  const std::string parameters =
      "name = 'equations'\nperiod = '2*pi/omega'\n"
      "parameters = { A = 1, F = { value = 0.2, min = 0 }, omega = { value = 0.9, above = 0 } }\n";
  const std::string duffing =
      parameters + "coordinates = ['x']\nforce = { x = \"A*cos(omega*t) - 0.1*x' - x - x^3\" }\n";
  struct {
    const char* name;
    std::string model;
    double from;
  } const systems[] = {
      {"a rigid wall",
       duffing + "friction = [{ slip = \"x'\", amplitude = 'F' }]\n"
                 "contact = [{ gap = '0.8 - x', restitution = 0.8 }]",
       0.55},
      {"a soft wall",
       duffing + "friction = [{ slip = \"x'\", amplitude = 'F' }]\n"
                 "contact = [{ gap = '0.6 - x', stiffness = 20, damping = 0.5 }]",
       0.55},
      {"a friction by the place", duffing + "friction = [{ slip = \"x'\", amplitude = 'F*(1 + x^2/2)' }]",
       0.4},
      {"two masses",
       parameters + "coordinates = ['x', 'y']\n"
                    "force = { x = \"A*cos(omega*t) - 0.1*x' - x - x^3 - 0.8*(x - y)\", "
                    "y = \"0.8*(x - y) - 0.1*y'\" }\n"
                    "friction = [{ slip = \"x'\", amplitude = 'F' }, { slip = \"y'\", amplitude = 0.05 }]",
       0.7}};
  for (const auto& [name, model, from] : systems) {
    Case c = over(model, "omega", "F", {from, 1.1}, {0.05, 0.6});
    c.options.points = 15;
    Compared all;
    all.turns = 200;
    all.add(c, name);
    INFO(all.others);
    CAPTURE(name, all.points, all.led, all.beside, all.alike);
    CHECK(all.points >= 2);
    CHECK(all.led == all.points);
    CHECK(all.beside >= 3);
    CHECK(all.alike == 0);
  }
}

TEST_CASE("slip borders beside a force without a power series where it begins: the start says why not") {
  const Case c = over(
      "name = 'equations'\nperiod = '2*pi/omega'\ncoordinates = ['x']\n"
      "parameters = { F = { value = 0.2, min = 0 }, omega = { value = 0.9, above = 0 } }\n"
      "force = { x = \"cos(omega*t) - 0.1*x' - x\" }\nfriction = [{ slip = \"x'\", amplitude = 'F' }]\n"
      "contact = [{ gap = '0.6 - x', normal_force = '20*depth^1.5' }]",
      "omega", "F", {0.4, 1.1}, {0.05, 0.6});
  const CurveStart start = start_curve(
      c.plane, {BifurcationKind::slip_border, -1, {c.at[0], Eigen::Vector2d(0.1, 0), 1, 0, 0}, c.at[1]});
  CHECK(!start.solution);
  CHECK(start.reason == "sticking and sliding by the frictions of this system cannot be prescribed");
}

namespace {

/// A mass that chatters at a stop and drags another one, which rubs on the ground.
Case dragging(double B, const double (&range)[2]) {
  return over("name = 'linear_stops'\nparameters = { B = " + fmt_double(B) +
                  ", F = 0.05 }\nmass = [[1, 0], [0, 0.3]]\n"
                  "damping = [[0.1, -0.05], [-0.05, 0.1]]\nstiffness = [[1.3, -0.3], [-0.3, 0.5]]\n"
                  "omega = 0.5\nforce = [{ cosine = [1, 0] }, { order = 4, cosine = ['B', 0] }]\n"
                  "stop = [{ normal = [1, 0], position = 0.1, restitution = 0.3 }]\n"
                  "friction = [{ direction = [0, 1], amplitude = 'F' }]",
              "B", "F", range, {0.01, 0.4});
}

}  // namespace

TEST_CASE("chatter border beside dry friction: the motion changes across the curve", "[long]") {
  Case c = dragging(0.2, {0.05, 0.839905});
  c.options.points = 15;
  const std::vector<Bifurcation> points = located(c);
  const auto border = std::find_if(points.rbegin(), points.rend(), [](const Bifurcation& b) {
    return b.kind == BifurcationKind::chatter_border;
  });
  REQUIRE(border != points.rend());
  const CurveStart start = started(c, *border);
  INFO(start.reason);
  REQUIRE(start.solution);
  std::string ends;
  const std::vector<CurvePoint> curve = walked(c, *start.solution, ends);
  CHECK(curve.size() >= 10);
  const Eigen::Vector2d aside(1e-6, 0);
  for (const CurvePoint& p : curve) {
    REQUIRE(p.orbit.stable);
    CHECK(settled(c.plane, p, -aside, 200) != settled(c.plane, p, aside, 200));
  }
}

TEST_CASE("a friction that gives way just as a contact is hit: two events at one instant, with a curve") {
  // The mass that rubs rests; the pull of the damper on it is greatest right before the other one's impact.
  Case c = dragging(0.82, {0.05, 0.839});
  c.options.points = 30;
  const std::vector<Bifurcation> points = located(c);
  const auto at = std::find_if(points.begin(), points.end(),
                               [](const Bifurcation& b) { return b.kind == BifurcationKind::simultaneous; });
  REQUIRE(at != points.end());
  CHECK(at->contact == 0);
  CHECK(at->error < 1e-10);
  Compared all;
  all.turns = 200;
  all.add(c, points, "a mass that drags another one");
  INFO(all.others);
  CHECK(all.points == 1);
  CHECK(all.led == 1);
  CHECK(all.beside >= 2);
  CHECK(all.alike == 0);
}

TEST_CASE(
    "branches with friction: the impact that ends a leg is not met on it, where all contacts are heeded") {
  // It was met at random, behind a stick of its own contact: 2000 points in the place of some 60, in part
  // with a border of chatter that is none.
  const Case c = dragging(0.8295, {0.829, 0.831});
  const Branch branch = followed(c);
  CHECK(branch.points.size() < 200);
  CHECK(branch.bifurcations.size() == 1);
  CHECK(branch.begins == "end of the range");
  CHECK(branch.ends == "end of the range");
}

TEST_CASE("a friction that turns just before an impact, or that an impact stops: two events at one instant",
          "[long]") {
  Case c = over(
      "name = 'linear_stops'\nparameters = { w = 1.159, F = 0.087 }\nmass = [[1.69, 0], [0, 1.733]]\n"
      "damping = [[0.1717, -0.0723], [-0.0723, 0.1128]]\nstiffness = [[2.12, -0.892], [-0.892, 1.393]]\n"
      "omega = 'w'\nforce = [{ cosine = [1.111, 0.411] }]\n"
      "stop = [{ normal = [-1, 1], position = 0.442, restitution = 0.419 }]\n"
      "friction = [{ direction = [1, 0], amplitude = 'F' }]",
      "w", "F", {0.695, 1.739}, {0.03, 0.17});
  c.options.points = 30;
  Compared all;
  all.turns = 400;
  all.add(c, "a mass on the ground that another one strikes");
  INFO(all.others);
  CAPTURE(all.points, all.led, all.beside, all.alike);
  CHECK(all.points >= 4);
  CHECK(all.led == all.points);
  CHECK(all.beside >= 4);
  CHECK(all.alike == 0);
}

TEST_CASE("drifting: a block on a rough ground slides without a stick up to F = a/sqrt(1 + pi^2/4)") {
  // x'' + F sgn x' = a cos wt, nothing holds x: it turns where sin wt = pi F/(2 a) in half a period, and the
  // force there is just F where F^2 (1 + pi^2/4) = a^2, whatever w is.
  const Case c = over(
      "name = 'linear_stops'\nparameters = { F = 0.4 }\nmass = [[1]]\nstiffness = [[0]]\nomega = 1\n"
      "force = [{ cosine = [1] }]\nfriction = [{ direction = [1], amplitude = 'F' }]",
      "F", "a_1_1", {0.1, 0.8}, {0.5, 1.5});
  const std::vector<CurvePoint> all = curve_of(c, BifurcationKind::slip_border);
  CHECK(all.size() > 30);
  for (const CurvePoint& p : all) {
    CHECK(p.orbit.admissible);
    CHECK(std::abs(p.orbit.parameter - p.second / std::hypot(1, M_PI / 2)) < 1e-10);
  }
}

TEST_CASE("drifting: along a curve of period doublings the map has a multiplier of -1") {
  Case c = over("name = 'vibro_impact_capsule'\nomega = 0.7563408592583", "omega", "alpha", {0.7, 0.85},
                {1.5, 1.7});
  c.options.points = 12;
  const auto system = c.plane.family.system(c.at[0] + 1e-4);
  HybridState state = state_at({0, 0, 0, 0});
  for (int k = 0; k < 600; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
  const CurveStart start =
      start_curve(c.plane, {BifurcationKind::period_doubling, -1, {c.at[0], state.x, 1, 0, 0}, c.at[1]});
  INFO(start.reason);
  REQUIRE(start.solution);
  std::string ends;
  const std::vector<CurvePoint> all = walked(c, *start.solution, ends);
  CAPTURE(ends);
  CHECK(all.size() > 15);
  for (const CurvePoint& p : all) {
    const auto there = c.plane.at(p.second).system(p.orbit.parameter);
    const PoincareMap map(*there, Section{});
    HybridState on;
    on.x = p.orbit.orbit.front();
    const HybridState begin = on;
    Eigen::MatrixXd J = Eigen::MatrixXd::Identity(map.dimension(), map.dimension());
    REQUIRE(map.iterate(on, J) == Outcome::ok);
    CHECK(map.distance(on, begin, 1) < 1e-8);
    double nearest = 1;
    for (const auto& m : eigenvalues_of(J)) nearest = std::min(nearest, std::abs(m + 1.0));
    CHECK(nearest < 1e-6);
  }
}
