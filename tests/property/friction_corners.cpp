/// Corners of maps with friction: where two courses of an impact or of a slide meet, the end of the motion is
/// continuous and has a derivative to either side; at the corner itself one of the two is told.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "core/math/dual.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

using std::numbers::pi;
using Varied = Dual<1>;

/// A family of motions over one number s: how each starts, and the parameters it has.
struct Family {
  std::shared_ptr<const Model> model;
  double time;
  std::function<void(const Varied& s, std::vector<Varied>& start, std::vector<Varied>& parameters)> set;

  struct Motion {
    Eigen::VectorXd end, slope;  ///< state, and its derivative by s
    Log log;
  };
  Motion at(double s) const {
    const std::vector<double> plain = model->values();
    Varied varied(s);
    varied.slope[0] = 1;
    std::vector<Varied> start(4), parameters(plain.begin(), plain.end());
    set(varied, start, parameters);
    Tangent tangent;
    tangent.state = Eigen::MatrixXd::Zero(4, 1);
    tangent.time = Eigen::RowVectorXd::Zero(1);
    tangent.parameter = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(plain.size()), 1);
    std::vector<double> x, values;
    for (std::size_t i = 0; i < 4; ++i) {
      x.push_back(start[i].value);
      tangent.state(static_cast<Eigen::Index>(i), 0) = start[i].slope[0];
    }
    for (std::size_t i = 0; i < plain.size(); ++i) {
      values.push_back(parameters[i].value);
      tangent.parameter(static_cast<Eigen::Index>(i), 0) = parameters[i].slope[0];
    }
    const auto system = model->system(values, {});
    Motion motion;
    HybridState state = state_at(x);
    REQUIRE(system->advance(state, for_time(time), &motion.log) == Outcome::ok);
    motion.end = state.x;
    state = state_at(x);
    REQUIRE(system->advance(state, for_time(time), tangent) == Outcome::ok);
    motion.slope = tangent.state.col(0);
    return motion;
  }
  /// Difference quotient at the corner s = 0 from one side, of fourth order.
  Eigen::VectorXd quotient(double side) const {
    constexpr double h = 1e-4;
    const auto end = [&](double steps) { return at(side * h * steps).end; };
    return side * (-25 * end(0) + 48 * end(1) - 36 * end(2) + 16 * end(3) - 3 * end(4)) / (12 * h);
  }
};

double apart(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return (a - b).cwiseAbs().maxCoeff(); }

/// Derivatives below and above s = 0 against difference quotients of the two sides.
std::array<Eigen::VectorXd, 2> one_sided(const Family& family) {
  std::array<Eigen::VectorXd, 2> slopes;
  for (const std::size_t k : {0u, 1u}) {
    const double side = k == 0 ? -1 : 1;
    slopes[k] = family.at(side * 1e-10).slope;
    const Eigen::VectorXd quotient = family.quotient(side);
    CAPTURE(side, slopes[k], quotient);
    CHECK(apart(slopes[k], quotient) < 1e-7 * std::max(1.0, quotient.cwiseAbs().maxCoeff()));
  }
  CHECK(apart(slopes[0], slopes[1]) > 0.01);
  return slopes;
}

}  // namespace

TEST_CASE("corners of the oblique impact: both one-sided derivatives, and which is told at the corner") {
  // A start on the contact with approach: the impact is at once. u: slip, x: velocity of the block.
  const auto model =
      make_model("name = 'oblique_pendulum'\nmu = 0.6\nclearance = 0.2\nmass_ratio = 0.6\nr = 0.6");
  const auto index = [&](const char* name) { return static_cast<std::size_t>(model->parameter_index(name)); };
  constexpr double angle = 0.6;
  const double c = std::cos(angle), sine = std::sin(angle), ahead = c + 0.6 * sine, u = 0.7;
  const auto on_contact = [=](std::vector<Varied>& start, const Varied& slip, const Varied& block) {
    start = {Varied(angle), slip, Varied(sine - 0.2), block};
  };
  const auto at_stop = [=](double share) { return u * c - u / ahead * (0.6 + c * ahead) / share; };
  constexpr double time = 2;
  struct Corner {
    const char* name;
    Family family;
    int told;  ///< −1: the side of negative s; 1: of positive; 0: rounding decides
  };
  for (const Corner& corner : {
           Corner{"slip stops as compression ends",
                  {model, time,
                   [&](const Varied&s, auto&start, auto&) {
                     on_contact(start, Varied(u), Varied(at_stop(1)) + s);
                   }},
                  0},
           Corner{"slip stops as the impact ends",
                  {model, time,
                   [&](const Varied&s, auto&start, auto&) {
                     on_contact(start, Varied(u), Varied(at_stop(1.6)) + s);
                   }},
                  0},
           Corner{
               "no slip at the start: as forward slip",
               {model, time, [&](const Varied&s, auto&start, auto&) { on_contact(start, s, Varied(-0.3)); }},
               1},
           Corner{"the limit of locking: as locked",
                  {model, time,
                   [&](const Varied&s, auto&start, auto&parameters) {
                     on_contact(start, Varied(u), Varied(-0.5));
                     parameters[index("mu")] = Varied(c / sine) + s;
                   }},
                  0},
           Corner{"the arm is straight: as theta > 0",
                  {model, time,
                   [&](const Varied&s, auto&start, auto&parameters) {
                     using std::sin;
                     start = {s, Varied(0.7), Varied(0), Varied(-0.1)};
                     parameters[index("clearance")] = sin(s);
                   }},
                  1},
       }) {
    CAPTURE(corner.name);
    const auto slopes = one_sided(corner.family);
    const Eigen::VectorXd told = corner.family.at(0).slope;
    const double below = apart(told, slopes[0]), above = apart(told, slopes[1]);
    CAPTURE(below, above);
    if (corner.told != 0) CHECK((corner.told < 0 ? below : above) < 1e-8);
    CHECK(std::min(below, above) < 1e-8);
  }
}

TEST_CASE("corner of planar friction: a slide that comes to rest just before a wall, or just after it") {
  // Alone with friction: v²/(2f) from the start; beyond the wall at 1/2 it comes back by r² of the rest.
  const double r = 0.7;
  for (const char* engine : {"", "step = 0.01\n"}) {
    CAPTURE(engine);
    const auto model = make_model(
        std::string("name = 'planar_friction'\nkx = 0\nky = 0\ncx = 0\ncy = 0\nex = 0\ney = 0\nfriction = 1\n"
                    "x_left = -1\nx_right = 0.5\nr = 0.7\n") +
        engine);
    const auto parameter = [&](const char* name) {
      return static_cast<std::size_t>(model->parameter_index(name));
    };
    struct Direction {
      const char* name;
      double short_of_wall, beyond;  ///< derivatives of the place of rest
      double beyond_side;
    };
    for (const Direction& d : {Direction{"vx", 1, -r * r, 1}, Direction{"friction", -0.5, r * r / 2, -1},
                               Direction{"x_right", 0, 1 + r * r, -1}}) {
      CAPTURE(d.name);
      const Family family{model, 3, [&](const Varied& s, auto& start, auto& parameters) {
                            const bool speed = std::string(d.name) == "vx";
                            start = {Varied(0), Varied(0), speed ? Varied(1) + s : Varied(1), Varied(0)};
                            if (!speed) parameters[parameter(d.name)] += s;
                          }};
      const auto slopes = one_sided(family);
      const std::size_t far = d.beyond_side > 0 ? 1 : 0;
      CHECK(slopes[far](0) == Approx(d.beyond).margin(1e-8));
      CHECK(slopes[1 - far](0) == Approx(d.short_of_wall).margin(1e-8));
      // At the corner one of the two, or that of the wall when the mass is found to rest on it.
      const double told = family.at(0).slope(0);
      CHECK(told > std::min(d.short_of_wall, d.beyond) - 1e-8);
      CHECK(told < std::max(d.short_of_wall, d.beyond) + 1e-8);
    }
  }
}

TEST_CASE("planar friction: at rest on a wall that it neither presses nor pulls the mass just stays") {
  // All that is watched of the wall is zero for ever.
  const auto system = make_system(
      "name = 'planar_friction'\nkx = 0\nex = 0\ney = 0\nfriction = 1\nx_left = -1\nx_right = 0.5\n");
  HybridState state = state_at({0.5, 0.01, 0, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(3), &log) == Outcome::ok);
  CHECK(state.x == state_at({0.5, 0.01, 0, 0}).x);
  CHECK(log.of(EventKind::slip_to_stick).size() == 1);
  CHECK(log.of(EventKind::release).empty());
}

TEST_CASE("corner of a slide whose speed touches zero: with and without a stick") {
  // Along the slide m v' = cos t / 2, friction taken off: v = v0 + sin t / 2. From v0 = 1/2 on it never
  // stops; below it sticks from t1, v(t1) = 0, until 3π/2, where the force exceeds friction again.
  const double time = 8;
  struct Slide {
    const char* name;
    std::shared_ptr<const Model> model;
    std::vector<double> start;
    Eigen::Index position, velocity;
    double closest;  ///< in the plane digits are lost closer to the corner: the slide has a clock of its own
  };
  const std::string plane =
      "name = 'planar_friction'\nkx = 0\nky = 0\ncx = 0\ncy = 0\nfriction = 1\nomega_x = 0\nomega_y = 0\n"
      "phase_y = " +
      fmt_double(pi / 2) + "\nomega_mod = 1\n";
  for (const Slide& slide :
       {Slide{"in the plane",
              make_model(plane + "ex = 1\nmod_x = 0.5\ney = 0\nmod_y = 0\nx_left = -inf\nx_right = inf"),
              {0, 0, 0.5, 0},
              0,
              2,
              1e-6},
        Slide{"along a wall",
              make_model(plane + "ex = 3\nmod_x = 0\ney = 1\nmod_y = 0.5\nx_left = -inf\nx_right = 1"),
              {1, 0, 0, 0.5},
              1,
              3,
              1e-9},
        Slide{"dry friction of a linear system",
              make_model("name = 'linear_stops'\nomega = 1\nmass = [[1, 0], [0, 1]]\nconstant = [1, 0]\n"
                         "force = [{ cosine = [0.5, 0] }]\n"
                         "friction = [{ direction = [1, 0], amplitude = 1 }]"),
              {0, 0.5, 0, 0},
              0,
              1,
              1e-9}}) {
    CAPTURE(slide.name);
    const Family family{slide.model, time, [&](const Varied& s, auto& start, auto&) {
                          start.assign(slide.start.begin(), slide.start.end());
                          start[static_cast<std::size_t>(slide.velocity)] += s;
                        }};
    for (const double s : {0.1, 1e-3, 1e-6, 1e-9}) {
      CAPTURE(s);
      if (s < slide.closest) continue;
      const auto passes = family.at(s);
      CHECK(passes.log.of(EventKind::slip_to_stick).empty());
      CHECK(passes.slope(slide.position) == Approx(time).margin(1e-9));
      CHECK(passes.slope(slide.velocity) == Approx(1).margin(1e-9));
      const auto sticks = family.at(-s);
      REQUIRE(sticks.log.of(EventKind::slip_to_stick).size() == 1);
      const double t1 = sticks.log.of(EventKind::slip_to_stick)[0].time;
      CHECK(std::sin(t1) == Approx(2 * s - 1).margin(1e-12));
      CHECK(sticks.log.of(EventKind::stick_to_slip).at(0).time == Approx(1.5 * pi).margin(1e-9));
      CHECK(sticks.slope(slide.position) == Approx(t1).margin(1e-9));
      CHECK(std::abs(sticks.slope(slide.velocity)) < 1e-9);
    }
    // At the corner itself one of the two, T and 1 or 3π/2 and 0.
    const auto told = family.at(0);
    const bool as_passing = told.slope(slide.velocity) > 0.5;
    CHECK(told.slope(slide.velocity) == Approx(as_passing ? 1 : 0).margin(1e-7));
    CHECK(told.slope(slide.position) == Approx(as_passing ? time : 1.5 * pi).margin(1e-5));
  }
}
