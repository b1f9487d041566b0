/// The marching engine's kernel of compliant stops for processors with AVX-512.
#include "core/lanes/batch.hpp"

#ifdef __AVX512DQ__

#include "core/lanes/simd_avx512.hpp"

#include "core/lanes/set_kernels.hpp"

namespace graze {

LaneKernel set_kernel_avx512(const LaneShape& shape) { return set_kernel(shape); }

}  // namespace graze

#else

namespace graze {

LaneKernel set_kernel_avx512(const LaneShape&) { return nullptr; }

}  // namespace graze

#endif
