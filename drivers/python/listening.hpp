/// Long computations called from Python: without the interpreter's lock, and ended by Ctrl-C.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <functional>
#include <future>
#include <utility>

#include "core/math/denormals.hpp"
#include "core/system/interrupt.hpp"

namespace graze::python {

namespace py = pybind11;

/// Returns work(flag), done in a thread of its own in which motions end once the flag is set. Meanwhile other
/// threads of Python run; every 50 ms this one takes the lock to handle signals and call `meanwhile`. What
/// either of them raises (KeyboardInterrupt) sets the flag and is raised here when the work has ended. Call
/// it with the lock held.
template <class Work>
auto listening(
    Work work, const std::function<void()>& meanwhile = [] {}) {
  constexpr std::chrono::milliseconds pause(50);
  InterruptFlag flag = false;
  auto result = std::async(std::launch::async, [&] {
    const InterruptScope scope(&flag);
    const Denormals flushed(Denormals::mode() | Denormals::flush);
    return work(flag);
  });
  const auto is_ready = [&] {
    const py::gil_scoped_release release;
    return result.wait_for(pause) == std::future_status::ready;
  };
  while (!is_ready()) {
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      meanwhile();
    } catch (...) {
      flag = true;
      const py::gil_scoped_release release;
      result.wait();
      throw;
    }
  }
  return result.get();
}

}  // namespace graze::python
