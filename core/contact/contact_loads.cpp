#include "core/contact/contact_loads.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "core/math/root_search.hpp"

namespace graze {
namespace {

double greatest(std::span<const double> c) {
  double most = std::max(polynomial(c, 0), polynomial(c, 1));
  for (const double s : stationary_points(c)) most = std::max(most, polynomial(c, s));
  return most;
}

/// Where the depth has a maximum, also at the end: friction that stops with it ends a piece there.
std::optional<double> maximum(const LoadPiece& piece) {
  for (const double s : stationary_points(piece.depth)) {
    if (polynomial_curvature(piece.depth, s) < 0) return s;
  }
  double size = 0;
  for (const double c : piece.rate) size += std::abs(c);
  const bool ends = piece.rate[0] > 0 && std::abs(polynomial(piece.rate, 1)) <= 1e-13 * size;
  return ends ? std::optional(1.0) : std::nullopt;
}

}  // namespace

void add_loads(const LoadPiece& piece, ContactLoad& load) {
  const double one[] = {1.0};
  load.begin = piece.begin;
  load.peak_force = greatest(piece.force);
  load.greatest_penetration = greatest(piece.depth);
  load.impulse = product_integral(piece.force, one) * piece.duration;
  load.damping_work = product_integral(piece.damping, piece.rate) * piece.duration;
  load.friction_work = product_integral(piece.friction, piece.slip) * piece.duration;
  if (const auto turn = maximum(piece)) load.turn = piece.begin + *turn * piece.duration;
}

}  // namespace graze
