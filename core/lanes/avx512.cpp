/// The marching engine's kernel for processors with AVX-512: eight lanes.
#include "core/lanes/batch.hpp"
#include "core/lanes/series/batch.hpp"

#ifdef __AVX512DQ__

#include "core/lanes/simd_avx512.hpp"

#include "core/lanes/rigid_kernels.hpp"
#include "core/lanes/series/step.hpp"

namespace graze {

LaneKernel lane_kernel_avx512(const LaneShape& shape) {
  return shape.sets ? set_kernel_avx512(shape) : rigid_kernel(shape);
}
SeriesKernel series_kernel_avx512() { return {lanes, run_series}; }

}  // namespace graze

#else

namespace graze {

LaneKernel lane_kernel_avx512(const LaneShape&) { return nullptr; }
SeriesKernel series_kernel_avx512() { return {}; }

}  // namespace graze

#endif
