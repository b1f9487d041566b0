/// The shapes that kernels with rigid stops are made for.
#pragma once

#include "core/lanes/march.hpp"

namespace graze {
namespace {

template <int N, int M, int H, bool Classical>
constexpr Entry rigid = entry<N, M, H, Classical, false>();

LaneKernel rigid_kernel(const LaneShape& shape) {
  static constexpr Entry entries[] = {
      rigid<1, 1, 1, true>,  rigid<1, 2, 1, true>,  rigid<1, 1, 0, true>,  rigid<1, 2, 0, true>,
      rigid<2, 1, 1, true>,  rigid<2, 2, 1, true>,  rigid<2, 1, 0, true>,  rigid<2, 2, 0, true>,
      rigid<2, 3, 0, true>,  rigid<2, 1, 1, false>, rigid<2, 2, 1, false>, rigid<2, 1, 0, false>,
      rigid<2, 2, 0, false>, rigid<2, 3, 0, false>, rigid<3, 1, 0, false>, rigid<3, 2, 0, false>,
      rigid<3, 3, 0, false>, rigid<4, 1, 0, false>, rigid<4, 2, 0, false>, rigid<4, 3, 0, false>,
      rigid<4, 4, 0, false>,
  };
  return find_kernel(entries, shape);
}

}  // namespace
}  // namespace graze
