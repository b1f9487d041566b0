/// Branches over grazings: every point is a motion, none turns back, nothing is missed just behind a grazing.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <string>

#include "analysis/continuation/branch.hpp"
#include "analysis/maps/attractor.hpp"
#include "tests/family.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// The branch through an orbit of so many periods.
Branch branch_through(const Family& f, const NearOrbit& near, double from, double to,
                      int points = ContinuationOptions{}.points) {
  const auto orbit = find_orbit(f, near);
  REQUIRE(orbit);
  ContinuationOptions options;
  options.from = from;
  options.to = to;
  options.points = points;
  return continue_branch(f, *orbit, {options});
}

Branch branch_from(const Family& f, const std::vector<double>& state, double at, double from, double to,
                   int points = ContinuationOptions{}.points) {
  const auto system = f.system(at);
  AttractorOptions settle;
  settle.transient = 50;
  const Attractor a = find_attractor(PoincareMap(*system, f.section), state_at(state), settle);
  REQUIRE(a.kind == AttractorClass::periodic);
  return branch_through(f, {at, a.points.front().x, a.orbit.period}, from, to, points);
}

/// The motion closes after so many periods, to 1e-8 of its size times the greatest multiplier.
void check_closes(const Family& f, double parameter, const Eigen::VectorXd& state, int periods,
                  double growth) {
  CAPTURE(parameter, periods);
  const auto system = f.system(parameter);
  HybridState motion = state_at({state.begin(), state.end()});
  double size = state.cwiseAbs().maxCoeff();
  for (int k = 0; k < periods; ++k) {
    REQUIRE(system->advance(motion, Section{}, nullptr) == Outcome::ok);
    size = std::max(size, motion.x.cwiseAbs().maxCoeff());
  }
  CHECK((motion.x - state).cwiseAbs().maxCoeff() <= 1e-8 * size * std::max(1.0, growth));
}

void check_closes(const Family& f, const Branch& branch) {
  REQUIRE(branch.points.size() > 20);
  for (const BranchPoint& p : branch.points)
    check_closes(f, p.parameter, p.orbit.front(), p.signature.periods, std::abs(p.multipliers.front()));
}

/// Whether the parameter grows all along a branch.
bool goes_one_way(const Branch& branch) {
  return std::is_sorted(branch.points.begin(), branch.points.end(),
                        [](const BranchPoint& a, const BranchPoint& b) { return a.parameter < b.parameter; });
}

const Bifurcation* nearest(const Branch& branch, BifurcationKind kind, double parameter) {
  const Bifurcation* best = nullptr;
  for (const Bifurcation& b : branch.bifurcations) {
    if (b.kind != kind) continue;
    if (best == nullptr || std::abs(b.parameter - parameter) < std::abs(best->parameter - parameter))
      best = &b;
  }
  return best;
}

struct Start {
  const char* model;
  const char* parameter;
  std::vector<double> state;
  double at, from, to;
};

/// x'' + b x' + x = F cos(omega t) left of a stop, one impact in n periods: the amplitude G of the steady
/// motion at the fold over the stop's distance, G^2 = b^2/(w^2 a^2 + b^2) with a = (1+r) Q_xv, b = r + (1+r)
/// Q_vv and Q = (exp(A n T) - 1)^-1.
double fold_amplitude(double damping, double omega, double r, int n) {
  const double rate = std::sqrt(1 - damping * damping / 4);
  const double time = 2 * M_PI * n / omega;
  const double decay = std::exp(-damping * time / 2);
  const double c = decay * std::cos(rate * time);
  const double s = decay * std::sin(rate * time) / rate;
  Eigen::Matrix2d flow;
  flow << c + damping / 2 * s, s, -s, c - damping / 2 * s;
  const Eigen::Matrix2d Q = (flow - Eigen::Matrix2d::Identity()).inverse();
  const double a = (1 + r) * Q(0, 1);
  const double b = r + (1 + r) * Q(1, 1);
  return std::abs(b) / std::hypot(omega * a, b);
}

const Start starts[] = {{"m = 1\nk = 1\nb = 0\nF = 1\nomega = 2.8\nstop = 0\nr = 0.8",
                         "stop",
                         {-1.11524149889214912, 0.0833185908418941713},
                         -0.28,
                         -3,
                         3},
                        {"m = 1\nk = 1\nb = 0.01\nF = 1\nomega = 2.8\nstop = 0.05\nr = 0.9",
                         "omega",
                         {-0.391568765793444356, -0.248104658032221429},
                         5.32041666666666667,
                         3.5,
                         12},
                        {"m = 1\nk = 1\nb = 0.08\nF = 1\nomega = 2\noffset = 0\nstop = 0\nr = 0.75",
                         "offset",
                         {-1.40584886750877956, 0.175501596948247829},
                         -0.3225,
                         -1,
                         2},
                        {"m = 1\nk = 1\nb = 0.03\nF = 1\nomega = 4.6\nstop = 0\nr = 0.85",
                         "stop",
                         {-0.381305386672370314, -0.244183457004983797},
                         -0.035,
                         -1.5,
                         1.5},
                        {"m = 1\nk = 1\nb = 0.2\nF = 1\nomega = 2.2\nstop = 0\nr = 0.65",
                         "stop",
                         {-0.583699247498208985, 0.136989849713344326},
                         0.204166666666666667,
                         -2.5,
                         2.5},
                        {"m = 1\nk = 1\nb = 0.1\nF = 1\nomega = 2.8\nstop = 0.8\nr = 0.6",
                         "omega",
                         {-0.0292511038835488831, 2.25492630538698607},
                         1.3426666666666666,
                         0.3,
                         1.9}};

Family family_of(const Start& s) {
  return family(std::string("name = 'impact_oscillator'\n") + s.model, s.parameter);
}

Branch branch_from(const Start& s) { return branch_from(family_of(s), s.state, s.at, s.from, s.to); }

}  // namespace

TEST_CASE("branches over many grazings: every point closes under the motion itself", "[long]") {
  for (const Start& s : starts) {
    INFO(s.model);
    check_closes(family_of(s), branch_from(s));
  }
}

TEST_CASE("a mass is pressed to its stop for good where offset - k stop = F") {
  const double borders[][2] = {{0, -1}, {2, 1}, {4, -1}};
  for (const auto& [start, border] : borders) {
    const Branch branch = branch_from(starts[static_cast<std::size_t>(start)]);
    CAPTURE(start);
    CHECK(branch.begins == "end of the range");
    CHECK(branch.ends == "end of the range");
    const Bifurcation* found = nearest(branch, BifurcationKind::rising_border, border);
    REQUIRE(found != nullptr);
    CHECK(std::abs(found->parameter - border) < 1e-12);
  }
}

TEST_CASE("a branch leaves a chatter border where its parameter turns") {
  // r = 0.9: over a hundred impacts before the mass sticks; both sides of the border at 4.4150158361
  const Branch branch = branch_from(starts[1]);
  CHECK(branch.begins.starts_with("at this grazing it is an orbit of fewer periods"));
  CHECK(branch.ends.starts_with("at this grazing it is an orbit of fewer periods"));
  const Bifurcation* border = nearest(branch, BifurcationKind::chatter_border, 4.4150158361);
  REQUIRE(border != nullptr);
  CHECK(std::abs(border->parameter - 4.4150158361) < 1e-9);
}

// Impacts of a chatter sequence that is no longer complete are lost one after the other behind the border,
// between two folds each, which accumulate there: the last orbit next to it tells by rounding only which way
// leads on.
TEST_CASE("a branch leaves a chatter border of a body with dry friction by the way that leads on") {
  const Family f = family(R"toml(name = "equations"
coordinates = ["x", "y"]
parameters = { omega = 1.484 }
mass = { x = "0.827", y = "1.163" }
period = "2*pi/omega"
[model.force]
x = "1.063*cos(omega*t + 5.054) - 0.071*x' - 0.843*x - 0.499*x^3 - 0.4*(x - y)"
y = "1.283*cos(omega*t + 5.5) - 0.065*y' - 0.601*y - 0.594*y^3 - 0.4*(y - x)"
[[model.contact]]
gap = "0.267 + y"
restitution = 0.119
[[model.friction]]
slip = "x' - y' + 0.174"
amplitude = 0.214
static = 0.2476
[[model.friction]]
slip = "x'"
amplitude = 0.117
static = 0.1412
)toml",
                          "omega");
  const Branch branch = branch_from(f, {-0.01835, -0.47446, 0.04377, -0.569685}, 1.484, 1.48, 1.5);
  CHECK(branch.begins == "end of the range");
  CHECK(branch.ends == "end of the range");
  const Bifurcation* border = nearest(branch, BifurcationKind::chatter_border, 1.4871220201);
  REQUIRE(border != nullptr);
  CHECK(std::abs(border->parameter - 1.4871220201) < 1e-9);
  check_closes(f, branch);
}

TEST_CASE("a fold next to a grazing: G^2 = s^2 b^2/(w^2 a^2 + b^2), one impact in two periods") {
  const double omega = 0.799751, damping = 0.04, r = 0.9;
  const Family f =
      family("name = 'impact_oscillator'\nb = 0.04\nomega = 0.799751\noffset = -1\nstop = 0\nr = 0.9", "F");
  const Branch branch = branch_from(f, {-0.475422265645524835, -1.46073626123332592}, 0.3856, 0.3, 0.46);
  const double response = std::abs(1.0 / std::complex<double>(1 - omega * omega, damping * omega));
  const double fold = fold_amplitude(damping, omega, r, 2) / response;
  const Bifurcation* found = nearest(branch, BifurcationKind::fold, fold);
  REQUIRE(found != nullptr);
  CHECK(std::abs(found->parameter - fold) < 1e-10);
  // at 2e-6 from it the impact grazes: the amplitude is the stop's distance
  const Bifurcation* grazing = nearest(branch, BifurcationKind::grazing, 1 / response);
  REQUIRE(grazing != nullptr);
  CHECK(std::abs(grazing->parameter - 1 / response) < 1e-10);
  check_closes(f, fold, found->orbit.front(), 2, 1e4);
}

TEST_CASE(
    "a period doubling next to a grazing is located, and a multiplier of the motion's map is -1 there") {
  const Family f = family("name = 'impact_oscillator'\nb = 0.08\nomega = 2\nstop = 0\nr = 0.75", "offset");
  const Branch branch = branch_from(f, {-1.40584886750877956, 0.175501596948247829}, -0.3225, -1, 0);
  const Bifurcation* found = nearest(branch, BifurcationKind::period_doubling, -0.33285817);
  REQUIRE(found != nullptr);
  CHECK(std::abs(found->parameter + 0.33285817) < 1e-8);
  const auto system = f.system(found->parameter);
  const Orbit orbit = refine_orbit(PoincareMap(*system, Section{}),
                                   state_at({found->orbit.front()(0), found->orbit.front()(1)}), 1);
  REQUIRE(orbit.closed);
  double away = 1;
  for (const auto& m : orbit.multipliers) away = std::min(away, std::abs(m + 1.0));
  CHECK(away < 1e-5);
}

TEST_CASE("a branch that passes a grazing and folds behind it does not come back on itself") {
  const Family f = family("name = 'impact_oscillator'\nb = 0.1\nomega = 2.8\nstop = 0.8\nr = 0.6", "omega");
  const Branch branch =
      branch_from(f, {-0.0292511038835488831, 2.25492630538698607}, 1.3426666666666666, 0.3, 1.9);
  CHECK(branch.begins == "end of the range");
  CHECK(branch.ends == "end of the range");
  const Bifurcation* fold = nearest(branch, BifurcationKind::fold, 0.31465);
  REQUIRE(fold != nullptr);
  CHECK(std::abs(fold->parameter - 0.31465) < 1e-5);
}

TEST_CASE("a grazing with dry friction is a regular point: the amplitude there is Den Hartog's") {
  // x'' + x + F sgn x' = cos wt without a stick: A^2 = V^2 - F^2 U^2, V = 1/(1 - w^2),
  // U = sin(pi/w)/(w (1 + cos(pi/w)))  (Den Hartog 1931).
  const double omega = 1.5, F = 0.2;
  const Family f = family(
      "name = 'linear_stops'\nparameters = { gap = 1 }\nmass = [[1]]\nstiffness = [[1]]\nomega = 1.5\n"
      "force = [{ cosine = [1] }]\nstop = [{ normal = [1], position = 'gap', restitution = 0.7 }]\n"
      "friction = [{ direction = [1], amplitude = 0.2 }]",
      "gap");
  const Branch branch = branch_from(f, {0, 0}, 2.5, 0.3, 3);
  const double V = 1 / (1 - omega * omega);
  const double U = std::sin(M_PI / omega) / (omega * (1 + std::cos(M_PI / omega)));
  const double amplitude = std::sqrt(V * V - F * F * U * U);
  const Bifurcation* grazing = nearest(branch, BifurcationKind::grazing, amplitude);
  REQUIRE(grazing != nullptr);
  CHECK(std::abs(grazing->parameter - amplitude) < 1e-10);
  check_closes(f, branch);
  // Behind it the impact gains speed from nothing: its speed is regular in the arclength.
  const auto hits = [](const BranchPoint& p) { return p.signature.hits(0); };
  double slowest = 1;
  for (const BranchPoint& p : branch.points) {
    if (hits(p) == 0) continue;
    const Record record = record_of(*f.system(p.parameter), p, p.signature.periods);
    slowest = std::min(slowest, *std::max_element(record.speeds.begin(), record.speeds.end()));
  }
  CHECK(slowest < 0.05);
  CHECK(branch.begins == "end of the range");
  CHECK(branch.ends == "end of the range");
}

namespace {

/// Three masses with three stops and a friction.
Family chattering_masses() {
  return family(
      "name = 'linear_stops'\nmass = [[0.919, 0, 0], [0, 0.629, 0], [0, 0, 1.24]]\n"
      "damping = [[0.319, -0.058, 0], [-0.058, 0.233, -0.175], [0, -0.175, 0.331]]\n"
      "stiffness = [[3.62, -0.659, 0], [-0.659, 2.641, -1.982], [0, -1.982, 3.761]]\nomega = 0.365\n"
      "force = [{ order = 1, cosine = [1.177, 0.768, -0.208], sine = [0, 0, 0] },\n"
      "{ order = 2, cosine = [0.175, 0.242, 0.189], sine = [0.301, 0.259, -0.356] }]\n"
      "stop = [{ normal = [0, 0, 1], position = 0.126, restitution = 0.652 },\n"
      "{ normal = [0, -1, 0], position = 0.384, restitution = 0.837 },\n"
      "{ normal = [1, 0, -1], position = 0.582, restitution = 0.689 }]\n"
      "friction = [{ direction = [0, -1, 0], amplitude = 0.191 }]",
      "omega");
}

}  // namespace

TEST_CASE("located points with dry friction close where phase zero lies within a chatter sequence") {
  const Family f = chattering_masses();
  const Branch branch = branch_from(f, {0.515, -0.01, 0.52, 0.005, 0.126, -0.028}, 0.3651, 0.365, 0.3658);
  const Bifurcation* border = nearest(branch, BifurcationKind::slip_border, 0.36544440472455025);
  REQUIRE(border != nullptr);
  CHECK(std::abs(border->parameter - 0.36544440472455025) < 1e-10);
  check_closes(f, border->parameter, border->orbit.front(), border->periods, 1);
}

TEST_CASE("a branch turns at a slip border, where the map has a kink, and goes on behind it", "[long]") {
  // Where it comes to stick for an instant a friction takes a direction from the map: orbits of both kinds
  // lie at greater frequencies only, to be found by the motion (the stable ones) and at a period doubling.
  const double border = 0.555298455126;
  const Family f = chattering_masses();
  const Branch branch =
      branch_from(f, {0.561749904, 0.326522335, 0.726950584, 0.372546627, 0.119119046, -0.136958218}, 0.5553,
                  0.555, 0.556);
  const Bifurcation* found = nearest(branch, BifurcationKind::slip_border, border);
  REQUIRE(found != nullptr);
  CHECK(std::abs(found->parameter - border) < 1e-9);  // the stick lasts for the root of the distance
  CHECK(branch.begins.starts_with("an orbit of"));    // half as many periods, both ways
  CHECK(branch.ends.starts_with("an orbit of"));
  for (const BranchPoint& p : branch.points) {
    CHECK(p.parameter > border - 1e-9);
    check_closes(f, p.parameter, p.orbit.front(), 2, std::abs(p.multipliers.front()));
  }
}

TEST_CASE("a body that chatters, sticks and leaves before phase zero is followed with dry friction") {
  const Family f = family(
      "name = 'linear_stops'\nmass = [[2.189, 0], [0, 2.216]]\ndamping = [[1.408, -0.615], [-0.615, 0.615]]\n"
      "stiffness = [[4.624, -2.021], [-2.021, 2.021]]\nomega = 0.5\n"
      "force = [{ order = 1, cosine = [0.163, 1.021], sine = [0, 0] }]\n"
      "stop = [{ normal = [0, -1], position = 0.046, restitution = 0.357 }]\n"
      "friction = [{ direction = [0, -1], amplitude = 0.129 }, { direction = [1, -1], amplitude = 0.047 }]",
      "omega");
  const Branch branch = branch_from(f, {0.228, 0.212, 0.504, 0.421}, 0.5, 0.47, 0.6);
  CHECK(branch.begins == "end of the range");
  CHECK(branch.ends == "end of the range");
  check_closes(f, branch);
  for (const Bifurcation& b : branch.bifurcations) CHECK(b.kind != BifurcationKind::edge);
}

TEST_CASE("a period doubling where two impacts have exchanged their order has a multiplier of -1") {
  const Family f = family(
      "name = 'linear_stops'\nmass = [[1.843, 0, 0], [0, 0.749, 0], [0, 0, 1.428]]\n"
      "damping = [[0.042, -0.017, 0], [-0.017, 0.06, -0.043], [0, -0.043, 0.057]]\n"
      "stiffness = [[1.729, -0.709, 0], [-0.709, 2.459, -1.75], [0, -1.75, 2.317]]\nomega = 0.609\n"
      "force = [{ order = 1, cosine = [-0.732, -0.814, -0.931], sine = [0, 0, 0] }]\n"
      "stop = [{ normal = [0, 0, 1], position = 0.135, restitution = 0.496 },\n"
      "{ normal = [1, 0, 0], position = 0.613, restitution = 0.447 }]",
      "omega");
  const Branch branch = branch_from(
      f, {-1.67391770315, -0.400184030415, -2.89868786155, -2.08677972448, -1.4222702102, -0.0582249850247},
      0.6655654710005473, 0.6654, 0.6657);
  const Bifurcation* found = nearest(branch, BifurcationKind::period_doubling, 0.665544938);
  REQUIRE(found != nullptr);
  CHECK(std::abs(found->parameter - 0.665544938) < 1e-9);
  const auto system = f.system(found->parameter);
  const Orbit orbit = refine_orbit(PoincareMap(*system, Section{}),
                                   state_at({found->orbit.front().begin(), found->orbit.front().end()}), 1);
  REQUIRE(orbit.closed);
  double away = 1;
  for (const auto& m : orbit.multipliers) away = std::min(away, std::abs(m + 1.0));
  CHECK(away < 1e-6);
}

namespace {

/// A mass under friction between two walls, over the friction force.
Family between_walls() {
  return family("name = 'planar_friction'\nx_left = -0.1\nx_right = 0.1\nr = 0.7\nfriction = 1.0",
                "friction");
}

}  // namespace

TEST_CASE("of a motion that is its own mirror both walls lose, or gain, an impact at one grazing", "[long]") {
  // Half a turn later all is mirrored: the impacts of both walls come and go together.
  const double grazing = 1.160736505833;
  const Family f = between_walls();
  const std::vector<std::pair<double, std::vector<double>>> states{
      {1.1606, {0.0629807, -0.0830438, 0.0930332, 0.0589779}},      // loses them on the way up
      {1.1610, {0.062927539, -0.083083983, 0.09291531, 0.0589036}}  // gains them on the way down
  };
  for (const auto& [at, state] : states) {
    const Branch branch = branch_from(f, state, at, 1.1605, 1.1611);
    CHECK(branch.begins == "end of the range");
    CHECK(branch.ends == "end of the range");
    check_closes(f, branch);
    for (const BranchPoint& p : branch.points) CHECK(p.impacts[0] == p.impacts[1]);
    std::vector<int> contacts;
    for (const Bifurcation& b : branch.bifurcations) {
      if (b.kind != BifurcationKind::grazing) continue;
      CHECK(std::abs(b.parameter - grazing) < 1e-9);
      contacts.push_back(b.contact);
    }
    std::sort(contacts.begin(), contacts.end());
    CHECK(contacts == std::vector<int>{0, 1});
  }
}

TEST_CASE("next to a fold the grazing that comes first is found, not the one behind it", "[long]") {
  // The chord over a step leads Newton's method to the next grazing, 1.5e-4 further, past which the branch
  // would be walked back.
  const double grazing = 1.153050258;
  const double at = 1.15296508605;
  const Family f = between_walls();
  const Branch branch =
      branch_from(f, {0.06403195, -0.08324895, 0.09371307, 0.06019516}, at, at - 1e-7, at + 1.98, 13);
  const Bifurcation* found = nearest(branch, BifurcationKind::grazing, grazing);
  REQUIRE(found != nullptr);
  CHECK(std::abs(found->parameter - grazing) < 1e-8);
  CHECK(branch.points.back().parameter > 1.1532);
  CHECK(branch.points.back().impacts == std::vector<int>{9, 9});
}

TEST_CASE("a grazing is passed where the motion loses the impact before it: 1e-7 of arclength away") {
  // The speed falls to 1e-8 there, the depth behind it to rounding.
  const Family f = family(
      "name = 'linear_stops'\nmass = [[2.363]]\ndamping = [[0.066]]\nstiffness = [[2.864]]\nomega = 0.888\n"
      "force = [{ order = 1, cosine = [-0.56] }, { order = 2, cosine = [0.023], sine = [0.097] }]\n"
      "stop = [{ normal = [1.0], position = 0.172, restitution = 0.634 }]",
      "omega");
  const Branch branch =
      branch_through(f, {0.532237759500389, Eigen::Vector2d(-0.46691846, -0.19863533), 1}, 0.5320, 0.5335);
  check_closes(f, branch);
  const Bifurcation* grazing = nearest(branch, BifurcationKind::grazing, 0.53223387424);
  REQUIRE(grazing != nullptr);
  CHECK(std::abs(grazing->parameter - 0.53223387424) < 1e-10);
  CHECK(branch.points.front().parameter == 0.5335);  // behind it, without the impact
  CHECK(branch.points.front().impacts == std::vector<int>{2});
  CHECK(branch.points.back().impacts == std::vector<int>{3});
}

TEST_CASE("mirrored impacts at one grazing are lost together, though rounding leaves one of them a speed",
          "[long]") {
  // The last of 27 impacts on each wall goes, 1e-7 before; the speed of the other wall's comes out as 2e-11.
  const double grazing = 1.15269420027;
  const double at = 1.15269416813;
  const Family f = between_walls();
  const Branch branch =
      branch_from(f, {0.06403195, -0.08324895, 0.09371307, 0.06019516}, at, at - 1e-9, at + 0.05, 2);
  std::vector<int> contacts;
  for (const Bifurcation& b : branch.bifurcations) {
    if (b.kind == BifurcationKind::grazing && std::abs(b.parameter - grazing) < 1e-10)
      contacts.push_back(b.contact);
  }
  std::sort(contacts.begin(), contacts.end());
  CHECK(contacts == std::vector<int>{0, 1});
  CHECK(branch.points.back().parameter > grazing);
  CHECK(branch.points.back().impacts == std::vector<int>{26, 26});
}

// A stick of the friction on the first body ends with a square root at 1.82706763: orbits without it, whose
// multiplier is -4.9 in place of 3.85, are on the same side. A grazing is 8e-5 of the range before it.
TEST_CASE("a branch turns where a stick vanishes, also just behind another change", "[long]") {
  const Family f = family(
      "name = 'linear_stops'\nmass = [[2.189, 0], [0, 2.216]]\ndamping = [[1.408, -0.615], [-0.615, 0.615]]\n"
      "stiffness = [[4.624, -2.021], [-2.021, 2.021]]\nomega = 2.122\n"
      "force = [{ order = 1, cosine = [0.163, 1.021], sine = [0, 0] }]\n"
      "stop = [{ normal = [0, -1], position = 0.046, restitution = 0.357 }]\n"
      "friction = [{ direction = [0, -1], amplitude = 0.129 }, { direction = [1, -1], amplitude = 0.047 }]",
      "omega");
  const Eigen::Vector4d state(-0.043199214618, -0.124313036998, -0.023690244213, 0.123093671337);
  const Branch branch = branch_through(f, {1.82512007937, state, 4}, 0.468, 3.776, 30);
  check_closes(f, branch);
  const Bifurcation* border = nearest(branch, BifurcationKind::slip_border, 1.8270676327);
  REQUIRE(border != nullptr);
  CHECK(std::abs(border->parameter - 1.8270676327) < 1e-7);
  const BranchPoint& last = branch.points.back();
  CHECK(branch.ends.starts_with("an orbit of half as many periods"));
  CHECK(std::abs(last.parameter - 1.8143010) < 1e-7);
  CHECK(std::abs(last.multipliers.front() - 1.0) < 1e-4);
}

// The chatter of the first contact begins with an impact that has no speed at 0.16328262845, and has it again
// on the other side. The same equations have another grazing 9e-9 of the range further, which no motion comes
// to.
TEST_CASE("a branch does not turn where an impact loses its speed and gets it back", "[long]") {
  const Family f = family(
      "name = 'linear_stops'\n"
      "mass = [[2.365, 0, 0], [0, 0.756, 0], [0, 0, 2.498]]\n"
      "damping = [[0.147, -0.086, 0], [-0.086, 0.17, -0.084], [0, -0.084, 0.084]]\n"
      "stiffness = [[2.445, -1.431, 0], [-1.431, 2.84, -1.409], [0, -1.409, 1.409]]\n"
      "omega = 0.739\n"
      "force = [{ order = 1, cosine = [0.409, -0.198, 0.141] }, "
      "{ order = 2, cosine = [0.375, -0.149, 0.154], sine = [-0.288, -0.242, 0.241] }]\n"
      "stop = [{ normal = [1, -1, 0], position = 0.095, restitution = 0.881 }, "
      "{ normal = [0, 0, -1], position = 0.487, restitution = 0.736 }, "
      "{ normal = [0, 0, 1], position = 0.273, restitution = 0.75 }]\n"
      "friction = [{ direction = [0, -1, 1], amplitude = 0.164 }]",
      "omega");
  Eigen::VectorXd state(6);
  state << 0.4765018429026, -0.2231084089727, 0.3815018429026, -0.2231084089726, 0.2518760818009,
      0.0200583398378;
  const Branch branch = branch_through(f, {0.16329204134201, state, 1}, 0.152, 1.326, 15);
  check_closes(f, branch);
  CHECK(goes_one_way(branch));
  CHECK(branch.points.front().parameter < 0.163282);
  const Bifurcation* first = nearest(branch, BifurcationKind::grazing, 0.163282628454);
  REQUIRE(first != nullptr);
  CHECK(std::abs(first->parameter - 0.163282628454) < 1e-11);
}

// Solved by the system's own motion, the leg before the lost impact heeds a contact that chatters, the one
// behind it does not: without the impact they are one leg, which heeds it.
TEST_CASE("a branch turns at a grazing between two legs of which one chatters at another contact", "[long]") {
  const Family f = family(
      "name = 'linear_stops'\nmass = [[2.316, 0], [0, 1.805]]\ndamping = [[0.046, -0.014], [-0.014, 0.014]]\n"
      "stiffness = [[3.28, -1.002], [-1.002, 1.002]]\nomega = 0.756\n"
      "force = [{ order = 1, cosine = [-0.984, 0.84], sine = [0, 0] }]\n"
      "stop = [{ normal = [-1, 0], position = 0.267, restitution = 0.87 }, "
      "{ normal = [-1, 1], position = 0.631, restitution = 0.347 }]\n"
      "friction = [{ direction = [-1, 0], amplitude = 0.119 }]",
      "omega");
  const Eigen::Vector4d state(0.9347212695795891, 0.6028552187287238, 1.2609304116122204, 0.8230143284273795);
  const double grazing = 0.588840104008;
  const Branch branch = branch_through(f, {0.6470203529276539, state, 1}, 0.302, 1.21, 25);
  check_closes(f, branch);
  const Bifurcation* found = nearest(branch, BifurcationKind::grazing, grazing);
  REQUIRE(found != nullptr);
  CHECK(std::abs(found->parameter - grazing) < 1e-11);
  const BranchPoint& last = branch.points.front();
  CHECK(last.parameter > grazing + 1e-3);
  CHECK(last.impacts.front() == 2);  // 3 before
  CHECK(std::abs(last.multipliers.front()) < 1);
}

// Impacts of one contact pass those of a chatter sequence at another: each time the branch has a kink of a
// few hundredths, and det(I - P) keeps its sign. Several come within 1e-5 of the range.
TEST_CASE("a branch goes on where impacts exchange their order and det(I - P) keeps its sign", "[long]") {
  const Family f = family(
      "name = 'linear_stops'\n"
      "mass = [[1.357, 0, 0], [0, 1.882, 0], [0, 0, 1.938]]\n"
      "damping = [[0.125, -0.074, 0], [-0.074, 0.119, -0.045], [0, -0.045, 0.045]]\n"
      "stiffness = [[4.105, -2.428, 0], [-2.428, 3.896, -1.468], [0, -1.468, 1.468]]\n"
      "omega = 1.128\n"
      "force = [{ order = 1, cosine = [0.571, -0.762, -0.779] }, "
      "{ order = 2, cosine = [0.28, 0.18, 0.089], sine = [0.025, 0.025, 0.108] }]\n"
      "stop = [{ normal = [1, -1, 0], position = 0.309, restitution = 0.51 }, "
      "{ normal = [1, -1, 0], position = 0.628, restitution = 0.798 }, "
      "{ normal = [0, 1, 0], position = 0.27, restitution = 0.577 }]\n"
      "friction = [{ direction = [0, 1, -1], amplitude = 0.127 }, "
      "{ direction = [1, 0, -1], amplitude = 0.115 }]",
      "omega");
  Eigen::VectorXd state(6);
  state << -1.3416098107585415, -1.0631208617386305, -1.6503073986231651, -1.0426464877690695,
      -2.87957449176071, -0.5962524263544032;
  const Branch branch = branch_through(f, {0.5415947329003444, state, 1}, 0.54, 1.859, 26);
  check_closes(f, branch);
  CHECK(goes_one_way(branch));
  CHECK(branch.points.back().parameter > 0.548);
}

// The longest way between events is a stick at a contact: from a state on it rounding may begin with an
// impact of 1e-16 or not, so orbits are begun on the longest flight.
TEST_CASE("a branch goes on where an orbit rests on a contact for most of its turn") {
  const Family f = family(
      "name = 'linear_stops'\n"
      "mass = [[0.996, 0], [0, 2.051]]\n"
      "damping = [[0.077, -0.04], [-0.04, 0.04]]\n"
      "stiffness = [[2.992, -1.551], [-1.551, 1.551]]\n"
      "omega = 0.728\n"
      "force = [{ order = 1, cosine = [0.357, 0.53] }, "
      "{ order = 2, cosine = [0.13, -0.099], sine = [-0.173, 0.324] }]\n"
      "stop = [{ normal = [-1, 1], position = 0.121, restitution = 0.361 }, "
      "{ normal = [1, -1], position = 0.055, restitution = 0.533 }]",
      "omega");
  const Eigen::Vector4d state(0.590839025442497, 0.14136986193426349, 0.7099915818048019,
                              0.20367538148116937);
  const Branch branch = branch_through(f, {0.21215004006604876, state, 1}, 0.2119, 1.271, 21);
  check_closes(f, branch);
  CHECK(branch.begins == "end of the range");
  CHECK(branch.points.back().parameter > 0.2126);
  CHECK(nearest(branch, BifurcationKind::chatter_border, 0.2122) == nullptr);
}

// The orbit grazes the second contact at 0.92825822, a thousandth of the range below it.
TEST_CASE("a branch ends where its range does, also when a grazing lies just outside") {
  const Family f = family(
      "name = 'linear_stops'\nomega = 1.161390621950518\n"
      "mass = [[1.2250629403792859, -0.050216896718488974], [-0.050216896718488974, 1.2697203385618012]]\n"
      "damping = [[0.0753090857595965, -0.0065325100231353305], [-0.0065325100231353305, "
      "0.0815403182073205]]\n"
      "stiffness = [[0.9557627114472655, -0.2734614667002216], [-0.2734614667002216, 1.2276396662174829]]\n"
      "force = [{ cosine = [0.8117589976742239, -0.37255375419528036], "
      "sine = [-0.06693526141956274, -0.059303531037508406] }]\n"
      "stop = [{ normal = [-0.860116821849521, 0.510097101316484], position = 0.37389958904950105, "
      "restitution = 0.2735529384582619 }, "
      "{ normal = [-0.9968459071183957, 0.07936143560510127], position = 0.3648555877246368, "
      "restitution = 0.8839148040821345 }]",
      "omega");
  const Eigen::Vector4d state(0.381551021714121, 0.4927797722962926, -0.3277622661044905,
                              -0.31034495167413334);
  const double from = 0.9291124975604144, to = 1.3936687463406214;
  const Branch branch = branch_through(f, {1.161390621950518, state, 1}, from, to, 300);
  CHECK(branch.begins == "end of the range");
  CHECK(branch.points.front().parameter == Approx(from).margin(1e-12).epsilon(0));
  CHECK(branch.points.back().parameter == Approx(to).margin(1e-12).epsilon(0));
  CHECK(branch.bifurcations.empty());
}

// Impacts of two contacts that chatter at once change their order wherever one falls on another, infinitely
// often; in between Newton's method finds orbits.
TEST_CASE("a branch goes on where two contacts chatter at once", "[long]") {
  const Family f = family(
      "name = 'linear_stops'\n"
      "mass = [[1.324, 0, 0], [0, 0.642, 0], [0, 0, 1.797]]\n"
      "damping = [[0.127, -0.104, 0], [-0.104, 0.248, -0.144], [0, -0.144, 0.144]]\n"
      "stiffness = [[2.524, -2.071, 0], [-2.071, 4.928, -2.857], [0, -2.857, 2.857]]\n"
      "omega = 0.672\n"
      "force = [{ order = 1, cosine = [0.322, 0.201, 0.677] }, "
      "{ order = 2, cosine = [-0.265, 0.196, -0.084], sine = [0.093, 0.102, -0.104] }]\n"
      "stop = [{ normal = [-1, 0, 0], position = 0.083, restitution = 0.507 }, "
      "{ normal = [1, -1, 0], position = 0.634, restitution = 0.667 }]",
      "omega");
  Eigen::VectorXd state(6);
  state << 2.340706316056207, 0.6250285460601589, 3.136492238812603, 0.5427718278929845, 3.6609380469002293,
      0.29842911872397276;
  const Branch branch = branch_through(f, {0.35750000000000004, state, 1}, 0.332, 1.012, 50);
  check_closes(f, branch);
  CHECK(branch.ends == "as many points as allowed");
  CHECK(branch.begins == "as many points as allowed");
  CHECK(branch.points.front().parameter < 0.355);
  CHECK(branch.points.back().parameter > 0.36);
}

// Where chatter is about to complete one impact after the other grazes, in ever shorter distances.
TEST_CASE("a branch goes on behind more changes than are followed one by one", "[long]") {
  const Family f = family(
      "name = 'linear_stops'\n"
      "mass = [[1.818, 0, 0], [0, 1.233, 0], [0, 0, 0.798]]\n"
      "damping = [[0.026, -0.014, 0], [-0.014, 0.031, -0.017], [0, -0.017, 0.036]]\n"
      "stiffness = [[1.9, -0.977, 0], [-0.977, 2.208, -1.231], [0, -1.231, 2.578]]\n"
      "omega = 1.218\n"
      "force = [{ order = 1, cosine = [-0.696, 1.038, -0.302] }]\n"
      "stop = [{ normal = [1, -1, 0], position = 0.7, restitution = 0.796 }, "
      "{ normal = [1, -1, 0], position = 0.441, restitution = 0.898 }, "
      "{ normal = [-1, 0, 1], position = 0.278, restitution = 0.418 }]\n"
      "friction = [{ direction = [-1, 0, 1], amplitude = 0.231 }]",
      "omega");
  Eigen::VectorXd state(6);
  state << -0.010771616312170199, -0.0017933098994256246, 0.4851877494666778, 0.007084667808017529,
      0.01914077826145168, 0.004960397995807788;
  const double at = 0.13379621339351438;
  const Branch branch = branch_through(f, {at, state, 1}, at - 1e-6, 2.309, 60);
  check_closes(f, branch);
  CHECK(branch.ends == "as many points as allowed");
  CHECK(branch.points.back().parameter > 0.1345);
}

// A stick vanishes with a square root: the parameter stands still there, so that Π(1 - μ)/fold has a pole,
// with a multiplier of 1.006 on both sides.
TEST_CASE("no branch point is told where a stick vanishes beside a multiplier near 1", "[long]") {
  const Family f = family(
      "name = 'linear_stops'\n"
      "mass = [[2.319, 0, 0], [0, 2.147, 0], [0, 0, 1.244]]\n"
      "damping = [[0.09, -0.044, 0], [-0.044, 0.066, -0.022], [0, -0.022, 0.022]]\n"
      "stiffness = [[5.769, -2.826, 0], [-2.826, 4.254, -1.428], [0, -1.428, 1.428]]\n"
      "omega = 0.996\n"
      "force = [{ order = 1, cosine = [-0.427, -0.755, 1.001] }]\n"
      "stop = [{ normal = [1, 0, 0], position = 0.765, restitution = 0.478 }]\n"
      "friction = [{ direction = [-1, 0, 0], amplitude = 0.195 }, "
      "{ direction = [-1, 0, 0], amplitude = 0.138 }]",
      "omega");
  Eigen::VectorXd state(6);
  state << -1.053410017039929, 1.0906112038044902, -1.9576743454682601, 1.9081971365680075,
      -1.8481223480010716, 0.8986655422957586;
  const Branch branch = branch_through(f, {0.6158103515471037, state, 1}, 0.583, 1.409, 50);
  check_closes(f, branch);
  const auto is_passed = [](const BranchPoint& p) { return p.parameter < 0.614128; };
  CHECK(std::any_of(branch.points.begin(), branch.points.end(), is_passed));
  for (const Bifurcation& b : branch.bifurcations) CHECK(b.kind != BifurcationKind::branch_point);
}

// x'' + 0.1 x' + x = F cos 1.3 t touches x = 1 at F = |1 - 1.3^2 + 0.13 i|.
TEST_CASE("a branch ends where its orbit begins to touch the trigger of a jump, and says where") {
  const Family f = family(R"toml(name = "equations"
coordinates = ["x"]
parameters = { F = 0.5 }
force = { x = "F*cos(1.3*t) - 0.1*x' - x" }
period = "2*pi/1.3"
[[model.jump]]
when = "1 - x"
set = { x_dot = "-0.8*x'" }
)toml",
                          "F");
  const std::complex<double> response = 0.5 / std::complex<double>(1 - 1.3 * 1.3, 0.13);
  const Branch branch = branch_from(f, {response.real(), -1.3 * response.imag()}, 0.5, 0.3, 1);
  CHECK(branch.begins == "end of the range");
  CHECK(branch.ends == "jump_border: no orbit of the same period is found behind it");
  REQUIRE(branch.bifurcations.size() == 1);
  const Bifurcation& border = branch.bifurcations.front();
  CHECK(border.kind == BifurcationKind::jump_border);
  CHECK(border.error < 1e-9);
  CHECK(std::abs(border.parameter - std::hypot(1 - 1.3 * 1.3, 0.13)) <= 1.01 * border.error);
}

// A contact in the trigger's place has the same motion; its grazing is solved for.
TEST_CASE("a branch that ends at a jump whose trigger it touches has a contact's grazing there") {
  const auto at_wall = [](const char* wall) {
    const std::string rest = R"toml(
[[model.jump]]
when = "x + 0.092"
direction = "up"
set = { x_dot = "0.862*x' + 0.102" }
)toml";
    const Family f = family(R"toml(name = "equations"
coordinates = ["x"]
parameters = { omega = 1.413 }
force = { x = "0.727*cos(omega*t) - 0.193*x' - 0.072*x - 0.952*x^3" }
period = "2*pi/omega"
)toml" + (wall + rest),
                            "omega");
    return branch_from(f, {-0.5, 0.1}, 1.413, 1.15, 1.45);
  };
  const Branch hit = at_wall("[[model.contact]]\ngap = '0.859 - x'\nrestitution = 0.727");
  const Branch branch = at_wall("[[model.jump]]\nwhen = '0.859 - x'\nset = { x_dot = \"-0.727*x'\" }");
  const Bifurcation* grazing = nearest(hit, BifurcationKind::grazing, 1.1894135262);
  const Bifurcation* border = nearest(branch, BifurcationKind::jump_border, 1.1894135262);
  REQUIRE(grazing != nullptr);
  REQUIRE(border != nullptr);
  CHECK(branch.begins == "jump_border: no orbit of the same period is found behind it");
  CHECK(border->error < 1e-9);
  CHECK(std::abs(border->parameter - grazing->parameter) <= 1.01 * border->error);
}

// The branch ends where an impact beside a chattering contact comes otherwise: behind it the motion goes to
// and fro between two other orbits. Orbits are solved by the system's own motion, whose jump Newton's method
// does not see.
TEST_CASE("a branch ends where the motion jumps, and does not turn there when it has only begun", "[long]") {
  const Family f = family(
      "name = 'linear_stops'\n"
      "mass = [[0.87, 0, 0], [0, 2.063, 0], [0, 0, 1.648]]\n"
      "damping = [[0.081, -0.029, 0], [-0.029, 0.051, -0.022], [0, -0.022, 0.054]]\n"
      "stiffness = [[2.427, -0.878, 0], [-0.878, 1.538, -0.66], [0, -0.66, 1.631]]\n"
      "omega = 0.672\n"
      "force = [{ order = 1, cosine = [1.148, 0.828, -1.044] }, "
      "{ order = 2, cosine = [0.101, -0.312, -0.4], sine = [-0.164, -0.17, 0.258] }]\n"
      "stop = [{ normal = [0, -1, 0], position = 0.355, restitution = 0.392 }, "
      "{ normal = [-1, 0, 1], position = 0.263, restitution = 0.606 }, "
      "{ normal = [0, 0, 1], position = 0.09, restitution = 0.384 }]\n"
      "friction = [{ direction = [0, 0, 1], amplitude = 0.182 }, "
      "{ direction = [-1, 1, 0], amplitude = 0.148 }]",
      "omega");
  Eigen::VectorXd state(6);
  state << 1.4009969798674, 0.011748328334448, 1.5714668651479, 0.35959179532921, -0.56448602023685,
      -0.16922873811615;
  const Branch branch = branch_through(f, {0.46346578267697, state, 1}, 0.403, 0.941, 25);
  check_closes(f, branch);
  CHECK(goes_one_way(branch));
  CHECK(branch.ends == "edge of contact 3: the motion jumps there");
  const Bifurcation* jump = nearest(branch, BifurcationKind::edge, 0.4634657830588);
  REQUIRE(jump != nullptr);
  CHECK(std::abs(jump->parameter - 0.4634657830588) < 1e-12);
  const auto settles = [&](double omega) {
    const auto system = f.system(omega);
    HybridState motion;
    motion.x = state;
    Eigen::VectorXd before;
    for (int period = 0; period < 200; ++period) {
      before = motion.x;
      REQUIRE(system->advance(motion, {}, nullptr) == Outcome::ok);
    }
    return (motion.x - before).cwiseAbs().maxCoeff() < 1e-10;
  };
  CHECK(settles(jump->parameter - 1e-9));
  CHECK_FALSE(settles(jump->parameter + 1e-9));
}
