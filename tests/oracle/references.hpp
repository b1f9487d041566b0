/// Tables that the programs of tests/oracle/independent have worked out to 30 digits.
#pragma once

#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <complex>
#include <cstddef>
#include <vector>

#include "core/settings/value.hpp"

namespace graze::test {

inline Eigen::VectorXd vector_of(const Value& table, const char* key) {
  const std::vector<double> numbers = table.at(key).numbers(key);
  return Eigen::Map<const Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

/// Every multiplier of a cycle's table is one of these.
inline void check_multipliers(const std::vector<std::complex<double>>& found, const Value& cycle) {
  const Eigen::VectorXd re = vector_of(cycle, "multiplier_re"), im = vector_of(cycle, "multiplier_im");
  REQUIRE(found.size() == static_cast<std::size_t>(re.size()));
  for (Eigen::Index k = 0; k < re.size(); ++k) {
    double nearest = 1;
    for (const std::complex<double>& m : found)
      nearest = std::min(nearest, std::abs(m - std::complex<double>(re(k), im(k))));
    CHECK(nearest < 1e-10);
  }
}

/// Whether the error of every located point, `error_of(reference, point)`, is below 1e-9. How many there are.
template <class ErrorOf>
int check_points(const Value::Array& references, const ErrorOf& error_of) {
  int points = 0;
  for (const Value& reference : references) {
    const Value* list = reference.find("point");
    if (list == nullptr) continue;
    for (const Value& point : list->array("point")) {
      CAPTURE(reference.at("name").text("name"), point.toml());
      CHECK(error_of(reference, point) < 1e-9);
      ++points;
    }
  }
  return points;
}

}  // namespace graze::test
