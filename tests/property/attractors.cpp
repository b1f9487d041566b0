/// The classification and the sweep: what is found, and that it depends on nothing but the case.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/maps/attractor.hpp"
#include "analysis/run/analysis.hpp"
#include "analysis/run/axis.hpp"
#include "analysis/run/execute.hpp"
#include "core/lanes/lanes.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

std::unique_ptr<Analysis> make_sweep(const std::string& model, const std::string& keys) {
  Problem problem;
  problem.model = make_model(model);
  problem.start_state.assign(problem.model->states().size(), 0.0);
  problem.seed = 11;
  const Value table = settings("[analysis]\n" + keys).at("analysis");
  for (const AnalysisInfo& info : analyses()) {
    if (info.name != "sweep") continue;
    problem.analysis = checked(table, info.keys, "analysis");
    return info.make(problem);
  }
  throw std::runtime_error("no sweep");
}

/// All values of one array over the whole grid, put together from blocks of about `points`.
std::vector<double> whole(const Analysis& sweep, const char* name, std::size_t points) {
  std::vector<double> all;
  for (const Box& box : sweep.blocks(points)) {
    const auto block = std::get<std::vector<double>>(sweep.compute(box).at(name).values);
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return x == y || (std::isnan(x) && std::isnan(y));
         });
}

AttractorClass kind_of(const std::string& model) {
  const auto system = make_system(model);
  const HybridState start = state_at(std::vector<double>(static_cast<std::size_t>(system->states()), 0.0));
  return find_attractor(PoincareMap(*system, Section{}), start, {}).kind;
}

}  // namespace

TEST_CASE("classes: periodic, chaotic, quasiperiodic, unbounded") {
  CHECK(kind_of("name = 'two_dof_stops'\ndelta = 0.8") == AttractorClass::periodic);
  CHECK(kind_of("name = 'two_dof_stops'\ndelta = 1.47") == AttractorClass::chaotic);
  CHECK(kind_of("name = 'linear_stops'\nmass = [[1]]\ndamping = [[0.3]]\nstiffness = [[1]]\nomega = 0.9\n"
                "force = [{ cosine = [1] }, { order = 1.4142135623730951, cosine = [1] }]") ==
        AttractorClass::quasiperiodic);
  CHECK(kind_of("name = 'linear_stops'\nmass = [[1]]\ndamping = [[-0.3]]\nstiffness = [[1]]\nomega = 0.9\n"
                "force = [{ cosine = [1] }]") == AttractorClass::unbounded);
}

TEST_CASE("a motion that never comes back is unbounded, whether it drifts, falls or is driven in resonance") {
  const std::string free = "name = 'impact_oscillator'\nb = 0\nomega = 1\nF = ";
  for (const double force : {1.0, 1.5, 2.0}) {
    INFO(force);
    CHECK(kind_of(free + fmt_double(force) + "\nk = 0\nstop = 0.5") == AttractorClass::unbounded);
    CHECK(kind_of(free + fmt_double(force) + "\nstop = inf") == AttractorClass::unbounded);
  }
  const std::string falling = "name = 'linear_stops'\nmass = [[1]]\nomega = 1\nforce = [{ cosine = [1] }]\n";
  CHECK(kind_of(falling + "constant = [-0.1]\nstop = [{ normal = [1], position = 1 }]") ==
        AttractorClass::unbounded);
  CHECK(kind_of(falling + "damping = [[0.1]]\nconstant = [-0.1]\nstop = [{ normal = [1], position = 1 }]") ==
        AttractorClass::unbounded);
  // Beats are long, but come to an end; what is damped at all settles, if late.
  CHECK(kind_of(free + "1\nk = 1.02\nstop = inf") == AttractorClass::quasiperiodic);
  CHECK(kind_of("name = 'impact_oscillator'\nb = 1e-3\nomega = 1\nF = 1\nstop = inf") ==
        AttractorClass::periodic);
}

TEST_CASE("no motion that stays around a stable orbit, and never comes to it, is called periodic") {
  // The orbit of period 1 has a basin so small that the chaotic motion around it does not meet it.
  const auto system = make_system(
      "name = 'two_dof_stops'\nm1 = 1\nm2 = 1\nk1 = 1\nk2 = 1\nc1 = 0.1\nc2 = 0.1\nr1 = 0.7\nr2 = 0.7\n"
      "d1 = -0.3\nd2 = 0.1\nA1 = 0.5\nA2 = 0\ndelta = 0.5\nmass_ratio = 1.945");
  AttractorOptions options;
  options.transient = 300;
  const PoincareMap map(*system, Section{});
  Attractor a = find_attractor(map, state_at({0, 0, 0, 0}), options);
  CHECK(a.kind != AttractorClass::periodic);
}

TEST_CASE("transient chaos: what comes after it is found when it is followed, and how long it lasted") {
  const auto settle = [](const std::string& values, double persist) {
    const auto system = make_system("name = 'two_dof_stops'\n" + values);
    AttractorOptions options;
    options.persist = persist;
    return find_attractor(PoincareMap(*system, Section{}), state_at({0, 0, 0, 0}), options);
  };
  const std::string brief = "A1 = 0.4\nA2 = 0.1\ndelta = 0.276";
  const Attractor soon = settle(brief, 1);
  CHECK(soon.kind == AttractorClass::periodic);
  CHECK(soon.orbit.period == 4);
  CHECK(soon.transient_used > 264);  // whether it looked chaotic by then is for rounding to decide
  CHECK(soon.lyapunov < 0);
  CHECK(soon.lyapunov_error == 0);

  const std::string lasting = "d1 = -0.3\nd2 = 0.1\nA1 = 0.5\nA2 = 0\ndelta = 0.5\nmass_ratio = 4.1";
  CHECK(settle(lasting, 0).kind == AttractorClass::chaotic);
  const Attractor late = settle(lasting, 200);
  CHECK(late.kind == AttractorClass::periodic);
  CHECK(late.orbit.period == 1);
  CHECK(late.chaotic_iterates > 776);
}

TEST_CASE("the exponent of a chaotic motion has its standard error, which falls with its length") {
  double misses = 0;
  double error = 0, long_error = 0;
  constexpr int places = 6;
  for (int k = 0; k < places; ++k) {
    const auto system = make_system("name = 'two_dof_stops'\ndelta = " + fmt_double(1.46 + 0.002 * k));
    const PoincareMap map(*system, Section{});
    AttractorOptions options;
    const Attractor one = find_attractor(map, state_at({0, 0, 0, 0}), options);
    options.exponent = 4096;
    const Attractor other = find_attractor(map, state_at({0, 0, 0, 0}), options);
    REQUIRE(one.kind == AttractorClass::chaotic);
    REQUIRE(other.kind == AttractorClass::chaotic);
    CHECK(one.chaotic_iterates >= 512);
    CHECK(other.chaotic_iterates >= 4096);
    const double off = (one.lyapunov - other.lyapunov) / std::hypot(one.lyapunov_error, other.lyapunov_error);
    misses += off * off / places;
    error += one.lyapunov_error / one.lyapunov / places;
    long_error += other.lyapunov_error / other.lyapunov / places;
  }
  CHECK(misses < 3);  // 1 in the mean, of 6 degrees of freedom
  CHECK(misses > 0.1);
  CHECK(error < 0.1);
  CHECK(long_error < 0.5 * error);
}

// Two bodies on dry friction with a spring between them, held by nothing: together they wander, by the same
// way every period.
TEST_CASE("bodies that drift together are periodic but for the drift") {
  const auto system = make_system(
      "name = 'linear_stops'\nomega = 1\nmass = [[1, 0], [0, 1]]\ndamping = [[0.1, -0.1], [-0.1, 0.1]]\n"
      "stiffness = [[1, -1], [-1, 1]]\nconstant = [0.05, 0.05]\nforce = [{ cosine = [1, 0] }, { order = 2, "
      "sine = [0.5, 0] }]\nfriction = [{ direction = [1, 0], amplitude = 0.2 }, { direction = [0, 1], "
      "amplitude = 0.2 }]");
  const PoincareMap map(*system, Section{});
  CHECK(map.dimension() == 3);
  const Attractor a = find_attractor(map, state_at({0, 0, 0, 0}), {});
  REQUIRE(a.kind == AttractorClass::periodic);
  CHECK(a.orbit.multipliers.size() == 3);
  CHECK(spectral_radius(a.orbit) < 1);
  HybridState state = a.orbit.start;
  const Eigen::VectorXd before = state.x;
  for (int k = 0; k < a.orbit.period; ++k) REQUIRE(map.iterate(state) == Outcome::ok);
  CHECK(std::abs(state.x(0) - before(0)) > 1e-3);                   // they have wandered, …
  CHECK(state.x(0) - before(0) == Approx(state.x(2) - before(2)));  // … together
}

TEST_CASE("the exponent of a periodic orbit is the rate of its greatest multiplier") {
  const auto system = make_system("name = 'two_dof_stops'\ndelta = 0.8");
  const Attractor a = find_attractor(PoincareMap(*system, Section{}), state_at({0, 0, 0, 0}), {});
  REQUIRE(a.kind == AttractorClass::periodic);
  CHECK(a.orbit.residual < 1e-12);
  CHECK(a.lyapunov == Approx(std::log(spectral_radius(a.orbit)) / (a.orbit.period * system->period())));
}

TEST_CASE("a sweep does not depend on its blocks, random starts included") {
  const std::string axis =
      "axis = { parameter = 'delta', from = 0.7, to = 1.5, points = 12 }\ntransient = 30\nrecord = 20\n";
  for (const char* more :
       {"", "start = 'random'\nstarts = 3", "axis2 = { parameter = 'r1', values = [0.5, 0.6, 0.8] }"}) {
    INFO(more);
    const auto sweep = make_sweep("name = 'two_dof_stops'", axis + more);
    const auto one = whole(*sweep, "map_state", 1);
    CHECK(one.size() % (12 * 20 * 4) == 0);
    CHECK(same_bits(one, whole(*sweep, "map_state", 5)));
    CHECK(same_bits(one, whole(*sweep, "map_state", 1000)));
  }
}

TEST_CASE("following up and down keeps to a branch where two attractors coexist") {
  // one mass between two stops: a wide orbit that hits, and the linear one that does not
  const std::string model =
      "name = 'linear_stops'\nmass = [[1]]\ndamping = [[0.02]]\nstiffness = [[1]]\nomega = 1\n"
      "force = [{ cosine = [0.1] }]\nstop = [{ normal = [1], position = 1, restitution = 0.9 }]";
  const std::string axis = "axis = { parameter = 'omega', from = 1.02, to = 1.4, points = 77 }\nstart = ";
  const auto impacts = [&](const char* start) {
    const auto sweep = make_sweep(model, axis + start);
    std::vector<std::int64_t> all;
    for (const Box& box : sweep->blocks(1)) {
      const auto block = std::get<std::vector<std::int64_t>>(sweep->compute(box).at("impacts").values);
      all.insert(all.end(), block.begin(), block.end());
    }
    return all;
  };
  const auto up = impacts("'follow_up'");
  const auto down = impacts("'follow_down'");
  const auto both = impacts("'follow_both'");
  REQUIRE(both.size() == up.size() + down.size());
  CHECK(std::equal(up.begin(), up.end(), both.begin()));
  CHECK(std::equal(down.begin(), down.end(), both.begin() + static_cast<std::ptrdiff_t>(up.size())));
  CHECK(up.front() > 0);
  CHECK(down.back() == 0);
  CHECK(up != down);
}

// Where the body sticks to the stop its gap is zero but for rounding, on either side of zero.
TEST_CASE("a followed sweep goes on from a body at rest on an oblique stop") {
  const std::string model =
      "name = 'linear_stops'\nmass = [[1, 0], [0, 1]]\ndamping = [[0.4, 0], [0, 0.4]]\nstiffness = [[1, 0], "
      "[0, "
      "1]]\nomega = 1\nconstant = [0.61, 0.83]\nforce = [{ cosine = [0.3, -0.2] }]\n"
      "stop = [{ normal = [0.61, 0.83], position = 0.4, restitution = 0.5 }]";
  const auto system = make_system(model);
  HybridState state = state_at({0, 0, 0, 0});
  REQUIRE(find_attractor(PoincareMap(*system, Section{}), state, {}).kind == AttractorClass::periodic);
  int behind = 0;
  for (int k = 0; k < 60; ++k) {
    REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
    Eigen::VectorXd gap, rate;
    system->gaps(state, gap, rate);
    behind += gap(0) < 0 ? 1 : 0;
    CHECK(may_start(*system, state));
    // The same motion from there, however it stands.
    HybridState again = state;
    again.settled = false;
    HybridState on = state;
    REQUIRE(system->advance(again, Section{}, nullptr) == Outcome::ok);
    REQUIRE(system->advance(on, Section{}, nullptr) == Outcome::ok);
    CHECK((again.x - on.x).cwiseAbs().maxCoeff() < 1e-12);
  }
  CHECK(behind > 0);
}

TEST_CASE("random starts of which none is admissible are told, not used") {
  const auto sweep = make_sweep("name = 'two_dof_stops'",
                                "axis = { parameter = 'delta', values = [0.7, 0.8] }\nstart = 'random'\n"
                                "low = [-9, 0, 5, 0]\nhigh = [-8, 0, 6, 0]\ntransient = 5\nrecord = 20");
  for (const Box& box : sweep->blocks(2)) {
    const Dataset block = sweep->compute(box);
    for (const std::int8_t outcome : std::get<std::vector<std::int8_t>>(block.at("outcome").values)) {
      CHECK(outcome == static_cast<std::int8_t>(Outcome::bad_start));
    }
  }
}

TEST_CASE("the impact map and a level section see the same periodic orbits as the stroboscopic map") {
  const std::string axis = "axis = { parameter = 'delta', values = [0.7, 0.8] }\n";
  const auto lyapunov = [&](const std::string& map) {
    return whole(*make_sweep("name = 'two_dof_stops'", axis + map), "lyapunov", 1);
  };
  const auto stroboscopic = lyapunov("");
  for (const char* map :
       {"map = 'impact'\ncontact = '1'\nside = 'before'", "map = 'impact'\ncontact = '1'\nside = 'after'",
        "map = 'section'\ncoordinate = 'x2'\nlevel = -0.2\ndirection = 'down'"}) {
    INFO(map);
    const auto other = lyapunov(map);
    for (std::size_t i = 0; i < other.size(); ++i) CHECK(other[i] == Approx(stroboscopic[i]).epsilon(1e-8));
  }
}

TEST_CASE("boxes cover every point once") {
  for (const std::size_t points :
       {std::size_t{1}, std::size_t{4}, std::size_t{7}, std::size_t{35}, std::size_t{1000}}) {
    std::vector<int> seen(3 * 5 * 7, 0);
    for (const Box& box : split({3, 5, 7}, points)) {
      CHECK(box.points() <= std::max<std::size_t>(points, 1));
      for (std::size_t i = 0; i < box.count[0]; ++i)
        for (std::size_t j = 0; j < box.count[1]; ++j)
          for (std::size_t k = 0; k < box.count[2]; ++k)
            ++seen[((box.offset[0] + i) * 5 + box.offset[1] + j) * 7 + box.offset[2] + k];
    }
    CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
  }
}

namespace {

/// Keeps the blocks of a run.
class Kept final : public Sink {
 public:
  explicit Kept(std::size_t count) : blocks_(count) {}
  bool has(std::size_t) const override { return false; }
  void put(std::size_t index, const Dataset& block) override { blocks_[index] = block; }

  /// The bytes of every array over the whole grid.
  std::map<std::string, std::string> bytes() const {
    std::map<std::string, std::string> all;
    for (const Dataset& block : blocks_) {
      for (const Array& array : block.arrays) {
        const auto append = [&](const auto& values) {
          all[array.name].append(reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof values[0]);
        };
        std::visit(append, array.values);
      }
    }
    return all;
  }

 private:
  std::vector<Dataset> blocks_;
};

}  // namespace

TEST_CASE("a sweep is the same to the last bit on any number of threads, in blocks of any size") {
  const std::string keys =
      "axis = { parameter = 'delta', from = 0.6, to = 1.5, points = 150 }\ntransient = 30\nrecord = 20\n";
  const auto sweep = make_sweep("name = 'two_dof_stops'", keys);
  for (const std::string& kernel : lane_kernels()) {
    choose_lane_kernel(kernel);
    std::map<std::string, std::string> first;
    for (const auto& [threads, points] : {std::pair{1, 150}, {2, 1}, {2, 16}, {3, 7}, {1, 140}}) {
      const std::vector<Box> blocks = sweep->blocks(static_cast<std::size_t>(points));
      Kept kept(blocks.size());
      Execution execution;
      execution.threads = threads;
      REQUIRE(execute(*sweep, blocks, kept, execution));
      const std::map<std::string, std::string> here = kept.bytes();
      if (first.empty()) first = here;
      INFO(kernel << ", " << threads << " threads, blocks of " << points);
      CHECK(here == first);
    }
    CHECK(first.at("map_state").size() == 150 * 20 * 4 * sizeof(double));
  }
  choose_lane_kernel("");
}

TEST_CASE("attractors: a motion that comes to rest on its section meets it no more") {
  // x'' = 1 − x − c x' rests at 1, where x' = 0 is a section whatever its direction.
  for (const double c : {0.02, 0.05, 0.2, 0.5}) {
    const auto system = make_system("name = 'equations'\ncoordinates = ['x']\nforce = { x = \"1 - x - " +
                                    fmt_double(c) + "*x'\" }");
    for (const int direction : {-1, 1}) {
      const PoincareMap map(*system, at_level(1, 0, direction));
      const Attractor found = find_attractor(map, state_at({2, 0}), {});
      CAPTURE(c, direction);
      CHECK(found.kind == AttractorClass::failed);
      CHECK(found.outcome == Outcome::no_return);
    }
  }
}

TEST_CASE("attractors: what moves in the section's own coordinate only does not rest") {
  // A clock s beside a body that comes to rest: all that is left on the section is the body.
  const auto system = make_system(
      "name = 'equations'\ncoordinates = ['x']\nstates = ['s']\nforce = { x = \"1 - x - x'\" }\nrate = { s = "
      "1 }\n"
      "jump = [{ when = 's - 2', direction = 'up', set = { s = 's - 2' } }]");
  const PoincareMap map(*system, at_level(2, 1, 1));
  const Attractor found = find_attractor(map, state_at({0, 0, 0}), {});
  CHECK(found.kind == AttractorClass::periodic);
  CHECK(found.orbit.period == 1);
  CHECK(found.lyapunov == Approx(-0.5).epsilon(1e-6));
}
