#include "drivers/command/broken_files.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <string>

#include "data/h5.hpp"

namespace graze {
namespace {

constexpr std::array crashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int late = SIGVTALRM;
// Of processor time for one call of the library: slow disks take none.
constexpr double least_seconds = 10;
constexpr double bytes_per_second = 1e7;

int exit_code = 0;
timer_t timer;
const char* file = nullptr;
volatile std::sig_atomic_t reader = 0;  // the thread that reads; 0: none

void say(const char* text) { static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text))); }

/// Only calls that are allowed while a signal is handled.
extern "C" void end_reading(int signal) {
  if (reader == 0 || (signal != late && reader != ::gettid())) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  for (const char* text : {"graze: ", file, ": the HDF5 library ",
                           signal == late ? "does not come to an end with this file" : "crashes on this file",
                           " (it is damaged)\n"})
    say(text);
  ::_exit(exit_code);
}

void begin_reading(const std::string& path, double bytes) {
  file = path.c_str();
  reader = ::gettid();
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = late;
  timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer);
  itimerspec limit{};
  limit.it_value.tv_sec = static_cast<std::time_t>(least_seconds + bytes / bytes_per_second);
  timer_settime(timer, 0, &limit, nullptr);
}

void finish_reading() {
  timer_delete(timer);
  reader = 0;
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
  action.sa_handler = end_reading;
  action.sa_flags = SA_ONSTACK;
  for (const int crash : crashes) sigaction(crash, &action, nullptr);
  sigaction(late, &action, nullptr);
  h5::watch_reading({begin_reading, finish_reading});
}

}  // namespace graze
