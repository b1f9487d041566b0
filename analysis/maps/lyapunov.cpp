#include "analysis/maps/lyapunov.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace graze {

std::vector<double> lyapunov_spectrum(const PoincareMap& map, HybridState& state, int iterates) {
  const Eigen::Index n = map.dimension();
  const auto now = [&] { return state.time + static_cast<double>(state.turns) * map.system().period(); };
  const double begin = now();
  Eigen::MatrixXd frame = Eigen::MatrixXd::Identity(n, n);
  Eigen::VectorXd growth = Eigen::VectorXd::Zero(n);
  for (int k = 0; k < iterates; ++k) {
    if (map.iterate(state, frame) != Outcome::ok) return {};
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(frame);
    constexpr double lost = 1e-14;  // of the frame: rounding
    for (Eigen::Index i = 0; i < n; ++i) {
      const double stretch = std::abs(qr.matrixQR()(i, i));
      growth(i) +=
          stretch > lost * frame.norm() ? std::log(stretch) : -std::numeric_limits<double>::infinity();
    }
    frame = qr.householderQ() * Eigen::MatrixXd::Identity(n, n);
  }
  std::vector<double> exponents;
  for (const double g : growth) exponents.push_back(g / (now() - begin));
  std::sort(exponents.begin(), exponents.end(), std::greater<>());
  return exponents;
}

}  // namespace graze
