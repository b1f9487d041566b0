/// The server of the page: one thread, loopback only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace graze {

/// What is served.
struct Service {
  std::string token;                                  ///< first part of every path
  std::function<std::string()> page;                  ///< whole answer to a request for the page
  std::function<std::string(std::string_view)> file;  ///< … for a file beside it; "" where there is none
  std::function<void(std::string_view body, int out)> job;  ///< called in a process of its own
};

/// Serves on 127.0.0.1 until SIGINT, SIGTERM or SIGHUP. `port` 0: any free one. `ready(address)` is called
/// when requests are taken. Throws InputError when the port is taken.
///
/// Below `/TOKEN/` there are the page, its files, and `run/LANE`: POST of JSON, done by Service::job in a
/// process of its own; a newer job of a lane ends the older one, and so does a client that goes away.
/// Everything else is refused: other tokens, hosts or origins, headers above 8 kB, content above 64 kB, more
/// than 256 connections or 8 jobs at a time, jobs of more than 10 min. A job that crashes harms nothing else.
void serve(const Service& service, int port, const std::function<void(const std::string& address)>& ready);

}  // namespace graze
