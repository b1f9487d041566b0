/// The marching engine (core/lanes/LANES.md) beside Boost.Odeint and CVODE, kernel by kernel: the same
/// oscillators, the same periods, one thread, everything in turn in one run. Rates are impacts per second of
/// processor time, with the making of systems and tables; the integrators do every so manieth value. Kernels
/// with "every": periods that are known because the motion has come back to an earlier state are gone through
/// all the same (Lanes::Repeats).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/lanes/lanes.hpp"
#include "core/results/shard.hpp"
#include "data/case_file.hpp"
#include "drivers/library/case.hpp"
#include "tests/bench/cvode_peer.hpp"
#include "tests/bench/library.hpp"
#include "tests/bench/odeint_peer.hpp"
#include "tests/bench/side_by_side.hpp"
#include "tests/bench/work.hpp"

namespace graze::bench {
namespace {

constexpr std::size_t values = 1000;
constexpr std::size_t odeint_stride = 50;
constexpr std::size_t cvode_stride = 500;
constexpr std::size_t lanes_at_once = 128;

/// The oscillators of one work, one per frequency.
struct Crowd {
  std::shared_ptr<const Model> model;
  std::size_t parameter = 0;
  std::vector<double> start;
  std::vector<double> frequencies;

  std::unique_ptr<System> system(double frequency) const {
    std::vector<double> list = model->values();
    list[parameter] = frequency;
    return model->system(list, {});
  }

  /// All periods of the frequencies first … last − 1; impacts.
  std::int64_t march(std::size_t first, std::size_t last, std::vector<std::vector<double>>* points,
                     Lanes::Repeats repeats = Lanes::Repeats::known) const {
    std::int64_t impacts = 0;
    for (std::size_t begin = first; begin < last; begin += lanes_at_once) {
      const std::size_t end = std::min(last, begin + lanes_at_once);
      std::vector<std::unique_ptr<System>> systems;
      std::vector<LaneMotion> motions;
      for (std::size_t k = begin; k < end; ++k) {
        systems.push_back(system(frequencies[k]));
        LaneMotion& m = motions.emplace_back();
        m.system = systems.back().get();
        m.state.x = Eigen::Map<const Eigen::VectorXd>(start.data(), static_cast<Eigen::Index>(start.size()));
        m.impacts.assign(static_cast<std::size_t>(m.system->contacts()), 0);
      }
      Lanes lanes(motions, {}, repeats);
      lanes.advance(dropped_periods, false);
      lanes.advance(recorded_periods, true);
      for (std::size_t k = begin; k < end; ++k) {
        for (const std::int64_t n : motions[k - begin].impacts) impacts += n;
        if (points != nullptr) (*points)[k] = std::move(motions[k - begin].points);
      }
    }
    return impacts;
  }
};

Crowd crowd(const Value& model, std::vector<double> start, const std::string& frequency, double from,
            double to) {
  const Problem p = problem(model, start, "simulate", Value(Value::Table{}), Value(Value::Table{}));
  Crowd c;
  c.model = p.model;
  c.parameter = static_cast<std::size_t>(p.model->parameter_index(frequency));
  c.start = std::move(start);
  for (std::size_t k = 0; k < values; ++k) {
    c.frequencies.push_back(from + (to - from) * static_cast<double>(k) / (values - 1.0));
  }
  return c;
}

Crowd two_masses(double from, double to) {
  Value model;
  model.set("name", Value("two_dof_stops"));
  return crowd(model, std::vector<double>(4, 0.0), "delta", from, to);
}

Crowd one_mass(double from, double to) {
  Value model;
  model.set("name", Value("impact_oscillator"));
  model.set("b", Value(0.1));
  return crowd(model, {-0.1, 0}, "omega", from, to);
}

/// A linear system of the case file, from rest.
Crowd linear(const std::string& toml, std::size_t states, double from, double to) {
  const Value model =
      parse_case("graze = 1\n[model]\nname = 'linear_stops'\n" + toml, "bench", {}).root.at("model");
  return crowd(model, std::vector<double>(states, 0.0), "omega", from, to);
}

Crowd bilinear(double from, double to) {
  return linear(
      "mass = [[1]]\ndamping = [[0.1]]\nstiffness = [[1]]\nforce = [{ cosine = [1] "
      "}]\n"
      "stop = [{ normal = [1], position = 0.2, stiffness = 9 }]",
      2, from, to);
}

Crowd soft_chain(double from, double to) {
  return linear(
      "mass = [[1, 0], [0, 1]]\ndamping = [[0.2, -0.1], [-0.1, 0.1]]\n"
      "stiffness = [[2, -1], [-1, 1]]\nforce = [{ cosine = [0.5, 0] }]\n"
      "stop = [{ normal = [1, 0], position = 0.3, stiffness = 20, damping = 0.5 }]",
      4, from, to);
}

/// Events of a peer that make one contact.
template <class Oscillator>
constexpr int events_per_contact() {
  if constexpr (requires { Oscillator::events_per_contact; }) return Oscillator::events_per_contact;
  return 1;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Oscillator>
void contest(const char* name, const Crowd& c, int repetitions) {
  std::vector<Row> rows;
  std::vector<std::int64_t> impacts;
  std::vector<std::vector<double>> exact(values), marched(values);
  choose_lane_kernel("none");
  const std::int64_t all = c.march(0, values, &exact);
  for (const std::string& kernel : lane_kernels()) {
    choose_lane_kernel(kernel);
    const std::int64_t here = c.march(0, values, &marched);
    int close = 0;
    for (std::size_t k = 0; k < values; ++k) {
      double d = 0;
      for (std::size_t i = 0; i < exact[k].size(); ++i)
        d = std::max(d, std::abs(exact[k][i] - marched[k][i]));
      close += d <= 1e-12 ? 1 : 0;
    }
    std::printf("%s, %s: %lld impacts (scalar engine %lld), %d of %zu motions within 1e-12 of it\n", name,
                kernel.c_str(), static_cast<long long>(here), static_cast<long long>(all), close, values);
    const auto add = [&](const std::string& label, Lanes::Repeats repeats) {
      impacts.push_back(here);
      rows.push_back({label,
                      [&c, kernel, repeats] {
                        choose_lane_kernel(kernel);
                        c.march(0, values, nullptr, repeats);
                      },
                      {}});
    };
    if (kernel == "none") {
      add("scalar engine", Lanes::Repeats::known);
    } else {
      add(kernel, Lanes::Repeats::known);
      add(kernel + " every", Lanes::Repeats::gone_through);
    }
  }
  std::int64_t odeint = 0, cvode = 0;
  const auto each = [&c](std::size_t stride, const auto& run) {
    std::int64_t sum = 0;
    for (std::size_t k = stride / 2; k < values; k += stride) sum += run(Oscillator{c.frequencies[k]});
    return sum / events_per_contact<Oscillator>();
  };
  rows.push_back(
      {"Boost.Odeint",
       [&] { odeint = each(odeint_stride, [](auto o) { return OdeintPeer<decltype(o)>(o).run().impacts; }); },
       {}});
  rows.push_back(
      {"CVODE",
       [&] { cvode = each(cvode_stride, [](auto o) { return CvodePeer<decltype(o)>(o).run().impacts; }); },
       {}});
  run_in_turn(rows, repetitions);
  impacts.push_back(odeint);
  impacts.push_back(cvode);
  const auto rate = [&](std::size_t r) { return static_cast<double>(impacts[r]) / rows[r].median(); };
  std::printf("%-14s %-14s %12s %10s %10s\n", "work", "program", "M impacts/s", "of Odeint", "of CVODE");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::printf("%-14s %-14s %12.4g %10.4g %10.4g\n", name, rows[r].name.c_str(), rate(r) / 1e6,
                rate(r) / rate(rows.size() - 2), rate(r) / rate(rows.size() - 1));
  }
  std::fflush(stdout);
}

/// All of it in blocks, shared out among so many threads as `execute` does; wall seconds.
double shared_out(const Crowd& c, int threads) {
  constexpr std::size_t per_block = 25;  // few enough for both to end at the same time
  const std::vector<std::size_t> order = dealt(values / per_block);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t place = next++; place < order.size(); place = next++) {
      c.march(order[place] * per_block, (order[place] + 1) * per_block, nullptr);
    }
  };
  const double begin = wall_seconds();
  std::vector<std::thread> others;
  for (int k = 1; k < threads; ++k) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  return wall_seconds() - begin;
}

/// Wall time of one thread over that of two, of W with the best kernel; and of two that share nothing.
void two_threads(const Crowd& c, int repetitions) {
  choose_lane_kernel("");
  std::vector<double> one, two, both;
  for (int k = 0; k < repetitions; ++k) {
    one.push_back(shared_out(c, 1));
    two.push_back(shared_out(c, 2));
    const double begin = wall_seconds();
    std::thread other([&] { shared_out(c, 1); });
    shared_out(c, 1);
    other.join();
    both.push_back(wall_seconds() - begin);
  }
  for (auto* list : {&one, &two, &both}) std::sort(list->begin(), list->end());
  const std::size_t m = one.size() / 2;
  std::printf("W, two threads against one: %.3g; two copies that share nothing: %.3g\n", one[m] / two[m],
              2 * one[m] / both[m]);
}

/// The whole quick-start sweep with its classification.
void quick_start(int repetitions) {
  const Case c = load_case("data/cases/quickstart.toml", {});
  const Plan plan = make_plan(c, 1);
  std::vector<Row> rows;
  for (const std::string& kernel : lane_kernels()) {
    rows.push_back({kernel,
                    [&, kernel] {
                      choose_lane_kernel(kernel);
                      computed(*c.analysis, plan.boxes, 1);
                    },
                    {}});
  }
  run_in_turn(rows, repetitions);
  for (const Row& row : rows) {
    std::printf("quick-start sweep, %-10s %8.3g s, %.3g of the scalar engine\n", row.name.c_str(),
                row.median(), rows.front().median() / row.median());
  }
}

int run(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 5;
  const std::string only = argc > 2 ? argv[2] : "";
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  if (wanted("W")) contest<TwoMasses>("W", two_masses(0.6, 1.5), repetitions);
  if (wanted("chaotic")) contest<TwoMasses>("chaotic", two_masses(1.44, 1.5), repetitions);
  if (wanted("shuffled")) {
    Crowd shuffled = two_masses(0.6, 1.5);
    std::shuffle(shuffled.frequencies.begin(), shuffled.frequencies.end(), std::mt19937(1));
    contest<TwoMasses>("shuffled", shuffled, repetitions);
  }
  if (wanted("S")) contest<OneMass>("S", one_mass(1.5, 2.65), repetitions);
  if (wanted("Sfull")) contest<OneMass>("S full", one_mass(1.5, 3.5), repetitions);
  if (wanted("bilinear")) contest<Bilinear>("bilinear", bilinear(0.6, 1.5), repetitions);
  if (wanted("chain")) contest<SoftChain>("soft chain", soft_chain(0.6, 1.5), repetitions);
  if (wanted("threads")) two_threads(two_masses(0.6, 1.5), repetitions);
  if (wanted("quick")) quick_start(repetitions);
  return 0;
}

}  // namespace
}  // namespace graze::bench

int main(int argc, char** argv) {
  return graze::bench::reported("bench_lanes", [&] { return graze::bench::run(argc, argv); });
}
