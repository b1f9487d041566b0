#include "drivers/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "core/value.hpp"

namespace graze {

namespace fs = std::filesystem;

void check_can_write(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw InputError(path + ": is a folder, not a file to write");
  fs::path folder = fs::absolute(path).parent_path();
  while (!fs::exists(folder, error)) folder = folder.parent_path();  // missing folders are made later
  if (!fs::is_directory(folder, error)) {
    throw InputError(fmt::format("{}: {} is no folder", path, folder.string()));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InputError(
        fmt::format("{}: nothing can be written in {}: {}", path, folder.string(), std::strerror(errno)));
  }
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);  // main looks whether it arrived
    return;
  }
  const bool special = fs::exists(path) && !fs::is_regular_file(path);  // a pipe or device: no renaming
  const std::string target = special ? path : fmt::format("{}.{}.part", path, getpid());
  fs::create_directories(fs::absolute(path).parent_path());
  errno = 0;
  std::ofstream file(target, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    const int error = errno;
    if (!special) fs::remove(target);
    throw std::runtime_error(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
  }
  if (!special) fs::rename(target, path);
}

}  // namespace graze
