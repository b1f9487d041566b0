/// All Lyapunov exponents of a motion.
#pragma once

#include <vector>

#include "analysis/maps/poincare_map.hpp"

namespace graze {

/// Exponents per time, greatest first, over so many iterates from `state`: a frame of tangent vectors is
/// carried through every event and made orthonormal again after each iterate (Benettin's method with QR).
/// −inf where a direction is lost altogether, as while a contact sticks. Empty when the motion breaks off.
std::vector<double> lyapunov_spectrum(const PoincareMap& map, HybridState& state, int iterates);

}  // namespace graze
