/// The equations of a linear system with the modes that its motions have met.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/linear/flow.hpp"
#include "core/linear/mode.hpp"
#include "core/linear/system.hpp"

namespace graze {

/// Modes made when first met, kept for the life of a system.
template <class Mode>
class ModeCache {
 public:
  /// Made of `from` and the mode's number.
  template <class... From>
  const Mode& get(std::int64_t held, From&... from) {
    for (const auto& [key, mode] : modes_) {
      if (key == held) return *mode;
    }
    modes_.emplace_back(held, std::make_unique<Mode>(from..., held));
    return *modes_.back().second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::unique_ptr<Mode>>> modes_;
};

/// A linear system and its modes. `P` is the scalar of its parameters.
template <class P, int Dofs, int Harmonics, int Contacts, int Frictions = 0>
class LinearDynamics {
 public:
  using System = LinearSystem<P, Dofs, Harmonics, Contacts, Frictions>;
  using Scan = ScanMode<Dofs, Harmonics, Contacts, Frictions>;
  using Rows = LinearMode<P, Dofs, Harmonics, Contacts, Frictions>;
  using Mode = std::conditional_t<std::is_same_v<P, double>, Scan, Rows>;

  explicit LinearDynamics(System system) : system_(std::move(system)) {}
  const System& system() const { return system_; }
  const Rows& mode(std::int64_t held) {
    if constexpr (std::is_same_v<P, double>) {
      return scan(held).mode;
    } else {
      return modes_.get(held, system_);
    }
  }
  const Scan& scan(std::int64_t held) requires std::is_same_v<P, double> { return modes_.get(held, system_); }
  /// Forcing period, 0 when autonomous.
  P period() const {
    if (!(system_.base_frequency > P(0))) return P(0);
    return P(2 * M_PI) / system_.base_frequency;
  }

 private:
  System system_;
  ModeCache<Mode> modes_;
};

}  // namespace graze
