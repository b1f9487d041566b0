/// How a computation that is under way is asked to end: from another thread, and heard wherever a motion
/// moves.
#pragma once

#include <atomic>
#include <exception>

namespace graze {

/// Thrown where a thread finds that it has been interrupted. Whoever interrupts catches it.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// True as soon as somebody wants the computation to end.
using InterruptFlag = std::atomic<bool>;

/// The flag that this thread listens to; nullptr: nothing interrupts it.
inline thread_local const InterruptFlag* interrupt_flag = nullptr;

/// Lets this thread listen to a flag while it lives.
class InterruptScope {
 public:
  explicit InterruptScope(const InterruptFlag* flag) : before_(interrupt_flag) { interrupt_flag = flag; }
  ~InterruptScope() { interrupt_flag = before_; }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  const InterruptFlag* before_;
};

/// Throws Interrupted once the flag of this thread is set. Asked at every event of a motion and at every
/// iterate that is recalled: costs nothing beside these.
inline void check_interrupt() {
  if (interrupt_flag != nullptr && interrupt_flag->load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace graze
