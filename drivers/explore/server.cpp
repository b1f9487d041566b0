#include "drivers/explore/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>  // Boost 1.74 uses it without saying so

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include "core/settings/value.hpp"
#include "data/memory.hpp"
#include "drivers/explore/job.hpp"
#include "drivers/explore/token.hpp"
#include "drivers/run/output_file.hpp"

namespace graze {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint32_t most_header = 8192;
constexpr std::uint64_t most_content = 65536;
constexpr std::size_t most_connections = 256;
constexpr std::size_t most_jobs = 8;
constexpr std::size_t longest_lane = 64;
constexpr std::chrono::seconds to_ask(10);   // within which a request is whole
constexpr std::chrono::seconds to_read(60);  // within which a client takes a part of the answer
constexpr std::chrono::minutes to_compute(10);

/// The address sanitizer reserves terabytes.
#ifdef __SANITIZE_ADDRESS__
constexpr bool reserves_memory = true;
#else
constexpr bool reserves_memory = false;
#endif

/// A job at work in a process of its own, which ends with this.
class Process {
 public:
  Process(asio::io_context& context, const std::function<void(int out)>& work) : out_(context) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe to a process");
    pid_ = ::fork();
    if (pid_ == 0) become(ends[1], work);
    ::close(ends[1]);
    out_.assign(ends[0]);
    if (pid_ < 0) throw std::runtime_error("no process for a job");
  }
  ~Process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  asio::posix::stream_descriptor& out() { return out_; }
  /// Waits for its end, which its output has announced; "" or how it went wrong.
  std::string ended() {
    const int status = wait();
    if (WIFSIGNALED(status)) return fmt::format("the computation was ended by signal {}", WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : "the computation ended without an answer";
  }

 private:
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }
  /// The child: nothing of the server stays open in it, and it doesn't outlive the server.
  [[noreturn]] static void become(int out, const std::function<void(int)>& work) {
    constexpr int own = 3;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
    std::signal(SIGPIPE, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (out != own) ::dup2(out, own);
    ::close_range(own + 1, ~0U, 0);
    limit_memory();
    try {
      work(own);
    } catch (...) {  // std::bad_alloc, mostly: the parent says so
      ::_exit(1);
    }
    ::_exit(0);
  }

  /// A computation that asks for too much fails by itself, and where memory ends it goes first.
  static void limit_memory() {
    constexpr double most = 2e9;
    const auto bytes = static_cast<rlim_t>(std::min(physical_memory() / 2, most));
    const rlimit limit{bytes, bytes};
    if (!reserves_memory) ::setrlimit(RLIMIT_AS, &limit);
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    static_cast<void>(write_all(file, "1000"));
    ::close(file);
  }

  asio::posix::stream_descriptor out_;
  pid_t pid_ = 0;
};

class Connection;

struct Server {
  asio::io_context& context;
  const Service& service;
  unsigned short port;
  std::size_t connections = 0;
  std::size_t jobs = 0;
  std::map<std::string, std::weak_ptr<Connection>, std::less<>> lanes;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Server& server)
      : stream_(std::move(socket)), timer_(server.context), server_(server) {
    ++server_.connections;
    parser_.header_limit(most_header);
    parser_.body_limit(most_content);
  }
  ~Connection() {
    --server_.connections;
    if (job_) --server_.jobs;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    if (server_.connections > most_connections) return say(refusal(503, "too many connections"));
    stream_.expires_after(to_ask);
    http::async_read(stream_, buffer_, parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error == http::error::body_limit || error == http::error::header_limit)
        return self->say(refusal(413, "the request is too large"));
      if (error) return self->close();
      self->answer();
    });
  }

 private:
  std::string_view header(const char* name) const {
    const auto value = parser_.get()[name];
    return {value.data(), value.size()};
  }
  bool is_own_host(std::string_view host) const {
    return host == fmt::format("127.0.0.1:{}", server_.port) ||
           host == fmt::format("localhost:{}", server_.port);
  }
  /// Why this request is not for this page; 0: it is.
  int refused(std::string_view path) const {
    if (!is_own_host(header("Host"))) return 403;
    const std::string_view token = path.substr(0, path.find('/'));
    if (token.size() == path.size() || !same_secret(token, server_.service.token)) return 403;
    const std::string_view origin = header("Origin");
    constexpr std::string_view scheme = "http://";
    if (!origin.empty() && !(origin.starts_with(scheme) && is_own_host(origin.substr(scheme.size()))))
      return 403;
    return 0;
  }

  void answer() {
    const auto& request = parser_.get();
    std::string_view path(request.target().data(), request.target().size());
    if (!path.starts_with('/')) return say(refusal(400, "no such place"));
    path.remove_prefix(1);
    if (const int status = refused(path)) return say(refusal(status, "not for this page"));
    path.remove_prefix(server_.service.token.size() + 1);
    constexpr std::string_view runs = "run/";
    if (request.method() == http::verb::post && path.starts_with(runs))
      return begin_job(path.substr(runs.size()));
    if (request.method() != http::verb::get) return say(refusal(405, "only GET, and POST of jobs"));
    std::string whole = path.empty() ? server_.service.page() : server_.service.file(path);
    say(whole.empty() ? refusal(404, "no such place") : std::move(whole));
  }

  void begin_job(std::string_view lane) {
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    };
    if (lane.empty() || lane.size() > longest_lane || !std::all_of(lane.begin(), lane.end(), is_letter))
      return say(refusal(404, "no such lane"));
    if (!header("Content-Type").starts_with("application/json"))
      return say(refusal(415, "a job is asked for in JSON"));
    lane_ = lane;
    const auto older = server_.lanes.find(lane_);
    if (older != server_.lanes.end())
      if (const auto connection = older->second.lock()) connection->supersede();
    if (server_.jobs >= most_jobs) return say(refusal(503, "too many computations at a time"));
    try {
      job_.emplace(server_.context, [&](int out) { server_.service.job(parser_.get().body(), out); });
    } catch (const std::exception& error) {
      return say(refusal(503, error.what()));
    }
    ++server_.jobs;
    server_.lanes[lane_] = weak_from_this();
    stream_.expires_never();
    watch();
    timer_.expires_after(to_compute);
    timer_.async_wait([self = weak_from_this()](error_code error) {
      if (const auto connection = self.lock(); connection && !error)
        connection->give_up("the computation took too long for a page; graze run has no such limit");
    });
    pass_on();
  }

  /// A client that goes away wants no answer any more.
  void watch() {
    stream_.socket().async_wait(tcp::socket::wait_read, [self = weak_from_this()](error_code) {
      const auto connection = self.lock();
      if (!connection || !connection->job_) return;
      char byte = 0;
      error_code error;
      const std::size_t got =
          connection->stream_.socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, error);
      if (error || got == 0) connection->give_up("");
    });
  }

  void supersede() { give_up("a newer request has taken the place of this one"); }

  void give_up(std::string_view reason) {
    if (!job_) return;
    end_job();
    if (begun_ || reason.empty()) return close();
    say(refusal(409, reason));
  }

  void end_job() {
    if (!job_) return;
    job_.reset();
    --server_.jobs;
    timer_.cancel();
    server_.lanes.erase(lane_);
  }

  /// Part after part of the output of the job goes to the client.
  void pass_on() {
    job_->out().async_read_some(asio::buffer(part_),
                                [self = shared_from_this()](error_code error, std::size_t size) {
                                  if (!self->job_) return;  // given up meanwhile
                                  if (error) return self->finish();
                                  self->begun_ = true;
                                  self->stream_.expires_after(to_read);
                                  asio::async_write(self->stream_, asio::buffer(self->part_, size),
                                                    [self](error_code failed, std::size_t) {
                                                      if (!self->job_) return;
                                                      if (failed) return self->give_up("");
                                                      self->stream_.expires_never();
                                                      self->pass_on();
                                                    });
                                });
  }

  void finish() {
    const std::string fault = job_->ended();
    end_job();
    if (begun_) return close();
    say(refusal(500, fault.empty() ? "the computation ended without an answer" : fault));
  }

  void say(std::string whole) {
    text_ = std::move(whole);
    stream_.expires_after(to_read);
    asio::async_write(stream_, asio::buffer(text_),
                      [self = shared_from_this()](error_code, std::size_t) { self->close(); });
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  Server& server_;
  beast::flat_buffer buffer_{most_header + most_content};
  http::request_parser<http::string_body> parser_;
  std::string text_;
  std::string lane_;
  std::optional<Process> job_;
  bool begun_ = false;
  std::array<char, 65536> part_{};
};

void accept(tcp::acceptor& acceptor, Server& server) {
  acceptor.async_accept([&](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      std::make_shared<Connection>(std::move(socket), server)->start();
    } else {
      ::usleep(10000);  // no file descriptors left: others will end
    }
    accept(acceptor, server);
  });
}

}  // namespace

void serve(const Service& service, int port, const std::function<void(const std::string& address)>& ready) {
  asio::io_context context(1);
  tcp::acceptor acceptor(context);
  acceptor.open(tcp::v4());
  acceptor.set_option(tcp::acceptor::reuse_address(true));
  error_code error;
  acceptor.bind({asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)}, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) throw InputError(fmt::format("--port {}: {}", port, error.message()));
  Server server{context, service, acceptor.local_endpoint().port(), 0, 0, {}};
  asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](error_code, int) { context.stop(); });
  accept(acceptor, server);
  ready(fmt::format("http://127.0.0.1:{}/{}/", server.port, service.token));
  context.run();
}

}  // namespace graze
