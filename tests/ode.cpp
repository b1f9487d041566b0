#include "tests/ode.hpp"

#include <boost/numeric/odeint.hpp>

namespace graze::test {

using Stepper = boost::numeric::odeint::runge_kutta_fehlberg78<std::vector<double>>;

std::vector<double> integrated(const Rates& rates, std::vector<double> x, double from, double to, double step,
                               double tolerance) {
  namespace odeint = boost::numeric::odeint;
  odeint::integrate_adaptive(odeint::make_controlled<Stepper>(tolerance, tolerance), rates, x, from, to,
                             step);
  return x;
}

std::vector<double> integrated_evenly(const Rates& rates, std::vector<double> x, double from, double to,
                                      int steps) {
  Stepper stepper;
  const double step = (to - from) / steps;
  for (int k = 0; k < steps; ++k) stepper.do_step(rates, x, from + k * step, step);
  return x;
}

}  // namespace graze::test
