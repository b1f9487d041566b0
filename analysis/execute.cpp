#include "analysis/execute.hpp"

#include <omp.h>

#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <numbers>
#include <numeric>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace graze {
namespace {

/// Rounds denormal numbers to zero in this thread for as long as it lives: a decaying free motion spends
/// its end in them, at a many times slower pace.
class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | flush_to_zero | denormals_are_zero); }
  ~FlushDenormals() { _mm_setcsr(before_); }
#else
  FlushDenormals() {}  // NOLINT: not trivial, or the object would count as unused
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

#if defined(__SSE2__)
 private:
  static constexpr unsigned flush_to_zero = 0x8000;
  static constexpr unsigned denormals_are_zero = 0x0040;
  unsigned before_;
#endif
};

}  // namespace

std::vector<std::size_t> dealt(std::size_t blocks) {
  const auto golden = static_cast<double>(blocks) / std::numbers::phi;
  auto stride = static_cast<std::size_t>(std::lround(golden));
  while (std::gcd(stride, blocks) > 1) ++stride;
  std::vector<std::size_t> order(blocks);
  for (std::size_t k = 1; k < blocks; ++k) order[k] = (order[k - 1] + stride) % blocks;
  return order;
}

std::size_t execute(const Analysis& analysis, const std::vector<Box>& blocks, Sink& sink,
                    const Execution& execution) {
  std::vector<std::size_t> missing;
  for (const std::size_t index : dealt(blocks.size())) {
    if (!sink.has(index)) missing.push_back(index);
  }

  std::atomic<bool> over = false;
  std::size_t stored = 0;
  std::exception_ptr failure;
  std::mutex report;

  const auto run_block = [&](std::size_t index) {
    if (over) return;
    if (execution.stop && execution.stop()) {
      over = true;
      return;
    }
    sink.put(index, analysis.compute(blocks[index]));
    const std::lock_guard lock(report);
    ++stored;
    if (execution.done) execution.done(blocks[index].points());
  };

  const int threads = execution.threads > 0 ? execution.threads : omp_get_max_threads();
#pragma omp parallel num_threads(threads)
  {
    const FlushDenormals flush;
#pragma omp for schedule(dynamic)
    for (std::size_t k = 0; k < missing.size(); ++k) {
      try {
        run_block(missing[k]);
      } catch (...) {  // no exception may leave the parallel region
        over = true;
        const std::lock_guard lock(report);
        if (!failure) failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  return missing.size() - stored;
}

}  // namespace graze
