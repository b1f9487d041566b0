#include "drivers/plot/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "core/settings/value.hpp"
#include "drivers/run/output_file.hpp"

namespace graze {
namespace {

constexpr int pdf_pixels_per_inch = 144;
constexpr int font_pixels = 20;

/// What differs between the formats.
struct Format {
  std::string_view ending;
  std::string_view last_bytes;  ///< found near the end of every whole file of this format
  double dot;                   ///< size of points that makes them look the same in all formats
  std::string (*terminal)(int width, int height);
};

constexpr std::array<Format, 3> formats = {{
    {".png", "IEND", 1.0,
     [](int width, int height) {
       return fmt::format("pngcairo noenhanced size {},{} font 'Sans,{}' linewidth 1.6 background '#ffffff'",
                          width, height, font_pixels);
     }},
    {".svg", "</svg>", 1.0,
     [](int width, int height) {
       return fmt::format(
           "svg noenhanced size {},{} font 'DejaVu Sans,{}' linewidth 1.6 background '#ffffff'", width,
           height, font_pixels);
     }},
    {".pdf", "%%EOF", 0.6,
     [](int width, int height) {
       constexpr double inch = pdf_pixels_per_inch;
       return fmt::format(
           "pdfcairo noenhanced size {:.4f}in,{:.4f}in font 'Sans,{:.1f}' fontscale 1 linewidth 0.8 "
           "background '#ffffff'",
           width / inch, height / inch, font_pixels * 72 / inch);
     }},
}};

const Format& format_of(const std::string& picture) {
  const std::string ending = std::filesystem::path(picture).extension();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const Format& format) { return format.ending == ending; });
  if (found == formats.end())
    throw InputError(fmt::format("{}: a picture ends in .png, .svg or .pdf", picture));
  return *found;
}

/// Length of the UTF-8 character at the front, 0 when there is none (RFC 3629).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool no_scalar = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  if (overlong || no_scalar) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return length;
}

/// A write to a gnuplot that has given up shall be an error there, not the end of this program.
class IgnoredBrokenPipe {
 public:
  IgnoredBrokenPipe() : old_(std::signal(SIGPIPE, SIG_IGN)) {}
  IgnoredBrokenPipe(const IgnoredBrokenPipe&) = delete;
  IgnoredBrokenPipe& operator=(const IgnoredBrokenPipe&) = delete;
  ~IgnoredBrokenPipe() { std::signal(SIGPIPE, old_); }

 private:
  void (*old_)(int);
};

/// What gnuplot says goes here: a file, so that neither side can block the other.
class Messages {
 public:
  Messages() : file_(std::tmpfile(), &std::fclose) {
    if (!file_) throw std::runtime_error(fmt::format("no temporary file: {}", std::strerror(errno)));
  }

  int descriptor() const { return fileno(file_.get()); }
  std::string text() {
    std::rewind(file_.get());
    std::string text(4000, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file_.get()));
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

pid_t start_gnuplot(int input, int output, int messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
  std::string program = "gnuplot";
  std::string no_init_files = "-d";
  std::array<char*, 3> arguments = {program.data(), no_init_files.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw InputError(fmt::format("plotting needs the program gnuplot: {} (Debian: apt install gnuplot-nox)",
                                 std::strerror(error)));
  return child;
}

/// Runs a script whose picture goes to the file `output`; no file name ever reaches gnuplot.
void run_gnuplot(std::string_view script, int output) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("no pipe to gnuplot: {}", std::strerror(errno)));
  const auto close_end = [](int* end) { close(*end); };
  std::unique_ptr<int, decltype(close_end)> read_end(&ends[0], close_end);
  std::unique_ptr<int, decltype(close_end)> write_end(&ends[1], close_end);

  Messages messages;
  const pid_t child = start_gnuplot(*read_end, output, messages.descriptor());
  read_end.reset();
  const IgnoredBrokenPipe ignored;
  const bool all_sent = write_all(*write_end, script);
  write_end.reset();
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!all_sent || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("gnuplot failed: " + messages.text());
}

/// gnuplot does not tell when the disk was full: a whole file ends as its format says.
void check_whole(const std::string& file, const Format& format, const std::string& picture) {
  constexpr std::streamoff tail_size = 64;
  std::ifstream in(file, std::ios::binary);
  in.seekg(0, std::ios::end);
  in.seekg(std::max<std::streamoff>(0, in.tellg() - tail_size));
  std::string tail(static_cast<std::size_t>(tail_size), '\0');
  in.read(tail.data(), tail_size);
  if (tail.find(format.last_bytes) == std::string::npos)
    throw std::runtime_error(
        fmt::format("{}: gnuplot could not write all of it (is the disk full?)", picture));
}

/// For a script that is kept: the picture appears in the folder of the script.
std::string output_beside_script(const std::string& picture) {
  const std::string name = std::filesystem::path(picture).filename();
  return fmt::format(
      "folder = ARG0\n"
      "while (strlen(folder) > 0 && folder[strlen(folder):*] ne '/') {{ folder = folder[1:strlen(folder) - "
      "1] }}\n"
      "if (folder eq '') {{ folder = './' }}\n"
      "set output folder . {}\n",
      gnuplot_text(name));
}

void keep(const std::string& script, const std::string& picture) {
  const std::string target = picture + ".gp";
  PartialFile partial(target);
  const std::string text =
      "# Made by graze; `gnuplot FILE` draws the picture again.\n" + output_beside_script(picture) + script;
  if (!write_all(partial.descriptor(), text))
    throw InputError(fmt::format("{}: can't be written: {}", target, std::strerror(errno)));
  partial.finish();
}

}  // namespace

std::string gnuplot_text(std::string_view text) {
  // All punctuation that could mean something to gnuplot goes in as octal escapes of a double-quoted string.
  constexpr std::string_view harmless = " .,:;-_+=()[]/<>";
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0)
      result += '?';
    else if (first < 0x20 || first == 0x7f)
      result += ' ';
    else if (length > 1 || std::isalnum(first) || harmless.find(text.front()) != std::string_view::npos)
      result += text.substr(0, length);
    else
      result += fmt::format("\\{:03o}", first);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result + '"';
}

void check_picture_name(const std::string& picture) { format_of(picture); }

void write_picture(const Drawing& drawing, const std::string& picture, bool keep_script) {
  const Format& format = format_of(picture);
  const std::string script =
      fmt::format("set encoding utf8\nset terminal {}\ndot = {}\n{}set output\n",
                  format.terminal(drawing.width, drawing.height), format.dot, drawing.script);
  PartialFile partial(picture);
  run_gnuplot(script, partial.descriptor());
  check_whole(partial.name(), format, picture);
  if (keep_script) keep(script, picture);
  partial.finish();
}

}  // namespace graze
