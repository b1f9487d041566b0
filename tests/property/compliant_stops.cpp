/// Compliant stops: derivatives through every kind of event, near grazing, energy, rules of single instants.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analysis/maps/event_statistics.hpp"
#include "analysis/maps/impact_log.hpp"
#include "analysis/maps/poincare_map.hpp"
#include "core/lanes/lanes.hpp"
#include "tests/dice.hpp"
#include "tests/legs.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

const std::string one_mass =
    "name = 'linear_stops'\nomega = 0.9\nmass = [[1]]\ndamping = [[0.05]]\nstiffness = [[1]]\n"
    "force = [{ cosine = [1] }]\n";
const std::string two_masses =
    "name = 'linear_stops'\nomega = 0.7\nmass = [[1, 0.1], [0.1, 2]]\ndamping = [[0.2, -0.1], [-0.1, 0.15]]\n"
    "stiffness = [[2, -1], [-1, 1.5]]\nforce = [{ cosine = [1, 0] }, { order = 2, sine = [0, 0.5] }]\n";

Eigen::VectorXd end_of(const Model& model, const std::vector<double>& values, const Eigen::VectorXd& start,
                       double time, Log* log = nullptr) {
  HybridState state;
  state.x = start;
  REQUIRE(model.system(values, {})->advance(state, for_time(time), log) == Outcome::ok);
  return state.x;
}

/// By the state at the start and by all parameters, against central differences.
void check_derivatives(const std::string& toml, const std::vector<double>& start, double time,
                       std::initializer_list<EventKind> expected) {
  INFO(toml);
  const auto model = make_model(toml);
  const std::vector<double> values = model->values();
  const Eigen::Index n = static_cast<Eigen::Index>(start.size());
  const Eigen::Index m = static_cast<Eigen::Index>(values.size());
  const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(start.data(), n);
  Log log;
  end_of(*model, values, x, time, &log);
  for (const EventKind kind : expected) {
    CAPTURE(event_names()[static_cast<std::size_t>(kind)]);
    CHECK(!log.of(kind).empty());
  }
  Tangent tangent{Eigen::MatrixXd::Identity(n, n + m), Eigen::RowVectorXd::Zero(n + m),
                  Eigen::MatrixXd::Zero(m, n + m)};
  tangent.parameter.rightCols(m).setIdentity();
  HybridState state = state_at(start);
  REQUIRE(model->system(values, {})->advance(state, for_time(time), tangent) == Outcome::ok);
  constexpr double h = 1e-6;
  for (Eigen::Index k = 0; k < n + m; ++k) {
    std::array<Eigen::VectorXd, 2> ends;
    const double zero = k < n ? 1 : values[static_cast<std::size_t>(k - n)];
    if (zero == 0) continue;  // matrices stay symmetric, dampers dampers
    for (const int side : {0, 1}) {
      Eigen::VectorXd y = x;
      std::vector<double> v = values;
      (k < n ? y(k) : v[static_cast<std::size_t>(k - n)]) += side == 0 ? h : -h;
      if (k >= n && model->parameters()[static_cast<std::size_t>(k - n)].name.starts_with("M_")) continue;
      ends[static_cast<std::size_t>(side)] = end_of(*model, v, y, time);
    }
    if (ends[0].size() == 0) continue;
    const Eigen::VectorXd difference = (ends[0] - ends[1]) / (2 * h);
    CAPTURE(k);
    CHECK((difference - tangent.state.col(k)).cwiseAbs().maxCoeff() <
          1e-6 * (1 + difference.cwiseAbs().maxCoeff()));
  }
}

}  // namespace

TEST_CASE("compliant stops: derivatives against differences through every kind of event") {
  using enum EventKind;
  const auto all = {contact_begin, contact_end};
  check_derivatives(one_mass + "stop = [{ normal = [1], position = 0.2, stiffness = 9 }]", {0, 0}, 15, all);
  check_derivatives(one_mass + "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 3 }]",
                    {0, 0}, 15, all);
  check_derivatives(
      one_mass + "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 3, release = 'gap' }]",
      {0, 0}, 15, all);
  check_derivatives(
      one_mass + "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 0.3, preload = 0.2 }]",
      {0, 0}, 9, all);
  check_derivatives(two_masses +
                        "stop = [{ normal = [1, -1], position = 0.1, stiffness = 15, damping = 0.3 }, "
                        "{ normal = [1, 0], position = 0.4, restitution = 0.8 }]",
                    {0, 0.1, 0, 0}, 12, {contact_begin, contact_end, impact});
  const std::string rubbing =
      "name = 'linear_stops'\nomega = 0.7\nmass = [[1, 0], [0, 2]]\ndamping = [[0.1, 0], [0, 0.2]]\n"
      "stiffness = [[1, 0.1], [0.1, 0.5]]\nforce = [{ cosine = [1, 0.6] }]\n"
      "stop = [{ normal = [1, 0.1], position = 0.1, stiffness = 9, damping = 0.2, slip = [0, 1], mu = ";
  check_derivatives(rubbing + "0.2 }]", {0, 0.3, 0, 0.4}, 14, all);
  check_derivatives(rubbing + "0.9 }]", {0, 0.3, 0, 0.4}, 10,
                    {contact_begin, contact_end, slip_to_stick, stick_to_slip});
  const std::string plate = "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 9, plate = ";
  check_derivatives(one_mass + plate + "'relaxing' }]", {0, 0, 0.1}, 15, all);
  check_derivatives(two_masses +
                        "stop = [{ normal = [1, -1], position = 0.1, stiffness = 15, damping = 9, plate = "
                        "'relaxing' }, { normal = [1, 0], position = 0.4, restitution = 0.8 }]\n"
                        "friction = [{ direction = [1, 0], amplitude = 0.02 }]",
                    {0, 0.1, 0, 0, 0}, 12, {contact_begin, contact_end, impact});
  check_derivatives(two_masses +
                        "stop = [{ normal = [0, 1], position = 0.1, stiffness = 15, damping = 0.3 }]\n"
                        "friction = [{ direction = [1, 0], amplitude = 0.4 }]",
                    {0, 0.1, 0, 0}, 20, {contact_begin, contact_end, slip_to_stick, stick_to_slip});
}

TEST_CASE("compliant stops: legs by prescription against differences, long, brief, of no length, backwards") {
  for (const char* law : {"", ", damping = 0.6", ", preload = 0.5", ", damping = 0.6, preload = 0.5",
                          ", damping = 0.6, release = 'gap'"}) {
    CAPTURE(law);
    const auto model =
        make_model(two_masses + "stop = [{ normal = [1, -1], position = 0.3, stiffness = 9" + law + " }]");
    const std::vector<double> values = model->values();
    const auto at = [&](int parameter, double value) {
      std::vector<double> moved = values;
      moved[static_cast<std::size_t>(parameter)] = value;
      return model->system(moved, {});
    };
    for (const auto& [end, engaged] : {std::pair(EventKind::contact_begin, false),
                                       {EventKind::contact_end, true},
                                       {EventKind::graze, true},
                                       {EventKind::graze, false}}) {
      for (const auto length : {Leg::Length::given, Leg::Length::returning}) {
        if (length == Leg::Length::returning && end == EventKind::graze) continue;
        for (const double duration : {1.3, 0.2, 1e-3, 0.0, -0.02}) {
          CAPTURE(event_names()[static_cast<std::size_t>(end)], duration, static_cast<int>(length));
          for (const char* name : {"omega", "stiffness_1", "damping_1", "preload_1", "position_1", "K_1_1"}) {
            const int parameter = model->parameter_index(name);
            REQUIRE(parameter >= 0);
            const double value = values[static_cast<std::size_t>(parameter)];
            if (value == 0) continue;
            CAPTURE(name);
            Leg leg;
            leg.mode = at(parameter, value)->with_contact(0, 0, engaged);
            leg.end = end;
            leg.contact = 0;
            leg.length = length;
            check_slopes(
                [&](const Eigen::VectorXd& start, double time, double lasts, double moved) {
                  leg.state = start;
                  leg.time = time;
                  leg.duration = lasts;
                  return at(parameter, moved)->follow({&leg, 1}, {parameter}).value().legs.front();
                },
                state_at({0.31, 0.4, 0.02, -0.3}).x, 0.4, duration, value);
          }
        }
      }
    }
  }
}

TEST_CASE("compliant stops: derivatives from a stop that rests on its abutment, into it and off it") {
  using enum EventKind;
  for (const char* amplitude : {"0.7", "-0.7"}) {
    const auto model = make_model(
        "name = 'linear_stops'\nomega = 0.5\nmass = [[1]]\nstiffness = [[1]]\n"
        "constant = [0.4]\nforce = [{ sine = [" +
        std::string(amplitude) +
        "] }]\nstop = [{ normal = [1], position = 0, stiffness = 4, preload = 0.8 }]");
    const std::vector<double> values = model->values();
    const Eigen::Index m = static_cast<Eigen::Index>(values.size());
    Tangent tangent{Eigen::MatrixXd::Zero(2, m), Eigen::RowVectorXd::Zero(m),
                    Eigen::MatrixXd::Identity(m, m)};
    HybridState state = state_at({0, 0});
    constexpr double time = 2.4, h = 1e-5;
    REQUIRE(model->system(values, {})->advance(state, for_time(time), tangent) == Outcome::ok);
    for (const char* name : {"f_1_1", "b_1_1", "stiffness_1", "preload_1"}) {
      const std::size_t k = static_cast<std::size_t>(model->parameter_index(name));
      std::vector<double> up = values, down = values;
      up[k] += h;
      down[k] -= h;
      const Eigen::VectorXd rest = Eigen::VectorXd::Zero(2);
      const Eigen::VectorXd difference =
          (end_of(*model, up, rest, time) - end_of(*model, down, rest, time)) / (2 * h);
      CAPTURE(name, amplitude);
      CHECK((difference - tangent.state.col(static_cast<Eigen::Index>(k))).cwiseAbs().maxCoeff() < 1e-7);
    }
  }
}

TEST_CASE("compliant stops: derivatives of random systems with rigid stops and dry friction") {
  Dice dice(123);
  int checked = 0, events = 0;
  for (int k = 0; k < 200; ++k) {
    const Eigen::Index n = 1 + k % 3;
    std::string toml = "name = 'linear_stops'\n" + forced_chain(dice, n) + "stop = [";
    for (int i = 0; i < 1 + k % 4; ++i) {
      const bool rigid = i == 1 && dice.coin();
      toml += "{ normal = " + list(dice.pick(n, {-1.0, 0.5, 1.0})) +
              ", position = " + fmt_double(dice.number(0.1, 0.6));
      if (rigid) {
        toml += ", restitution = 0.6 }, ";
        continue;
      }
      toml += ", stiffness = " + fmt_double(std::exp(dice.number(0, 4)));
      if (k % 7 == 0) {
        toml += ", plate = 'relaxing', damping = " + fmt_double(dice.number(1, 9)) + " }, ";
        continue;
      }
      if (k % 5 == 1) {
        toml += ", slip = " + list(dice.pick(n, {0.5, 1.0, -1.0})) +
                ", mu = " + fmt_double(dice.number(0, 0.8)) +
                ", damping = " + fmt_double(dice.coin() ? dice.number(0, 2) : 0) + " }, ";
        continue;
      }
      toml += ", preload = " + fmt_double(k % 3 == 0 ? dice.number(0, 0.3) : 0) +
              ", damping = " + fmt_double(dice.coin() ? dice.number(0, 4) : 0) +
              (dice.coin() ? ", release = 'gap' }, " : " }, ");
    }
    toml += "]\n";
    if (k % 2 == 0)
      toml += "friction = [{ direction = " + list(dice.pick(n, {0.5, 1.0, 1.0})) + ", amplitude = 0.2 }]";
    INFO(toml);
    const auto model = make_model(toml);
    const Eigen::Index states = static_cast<Eigen::Index>(model->states().size());
    Eigen::VectorXd start = dice.vector(states, 0.05);
    start.tail(states - 2 * n) = start.tail(states - 2 * n).cwiseAbs();
    constexpr double time = 6;
    Tangent tangent{Eigen::MatrixXd::Identity(states, states), Eigen::RowVectorXd::Zero(states),
                    Eigen::MatrixXd(0, states)};
    HybridState state;
    state.x = start;
    REQUIRE(model->system(model->values(), {})->advance(state, for_time(time), tangent) == Outcome::ok);
    const auto differences = [&](double h) {
      Eigen::MatrixXd J(states, states);
      for (Eigen::Index j = 0; j < states; ++j) {
        const Eigen::VectorXd step = h * Eigen::VectorXd::Unit(states, j);
        J.col(j) = (end_of(*model, model->values(), start + step, time) -
                    end_of(*model, model->values(), start - step, time)) /
                   (2 * h);
      }
      return J;
    };
    const Eigen::MatrixXd coarse = differences(2e-6), fine = differences(1e-6);
    const double size = 1 + fine.cwiseAbs().maxCoeff();
    if ((coarse - fine).cwiseAbs().maxCoeff() > 1e-6 * size) continue;  // an event comes or goes nearby
    ++checked;
    CHECK((fine - tangent.state).cwiseAbs().maxCoeff() < 1e-5 * size);
    Log log;
    end_of(*model, model->values(), start, time, &log);
    events += static_cast<int>(log.entries.size());
  }
  CHECK(checked > 170);
  CHECK(events > 1000);
}

namespace {

void check_engagements(int flights) {
  // x'' + x = 0 reaches the amplitude A; the stop lies that much below or above it. Then the same in the
  // stop: pushed out of it by a second, stiffer one, the body leaves the first, soft and long, or just does
  // not.
  std::mt19937_64 random(20260101);
  std::uniform_real_distribution<double> unit(0, 1);
  int missed = 0, invented = 0;
  for (int k = 0; k < flights; ++k) {
    const double amplitude = 0.2 + unit(random);
    const double phase = -0.5 - 2 * unit(random);
    const double depth = std::pow(10.0, -13 + 10 * unit(random));
    const bool damped = k % 3 == 1, by_gap = k % 3 == 2;
    const std::vector<double> start = {amplitude * std::cos(phase), -amplitude * std::sin(phase)};
    const double reached = std::hypot(start[0], start[1]);
    for (const double side : {1.0, -1.0}) {
      const auto system = make_system(
          "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nstop = [{ normal = [1], position = " +
          fmt_double(reached - side * depth) + ", stiffness = 50" + (damped ? ", damping = 2" : "") +
          (by_gap ? ", damping = 1, release = 'gap'" : "") + " }]");
      Log log;
      HybridState state = state_at(start);
      REQUIRE(system->advance(state, for_time(-phase + 1), &log) == Outcome::ok);
      const std::size_t begun = log.of(EventKind::contact_begin).size();
      const std::size_t ended = log.of(EventKind::contact_end).size();
      if (side > 0 && (begun != 1 || ended != 1)) ++missed;
      if (side < 0 && begun + ended != 0) ++invented;
    }
  }
  CHECK(missed == 0);
  CHECK(invented == 0);
}

void check_releases(int contacts) {
  // In a stop of stiffness 1 between −A and A around d: left by `depth` or not at all.
  std::mt19937_64 random(20260102);
  std::uniform_real_distribution<double> unit(0, 1);
  int missed = 0, invented = 0;
  for (int k = 0; k < contacts; ++k) {
    const double amplitude = 0.2 + unit(random);
    const double depth = std::pow(10.0, -13 + 10 * unit(random));
    for (const double side : {1.0, -1.0}) {
      const double push = amplitude - side * depth;  // x = push + amplitude cos t >= 0 or not
      const auto system = make_system("name = 'linear_stops'\nmass = [[1]]\nconstant = [" + fmt_double(push) +
                                      "]\nstop = [{ normal = [1], position = 0, stiffness = 1 }]");
      Log log;
      HybridState state = state_at({push + amplitude, 0});
      REQUIRE(system->advance(state, for_time(5), &log) == Outcome::ok);
      const std::size_t ended = log.of(EventKind::contact_end).size();
      if (side > 0 && ended != 1) ++missed;
      if (side < 0 && ended != 0) ++invented;
    }
  }
  CHECK(missed == 0);
  CHECK(invented == 0);
}

}  // namespace

TEST_CASE("compliant stops: 1e4 flights that engage by 1e-13 to 1e-3 and 1e4 that stay out, none wrong") {
  check_engagements(10000);
}
TEST_CASE("compliant stops: 1e5 flights that engage by 1e-13 to 1e-3 and 1e5 that stay out", "[heavy]") {
  check_engagements(100000);
}
TEST_CASE("compliant stops: 1e4 contacts that nearly end and 1e4 that just do, none wrong") {
  check_releases(10000);
}
TEST_CASE("compliant stops: 1e5 contacts that nearly end and 1e5 that just do", "[heavy]") {
  check_releases(100000);
}

TEST_CASE(
    "compliant stops: grazing, the Jacobian goes on, or jumps by the damper of a stop that only pushes") {
  // x'' + x = 0 from (−1, 0) grazes at π: Φ(5 − π) (I − c e₂ e₁ᵀ) Φ(π), c = 0 where the force goes on or the
  // damper gives back what it took.
  const auto jacobian = [](double depth, const std::string& stop) {
    const auto system = make_system(
        "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nstop = [{ normal = [1], position = " +
        fmt_double(1 - depth) + ", " + stop + " }]");
    Tangent tangent{Eigen::MatrixXd::Identity(2, 2), Eigen::RowVectorXd::Zero(2), Eigen::MatrixXd(0, 2)};
    HybridState state = state_at({-1, 0});
    REQUIRE(system->advance(state, for_time(5), tangent) == Outcome::ok);
    return tangent.state;
  };
  const double t = 5 - M_PI;
  const Eigen::Matrix2d free{{-std::cos(t), -std::sin(t)}, {std::sin(t), -std::cos(t)}};
  for (const auto& [stop, damper] :
       {std::pair("stiffness = 50", 0.0), std::pair("stiffness = 50, damping = 2, release = 'gap'", 0.0),
        std::pair("stiffness = 50, damping = 2", 2.0)}) {
    Eigen::Matrix2d expected = free;
    expected.col(0) -= damper * free.col(1);
    CAPTURE(stop);
    CHECK((jacobian(-1e-9, stop) - free).cwiseAbs().maxCoeff() < 1e-12);
    double last = 10;
    for (const double depth : {1e-4, 1e-6, 1e-8, 1e-10}) {
      const double error = (jacobian(depth, stop) - expected).cwiseAbs().maxCoeff();
      CHECK(error < last / 5);  // the root of the depth
      last = error;
    }
    CHECK(last < 2e-3);
  }
}

TEST_CASE("compliant stops: energy is kept by an undamped stop and lost at a damped one") {
  const auto energy = [](const Eigen::VectorXd& x) { return (x(0) * x(0) + x(1) * x(1)) / 2; };
  for (const double damping : {0.0, 0.5}) {
    const auto system = make_system(
        "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nstop = [{ normal = [1], position = 0.2, "
        "stiffness = 30, damping = " +
        fmt_double(damping) + " }]");
    HybridState state = state_at({-1, 0});
    double before = energy(state.x);
    for (int k = 0; k < 50; ++k) {
      const Section section = at_level(0, -0.1, -1);
      REQUIRE(system->advance(state, section, nullptr) == Outcome::ok);
      if (damping > 0) {
        CHECK((energy(state.x) < before || energy(state.x) <= 0.02));
        if (energy(state.x) <= 0.03) break;
      } else {
        CHECK(energy(state.x) == Approx(0.5).margin(1e-13));
      }
      before = energy(state.x);
    }
  }
}

TEST_CASE("compliant stops: energy never grows beside rigid stops and dry friction, preloads included") {
  // E = q'ᵀMq'/2 + qᵀKq/2 + Σ over engaged stops (k δ²/2 + P δ).
  Dice dice(99);
  int engaged = 0, rests = 0;
  for (int k = 0; k < 300; ++k) {
    const Eigen::Index n = 1 + k % 3;
    const Eigen::MatrixXd M = dice.definite(n, 0.3, 1), C = dice.definite(n, 0.05, 0.02);
    const Eigen::MatrixXd K = dice.definite(n, 1, 0.5);
    std::string toml = "name = 'linear_stops'\nmass = " + rows(M) + "\ndamping = " + rows(C) +
                       "\nstiffness = " + rows(K) + "\nstop = [";
    std::vector<Eigen::VectorXd> normal;
    std::vector<double> position, stiffness, preload;
    for (int i = 0; i < 1 + k % 4; ++i) {
      normal.push_back(dice.pick(n, {-1.0, 0.5, 1.0}));
      position.push_back(k % 3 == 0 ? 0 : dice.number(0, 0.4));
      const bool rigid = i == 1 && dice.coin();
      stiffness.push_back(rigid ? 0 : std::exp(dice.number(0, 5)));
      preload.push_back(!rigid && dice.coin() ? dice.number(0, 0.5) : 0);
      toml += "{ normal = " + list(normal.back()) + ", position = " + fmt_double(position.back());
      toml += rigid ? ", restitution = 0.6"
                    : ", stiffness = " + fmt_double(stiffness.back()) +
                          ", preload = " + fmt_double(preload.back()) +
                          ", damping = " + fmt_double(dice.coin() ? dice.number(0, 4) : 0) +
                          (dice.coin() ? ", release = 'gap'" : "");
      toml += " }, ";
    }
    toml += "]\n";
    if (k % 2 == 0)
      toml += "friction = [{ direction = " + list(dice.pick(n, {0.5, 1.0, 1.0})) + ", amplitude = 0.2 }]";
    INFO(toml);
    const auto system = make_system(toml);
    const Eigen::VectorXd start = dice.vector(2 * n, 1);
    const auto parts = [&](const Eigen::VectorXd& x, Eigen::Index first) {
      return Eigen::VectorXd(
          Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>>(x.data() + first, n));
    };
    Eigen::VectorXd x = start;
    for (std::size_t i = 0; i < normal.size(); ++i) {  // not beyond a rigid stop
      if (stiffness[i] == 0 && normal[i].dot(parts(x, 0)) > position[i]) {
        for (Eigen::Index j = 0; j < n; ++j) x(2 * j) = 0;
      }
    }
    HybridState state;
    state.x = x;
    const auto energy = [&] {
      const Eigen::VectorXd q = parts(state.x, 0), v = parts(state.x, 1);
      double sum = (v.dot(M * v) + q.dot(K * q)) / 2;
      for (std::size_t i = 0; i < normal.size(); ++i) {
        const double depth = normal[i].dot(q) - position[i];
        if (stiffness[i] == 0 || !system->in_contact(state, static_cast<int>(i)) || depth <= 0) continue;
        sum += stiffness[i] * depth * depth / 2 + preload[i] * depth;
        ++engaged;
      }
      return sum;
    };
    REQUIRE(system->advance(state, for_time(0), nullptr) == Outcome::ok);
    double before = energy();
    const double first = before;
    for (int step = 0; step < 100; ++step) {
      Log log;
      const Outcome outcome = system->advance(state, for_time(0.05), &log);
      if (outcome == Outcome::event_limit) break;  // a preloaded stop that is bounced on without end
      REQUIRE(outcome == Outcome::ok);
      rests += static_cast<int>(log.of(EventKind::stick).size());
      const double now = energy();
      CHECK(now <= before + 1e-12 * first);
      before = now;
    }
  }
  CHECK(engaged > 3000);
  CHECK(rests > 10);
}

TEST_CASE("compliant stops: contact share of a bilinear oscillator without damping or force") {
  // x'' + x + k x₊ = 0: the share of half periods, 1/√(1 + k) : 1.
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nstop = [{ normal = [1], position = 0, "
      "stiffness = 8 }]");
  HybridState state = state_at({0.1, 1});
  Tally tally(*system);
  REQUIRE(system->advance(state, for_time(1), nullptr) == Outcome::ok);
  const double period = M_PI * (1 + 1.0 / 3);
  tally.open_window(state.time, *system, state);
  REQUIRE(system->advance(state, for_time(100 * period), &tally) == Outcome::ok);
  tally.close_window(1 + 100 * period);
  CHECK(tally.contacts()[0].impacts == 100);
  CHECK(tally.contacts()[0].stick_time / (100 * period) == Approx(0.25).margin(1e-12));
}

TEST_CASE(
    "compliant stops: events tell of every stick of the friction on them, also where it ends with them") {
  const std::string plane =
      "name = 'linear_stops'\nomega = 0.7\nmass = [[1, 0], [0, 2]]\nstiffness = [[1, 0.1], [0.1, 0.5]]\n"
      "damping = [[0.1, 0], [0, 0.2]]\nforce = [{ cosine = [1, 0.6] }]\n"
      "stop = [{ normal = [1, 0.1], position = 0.1, stiffness = 9, slip = [0, 1], mu = 0.9, ";
  const std::string ball =
      "name = 'equations'\ncoordinates = ['x', 'y']\nforce = { x = 0, y = -1 }\nfastest_rate = 1\n"
      "contact = [{ gap = 'y', mu = 0.5, slip = \"x'\", normal_force = ";
  int ended_together = 0;
  for (const std::string& toml : {plane + "damping = 0.2 }]", plane + "damping = 4, plate = 'relaxing' }]",
                                  ball + "'400*depth^1.5' }]", ball + "\"400*depth*(1 + 0.1*depth')\" }]"}) {
    INFO(toml);
    const auto system = make_system(toml);
    HybridState state = state_at({0, 0.3, 0.01, 0.4});
    state.x.conservativeResize(system->states());
    state.x.tail(system->states() - 4).setZero();
    Tally tally(*system);
    REQUIRE(system->advance(state, for_time(0), &tally) == Outcome::ok);
    tally.open_window(0, *system, state);
    bool stuck = system->sticks(state, 0);
    double longest = 0, shortest = 0;
    constexpr double step = 0.01;
    constexpr int steps = 4000;
    for (int k = 0; k < steps; ++k) {
      const bool before = stuck;
      Log log;
      HybridState twin = state;
      REQUIRE(system->advance(twin, for_time(step), &tally) == Outcome::ok);
      REQUIRE(system->advance(state, for_time(step), &log) == Outcome::ok);
      for (const Log::Entry& e : log.entries) {
        if (e.kind == EventKind::slip_to_stick) stuck = true;
        if (e.kind == EventKind::stick_to_slip) stuck = false;
      }
      for (const Log::Entry& end : log.of(EventKind::contact_end)) {
        for (const Log::Entry& e : log.of(EventKind::stick_to_slip)) {
          if (std::abs(e.time - end.time) < 1e-5) ++ended_together;
        }
      }
      REQUIRE(stuck == system->sticks(state, 0));
      const bool changes = before != stuck || !log.entries.empty();
      if (changes || stuck) longest += step;
      if (!changes && stuck) shortest += step;
    }
    tally.close_window(step * steps);
    CHECK(tally.frictions()[0].sticks > 3);
    CHECK(tally.frictions()[0].stick_time <= longest + 1e-9);
    CHECK(tally.frictions()[0].stick_time >= shortest - 1e-9);
  }
  CHECK(ended_together > 10);
}

TEST_CASE("compliant stops: a start within one is engaged, or recovering where it would pull") {
  const std::string toml =
      "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nstop = [{ normal = [1], position = 0, "
      "stiffness "
      "= 4, damping = 2 }]";
  for (const auto& [v, begins] : {std::pair(0.0, 1), std::pair(-0.5, 0)}) {
    const auto system = make_system(toml);
    HybridState state = state_at({0.1, v});
    Log log;
    REQUIRE(system->advance(state, for_time(0.01), &log) == Outcome::ok);
    CHECK(log.of(EventKind::contact_begin).size() == static_cast<std::size_t>(begins));
    CHECK(system->in_contact(state, 0) == (begins == 1));
    const double free = 0.1 * std::cos(0.01) + v * std::sin(0.01);
    CHECK((std::abs(state.x(0) - free) < 1e-15) == (begins == 0));
  }
}

TEST_CASE("relaxing plate: a state of its own, taken along by a start before it, met by a body at rest") {
  const std::string stop =
      "stop = [{ name = 'anvil', normal = [1], position = 0, stiffness = 4, damping = 2, "
      "plate = 'relaxing' }]\n";
  const auto model = make_model("name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\n" + stop);
  REQUIRE(model->states().size() == 3);
  CHECK(model->states()[2].name == "z_anvil");
  // Far away it goes back by e^{−kt/c}; from behind the body it is put where the body is.
  for (const double z : {0.3, 0.05}) {
    const auto system = model->system(model->values(), {});
    HybridState state = state_at({z == 0.3 ? -0.5 : 0.1, 0, z});
    Log log;
    REQUIRE(system->advance(state, for_time(0.25), &log) == Outcome::ok);
    CHECK(log.of(EventKind::contact_begin).size() == (z == 0.3 ? 0u : 1u));
    CHECK(system->in_contact(state, 0) == (z == 0.05));
    CHECK(state.x(2) == Approx(z == 0.3 ? 0.3 * std::exp(-0.5) : state.x(0)).epsilon(1e-14));
    Eigen::VectorXd gap, rate;
    system->gaps(state, gap, rate);
    CHECK(gap(0) == Approx(state.x(2) - state.x(0)).margin(1e-15));
  }
  // A body that dry friction holds within the stop: the plate comes back to it at z = x.
  const auto held = make_model("name = 'linear_stops'\nmass = [[1]]\n" + stop +
                               "friction = [{ direction = [1], amplitude = 5 }]");
  HybridState state = state_at({0.1, 0, 0.4});
  Log log;
  REQUIRE(held->system(held->values(), {})->advance(state, for_time(2), &log) == Outcome::ok);
  const auto begins = log.of(EventKind::contact_begin);
  REQUIRE(begins.size() == 1);
  CHECK(begins.front().time == Approx(std::log(4.0) / 2).epsilon(1e-13));
  CHECK(state.x(0) == 0.1);
  CHECK(state.x(2) == Approx(0.1).epsilon(1e-14));
}

TEST_CASE("relaxing plate: redundant while engaged, of its own multiplier while it goes back") {
  // The plate at the start of a period matters only where it is off its body.
  const auto model = make_model(
      one_mass +
      "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 9, plate = 'relaxing' }]");
  const auto system = model->system(model->values(), {});
  HybridState state = state_at({0, 0, 0});
  bool engaged = false, open = false;
  for (int k = 0; k < 60; ++k) {
    Section section;
    section.kind = Section::Kind::stroboscopic;
    section.phase = 0.05 * k - std::floor(0.05 * k);
    REQUIRE(system->advance(state, section, nullptr) == Outcome::ok);
    Tangent tangent{Eigen::MatrixXd::Identity(3, 3), Eigen::RowVectorXd::Zero(3), Eigen::MatrixXd(0, 3)};
    HybridState later = state;
    const bool in = system->in_contact(state, 0);
    (in ? engaged : open) = true;
    REQUIRE(system->advance(later, for_time(0.01), tangent) == Outcome::ok);
    if (system->in_contact(later, 0) != in) continue;
    CHECK(tangent.state(2, 2) == Approx(in ? 0 : std::exp(-0.2 / 9)).margin(1e-14));
    if (in) CHECK(tangent.state(2, 0) == Approx(tangent.state(0, 0)).epsilon(1e-12));
  }
  CHECK(engaged);
  CHECK(open);
}

TEST_CASE("compliant stops: an impact map begins at engagements") {
  const auto system = make_system(one_mass + "stop = [{ normal = [1], position = 0.2, stiffness = 9 }]");
  for (const auto kind : {Section::Kind::impact_before, Section::Kind::impact_after}) {
    Section section;
    section.kind = kind;
    HybridState state = state_at({0, 0});
    for (int k = 0; k < 5; ++k) {
      Log log;
      REQUIRE(system->advance(state, section, &log) == Outcome::ok);
      CHECK(state.x(0) == Approx(0.2).margin(1e-14));
      CHECK(state.x(1) > 0);
      const std::size_t expected = kind == Section::Kind::impact_before && k == 0 ? 0 : 1;
      CHECK(log.of(EventKind::contact_begin).size() == expected);
    }
  }
}

TEST_CASE("compliant stops: keys that do not go together are refused") {
  const auto refused = [](const std::string& keys) {
    CHECK_THROWS_AS(make_model(one_mass + "stop = [{ normal = [1], position = 0.2, " + keys + " }]"),
                    InputError);
  };
  refused("stiffness = 5, restitution = 0.5");
  refused("damping = 1");
  refused("preload = 1");
  refused("release = 'gap'");
  refused("stiffness = 5, release = 'never'");
  refused("stiffness = 0");
  refused("stiffness = 5, damping = -1");
  refused("stiffness = 5, plate = 'relaxing'");
  refused("stiffness = 5, damping = 0, plate = 'relaxing'");
  refused("stiffness = 5, damping = 1, plate = 'soft'");
  refused("stiffness = 5, damping = 1, plate = 'relaxing', preload = 0.1");
  refused("stiffness = 5, damping = 1, plate = 'relaxing', release = 'gap'");
  refused("plate = 'relaxing'");
  refused("stiffness = 5, mu = 0.1");
  refused("stiffness = 5, slip = [1]");
  refused("stiffness = 5, mu = -0.1, slip = [1]");
  refused("stiffness = 5, mu = 0.1, slip = [0]");
  refused("stiffness = 5, mu = 0.1, slip = [1], preload = 0.2");
  refused("stiffness = 5, mu = 0.1, slip = [1], release = 'gap'");
  refused("mu = 0.1, slip = [1]");
}

TEST_CASE("compliant stops: march without a preload and a plate, are prescribed without a plate") {
  const std::string stop = "stop = [{ normal = [1], position = 0.2, stiffness = 9";
  const auto soft = make_system(one_mass + stop + " }]");
  const auto rigid = make_system(one_mass + "stop = [{ normal = [1], position = 0.2 }]");
  CHECK(soft->linear_law());
  CHECK(!make_system(one_mass + stop + ", preload = 0.1 }]")->linear_law());
  CHECK(!make_system(one_mass + stop + ", damping = 1, plate = 'relaxing' }]")->linear_law());
  CHECK(soft->prescribes(0));
  CHECK(make_system(one_mass + stop + ", preload = 0.1 }]")->prescribes(0));
  CHECK(!make_system(one_mass + stop + ", damping = 1, plate = 'relaxing' }]")->prescribes(0));
  CHECK(rigid->linear_law());
  CHECK(rigid->prescribes(0));
}

TEST_CASE("impact log: a friction's event belongs to no contact") {
  ImpactLog log;
  Event event;
  event.kind = EventKind::slip_to_stick;
  event.friction = 0;
  log.event(event);
  CHECK(log.records().empty());
}

TEST_CASE("compliant stop: loads of one contact in closed form") {
  // From δ = 0 with speed w: δ = w/ω sin ωt − P/k (1 − cos ωt), without damping.
  const double k = 9, w = 1.2, mu = 0.3, slip = -2;
  for (const double P : {0.0, 0.6}) {
    CAPTURE(P);
    const bool rough = P == 0;  // a stop with a preload has no friction
    const auto system = make_system(
        "name = 'linear_stops'\nmass = [[1, 0], [0, 1]]\nstop = [{ normal = [1, 0], position = 0, stiffness "
        "= 9, " +
        (rough ? "slip = [0, 1], mu = 0.3" : "preload = " + fmt_double(P)) + " }]");
    HybridState state = state_at({-0.1, w, 0, slip});
    ImpactLog log;
    REQUIRE(system->advance(state, for_time(3), &log) == Outcome::ok);
    REQUIRE(log.records().size() == 1);
    const ImpactRecord& r = log.records().front();
    const double omega = std::sqrt(k), amplitude = std::hypot(P / k, w / omega);
    CHECK(r.begin_force == Approx(P).margin(1e-14));
    CHECK(r.peak_force == Approx(k * amplitude).epsilon(1e-13));
    CHECK(r.greatest_penetration == Approx(amplitude - P / k).epsilon(1e-13));
    CHECK(r.turn - r.begin == Approx(std::atan2(w / omega, P / k) / omega).epsilon(1e-12));
    CHECK(r.impulse == Approx(2 * w).epsilon(1e-13));
    CHECK(r.damping_work == 0);
    CHECK(r.friction_work == Approx((slip * slip - state.x(3) * state.x(3)) / 2).margin(1e-13));
    CHECK(state.x(3) == Approx(slip + (rough ? mu * 2 * w : 0)).epsilon(1e-13));
    CHECK(r.phases.size() == (rough ? 1 : 0));
    CHECK(slip_sequence_names()[static_cast<std::size_t>(slip_sequence(r))] == (rough ? "B-" : "none"));
  }
}

TEST_CASE("compliant stop: loads with damping, without friction") {
  // Until its force vanishes; the kinetic energy pays for the damper and what the spring then still holds.
  const double k = 9, c = 1.5;
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[2]]\nstop = [{ normal = [1], position = 0, stiffness = 9, damping = "
      "1.5 }]");
  HybridState state = state_at({-0.1, 1});
  ImpactLog log;
  REQUIRE(system->advance(state, for_time(5), &log) == Outcome::ok);
  REQUIRE(log.records().size() == 1);
  const ImpactRecord& r = log.records().front();
  CHECK(r.begin_force == Approx(c).epsilon(1e-14));
  CHECK(r.impulse == Approx(2 * (1 + r.separation_speed)).epsilon(1e-13));
  const double left = c * r.separation_speed / k;  // penetration at the end
  CHECK(r.damping_work == Approx(1 - r.separation_speed * r.separation_speed - k * left * left / 2));
  const double omega = std::sqrt(k / 2), zeta = c / (2 * std::sqrt(2 * k)), root = std::sqrt(1 - zeta * zeta);
  const double steep = std::atan2(root, zeta) / root / omega;  // δ' = 0
  CHECK(r.turn - r.begin == Approx(steep).epsilon(1e-12));
  CHECK(r.greatest_penetration == Approx(std::exp(-zeta * omega * steep) / omega).epsilon(1e-12));
  // F' = 0 where k δ' = −c δ'': at ωt√(1 − ζ²) = atan2(...), by the phase of F = k δ + c δ'.
  const auto force = [&](double t) {
    const double a = std::exp(-zeta * omega * t) / (omega * root), p = omega * root * t;
    const double depth = a * std::sin(p);
    return k * depth + c * (a * omega * root * std::cos(p) - zeta * omega * depth);
  };
  double peak = 0;
  for (double t = 0; t < r.end - r.begin; t += 1e-4) peak = std::max(peak, force(t));
  CHECK(r.peak_force == Approx(peak).epsilon(1e-7));
  CHECK(r.peak_force >= peak * (1 - 1e-13));
  CHECK(r.friction_work == 0);
  CHECK(slip_sequence_names()[static_cast<std::size_t>(slip_sequence(r))] == "none");
}
