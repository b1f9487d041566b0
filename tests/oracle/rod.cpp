/// A rod hits the ground: reference values, closed forms, scaling laws, energy, the rules at an instant.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "analysis/maps/attractor.hpp"
#include "analysis/maps/impact_log.hpp"
#include "tests/ode.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

using std::numbers::pi;
constexpr double hertz = 1.5384615384615385e10;  // N/m^1.5 with the model's defaults
constexpr double mass = 0.2, length = 0.1, inertia = mass * length * length / 12;

std::string rod(const std::string& parameters) {
  std::string text = "name = 'rod_on_ground'\n";
  std::istringstream list(parameters);
  for (std::string item; list >> item;) text += item + "\n";
  return text;
}

/// A motion from the model's own start, or from `start`.
struct Run {
  explicit Run(const std::string& parameters, double time = 2e-4, std::vector<double> start = {}) {
    const auto model = make_model(rod(parameters));
    if (start.empty()) start = model->start(model->values());
    gravity = model->values()[static_cast<std::size_t>(model->parameter_index("gravity"))];
    before = energy(start);
    fall = start[4];
    const auto system = model->system(model->values(), {});
    HybridState state = state_at(start);
    struct Both : ImpactLog {
      void event(const Event& e) override {
        ImpactLog::event(e);
        log.event(e);
      }
      Log log;
    } both;
    outcome = system->advance(state, for_time(time), &both);
    impacts = both.records();
    events = both.log;
    after = energy({state.x.begin(), state.x.end()});
    end = state;
  }
  double energy(const std::vector<double>& x) const {
    return mass / 2 * (x[3] * x[3] + x[4] * x[4]) + inertia / 2 * x[5] * x[5] + mass * gravity * x[1];
  }
  double lost() const {
    double sum = 0;
    for (const ImpactRecord& r : impacts) sum += r.friction_work + r.damping_work;
    return sum;
  }

  Outcome outcome;
  std::vector<ImpactRecord> impacts;
  Log events;
  double gravity, before, after;
  double fall;  ///< upward velocity at the start
  HybridState end;
};

std::string sequence(const ImpactRecord& record) {
  return slip_sequence_names()[static_cast<std::size_t>(slip_sequence(record))];
}

std::string settings_of(double theta, double mu) {
  return "theta=" + fmt_double(theta) + " mu=" + fmt_double(mu) + " ";
}

/// Effective mass over the mass, of a sliding end.
double sliding_factor(double theta, double mu) {
  return 1 + 3 * std::cos(theta) * std::cos(theta) - 3 * mu * std::sin(theta) * std::cos(theta);
}

}  // namespace

TEST_CASE("rod_on_ground: reference contact times, peak forces and spins") {
  const double expected[2][4] = {{0, 8.8787362568e-5, 2550.3779551, -31.988009446},
                                 {0.1, 9.0247367044e-5, 2613.5778751, -31.397394583}};
  for (const auto& row : expected) {
    const Run run(settings_of(pi / 6, row[0]));
    REQUIRE(run.impacts.size() == 1);
    const ImpactRecord& impact = run.impacts[0];
    CHECK(impact.end - impact.begin == Approx(row[1]).epsilon(1e-10));
    CHECK(impact.peak_force == Approx(row[2]).epsilon(1e-10));
    CHECK(impact.after[5] == Approx(row[3]).epsilon(1e-10));
  }
}

TEST_CASE("rod_on_ground: the impact of a Hertzian sphere in closed form") {
  // m v^2/2 = (2/5) K d^(5/2); T = 2 d/v sqrt(pi) Gamma(7/5)/Gamma(9/10).
  const auto check = [](const ImpactRecord& r, double effective, double v) {
    const double deepest = std::pow(5 * effective * v * v / (4 * hertz), 0.4);
    const double lasting = 2 * deepest / v * std::sqrt(pi) * std::tgamma(1.4) / std::tgamma(0.9);
    CHECK(r.greatest_penetration == Approx(deepest).epsilon(1e-11));
    CHECK(r.peak_force == Approx(hertz * std::pow(deepest, 1.5)).epsilon(1e-11));
    CHECK(r.end - r.begin == Approx(lasting).epsilon(1e-11));
    CHECK(r.separation_speed == Approx(v).epsilon(1e-13));
    CHECK(r.turn - r.begin == Approx(lasting / 2).epsilon(1e-8));
  };
  const Run upright("theta=" + fmt_double(pi / 2) + " gravity=0 mu=0");
  REQUIRE(upright.impacts.size() == 1);
  check(upright.impacts[0], mass, 2);
  // A rod that lies flat falls on both ends at once: each carries half of it.
  const Run flat("gravity=0 mu=0", 3e-4, {0, 0, 0, 0, -2, 0});
  REQUIRE(flat.impacts.size() == 2);
  check(flat.impacts[0], mass / 2, 2);
  check(flat.impacts[1], mass / 2, 2);
}

TEST_CASE(
    "rod_on_ground: contact time and peak force scale with the effective mass while it slides forward") {
  // So slow that the rod does not turn while in contact: T ~ S^(-2/5), F ~ S^(-3/5) whatever K, c, v.
  for (const std::string rest : {"gravity=0 v=1e-7", "gravity=0 v=1e-7 damping=3e6 stiffness=1e9"}) {
    const Run reference(settings_of(pi / 6, 0) + rest, 1);
    const double base = sliding_factor(pi / 6, 0);
    for (const double mu : {0.1, 0.3, 0.6, 0.8}) {
      CAPTURE(rest, mu);
      const Run run(settings_of(pi / 6, mu) + rest, 1);
      const double ratio = sliding_factor(pi / 6, mu) / base;
      const ImpactRecord &a = reference.impacts.at(0), &b = run.impacts.at(0);
      REQUIRE(sequence(b) == "F-");
      CHECK((b.end - b.begin) / (a.end - a.begin) == Approx(std::pow(ratio, -0.4)).epsilon(1e-8));
      CHECK(b.peak_force / a.peak_force == Approx(std::pow(ratio, -0.6)).epsilon(1e-8));
    }
  }
}

TEST_CASE("rod_on_ground: energy is lost to friction and damping alone") {
  for (const double theta : {0.01, 0.2, 0.7, 1.1, 1.4}) {
    for (const double mu : {0.0, 0.2, 0.9, 3.0}) {
      for (const double c : {0.0, 0.1, 0.8}) {
        CAPTURE(theta, mu, c);
        const Run run(
            settings_of(theta, mu) + "damping=" + fmt_double(c) + " mu_static=" + fmt_double(1.2 * mu), 0.1);
        REQUIRE(run.outcome == Outcome::ok);
        REQUIRE((run.end.mode & 3) == 0);
        CHECK(run.after + run.lost() == Approx(run.before).epsilon(1e-12));
        double impulse = 0;
        for (const ImpactRecord& r : run.impacts) impulse += r.impulse;
        CHECK(mass * (run.end.x(4) - run.fall + run.gravity * 0.1) == Approx(impulse).epsilon(1e-11));
        for (const ImpactRecord& r : run.impacts) {
          CHECK(r.friction_work >= 0);
          CHECK(r.damping_work >= 0);
          if (mu == 0) CHECK(r.friction_work == 0);
          if (c == 0) CHECK(r.damping_work == 0);
        }
      }
    }
  }
}

TEST_CASE("rod_on_ground: sliding stops, and sticks, where a rigid rod says so") {
  // Moving along itself the rod stops to slide in compression for mu > cot(theta), at all in an elastic
  // impact for mu > cot (4 + 3 sin^2)/(5 + 3 sin^2); it sticks for mu > 3 sin cos/(1 + 3 sin^2).
  for (const double theta : {0.5, 0.7, 0.9, 1.1, 1.3}) {
    const double s = std::sin(theta), c = std::cos(theta);
    const double in_compression = c / s;
    const double at_all = c / s * (4 + 3 * s * s) / (5 + 3 * s * s);
    const double stick = 3 * s * c / (1 + 3 * s * s);
    for (const double border : {in_compression, at_all, stick}) {
      for (const double mu : {0.98 * border, 1.02 * border}) {
        CAPTURE(theta, mu);
        // Slow, so that the rod keeps its inclination.
        const Run run(settings_of(theta, mu) + "gravity=0 v=1e-5", 0.01);
        const ImpactRecord& impact = run.impacts.at(0);
        const std::string modes = sequence(impact);
        CHECK((modes.substr(0, 2) != "F-") == (mu > in_compression));
        CHECK((modes != "F-") == (mu > at_all));
        CHECK((modes.find('S') != std::string::npos) == (mu > at_all && mu > stick));
        const std::vector<double> borders = ImpactBorders::of(impact);
        CHECK((borders[0] > 0) == (mu > in_compression));
        CHECK((borders[1] > 0) == (mu > at_all));
        CHECK((borders[2] > 0) == (mu > stick));
      }
    }
  }
}

TEST_CASE("rod_on_ground: the Painleve region runs and is named") {
  const double theta = 0.8, mu = 2;
  REQUIRE(sliding_factor(theta, mu) < 0);
  const Run run(settings_of(theta, mu) + "gravity=0");
  REQUIRE(run.outcome == Outcome::ok);
  const ImpactRecord& impact = run.impacts.at(0);
  CHECK(impact.painleve);
  CHECK(ImpactBorders::of(impact)[3] > 0);
  // The force grows until sliding stops; the end leaves faster than it came.
  CHECK(sequence(impact).substr(0, 2) == "FS");
  CHECK(impact.separation_speed > impact.approach_speed);
  CHECK(run.after + run.lost() == Approx(run.before).epsilon(1e-12));
  CHECK_FALSE(Run(settings_of(theta, 0.5)).impacts.at(0).painleve);
}

TEST_CASE("rod_on_ground: a second integrator finds the same contact") {
  // Runge-Kutta-Fehlberg in time, over a sliding contact with damping, to the end that the first one found.
  using Y = std::vector<double>;
  const double theta = 0.6, mu = 0.3, c = 0.2;
  const Run run(settings_of(theta, mu) + "damping=0.2");
  const ImpactRecord& impact = run.impacts.at(0);
  REQUIRE(sequence(impact) == "F-");
  const auto rates = [=](const Y& x, Y& r, double) {
    const double depth = std::max(0.0, length / 2 * std::sin(x[2]) - x[1]);
    const double deeper = length / 2 * std::cos(x[2]) * x[5] - x[4];
    const double N = hertz * std::pow(depth, 1.5) * (1 + c * deeper);
    const double F = -mu * N;
    r = {x[3],
         x[4],
         x[5],
         F / mass,
         N / mass - 9.81,
         -length / 2 / inertia * (std::sin(x[2]) * F + std::cos(x[2]) * N)};
  };
  // Even steps: the force begins and ends as a power 3/2, which no control of the step sees.
  const Y before(impact.before.begin(), impact.before.end());
  const Y x = integrated_evenly(rates, before, 0, impact.end - impact.begin, 20000);
  for (std::size_t i = 0; i < 6; ++i) CHECK(x[i] == Approx(impact.after[i]).epsilon(1e-10).margin(1e-13));
}

TEST_CASE("rod_on_ground: static friction above kinetic holds longer") {
  const Run plain(settings_of(0.9, 0.9));
  const Run held(settings_of(0.9, 0.9) + "mu_static=1.3");
  const auto end_of_stick = [](const Run& run) { return run.events.of(EventKind::stick_to_slip).at(0).time; };
  CHECK(end_of_stick(held) > end_of_stick(plain));
  CHECK(make_system(rod("mu=0.5 mu_static=0.4")) == nullptr);
}

TEST_CASE("rod_on_ground: a contact pulls nothing, what it has stored is lost") {
  // Pressed in and leaving faster than 1/c: no force from the start.
  const double depth = 1e-5;
  const Run run("damping=0.5 gravity=0 mu=0", 1e-3, {0, 0.05 - depth, pi / 2, 0, 3, 0});
  REQUIRE(run.outcome == Outcome::ok);
  const auto ended = run.events.of(EventKind::contact_end);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].time == Approx(depth / 3).epsilon(1e-9));
  CHECK(run.after == Approx(run.before).epsilon(1e-14));
  // Leaving more slowly it is pushed, at most to 1/c.
  const Run pushed("damping=0.5 gravity=0 mu=0", 1e-3, {0, 0.05 - 1e-4, pi / 2, 0, 0, 0});
  CHECK(pushed.end.x(4) < 2);
  CHECK(pushed.end.x(4) > 1);
}

TEST_CASE("rod_on_ground: a force that fades in the contact and comes back") {
  // On a ground that rises, the end is thrown off within the contact, falls back into it, and the books
  // balance.
  const std::string parameters = "damping=4 mu=0 gravity=0 ground_amplitude=1e-5 ground_frequency=1e5";
  const Run run(parameters, 4e-4, {0, 0.05, pi / 2, 0, -0.1, 0});
  REQUIRE(run.outcome == Outcome::ok);
  const auto pieces = [&] {
    const auto system = make_system(rod(parameters));
    HybridState state = state_at({0, 0.05, pi / 2, 0, -0.1, 0});
    bool without_force = false;
    for (int k = 0; k < 400; ++k) {
      REQUIRE(system->advance(state, for_time(1e-6), nullptr) == Outcome::ok);
      without_force = without_force || ((state.mode & 2) != 0 && (state.mode >> 5) == 0);
    }
    CHECK(without_force);
    return state;
  }();
  CHECK((pieces.x - run.end.x).cwiseAbs().maxCoeff() < 1e-11);
}

TEST_CASE("rod_on_ground: laid down it stays, pushed it comes to rest") {
  const Run laid("damping=300", 0.02, {0, 0, 0, 0, 0, 0});
  REQUIRE(laid.outcome == Outcome::ok);
  CHECK(laid.events.of(EventKind::contact_begin).size() == 2);
  // Half the weight on each end.
  const double rest = std::pow(mass * 9.81 / 2 / hertz, 2.0 / 3);
  CHECK(-laid.end.x(1) == Approx(rest).epsilon(1e-6));
  CHECK(laid.end.x(0) == 0);
  const Run pushed("damping=300 mu=0.4", 0.02, {0, 0, 0, 0.05, 0, 0});
  REQUIRE(pushed.outcome == Outcome::ok);
  CHECK(pushed.events.of(EventKind::slip_to_stick).size() == 2);
  CHECK(pushed.end.x(3) == Approx(0).margin(1e-14));
  CHECK(pushed.end.x(0) == Approx(0.05 * 0.05 / (2 * 0.4 * 9.81)).epsilon(1e-3));
}

TEST_CASE("rod_on_ground: both ends, nearly flat, rocking to and fro") {
  const Run run("damping=0 mu=0.3", 5e-3, {0, 1e-4, 1e-3, 0.1, -1, 0.1});
  REQUIRE(run.outcome == Outcome::ok);
  CHECK(run.impacts.size() >= 3);
  CHECK(run.after + run.lost() == Approx(run.before).epsilon(1e-12));
  // The mirror image does the same with the ends exchanged.
  const Run mirrored("damping=0 mu=0.3", 5e-3, {0, 1e-4, -1e-3, -0.1, -1, -0.1});
  REQUIRE(mirrored.impacts.size() == run.impacts.size());
  for (std::size_t k = 0; k < run.impacts.size(); ++k) {
    CHECK(mirrored.impacts[k].contact == 1 - run.impacts[k].contact);
    CHECK(mirrored.impacts[k].peak_force == Approx(run.impacts[k].peak_force).epsilon(1e-9));
  }
}

TEST_CASE("rod_on_ground: cutting a motion inside a contact changes nothing") {
  const auto system = make_system(rod("theta=1.2 mu=0.8 damping=0.1"));
  const auto model = make_model(rod("theta=1.2 mu=0.8 damping=0.1"));
  HybridState whole = state_at(model->start(model->values()));
  HybridState cut = whole;
  REQUIRE(system->advance(whole, for_time(2e-4), nullptr) == Outcome::ok);
  for (int k = 0; k < 20; ++k) REQUIRE(system->advance(cut, for_time(1e-5), nullptr) == Outcome::ok);
  CHECK((whole.x - cut.x).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("rod_on_ground: derivatives go through slip, stick and the end of contact") {
  const std::string parameters = "mu=0.905 omega=40 damping=0.05";
  const auto model = make_model(rod(parameters));
  const auto system = model->system(model->values(), {});
  const std::vector<double> start = {-0.0433, 0.0251, pi / 6, 1.7, -1, 40};
  const auto image = [&](const Eigen::VectorXd& x) {
    HybridState state;
    state.x = x;
    REQUIRE(system->advance(state, for_time(3e-4), nullptr) == Outcome::ok);
    return state.x;
  };
  HybridState state = state_at(start);
  Tangent tangent{Eigen::MatrixXd::Identity(6, 6), Eigen::RowVectorXd::Zero(6), {}};
  REQUIRE(system->advance(state, for_time(3e-4), tangent) == Outcome::ok);
  const Eigen::VectorXd x = state_at(start).x;
  for (Eigen::Index k = 0; k < 6; ++k) {
    const double h = 1e-6 * std::max(1e-2, std::abs(x(k)));
    Eigen::VectorXd up = x, down = x;
    up(k) += h;
    down(k) -= h;
    const Eigen::VectorXd slope = (image(up) - image(down)) / (2 * h);
    for (Eigen::Index i = 0; i < 6; ++i) {
      CAPTURE(i, k);
      CHECK(tangent.state(i, k) == Approx(slope(i)).epsilon(1e-4).margin(1e-4 * slope.cwiseAbs().maxCoeff()));
    }
  }
}

TEST_CASE("rod_on_ground: the impact section is the start of contact") {
  const auto system = make_system(rod("damping=0.05 mu=0 gravity=9.81"));
  Section section;
  section.kind = Section::Kind::impact_before;
  section.contact = 1;
  HybridState state = state_at({0, 0.06, pi / 2, 0, 0, 0});
  for (int k = 0; k < 5; ++k) {
    REQUIRE(system->advance(state, section, nullptr) == Outcome::ok);
    CHECK(state.x(1) == Approx(0.05).margin(1e-15));
    CHECK(state.x(4) < 0);
  }
}

namespace {

/// On soft ground that vibrates, as in the case of the bouncing rod.
std::string bouncing(double Gamma) {
  return rod("stiffness=1e7 damping=30 mu=0.3 ground_frequency=150 Gamma=" + fmt_double(Gamma));
}

/// The rod that lies flat by a second method: m y'' = 2 K d^(3/2) (1 + c d')+ - m g with d = a cos(w t) - y,
/// over one period of the ground by even steps of a Runge-Kutta-Fehlberg method.
std::vector<double> flat_period(double Gamma, const std::vector<double>& y) {
  using Y = std::vector<double>;
  const double w = 150, g = 9.81, a = Gamma * g / (w * w), K = 1e7, c = 30;
  const auto rates = [=](const Y& x, Y& r, double t) {
    const double d = std::max(0.0, a * std::cos(w * t) - x[0]);
    const double push = std::max(0.0, 1 + c * (-a * w * std::sin(w * t) - x[1]));
    r = {x[1], 2 * K * std::pow(d, 1.5) * push / mass - g};
  };
  return integrated_evenly(rates, y, 0, 2 * pi / w, 60000);
}

}  // namespace

TEST_CASE("rod_on_ground: where along the ground it is, and how often it has turned, does not count") {
  const auto system = make_system(bouncing(1.2));
  const PoincareMap map(*system, Section{});
  CHECK(map.dimension() == 5);
  HybridState a = state_at({0, 0.06, 0.3, 0.1, 0, 1}), b = state_at({7, 0.06, 0.3 - 4 * pi, 0.1, 0, 1});
  CHECK(map.difference(a, b).cwiseAbs().maxCoeff() < 1e-14);
  CHECK(map.at(map.coordinates(a), b).x(0) == 7);
  for (int k = 0; k < 3; ++k) {
    REQUIRE(map.iterate(a) == Outcome::ok);
    REQUIRE(map.iterate(b) == Outcome::ok);
  }
  CHECK(map.difference(a, b).cwiseAbs().maxCoeff() < 1e-9);
  CHECK(b.x(0) - a.x(0) == Approx(7).margin(1e-9));
  Section landing;
  landing.kind = Section::Kind::impact_before;
  CHECK(PoincareMap(*system, landing).dimension() == 5);
}

TEST_CASE("rod_on_ground: classes of the bouncing rod by its own motion") {
  // A periodic one comes back and brings its neighbours.
  for (const auto& [Gamma, period] :
       {std::pair{1.25, 1}, std::pair{2.75, 1}, std::pair{3.5, 2}, std::pair{4.0, 4}}) {
    CAPTURE(Gamma);
    const auto system = make_system(bouncing(Gamma));
    const PoincareMap map(*system, Section{});
    const Attractor found = find_attractor(map, state_at({0, 0.003, 0.02, 0, 0, 0}), {});
    REQUIRE(found.kind == AttractorClass::periodic);
    REQUIRE(found.orbit.period == period);
    CHECK(found.orbit.multipliers.size() == 5);
    HybridState a = found.last, b = found.last;
    b.x(4) += 1e-9;
    b.x(5) += 1e-8;
    b.settled = false;
    const int turns = 48;
    for (int k = 0; k < turns; ++k) {
      REQUIRE(map.iterate(a) == Outcome::ok);
      REQUIRE(map.iterate(b) == Outcome::ok);
    }
    CHECK(map.difference(a, b).cwiseAbs().maxCoeff() < 1e-8);
    CHECK(map.difference(a, found.last).cwiseAbs().maxCoeff() < 1e-8);
    // It has come to lie flat: a mass on two springs.
    CHECK(std::abs(a.x(2)) < 1e-9);
    std::vector<double> flat = {found.last.x(1), found.last.x(4)};
    for (int k = 0; k < found.orbit.period; ++k) flat = flat_period(Gamma, flat);
    CHECK(flat[0] == Approx(found.last.x(1)).margin(1e-8));
    CHECK(flat[1] == Approx(found.last.x(4)).margin(1e-6));
  }
}

TEST_CASE("rod_on_ground: derivatives where both ends land and leave at once") {
  // Without friction: with it, the ends of a tilted rod rub, which has a derivative to either side only.
  const auto system = make_system(rod("mu=0 damping=0.05"));
  const HybridState start = state_at({0, 1e-3, 0, 0.1, -0.5, 0});
  const auto image = [&](Eigen::Index k, double h) {
    HybridState state = start;
    state.x(k) += h;
    REQUIRE(system->advance(state, for_time(5e-3), nullptr) == Outcome::ok);
    return state.x;
  };
  HybridState state = start;
  Tangent tangent{Eigen::MatrixXd::Identity(6, 6), Eigen::RowVectorXd::Zero(6), {}};
  REQUIRE(system->advance(state, for_time(5e-3), tangent) == Outcome::ok);
  REQUIRE(state.x(4) > 0);
  for (const auto& [k, h] :
       {std::pair{1, 1e-8}, std::pair{2, 1e-9}, std::pair{4, 1e-6}, std::pair{5, 1e-7}}) {
    const Eigen::VectorXd slope = (image(k, h) - image(k, -h)) / (2 * h);
    for (Eigen::Index i = 0; i < 6; ++i) {
      CAPTURE(i, k);
      CHECK(tangent.state(i, k) == Approx(slope(i)).epsilon(1e-4).margin(1e-4 * slope.cwiseAbs().maxCoeff()));
    }
  }
}
