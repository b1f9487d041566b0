/// The shapes that kernels with compliant stops are made for.
#pragma once

#include "core/lanes/march.hpp"

namespace graze {
namespace {

template <int N, int M, int H>
constexpr Entry soft = entry<N, M, H, false, true>();

LaneKernel set_kernel(const LaneShape& shape) {
  static constexpr Entry entries[] = {
      soft<1, 1, 1>, soft<1, 2, 1>, soft<1, 1, 0>, soft<1, 2, 0>, soft<1, 3, 0>, soft<2, 1, 1>, soft<2, 1, 0>,
      soft<2, 2, 0>, soft<2, 3, 0>, soft<3, 1, 0>, soft<3, 2, 0>, soft<4, 1, 0>, soft<4, 2, 0>,
  };
  return find_kernel(entries, shape);
}

}  // namespace
}  // namespace graze
