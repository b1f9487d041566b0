/// The marching engine's kernel of compliant stops for any processor.
#include "core/lanes/batch.hpp"

#include "core/lanes/simd_baseline.hpp"

#include "core/lanes/set_kernels.hpp"

namespace graze {

LaneKernel set_kernel_baseline(const LaneShape& shape) { return set_kernel(shape); }

}  // namespace graze
