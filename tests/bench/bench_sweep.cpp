/// How fast the public sweep is beside what one would write with Boost.Odeint or SUNDIALS: the same
/// oscillators, the same periods, the same machine, one run. All must agree before anything is timed; the
/// program fails when they do not. Options are those of google-benchmark.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/cvode_peer.hpp"
#include "tests/bench/graze_sweep.hpp"
#include "tests/bench/odeint_peer.hpp"
#include "tests/bench/side_by_side.hpp"
#include "tests/bench/work.hpp"

namespace graze::bench {
namespace {

/// Parameter values of each work; the slower programs are timed on every so manieth, and compared per impact.
constexpr std::int64_t parameter_values = 1000;
constexpr std::size_t odeint_stride = 8;
constexpr std::size_t cvode_stride = 50;

/// Agreement asked of Poincaré points of periodic motions.
constexpr double same_point = 1e-5;
/// … of the impacts in all periods: integrators may lose or gain as many in the transient.
constexpr std::int64_t same_impacts = 5;
/// … and where the motion is not periodic, as a share.
constexpr double same_share = 0.15;
/// A motion has come to its periodic orbit when its recorded points return to within this …
constexpr double settled_return = 1e-9;
/// … and at most this share of the periodic orbits may be out of reach of the dropped periods.
constexpr double unsettled_share = 0.03;

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

/// Whether the recorded points repeat themselves after `period` of them to within `difference`.
bool repeats(const std::vector<double>& points, int period, double difference) {
  const auto shift = static_cast<std::size_t>(period) * points.size() / recorded_periods;
  const auto begin = points.begin() + static_cast<std::ptrdiff_t>(shift);
  const std::vector<double> later(begin, points.end());
  return largest_difference({points.begin(), points.end() - (begin - points.begin())}, later) < difference;
}

/// The largest difference of two motions round one orbit of this period, whichever point they begin with.
double orbit_difference(std::vector<double> a, const std::vector<double>& b, int period) {
  const auto width = static_cast<std::ptrdiff_t>(b.size()) / recorded_periods;
  a.resize(static_cast<std::size_t>(period * width));
  const std::vector<double> once(b.begin(), b.begin() + period * width);
  double smallest = HUGE_VAL;
  for (int turn = 0; turn < period; ++turn) {
    std::rotate(a.begin(), a.begin() + width, a.end());
    smallest = std::min(smallest, largest_difference(a, once));
  }
  return smallest;
}

/// Counts what agrees and what does not, and says where.
class Comparison {
 public:
  explicit Comparison(std::string title) : title_(std::move(title)) {}

  void points(double frequency, double difference) {
    worst_ = std::max(worst_, difference);
    if (!(difference <= same_point)) complain(frequency, "points", difference, same_point);
  }
  void impacts(double frequency, double difference, double allowed) {
    ++compared_;
    if (!(std::abs(difference) <= allowed)) complain(frequency, "impacts", difference, allowed);
  }
  /// Prints a line; true when all agreed on something.
  bool report() const {
    std::printf("%-32s %4d values, points of periodic motions within %.1e: %s\n", title_.c_str(), compared_,
                worst_, failures_ == 0 ? "agree" : "DISAGREE");
    return failures_ == 0 && compared_ > 0;
  }

 private:
  void complain(double frequency, const char* what, double difference, double allowed) {
    ++failures_;
    std::printf("%s: frequency %.17g: %s differ by %.3g, more than %.3g\n", title_.c_str(), frequency, what,
                difference, allowed);
  }

  std::string title_;
  int compared_ = 0;
  int failures_ = 0;
  double worst_ = 0;
};

/// Seconds of each repetition of one row.
struct Seconds {
  std::vector<double> processor, wall;
};

double median(std::vector<double> list) {
  if (list.empty()) return std::nan("");
  std::sort(list.begin(), list.end());
  const std::size_t n = list.size();
  return (list[(n - 1) / 2] + list[n / 2]) / 2;
}

/// Prints median and variation of each row and keeps every repetition for the table of ratios.
class Keeper : public benchmark::ConsoleReporter {
 public:
  Keeper() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> aggregates;
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Aggregate) {
        if (run.aggregate_name == "median" || run.aggregate_name == "cv") aggregates.push_back(run);
      } else if (!run.error_occurred) {
        Seconds& seconds = rows_[run.run_name.function_name];
        seconds.processor.push_back(run.cpu_accumulated_time / static_cast<double>(run.iterations));
        seconds.wall.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
      }
    }
    if (!aggregates.empty()) ConsoleReporter::ReportRuns(aggregates);
  }
  const Seconds& row(const std::string& name) { return rows_[name]; }

 private:
  std::map<std::string, Seconds> rows_;
};

/// A row of one work on one thread, so timed by the processor time of this one.
benchmark::internal::Benchmark* time_row(const std::string& name, std::int64_t impacts,
                                         const std::function<void()>& work) {
  return benchmark::RegisterBenchmark(name.c_str(),
                                      [impacts, work](benchmark::State& state) {
                                        for (auto _ : state) work();
                                        state.SetItemsProcessed(impacts * state.iterations());
                                      })
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

/// One work and the programs that do it.
template <class Oscillator>
class Contest {
 public:
  Contest(std::string name, GrazeSweep graze) : name_(std::move(name)), graze_(std::move(graze)) {}

  /// Whether all programs agree; prints how well.
  bool agree() {
    const std::vector<double>& frequencies = graze_.frequencies();
    const std::vector<Finding> findings = graze_.findings(graze_.run(1));
    int reached = 0, not_reached = 0;
    Comparison sweep(name_ + ": sweep, plain motion");
    Comparison odeint(name_ + ": Boost.Odeint, plain motion");
    Comparison cvode(name_ + ": CVODE, plain motion");
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      const double frequency = frequencies[i];
      const Finding& found = findings[i];
      const Orbit plain = graze_.follow(frequency);
      impacts_ += plain.impacts;
      const bool settled = found.periodic && repeats(plain.points, found.period, settled_return);
      if (found.periodic) ++(settled ? reached : not_reached);
      if (settled) {
        sweep.points(frequency, orbit_difference(found.points, plain.points, found.period));
        const double counted = static_cast<double>(plain.recorded_impacts);
        sweep.impacts(frequency, found.impacts * recorded_periods - counted, same_impacts);
      }
      if (timed(i, odeint_stride)) {
        const Orbit peer = OdeintPeer<Oscillator>(Oscillator{frequency}).run();
        compare(odeint, frequency, settled ? found.period : 0, plain, peer);
        odeint_impacts_ += peer.impacts;
      }
      if (timed(i, cvode_stride)) {
        const Orbit peer = CvodePeer<Oscillator>(Oscillator{frequency}).run();
        compare(cvode, frequency, settled ? found.period : 0, plain, peer);
        cvode_impacts_ += peer.impacts;
      }
    }
    std::printf("%s: %d periodic motions, %d of them too slow to be reached in %d periods\n", name_.c_str(),
                reached + not_reached, not_reached, dropped_periods);
    const bool enough = not_reached <= unsettled_share * reached;
    const bool first = sweep.report();
    const bool second = odeint.report();
    const bool third = cvode.report();
    return enough && first && second && third;
  }

  void register_rows() {
    time_row(name_ + " graze sweep", impacts_, [this] { benchmark::DoNotOptimize(graze_.run(1)); });
    time_row(name_ + " graze sweep, 2 threads", impacts_, [this] {
      benchmark::DoNotOptimize(graze_.run(2));
    })->UseRealTime();
    time_row(name_ + " graze sweep, twice at once", 2 * impacts_, [this] {
      std::thread other([this] { benchmark::DoNotOptimize(graze_.run(1)); });
      benchmark::DoNotOptimize(graze_.run(1));
      other.join();
    })->UseRealTime();
    time_row(name_ + " graze plain motion", impacts_, [this] {
      for (const double frequency : graze_.frequencies()) benchmark::DoNotOptimize(graze_.follow(frequency));
    });
    for (const bool derivatives : {false, true}) {
      time_row(name_ + (derivatives ? jacobian_row : plain_row), 0, [this, derivatives] {
        each_timed(odeint_stride, [&](const Oscillator& o) { return graze_.turn(o.frequency, derivatives); });
      });
    }
    time_row(name_ + " Boost.Odeint", odeint_impacts_, [this] {
      each_timed(odeint_stride, [](const Oscillator& o) { return OdeintPeer<Oscillator>(o).run(); });
    });
    time_row(name_ + " CVODE", cvode_impacts_, [this] {
      each_timed(cvode_stride, [](const Oscillator& o) { return CvodePeer<Oscillator>(o).run(); });
    });
  }

  void print_ratios(Keeper& kept) const {
    const auto rate = [&](const char* program, std::int64_t impacts) {
      return static_cast<double>(impacts) / median(kept.row(name_ + program).processor);
    };
    const double odeint = rate(" Boost.Odeint", odeint_impacts_);
    const double cvode = rate(" CVODE", cvode_impacts_);
    const auto line = [&](const char* program, double rate_of_it) {
      if (std::isnan(rate_of_it)) return;  // left out by a filter
      std::printf("%-4s %-22s %12.4g %12.4g %12.4g\n", name_.c_str(), program, rate_of_it / 1e6,
                  rate_of_it / odeint, rate_of_it / cvode);
    };
    line("graze sweep", rate(" graze sweep", impacts_));
    line("graze plain motion", rate(" graze plain motion", impacts_));
    line("Boost.Odeint", odeint);
    line("CVODE", cvode);
    const double jacobian =
        median(kept.row(name_ + jacobian_row).processor) / median(kept.row(name_ + plain_row).processor);
    if (!std::isnan(jacobian)) {
      std::printf(
          "%-4s an orbit with its derivatives by %zu states and parameters against one without: %.3g\n",
          name_.c_str(), graze_.directions(), jacobian);
    }
    const double one_thread = median(kept.row(name_ + " graze sweep").wall);
    const double two_threads = one_thread / median(kept.row(name_ + " graze sweep, 2 threads").wall);
    const double two_copies = 2 * one_thread / median(kept.row(name_ + " graze sweep, twice at once").wall);
    if (std::isnan(two_threads)) return;
    std::printf(
        "%-4s two threads against one: %.3g; two copies that share nothing, all that this machine has: "
        "%.3g\n",
        name_.c_str(), two_threads, two_copies);
  }

 private:
  static constexpr const char* plain_row = " graze orbit";
  static constexpr const char* jacobian_row = " graze orbit with Jacobian";

  /// Evenly spaced, the first half a stride from the edge.
  static bool timed(std::size_t index, std::size_t stride) { return index % stride == stride / 2; }

  template <class Run>
  void each_timed(std::size_t stride, const Run& run) const {
    for (std::size_t i = 0; i < graze_.frequencies().size(); ++i) {
      if (timed(i, stride)) benchmark::DoNotOptimize(run(Oscillator{graze_.frequencies()[i]}));
    }
  }

  /// `period` of the orbit that the plain motion has come to, 0: none. After a chaotic transient two programs
  /// may meet an orbit of several periods at different ones of its points, or the other one not at all yet.
  static void compare(Comparison& comparison, double frequency, int period, const Orbit& plain,
                      const Orbit& peer) {
    const double more = static_cast<double>(peer.impacts - plain.impacts);
    if (period > 0 && repeats(peer.points, period, same_point)) {
      comparison.points(frequency, orbit_difference(peer.points, plain.points, period));
      comparison.impacts(frequency, more, same_impacts);
    } else {
      comparison.impacts(frequency, more, same_share * static_cast<double>(plain.impacts));
    }
  }

  std::string name_;
  GrazeSweep graze_;
  std::int64_t impacts_ = 0, odeint_impacts_ = 0, cvode_impacts_ = 0;
};

GrazeSweep two_masses() {
  Value model;
  model.set("name", "two_dof_stops");
  return {model, std::vector<double>(4, 0.0), "delta", 0.6, 1.5, parameter_values};
}

GrazeSweep one_mass() {
  const auto list = [](double entry) { return Value(Value::Array{Value(entry)}); };
  const auto matrix = [&](double entry) { return Value(Value::Array{list(entry)}); };
  Value force;
  force.set("cosine", list(1));
  Value stop;
  stop.set("normal", list(1));
  stop.set("position", Value(0.0));
  stop.set("restitution", Value(0.8));
  Value model;
  model.set("name", "linear_stops");
  model.set("mass", matrix(1));
  model.set("damping", matrix(0.1));
  model.set("stiffness", matrix(1));
  model.set("force", Value(Value::Array{force}));
  model.set("stop", Value(Value::Array{stop}));
  return {model, {-0.1, 0}, "omega", 1.5, 2.65, parameter_values};
}

int run(int argc, char** argv) {
  // Repetitions in turn, so that a busy moment of the machine falls on all rows alike.
  std::vector<std::string> options = {argv[0], "--benchmark_repetitions=5",
                                      "--benchmark_enable_random_interleaving=true"};
  options.insert(options.end(), argv + 1, argv + argc);
  std::vector<char*> arguments;
  for (std::string& option : options) arguments.push_back(option.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  Contest<TwoMasses> w("W", two_masses());
  Contest<OneMass> s("S", one_mass());
  const bool w_agrees = w.agree();
  const bool s_agrees = s.agree();
  if (!w_agrees || !s_agrees) return 1;
  w.register_rows();
  s.register_rows();
  Keeper kept;
  std::fflush(stdout);  // google-benchmark writes to std::cout
  benchmark::RunSpecifiedBenchmarks(&kept);
  std::cout << std::flush;
  std::printf("\n%-4s %-22s %12s %12s %12s\n", "work", "program, one thread", "M impacts/s", "of Odeint",
              "of CVODE");
  w.print_ratios(kept);
  s.print_ratios(kept);
  return 0;
}

}  // namespace
}  // namespace graze::bench

int main(int argc, char** argv) {
  return graze::bench::reported("bench_sweep", [&] { return graze::bench::run(argc, argv); });
}
