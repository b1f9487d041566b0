/// Dry friction whose amplitude is 0, of which derivatives are asked: its first effect along a motion.
///
///     dx/dF_k at the end of an arc = e^{Aτ} dx/dF_k at its beginning + y_k,
///     y_k = −∫ e^{A(τ−t)} (0, M⁻¹ p_k) sgn s_k(t) dt,      s_k = p_kᵀ q'
///
/// along the motion without it. A reversal of s_k shifts by the order of F_k and changes a force of that
/// order: it needs no correction. While others hold s_k at zero the friction only acts on what ends the hold,
/// against the motion to come.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/linear/dynamics.hpp"
#include "core/linear/flow.hpp"
#include "core/math/root_search.hpp"

namespace graze {

/// Whether systems of these sizes may have dry friction at all: one mass between stops has none.
template <int Dofs, int Frictions>
inline constexpr bool may_rub = Dofs != 1 || Frictions != 0;

/// What the frictions p_k with constant forces do in one mode, and where their sliding speeds turn.
template <int Dofs, int Harmonics>
struct SlidingMode {
  using State = Eigen::Matrix<double, state_size<Dofs>, 1>;
  using Rows = Watched<Dofs, Harmonics, Eigen::Dynamic>;
  using Row = typename Rows::Row;

  Rows speeds;
  std::vector<bool> held;  ///< s_k = 0 as long as the mode lasts
  /// The states after a fraction v of a cell from rest, under −p_k only: Σ_m column m−1 of `rise` v^m; v = 1.
  std::vector<Eigen::Matrix<double, state_size<Dofs>, taylor_terms>> rise;
  std::vector<State> whole;

  template <class Plain>
  [[gnu::cold]] SlidingMode(Plain& plain, const Eigen::MatrixXd& directions, std::int64_t mode_of)
      : speeds(plain.mode(mode_of), plain.system().frequency,
               rows(plain.system().mass.rows(), plain.mode(mode_of).A.rows(), directions)) {
    const auto& mode = plain.mode(mode_of);
    const Eigen::Matrix<double, Dofs, Dofs> inverse_mass = inverse_of(plain.system().mass);
    const Eigen::Index n = mode.dofs();
    const auto A = mode.A.topLeftCorner(mode.states(), mode.states());
    for (Eigen::Index k = 0; k < directions.cols(); ++k) {
      const Eigen::Matrix<double, Dofs, 1> along = directions.col(k);
      const Eigen::Matrix<double, Dofs, 1> acceleration = mode.admissible * along;
      held.push_back(along.dot(acceleration) <= no_motion * along.dot(inverse_mass * along));
      rise.emplace_back(mode.states(), taylor_terms);
      State term = State::Zero(mode.states());
      term.segment(n, n) = -acceleration * mode.cell;
      for (int m = 0; m < taylor_terms; ++m) {
        rise.back().col(m) = term;
        term = (A * term * (mode.cell / (m + 2))).eval();
      }
      whole.push_back(response(static_cast<std::size_t>(k), 1));
    }
  }

  /// The states after a fraction of a cell from rest under −p_k.
  State response(std::size_t k, double fraction) const {
    State sum = State::Zero(rise[k].rows());
    for (std::size_t m = terms_within(fraction); m-- > 0;) {
      sum = sum * fraction + rise[k].col(static_cast<Eigen::Index>(m));
    }
    return sum * fraction;
  }

  static constexpr double no_motion = 1e-11;  ///< share of a direction below which nothing of it is left

 private:
  static std::vector<Row> rows(Eigen::Index n, Eigen::Index z, const Eigen::MatrixXd& directions) {
    std::vector<Row> all;
    for (Eigen::Index k = 0; k < directions.cols(); ++k) {
      all.push_back(Row::Zero(z));
      all.back().segment(n, n) = directions.col(k).transpose();
    }
    return all;
  }
};

/// The frictions of a system whose amplitudes may vanish.
template <int Dofs, int Harmonics, int Contacts, int Frictions>
class VanishingFriction {
 public:
  using Plain = LinearDynamics<double, Dofs, Harmonics, Contacts, Frictions>;
  using Mode = LinearMode<double, Dofs, Harmonics, Contacts, Frictions>;
  using Sliding = SlidingMode<Dofs, Harmonics>;
  using State = typename Sliding::State;
  using Velocity = Eigen::Matrix<double, Dofs, 1>;
  using Extended = Eigen::Matrix<double, Mode::Z, 1>;

  /// `directions`: p_k in columns; there may be none.
  VanishingFriction(Plain& plain, Eigen::MatrixXd directions)
      : plain_(plain), directions_(std::move(directions)), pushed_(count()) {}

  std::size_t count() const { return static_cast<std::size_t>(directions_.cols()); }
  auto direction(std::size_t k) const { return directions_.col(static_cast<Eigen::Index>(k)); }

  /// y_k of these frictions over an arc from z that lasts `cells` cells of its mode and a fraction.
  const std::vector<State>& over(std::int64_t held, const Extended& z, long cells, double fraction,
                                 const std::vector<std::size_t>& which) {
    const Mode& mode = plain_.mode(held);
    const Sliding& sliding = this->sliding(held);
    for (const std::size_t k : which) pushed_[k] = State::Zero(mode.states());
    flow_.start(sliding.speeds, z);
    const Eigen::Index states = mode.states();
    const Free whole = mode.step().topLeftCorner(states, states);
    for (long cell = 0; cell < cells; ++cell) {
      push(sliding, which, whole, 1);
      flow_.next();
    }
    if (fraction > 0) push(sliding, which, free_flow(mode, fraction), fraction);
    return pushed_;
  }

  /// sgn s_k at an instant; where s_k is held at zero, as it is about to move with an acceleration.
  double sign(std::int64_t held, std::size_t k, const Velocity& velocity, const Velocity& acceleration) {
    const auto along = direction(k);
    if (!sliding(held).held[k]) return sign_of_number(along.dot(velocity));
    const double moves = along.dot(acceleration);
    const double least = Sliding::no_motion * along.cwiseAbs().dot(acceleration.cwiseAbs());
    return std::abs(moves) > least ? sign_of_number(moves) : 0;
  }

 private:
  static double sign_of_number(double a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }

  const Sliding& sliding(std::int64_t held) { return modes_.get(held, plain_, directions_); }

  using Free = Eigen::Matrix<double, state_size<Dofs>, state_size<Dofs>>;

  /// Of the states over a fraction of a cell without any force.
  static Free free_flow(const Mode& mode, double fraction) {
    const Eigen::Index states = mode.states();
    Free sum = Free::Zero(states, states);
    for (std::size_t m = terms_within(fraction); m-- > 0;) {
      sum = sum * fraction + mode.taylor[m].leftCols(states);
    }
    return sum;
  }

  /// Through this cell, or a part of it from its beginning.
  void push(const Sliding& sliding, const std::vector<std::size_t>& which, const Free& flow, double length) {
    for (const std::size_t k : which) {
      const State before = pushed_[k];
      pushed_[k].noalias() = flow.lazyProduct(before);
      if (!sliding.held[k]) pushed_[k] += force(sliding, k, length);
    }
  }

  /// Whether a polynomial that is positive at 0 may have a zero on [0, 1].
  static bool turns(std::span<const double> c) {
    double others = 0;
    for (const double a : c) others += std::abs(a);
    return c.size() >= 2 && 2 * c.front() <= others;
  }

  /// What friction k does within this cell.
  State force(const Sliding& sliding, std::size_t k, double length) const {
    const auto response = [&](double fraction) {
      return fraction == 1 ? sliding.whole[k] : sliding.response(k, fraction);
    };
    const int i = static_cast<int>(k);
    if (const int sign = flow_.sign(i); sign != 0) return sign * response(length);
    auto coefficients = flow_.coefficients(i);
    std::span<double> c = coefficients;
    double size = 0;
    for (const double a : c) size = std::max(size, std::abs(a));
    while (!c.empty() && std::abs(c.front()) <= 1e-13 * size) c = c.subspan(1);  // from rest, or just turned
    if (c.size() < 2) return State::Zero(sliding.whole[k].size());
    double sign = sign_of_number(c.front());
    State sum = sign * response(length);
    if (sign < 0) {
      for (double& a : c) a = -a;
    }
    while (turns(c)) {
      const auto zero = first_zero(c, length);
      if (!zero) break;
      sum -= 2 * sign * response(length - *zero);
      sign = -sign;
      for (std::size_t m = c.size() - 1; m-- > 1;) c[m] += *zero * c[m + 1];  // divided by (s − zero)
      c = c.subspan(1);
      for (double& a : c) a = -a;
    }
    return sum;
  }

  Plain& plain_;
  Eigen::MatrixXd directions_;
  ModeCache<Sliding> modes_;
  LinearFlow<Dofs, Harmonics, Eigen::Dynamic> flow_;
  std::vector<State> pushed_;
};

/// Amplitudes of value 0 with derivatives, of some of these frictions: one or more.
template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
struct VanishingAmplitudes {
  VanishingFriction<Dofs, Harmonics, Contacts, Frictions>* friction;
  std::vector<std::size_t> which;
  std::vector<S> amplitude;  ///< of those
};

}  // namespace graze
