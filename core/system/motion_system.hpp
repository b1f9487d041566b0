/// What every engine's System does alike: plain motions, and directions carried along in dual numbers.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/math/dual.hpp"
#include "core/system/system.hpp"

namespace graze {

/// Moves a plain motion; `inner(i)` is the place of state i in the engine's own order, which may go on with
/// entries of its own.
template <class Motion, class Inner>
Outcome move_plain(Motion& motion, const Inner& inner, HybridState& state, const Section& section,
                   std::size_t guards, Observer* observer) {
  const Eigen::Index n = state.x.size();
  motion.x.resize(std::max(n, motion.x.size()));
  for (Eigen::Index i = 0; i < n; ++i) motion.x(inner(i)) = state.x(i);
  motion.time = state.time;
  motion.place(state, guards);
  const Outcome outcome = motion.advance(section, observer);
  for (Eigen::Index i = 0; i < n; ++i) state.x(i) = motion.x(inner(i));
  state.time = motion.time;
  motion.report(state);
  return outcome;
}

/// Moves one motion in dual numbers with the directions first … first + N − 1 of `seed`, by `go()`.
template <int N, class Motion, class Inner, class Go>
Outcome move_directions(Motion& motion, const Inner& inner, HybridState& state, std::size_t guards,
                        const Tangent& seed, Tangent& tangent, Eigen::Index first, const Go& go) {
  using S = Dual<N>;
  const Eigen::Index n = seed.state.rows();
  const Eigen::Index last = std::min<Eigen::Index>(seed.state.cols(), first + N);
  motion.x.resize(std::max(n, motion.x.size()));
  for (Eigen::Index i = 0; i < n; ++i) motion.x(inner(i)) = S(state.x(i));
  motion.time = S(state.time);
  for (Eigen::Index k = first; k < last; ++k) {
    const std::size_t j = static_cast<std::size_t>(k - first);
    for (Eigen::Index i = 0; i < n; ++i) motion.x(inner(i)).slope[j] = seed.state(i, k);
    motion.time.slope[j] = seed.time(k);
  }
  motion.place(state, guards);
  const Outcome outcome = go();
  for (Eigen::Index k = first; k < last; ++k) {
    const std::size_t j = static_cast<std::size_t>(k - first);
    for (Eigen::Index i = 0; i < n; ++i) tangent.state(i, k) = motion.x(inner(i)).slope[j];
    tangent.time(k) = motion.time.slope[j];
  }
  for (Eigen::Index i = 0; i < n; ++i) state.x(i) = motion.x(inner(i)).value;
  state.time = motion.time.value;
  motion.report(state);
  return outcome;
}

/// Parameter values with the directions first … first + N − 1 of `seed`.
template <int N>
std::vector<Dual<N>> dual_parameters(const std::vector<double>& values, const Tangent& seed,
                                     Eigen::Index first) {
  std::vector<Dual<N>> duals(values.begin(), values.end());
  const Eigen::Index last = std::min<Eigen::Index>(seed.state.cols(), first + N);
  const std::size_t varied = std::min(duals.size(), static_cast<std::size_t>(seed.parameter.rows()));
  for (std::size_t p = 0; p < varied; ++p) {
    for (Eigen::Index k = first; k < last; ++k) {
      duals[p].slope[static_cast<std::size_t>(k - first)] = seed.parameter(static_cast<Eigen::Index>(p), k);
    }
  }
  return duals;
}

/// All directions, some at a time: `carry(state, seed, first)` moves those from `first` on and returns the
/// outcome and their number.
template <class Carry>
Outcome in_chunks(HybridState& state, Tangent& tangent, const Carry& carry) {
  const HybridState from = state;
  const Tangent seed = tangent;
  for (Eigen::Index first = 0; first < seed.state.cols();) {
    state = from;
    const auto [outcome, count] = carry(state, seed, first);
    if (outcome != Outcome::ok) return outcome;
    first += count;
  }
  return Outcome::ok;
}

}  // namespace graze
