/// The marching engine's kernel of compliant stops for processors with AVX2 and FMA.
#include "core/lanes/batch.hpp"

#ifdef __AVX2__

#include "core/lanes/simd_avx2.hpp"

#include "core/lanes/set_kernels.hpp"

namespace graze {

LaneKernel set_kernel_avx2(const LaneShape& shape) { return set_kernel(shape); }

}  // namespace graze

#else

namespace graze {

LaneKernel set_kernel_avx2(const LaneShape&) { return nullptr; }

}  // namespace graze

#endif
