#include "analysis/maps/energy_balance.hpp"

#include <array>
#include <cmath>

#include "core/math/root_search.hpp"

namespace graze {

EnergyBalance::EnergyBalance(System& system, const HybridState& start)
    : system_(system), state_(start), last_(system.energy(start).value_or(Energy{})) {
  state_.turns = 0;
}

void EnergyBalance::event(const Event&) { changed_ = true; }

Energy EnergyBalance::at(const MotionPiece& piece, double s) {
  state_.mode = piece.mode;
  state_.time = polynomial(piece.time(), s);
  for (Eigen::Index i = 0; i < state_.x.size(); ++i)
    state_.x(i) = polynomial(piece.state(static_cast<std::size_t>(i)), s);
  return system_.energy(state_).value_or(Energy{});
}

/// Without an event there is nothing but rounding.
void EnergyBalance::pass_instant(const Energy& after) {
  if (changed_) {
    account_.impact_work += last_.motion - after.motion;
    account_.stop_work += last_.stops - after.stops;
  }
  changed_ = false;
  last_ = after;
}

void EnergyBalance::piece(const MotionPiece& piece) {
  // Gauss-Legendre, 8 points on [−1, 1]: pairs of a place and its weight.
  static constexpr std::array<std::array<double, 2>, 4> gauss = {{{0.1834346424956498, 0.3626837833783620},
                                                                  {0.5255324099163290, 0.3137066458778873},
                                                                  {0.7966664774136267, 0.2223810344533745},
                                                                  {0.9602898564975363, 0.1012285362903763}}};
  pass_instant(at(piece, 0));
  const double half = piece.end / 2;
  for (const auto& [place, weight] : gauss) {
    for (const double side : {-1.0, 1.0}) {
      const double s = half * (1 + side * place);
      const Energy e = at(piece, s);
      const double share = weight * half * polynomial_slope(piece.time(), s);
      account_.force_work += share * e.force_power;
      account_.damping_work += share * e.damping_power;
      account_.friction_work += share * e.friction_power;
      account_.stop_work += share * e.stop_power;
    }
  }
  last_ = at(piece, piece.end);
}

EnergyAccount EnergyBalance::account(const HybridState& now) {
  pass_instant(system_.energy(now).value_or(Energy{}));
  return account_;
}

}  // namespace graze
