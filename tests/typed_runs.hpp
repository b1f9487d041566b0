/// Motions of typed systems, with their events and derivatives, and whether two are alike.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/models/equations/typed_model.hpp"
#include "tests/support.hpp"

namespace graze::test {

/// Events and ends of one motion, and its derivatives by the start.
struct Run {
  Log log;
  HybridState end;
  Outcome outcome;
  Eigen::VectorXd forces;  ///< of the contacts, at the end
  Eigen::MatrixXd slopes;
};

inline Run run(System& system, const std::vector<double>& start, double time) {
  Run r;
  r.end = state_at(start);
  r.outcome = system.advance(r.end, for_time(time), &r.log);
  r.forces = system.contact_forces(r.end);
  HybridState state = state_at(start);
  const Eigen::Index n = state.x.size();
  Tangent tangent{Eigen::MatrixXd::Identity(n, n), Eigen::RowVectorXd::Zero(n), {}};
  CHECK(system.advance(state, for_time(time), tangent) == r.outcome);
  r.slopes = tangent.state;
  return r;
}

inline void check_alike(const Run& a, const Run& b, double tolerance) {
  REQUIRE(a.outcome == b.outcome);
  REQUIRE(a.log.entries.size() == b.log.entries.size());
  for (std::size_t k = 0; k < a.log.entries.size(); ++k) {
    const auto& x = a.log.entries[k];
    const auto& y = b.log.entries[k];
    CHECK(x.kind == y.kind);
    CHECK(x.contact == y.contact);
    CHECK(x.friction == y.friction);
    CHECK(std::abs(x.time - y.time) <= tolerance);
    const bool has_speed = !std::isnan(x.speed);
    CHECK(has_speed == !std::isnan(y.speed));
    if (has_speed) CHECK(std::abs(x.speed - y.speed) <= tolerance);
  }
  CHECK((a.end.x - b.end.x).cwiseAbs().maxCoeff() <= tolerance);
  REQUIRE(a.forces.size() == b.forces.size());
  for (Eigen::Index i = 0; i < a.forces.size(); ++i)
    CHECK(std::abs(a.forces(i) - b.forces(i)) <= 100 * tolerance * (1 + std::abs(b.forces(i))));
  CHECK((a.slopes - b.slopes).cwiseAbs().maxCoeff() <= tolerance * (1 + b.slopes.cwiseAbs().maxCoeff()));
}

inline Run typed(const std::string& toml, const std::vector<double>& start, double time) {
  const auto system = make_system(toml);
  REQUIRE(system != nullptr);
  return run(*system, start, time);
}

/// The same by power series where the model would go by the exact flow.
inline Run by_series(const std::string& toml, const std::vector<double>& start, double time) {
  const auto model = std::dynamic_pointer_cast<const TypedModel>(make_model(toml));
  REQUIRE(model != nullptr);
  CHECK(model->is_linear());
  const auto system = model->smooth_system(model->values(), {});
  return run(*system, start, time);
}

}  // namespace graze::test
