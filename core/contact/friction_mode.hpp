/// Which contacts and frictions of a linear system hold, packed into one integer.
#pragma once

#include <cstdint>

#include "core/system/mode.hpp"

namespace graze {

/// What a friction does.
enum class Sliding : std::int64_t {
  absent = 0,  ///< no amplitude
  forward,     ///< λ = +F: slides with s > 0, or rests at this bound where other bodies hold it
  backward,    ///< λ = −F
  stuck        ///< s = 0 by its own force |λ| ≤ F
};

/// The bits of a mode: contact i closed; then two bits per friction; then contact i idle, that is closed
/// without a force because frictions or other contacts hold the body.
struct ModeLayout {
  std::int64_t contacts = 0;
  std::int64_t frictions = 0;

  static constexpr std::int64_t most_bits = 62;
  std::int64_t guards() const { return contacts + 2 * frictions; }
  std::int64_t bits() const { return frictions == 0 ? contacts : 2 * (contacts + frictions); }
  /// Whether there is room for idle contacts: always where there are frictions.
  bool tells_idle() const { return 2 * (contacts + frictions) <= most_bits; }

  Sliding sliding(std::int64_t mode, std::int64_t k) const {
    return static_cast<Sliding>((mode >> (contacts + 2 * k)) & 3);
  }
  std::int64_t with(std::int64_t mode, std::int64_t k, Sliding sliding) const {
    const std::int64_t place = contacts + 2 * k;
    return (mode & ~(std::int64_t{3} << place)) | (static_cast<std::int64_t>(sliding) << place);
  }
  bool idle(std::int64_t mode, std::int64_t i) const {
    return tells_idle() && ((mode >> (contacts + 2 * frictions + i)) & 1) != 0;
  }
  std::int64_t with_idle(std::int64_t mode, std::int64_t i, bool idle) const {
    const std::int64_t bit = std::int64_t{1} << (contacts + 2 * frictions + i);
    return idle ? mode | bit : mode & ~bit;
  }
  /// Whether contact i is held by its own force.
  bool carries(std::int64_t mode, std::int64_t i) const { return is_closed(mode, i) && !idle(mode, i); }
};

/// Sign of the friction force's λ at its bound.
inline double sign_of(Sliding sliding) { return sliding == Sliding::backward ? -1.0 : 1.0; }
inline bool at_bound(Sliding sliding) { return sliding == Sliding::forward || sliding == Sliding::backward; }

}  // namespace graze
