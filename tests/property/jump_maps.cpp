/// Jump maps of typed systems: the rules of core/contact/jump_maps, one by one, and derivatives through them.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// x = cos t from (1, 0), with a number n that jumps change.
std::string clock_with(const std::string& jumps) {
  return "name = 'equations'\ncoordinates = ['x']\nstates = ['n']\nforce = { x = '-x' }\nrate = { n = '0' "
         "}\n" +
         jumps;
}

struct Heard {
  Log log;
  HybridState end;
  Outcome outcome;
  std::vector<Log::Entry> jumps() const { return log.of(EventKind::jump); }
};

Heard heard(const std::string& toml, const std::vector<double>& start, double time) {
  const auto system = make_system(toml);
  REQUIRE(system != nullptr);
  Heard h;
  h.end = state_at(start);
  h.outcome = system->advance(h.end, for_time(time), &h.log);
  return h;
}

}  // namespace

TEST_CASE("jump: fires where its trigger falls, rises, or both", "[jumps]") {
  struct Direction {
    const char* name;
    std::vector<double> times;  ///< in quarter turns
  };
  for (const Direction& d :
       {Direction{"down", {1, 5, 9}}, Direction{"up", {3, 7, 11}}, Direction{"both", {1, 3, 5, 7, 9, 11}}}) {
    CAPTURE(d.name);
    const Heard h = heard(clock_with("jump = [{ name = 'tick', when = 'x', direction = '" +
                                     std::string(d.name) + "', set = { n = 'n + 1' } }]"),
                          {1, 0, 0}, 6 * M_PI);
    REQUIRE(h.outcome == Outcome::ok);
    const auto jumps = h.jumps();
    REQUIRE(jumps.size() == d.times.size());
    for (std::size_t k = 0; k < jumps.size(); ++k) {
      CHECK(std::abs(jumps[k].time - d.times[k] * M_PI / 2) < 1e-12);
      CHECK(jumps[k].jump == 0);
      CHECK(jumps[k].contact == -1);
      CHECK(jumps[k].before[2] == static_cast<double>(k));
      CHECK(jumps[k].after[2] == static_cast<double>(k + 1));
    }
    CHECK(h.end.x(2) == static_cast<double>(d.times.size()));
  }
}

TEST_CASE("jump: a trigger that touches zero does not fire, one that goes deeper does", "[jumps]") {
  const auto fired = [](const std::string& when, const char* direction) {
    return heard(clock_with("jump = [{ when = '" + when + "', direction = '" + direction +
                            "', set = { n = 'n + 1' } }]"),
                 {1, 0, 0}, 6 * M_PI + 1)
        .jumps()
        .size();
  };
  CHECK(fired("1 + x", "both") == 0);
  CHECK(fired("1 - 1e-10 + x", "down") == 3);
  CHECK(fired("1 + 1e-10 + x", "down") == 0);
  CHECK(fired("-1 - x", "up") == 0);
}

TEST_CASE("jump: a start at zero does not fire, the motion tells its side", "[jumps]") {
  const std::string text = clock_with("jump = [{ when = 'x', set = { n = 'n + 1' } }]");
  CHECK(heard(text, {0, -1, 0}, 1).jumps().empty());  // leaves below
  CHECK(heard(text, {0, 1, 0}, 1).jumps().empty());   // leaves above
  CHECK(heard(text, {0, 1, 0}, M_PI + 1).jumps().size() == 1);
  CHECK(heard(text, {0, 0, 0}, 10).jumps().empty());  // stays
}

TEST_CASE("jump: all that it sets is worked out from the state before", "[jumps]") {
  const Heard h = heard(clock_with("jump = [{ when = 'x', set = { x = 'n', x_dot = '2*x', n = \"x'\" } }]"),
                        {1, 0, 5}, M_PI / 2 + 0.1);
  REQUIRE(h.jumps().size() == 1);
  const std::vector<double> after = h.jumps().front().after;
  CHECK(after[0] == 5);
  CHECK(std::abs(after[1]) < 1e-15);
  CHECK(std::abs(after[2] + 1) < 1e-14);
}

/// Newton's law once as a contact and once as a jump.
TEST_CASE("jump: a bounce typed as a jump is that of a contact, with its derivatives", "[jumps]") {
  const std::string body =
      "name = 'equations'\nparameters = { r = 0.8, w = 1.3 }\ncoordinates = ['y']\n"
      "force = { y = \"-1 - 0.1*y' + 0.5*sin(w*t) - 0.2*y^3\" }\nperiod = '2*pi/w'\n";
  const std::string contact = body + "contact = [{ gap = 'y', restitution = 'r' }]";
  const std::string jump = body + "jump = [{ when = 'y', set = { y_dot = \"-r*y'\" } }]";
  const std::vector<double> start = {1.1, 0.2};
  constexpr double time = 5.5;
  const Heard a = heard(contact, start, time), b = heard(jump, start, time);
  const auto impacts = a.log.of(EventKind::impact);
  REQUIRE(impacts.size() >= 3);
  REQUIRE(b.jumps().size() == impacts.size());
  for (std::size_t k = 0; k < impacts.size(); ++k) {
    CHECK(std::abs(impacts[k].time - b.jumps()[k].time) < 1e-13);
    CHECK(std::abs(impacts[k].after[1] - b.jumps()[k].after[1]) < 1e-13);
  }
  const auto slopes = [&](const std::string& text) {
    HybridState state = state_at(start);
    Tangent tangent{Eigen::MatrixXd::Identity(2, 4), Eigen::RowVectorXd::Zero(4),
                    Eigen::MatrixXd::Zero(2, 4)};
    tangent.parameter.rightCols(2).setIdentity();
    REQUIRE(make_system(text)->advance(state, for_time(time), tangent) == Outcome::ok);
    return tangent.state;
  };
  CHECK((slopes(contact) - slopes(jump)).cwiseAbs().maxCoeff() <
        1e-11 * slopes(contact).cwiseAbs().maxCoeff());
}

TEST_CASE("jump: derivatives by states and parameters agree with differences", "[jumps]") {
  const std::string text =
      "name = 'equations'\nparameters = { b = 0.4, F = 1.4, w = 1.1, r = 0.7, h = 0.3, s = 0.6 }\n"
      "coordinates = ['x']\nstates = ['p']\n"
      "force = { x = \"F*cos(w*t) - 0.1*x' - x - b*x^3 + 0.2*p\" }\nrate = { p = \"tanh(x') - p\" }\n"
      "period = '2*pi/w'\ncontact = [{ gap = 's - x', restitution = 'r' }]\n"
      "jump = [{ when = 'x - h*sin(w*t) + 0.1*p', direction = 'both', set = { x_dot = \"r*x' + h*p\" } }, "
      "{ when = \"x' - 0.2\", set = { p = \"p/2 + 0.1*cos(w*t)\" } }]";
  const auto model = make_model(text);
  const std::vector<double> values = model->values(), start = {0.1, 0.4, 0.2};
  constexpr double time = 9;
  const auto end = [&](const std::vector<double>& at, const std::vector<double>& from) {
    HybridState state = state_at(from);
    REQUIRE(model->system(at, {})->advance(state, for_time(time), nullptr) == Outcome::ok);
    return state.x;
  };
  const Eigen::Index n = 3, m = static_cast<Eigen::Index>(values.size());
  Tangent tangent{Eigen::MatrixXd::Zero(n, n + m), Eigen::RowVectorXd::Zero(n + m),
                  Eigen::MatrixXd::Zero(m, n + m)};
  tangent.state.leftCols(n).setIdentity();
  tangent.parameter.rightCols(m).setIdentity();
  const Heard h = heard(text, start, time);
  CHECK(h.jumps().size() >= 3);
  CHECK(h.log.of(EventKind::impact).size() >= 1);
  HybridState state = state_at(start);
  REQUIRE(model->system(values, {})->advance(state, for_time(time), tangent) == Outcome::ok);
  constexpr double step = 1e-6;
  for (Eigen::Index k = 0; k < n + m; ++k) {
    std::vector<double> up = start, down = start, more = values, less = values;
    (k < n ? up : more)[static_cast<std::size_t>(k < n ? k : k - n)] += step;
    (k < n ? down : less)[static_cast<std::size_t>(k < n ? k : k - n)] -= step;
    const Eigen::VectorXd difference = (end(more, up) - end(less, down)) / (2 * step);
    CAPTURE(k);
    CHECK((difference - tangent.state.col(k)).cwiseAbs().maxCoeff() <=
          1e-7 * (1 + difference.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("jump: one that carries another's trigger through zero sets it off in the same instant",
          "[jumps]") {
  const Heard h =
      heard(clock_with("jump = [{ when = 'x', set = { n = '-1' } }, { when = 'n', set = { n = '-7' } }, "
                       "{ when = 'n + 5', direction = 'up', set = { n = '9' } }]"),
            {1, 0, 3}, 2);
  REQUIRE(h.outcome == Outcome::ok);
  const auto jumps = h.jumps();
  REQUIRE(jumps.size() == 2);
  CHECK(jumps[0].jump == 0);
  CHECK(jumps[1].jump == 1);
  CHECK(jumps[1].time == jumps[0].time);
  CHECK(h.end.x(2) == -7);
}

TEST_CASE("jump: those that set each other off without end are an outcome", "[jumps]") {
  CHECK(heard(clock_with(
                  "jump = [{ when = 'x', set = { x = '1', n = '-1' } }, { when = 'n', set = { n = '1', x = "
                  "'-1' } }]"),
              {1, 0, 3}, 2)
            .outcome == Outcome::event_limit);
  // Without a contact's rule for it, bounces that accumulate do not come to rest.
  const std::string ball =
      "name = 'equations'\ncoordinates = ['y']\nforce = { y = '-1' }\n"
      "jump = [{ when = 'y', set = { y_dot = \"-y'/2\" } }]";
  Tolerance few;
  few.events = 2000;
  HybridState state = state_at({1, 0});
  CHECK(make_system(ball, few)->advance(state, for_time(10), nullptr) == Outcome::event_limit);
}

TEST_CASE("jump: those that accumulate are an outcome, also where nothing but their time shrinks",
          "[jumps]") {
  // p falls at speed 1 and is put back to h, which is halved: all is over at 1 + 2 h; n has grown without
  // end.
  const auto sands = [](const std::string& less) {
    return "name = 'equations'\ncoordinates = ['x']\nstates = ['p', 'h', 'n']\nforce = { x = '-x' }\n"
           "rate = { p = '-1', h = '0', n = '0' }\n"
           "jump = [{ when = 'p', direction = 'down', set = { p = 'h', h = '" +
           less + "', n = 'n + 1' } }]";
  };
  const Heard h = heard(sands("h/2"), {1, 0, 1, 0.5, 0}, 3);
  CHECK(h.outcome == Outcome::event_limit);
  CHECK(h.end.time == Approx(2).margin(1e-10));
  CHECK(h.jumps().size() > 30);
  CHECK(heard(sands("h"), {1, 0, 1, 0.5, 0}, 3).outcome == Outcome::ok);
  // One that leaves its trigger at zero is done with it.
  const Heard once = heard(sands("0"), {1, 0, 1, 0.5, 0}, 3);
  CHECK(once.outcome == Outcome::ok);
  CHECK(once.jumps().size() == 2);
}

TEST_CASE("jump: an impact that turns a velocity passes through that velocity's zero", "[jumps]") {
  const Heard h = heard(
      "name = 'equations'\ncoordinates = ['y']\nstates = ['n']\nforce = { y = '-1' }\nrate = { n = '0' }\n"
      "contact = [{ gap = 'y', restitution = 0.8 }]\n"
      "jump = [{ name = 'blow', when = \"y'\", direction = 'up', set = { n = 'n + 1' } }]",
      {1, 0, 0}, std::sqrt(2.0) + 0.1);
  REQUIRE(h.outcome == Outcome::ok);
  const auto impacts = h.log.of(EventKind::impact);
  REQUIRE(impacts.size() == 1);
  REQUIRE(h.jumps().size() == 1);
  CHECK(h.jumps().front().time == impacts.front().time);
}

TEST_CASE("jump: contacts stand anew after it", "[jumps]") {
  const auto falling = [](const std::string& set) {
    return "name = 'equations'\ncoordinates = ['y']\nforce = { y = '-1 + 0*t' }\nperiod = 10\n"
           "contact = [{ gap = 'y', restitution = 0.5 }]\njump = [{ when = 'sin(2*pi*t/10)', set = { " +
           set + " } }]";
  };
  // At rest until half a period has passed.
  const Heard thrown = heard(falling("y_dot = '1'"), {0, 0}, 5.5);
  REQUIRE(thrown.outcome == Outcome::ok);
  REQUIRE(thrown.jumps().size() == 1);
  CHECK(std::abs(thrown.jumps().front().time - 5) < 1e-12);
  CHECK(thrown.log.of(EventKind::release).size() == 1);
  CHECK(thrown.end.x(0) == Approx(0.5 - 0.125).margin(1e-12));
  const Heard lifted = heard(falling("y = '2'"), {0, 0}, 6);
  CHECK(lifted.log.of(EventKind::release).size() == 1);
  CHECK(lifted.end.x(0) == Approx(1.5).margin(1e-12));
  const Heard held = heard(falling("y = 'y'"), {0, 0}, 6);
  CHECK(held.jumps().size() == 1);
  CHECK(held.log.of(EventKind::release).empty());
  CHECK(held.log.of(EventKind::stick).size() == 1);
  const Heard hit = heard(falling("y_dot = '-1'"), {0, 0}, 5.5);
  REQUIRE(hit.log.of(EventKind::impact).size() >= 1);
  CHECK(hit.log.of(EventKind::impact).front().speed == 1);
  CHECK(hit.log.of(EventKind::impact).front().time == hit.jumps().front().time);
  CHECK(heard(falling("y = '-1'"), {0, 0}, 6).outcome == Outcome::bad_jump);
  CHECK(heard(falling("y = '1/y'"), {0, 0}, 6).outcome != Outcome::ok);
}
