/// The marching engine's kernel for any processor: two lanes, in the vectors that every compiler knows.
#include "core/lanes/batch.hpp"
#include "core/lanes/series/batch.hpp"

#include "core/lanes/simd_baseline.hpp"

#include "core/lanes/rigid_kernels.hpp"
#include "core/lanes/series/step.hpp"

namespace graze {

LaneKernel lane_kernel_baseline(const LaneShape& shape) {
  return shape.sets ? set_kernel_baseline(shape) : rigid_kernel(shape);
}
SeriesKernel series_kernel_baseline() { return {lanes, run_series}; }

}  // namespace graze
