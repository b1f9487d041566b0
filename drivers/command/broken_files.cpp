#include "drivers/command/broken_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <variant>

#include "core/settings/value.hpp"
#include "data/h5.hpp"

namespace graze {
namespace {

constexpr std::array crashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int late = SIGVTALRM;
// Of processor time for all calls that read one file after the other: slow disks take none.
constexpr double least_seconds = 10;
constexpr double seconds_per_byte = 1e-7;

int exit_code = 0;
timer_t timer;
const char* file = nullptr;
bool writes = false;
volatile std::sig_atomic_t worker = 0;  // the thread that is in the library; 0: none

void say(const char* text) { static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text))); }

/// Only calls that are allowed while a signal is handled, here and below.
[[noreturn]] void end_program(const char* what) {
  for (const char* text : {"graze: ", file, ": ", what, "\n"}) say(text);
  if (writes) ::unlink(file);  // half written, under its temporary name
  ::_exit(writes ? static_cast<int>(Exit::internal_error) : exit_code);
}

const char* crashed() {
  return writes ? "the HDF5 library crashes while it writes this file (out of memory?)"
                : "the HDF5 library crashes on this file (it is damaged, or memory is short)";
}

extern "C" void end_call(int signal) {
  if (worker == 0 || (signal != late && worker != ::gettid())) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  end_program(signal == late ? "the HDF5 library does not finish reading this file (it is damaged)"
                             : crashed());
}

/// The library calls exit() where it gets no memory.
extern "C" void end_at_exit() {
  if (worker != 0) end_program(crashed());
}

double seconds_of(const itimerspec& time) {
  return static_cast<double>(time.it_value.tv_sec) + 1e-9 * static_cast<double>(time.it_value.tv_nsec);
}

/// What is left of the processor time of the file that was read last.
double seconds_left = 0;

void begin_call(const std::string& path, h5::Access access, double bytes) {
  static std::string last;
  writes = access == h5::Access::write;
  file = path.c_str();
  if (!writes) {
    if (path != last) seconds_left = least_seconds;
    last = path;
    seconds_left += bytes * seconds_per_byte;
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = late;
    timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer);
    itimerspec limit{};
    const double seconds = std::max(seconds_left, 1e-3);
    limit.it_value.tv_sec = static_cast<std::time_t>(seconds);
    limit.it_value.tv_nsec = static_cast<long>(1e9 * (seconds - std::floor(seconds)));
    timer_settime(timer, 0, &limit, nullptr);
  }
  worker = ::gettid();
}

void finish_call() {
  worker = 0;
  if (writes) return;
  itimerspec left{};
  timer_gettime(timer, &left);
  seconds_left = seconds_of(left);
  timer_delete(timer);
}

}  // namespace

void end_on_broken_files(Exit exit) {
  exit_code = static_cast<int>(exit);
  // Of its own: the crash may be that of a stack which is too deep.
  static std::array<std::byte, 1 << 16> memory;
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = end_call;
  action.sa_flags = SA_ONSTACK;
  for (const int crash : crashes) sigaction(crash, &action, nullptr);
  sigaction(late, &action, nullptr);
  std::atexit(end_at_exit);
  h5::watch_calls({begin_call, finish_call});
}

void on_result(const std::string& path, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::out_of_range& error) {
    throw InputError(path + ": lacks what is needed here: " + error.what());
  } catch (const std::bad_variant_access&) {
    throw InputError(path + ": an array that is needed here has another type than it should");
  } catch (const InputError& error) {
    const std::string text = error.what();
    throw InputError(text.find(path) == std::string::npos ? path + ": " + text : text);
  }
}

}  // namespace graze
