/// Accumulation of chatter against closed forms and 15-digit references, and its independence of the cut.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/contact/chatter.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

std::string number(double x) { return Value(x).toml(); }

/// x'' + x = cos ωt, x ≤ σ, v → −r v.
std::string oscillator(double omega, double sigma, double r) {
  return "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nomega = " + number(omega) +
         "\nforce = [{ cosine = [1] }]\nstop = [{ normal = [1], position = " + number(sigma) +
         ", restitution = " + number(r) + " }]";
}

/// A body at p with velocity v under the constant force f between two walls n_i . p = d_i that meet in a
/// corner.
struct Corner {
  std::array<Eigen::Vector2d, 2> normal;
  Eigen::Vector2d position, restitution, v, f;

  /// When bounces from wall to wall end in the corner, in the gaps and the speeds at which they open, which
  /// keep their digits there: each impact is u_i -> -r u_i along the wall's normal.
  double time_to_end() const {
    using Real = long double;
    std::array<Real, 2> g, u, a;
    for (std::size_t i = 0; i < 2; ++i) {
      g[i] = position(static_cast<Eigen::Index>(i));
      u[i] = -normal[i].dot(v);
      a[i] = -normal[i].dot(f);
    }
    Real t = 0;
    while (std::max(std::abs(u[0]), std::abs(u[1])) > 1e-18L) {
      std::array<Real, 2> flight;
      for (std::size_t i = 0; i < 2; ++i) flight[i] = to_wall(g[i], u[i], a[i]);
      const std::size_t hit = flight[0] < flight[1] ? 0 : 1, other = 1 - hit;
      const Real h = flight[hit];
      if (!std::isfinite(h)) return std::numeric_limits<double>::quiet_NaN();
      t += h;
      g[other] += h * (u[other] + a[other] * h / 2);
      g[hit] = 0;
      for (std::size_t i = 0; i < 2; ++i) u[i] += a[i] * h;
      const Real opened = -static_cast<Real>(restitution(static_cast<Eigen::Index>(hit))) * u[hit];
      u[other] += normal[0].dot(normal[1]) / normal[hit].squaredNorm() * (opened - u[hit]);
      u[hit] = opened;
    }
    return static_cast<double>(t);
  }

  /// The first t > 0 with g + u t + a t^2/2 = 0.
  static long double to_wall(long double g, long double u, long double a) {
    constexpr long double never = std::numeric_limits<long double>::infinity();
    if (g == 0) return a < 0 ? -2 * u / a : never;
    const long double inside = u * u - 2 * a * g;
    if (inside < 0) return never;
    const long double q = -(u + std::copysign(std::sqrt(inside), u));
    long double first = never;
    for (const long double root : {q / a, 2 * g / q}) {
      if (root > 0) first = std::min(first, root);
    }
    return first;
  }
};

}  // namespace

TEST_CASE("six accumulation times from release at cos wt = sigma") {
  struct Reference {
    double omega, sigma, r, duration;
  };
  const std::vector<Reference> table = {
      {2.8, -0.8, 0.6, 1.372945390141578}, {2.8, -0.8, 0.4, 1.143757262837700},
      {0.5, -0.8, 0.4, 4.942704245505280}, {2.0, -0.5, 0.2, 2.388595273797158},
      {1.5, -0.8, 0.6, 2.467786981696733}, {5.0, -0.5, 0.2, 1.059005504494844}};
  for (const Reference& ref : table) {
    INFO("omega " << ref.omega << " sigma " << ref.sigma << " r " << ref.r);
    const auto system = make_system(oscillator(ref.omega, ref.sigma, ref.r));
    const double release = std::acos(ref.sigma) / ref.omega;  // the force on the resting mass vanishes
    HybridState state = state_at({ref.sigma, 0}, release);
    Log log;
    REQUIRE(system->advance(state, for_time(8), &log) == Outcome::ok);
    const auto complete = log.of(EventKind::chatter_complete);
    REQUIRE(!complete.empty());
    CHECK(complete[0].time - release == Approx(ref.duration).margin(1e-11).epsilon(0));
  }
}

TEST_CASE("bouncing balls come to rest at their closed-form time") {
  // q'' = −g from height h0: t = √(2 h0/g) (1 + e)/(1 − e)
  struct Ball {
    double e, g, rest;
  };
  for (const Ball& ball :
       {Ball{0.5, 9.8, 3 * std::sqrt(2 / 9.8)}, Ball{0.9, 9.81, 19 * std::sqrt(2 / 9.81)}}) {
    const auto system =
        make_system("name = 'linear_stops'\nmass = [[1]]\nconstant = [" + number(-ball.g) +
                    "]\nstop = [{ normal = [-1], position = 0, restitution = " + number(ball.e) + " }]");
    HybridState state = state_at({1, 0});
    Log log;
    REQUIRE(system->advance(state, for_time(20), &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::stick).size() == 1);
    CHECK(log.of(EventKind::stick)[0].time == Approx(ball.rest).margin(1e-12).epsilon(0));
    CHECK(log.of(EventKind::impact)[0].time == Approx(std::sqrt(2 / ball.g)).margin(1e-14).epsilon(0));
    CHECK(log.of(EventKind::impact).size() > 10);
    CHECK(state.x(0) == 0);
    CHECK(state.x(1) == 0);
  }
}

TEST_CASE(
    "a body that bounces from wall to wall into their corner is there in no time, and leaves from rest") {
  const Eigen::Vector2d n1(-0.5746541774601202, 0.8183963442780232),
      n2(0.30142121760555196, -0.9534910852111763);
  const Eigen::Vector2d d(0.48, 0.13);
  const Eigen::Vector2d corner =
      (Eigen::Matrix2d() << n1.transpose(), n2.transpose()).finished().inverse() * d;
  const auto along_second = [&](const Eigen::Vector2d& f) {
    return Eigen::Vector2d(f - n2 * (n2.dot(f) / n2.squaredNorm()));
  };
  const Eigen::Vector2d off(0.02, 0.01), along(0.099, -0.006), into(-0.018, -0.070);
  const struct {
    Eigen::Vector2d force, acceleration;
  } pulls[] = {{off, off}, {along, along_second(along)}, {into, Eigen::Vector2d::Zero()}};
  for (const auto& [force, acceleration] : pulls) {
    CAPTURE(force.transpose());
    const Corner walls{{n1, n2}, d, {0.5, 0.2225}, corner / 2 + Eigen::Vector2d(0.02, 0.013), force};
    const auto system =
        make_system("name = 'linear_stops'\nmass = [[1, 0], [0, 1]]\nconstant = [" + number(force(0)) + ", " +
                    number(force(1)) + "]\nstop = [{ normal = [" + number(n1(0)) + ", " + number(n1(1)) +
                    "], position = " + number(d(0)) + ", restitution = 0.5 }, { normal = [" + number(n2(0)) +
                    ", " + number(n2(1)) + "], position = " + number(d(1)) + ", restitution = 0.2225 }]");
    HybridState state = state_at({0, walls.v(0), 0, walls.v(1)});
    REQUIRE(system->advance(state, for_time(8), nullptr) == Outcome::ok);
    const double after = 8 - walls.time_to_end();
    for (Eigen::Index i = 0; i < 2; ++i) {
      CHECK(state.x(2 * i) ==
            Approx(corner(i) + acceleration(i) * after * after / 2).margin(1e-12).epsilon(0));
      CHECK(state.x(2 * i + 1) == Approx(acceleration(i) * after).margin(1e-12).epsilon(0));
    }
  }
}

TEST_CASE("where the sequence is cut changes the state after sticking by the order of the theory only") {
  // Case (b) at delta = 0.25, one period on from a state before both sequences, cut at rebound speeds near
  // 1e-3, 1e-4, 1e-5 against 1e-7: O(v^4) for the state with the impulse of the gap, and O(v^3) in time.
  const auto run = [](double chatter, double& cut_speed, double& accumulation) {
    Tolerance tolerance;
    tolerance.chatter = chatter;
    const auto system = make_system("name = 'two_dof_stops'\ndelta = 0.25\nd1 = -0.3\nd2 = 0.1", tolerance);
    HybridState state = state_at({0.33979996922474, 0.10654734166035, 0.09770447427250, 0.09747087673247});
    Log log;
    REQUIRE(system->advance(state, Section{}, &log) == Outcome::ok);
    double last = 0;
    for (const auto& e : log.entries) {
      if (e.kind == EventKind::impact && e.contact == 1) last = 0.7 * e.speed;
      if (e.kind == EventKind::chatter_complete && e.contact == 1) {
        cut_speed = last;
        accumulation = e.time / system->period();
      }
    }
    return state.x;
  };
  double fine_cut = 0, fine_time = 0;
  const Eigen::VectorXd fine = run(1e-6, fine_cut, fine_time);
  CHECK(fine_cut < 1e-6);
  struct Step {
    double chatter, least, most, state, time;
  };
  for (const Step& step : {Step{3e-2, 3e-4, 3e-3, 8e-9, 3e-5}, Step{3e-3, 3e-5, 3e-4, 1e-12, 3e-8},
                           Step{3e-4, 3e-6, 3e-5, 2e-14, 3e-11}}) {
    double cut = 0, time = 0;
    const Eigen::VectorXd x = run(step.chatter, cut, time);
    INFO("cut at rebound speed " << cut);
    CHECK(cut > step.least);
    CHECK(cut < step.most);
    CHECK((x - fine).cwiseAbs().maxCoeff() < step.state);
    CHECK(std::abs(time - fine_time) < step.time);
  }
}

TEST_CASE("the formula for the accumulation converges with the second order it states") {
  // A ball on a table with growing pull: gap'' = −(a + ȧ t); the sequence followed impact by impact.
  const double a = 1, rate = 0.3, r = 0.5;
  const auto followed = [&](double v) {
    double t = 0;
    for (int k = 0; k < 60; ++k) {
      const double now = a + rate * t;
      double flight = 2 * v / now;  // v − a τ/2 − ȧ τ²/6 = 0
      for (int i = 0; i < 50; ++i) flight = 2 * v / (now + rate * flight / 3);
      v = r * (now * flight + rate * flight * flight / 2 - v);
      t += flight;
    }
    return t;
  };
  double last = 0;
  for (const double v : {1e-2, 1e-3, 1e-4}) {
    const double error = std::abs(followed(v) - chatter_duration(Rebound<double>{v, r, a, rate, 0}));
    if (last > 0) CHECK(last / error == Approx(1000).epsilon(0.1));
    last = error;
  }
}
