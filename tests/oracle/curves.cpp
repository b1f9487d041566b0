/// Curves over two parameters against reference points and closed forms.
#include "analysis/continuation/curve.hpp"

#include <Eigen/LU>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/curve_start.hpp"
#include "analysis/continuation/settled_start.hpp"
#include "analysis/maps/attractor.hpp"
#include "analysis/maps/multipliers.hpp"
#include "tests/dice.hpp"
#include "tests/family.hpp"

using namespace graze;
using namespace graze::test;

namespace {

struct ReferencePoint {
  double first;
  double second;
  std::vector<double> state;  ///< at phase zero
  bool admissible;
};

struct ReferenceCurve {
  const char* id;
  const char* model;
  const char* first;
  const char* second;
  const char* kind;
  const char* contact;
  int periods;
  const char* codim2;  ///< "": a curve, else a single point
  std::vector<ReferencePoint> points;
};

const std::vector<ReferenceCurve>& references() {
  static const std::vector<ReferenceCurve> list = {
#include "tests/oracle/independent/reference_curves.inc"
  };
  return list;
}

int index_in(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  REQUIRE(found != names.end());
  return static_cast<int>(found - names.begin());
}

Plane plane_of(const ReferenceCurve& c) {
  Plane plane;
  plane.family = family(c.model, c.first);
  plane.second = plane.family.model->parameter_index(c.second);
  double low[2] = {1e300, 1e300};
  double high[2] = {-1e300, -1e300};
  for (const ReferencePoint& p : c.points) {
    low[0] = std::min(low[0], p.first);
    high[0] = std::max(high[0], p.first);
    low[1] = std::min(low[1], p.second);
    high[1] = std::max(high[1], p.second);
  }
  for (int k = 0; k < 2; ++k) plane.widths[k] = std::max(0.3, high[k] - low[k]);
  return plane;
}

CurveStart start_at(const ReferenceCurve& c, const Plane& plane, const ReferencePoint& p) {
  CurveSeed seed;
  seed.kind = static_cast<BifurcationKind>(index_in(bifurcation_names(), c.kind));
  const auto& contacts = plane.family.model->contacts();
  for (std::size_t k = 0; k < contacts.size(); ++k)
    if (contacts[k].name == c.contact) seed.contact = static_cast<int>(k);
  seed.orbit.parameter = p.first;
  seed.orbit.state =
      Eigen::Map<const Eigen::VectorXd>(p.state.data(), static_cast<Eigen::Index>(p.state.size()));
  seed.orbit.periods = c.periods;
  seed.second = p.second;
  return start_curve(plane, seed);
}

CurveOptions around(const ReferenceCurve& c, const Plane& plane) {
  CurveOptions options;
  options.beyond = true;
  options.points = std::string(c.kind) == "chatter_border" ? 100 : 600;
  const ReferencePoint& p = c.points.front();
  for (int k = 0; k < 2; ++k) {
    const auto value = [k](const ReferencePoint& q) { return k == 0 ? q.first : q.second; };
    double low = value(p);
    double high = low;
    for (const ReferencePoint& q : c.points) {
      low = std::min(low, value(q));
      high = std::max(high, value(q));
    }
    const auto& parameters = plane.family.model->parameters();
    const int index = k == 0 ? plane.family.parameter : plane.second;
    const Range& range = parameters[static_cast<std::size_t>(index)].range;
    const double room = std::min(0.3 * plane.widths[k], 0.3 * std::abs(low));
    options.from[k] = std::max(low - room, range.low);
    options.to[k] = std::min(high + room, range.high);
  }
  return options;
}

/// All points of a curve, both ways from a start.
std::vector<CurveSolution> walked(const CurveSolution& start, const CurveOptions& options,
                                  std::string& ends) {
  std::vector<CurveSolution> all{start};
  for (const int direction : {-1, 1}) {
    CurveWalk walk(start, direction, options);
    while (walk.next()) all.push_back(walk.solution());
    ends += walk.end() + "; ";
  }
  return all;
}

struct Miss {
  double parameter = std::numeric_limits<double>::infinity();
  double state = std::numeric_limits<double>::infinity();
  bool admissible = false;
};

/// How far a curve is from a reference point, at the same value of the second or of the first parameter.
Miss missed(const std::vector<CurveSolution>& curve, const ReferencePoint& p) {
  Miss best;
  std::vector<const CurveSolution*> order;
  for (const CurveSolution& s : curve) order.push_back(&s);
  const auto away = [&](const CurveSolution* s) {
    return std::hypot((s->point.orbit.parameter - p.first) / s->equations->plane().widths[0],
                      (s->point.second - p.second) / s->equations->plane().widths[1]);
  };
  std::sort(order.begin(), order.end(), [&](auto* a, auto* b) { return away(a) < away(b); });
  const Eigen::VectorXd expected =
      Eigen::Map<const Eigen::VectorXd>(p.state.data(), static_cast<Eigen::Index>(p.state.size()));
  for (std::size_t k = 0; k < std::min<std::size_t>(4, order.size()); ++k) {
    const CurveSolution& s = *order[k];
    const CurveEquations& eq = *s.equations;
    const Eigen::Index m = eq.orbit_size();
    const bool steep = std::abs(s.tangent(m + 1) * s.weights(m + 1)) < std::abs(s.tangent(m) * s.weights(m));
    const Eigen::Index fixed = steep ? m : m + 1;
    const double target = steep ? p.first : p.second;
    Eigen::VectorXd guess = s.x + (target - s.x(fixed)) / s.tangent(fixed) * s.tangent;
    guess(fixed) = target;
    const auto found = solve_curve(eq, s.borders, s.weights, guess,
                                   Eigen::RowVectorXd::Unit(eq.size(), fixed) * s.weights(fixed));
    if (!found.ok) continue;
    CurveSolution there = s;
    there.x = found.x;
    there.values = *found.values;
    take_point(there);
    const double miss = std::hypot(there.point.orbit.parameter - p.first, there.point.second - p.second);
    if (!(miss < best.parameter) || there.point.orbit.orbit.empty()) continue;
    best.parameter = miss;
    best.state = std::numeric_limits<double>::infinity();
    for (const Eigen::VectorXd& state : there.point.orbit.orbit)
      best.state = std::min(best.state, (state - expected).cwiseAbs().maxCoeff());
    best.admissible = s.point.orbit.admissible;
  }
  return best;
}

}  // namespace

TEST_CASE("curves pass through all reference points", "[long]") {
  // A plane may be crossed by several pieces of what is one curve in more parameters.
  constexpr int most_pieces = 3;
  for (const ReferenceCurve& c : references()) {
    if (std::string(c.codim2) != "") continue;
    INFO(c.id);
    const Plane plane = plane_of(c);
    const double tolerance = std::string(c.kind) == "chatter_border" ? 1e-9 : 1e-10;
    std::vector<CurveSolution> curve;
    std::string ends;
    int pieces = 0;
    for (const ReferencePoint& p : c.points) {
      Miss miss = missed(curve, p);
      if (!(miss.parameter < 1e-6)) {
        const CurveStart start = start_at(c, plane, p);
        INFO(start.reason);
        REQUIRE(start.solution);
        ++pieces;
        const auto more = walked(*start.solution, around(c, plane), ends);
        curve.insert(curve.end(), more.begin(), more.end());
        miss = missed(curve, p);
      }
      INFO(ends);
      CAPTURE(p.first, p.second);
      CHECK(miss.parameter < tolerance);
      CHECK(miss.state < 100 * tolerance);
      CHECK(miss.admissible == p.admissible);
    }
    CHECK(pieces <= most_pieces);
  }
}

namespace {

/// The curve through a seed, both ways; admissible orbits only.
std::vector<CurvePoint> curve_through(const Plane& plane, const CurveSeed& seed,
                                      const CurveOptions& options) {
  const CurveStart start = start_curve(plane, seed);
  INFO(start.reason);
  REQUIRE(start.solution);
  std::string ends;
  std::vector<CurvePoint> points;
  for (const CurveSolution& s : walked(*start.solution, options, ends)) points.push_back(s.point);
  return points;
}

/// The oscillator x'' + b x' + x = F cos ωt with a stop at 1: one impact in a period.
struct OneImpact {
  double alpha, beta, e12, trace;

  OneImpact(double b, double r, double omega) {
    const double T = 2 * M_PI / omega;
    const double frequency = std::sqrt(1 - b * b / 4);
    const double decay = std::exp(-b * T / 2);
    const double c = std::cos(frequency * T);
    const double s = std::sin(frequency * T) / frequency;
    Eigen::Matrix2d E;
    E << c + b / 2 * s, s, -s, c - b / 2 * s;
    E *= decay;
    const Eigen::Matrix2d Q = (E - Eigen::Matrix2d::Identity()).inverse();
    alpha = (1 + r) * Q(0, 1);
    beta = r + (1 + r) * Q(1, 1);
    e12 = E(0, 1);
    trace = E.trace();
  }
};

struct Window {
  Plane plane;
  CurveOptions options;
};

/// A part of a plane of two parameters, of which the family has the first.
Window window(const Family& family, const std::string& second, const double (&first_range)[2],
              const double (&second_range)[2]) {
  Window w;
  w.plane.family = family;
  w.plane.second = family.model->parameter_index(second);
  const double* const ranges[] = {first_range, second_range};
  for (int k = 0; k < 2; ++k) {
    w.options.from[k] = ranges[k][0];
    w.options.to[k] = ranges[k][1];
    w.plane.widths[k] = ranges[k][1] - ranges[k][0];
  }
  return w;
}

double force_of(double amplitude, double b, double omega) {
  return amplitude * std::hypot(1 - omega * omega, b * omega);
}

}  // namespace

TEST_CASE("impact oscillator: fold, period doubling and grazing at the closed forms along whole curves") {
  constexpr double b = 0.05;
  constexpr double r = 0.8;
  const auto [plane, options] = window(family("name = 'impact_oscillator'\nb = 0.05\nr = 0.8\nstop = 1", "F"),
                                       "omega", {0.01, 1.5}, {0.6, 2.4});
  CurveOptions beyond = options;
  beyond.beyond = true;  // the impact passes through speed zero to negative, virtual ones
  const auto fold = curve_through(
      plane,
      {BifurcationKind::fold, -1, {0.0536080120, Eigen::Vector2d(-0.10432833, 1.00975182), 1, 0, 0}, 1.05},
      beyond);
  CHECK(fold.size() > 100);
  int behind = 0;
  for (const CurvePoint& p : fold) {
    const OneImpact o(b, r, p.second);
    const double G = std::abs(o.beta) / std::hypot(p.second * o.alpha, o.beta);
    const double speed = o.alpha / (o.alpha * o.alpha + std::pow(o.beta / p.second, 2));
    if (std::abs(speed) > 1e-9) CHECK(p.orbit.admissible == (speed > 0));
    if (speed < 0) ++behind;
    CHECK(std::abs(p.orbit.parameter - force_of(G, b, p.second)) < 1e-10);
  }
  CHECK(behind > 20);
  for (const ReferenceCurve& c : references()) {
    if (std::string(c.id) != "io-A-pd-omega-F-n1-0_68") continue;
    const ReferencePoint& q = c.points[3];
    const auto doubling = curve_through(plane,
                                        {BifurcationKind::period_doubling,
                                         -1,
                                         {q.second, Eigen::Vector2d(q.state[0], q.state[1]), 1, 0, 0},
                                         q.first},
                                        options);
    CHECK(doubling.size() > 50);
    for (const CurvePoint& p : doubling) {
      const double w = p.second;
      const OneImpact o(b, r, w);
      const double T = 2 * M_PI / w;
      const double y = -(1 + r) * o.e12 * w * w /
                       (-1 - r * r * std::exp(-b * T) + r * o.trace +
                        (1 + r) * o.e12 * ((1 - w * w) * o.alpha + o.beta * b));
      const double G = std::hypot(1 - o.alpha * y, o.beta * y / w);
      CHECK(std::abs(p.orbit.parameter - force_of(G, b, w)) < 1e-10);
    }
  }
  const double F = force_of(1, b, 1.3);
  const std::complex<double> X = F / std::complex<double>(1 - 1.3 * 1.3, b * 1.3);
  const auto grazing = curve_through(
      plane, {BifurcationKind::grazing, 0, {F, Eigen::Vector2d(X.real(), -1.3 * X.imag()), 1, 0, 0}, 1.3},
      options);
  CHECK(grazing.size() > 100);
  for (const CurvePoint& p : grazing) CHECK(std::abs(p.orbit.parameter - force_of(1, b, p.second)) < 1e-10);
}

namespace {

/// A rigid or a compliant stop touched at the gap of a plane (gap, second).
std::vector<CurvePoint> touches_of(const std::string& system, const std::string& second, double gap,
                                   const Eigen::VectorXd& state, const double (&range)[2]) {
  const auto [plane, options] = window(family(system, "gap"), second, {0.01, 3}, range);
  const double from = plane.family.model->parameters()[static_cast<std::size_t>(plane.second)].value;
  return curve_through(plane, {BifurcationKind::grazing, 0, {gap, state, 1, 0, 0}, from}, options);
}

}  // namespace

TEST_CASE("grazing with dry friction: the amplitude is Den Hartog's along the whole curve") {
  // x'' + x + F sgn x' = cos wt without a stick: A^2 = V^2 - F^2 U^2, V = 1/(1 - w^2),
  // U = sin(pi/w)/(w (1 + cos(pi/w))); at the turning points, x = A, the force is (V cos, F) as A and
  // U F say (Den Hartog 1931).
  const double w = 1.5, F = 0.2;
  const std::string system =
      "name = 'linear_stops'\nparameters = { gap = 1, F = 0.2 }\nmass = [[1]]\nstiffness = [[1]]\n"
      "omega = 1.5\nforce = [{ cosine = [1] }]\n"
      "stop = [{ normal = [1], position = 'gap', restitution = 0.7 }]\n"
      "friction = [{ direction = [1], amplitude = 'F' }]";
  const double V = 1 / (1 - w * w), U = std::sin(M_PI / w) / (w * (1 + std::cos(M_PI / w)));
  const auto amplitude = [&](double friction) { return std::sqrt(V * V - friction * friction * U * U); };
  const auto free = make_system(
      "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nomega = 1.5\n"
      "force = [{ cosine = [1] }]\n"
      "friction = [{ direction = [1], amplitude = 0.2 }]");
  HybridState settled = state_at({amplitude(F), 0});
  REQUIRE(free->advance(settled, for_time(400 * free->period()), nullptr) == Outcome::ok);
  const auto grazing = touches_of(system, "F", amplitude(F), settled.x, {0.02, 0.4});
  CHECK(grazing.size() > 20);
  double least = 1, greatest = 0;
  for (const CurvePoint& p : grazing) {
    CHECK(p.orbit.admissible);
    CHECK(std::abs(p.orbit.parameter - amplitude(p.second)) < 1e-10);
    least = std::min(least, p.second);
    greatest = std::max(greatest, p.second);
  }
  CHECK(least == 0.02);
  CHECK(greatest == 0.4);
}

TEST_CASE(
    "grazing of a body that friction holds on another one: they stay as they are along the whole curve") {
  // Held at x − y = s both move as one: x = o + A cos(ωt − φ), k₁ o + k₂ (o − s) = 0 with each body's own
  // spring, A = (f₁ + f₂)/|k₁ + k₂ − m ω² + i c ω|. Any s small enough is an orbit.
  const double k1 = 1.9, k2 = 1.2, m = 1.3 + 0.8, c = 0.2, f2 = 0.3, s = 0.15, w = 0.9;
  const auto amplitude = [&](double omega, double f1) {
    return (f1 + f2) / std::abs(std::complex<double>(k1 + k2 - m * omega * omega, c * omega));
  };
  const double middle = k2 * s / (k1 + k2);
  const std::string system =
      "name = 'linear_stops'\nparameters = { f = 0.4 }\nmass = [[1.3, 0], [0, 0.8]]\n"
      "damping = [[0.2, 0], [0, 0]]\nstiffness = [[1.9, 0], [0, 1.2]]\nomega = 0.9\n"
      "force = [{ cosine = ['f', 0.3] }]\nfriction = [{ direction = [1, -1], amplitude = 5 }]\n"
      "stop = [{ normal = [1, 0], position = 0.6, restitution = 0.8 }]";
  const auto [plane, options] = window(family(system, "f"), "omega", {0.01, 3}, {0.7, 1.1});
  // The force at which the greatest x is just before the stop.
  const double f = (0.6 - 1e-6 - middle) / amplitude(w, 0) * f2 - f2;
  const std::complex<double> X = (f + f2) / std::complex<double>(k1 + k2 - m * w * w, c * w);
  const Eigen::Vector4d state(middle + X.real(), -w * X.imag(), middle - s + X.real(), -w * X.imag());
  const auto grazing = curve_through(plane, {BifurcationKind::grazing, 0, {f, state, 1, 0, 0}, w}, options);
  CHECK(grazing.size() > 20);
  for (const CurvePoint& p : grazing) {
    CHECK(std::abs(p.orbit.state(0) - p.orbit.state(2) - s) < 1e-11);
    CHECK(std::abs(middle + amplitude(p.second, p.orbit.parameter) - 0.6) < 1e-10);
  }
}

TEST_CASE("a curve of period doublings ends where a turning point beside dry friction touches the stop") {
  // The gap is least where friction turns the body round, at a corner of its acceleration. At the end of the
  // curve the orbit has one impact, and another turning point exactly at the stop.
  const auto model = [](double omega, double force) {
    return "name = 'linear_stops'\nparameters = { p = " + fmt_double(force) + " }\nmass = [[1.207]]\n" +
           "damping = [[0.24556]]\nstiffness = [[3.503]]\nomega = " + fmt_double(omega) +
           "\nforce = [{ cosine = ['p'] }]\nfriction = [{ direction = [1], amplitude = 0.081 }]\n"
           "stop = [{ normal = [-1], position = 0.345, stiffness = 97.36, damping = 0.235 }]";
  };
  const auto [plane, options] =
      window(family(model(1.482, 0.518), "omega"), "p", {1.353, 1.611}, {0.3722, 0.6638});
  const Eigen::Vector2d state(0.30436981885929437, 0.23115779995664137);
  const CurveStart start = start_curve(
      plane,
      {BifurcationKind::period_doubling, -1, {1.3982176438605927, state, 2, 0, 0}, 0.45351309705389986});
  INFO(start.reason);
  REQUIRE(start.solution);
  int located = 0;
  for (const int direction : {-1, 1}) {
    CurveWalk walk(*start.solution, direction, options);
    while (walk.next()) {
      for (const Codim2& found : walk.passed()) {
        if (found.kind != Codim2Kind::grazing_period_doubling) continue;
        const auto system = make_system(model(found.at.parameter, found.second));
        HybridState there = state_at({found.at.orbit.front()(0), found.at.orbit.front()(1)});
        Log log;
        REQUIRE(system->advance(there, for_time(2 * system->period()), &log) == Outcome::ok);
        double nearest = 1;
        for (const Log::Entry& e : log.of(EventKind::slip_reversal))
          nearest = std::min(nearest, std::abs(e.before[0] + 0.345));
        CHECK(nearest < 1e-11);
        ++located;
      }
    }
  }
  CHECK(located == 2);
}

TEST_CASE("grazing of a compliant stop: the amplitude of the linear oscillator along the whole curve") {
  // x'' + b x' + x = a cos wt: |X| = a/|1 - w^2 + i b w|, whatever the stop behind the gap is.
  constexpr double b = 0.1, w = 1.5;
  const std::complex<double> X = 1.0 / std::complex<double>(1 - w * w, b * w);
  for (const char* law :
       {"stiffness = 20", "stiffness = 20, damping = 0.8", "stiffness = 20, damping = 0.8, preload = 0.1",
        "stiffness = 20, damping = 0.8, release = 'gap'"}) {
    CAPTURE(law);
    const auto grazing = touches_of(
        "name = 'linear_stops'\nparameters = { gap = 1, a = 1 }\nmass = [[1]]\ndamping = [[0.1]]\n"
        "stiffness = [[1]]\nomega = 1.5\nforce = [{ cosine = ['a'] }]\n"
        "stop = [{ normal = [1], position = 'gap', " +
            std::string(law) + " }]",
        "a", std::abs(X), Eigen::Vector2d(X.real(), -w * X.imag()), {0.05, 3});
    CHECK(grazing.size() > 20);
    double least = 3, greatest = 0;
    for (const CurvePoint& p : grazing) {
      CHECK(p.orbit.admissible);
      CHECK(std::abs(p.orbit.parameter - p.second * std::abs(X)) < 1e-10);
      least = std::min(least, p.second);
      greatest = std::max(greatest, p.second);
    }
    CHECK(least == 0.05);
    CHECK(greatest > 2.5);
  }
}

TEST_CASE("a compliant stop has resonant grazings where a preload kicks: at w = 2 sqrt(1 - b^2/4)") {
  // A force that is there at once acts, for a short contact, as an impact does: its kick turns the branch
  // round where a free flight over one period does not tell a change of velocity by the position. Without a
  // preload the speed of the contact is of no effect to first order.
  constexpr double b = 0.1, w = 1.8;
  const double resonance = 2 * std::sqrt(1 - b * b / 4);
  const std::complex<double> X = 1.0 / std::complex<double>(1 - w * w, b * w);
  for (const auto& [law, expected] : {std::pair(", damping = 0.6, preload = 0.5", 1),
                                      {", preload = 0.5", 1},
                                      {", damping = 0.6", 0},
                                      {"", 0}}) {
    CAPTURE(law);
    const std::string system =
        std::string(
            "name = 'linear_stops'\nparameters = { gap = 1 }\nmass = [[1]]\ndamping = [[0.1]]\n"
            "stiffness = [[1]]\nomega = 1.8\nforce = [{ cosine = [1] }]\n"
            "stop = [{ normal = [1], position = 'gap', stiffness = 20") +
        law + " }]";
    const auto [plane, options] = window(family(system, "gap"), "omega", {0.01, 3}, {1.6, 2.4});
    const Eigen::Vector2d state(X.real(), -w * X.imag());
    const CurveStart start =
        start_curve(plane, {BifurcationKind::grazing, 0, {std::abs(X), state, 1, 0, 0}, w});
    INFO(start.reason);
    REQUIRE(start.solution);
    int resonant = 0;
    for (const int direction : {-1, 1}) {
      CurveWalk walk(*start.solution, direction, options);
      while (walk.next()) {
        for (const Codim2& found : walk.passed()) {
          if (found.kind != Codim2Kind::resonant_grazing) continue;
          CHECK(std::abs(found.second - resonance) < 1e-9);
          resonant = 1;
        }
      }
    }
    CHECK(resonant == expected);
  }
}

/// A mass that comes to rest on one stop in every turn starts from there as ever: no speed of a hit elsewhere
/// reaches the next turn, and no fold or doubling can end on the curve of that grazing.
TEST_CASE("grazing points of orbits that stick meanwhile have no resonances") {
  const auto [plane, options] = window(
      family(
          "name = 'linear_stops'\nparameters = { gap = 1 }\nmass = [[1]]\ndamping = [[0.2]]\n"
          "stiffness = [[0.9]]\nomega = 0.6\nforce = [{ cosine = [1.2] }]\n"
          "stop = [{ normal = [-1], position = 0.1, restitution = 0.4 }, { normal = [1], position = 'gap', "
          "restitution = 0.8 }]",
          "gap"),
      "omega", {0.1, 4}, {0.4, 0.8});
  double reached = 0.1, passed = 4;  // by the second stop
  HybridState state;
  while (passed - reached > 1e-9) {
    const double gap = (reached + passed) / 2;
    const auto system = plane.family.system(gap);
    state = state_at({0, 0});
    for (int k = 0; k < 40; ++k) REQUIRE(system->advance(state, {}, nullptr) == Outcome::ok);
    Log log;
    REQUIRE(system->advance(state, {}, &log) == Outcome::ok);
    REQUIRE(!log.of(EventKind::stick).empty());
    const auto impacts = log.of(EventKind::impact);
    const bool hits =
        std::any_of(impacts.begin(), impacts.end(), [](const auto& e) { return e.contact == 1; });
    (hits ? reached : passed) = gap;
  }
  const CurveStart start = start_curve(plane, {BifurcationKind::grazing, 1, {passed, state.x, 1, 0, 0}, 0.6});
  INFO(start.reason);
  REQUIRE(start.solution);
  int points = 0;
  for (const int direction : {-1, 1}) {
    CurveWalk walk(*start.solution, direction, options);
    while (walk.next()) {
      ++points;
      CHECK(walk.passed().empty());
    }
  }
  CHECK(points > 20);
}

TEST_CASE("impact pair: fold and symmetry breaking of the symmetric motion at the closed forms") {
  // An impact at the upper wall at phase φ: c ω²/a = β sin φ − 2 cos φ, β = π (1 + r)/(1 − r). The motion
  // over half a period, mirrored, has the multiplier 1 where tan φ = −β/2 (fold) and −1 where tan φ =
  // π²/(2β).
  const auto beta = [](double r) { return M_PI * (1 + r) / (1 - r); };
  const auto force = [&](double r, double omega, double phi) {
    return 2 * omega * omega / (beta(r) * std::sin(phi) - 2 * std::cos(phi));
  };
  for (const bool fold : {true, false}) {
    CAPTURE(fold);
    const auto phase = [&](double r) {
      return fold ? M_PI - std::atan(beta(r) / 2) : std::atan(M_PI * M_PI / (2 * beta(r)));
    };
    for (const char* second : {"r", "omega"}) {
      constexpr double r = 0.6;
      constexpr double omega = 1;
      const double phi = phase(r);
      const double a = force(r, omega, phi);
      const double v = 2 * a * std::sin(phi) / (1 - r);  // before the impact
      const Eigen::Vector2d state(1 - (v * phi - a * std::sin(phi) * phi + a * (1 - std::cos(phi))),
                                  v - a * std::sin(phi));
      Plane plane;
      plane.family = family("name = 'impact_pair'", "a");
      plane.second = plane.family.model->parameter_index(second);
      const bool over_r = std::string(second) == "r";
      CurveOptions options;
      options.from[0] = 0.01;
      options.to[0] = 5;
      options.from[1] = over_r ? 0.3 : 0.5;
      options.to[1] = over_r ? 0.9 : 2;
      plane.widths[0] = 2;
      plane.widths[1] = options.to[1] - options.from[1];
      const auto points = curve_through(plane,
                                        {fold ? BifurcationKind::fold : BifurcationKind::branch_point,
                                         -1,
                                         {a, state, 1, 0, 0},
                                         over_r ? r : omega},
                                        options);
      CHECK(points.size() > 40);
      for (const CurvePoint& p : points) {
        const double at_r = over_r ? p.second : r;
        const double at_omega = over_r ? omega : p.second;
        CHECK(std::abs(p.orbit.parameter - force(at_r, at_omega, phase(at_r))) < 1e-10);
      }
    }
  }
}

namespace {

/// The point of codimension two nearest to its reference, walked to from both sides, and how far it is from
/// it.
struct NearestCodim2 {
  std::optional<Codim2> point;
  double away = 1e300;
  std::string ends;
};

NearestCodim2 located_at(const ReferenceCurve& c, const Plane& plane, double tolerance) {
  NearestCodim2 best;
  const ReferencePoint& p = c.points.front();
  for (const double aside : {0.0, 1e-6, -1e-6, 1e-4, -1e-4}) {
    ReferencePoint begin = p;
    begin.first *= 1 + aside;
    const CurveStart start = start_at(c, plane, begin);
    best.ends += start.reason;
    for (const int away : {1, -1}) {
      if (!start.solution || best.away < tolerance) break;
      CurveOptions options = around(c, plane);
      options.step = 5e-3;
      CurveWalk there(*start.solution, away, options);
      for (int k = 0; k < 5 && there.next(); ++k) continue;
      CurveWalk back(there.solution(), -1, options);
      for (int k = 0; k < 30 && back.next(); ++k) {
        for (const Codim2& found : back.passed()) {
          const double off = std::hypot(found.at.parameter - p.first, found.second - p.second);
          if (codim2_names()[static_cast<std::size_t>(found.kind)] != c.codim2 || off >= best.away) continue;
          best.point = found;
          best.away = off;
        }
      }
      best.ends += there.end() + "; " + back.end() + "; ";
    }
    if (best.away < tolerance) break;
  }
  return best;
}

}  // namespace

TEST_CASE("points of codimension two are located at their reference", "[long]") {
  for (const ReferenceCurve& c : references()) {
    const std::string kind = c.codim2;
    if (kind == "") continue;
    INFO(c.id);
    // A normal-form coefficient comes from differences, other conditions are exact.
    const double tolerance = kind == "generalized_period_doubling" ? 2e-9 : 1e-10;
    const NearestCodim2 found = located_at(c, plane_of(c), tolerance);
    INFO(found.ends);
    CHECK(found.away < tolerance);
  }
}

TEST_CASE("folds of doubled orbits emanate from generalized period doublings, and lead to them") {
  // The doubled orbits, x → −x + 2 (β₁ x + β₂ x³ + x⁵), fold at β₁ = x⁴, β₂ = −2 x²: the parameters go away
  // with the square of the amplitude, and along the curve of period doublings.
  int count = 0;
  for (const ReferenceCurve& c : references()) {
    if (std::string(c.codim2) != "generalized_period_doubling") continue;
    INFO(c.id);
    const Plane plane = plane_of(c);
    const ReferencePoint& p = c.points.front();
    const NearestCodim2 found = located_at(c, plane, 2e-9);
    REQUIRE(found.point);
    std::optional<CurveSolution> fold, doubling;
    for (const CurveSolution& s : emanating(plane, *found.point)) {
      const BifurcationKind kind = s.equations->condition().kind;
      (kind == BifurcationKind::fold ? fold : doubling) = s;
    }
    REQUIRE(fold);
    REQUIRE(doubling);
    CHECK(fold->equations->itinerary().periods == 2 * c.periods);
    CurveOptions options = around(c, plane);
    options.beyond = false;
    const auto way = [&](const CurvePoint& at) -> Eigen::Vector2d {
      return {at.orbit.parameter - p.first, at.second - p.second};
    };
    int back = 0;
    for (const int direction : {1, -1}) {
      CurveWalk walk(*fold, direction, options);
      std::vector<double> shares;
      for (int k = 0; k < 100 && walk.next(); ++k) {
        const double apart = halves_apart(plane.at(walk.point().second), walk.point().orbit).norm();
        shares.push_back(way(walk.point()).norm() / (apart * apart));
      }
      if (!walk.at_half()) continue;
      ++back;
      const auto end = halves_meet_near(walk.solution(), options);
      REQUIRE(end);
      CHECK(std::hypot(end->at.parameter - p.first, end->second - p.second) < 2e-9);
      REQUIRE(shares.size() > 2);
      for (std::size_t k = shares.size() - 3; k < shares.size(); ++k)
        CHECK(shares[k] == Approx(shares.back()).epsilon(0.05));
      const Eigen::Index m = doubling->equations->orbit_size();
      const Eigen::Vector2d along = doubling->tangent.segment(m, 2).normalized();
      const Eigen::Vector2d last = way(walk.point()).normalized();
      CHECK(std::abs(along(0) * last(1) - along(1) * last(0)) < 1e-3);
    }
    CHECK(back == 1);
    ++count;
  }
  CHECK(count == 15);
}

TEST_CASE("along curves the motion closes, where what rubs on a stop turns before it leaves it, too") {
  const auto [plane, options] = window(
      family("name = 'linear_stops'\nparameters = { F = 1.0 }\nomega = 0.863\n"
             "mass = [[0.572, 0], [0, 0.535]]\ndamping = [[0.07884, -0.017577], [-0.017577, 0.054621]]\n"
             "stiffness = [[2.92, -0.651], [-0.651, 2.023]]\n"
             "force = [{ cosine = ['F*0.938', 'F*0.816'] }]\n"
             "stop = [{ normal = [0, 1], position = 0.548, stiffness = 8.653, damping = 0.834, "
             "mu = 0.313, slip = [1, 0] }]",
             "omega"),
      "F", {0.66451, 1.06149}, {0.8, 1.2});
  const Eigen::Vector4d state(0.34701917445058933, -0.07041852698090396, 0.3124580809620176,
                              -0.03786841847248712);
  const CurveStart start =
      start_curve(plane, {BifurcationKind::grazing, 0, {0.903286355969123, state, 1, 0, 0}, 1});
  INFO(start.reason);
  REQUIRE(start.solution);
  int located = 0, points = 0;
  for (const int direction : {-1, 1}) {
    CurveWalk walk(*start.solution, direction, options);
    while (walk.next()) {
      for (const Codim2& c : walk.passed()) {
        if (c.kind == Codim2Kind::simultaneous) ++located;
      }
      if (!walk.point().orbit.admissible) continue;
      ++points;
      const BranchPoint& p = walk.point().orbit;
      const auto system = plane.at(walk.point().second).system(p.parameter);
      HybridState turned = state_at({p.orbit.front().begin(), p.orbit.front().end()});
      REQUIRE(PoincareMap(*system, plane.family.section).iterate(turned) == Outcome::ok);
      CHECK((turned.x - p.orbit.front()).norm() < 1e-9);
    }
    CHECK(walk.end() == "end of the range");
  }
  CHECK(points > 100);
  CHECK(located == 2);
}

TEST_CASE("Neimark-Sacker points of doubled orbits end on the curve of period doublings") {
  // There the single orbit has the multipliers -1 and exp(±iθ) under the map itself, or -1 twice, and the
  // doubled orbits go away with the square root of the parameters.
  const auto [plane, options] =
      window(family("name = 'linear_stops'\nparameters = { F = 1.0 }\nomega = 0.78\n"
                    "mass = [[0.599, 0], [0, 1.218]]\ndamping = [[0.30042, -0.12294], [-0.12294, 0.23904]]\n"
                    "stiffness = [[3.338, -1.366], [-1.366, 2.656]]\n"
                    "force = [{ cosine = ['F*0.557', 'F*0.508'] }]\n"
                    "stop = [{ normal = [1, 0], position = 0.266, restitution = 0.696 }]",
                    "omega"),
             "F", {0.6006, 0.9594}, {0.8, 1.2});
  const Eigen::Vector4d state(0.24651179507632195, 0.048342181588281005, 0.5655421834720971,
                              -0.031122586192536217);
  const CurveStart start =
      start_curve(plane, {BifurcationKind::neimark_sacker, -1, {0.765379693199568, state, 2, 0, 0}, 1});
  INFO(start.reason);
  REQUIRE(start.solution);
  std::set<Codim2Kind> ends;
  for (const int direction : {-1, 1}) {
    CurveWalk walk(*start.solution, direction, options);
    std::vector<std::pair<Eigen::Vector2d, double>> points;
    while (walk.next()) {
      const double apart = halves_apart(plane.at(walk.point().second), walk.point().orbit).norm();
      points.push_back({{walk.point().orbit.parameter, walk.point().second}, apart * apart});
    }
    if (!walk.at_half()) continue;
    const auto end = halves_meet_near(walk.solution(), options);
    REQUIRE(end);
    CHECK(end->at.periods == 1);
    const bool flips_twice = end->kind == Codim2Kind::resonance_1_2;
    if (!flips_twice) CHECK(end->kind == Codim2Kind::flip_neimark_sacker);
    ends.insert(end->kind);
    const auto system = plane.at(end->second).system(end->at.parameter);
    const Eigen::VectorXd& begin = end->at.orbit.front();
    HybridState single = state_at({begin.begin(), begin.end()});
    Eigen::MatrixXd turn = Eigen::MatrixXd::Identity(4, 4);
    REQUIRE(PoincareMap(*system, plane.family.section).iterate(single, turn) == Outcome::ok);
    int flips = 0, pair = 0;
    for (const std::complex<double>& m : eigenvalues(turn)) {
      if (std::abs(m + 1.0) < (flips_twice ? 1e-4 : 1e-8))  // of a double one the root of rounding
        ++flips;
      else if (m.imag() != 0 && std::abs(std::abs(m) - 1) < 1e-8)
        ++pair;
    }
    CHECK(flips == (flips_twice ? 2 : 1));
    CHECK(pair == (flips_twice ? 0 : 2));
    REQUIRE(points.size() > 2);
    const auto share = [&](std::size_t back) {
      const auto& [place, square] = points[points.size() - back];
      return (place - Eigen::Vector2d(end->at.parameter, end->second)).norm() / square;
    };
    CHECK(share(2) == Approx(share(1)).epsilon(0.05));
    std::vector<int> periods;
    for (const CurveSolution& s : emanating(plane, *end)) {
      if (s.equations->condition().kind == BifurcationKind::neimark_sacker)
        periods.push_back(s.equations->itinerary().periods);
    }
    CHECK(periods == std::vector<int>{1, 2});
  }
  CHECK(ends == std::set<Codim2Kind>{Codim2Kind::flip_neimark_sacker, Codim2Kind::resonance_1_2});
}

TEST_CASE("grazing points of doubled orbits end at the resonance w = 2 sqrt(1 - b^2/4)") {
  // There the touching orbit without impacts, of amplitude F/|1 - w^2 + i b w| = 1, doubles its period when
  // it hits.
  constexpr double b = 0.1;
  const auto [plane, options] =
      window(family("name = 'linear_stops'\nparameters = { F = 3.2 }\nomega = 1.9\nmass = [[1]]\n"
                    "damping = [[0.1]]\nstiffness = [[1]]\nforce = [{ cosine = ['F'] }]\n"
                    "stop = [{ normal = [1], position = 1, restitution = 0.8 }]",
                    "omega"),
             "F", {1.6, 2.4}, {1, 6});
  const CurveStart start = start_curve(
      plane, {BifurcationKind::grazing,
              0,
              {2.28657972105515, Eigen::Vector2d(-2.675706202642822, 0.4255591745161422), 2, 0, 0},
              3.2});
  INFO(start.reason);
  REQUIRE(start.solution);
  int met = 0;
  for (const int direction : {-1, 1}) {
    CurveWalk walk(*start.solution, direction, options);
    while (walk.next()) continue;
    if (!walk.at_half()) continue;
    ++met;
    const auto end = halves_meet_near(walk.solution(), options);
    REQUIRE(end);
    CHECK(end->kind == Codim2Kind::resonant_grazing);
    const double w = 2 * std::sqrt(1 - b * b / 4);
    CHECK(end->at.parameter == Approx(w).epsilon(1e-11));
    CHECK(end->second == Approx(std::hypot(1 - w * w, b * w)).epsilon(1e-11));
  }
  CHECK(met == 1);
}

namespace {

/// What a motion settles to.
struct Settled {
  Signature events;  ///< of a motion that is not periodic none, and minus its class for the periods
  Eigen::VectorXd state;
};

/// What a motion settles to beside a curve. Nothing: undetermined.
std::optional<Settled> settled(const Plane& plane, double first, const CurvePoint& p) {
  const Family family = plane.at(p.second);
  const auto system = family.system(first);
  if (!system || p.orbit.orbit.empty()) return std::nullopt;
  AttractorOptions options;
  options.transient = 3000;
  // On the side on which the orbit of the curve goes on it has moved, and its basin may be narrow.
  Eigen::VectorXd begin = p.orbit.orbit.front();
  const auto orbit = find_orbit(family, {first, begin, p.orbit.signature.periods, 0, 0});
  if (orbit && orbit->point.stable) begin = orbit->point.orbit.front();
  const Attractor found =
      find_attractor(PoincareMap(*system, family.section), state_at({begin.begin(), begin.end()}), options);
  if (found.kind == AttractorClass::undetermined || found.kind == AttractorClass::failed) return std::nullopt;
  Settled told;
  told.state = found.points.front().x;
  told.events.periods = -static_cast<int>(found.kind);
  if (found.kind == AttractorClass::periodic)
    told.events = signature_of(record_turn(*system, told.state, found.orbit.period));
  return told;
}

struct Comparison {
  int compared = 0;
  int alike = 0;  ///< of these
};

/// By simulation alone, what the system settles to on both sides of points of fold, doubling and grazing
/// curves of stable orbits: along the reference curves that `chosen` says, as far as it says.
Comparison across_curves(const std::function<bool(const ReferenceCurve&, CurveOptions&)>& chosen) {
  constexpr double aside = 2e-3;  // of the range of the first parameter
  constexpr double far = 0.1;     // of the orbit's size: another attractor, though with the same events
  Comparison result;
  for (const ReferenceCurve& c : references()) {
    const std::string kind = c.kind;
    if (std::string(c.codim2) != "" || std::string(c.model).find("two_dof_stops") == std::string::npos)
      continue;
    if (kind != "fold" && kind != "period_doubling" && kind != "grazing") continue;
    const Plane plane = plane_of(c);
    CurveOptions options = around(c, plane);
    options.beyond = false;
    if (!chosen(c, options)) continue;
    const CurveStart start = start_at(c, plane, c.points.front());
    REQUIRE(start.solution);
    std::string ends;
    for (const CurveSolution& s : walked(*start.solution, options, ends)) {
      const CurvePoint& p = s.point;
      const Eigen::Index m = s.equations->orbit_size();
      const bool across = std::abs(s.tangent(m + 1) * s.weights(m + 1)) > 0.3;
      if (!p.orbit.admissible || !p.orbit.stable || !across) continue;
      const auto low = settled(plane, p.orbit.parameter - aside * plane.widths[0], p);
      const auto high = settled(plane, p.orbit.parameter + aside * plane.widths[0], p);
      if (!low || !high) continue;
      ++result.compared;
      const double jump = (low->state - high->state).cwiseAbs().maxCoeff();
      if (low->events == high->events && jump < far * p.orbit.size) ++result.alike;
    }
  }
  return result;
}

/// A Duffing oscillator at a wall, over force and frequency.
Window duffing_window(const double (&forces)[2], const double (&frequencies)[2]) {
  return window(family("name = 'equations'\nparameters = { F = 1.0, omega = 0.9 }\ncoordinates = ['x']\n"
                       "force = { x = \"F*cos(omega*t) - 0.04*x' - x - 0.5*x^3\" }\nperiod = '2*pi/omega'\n"
                       "contact = [{ name = 'wall', gap = '0.8 - x', restitution = 0.7 }]",
                       "F"),
                "omega", forces, frequencies);
}

/// Located points of a kind on a curve.
std::vector<Codim2> located_on(const CurveSolution& start, const CurveOptions& options, Codim2Kind kind) {
  std::vector<Codim2> found;
  for (const int direction : {-1, 1}) {
    CurveWalk walk(start, direction, options);
    while (walk.next()) {
      for (const Codim2& c : walk.passed()) {
        if (c.kind == kind) found.push_back(c);
      }
    }
  }
  return found;
}

}  // namespace

TEST_CASE("what happens on a curve just before the end of its range is located") {
  // On the curve of folds a second impact grazes, on that of these grazings the orbit folds: the same point,
  // between the last point within the range and its end.
  const auto [plane, options] = duffing_window({1.4, 1.4877}, {0.93, 0.98});
  const CurveSeed seeds[] = {{BifurcationKind::fold,
                              -1,
                              {1.480666268105829, Eigen::Vector2d(-0.34997468, -1.37370597), 1, 0, 0},
                              0.9594974775939971},
                             {BifurcationKind::grazing,
                              0,
                              {1.4855653336089931, Eigen::Vector2d(-0.35160979, -1.37660376), 1, 0, 0},
                              0.9603930157331486}};
  std::vector<Codim2> found;
  for (const CurveSeed& seed : seeds) {
    const CurveStart start = start_curve(plane, seed);
    REQUIRE(start.solution);
    const auto on = located_on(*start.solution, options, Codim2Kind::grazing_fold);
    REQUIRE(on.size() == 1);
    found.push_back(on.front());
  }
  CHECK(std::abs(found[0].at.parameter - found[1].at.parameter) < 1e-11);
  CHECK(std::abs(found[0].second - found[1].second) < 1e-11);
  CHECK(found[0].at.parameter < options.to[0]);
  // Each leads to the other curve.
  for (std::size_t k = 0; k < 2; ++k) {
    const auto starts = emanating(plane, found[k]);
    REQUIRE(starts.size() == 1);
    CHECK(starts.front().equations->condition().kind == seeds[1 - k].kind);
    CHECK(std::abs(starts.front().point.orbit.parameter - found[k].at.parameter) < 1e-9);
    CHECK(std::abs(starts.front().point.second - found[k].second) < 1e-9);
  }
}

TEST_CASE("what the system settles to changes across the curves of stable orbits", "[long]") {
  const auto [compared, alike] = across_curves([](const ReferenceCurve&, CurveOptions& options) {
    options.points = 30;
    return true;
  });
  CAPTURE(compared, alike);
  CHECK(compared > 300);
  CHECK(alike <= compared / 50);
}

TEST_CASE("frequency and mass ratio: 1000 points of curves against simulation", "[heavy]") {
  // The plane of data/cases/mass_ratio_map.toml.
  const auto [compared, alike] = across_curves([](const ReferenceCurve& c, CurveOptions& options) {
    const double from[] = {0.2, 0.5}, to[] = {1.5, 2.0};
    std::copy(from, from + 2, options.from);
    std::copy(to, to + 2, options.to);
    options.points = 1000;
    options.step /= 4;
    return std::string(c.second) == "mass_ratio";
  });
  CAPTURE(compared, alike);
  CHECK(compared >= 1000);
  CHECK(alike == 0);
}

TEST_CASE("random chains: located points lead to curves", "[long]") {
  int located = 0;
  int led = 0;
  std::string others;
  for (unsigned seed = 1; seed <= 16; ++seed) {
    Dice dice(seed);
    const std::string model =
        "name = 'two_dof_stops'\nA1 = " + fmt_double(dice.number(0.3, 0.8)) +
        "\nc1 = " + fmt_double(dice.number(0.05, 0.3)) + "\nc2 = " + fmt_double(dice.number(0.05, 0.3)) +
        "\nk2 = " + fmt_double(dice.number(0.5, 2)) + "\nm2 = " + fmt_double(dice.number(0.5, 2)) +
        "\nd1 = " + fmt_double(dice.number(0.1, 0.5)) + "\nd2 = " + fmt_double(dice.number(0.1, 0.5)) +
        "\nr1 = " + fmt_double(dice.number(0.3, 0.9)) + "\nr2 = " + fmt_double(dice.number(0.3, 0.9));
    Plane plane;
    plane.family = family(model, "delta");
    plane.second = plane.family.model->parameter_index("A1");
    const double force = plane.family.values[static_cast<std::size_t>(plane.second)];
    CurveOptions options;
    options.from[0] = 0.7;
    options.to[0] = 1.7;
    options.from[1] = 0.5 * force;
    options.to[1] = 1.5 * force;
    options.points = 12;
    plane.widths[0] = 1;
    plane.widths[1] = force;
    const Start begin = settled_start(plane.family, 1.2, state_at({0, 0, 0, 0}), {}, "");
    if (begin.periods == 0) continue;
    const auto near = between_events(plane.family, {1.2, begin.orbit.front(), begin.periods, 0, 0});
    const auto orbit = near ? find_orbit(plane.family, *near) : std::nullopt;
    if (!orbit) continue;
    Walk walk;
    walk.options.from = options.from[0];
    walk.options.to = options.to[0];
    for (const Bifurcation& b : continue_branch(plane.family, *orbit, walk).bifurcations) {
      ++located;
      const CurveStart start = start_curve(plane, seed_at(b, force));
      std::string ends = start.reason;
      const std::size_t count = start.solution ? walked(*start.solution, options, ends).size() : 0;
      // A curve may be short where it ends at a located point.
      const bool numerical =
          ends.find("Newton") != std::string::npos || ends.find("another way") != std::string::npos;
      if (count >= 10 || (count > 0 && !numerical)) {
        ++led;
      } else {
        others += bifurcation_names()[static_cast<std::size_t>(b.kind)] + " at " + fmt_double(b.parameter) +
                  " of system " + std::to_string(seed) + ": " + ends + "\n";
      }
    }
  }
  INFO(others);
  CAPTURE(located, led);
  CHECK(located >= 60);
  CHECK(led >= 0.9 * located);
}
