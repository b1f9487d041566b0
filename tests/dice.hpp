/// Random systems of tests, the same at every run: numbers of a seed, and matrices as TOML.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <initializer_list>
#include <random>
#include <string>

#include "tests/support.hpp"

namespace graze::test {

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  double number(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }
  bool coin() { return random_() % 2 == 0; }
  /// One of these.
  double pick(std::initializer_list<double> values) {
    return *(values.begin() + random_() % static_cast<unsigned>(values.size()));
  }
  Eigen::VectorXd pick(Eigen::Index size, std::initializer_list<double> values) {
    return Eigen::VectorXd::NullaryExpr(size, [&] { return pick(values); });
  }
  Eigen::VectorXd vector(Eigen::Index size, double bound) {
    return Eigen::VectorXd::NullaryExpr(size, [&] { return number(-bound, bound); });
  }
  /// Positive definite.
  Eigen::MatrixXd definite(Eigen::Index size, double share, double diagonal) {
    const Eigen::MatrixXd A = Eigen::MatrixXd::NullaryExpr(size, size, [&] { return number(-1, 1); });
    return share * A * A.transpose() + diagonal * Eigen::MatrixXd::Identity(size, size);
  }

 private:
  std::mt19937 random_;
};

inline std::string list(const Eigen::VectorXd& v) {
  std::string text = "[";
  for (const double value : v) text += fmt_double(value) + ", ";
  return text + "]";
}

inline std::string rows(const Eigen::MatrixXd& m) {
  std::string text = "[";
  for (Eigen::Index i = 0; i < m.rows(); ++i) text += list(m.row(i)) + ", ";
  return text + "]";
}

/// Keys of `linear_stops` for so many masses, all but its stops: damped, forced at one frequency.
inline std::string forced_chain(Dice& dice, Eigen::Index masses) {
  return "omega = " + fmt_double(dice.number(0.5, 2)) + "\nmass = " + rows(dice.definite(masses, 0.3, 1)) +
         "\ndamping = " + rows(dice.definite(masses, 0.1, 0.05)) +
         "\nstiffness = " + rows(dice.definite(masses, 1, 0.5)) +
         "\nforce = [{ cosine = " + list(dice.vector(masses, 2)) +
         ", sine = " + list(dice.vector(masses, 2)) + " }]\n";
}

}  // namespace graze::test
