/// Compliant stops in the linear family against exact modal motions to 30 digits, an independent integrator,
/// closed forms and the limits of stiff and weak stops.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "analysis/continuation/branch.hpp"
#include "analysis/maps/orbit.hpp"
#include "tests/dice.hpp"
#include "tests/family.hpp"
#include "tests/oracle/independent/hybrid_reference.hpp"
#include "tests/oracle/references.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;
using namespace graze::independent;

namespace {

using std::numbers::pi;

/// What tests/oracle/independent/stop_references.py has worked out to 30 digits.
const Value::Array& references() {
  static const Value all = settings(
#include "tests/oracle/independent/stop_references.inc"
  );
  return all.at("system").array("system");
}

/// With the value of `a` that this table has.
std::string model_of(const Value& reference, const Value& at) {
  return "name = 'linear_stops'\nparameters = { a = " + fmt_double(at.at("a").number("a")) + " }\n" +
         reference.at("model").text("model");
}

const std::string one_mass =
    "omega = 0.9\nmass = [[1]]\ndamping = [[0.05]]\nstiffness = [[1]]\n"
    "force = [{ cosine = [1] }]\n";
}  // namespace

TEST_CASE("compliant stops: motions and event times against references of 30 digits") {
  std::size_t events = 0;
  for (const Value& reference : references()) {
    CAPTURE(reference.at("name").text("name"));
    const auto system = make_system(model_of(reference, reference));
    std::vector<double> start = reference.at("start").numbers("start");
    start.resize(static_cast<std::size_t>(system->states()));
    HybridState state = state_at(start);
    Log log;
    REQUIRE(system->advance(state, for_time(reference.at("time").number("time")), &log) == Outcome::ok);
    const Eigen::VectorXd end = vector_of(reference, "end");
    REQUIRE(state.x.size() == end.size());
    CHECK((state.x - end).cwiseAbs().maxCoeff() < 1e-10);
    std::vector<Log::Entry> found;
    for (const Log::Entry& e : log.entries) {
      const bool slips = e.kind == EventKind::slip_to_stick || e.kind == EventKind::stick_to_slip ||
                         e.kind == EventKind::slip_reversal;
      if (is_hit(e.kind) || e.kind == EventKind::contact_end || slips) found.push_back(e);
    }
    const Eigen::VectorXd times = vector_of(reference, "event_time"),
                          contact = vector_of(reference, "event_contact");
    REQUIRE(found.size() == static_cast<std::size_t>(times.size()));
    for (std::size_t k = 0; k < found.size(); ++k) {
      const Eigen::Index i = static_cast<Eigen::Index>(k);
      const std::string& kind = reference.at("event_kind").array("event_kind")[k].text("event_kind");
      CHECK(event_names()[static_cast<std::size_t>(found[k].kind)] == kind);
      CHECK(found[k].contact == static_cast<int>(contact(i)));
      CHECK(std::abs(found[k].time - times(i)) < 1e-10);
    }
    events += found.size();
  }
  CHECK(references().size() >= 15);
  CHECK(events > 300);
}

TEST_CASE("compliant stops: periodic orbits and multipliers against references of 30 digits") {
  int orbits = 0;
  for (const Value& reference : references()) {
    const Value* cycle = reference.find("cycle");
    if (cycle == nullptr) continue;
    CAPTURE(reference.at("name").text("name"));
    const auto system = make_system(model_of(reference, *cycle));
    const Eigen::VectorXd expected = vector_of(*cycle, "state");
    HybridState guess;
    guess.x = expected.array() + 1e-5;
    const Orbit orbit = refine_orbit(PoincareMap(*system, Section{}), guess,
                                     static_cast<int>(cycle->at("period").integer("period")));
    REQUIRE(orbit.closed);
    CHECK((orbit.start.x - expected).cwiseAbs().maxCoeff() < 1e-10);
    check_multipliers(orbit.multipliers, *cycle);
    ++orbits;
  }
  CHECK(orbits >= 11);
}

namespace {

/// Distance of the nearest point of its kind located from beside, where the orbit is isolated, of a fold on
/// one side.
double error_of(const Value& reference, const Value& point) {
  const Family f = family(model_of(reference, point), "a");
  const double there = point.at("a").number("a");
  const Eigen::VectorXd expected = vector_of(point, "state");
  const int periods = static_cast<int>(point.at("period").integer("period"));
  double error = 1;
  for (const double beside : {1 - 1e-3, 1 + 1e-3}) {
    HybridState state;
    state.x = expected;
    const auto system = f.system(beside * there);
    for (int k = 0; k < 400 * periods; ++k) REQUIRE(system->advance(state, {}, nullptr) == Outcome::ok);
    for (const Eigen::VectorXd& start : {expected, state.x}) {
      const auto orbit = find_orbit(f, {beside * there, start, periods});
      if (!orbit || error < 1e-9) continue;
      ContinuationOptions options;
      options.from = 0.97 * there;
      options.to = 1.03 * there;
      for (const Bifurcation& b : continue_branch(f, *orbit, {options}).bifurcations) {
        const std::string& kind = bifurcation_names()[static_cast<std::size_t>(b.kind)];
        if (kind == point.at("kind").text("kind")) error = std::min(error, std::abs(b.parameter - there));
      }
    }
  }
  return error;
}

}  // namespace

TEST_CASE("compliant stops: located points against references of 30 digits") {
  CHECK(check_points(references(), error_of) >= 8);
}

namespace {

/// x and x' at `end` of x'' + c x' + k x = f + s sin(t/2), x = x' = 0 at `begin`.
Eigen::Vector2d driven(double c, double k, double f, double s, double begin, double end) {
  constexpr double omega = 0.5;
  const std::complex<double> X = s / std::complex(k - omega * omega, c * omega);
  const auto steady = [&](double t) {
    const std::complex<double> x = X * std::polar(1.0, omega * t);
    return Eigen::Vector2d(f / k + x.imag(), omega * x.real());
  };
  const Eigen::Vector2d start = -steady(begin);
  const std::complex<double> rate(-c / 2, std::sqrt(k - c * c / 4));
  // Re (A e^{rate τ}) with the value and the slope of `start`.
  const std::complex<double> A(start(0), (rate.real() * start(0) - start(1)) / rate.imag());
  const std::complex<double> x = A * std::exp(rate * (end - begin));
  return steady(end) + Eigen::Vector2d(x.real(), (rate * x).real());
}

}  // namespace

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
    const Eigen::Vector2d expected =
        sign > 0 ? driven(0.3, 5, -0.4, 0.7, parting, end) : driven(0, 1, 0.4, -0.7, parting, end);
    CHECK(state.x(0) == Approx(expected(0)).margin(1e-12));
    CHECK(state.x(1) == Approx(expected(1)).margin(1e-12));
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
    "compliant stop beside a body that chatters and sticks at a rigid stop: the rigid one as stiff limit",
    "[long]") {
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

namespace {

/// One random system, as the engine reads it and for the second method.
template <int N>
struct RandomStops {
  using Vector = Eigen::Matrix<long double, N, 1>;
  using Matrix = Eigen::Matrix<long double, N, N>;
  static constexpr int most_stops = 4;
  using Reference = HybridReference<2 * N + most_stops>;
  using State = typename Reference::State;
  struct Stop {
    Vector normal;
    long double position = 0, restitution = -1, stiffness = 0, damping = 0, preload = 0;
    bool by_gap = false, plate = false;
  };
  enum Status { open, engaged, recovering };

  std::string toml;
  Matrix inverse_mass, damping, stiffness;
  long double omega = 0;
  Vector cosine, sine;
  std::vector<Stop> stops;
  struct Happened {
    EventKind kind;
    int contact;
    long double time;
  };
  std::vector<Happened> happened;

  RandomStops(Dice& dice, int number) {
    omega = static_cast<long double>(dice.number(0.5, 2));
    const Eigen::MatrixXd M = dice.definite(N, 0.3, 1), C = dice.definite(N, 0.1, 0.05),
                          K = dice.definite(N, 1, 0.5);
    const Eigen::VectorXd a = dice.vector(N, 2), b = dice.vector(N, 2);
    inverse_mass = Matrix(M.cast<long double>()).inverse();
    damping = C.cast<long double>();
    stiffness = K.cast<long double>();
    cosine = a.cast<long double>();
    sine = b.cast<long double>();
    toml = "name = 'linear_stops'\nomega = " + fmt_double(static_cast<double>(omega)) +
           "\nmass = " + rows(M) + "\ndamping = " + rows(C) + "\nstiffness = " + rows(K) +
           "\nforce = [{ cosine = " + list(a) + ", sine = " + list(b) + " }]\nstop = [";
    for (int i = 0; i < 1 + number % most_stops; ++i) {
      Stop s;
      const Eigen::VectorXd normal = dice.pick(N, {-1.0, 0.5, 1.0});
      s.normal = normal.cast<long double>();
      const auto write = [&](const char* key, double value, long double& to) {
        to = static_cast<long double>(value);
        toml += ", " + std::string(key) + " = " + fmt_double(value);
      };
      toml += "{ normal = " + list(normal);
      write("position", dice.number(0.1, 0.6), s.position);
      if (number % 2 == 0 && i == 1) {
        write("restitution", 0.9, s.restitution);
      } else {
        write("stiffness", std::exp(dice.number(0, 4)), s.stiffness);
        s.plate = number % 7 == 0;
        if (s.plate || dice.coin())
          write("damping", dice.number(s.plate ? 0.5 : 0, s.plate ? 9 : 4), s.damping);
        if (!s.plate && number % 5 == 0) write("preload", dice.number(0, 0.1), s.preload);
        s.by_gap = !s.plate && dice.coin();
        if (s.plate) toml += ", plate = 'relaxing'";
        if (s.by_gap) toml += ", release = 'gap'";
      }
      toml += " }, ";
      stops.push_back(s);
    }
    toml += "]";
  }

  static Status status(int mode, std::size_t k) { return static_cast<Status>((mode >> (2 * k)) & 3); }
  static int with(int mode, std::size_t k, Status s) { return (mode & ~(3 << (2 * k))) | (s << (2 * k)); }
  static Vector q(const State& x) { return Eigen::Map<const Vector>(x.data()); }
  static Vector v(const State& x) { return Eigen::Map<const Vector>(x.data() + N); }
  long double depth(std::size_t k, const State& x) const {
    return stops[k].normal.dot(q(x)) - stops[k].position;
  }
  long double force(std::size_t k, const State& x) const {
    const Stop& s = stops[k];
    return s.preload + s.stiffness * depth(k, x) + s.damping * s.normal.dot(v(x));
  }
  /// The mode after something has happened at compliant stop k.
  int changed(int mode, std::size_t k, State& x, long double t) {
    const Stop& s = stops[k];
    if (status(mode, k) == recovering) return with(mode, k, open);
    const bool begins = status(mode, k) == open;
    happened.push_back({begins ? EventKind::contact_begin : EventKind::contact_end, static_cast<int>(k), t});
    if (begins) return with(mode, k, engaged);
    const long double left = depth(k, x);
    x[2 * N + k] = s.plate ? left : 0;
    return with(mode, k, !s.by_gap && !s.plate && s.damping > 0 && left > 0 ? recovering : open);
  }

  Reference reference(long double piece) {
    Reference r;
    r.piece = piece;
    happened.clear();
    r.rates = [this](int mode, const State& x, State& rate, long double t) {
      Vector f =
          cosine * std::cos(omega * t) + sine * std::sin(omega * t) - stiffness * q(x) - damping * v(x);
      rate.fill(0);
      for (std::size_t k = 0; k < stops.size(); ++k) {
        const Stop& s = stops[k];
        if (status(mode, k) == engaged) f -= s.normal * force(k, x);
        if (s.plate && status(mode, k) == open) rate[2 * N + k] = -s.stiffness / s.damping * x[2 * N + k];
      }
      Eigen::Map<Vector>(rate.data()) = v(x);
      Eigen::Map<Vector>(rate.data() + N) = inverse_mass * f;
    };
    r.guards = [this](int mode, const State& x, long double) {
      std::vector<long double> list;
      for (std::size_t k = 0; k < stops.size(); ++k) {
        const long double d = depth(k, x);
        const bool by_depth = status(mode, k) == recovering || stops[k].by_gap;
        if (status(mode, k) == open) {
          list.push_back(x[2 * N + k] - d);
        } else if (by_depth) {
          list.push_back(d);
        } else {
          const long double f = force(k, x);
          list.push_back(stops[k].preload > 0 ? std::min(f, d) : f);
        }
      }
      return list;
    };
    r.next = [this](int mode, std::size_t k, State& x, long double t) {
      const Stop& s = stops[k];
      if (s.restitution < 0) return changed(mode, k, x, t);
      const Vector push = inverse_mass * s.normal;
      Eigen::Map<Vector>(x.data() + N) -=
          (1 + s.restitution) * s.normal.dot(v(x)) / s.normal.dot(push) * push;
      happened.push_back({EventKind::impact, static_cast<int>(k), t});
      for (std::size_t j = 0; j < stops.size(); ++j) {
        if (status(mode, j) == engaged && !stops[j].by_gap && force(j, x) < 0) mode = changed(mode, j, x, t);
      }
      return mode;
    };
    return r;
  }
};

struct Compared {
  int motions = 0, at_rest = 0;
  std::size_t events = 0;
};

/// Moves a random system by both methods. A piece in which something happens twice is one too long.
template <int N>
void compare(Dice& dice, int number, Compared& all) {
  RandomStops<N> random(dice, number);
  CAPTURE(number, random.toml);
  constexpr double duration = 8;
  const auto system = make_system(random.toml);
  HybridState state = state_at(std::vector<double>(static_cast<std::size_t>(system->states()), 0.0));
  Log log;
  const Outcome outcome = system->advance(state, for_time(duration), &log);
  if (!log.of(EventKind::stick).empty() || outcome == Outcome::event_limit) {
    ++all.at_rest;
    return;
  }
  REQUIRE(outcome == Outcome::ok);
  std::vector<Log::Entry> found;
  for (const Log::Entry& e : log.entries) {
    if (is_hit(e.kind) || e.kind == EventKind::contact_end) found.push_back(e);
  }
  double error = 1, late = 1;
  for (const long double piece : {0.01L, 0.001L, 0.0001L}) {
    typename RandomStops<N>::State x{};
    const auto reference = random.reference(piece);
    reference.run(x, 0, 0, duration);
    if (random.happened.size() != found.size()) continue;
    error = late = 0;
    for (int i = 0; i < N; ++i) {
      error = std::max(error, std::abs(state.x(2 * i) - static_cast<double>(x[static_cast<std::size_t>(i)])));
      error = std::max(
          error, std::abs(state.x(2 * i + 1) - static_cast<double>(x[static_cast<std::size_t>(N + i)])));
    }
    for (std::size_t k = 0; k < found.size(); ++k)
      late = std::max(late, std::abs(found[k].time - static_cast<double>(random.happened[k].time)));
    if (error < 1e-10 && late < 1e-10) break;
  }
  if (!(error < 1e-10 && late < 1e-10)) {  // rounding grows with the motion's own derivatives
    Tangent tangent{Eigen::MatrixXd::Identity(state.x.size(), state.x.size()),
                    Eigen::RowVectorXd::Zero(state.x.size()),
                    {}};
    HybridState from = state_at(std::vector<double>(static_cast<std::size_t>(system->states()), 0.0));
    REQUIRE(system->advance(from, for_time(duration), tangent) == Outcome::ok);
    CHECK(std::max(error, late) < 1e-13 * tangent.state.cwiseAbs().maxCoeff());
  }
  ++all.motions;
  all.events += found.size();
  CHECK(std::equal(
      found.begin(), found.end(), random.happened.begin(), random.happened.end(),
      [](const Log::Entry& e, const auto& h) { return e.kind == h.kind && e.contact == h.contact; }));
}

Compared compare_random(int motions) {
  Dice dice(4711);
  Compared all;
  for (int k = 0; k < motions; ++k) {
    if (k % 3 == 0) compare<1>(dice, k, all);
    if (k % 3 == 1) compare<2>(dice, k, all);
    if (k % 3 == 2) compare<3>(dice, k, all);
  }
  return all;
}

}  // namespace

TEST_CASE("compliant stops: random motions against an independent integrator") {
  const Compared all = compare_random(200);
  CHECK(all.at_rest < 10);
  CHECK(all.events > 1400);
}

TEST_CASE("compliant stops: 1e4 random motions against an independent integrator", "[heavy]") {
  const Compared all = compare_random(10300);
  CHECK(all.motions >= 10000);
  WARN(all.motions << " motions with " << all.events << " events");
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
    CHECK(state.x(1) == Approx(-1).epsilon(1e-13));
    const auto ends = log.of(EventKind::stick_to_slip);  // with the contact, half a period of w
    REQUIRE(ends.size() == 1);
    CHECK(ends.front().time == log.of(EventKind::contact_end).front().time);
    CHECK(ends.front().time == Approx(0.1 + M_PI / w).epsilon(1e-13));
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

/// At a turning point friction acts the other way and the stop is just touched: it closes and opens with no
/// speed but rounding. Its derivatives are those without a touch, to the root of rounding, as the exact flow
/// has them.
TEST_CASE(
    "a turning point beside dry friction that just touches a soft stop: derivatives of a typed system") {
  const double omega = 0.51315109954185156, period = 2 * pi / omega;
  const auto linear = make_system(
      "name = 'linear_stops'\nomega = 0.51315109954185156\nmass = [[0.783, 0], [0, 1.575]]\n"
      "damping = [[0.223168, -0.108768], [-0.108768, 0.39147]]\nstiffness = [[1.387, -0.676], [-0.676, "
      "2.433]]\n"
      "force = [{ cosine = [0.771, 0.707] }]\nfriction = [{ direction = [-1, 0], amplitude = 0.057 }]\n"
      "stop = [{ normal = [-1, -1], position = 0.524, stiffness = 54.4, damping = 0.018 },\n"
      "        { normal = [1, 0], position = 0.354, stiffness = 7.53 }]");
  const auto typed = make_system(
      "name = 'equations'\ncoordinates = ['x', 'y']\nmass = { x = '0.783', y = '1.575' }\n"
      "force = { x = \"0.771*cos(omega*t) - 1.387*x - 0.223168*x' + 0.676*y + 0.108768*y' - 1e-200*x^3\", "
      "y = \"0.707*cos(omega*t) + 0.676*x + 0.108768*x' - 2.433*y - 0.39147*y'\" }\n"
      "period = '2*pi/omega'\nparameters = { omega = 0.51315109954185156 }\n"
      "contact = [{ gap = '0.524 + x + y', stiffness = 54.4, damping = 0.018 },\n"
      "           { gap = '0.354 - x', stiffness = 7.53 }]\n"
      "friction = [{ slip = \"-x'\", amplitude = 0.057 }]");
  const auto by_start = [&](System& system, double x) {
    HybridState state = state_at({x, 0.26985220084325962, -0.037460107948449201, 0.19838331818422825},
                                 0.78366335475429749 * period);
    Tangent tangent{Eigen::MatrixXd::Identity(4, 4), Eigen::RowVectorXd::Zero(4), {}};
    REQUIRE(system.advance(state, for_time(period), tangent) == Outcome::ok);
    return tangent.state;
  };
  double x = -0.061647422953843678;
  const Eigen::MatrixXd expected = by_start(*linear, x);
  for (int k = 0; k < 20; ++k) x = std::nextafter(x, -1.0);
  for (int k = -20; k <= 20; ++k, x = std::nextafter(x, 0.0)) {
    CAPTURE(k);
    CHECK((by_start(*typed, x) - expected).cwiseAbs().maxCoeff() < 1e-7);
  }
}

/// x'' = a cos ωt + b − F; the contact with the slider has F = (x − g − v) + 2ξ (x' − …), the slider no mass:
/// it stays while F < 1 and goes with F = 1; its plate z goes back by 2ξ z' = v − z.
TEST_CASE("drifting oscillator: the slider without a mass is the limit of one with little, to first order") {
  const long double a = 0.3L, b = 0.15L, xi = 0.1L, g = 0.02L, omega = 0.1L;
  constexpr double duration = 150;
  enum { apart, sticks, slides };
  using Reference = HybridReference<4>;  // x, x', z, v
  Reference r;
  const auto force = [&](const Reference::State& y) { return y[0] - g - y[3] + 2 * xi * y[1]; };
  r.rates = [&](int mode, const Reference::State& y, Reference::State& rate, long double t) {
    rate[0] = y[1];
    rate[1] = a * std::cos(omega * t) + b - (mode == apart ? 0 : mode == sticks ? force(y) : 1);
    rate[2] = mode == apart ? (y[3] - y[2]) / (2 * xi) : y[1];
    rate[3] = mode == slides ? (force(y) - 1) / (2 * xi) : 0;
  };
  r.guards = [&](int mode, const Reference::State& y, long double) -> std::vector<long double> {
    if (mode == apart) return {y[2] + g - y[0]};
    if (mode == slides) return {force(y) - 1};
    return {force(y), 1 - force(y)};
  };
  r.next = [&](int mode, std::size_t guard, Reference::State& y, long double) -> int {
    if (mode == apart) return force(y) > 1 ? slides : sticks;
    if (mode == slides) return sticks;
    return guard == 0 ? apart : slides;
  };
  Reference::State y{};
  r.run(y, apart, 0, duration);
  std::vector<double> errors;
  for (const double mass : {0.02, 0.01, 0.005, 0.0025}) {
    const auto system =
        make_system("name = 'linear_stops'\nomega = 0.1\nmass = [[1, 0], [0, " + fmt_double(mass) +
                    "]]\nconstant = [0.15, 0]\nforce = [{ cosine = [0.3, 0] }]\nfriction = [{ direction = "
                    "[0, 1], amplitude = 1 "
                    "}]\nstop = [{ normal = [1, -1], position = 0.02, stiffness = 1, damping = 0.2, plate = "
                    "'relaxing' }]");
    HybridState state = state_at({0, 0, 0, 0, 0});
    REQUIRE(system->advance(state, for_time(duration), nullptr) == Outcome::ok);
    errors.push_back(state.x(2) - static_cast<double>(y[3]));
  }
  CHECK(static_cast<double>(y[3]) > 10);
  CHECK(std::abs(errors[1]) < 0.05 * static_cast<double>(y[3]));
  CHECK(errors[2] / errors[3] == Approx(2).epsilon(0.15));
}
