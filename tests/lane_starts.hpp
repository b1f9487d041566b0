/// Systems and where their motions start, for motions side by side.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/lanes/lanes.hpp"
#include "tests/support.hpp"

namespace graze::test {

struct LaneStarts {
  std::vector<std::unique_ptr<System>> systems{};
  std::vector<HybridState> starts{};
  double bound = std::numeric_limits<double>::infinity();  ///< LaneMotion::bound

  /// A motion that counts its impacts.
  LaneMotion motion(std::size_t k) const {
    LaneMotion m;
    m.system = systems[k].get();
    m.state = starts[k];
    m.bound = bound;
    m.impacts.assign(static_cast<std::size_t>(m.system->contacts()), 0);
    return m;
  }
  std::vector<LaneMotion> motions() const {
    std::vector<LaneMotion> list;
    for (std::size_t k = 0; k < systems.size(); ++k) list.push_back(motion(k));
    return list;
  }
};

/// Gives the choice of a kernel back.
struct KernelKept {
  ~KernelKept() { choose_lane_kernel(""); }
};

inline bool equal_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace graze::test
