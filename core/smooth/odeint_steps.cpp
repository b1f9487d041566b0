#include "core/smooth/odeint_steps.hpp"

#include <algorithm>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <limits>

namespace graze {
namespace {

namespace odeint = boost::numeric::odeint;
using Method = odeint::runge_kutta_dopri5<OdeintSteps::Values>;

}  // namespace

struct OdeintSteps::Stepper {
  odeint::result_of::make_dense_output<Method>::type dense;
};

OdeintSteps::OdeintSteps(double tolerance) : tolerance_(std::max(tolerance, 1e-13)) {}
OdeintSteps::OdeintSteps(OdeintSteps&&) noexcept = default;
OdeintSteps& OdeintSteps::operator=(OdeintSteps&&) noexcept = default;
OdeintSteps::~OdeintSteps() = default;

double OdeintSteps::step(const Values& from, bool goes_on, double rate, const Rates& rates) {
  constexpr double first = 1e-3, longest = 0.5;  // of the shortest time scale
  const double most = longest / rate;
  if (!stepper_ || !goes_on || from != stepper_->dense.current_state()) {
    // Errors count by the size of each state and of its change; the absolute one is for what stays at zero.
    stepper_ = std::make_unique<Stepper>(
        Stepper{odeint::make_dense_output(1e-6 * tolerance_, tolerance_, most, Method())});
    stepper_->dense.initialize(from, 0, std::min(most, next_ > 0 ? next_ : first / rate));
  }
  from_ = from;
  start_ = stepper_->dense.current_time();
  const auto at = [&](const Values& y, Values& change, double time) { rates(y, change, time - start_); };
  try {
    const auto [begin, end] = stepper_->dense.do_step(at);
    length_ = end - begin;
  } catch (const odeint::odeint_error&) {
    stepper_.reset();
    return length_ = 0;
  }
  next_ = length_;
  if (!(length_ > 0)) length_ = 0;
  return length_;
}

auto OdeintSteps::state(double fraction) const -> Values {
  if (fraction == 0) return from_;
  if (fraction == 1) return stepper_->dense.current_state();
  Values y(from_.size());
  stepper_->dense.calc_state(start_ + fraction * length_, y);
  return y;
}

auto OdeintSteps::nodes() -> const AtNodes& {
  static const AtNodes list = [] {
    AtNodes nodes;
    for (std::size_t j = 0; j <= degree; ++j)
      nodes[j] = (1 - std::cos(M_PI * static_cast<double>(j) / degree)) / 2;
    return nodes;
  }();
  return list;
}

Coefficients OdeintSteps::polynomial(const AtNodes& value) {
  AtNodes series;
  double size = 0;
  for (std::size_t j = 0; j <= degree; ++j) {
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
  AtNodes before{}, now{};
  before[0] = 1;
  now[0] = -1;
  now[1] = 2;
  c[0] = series[0];
  for (std::size_t k = 1; k <= last; ++k) {
    for (std::size_t j = 0; j <= k; ++j) c[j] += series[k] * now[j];
    AtNodes next{};
    for (std::size_t j = 0; j <= degree; ++j)
      next[j] = -2 * now[j] - before[j] + (j > 0 ? 4 * now[j - 1] : 0);
    before = now;
    now = next;
  }
  c[0] = value[0];
  return c;
}

}  // namespace graze
