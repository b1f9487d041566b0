/// The flow of a smooth system by Boost.Odeint: an independent second method beside the power series of
/// core/smooth/flow, with the same interface.
///
/// Steps are those of Dormand and Prince, 5(4), with dense output; states and guards on a step are
/// polynomials through Chebyshev points of the dense output, searched for events like series.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/smooth/flow.hpp"

namespace graze {

/// As TaylorFlow, which works out what is asked of a single place (`expand` with an order, `along`).
template <class S, class Dynamics>
class OdeintFlow {
 public:
  using Jets = TaylorFlow<S, Dynamics>;
  static constexpr int states = Dynamics::states;
  template <class T>
  using Vector = typename Jets::template Vector<T>;
  using State = typename Jets::State;
  static constexpr bool has_clock = false;

  explicit OdeintFlow(double tolerance)
      : tolerance_(std::max(tolerance, least_tolerance)), jets_(tolerance) {}

  void expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
              const std::vector<int>& guards) {
    const Packed from = packed(x);
    going_on_ = stepper_ && mode == mode_ && from == stepper_->current_state();
    dynamics_ = &dynamics;
    mode_ = mode;
    begin_ = t;
    from_ = from;
    guards_ = guards;
  }
  void expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
              const std::vector<int>& guards, int order) {
    jets_.expand(dynamics, mode, t, x, guards, order);
  }
  /// Takes a step, no longer than half of the shortest time scale. 0 where none can be taken.
  double choose(double rate) { return choose(rate, guards_.size()); }
  double choose(double rate, std::size_t);

  double length() const { return length_; }
  State state(double fraction) const {
    if (fraction == 0) return unpacked(from_);
    if (fraction == 1) return unpacked(stepper_->current_state());
    Packed y(from_.size());
    stepper_->calc_state(start_ + fraction * length_, y);
    return unpacked(y);
  }
  S passed(double fraction) const { return S(fraction * length_); }
  Coefficients guard(std::size_t k) const {
    return fitted([&](std::size_t node) {
      const S t = begin_ + S(nodes()[node] * length_);
      return value_of(dynamics_->guard(guards_[k], mode_, t, at_nodes_[node]));
    });
  }
  Coefficients coordinate(int i) const {
    return fitted([&](std::size_t node) { return value_of(at_nodes_[node](i)); });
  }
  Coefficients clock() const {
    Coefficients c{};
    c[1] = length_;
    return c;
  }
  const S& guard_coefficient(std::size_t k, int order) const { return jets_.guard_coefficient(k, order); }
  template <class F>
  auto along(const S& t, const State& x, const State& direction, const F& f, const S& pace = S(0)) {
    return jets_.along(t, x, direction, f, pace);
  }

 private:
  using Packed = std::vector<double>;  ///< values, then slopes
  using Stepper = typename boost::numeric::odeint::result_of::make_dense_output<
      boost::numeric::odeint::runge_kutta_dopri5<Packed>>::type;
  static constexpr double least_tolerance = 1e-13;  // below it rounding rules the error estimate
  static constexpr std::size_t degree = 12;

  static Packed packed(const State& x) {
    Packed y;
    for (int part = 0; part < parts_of<S>; ++part) {
      for (Eigen::Index i = 0; i < x.size(); ++i) y.push_back(part_of(x(i), part));
    }
    return y;
  }
  State unpacked(const Packed& y) const {
    const Eigen::Index n = static_cast<Eigen::Index>(y.size()) / parts_of<S>;
    State x(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (int part = 0; part < parts_of<S>; ++part)
        set_part(x(i), part, y[static_cast<std::size_t>(part * n + i)]);
    }
    return x;
  }
  static void set_part(double& to, int, double value) { to = value; }
  template <int N>
  static void set_part(Dual<N>& to, int part, double value) {
    if (part == 0) {
      to.value = value;
    } else {
      to.slope[static_cast<std::size_t>(part - 1)] = value;
    }
  }
  /// Fractions of a step: Chebyshev's, the ends among them.
  static const std::array<double, degree + 1>& nodes() {
    static const std::array<double, degree + 1> list = [] {
      std::array<double, degree + 1> nodes;
      for (std::size_t j = 0; j <= degree; ++j)
        nodes[j] = (1 - std::cos(M_PI * static_cast<double>(j) / degree)) / 2;
      return nodes;
    }();
    return list;
  }
  template <class F>
  static Coefficients fitted(const F& f);

  double tolerance_;
  Jets jets_;
  std::optional<Stepper> stepper_;
  const Dynamics* dynamics_ = nullptr;
  std::int64_t mode_ = 0;
  S begin_{0};
  Packed from_;
  std::vector<int> guards_;
  bool going_on_ = false;
  double start_ = 0;  ///< of the step, on the clock of the stepper
  double length_ = 0;
  double next_ = 0;  ///< length to begin with
  std::vector<State> at_nodes_;
};

template <class S, class Dynamics>
double OdeintFlow<S, Dynamics>::choose(double rate, std::size_t) {
  namespace odeint = boost::numeric::odeint;
  constexpr double first = 1e-3, longest = 0.5;  // of the shortest time scale
  const auto rates = [this](const Packed& y, Packed& change, double at) {
    const State x = unpacked(y);
    State rate_of_x(x.size());
    dynamics_->rates(mode_, S(begin_ + S(at - start_)), x, rate_of_x);
    change = packed(rate_of_x);
  };
  const double most = longest / rate;
  if (!going_on_) {
    // Errors count by the size of each state and of its change; the absolute one is for what stays at zero.
    stepper_.emplace(
        odeint::make_dense_output(1e-6 * tolerance_, tolerance_, most, odeint::runge_kutta_dopri5<Packed>()));
    stepper_->initialize(from_, 0, std::min(most, next_ > 0 ? next_ : first / rate));
  }
  start_ = stepper_->current_time();
  try {
    const auto [begin, end] = stepper_->do_step(rates);
    length_ = end - begin;
  } catch (const odeint::odeint_error&) {
    stepper_.reset();
    return length_ = 0;
  }
  next_ = length_;
  if (!(length_ > 0)) return length_ = 0;
  at_nodes_.clear();
  for (const double fraction : nodes()) at_nodes_.push_back(state(fraction));
  return length_;
}

/// Power series in the fraction of the polynomial through the values at the nodes; terms of Chebyshev's
/// series that are rounding are left out.
template <class S, class Dynamics>
template <class F>
Coefficients OdeintFlow<S, Dynamics>::fitted(const F& f) {
  std::array<double, degree + 1> value, series;
  double size = 0;
  for (std::size_t j = 0; j <= degree; ++j) {
    value[j] = f(j);
    size = std::max(size, std::abs(value[j]));
  }
  if (!std::isfinite(size)) {  // a stop at infinity, or a domain left
    Coefficients constant{};
    constant[0] = value[0];
    return constant;
  }
  for (std::size_t k = 0; k <= degree; ++k) {
    double sum = 0;
    for (std::size_t j = 0; j <= degree; ++j) {
      const double half = j == 0 || j == degree ? 0.5 : 1;
      // T_k(2s − 1) = (−1)^k cos(k j π/degree) at node j
      sum += half * value[j] * std::cos(M_PI * static_cast<double>(k * j % (2 * degree)) / degree);
    }
    series[k] = (k == 0 || k == degree ? 1.0 : 2.0) * (k % 2 == 0 ? sum : -sum) / degree;
  }
  std::size_t last = degree;
  while (last > 0 && std::abs(series[last]) <= 4 * std::numeric_limits<double>::epsilon() * size) --last;
  // T_{k+1} = 2 (2s − 1) T_k − T_{k−1}.
  Coefficients c{};
  std::array<double, degree + 1> before{}, now{};
  before[0] = 1;
  now[0] = -1;
  now[1] = 2;
  c[0] = series[0];
  for (std::size_t k = 1; k <= last; ++k) {
    for (std::size_t j = 0; j <= k; ++j) c[j] += series[k] * now[j];
    std::array<double, degree + 1> next{};
    for (std::size_t j = 0; j <= degree; ++j)
      next[j] = -2 * now[j] - before[j] + (j > 0 ? 4 * now[j - 1] : 0);
    before = now;
    now = next;
  }
  c[0] = value[0];
  return c;
}

}  // namespace graze
