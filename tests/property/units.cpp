/// Nothing that is found depends on the units of length, time and mass.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <optional>

#include "analysis/maps/attractor.hpp"
#include "analysis/maps/itinerary.hpp"
#include "core/lanes/lanes.hpp"
#include "core/system/scaled_system.hpp"
#include "tests/dice.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// How many of the new units make an old one.
struct OldUnits {
  double length = 1, time = 1, mass = 1;
};

/// A chain with stops, some of it with dry friction, in any units.
struct Chain {
  Eigen::MatrixXd mass, damping, stiffness;
  Eigen::VectorXd force, start;
  double omega = 1, position = 1, friction = 0;

  std::string toml(const OldUnits& u) const {
    const double forces = u.mass * u.length / (u.time * u.time);
    std::string text = "name = 'linear_stops'\nomega = " + fmt_double(omega / u.time) +
                       "\nmass = " + rows(mass * u.mass) + "\ndamping = " + rows(damping * u.mass / u.time) +
                       "\nstiffness = " + rows(stiffness * u.mass / (u.time * u.time)) +
                       "\nforce = [{ cosine = " + list(force * forces) +
                       " }]\nstop = [{ normal = " + list(Eigen::VectorXd::Unit(force.size(), 0)) +
                       ", position = " + fmt_double(position * u.length) + ", restitution = 0.9 }]";
    if (friction > 0) {
      text += "\nfriction = [{ direction = " + list(Eigen::VectorXd::Unit(force.size(), 0)) +
              ", amplitude = " + fmt_double(friction * forces) + " }]";
    }
    return text;
  }
  HybridState begin(const OldUnits& u) const {
    HybridState state = state_at(std::vector<double>(start.begin(), start.end()));
    for (Eigen::Index i = 0; i < state.x.size(); ++i) state.x(i) *= i % 2 == 0 ? u.length : u.length / u.time;
    return state;
  }
};

Chain draw(Dice& dice) {
  Chain c;
  const Eigen::Index n = dice.coin() ? 1 : 2;
  c.mass = dice.definite(n, 0.2, 1);
  c.stiffness = dice.definite(n, 0.5, 1);
  c.damping = 0.02 * c.stiffness + 0.02 * c.mass;
  c.force = dice.vector(n, 2);
  c.start = dice.vector(2 * n, 0.1);
  c.omega = dice.number(0.4, 2);
  c.position = dice.number(0.15, 0.6);
  c.friction = dice.number(0, 1) < 0.3 ? 0.05 : 0;
  return c;
}

Attractor settle(const Chain& chain, const OldUnits& units) {
  AttractorOptions options;
  options.transient = 60;
  options.record = 32;
  options.exponent = 128;
  options.persist = 0;
  std::vector<std::unique_ptr<System>> systems;
  systems.push_back(make_system(chain.toml(units)));
  const std::vector<std::optional<HybridState>> starts = {chain.begin(units)};
  return find_attractors(systems, starts, Section{}, options).front();
}

std::vector<std::int64_t> counts(const Attractor& a) {
  std::vector<std::int64_t> all = {static_cast<int>(a.kind), static_cast<int>(a.outcome), a.orbit.period,
                                   a.transient_used};
  for (const Tally::Contact& c : a.tally.contacts()) {
    all.insert(all.end(), {c.impacts, c.chatter_complete, c.sticks, c.rises});
  }
  return all;
}

constexpr double up = 0x1p30, down = 0x1p-30;  // about 1e±9, without rounding

}  // namespace

TEST_CASE("other units by powers of two change no digit of a motion, nor what it settles to") {
  Dice dice(32);
  std::array<int, 6> kinds{};
  for (int system = 0; system < 16; ++system) {
    const Chain chain = draw(dice);
    for (const std::string& kernel : {std::string("none"), lane_kernels().back()}) {
      choose_lane_kernel(kernel);
      const Attractor plain = settle(chain, {});
      ++kinds[static_cast<std::size_t>(plain.kind)];
      for (const OldUnits& u :
           {OldUnits{up, 1, 1}, OldUnits{down, 1, 1}, OldUnits{1, up, 1}, OldUnits{1, down, 1},
            OldUnits{1, 1, up}, OldUnits{1, 1, down}, OldUnits{up, down, up}}) {
        INFO(kernel << ", system " << system << ": " << u.length << ", " << u.time << ", " << u.mass);
        const Attractor scaled = settle(chain, u);
        CHECK(counts(scaled) == counts(plain));
        // Newton's method, whose pivots are chosen by size, closes orbits but for rounding.
        const double rounding = plain.kind == AttractorClass::periodic ? 1e-11 : 0;
        if (std::isfinite(plain.lyapunov)) {
          CHECK(std::abs(scaled.lyapunov * u.time - plain.lyapunov) <= 1e3 * rounding);
        }
        REQUIRE(scaled.points.size() == plain.points.size());
        double differs = 0;
        for (std::size_t k = 0; k < plain.points.size(); ++k) {
          Eigen::VectorXd x = scaled.points[k].x / u.length;
          for (Eigen::Index i = 1; i < x.size(); i += 2) x(i) *= u.time;
          differs = std::max(differs, (x - plain.points[k].x).cwiseAbs().maxCoeff());
        }
        CHECK(differs <= rounding);
      }
    }
  }
  choose_lane_kernel("");
  CHECK(kinds[static_cast<std::size_t>(AttractorClass::periodic)] > 0);
}

TEST_CASE("a thousand million units to one: the same class and period") {
  Dice dice(33);
  for (int system = 0; system < 12; ++system) {
    const Chain chain = draw(dice);
    const Attractor plain = settle(chain, {});
    if (plain.kind != AttractorClass::periodic) continue;  // others go their own way from rounding on
    for (const double factor : {1e9, 1e-9}) {
      for (const OldUnits& u : {OldUnits{factor, 1, 1}, OldUnits{1, factor, 1}, OldUnits{1, 1, factor}}) {
        INFO("system " << system << ": " << u.length << ", " << u.time << ", " << u.mass);
        CHECK(counts(settle(chain, u)) == counts(plain));
      }
    }
  }
}

TEST_CASE("a fast oscillator is as periodic as a slow one") {
  // w = 1e6 and speeds of 1e5: rounding of its velocity is far above 1e-10.
  const double w = 1e6;
  for (const double share : {2.3, 2.45, 2.6}) {
    const auto kind = [&](double unit) {
      const auto system = make_system(
          "name = 'impact_oscillator'\nk = " + fmt_double(unit * unit) + "\nF = " + fmt_double(unit * unit) +
          "\nb = " + fmt_double(0.05 * unit) + "\nstop = 0.1\nomega = " + fmt_double(share * unit));
      const Attractor a = find_attractor(PoincareMap(*system, Section{}), state_at({0, 0}), {});
      return std::pair{a.kind, a.orbit.period};
    };
    INFO(share);
    CHECK(kind(w) == kind(1));
  }
}

TEST_CASE("the unit of a pressure that lifts a valve changes neither class nor period") {
  // Lifts of 1e-4 m beside 1e7 Pa.
  for (const double omega : {300.0, 330.0, 500.0}) {
    std::optional<std::pair<AttractorClass, int>> first;
    for (const char* unit : {"1e10", "1e5", "1e3", "1.0"}) {
      const auto system = make_system(
          "name = 'equations'\nparameters = { u = " + std::string(unit) + ", om = " + fmt_double(omega) +
          " }\ncoordinates = ['x']\nstates = ['p']\nmass = { x = 0.1 }\n"
          "force = { x = \"1e-7*p*u - 1 - 1e3*x - 0.5*x'\" }\n"
          "rate = { p = '200*(1e7/u*(1 + 0.5*cos(om*t)) - p)' }\nperiod = '2*pi/om'\n"
          "contact = [{ gap = '-x', restitution = 0.8 }]");
      const Attractor a = find_attractor(PoincareMap(*system, Section{}), state_at({0, 0, 0}), {});
      const std::pair found{a.kind, a.orbit.period};
      INFO(omega << ", " << unit << " Pa");
      CHECK(found.first == AttractorClass::periodic);
      if (first) CHECK(found == *first);
      first = found;
    }
    CHECK(first->second > 1);
  }
}

TEST_CASE("a system told in units is the same to the last bit, with its events and derivatives") {
  const std::string oscillator =
      "name = 'equations'\nparameters = { omega = 1.3 }\ncoordinates = ['x', 'y']\nstates = ['p']\n"
      "force = { x = \"1.5*cos(omega*t) - 0.1*x' - x - x^3 + p\", y = \"0.4*(x - y) - 0.1*y'\" }\n"
      "rate = { p = '0.3*(x - p)' }\nperiod = '2*pi/omega'\n"
      "contact = [{ gap = '0.6 - x', restitution = 0.8 }, { gap = 'y + 0.3', restitution = 0.6 }]";
  const auto plain = make_system(oscillator);
  Units units{Eigen::VectorXd(5), 0x1p-20, 0x1p-9};
  units.state << 0x1p-20, 0x1p-11, 0x1p-19, 0x1p-10, 0x1p+17;
  const auto scaled = in_units(make_system(oscillator), units);
  const Eigen::VectorXd start = state_at({0.1, 0.3, 0.2, -0.1, 0.05}).x;
  CHECK(scaled->period() == plain->period() / units.time);
  CHECK(scaled->rate() == plain->rate() * units.time);

  const Record record = record_turn(*plain, start, 3);
  const Record told = record_turn(*scaled, units.in(start), 3);
  REQUIRE(record.outcome == Outcome::ok);
  CHECK(told.itinerary == record.itinerary);
  CHECK(record.itinerary.steps.size() > 4);
  for (std::size_t k = 0; k < record.times.size(); ++k) {
    CHECK(told.times[k] * units.time == record.times[k]);
    CHECK(told.speeds[k] * units.length / units.time == record.speeds[k]);
  }
  for (std::size_t k = 0; k < record.behind.size(); ++k) CHECK(units.out(told.behind[k]) == record.behind[k]);

  HybridState a = state_at({0.1, 0.3, 0.2, -0.1, 0.05}), b = a;
  b.x = units.in(b.x);
  Tangent at, bt;
  at.state = bt.state = Eigen::MatrixXd::Identity(5, 7);
  at.time = bt.time = Eigen::RowVectorXd::Unit(7, 5);
  at.parameter = bt.parameter = Eigen::RowVectorXd::Unit(7, 6);
  REQUIRE(plain->advance(a, Section{}, at) == Outcome::ok);
  REQUIRE(scaled->advance(b, Section{}, bt) == Outcome::ok);
  CHECK(units.out(b.x) == a.x);
  Eigen::VectorXd by(7);
  by << units.state, units.time, 1;
  CHECK((units.state.asDiagonal() * bt.state).eval() == (at.state * by.asDiagonal()).eval());
  CHECK((units.time * bt.time).eval() == (at.time * by.asDiagonal()).eval());

  Leg leg;
  leg.state = start;
  leg.duration = 0.25;
  leg.end = EventKind::impact;
  leg.contact = 0;
  Leg short_leg = leg;
  short_leg.state = units.in(start);
  short_leg.duration /= units.time;
  const auto course = plain->follow({&leg, 1}, {0}), way = scaled->follow({&short_leg, 1}, {0});
  REQUIRE((course && way));
  const Reached &p = course->legs[0], &q = way->legs[0];
  Eigen::VectorXd columns(8);
  columns << units.state, units.time, units.time, 1;
  const double speed = units.length / units.time;
  CHECK(units.out(q.state) == p.state);
  CHECK((units.state.asDiagonal() * q.state_slope).eval() == (p.state_slope * columns.asDiagonal()).eval());
  CHECK(q.guard * units.length == p.guard);
  CHECK((q.guard_slope * units.length).eval() == (p.guard_slope * columns.asDiagonal()).eval());
  CHECK(q.measure * speed == p.measure);
  CHECK((q.measure_slope * speed).eval() == (p.measure_slope * columns.asDiagonal()).eval());
  CHECK((way->period_slope * units.time).eval() == course->period_slope);
}

TEST_CASE("what ends a damped contact is told in units of forces, as what begins it in units of gaps") {
  const std::string stops =
      "name = 'linear_stops'\nomega = 0.9\nmass = [[1.0]]\ndamping = [[0.1]]\nstiffness = [[1.5]]\n"
      "force = [{ cosine = [0.8] }]\n"
      "stop = [{ normal = [1.0], position = 0.3, stiffness = 20.0, damping = 0.4 }]";
  const std::string equations =
      "name = 'equations'\nparameters = { omega = 0.9 }\ncoordinates = ['x']\nperiod = '2*pi/omega'\n"
      "force = { x = \"0.8*cos(omega*t) - 0.1*x' - 1.5*x - x^3\" }\n"
      "contact = [{ gap = '0.3 - x', normal_force = \"20*depth + 0.4*depth'\" }]";
  const Units units{Eigen::Vector2d(0x1p-20, 0x1p-9), 0x1p-20, 0x1p-12};
  for (const std::string& text : {stops, equations}) {
    INFO(text);
    const auto plain = make_system(text);
    const auto scaled = in_units(make_system(text), units);
    const Record record = record_turn(*plain, state_at({0.1, 0.3}).x, 2);
    int ends = 0, returning = 0;
    for (std::size_t k = 1; k < record.behind.size(); ++k) {
      const Step& step = record.itinerary.steps[k];
      Leg leg;
      leg.state = record.behind[k - 1];
      leg.time = record.times[k - 1];
      leg.duration = record.durations[k];
      leg.mode = step.mode;
      leg.end = step.end;
      leg.contact = step.contact;
      const bool returns = step.end == EventKind::contact_begin;  // from where its force vanished
      if (returns) leg.length = Leg::Length::returning;
      Leg told = leg;
      told.state = units.in(leg.state);
      told.time /= units.time;
      told.duration /= units.time;
      const auto p = plain->follow_values({&leg, 1}, {0}), q = scaled->follow_values({&told, 1}, {0});
      REQUIRE((p && q));
      const bool of_force = step.end == EventKind::contact_end;
      ends += of_force;
      returning += returns;
      CHECK((p->legs[0].guard_of == GuardOf::force) == of_force);
      const double speed = units.length / units.time, acceleration = speed / units.time;
      CHECK(q->legs[0].guard * (of_force ? acceleration : units.length) == p->legs[0].guard);
      CHECK(q->legs[0].measure * (of_force ? acceleration / units.time : speed) == p->legs[0].measure);
    }
    CHECK(ends > 1);
    CHECK(returning > 1);
  }
}
