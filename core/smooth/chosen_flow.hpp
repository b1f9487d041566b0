/// The flow of a smooth system by the engine that the tolerance names: power series (core/smooth/flow), or
/// Boost.Odeint as an independent second method, with the same interface.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/smooth/flow.hpp"
#include "core/smooth/odeint_steps.hpp"
#include "core/system/tolerance.hpp"

namespace graze {

/// As TaylorFlow, which also works out what is asked of a single place (`expand` with an order, `along`).
/// States and guards on a step of Odeint's are polynomials through points of its dense output, searched for
/// events like series.
template <class S, class Dynamics>
class ChosenFlow {
 public:
  using Series = TaylorFlow<S, Dynamics>;
  static constexpr int states = Dynamics::states;
  template <class T>
  using Vector = typename Series::template Vector<T>;
  using State = typename Series::State;
  static constexpr bool has_clock = false;

  explicit ChosenFlow(const Tolerance& tolerance) : series_(tolerance) {
    if (tolerance.engine == Tolerance::Engine::odeint) steps_.emplace(tolerance.integration);
  }

  void expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
              const std::vector<int>& guards) {
    if (!steps_) return series_.expand(dynamics, mode, t, x, guards);
    goes_on_ = mode == mode_;
    dynamics_ = &dynamics;
    mode_ = mode;
    begin_ = t;
    from_ = packed(x);
    guards_ = guards;
  }
  void expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
              const std::vector<int>& guards, int order) {
    series_.expand(dynamics, mode, t, x, guards, order);
  }
  /// The length on which the series of an `expand` to the highest order can be summed, whatever takes the
  /// steps.
  double reach(double rate) { return series_.choose(rate); }
  double choose(double rate) { return choose(rate, guards_.size()); }
  double choose(double rate, std::size_t count) { return steps_ ? step(rate) : series_.choose(rate, count); }

  double length() const { return steps_ ? steps_->length() : series_.length(); }
  State state(double fraction) const {
    return steps_ ? unpacked(steps_->state(fraction)) : series_.state(fraction);
  }
  S passed(double fraction) const {
    return steps_ ? S(fraction * steps_->length()) : series_.passed(fraction);
  }
  Coefficients guard(std::size_t k) const {
    if (!steps_) return series_.guard(k);
    return fitted([&](std::size_t node) {
      const S t = begin_ + S(OdeintSteps::nodes()[node] * steps_->length());
      return value_of(dynamics_->guard(guards_[k], mode_, t, at_nodes_[node]));
    });
  }
  Coefficients coordinate(int i) const {
    return steps_ ? fitted([&](std::size_t node) { return value_of(at_nodes_[node](i)); })
                  : series_.coordinate(i);
  }
  Coefficients clock() const {
    if (!steps_) return series_.clock();
    Coefficients c{};
    c[1] = steps_->length();
    return c;
  }
  S guard_coefficient(std::size_t k, int order) const { return series_.guard_coefficient(k, order); }
  template <class F>
  auto along(const S& t, const State& x, const State& direction, const F& f, const S& pace = S(0)) {
    return series_.along(t, x, direction, f, pace);
  }

 private:
  using Packed = OdeintSteps::Values;  ///< values, then slopes

  static Packed packed(const State& x) {
    Packed y;
    for (int part = 0; part < parts_of<S>; ++part) {
      for (Eigen::Index i = 0; i < x.size(); ++i) y.push_back(part_of(x(i), part));
    }
    return y;
  }
  static State unpacked(const Packed& y) {
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
  template <class F>
  static Coefficients fitted(const F& f) {
    OdeintSteps::AtNodes values;
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = f(j);
    return OdeintSteps::polynomial(values);
  }
  double step(double rate);

  Series series_;
  std::optional<OdeintSteps> steps_;  ///< of the other engine
  const Dynamics* dynamics_ = nullptr;
  std::int64_t mode_ = 0;
  S begin_{0};
  Packed from_;
  std::vector<int> guards_;
  bool goes_on_ = false;  ///< in the mode of the last step
  std::vector<State> at_nodes_;
};

/// One of Odeint's; its length, 0 where none can be taken.
template <class S, class Dynamics>
double ChosenFlow<S, Dynamics>::step(double rate) {
  const auto rates = [this](const Packed& y, Packed& change, double passed) {
    const State x = unpacked(y);
    State rate_of_x(x.size());
    dynamics_->rates(mode_, S(begin_ + S(passed)), x, rate_of_x);
    change = packed(rate_of_x);
  };
  const double length = steps_->step(from_, goes_on_, rate, rates);
  at_nodes_.clear();
  if (!(length > 0)) return 0;
  for (const double fraction : OdeintSteps::nodes()) at_nodes_.push_back(unpacked(steps_->state(fraction)));
  return length;
}

}  // namespace graze
