/// Boost.Odeint's Runge-Kutta-Fehlberg method of order 7(8) as a second method of tests; compiled once.
#pragma once

#include <functional>
#include <vector>

namespace graze::test {

/// x' = f(x, t), written to `rate`.
using Rates = std::function<void(const std::vector<double>& x, std::vector<double>& rate, double t)>;

/// x at time `to`, with errors of `tolerance` a step, absolute and relative; the first step is `step`.
std::vector<double> integrated(const Rates& rates, std::vector<double> x, double from, double to, double step,
                               double tolerance);

/// The same by so many even steps.
std::vector<double> integrated_evenly(const Rates& rates, std::vector<double> x, double from, double to,
                                      int steps);

}  // namespace graze::test
