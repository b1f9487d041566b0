#include "drivers/run/stop.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "core/settings/value.hpp"
#include "drivers/command/command.hpp"

namespace graze {
namespace {

constexpr std::array signals = {SIGINT, SIGTERM, SIGUSR1};

constexpr unsigned grace = 1;  // seconds for the blocks in flight

volatile std::sig_atomic_t caught = 0;
volatile std::sig_atomic_t ending = 0;
std::array<char, 4096> words;
std::size_t words_size = 0;

/// Only calls that are allowed while a signal is handled, here and below.
extern "C" void note_signal(int signal) {
  caught = signal;
  if (signal == SIGUSR1 || ending != 0) return;
  ending = 1;
  ::alarm(grace);
}

extern "C" void end_program(int) {
  static_cast<void>(!::write(STDERR_FILENO, words.data(), words_size));
  ::_exit(static_cast<int>(Exit::stopped_early));
}

}  // namespace

Seconds read_duration(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  const double scale = unit == "h" ? 3600 : unit == "m" ? 60 : unit == "s" || unit.empty() ? 1 : 0;
  if (error != std::errc{} || !(number > 0) || !std::isfinite(number) || scale == 0) {
    throw InputError("--max-time " + text + ": must be a time above zero such as 3h, 20m or 45s");
  }
  return Seconds(number * scale);
}

StopWatch::StopWatch(std::optional<Seconds> limit, const std::string& last_words)
    : begin_(std::chrono::steady_clock::now()), limit_(limit) {
  caught = 0;
  ending = 0;
  words_size = std::min(last_words.size(), words.size());
  std::copy_n(last_words.begin(), words_size, words.begin());
  for (const int signal : signals) {
    struct sigaction action {};
    action.sa_handler = note_signal;
    // The second SIGINT has its usual effect; batch systems may repeat the others.
    action.sa_flags = SA_RESTART | (signal == SIGINT ? static_cast<int>(SA_RESETHAND) : 0);
    sigaction(signal, &action, nullptr);
  }
  std::signal(SIGALRM, end_program);
}

StopWatch::~StopWatch() {
  ::alarm(0);
  for (const int signal : signals) std::signal(signal, SIG_DFL);
  std::signal(SIGALRM, SIG_DFL);
}

bool StopWatch::late() const { return limit_ && std::chrono::steady_clock::now() - begin_ >= *limit_; }

bool StopWatch::stop() const { return caught != 0 || late(); }

std::string StopWatch::reason() const {
  return caught != 0 ? std::string("signal: ") + strsignal(caught) : "the time given by --max-time is over";
}

}  // namespace graze
