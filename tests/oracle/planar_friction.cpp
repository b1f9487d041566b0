/// A mass under isotropic Coulomb friction between walls: closed forms against quadrature, two engines
/// against each other, against a Runge-Kutta integration, against published and independent numbers.
#include <catch2/catch.hpp>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "analysis/maps/orbit.hpp"
#include "core/models/planar/friction_slide.hpp"
#include "tests/ode.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

using std::numbers::pi;
using Slide = FrictionSlide<double>;
using Two = Slide::Vector;

const std::string no_walls = "x_left = -inf\nx_right = inf\n";
const std::string second_force = "ex = 1\ney = 1\nmod_x = 0.5\nmod_y = 0.4\n";

std::unique_ptr<System> planar(const std::string& settings) {
  return make_system("name = 'planar_friction'\n" + settings);
}

/// No springs, no dampers, a resultant that does not change.
std::string constant_resultant(const Two& q, double f) {
  return "kx = 0\nky = 0\ncx = 0\ncy = 0\nomega_x = 0\nomega_y = 0\nmod_x = 0\nmod_y = 0\nphase_y = " +
         fmt_double(pi / 2) + "\nex = " + fmt_double(q(0)) + "\ney = " + fmt_double(q(1)) +
         "\nfriction = " + fmt_double(f) + "\n";
}

std::string semi_analytical(double step, double look_ahead) {
  return "step = " + fmt_double(step) + "\nlook_ahead = " + fmt_double(look_ahead) + "\n";
}

HybridState moved(System& system, const std::vector<double>& start, double time,
                  Observer* observer = nullptr) {
  HybridState state = state_at(start);
  REQUIRE(system.advance(state, for_time(time), observer) == Outcome::ok);
  return state;
}

/// Greatest difference of two states.
double apart(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return (a - b).cwiseAbs().maxCoeff(); }

/// Time and displacement until the angle to Q is θ: quadratures over the angle of
/// v = v₀ (sin θ₀/sin θ)(tan(θ/2)/tan(θ₀/2))^F,  dt = −m v dθ/(Q sin θ).
struct ByQuadrature {
  double m, q, ratio, v0, theta0;

  double speed(double theta) const {
    return v0 * std::sin(theta0) / std::sin(theta) *
           std::pow(std::tan(theta / 2) / std::tan(theta0 / 2), ratio);
  }
  template <class F>
  double integral(double theta, const F& f) const {
    using Rule = boost::math::quadrature::gauss_kronrod<double, 61>;
    return Rule::integrate([&](double a) { return f(a) * m * speed(a) / (q * std::sin(a)); }, theta, theta0,
                           8, 1e-13);
  }
  double time(double theta) const {
    return integral(theta, [](double) { return 1.0; });
  }
  double along(double theta) const {
    return integral(theta, [&](double a) { return speed(a) * std::cos(a); });
  }
  double across(double theta) const {
    return integral(theta, [&](double a) { return speed(a) * std::sin(a); });
  }
};

}  // namespace

TEST_CASE("slide under a constant resultant: closed forms against quadrature over the angle") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int k = 0; k < 120; ++k) {
    const double ratios[] = {0, 0.5, 1, 1 + 1e-9, 2, 3 * unit(random)};
    const double ratio = ratios[k % 6];
    const double q = 0.1 + 2 * unit(random);
    const double m = 0.2 + unit(random);
    const double v0 = std::pow(10, -6 * unit(random));
    const double theta0 = 0.02 + 3.1 * unit(random);
    const double theta = theta0 * (0.02 + 0.97 * unit(random));
    CAPTURE(k, ratio, theta0, theta);
    const ByQuadrature exact{m, q, ratio, v0, theta0};
    const double turn = 2 * pi * unit(random);  // where Q points to
    const Two forward(std::cos(turn), std::sin(turn));
    const Two sideways(-forward(1), forward(0));
    const Slide slide(m, ratio * q, q * forward,
                      v0 * (std::cos(theta0) * forward + std::sin(theta0) * sideways));
    const Slide::Point p = slide.at(exact.time(theta));
    const double size = std::hypot(exact.along(theta), exact.across(theta));
    CHECK(std::abs(p.displacement.dot(forward) - exact.along(theta)) < 1e-10 * size);
    CHECK(std::abs(p.displacement.dot(sideways) - exact.across(theta)) < 1e-10 * size);
    const double speed = exact.speed(theta);
    CHECK(std::abs(p.velocity.dot(forward) - speed * std::cos(theta)) < 1e-9 * speed);
    CHECK(std::abs(p.velocity.dot(sideways) - speed * std::sin(theta)) < 1e-9 * speed);
  }
}

TEST_CASE("slide under a constant resultant: the stop, the limits without friction and without resultant") {
  const Two velocity(0.3, -0.4);
  SECTION("the stop is the limit of the slide") {
    for (const double f : {1.01, 1.5, 4.0}) {
      const Slide slide(0.7, f, Two(0.6, 0.8), velocity);
      REQUIRE(slide.stops());
      const Slide::Point end = slide.stop();
      const Slide::Point before = slide.at(end.time * (1 - 1e-9));
      CHECK((before.displacement - end.displacement).norm() < 1e-9 * end.displacement.norm());
      CHECK(before.velocity.norm() < 1e-8);
      CHECK(slide.at(2 * end.time).velocity.norm() == 0);
      CHECK(slide.at(2 * end.time).displacement == end.displacement);
    }
  }
  SECTION("no friction: a parabola") {
    const Two q(0.6, 0.8);
    const Slide slide(0.7, 0, q, velocity);
    const Slide::Point p = slide.at(3);
    CHECK((p.displacement - (velocity * 3 + q * 4.5 / 0.7)).norm() < 1e-13);
    CHECK((p.velocity - (velocity + q * 3 / 0.7)).norm() < 1e-13);
  }
  SECTION("no resultant: a straight line") {
    const Slide slide(0.7, 0.2, Two(0, 0), velocity);
    const Slide::Point p = slide.at(1);
    CHECK((p.displacement - velocity * (1 - 0.2 / 0.7 / 2 / 0.5)).norm() < 1e-14);
    CHECK(slide.stop().time == Approx(0.7 * 0.5 / 0.2).epsilon(1e-14));
  }
  SECTION("against the resultant: to rest, then along it") {
    const Two q(-0.6, 0.8);
    const Slide slide(0.7, 0.5, q, velocity);
    const double rest = 0.7 * 0.5 / 1.5;
    CHECK(slide.stop().time == Approx(rest).epsilon(1e-14));
    const Slide::Point p = slide.at(rest + 2);
    const Two expected = velocity * rest / 2 + q * (0.5 / 0.7 * 4 / 2);
    CHECK((p.displacement - expected).norm() < 1e-14);
  }
}

TEST_CASE("slide under a constant resultant: friction near the resultant with small and vanishing speeds") {
  // Turned onto Q the motion is v' = (Q − f)/m, whatever is left of the start.
  for (const double excess : {0.0, 1e-15, 1e-12, -1e-12, 1e-8, -1e-8}) {
    for (const double v0 : {0.0, 1e-14, 1e-12, 1e-9}) {
      CAPTURE(excess, v0);
      const Slide slide(1, 1 - excess, Two(1, 0), Two(0, v0));
      const Slide::Point p = slide.at(10);
      const double rate = 1 - (1 - excess);
      // The speed halves while it turns; where the rate is negative it has stopped.
      const double straight = v0 / 2;
      const double lasting = rate < 0 ? std::min(10.0, straight / -rate) : 10.0;
      const double expected = lasting * (straight + rate * lasting / 2);
      CHECK(p.displacement(0) == Approx(expected).margin(1e-24 + 3 * v0 * v0).epsilon(1e-6));
    }
  }
}

TEST_CASE("slide under a constant resultant: the first meeting with a wall against fine sampling") {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(-1, 1);
  int met = 0, grazed = 0;
  for (int k = 0; k < 3000; ++k) {
    const Slide slide(1, 1.5 * std::abs(unit(random)), Two(unit(random), unit(random)),
                      Two(unit(random), unit(random)));
    const double gap = std::pow(10, -3 * std::abs(unit(random)));
    const Two normal(k % 2 == 0 ? 1 : -1, 0);
    const double within = 2;
    CAPTURE(k);
    const auto meeting = slide.meets(normal, gap, within);
    const auto height = [&](double t) { return gap + normal.dot(slide.at(t).displacement); };
    // Rounding of the gap, and of the time of the meeting.
    constexpr double rounding = 2 * std::numeric_limits<double>::epsilon();
    if (meeting) {
      ++met;
      CHECK(std::abs(height(meeting->time)) < rounding * (2 * gap + 2 * meeting->time));
      CHECK(normal.dot(meeting->velocity) <= 0);
    }
    double lowest = gap;
    const double end = meeting ? meeting->time : within;
    for (int i = 0; i < 200; ++i) lowest = std::min(lowest, height(end * i / 200));
    CHECK(lowest > -1e-15);
    const auto turn = slide.turns(normal, within);
    if (turn && !meeting) ++grazed;
    if (turn) CHECK(std::abs(normal.dot(turn->velocity)) < 1e-14);
  }
  CHECK(met > 500);
  CHECK(grazed > 100);
}

TEST_CASE("slide under a constant resultant: derivatives in dual numbers against central differences") {
  const auto state = [](const std::array<double, 6>& p) {
    const Slide::Point end = Slide(p[0], p[1], Two(p[2], p[3]), Two(p[4], p[5])).at(0.8);
    return Eigen::Vector4d(end.displacement(0), end.displacement(1), end.velocity(0), end.velocity(1));
  };
  for (const double f : {0.0, 0.4, 0.5, 1.0, 1.3, 9.0}) {
    CAPTURE(f);
    const std::array<double, 6> at = {1, f, 0.6, 0.8, 0.5, -1.2};
    std::array<Dual<6>, 6> p;
    for (std::size_t i = 0; i < 6; ++i) {
      p[i] = at[i];
      p[i].slope[i] = 1;
    }
    using Dualed = FrictionSlide<Dual<6>>;
    const Dualed::Point end =
        Dualed(p[0], p[1], Dualed::Vector(p[2], p[3]), Dualed::Vector(p[4], p[5])).at(Dual<6>(0.8));
    for (std::size_t i = 0; i < 6; ++i) {
      const double h = f == 0 && i == 1 ? 0 : 1e-5;
      if (h == 0) continue;
      std::array<double, 6> low = at, high = at;
      low[i] -= h;
      high[i] += h;
      const Eigen::Vector4d slope = (state(high) - state(low)) / (2 * h);
      const double size = std::max(1.0, slope.cwiseAbs().maxCoeff());
      for (int j = 0; j < 2; ++j) {
        CHECK(std::abs(end.displacement(j).slope[i] - slope(j)) < 1e-9 * size);
        CHECK(std::abs(end.velocity(j).slope[i] - slope(2 + j)) < 1e-9 * size);
      }
    }
  }
}

TEST_CASE("planar_friction: the event-driven engine follows the closed forms under a constant force") {
  for (const double ratio : {0.3, 0.5, 0.999, 1.0, 1.001, 1.7}) {
    CAPTURE(ratio);
    const Two q(0.6, -0.8);
    const Two velocity(-0.7, 0.2);
    const auto system = planar(constant_resultant(q, ratio) + no_walls);
    const Slide slide(1, ratio, q, velocity);
    for (const double time : {0.1, 0.5, 1.0, 3.0}) {
      CAPTURE(time);
      const HybridState state = moved(*system, {0, 0, velocity(0), velocity(1)}, time);
      const Slide::Point p = slide.at(time);
      CHECK((state.x.head<2>() - p.displacement).norm() < 1e-13);
      CHECK((state.x.tail<2>() - p.velocity).norm() < 1e-11);
    }
  }
}

TEST_CASE("planar_friction: both engines meet the walls at the same points under a constant force") {
  const std::string settings = constant_resultant(Two(0.3, 0.2), 0.15) + "x_left = -0.1\nx_right = 0.2\n";
  Log exact, frozen;
  moved(*planar(settings), {0, 0, -1, 0.5}, 4, &exact);
  moved(*planar(settings + semi_analytical(0.01, 0)), {0, 0, -1, 0.5}, 4, &frozen);
  const auto first = exact.of(EventKind::impact);
  const auto second = frozen.of(EventKind::impact);
  REQUIRE(first.size() >= 8);
  REQUIRE(second.size() == first.size());
  for (std::size_t k = 0; k < first.size(); ++k) {
    CAPTURE(k);
    CHECK(first[k].contact == second[k].contact);
    CHECK(first[k].time == Approx(second[k].time).margin(1e-13).epsilon(0));
    CHECK(first[k].before[1] == Approx(second[k].before[1]).margin(1e-13).epsilon(0));
    const double wall = first[k].contact == 0 ? -0.1 : 0.2;
    CHECK(first[k].before[0] == wall);
    CHECK(second[k].before[0] == wall);
  }
}

TEST_CASE("planar_friction: reference motion with walls: contact, sticking, sliding, leaving") {
  Log log;
  const HybridState end = moved(*planar(""), {0, 0, 0, 0}, 2, &log);
  const double expected[] = {0.00975208791398, 0.07807059667921, -0.05306452738272, 0.06361040947941};
  for (int i = 0; i < 4; ++i) CHECK(end.x(i) == Approx(expected[i]).margin(1e-13).epsilon(0));
  const auto only = [&](EventKind kind, int contact) {
    const auto list = log.of(kind, contact);
    REQUIRE(list.size() == 1);
    return list.front().time;
  };
  CHECK(only(EventKind::chatter_complete, 1) == Approx(0.9294701766).margin(1e-10).epsilon(0));
  CHECK(only(EventKind::slip_to_stick, -1) == Approx(0.9674213882).margin(1e-10).epsilon(0));
  CHECK(only(EventKind::stick_to_slip, -1) == Approx(1.0660604829).margin(1e-10).epsilon(0));
  CHECK(only(EventKind::release, 1) == Approx(1.4307087311).margin(1e-10).epsilon(0));
  CHECK(log.of(EventKind::impact).size() > 100);
}

TEST_CASE("planar_friction: reference motion without walls, nine sticks") {
  Log log;
  const HybridState end = moved(*planar(second_force + no_walls), {0, 0, 0, 0}, 6, &log);
  const double expected[] = {0.0051241137684, -0.0359014170770, 0.0101765304535, 0.0029486427577};
  for (int i = 0; i < 4; ++i) CHECK(end.x(i) == Approx(expected[i]).margin(1e-13).epsilon(0));
  CHECK(log.of(EventKind::slip_to_stick).size() == 9);
  CHECK(log.of(EventKind::stick_to_slip).size() == 9);
}

TEST_CASE("planar_friction: the steady motion of the reference and its mirrored half") {
  const auto system = planar("");
  HybridState state = state_at({0, 0, 0, 0});
  for (int k = 0; k < 18; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
  const double expected[] = {0.0196760970908, -0.0894299138802, 0.0244648723707, 0.0428694225749};
  for (int i = 0; i < 4; ++i) CHECK(state.x(i) == Approx(expected[i]).margin(1e-12).epsilon(0));
  const Eigen::VectorXd begin = state.x;
  Log log;
  REQUIRE(system->advance(state, for_time(pi), &log) == Outcome::ok);
  CHECK(apart(state.x, -begin) < 1e-13);
  // Four transitions from slip to stick in a period, none of them at a wall.
  const auto sticks = log.of(EventKind::slip_to_stick);
  REQUIRE(sticks.size() == 2);
  for (const auto& e : sticks) CHECK(std::abs(e.after[0]) < 0.0199);
}

TEST_CASE("planar_friction: free slip against a Runge-Kutta integration") {
  const auto system = planar(no_walls);
  HybridState state = moved(*system, {0, 0, 0, 0}, 2);
  using Y = std::vector<double>;
  const auto rates = [](const Y& x, Y& r, double t) {
    const double load = 1.5 + 0.4 * std::cos(10 * t);
    const double speed = std::hypot(x[2], x[3]);
    r = {x[2], x[3], load * std::cos(t) - 10 * x[0] - 0.1 * x[2] - x[2] / speed,
         load * std::sin(t) - 10 * x[1] - 0.1 * x[3] - x[3] / speed};
  };
  const Y y = integrated(rates, {state.x(0), state.x(1), state.x(2), state.x(3)}, 2, 6, 1e-3, 1e-14);
  REQUIRE(system->advance(state, for_time(4), nullptr) == Outcome::ok);
  for (int i = 0; i < 4; ++i) CHECK(state.x(i) == Approx(y[static_cast<std::size_t>(i)]).margin(1e-12));
}

TEST_CASE("planar_friction: the frozen resultant converges with first order, that of mid-step with second") {
  struct Study {
    std::string settings;
    double time;
  };
  for (const Study& study : {Study{no_walls, 6}, Study{"", 2}, Study{second_force + no_walls, 6}}) {
    const Eigen::VectorXd exact = moved(*planar(study.settings), {0, 0, 0, 0}, study.time).x;
    INFO(study.settings);
    for (const int order : {1, 2}) {
      const double look_ahead = order == 1 ? 0 : 0.5;
      std::vector<double> error;
      for (const double step : {8e-3, 4e-3, 2e-3, 1e-3, 5e-4}) {
        const auto system = planar(study.settings + semi_analytical(step, look_ahead));
        error.push_back(apart(moved(*system, {0, 0, 0, 0}, study.time).x, exact));
      }
      const double slope = std::log2(error.front() / error.back()) / 4;
      CAPTURE(order, error[0], error[1], error[2], error[3], error[4]);
      CHECK(slope == Approx(order).margin(0.15));
    }
  }
}

TEST_CASE("planar_friction: position errors of the semi-analytical engine at the published step") {
  const auto position = [](const std::string& engine) {
    return moved(*planar(no_walls + engine), {0, 0, 0, 0}, 6).x.head<2>().eval();
  };
  const Eigen::Vector2d exact = position("");
  CHECK((position(semi_analytical(1e-4, 0)) - exact).cwiseAbs().maxCoeff() == Approx(5.2e-6).epsilon(0.02));
  CHECK((position(semi_analytical(1e-4, 0.5)) - exact).cwiseAbs().maxCoeff() ==
        Approx(6.5e-10).epsilon(0.02));
}

TEST_CASE("planar_friction: a mass that sticks does not move by a bit") {
  for (const std::string& engine : {std::string(), semi_analytical(1e-3, 0.5)}) {
    INFO(engine);
    const auto system = planar(second_force + no_walls + engine);
    HybridState state = state_at({0, 0, 0, 0});
    int held = 0;
    Eigen::VectorXd where;
    bool stuck = false;
    for (int k = 0; k < 3000; ++k) {
      REQUIRE(system->advance(state, for_time(0.002), nullptr) == Outcome::ok);
      const bool sticks = (state.mode & 4) != 0;
      if (sticks && stuck) {
        ++held;
        CHECK(state.x == where);
      }
      stuck = sticks;
      where = state.x;
    }
    CHECK(held > 500);
  }
}

TEST_CASE("planar_friction: in one direction it is the forced Coulomb oscillator") {
  // x'' + x = cos Ωt − S sgn x': the symmetric motion without sticks has the amplitude
  // √(1/(1−Ω²)² − (S tan(π/2Ω)/Ω)²).
  const double cases[][3] = {{0.6, 0.2, 1.550602854687},
                             {1.5, 0.2, 0.765941686205},
                             {0.7, 0.3, 1.885699850414},
                             {1.3, 0.5, 1.035328007705}};
  for (const auto& [omega, S, amplitude] : cases) {
    CAPTURE(omega, S);
    const auto system =
        planar("kx = 1\nky = 1\ncx = 0\ncy = 0\nex = 1\ney = 0\nmod_x = 0\nomega_x = " + fmt_double(omega) +
               "\nfriction = " + fmt_double(S) + "\n" + no_walls);
    CHECK(system->period() == Approx(2 * pi / omega));
    HybridState state = state_at({0, 0, 0, 0});
    for (int k = 0; k < 60; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
    const Orbit orbit = refine_orbit(PoincareMap(*system, Section{}), state, 1);
    REQUIRE(orbit.closed);
    state = orbit.start;
    Log log;
    REQUIRE(system->advance(state, Section{}, &log) == Outcome::ok);
    const auto turns = log.of(EventKind::slip_reversal);
    REQUIRE(turns.size() == 2);
    CHECK(log.of(EventKind::slip_to_stick).empty());
    for (const auto& turn : turns) {
      CHECK(std::abs(turn.after[0]) == Approx(amplitude).margin(1e-11).epsilon(0));
      CHECK(turn.after[1] == 0);
    }
  }
}
