/// Periodic orbits of bodies that drift: solved for as a boundary-value problem, against the map itself.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "analysis/continuation/solution.hpp"
#include "analysis/maps/poincare_map.hpp"
#include "core/math/spectra.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Of a model, its frequency free.
Family family_of(const std::string& toml) {
  Family family;
  family.model = make_model(toml);
  family.values = family.model->values();
  const auto& parameters = family.model->parameters();
  const auto place = std::find_if(parameters.begin(), parameters.end(),
                                  [](const Parameter& p) { return p.name == "omega"; });
  family.parameter = static_cast<int>(place - parameters.begin());
  return family;
}

std::vector<std::complex<double>> sorted(std::vector<std::complex<double>> list) {
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::pair(-std::abs(a), a.imag()) < std::pair(-std::abs(b), b.imag());
  });
  return list;
}

}  // namespace

TEST_CASE("drifting bodies: orbits that close but for their drift, with the multipliers of the map",
          "[drift]") {
  struct Example {
    const char* model;
    double omega;
    int periods;
  };
  for (const Example& e : {Example{"vibro_impact_capsule", 0.8, 1}, Example{"vibro_impact_capsule", 0.95, 1},
                           Example{"vibro_impact_capsule", 0.72, 2}, Example{"impact_drilling", 0.1, 2}}) {
    CAPTURE(e.model, e.omega);
    const Family family = family_of("name = '" + std::string(e.model) + "'");
    const auto system = family.system(e.omega);
    HybridState state = state_at({0, 0, 0, 0});
    for (int k = 0; k < 600; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
    const auto found = find_orbit(family, {e.omega, state.x, e.periods, 0, 0});
    REQUIRE(found);
    REQUIRE(found->point.multipliers.size() == 3);  // of four states, one of them counts no more
    const PoincareMap map(*system, Section{});
    REQUIRE(map.dimension() == 3);
    HybridState on = state_at({found->point.state.begin(), found->point.state.end()},
                              std::fmod(found->point.phase, 1) * system->period());
    for (int k = 0; on.time > 0 && k < 1; ++k)
      REQUIRE(system->advance(on, Section{}, nullptr) == Outcome::ok);
    const HybridState begin = on;
    Eigen::MatrixXd J = Eigen::MatrixXd::Identity(3, 3);
    for (int k = 0; k < e.periods; ++k) REQUIRE(map.iterate(on, J) == Outcome::ok);
    CHECK(map.distance(on, begin, 1) < 1e-10);
    CHECK((on.x - begin.x).cwiseAbs().maxCoeff() > 1e-3);  // it does drift
    const Eigen::VectorXcd values = eigenvalues_of(J);
    const auto expected = sorted({values.begin(), values.end()});
    const auto got = sorted(found->point.multipliers);
    for (std::size_t k = 0; k < 3; ++k) {
      CAPTURE(k, expected[k], got[k]);
      CHECK(std::abs(expected[k] - got[k]) < 1e-8);
    }
  }
}

/// At the period doubling that `continue` locates a multiplier is −1.
TEST_CASE("drifting bodies: a located period doubling has a multiplier of -1", "[drift]") {
  const Family family = family_of("name = 'vibro_impact_capsule'");
  const double omega = 0.7563408592583;
  const auto system = family.system(omega + 1e-4);
  HybridState state = state_at({0, 0, 0, 0});
  for (int k = 0; k < 600; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
  const auto found = find_orbit(family, {omega, state.x, 1, 0, 0});
  REQUIRE(found);
  double nearest = 1;
  for (const auto& m : found->point.multipliers) nearest = std::min(nearest, std::abs(m + 1.0));
  CHECK(nearest < 1e-8);
}
