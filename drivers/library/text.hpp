/// Numbers for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace graze {

/// "45 s", "12 min", "3.2 h", "5.1 d".
std::string time_text(double seconds);

/// "512 B", "3.1 kB", "2.4 GB" (powers of 1000).
std::string bytes_text(double bytes);

/// "1 point", "20 points".
std::string points_text(std::size_t count);

/// An argument as a shell takes it.
std::string shell_text(std::string_view argument);

}  // namespace graze
