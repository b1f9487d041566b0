/// graze explore: a page in the browser that shows a result and computes what is asked of it.
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "drivers/command/broken_files.hpp"
#include "drivers/command/command.hpp"
#include "drivers/explore/job.hpp"
#include "drivers/explore/page.hpp"
#include "drivers/explore/server.hpp"
#include "drivers/explore/token.hpp"
#include "drivers/run/output_file.hpp"

namespace graze {
namespace {

struct PageRequest {
  std::string path;
  int port = 0;
  bool no_browser = false;
};

constexpr int highest_port = 65535;

std::string answer(std::string_view type, const std::string& content, std::string_view further = {}) {
  return answer_head(200, type, fmt::format("Content-Length: {}\r\n{}", content.size(), further)) + content;
}

std::string answered_page() {
  const std::string nonce = random_token();
  return answer("text/html; charset=utf-8", served_page(nonce),
                fmt::format("Content-Security-Policy: default-src 'none'; script-src 'self' 'nonce-{}'; "
                            "style-src 'self'; connect-src 'self'; img-src data: blob:; "
                            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n",
                            nonce));
}

std::string answered_file(const std::string& frames, std::string_view name) {
  if (name == "frames") return answer("application/octet-stream", frames);
  for (const PageFile& file : page_files())
    if (file.name == name && name != "index.html")
      return answer(name.ends_with(".js") ? "text/javascript; charset=utf-8" : "text/css; charset=utf-8",
                    std::string(file.text));
  return {};
}

/// Removes a file when the server has ended.
struct Removed {
  std::string path;
  ~Removed() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove(path, ignored);
  }
};

/// Opens the browser of the desktop by a file of one's own that leads to the address: command lines can be
/// read by other users. Without a desktop nothing happens.
void open_browser(const std::string& address, Removed& page) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/graze-XXXXXX.html";
  const int file = ::mkstemps(path.data(), 5);
  if (file < 0) return;
  page.path = path;
  const std::string text = fmt::format(
      "<!doctype html><meta name=\"referrer\" content=\"no-referrer\">"
      "<meta http-equiv=\"refresh\" content=\"0; url={0}\"><a href=\"{0}\">graze</a>\n",
      address);
  const bool written = write_all(file, text);
  ::close(file);
  if (!written) return;
  std::string program = "xdg-open";
  std::array<char*, 3> arguments = {program.data(), path.data(), nullptr};
  pid_t pid = 0;
  ::posix_spawnp(&pid, program.c_str(), nullptr, nullptr, arguments.data(), environ);
}

void explore(const PageRequest& request) {
  const Shown shown = read_shown(request.path);
  const std::string frames = first_frame(shown);
  Service service;
  service.token = random_token();
  service.page = answered_page;
  service.file = [&](std::string_view name) { return answered_file(frames, name); };
  service.job = [&](std::string_view body, int out) { do_job(shown, body, out); };
  Removed page;
  serve(service, request.port, [&](const std::string& address) {
    fmt::print("{}\n", address);
    std::fflush(stdout);
    fmt::print(stderr, "graze: {}: the page is served until Ctrl-C\n", request.path);
    if (!request.no_browser) open_browser(address, page);
  });
}

}  // namespace

GRAZE_COMMAND(explore) {
  static_cast<void>(context);
  Verb verb =
      app.add_verb("explore", "show a result or a case in the browser and compute what is asked of it");
  const auto request = std::make_shared<PageRequest>();
  verb.option("FILE", request->path, "result file, or case file (.toml)", {.required = true});
  verb.option("--port", request->port, "port on this machine; 0: any free one",
              {.value = "N", .least = 0, .most = highest_port});
  verb.flag("--no-browser", request->no_browser, "only print the address of the page");
  verb.footer(
      "The address is printed; it contains a secret and is valid on this machine only, until Ctrl-C. From a\n"
      "machine without a screen: ssh -L 8000:127.0.0.1:8000 machine graze explore FILE --port 8000\n"
      "Examples:\n"
      "  graze explore result.h5\n"
      "  graze explore case.toml --port 8000 --no-browser");
  verb.callback([request] { on_result(request->path, [&] { explore(*request); }); });
}

}  // namespace graze
