/// The marching engine's kernel for processors with AVX2 and FMA: four lanes.
#include "core/lanes/batch.hpp"
#include "core/lanes/series/batch.hpp"

#ifdef __AVX2__

#include "core/lanes/simd_avx2.hpp"

#include "core/lanes/rigid_kernels.hpp"
#include "core/lanes/series/step.hpp"

namespace graze {

LaneKernel lane_kernel_avx2(const LaneShape& shape) {
  return shape.sets ? set_kernel_avx2(shape) : rigid_kernel(shape);
}
SeriesKernel series_kernel_avx2() { return {lanes, run_series}; }

}  // namespace graze

#else

namespace graze {

LaneKernel lane_kernel_avx2(const LaneShape&) { return nullptr; }
SeriesKernel series_kernel_avx2() { return {}; }

}  // namespace graze

#endif
