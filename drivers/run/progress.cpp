#include "drivers/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "drivers/library/text.hpp"

namespace graze {

Progress::Progress(std::size_t total, std::size_t before, bool quiet)
    : total_(total),
      before_(before),
      done_(before),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      begin_(Clock::now()),
      last_(begin_) {}

Progress::~Progress() {
  if (!drawn_ || !terminal_) return;
  draw();
  fmt::print(stderr, "\n");
}

void Progress::add(std::size_t points) {
  done_ += points;
  if (quiet_) return;
  const bool first = terminal_ && !drawn_;  // a bar stands from the first points on
  const Clock::duration pause =
      terminal_ ? Clock::duration(std::chrono::milliseconds(200)) : Clock::duration(std::chrono::minutes(1));
  const Clock::time_point now = Clock::now();
  if (!first && now - last_ < pause) return;
  last_ = now;
  drawn_ = true;
  draw();
}

void Progress::draw() const {
  const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double rate = static_cast<double>(done_ - before_) / spent;  // points of this run only
  const std::string left = done_ > before_ ? time_text(static_cast<double>(total_ - done_) / rate) : "?";
  const double share = static_cast<double>(done_) / static_cast<double>(total_);
  const std::string numbers =
      fmt::format("{:5.1f} %  {} of {} points  {} left", 100 * share, done_, total_, left);
  if (!terminal_) {
    fmt::print(stderr, "graze: {}\n", numbers);
    return;
  }
  constexpr std::size_t width = 30;
  const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
  fmt::print(stderr, "\r[{}{}] {}\x1b[K", std::string(full, '#'), std::string(width - full, '.'), numbers);
  std::fflush(stderr);
}

}  // namespace graze
