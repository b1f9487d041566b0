#include "drivers/library/text.hpp"

#include <fmt/format.h>

#include <array>

namespace graze {

std::string time_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

std::string bytes_text(double bytes) {
  constexpr std::array units = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
  std::size_t unit = 0;
  for (bytes /= 1000; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string points_text(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "point" : "points");
}

std::string shell_text(std::string_view argument) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string_view::npos)
    return std::string(argument);
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + '\'';
}

}  // namespace graze
