/// Numbers too small to have all digits (denormals): a decaying motion spends its end in them, a hundred
/// times slower.
#pragma once

namespace graze {
namespace {  // sources that are compiled for other processors include this too: nothing that others share

/// How this thread does with them for as long as one of these lives.
class Denormals {
 public:
  static constexpr unsigned flush = 0x8040u;  ///< to zero, read and written
  /// The control register of the vector unit; 0: there is none.
  static unsigned mode() {
#ifdef __SSE2__
    return __builtin_ia32_stmxcsr();
#else
    return 0;
#endif
  }
  explicit Denormals(unsigned mode) : before_(Denormals::mode()) { set(mode); }
  ~Denormals() { set(before_); }
  Denormals(const Denormals&) = delete;
  Denormals& operator=(const Denormals&) = delete;

 private:
  static void set([[maybe_unused]] unsigned mode) {
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(mode);
#endif
  }
  unsigned before_;
};

}  // namespace
}  // namespace graze
