/// Steps of Boost.Odeint: those of Dormand and Prince, 5(4), with dense output.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "core/smooth/flow.hpp"

namespace graze {

class OdeintSteps {
 public:
  using Values = std::vector<double>;
  /// Rates at these values, so long after the beginning of the step.
  using Rates = std::function<void(const Values&, Values& rates, double passed)>;
  static constexpr std::size_t degree = 12;
  using AtNodes = std::array<double, degree + 1>;

  /// Of the size of each value and of its change; tolerances below 1e-13 count as that, as rounding rules the
  /// estimate of errors there.
  explicit OdeintSteps(double tolerance);
  OdeintSteps(OdeintSteps&&) noexcept;
  OdeintSteps& operator=(OdeintSteps&&) noexcept;
  ~OdeintSteps();

  /// Takes a step from these values, no longer than half of the shortest time scale 1/rate. `goes_on`: the
  /// rates are those of the last step, whose end it may begin at. Its length, 0 where none can be taken.
  double step(const Values& from, bool goes_on, double rate, const Rates& rates);
  double length() const { return length_; }
  /// At a fraction of the step.
  Values state(double fraction) const;

  /// Fractions of a step: Chebyshev's points, the ends among them.
  static const AtNodes& nodes();
  /// Power series in the fraction of the polynomial through values at the nodes; terms of Chebyshev's series
  /// that are rounding are left out.
  static Coefficients polynomial(const AtNodes& values);

 private:
  struct Stepper;

  double tolerance_;
  std::unique_ptr<Stepper> stepper_;
  Values from_;
  double start_ = 0;  ///< of the step, on the clock of the stepper
  double length_ = 0;
  double next_ = 0;  ///< length to begin with
};

}  // namespace graze
