#include "drivers/run/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "core/settings/value.hpp"

namespace graze {

namespace fs = std::filesystem;

void check_can_write(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw InputError(path + ": is a folder, not a file to write");
  fs::path folder = fs::absolute(path).parent_path();
  while (!fs::exists(folder, error)) folder = folder.parent_path();  // missing folders are made later
  if (!fs::is_directory(folder, error)) {
    throw InputError(fmt::format("{}: {} is not a folder", path, folder.string()));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InputError(
        fmt::format("{}: nothing can be written in {}: {}", path, folder.string(), std::strerror(errno)));
  }
}

PartialFile::PartialFile(const std::string& target)
    : target_(target), name_(fmt::format("{}.{}.partial", target, getpid())) {
  unlink(name_.c_str());  // of a killed process that had the same number
  descriptor_ = open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw InputError(fmt::format("{}: cannot be written: {}", target, std::strerror(errno)));
}

PartialFile::~PartialFile() {
  close(descriptor_);
  unlink(name_.c_str());
}

void PartialFile::finish() {
  if (std::rename(name_.c_str(), target_.c_str()) != 0)
    throw InputError(fmt::format("{}: cannot be written: {}", target_, std::strerror(errno)));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);  // main looks whether it arrived
    return;
  }
  const auto check = [&](bool good) {
    if (!good) throw std::runtime_error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  };
  if (fs::exists(path) && !fs::is_regular_file(path)) {  // a pipe or device: no renaming
    const int special = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    check(special >= 0);
    const bool good = write_all(special, text);
    close(special);
    check(good);
    return;
  }
  fs::create_directories(fs::absolute(path).parent_path());
  PartialFile file(path);
  check(write_all(file.descriptor(), text));
  file.finish();
}

void warn(const std::string& text) {
  if (!text.empty()) fmt::print(stderr, "graze: warning: {}\n", text);
}

}  // namespace graze
