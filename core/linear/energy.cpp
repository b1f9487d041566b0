#include "core/linear/energy.hpp"

#include <span>

#include "core/math/root_search.hpp"

namespace graze {
namespace {

double greatest(std::span<const double> c) {
  double most = std::max(polynomial(c, 0), polynomial(c, 1));
  for (const double s : stationary_points(c)) most = std::max(most, polynomial(c, s));
  return most;
}

}  // namespace

void add_loads(const StopPiece& piece, ContactLoad& load) {
  std::vector<double> force = piece.depth;
  for (std::size_t k = 0; k < force.size(); ++k)
    force[k] = piece.stiffness * piece.depth[k] + piece.damping * piece.rate[k];
  force[0] += piece.preload;
  const double one[] = {1.0};
  load.begin = piece.begin;
  load.peak_force = greatest(force);
  load.greatest_penetration = greatest(piece.depth);
  load.impulse = product_integral(force, one) * piece.duration;
  load.damping_work = piece.damping * product_integral(piece.rate, piece.rate) * piece.duration;
  load.friction_work = load.friction * load.slip * product_integral(force, piece.slip) * piece.duration;
  for (const double s : stationary_points(piece.depth)) {
    if (!(polynomial_curvature(piece.depth, s) < 0)) continue;
    load.turn = piece.begin + s * piece.duration;
    break;
  }
}

}  // namespace graze
