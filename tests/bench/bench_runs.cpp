/// Whole runs of the program, files written, beside Boost.Odeint: `graze run` of sweeps, maps and basins,
/// every question answered, against the bare motion of the same oscillators over the same periods, without
/// any question, in one run. Processor time on one thread, the median of the repetitions; large grids on two
/// threads, wall time and greatest memory.
///
///     bench_runs build/bench/graze [repetitions] [only]
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/odeint_peer.hpp"
#include "tests/bench/side_by_side.hpp"
#include "tests/bench/work.hpp"

extern char** environ;

namespace graze::bench {
namespace {

constexpr int odeint_values = 20;  // of a work

/// What a run of the program has taken.
struct Taken {
  double processor = 0, wall = 0;  ///< seconds
  double megabytes = 0;            ///< greatest memory
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

class Program {
 public:
  explicit Program(std::string path)
      : path_(std::move(path)), folder_(std::filesystem::temp_directory_path()) {
    folder_ /= "bench_runs." + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  ~Program() {
    std::error_code none;
    std::filesystem::remove_all(folder_, none);
  }

  /// A case file from text; its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / (name + ".toml")).string();
    std::ofstream(path) << text;
    return path;
  }
  /// Runs a case from the beginning. Throws std::runtime_error where the program does.
  Taken run(const std::string& file, const std::string& kernel, int threads,
            const std::vector<std::string>& settings) const {
    const std::string result = (folder_ / "result.h5").string();
    std::filesystem::remove(result);
    std::vector<std::string> words = {path_,      "run",  file,        "--quiet",
                                      "--output", result, "--threads", std::to_string(threads)};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::setenv("GRAZE_CPU", kernel.c_str(), 1);
    const auto begin = std::chrono::steady_clock::now();
    pid_t child = 0;
    if (::posix_spawn(&child, path_.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
      throw std::runtime_error("cannot start " + path_);
    }
    int status = 0;
    rusage used{};
    ::wait4(child, &status, 0, &used);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != 0 && code != 4)
      throw std::runtime_error(path_ + " run " + file + ": exit code " + std::to_string(code));
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    return {seconds(used.ru_utime) + seconds(used.ru_stime), wall.count(),
            static_cast<double>(used.ru_maxrss) / 1024};
  }

 private:
  std::string path_;
  std::filesystem::path folder_;
};

double median(std::vector<double> list) {
  std::sort(list.begin(), list.end());
  return list.empty() ? 0 : list[list.size() / 2];
}

/// Seconds of the integrator per value of the frequency.
double odeint_seconds(double from, double to) {
  const double begin = processor_seconds();
  for (int k = 0; k < odeint_values; ++k) {
    OdeintPeer<TwoMasses>(TwoMasses{from + (to - from) * (k + 0.5) / odeint_values}).run();
  }
  return (processor_seconds() - begin) / odeint_values;
}

/// One sweep of the two masses and the frequencies that it goes over, with so many points for each kernel.
struct Sweep {
  std::string name, keys;
  double from, to;
};

void sweeps(const Program& program, int repetitions, const std::string& only) {
  const std::vector<Sweep> list = {{"W", "", 0.6, 1.5},
                                   {"chaotic", "", 1.44, 1.5},
                                   {"chaotic, persist 0", "persist = 0\n", 1.44, 1.5},
                                   {"W, friction", "", 0.6, 1.5}};
  std::printf("%-20s %-10s %10s %14s\n", "sweep", "kernel", "us a point", "times Odeint");
  for (const Sweep& sweep : list) {
    if (!only.empty() && sweep.name.find(only) == std::string::npos) continue;
    const bool friction = sweep.name == "W, friction";
    const std::string file = program.write(
        "sweep", "graze = 1\n[model]\nname = \"two_dof_stops\"\n" +
                     std::string(friction ? "f1 = 0.05\n" : "") + "[analysis]\nname = \"sweep\"\n" +
                     sweep.keys + "axis = { parameter = \"delta\", from = " + std::to_string(sweep.from) +
                     ", to = " + std::to_string(sweep.to) + ", points = 17000 }\n");
    for (const std::string kernel : {"avx512", "avx2", "none"}) {
      const int points = friction || kernel == "none" ? 1700 : 17000;
      std::vector<double> graze, odeint;
      for (int k = 0; k < repetitions; ++k) {
        const Taken taken = program.run(file, kernel, 1, {"analysis.axis.points=" + std::to_string(points)});
        graze.push_back(taken.processor / points);
        odeint.push_back(odeint_seconds(sweep.from, sweep.to));
      }
      std::printf("%-20s %-10s %10.4g %14.4g\n", sweep.name.c_str(), kernel.c_str(), 1e6 * median(graze),
                  median(odeint) / median(graze));
      std::fflush(stdout);
      if (friction) break;  // no kernel is made for it
    }
  }
}

/// Grids as large as this and a quarter of it, along either side: memory does not grow with them.
void grids(const Program& program, const std::string& only, int side) {
  struct Grid {
    std::string name, file;
    std::vector<std::string> settings;
  };
  const std::vector<Grid> list = {{"map", "data/cases/mass_ratio_map.toml", {"analysis.record=32"}},
                                  {"basins", "data/cases/basins.toml", {}},
                                  {"quick start", "data/cases/quickstart.toml", {}}};
  std::printf("%-20s %14s %10s %10s %14s\n", "grid, two threads", "points", "wall s", "MB",
              "us a point, CPU");
  for (const Grid& grid : list) {
    if (!only.empty() && grid.name.find(only) == std::string::npos) continue;
    const bool line = grid.name == "quick start";
    for (const int length : {side / 4, side}) {
      std::vector<std::string> settings = grid.settings;
      const int along = line ? 14 * length : length;
      settings.push_back("analysis.axis.points=" + std::to_string(along));
      if (!line) settings.push_back("analysis.axis2.points=" + std::to_string(length));
      const Taken taken = program.run(grid.file, "", 2, settings);
      const double points = line ? along : static_cast<double>(length) * length;
      std::printf("%-20s %14.0f %10.4g %10.4g %14.4g\n", grid.name.c_str(), points, taken.wall,
                  taken.megabytes, 1e6 * taken.processor / points);
      std::fflush(stdout);
    }
  }
}

int run(int argc, char** argv) {
  if (argc < 2) throw std::runtime_error("needs the path of the program, then repetitions, a name, a side");
  const Program program(argv[1]);
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::string only = argc > 3 ? argv[3] : "";
  const int side = argc > 4 ? std::atoi(argv[4]) : 1000;
  sweeps(program, repetitions, only);
  grids(program, only, side);
  return 0;
}

}  // namespace
}  // namespace graze::bench

int main(int argc, char** argv) {
  return graze::bench::reported("bench_runs", [&] { return graze::bench::run(argc, argv); });
}
