/// A system that remembers, and analyses whose motions go side by side: all as if every motion were computed
/// from beginning to end and alone.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "analysis/run/points.hpp"
#include "core/lanes/lanes.hpp"
#include "core/system/memoising_system.hpp"
#include "tests/analyses.hpp"
#include "tests/lane_starts.hpp"

using namespace graze;
using namespace graze::test;

namespace {

bool same_bits(const HybridState& a, const HybridState& b) {
  const auto numbers = [](double p, double q) { return equal_bits(p, q); };
  const auto touches = [](const Touch& p, const Touch& q) {
    return p.order == q.order && equal_bits(p.speed, q.speed) && equal_bits(p.root, q.root);
  };
  return equal_bits(a.time, b.time) && a.turns == b.turns && a.mode == b.mode && a.settled == b.settled &&
         std::equal(a.x.begin(), a.x.end(), b.x.begin(), b.x.end(), numbers) &&
         std::equal(a.touches.begin(), a.touches.end(), b.touches.begin(), b.touches.end(), touches);
}

/// Follows one motion with and without a memory, the latter in a fresh system each time; returns the share of
/// the iterates that were known, or −1 when the two disagree.
double known_share(const std::string& model, const std::vector<double>& start, int iterates,
                   const Section& section = {}) {
  RecallingSystem remembering(make_system(model));
  const auto made = make_model(model);
  HybridState state = state_at(start);
  HybridState computed = state;
  for (int k = 0; k < iterates; ++k) {
    const Outcome outcome = remembering.advance(state, section, nullptr);
    const auto fresh = made->system(made->values(), Tolerance{});
    if (fresh->advance(computed, section, nullptr) != outcome || !same_bits(state, computed)) return -1;
    if (outcome != Outcome::ok) break;
  }
  return static_cast<double>(remembering.recalled()) / iterates;
}

std::unique_ptr<Analysis> make_analysis(const std::string& name, const std::string& model,
                                        const std::string& keys) {
  return graze::test::make_analysis(name, make_problem(name, model, keys));
}

/// An array over the whole grid from these blocks.
template <class T>
std::vector<T> whole(const Analysis& analysis, const std::string& name, const std::vector<Box>& boxes) {
  const Dataset layout = analysis.layout();
  std::vector<std::size_t> extents;
  for (const std::string& dimension : analysis.point_dimensions()) extents.push_back(layout.size(dimension));
  const std::size_t points = Box{{}, extents}.points();
  const std::size_t width = layout.elements(layout.at(name)) / points;
  std::vector<T> all(points * width);
  for (const Box& box : boxes) {
    const Dataset block = analysis.compute(box);
    for (std::size_t k = 0; k < box.points(); ++k) {
      std::size_t point = 0;
      const std::vector<std::size_t> place = place_in(box, k);
      for (std::size_t d = 0; d < place.size(); ++d) point = point * extents[d] + place[d];
      const T* row = row_of<T>(block, name.c_str(), k, width);
      std::copy(row, row + width, all.begin() + static_cast<std::ptrdiff_t>(point * width));
    }
  }
  return all;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0 : HUGE_VAL;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    if (std::isnan(a[k]) && std::isnan(b[k])) continue;
    const double d = std::abs(a[k] - b[k]);
    largest = d <= largest ? largest : d;
  }
  return largest;
}

/// Whether an analysis says the same whichever kernel its motions march by, labels and orbits.
void check_kernels(const Analysis& analysis, const std::vector<std::string>& numbers) {
  const KernelKept kept;
  choose_lane_kernel("none");
  const std::vector<Box> boxes = analysis.blocks(64);
  const auto attractor = whole<std::int8_t>(analysis, "attractor", boxes);
  const auto period = whole<std::int32_t>(analysis, "period", boxes);
  CHECK(std::count(attractor.begin(), attractor.end(), std::int8_t{1}) > 0);
  std::vector<std::vector<double>> alone;
  for (const std::string& name : numbers) alone.push_back(whole<double>(analysis, name, boxes));
  for (const std::string& kernel : lane_kernels()) {
    INFO(kernel);
    choose_lane_kernel(kernel);
    CHECK(whole<std::int8_t>(analysis, "attractor", boxes) == attractor);
    CHECK(whole<std::int32_t>(analysis, "period", boxes) == period);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      INFO(numbers[k]);
      CHECK(largest_difference(whole<double>(analysis, numbers[k], boxes), alone[k]) < 1e-9);
    }
  }
}

const std::string two_masses = "name = 'two_dof_stops'\nd1 = -0.3\nd2 = 0.1\ndelta = ";

/// One mass that may hit its stop or not, according to where it starts.
const std::string coexistence =
    "name = 'linear_stops'\nmass = [[1]]\ndamping = [[0.05]]\nstiffness = [[1]]\nomega = 1.2\n"
    "force = [{ cosine = [0.1] }]\nstop = [{ normal = [1], position = 1, restitution = 0.9 }]";

}  // namespace

TEST_CASE("recall: what a system remembers is what it would compute, to the last bit") {
  // Sticking motions come back after a few periods, smooth ones seldom, chaos never.
  CHECK(known_share(two_masses + "0.16", {0, 0, 0, 0}, 200) > 0.8);
  CHECK(known_share(two_masses + "0.3", {0, 0, 0, 0}, 200) > 0.6);
  CHECK(known_share(two_masses + "0.5", {0, 0, 0, 0}, 200) >= 0);
  CHECK(known_share(two_masses + "0.717", {0, 0, 0, 0}, 200) == 0);
}

TEST_CASE("recall: whatever engine moves the system") {
  // Dry friction, power series, oblique impact, two ways to slide on a plane, a compliant contact.
  CHECK(known_share("name = 'two_dof_stops'\ndelta = 1.48\nf1 = 0.4", {0, 0, 0, 0}, 150) > 0.1);
  CHECK(known_share("name = 'two_pendulums'\ngravity = 1\ne = 0.6\ndamping1 = 0.3\ndamping2 = 0.3\n"
                    "torque1 = 0.8\nfrequency = 1",
                    {0, 0, 0, 0}, 80) >= 0);
  CHECK(known_share("name = 'oblique_pendulum'\nmu = 1.5\neta = 0.65", {0, 0, 0, 0}, 60) >= 0);
  CHECK(known_share("name = 'planar_friction'", {0, 0, 0, 0}, 30) >= 0);
  CHECK(known_share("name = 'planar_friction'\nstep = 0.01", {0, 0, 0, 0}, 30) >= 0);
  CHECK(known_share("name = 'rod_on_ground'\nstiffness = 1e7\ndamping = 30\nmu = 0.3\nground_frequency = 150",
                    {0, 0.003, 0.02, 0, 0, 0}, 20) >= 0);
  // Autonomous: time goes on, so no state comes back.
  CHECK(known_share("name = 'relief_valve'\nq = 5", {0.2, 0, 0}, 20, for_time(1)) == 0);
}

TEST_CASE("recall: other maps") {
  Section impact;
  impact.kind = Section::Kind::impact_after;
  impact.contact = 1;
  CHECK(known_share(two_masses + "0.3", {0, 0, 0, 0}, 400, impact) >= 0);
  impact.kind = Section::Kind::impact_before;
  CHECK(known_share(two_masses + "0.8", {0, 0, 0, 0}, 200, impact) >= 0);
  CHECK(known_share(two_masses + "0.3", {0, 0, 0, 0}, 200, at_level(2, -0.2, 1)) >= 0);
}

TEST_CASE("recall: a memory holds one map only, and nothing under an observer") {
  RecallingSystem system(make_system(two_masses + "0.16"));
  HybridState state = state_at({0, 0, 0, 0});
  for (int k = 0; k < 100; ++k) REQUIRE(system.advance(state, Section{}, nullptr) == Outcome::ok);
  const std::size_t known = system.recalled();
  CHECK(known > 50);
  Section quarter;
  quarter.kind = Section::Kind::time;
  quarter.interval = system.period() / 4;
  HybridState part = state;
  REQUIRE(system.advance(part, quarter, nullptr) == Outcome::ok);
  CHECK(system.recalled() == known);
  CHECK(part.time == Approx(quarter.interval));
  REQUIRE(system.advance(state, Section{}, nullptr) == Outcome::ok);
  CHECK(system.recalled() == known);
  Log log;
  REQUIRE(system.advance(state, Section{}, &log) == Outcome::ok);
  CHECK(system.recalled() == known);
  CHECK_FALSE(log.entries.empty());
}

TEST_CASE("recall: lanes march the same with and without it") {
  const KernelKept kept;
  for (const std::string& kernel : lane_kernels()) {
    choose_lane_kernel(kernel);
    std::vector<std::unique_ptr<System>> systems[2];
    std::vector<LaneMotion> motions[2];
    for (int k = 0; k < 40; ++k) {
      const std::string model = two_masses + fmt_double(0.1 + 0.02 * k);
      for (int side = 0; side < 2; ++side) {
        auto system = make_system(model);
        systems[side].push_back(side == 0 ? std::move(system) : recalling(std::move(system)));
        motions[side].push_back({systems[side].back().get(), state_at({0, 0, 0, 0}), Outcome::ok, {}, {}});
      }
    }
    for (int side = 0; side < 2; ++side) Lanes(motions[side]).advance(60, true);
    std::size_t known = 0;
    int different = 0;
    for (std::size_t k = 0; k < motions[0].size(); ++k) {
      different += same_bits(motions[0][k].state, motions[1][k].state) ? 0 : 1;
      different += motions[0][k].points == motions[1][k].points ? 0 : 1;
      known += dynamic_cast<RecallingSystem&>(*systems[1][k]).recalled();
    }
    INFO(kernel);
    CHECK(different == 0);
    CHECK(known > 100);
  }
}

TEST_CASE("basins are the same whichever kernel the motions march by") {
  check_kernels(*make_analysis("basins", coexistence,
                               "axis = { state = 'x1', from = -3, to = 0.9, points = 14 }\n"
                               "axis2 = { state = 'v1', from = -3, to = 3, points = 14 }\n"
                               "transient = 60\nrecord = 20"),
                {"orbit_state", "state_low", "state_high"});
}

TEST_CASE("followed sweeps are the same whichever kernel the motions march by") {
  check_kernels(*make_analysis("sweep", coexistence,
                               "axis = { parameter = 'omega', from = 1.1, to = 1.4, points = 30 }\n"
                               "start = 'follow_both'\ntransient = 60\nrecord = 20"),
                {"map_state", "stick_fraction_all"});
}

TEST_CASE("followed sweeps over two parameters: chains side by side are each as alone") {
  const auto sweep = make_analysis("sweep", two_masses + "0.8",
                                   "axis = { parameter = 'delta', from = 0.75, to = 0.85, points = 4 }\n"
                                   "axis2 = { parameter = 'r1', from = 0.5, to = 0.8, points = 33 }\n"
                                   "start = 'follow_both'\ntransient = 30\nrecord = 20");
  const std::vector<Box> together = sweep->blocks(1);
  CHECK(together.size() < 66);
  std::vector<Box> alone;
  for (const Box& box : sweep->blocks(1)) {
    REQUIRE(box.count[1] == 4);
    for (std::size_t k = 0; k < box.count[2]; ++k)
      alone.push_back({{box.offset[0], 0, box.offset[2] + k}, {1, 4, 1}});
  }
  CHECK(alone.size() == 66);
  const auto a = whole<double>(*sweep, "map_state", together);
  const auto b = whole<double>(*sweep, "map_state", alone);
  CHECK(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}
