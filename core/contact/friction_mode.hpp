/// Which contacts and frictions of a linear system hold and which compliant stops are engaged, packed into
/// one integer.
#pragma once

#include <cstdint>

#include "core/system/compliant_stop.hpp"
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
/// without a force because frictions or other contacts hold the body; then two bits per compliant stop.
struct ModeLayout {
  std::int64_t contacts = 0;
  std::int64_t frictions = 0;
  std::int64_t springs = 0;  ///< as many as contacts where some are compliant, else 0

  static constexpr std::int64_t most_bits = 62;
  /// Of the contacts, then two of each friction, then a second one of each contact that may be compliant.
  std::int64_t guards() const { return contacts + 2 * frictions + springs; }
  std::int64_t second_guard(std::int64_t i) const { return contacts + 2 * frictions + i; }
  std::int64_t bits() const {
    return frictions == 0 && springs == 0 ? contacts : 2 * (contacts + frictions + springs);
  }
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
  Spring spring(std::int64_t mode, std::int64_t i) const {
    return springs == 0 ? Spring::open : static_cast<Spring>((mode >> spring_place(i)) & 3);
  }
  std::int64_t with_spring(std::int64_t mode, std::int64_t i, Spring spring) const {
    const std::int64_t place = spring_place(i);
    return (mode & ~(std::int64_t{3} << place)) | (static_cast<std::int64_t>(spring) << place);
  }
  /// What is left of a mode when only the compliant stops stand as they do.
  std::int64_t springs_of(std::int64_t mode) const {
    return springs == 0 ? 0 : (mode >> spring_place(0)) << spring_place(0);
  }
  /// Whether contact i is held by its own force.
  bool carries(std::int64_t mode, std::int64_t i) const { return is_closed(mode, i) && !idle(mode, i); }

  /// Where the two bits of compliant stop i begin.
  std::int64_t spring_place(std::int64_t i) const { return 2 * (contacts + frictions + i); }
};

/// Sign of the friction force's λ at its bound.
inline double sign_of(Sliding sliding) { return sliding == Sliding::backward ? -1.0 : 1.0; }
inline bool at_bound(Sliding sliding) { return sliding == Sliding::forward || sliding == Sliding::backward; }

}  // namespace graze
