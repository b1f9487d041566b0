#include "tests/bench/graze_sweep.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "tests/bench/library.hpp"

namespace graze::bench {
namespace {

constexpr std::size_t points_per_block = 4;

template <class T>
const std::vector<T>& values(const Dataset& data, const char* array) {
  return std::get<std::vector<T>>(data.at(array).values);
}

/// Row number `row` of an array whose leading dimension has `rows` entries.
template <class T>
std::vector<T> row(const Dataset& data, const char* array, std::size_t row, std::size_t rows) {
  const std::vector<T>& all = values<T>(data, array);
  const auto width = static_cast<std::ptrdiff_t>(all.size() / rows);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row) * width;
  return {begin, begin + width};
}

Finding finding(const Dataset& block, std::size_t point, std::size_t points) {
  Finding found;
  const Array& attractor = block.at("attractor");
  const auto kind = std::get<std::vector<std::int8_t>>(attractor.values)[point];
  found.periodic = kind >= 0 && attractor.flags.at(static_cast<std::size_t>(kind)) == "periodic";
  found.period = values<std::int32_t>(block, "period")[point];
  found.points = row<double>(block, "map_state", point, points);
  for (const std::int64_t n : row<std::int64_t>(block, "impacts", point, points)) {
    found.impacts += static_cast<double>(n);
  }
  found.impacts /= values<double>(block, "forcing_periods")[point];
  return found;
}

}  // namespace

GrazeSweep::GrazeSweep(const Value& model, std::vector<double> start, const std::string& frequency,
                       double from, double to, std::int64_t values) {
  Value axis;
  axis.set("parameter", Value(frequency));
  axis.set("from", Value(from));
  axis.set("to", Value(to));
  axis.set("points", Value(values));
  Value table;
  table.set("axis", std::move(axis));
  table.set("transient", Value(std::int64_t{dropped_periods}));
  table.set("record", Value(std::int64_t{recorded_periods}));
  problem_ = problem(model, std::move(start), "sweep", table, Value(Value::Table{}));
  analysis_ = named(analyses(), "sweep").make(problem_);
  blocks_ = analysis_->blocks(points_per_block);
  parameter_ = static_cast<std::size_t>(problem_.model->parameter_index(frequency));
  frequencies_ = bench::values<double>(analysis_->layout(), frequency.c_str());
}

std::vector<Dataset> GrazeSweep::run(int threads) const { return computed(*analysis_, blocks_, threads); }

std::vector<Finding> GrazeSweep::findings(const std::vector<Dataset>& blocks) const {
  std::vector<Finding> all(frequencies_.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::size_t points = blocks_[b].points();
    for (std::size_t k = 0; k < points; ++k) all[blocks_[b].offset[0] + k] = finding(blocks[b], k, points);
  }
  return all;
}

std::unique_ptr<System> GrazeSweep::system(double frequency) const {
  std::vector<double> values = problem_.model->values();
  values[parameter_] = frequency;
  std::unique_ptr<System> system = problem_.model->system(values, problem_.tolerance);
  if (!system) throw std::runtime_error("no system at this frequency");
  return system;
}

std::vector<double> GrazeSweep::turn(double frequency, bool with_derivatives) const {
  const std::unique_ptr<System> moving = system(frequency);
  HybridState state = problem_.start();
  const Eigen::Index n = state.x.size();
  const Eigen::Index all = static_cast<Eigen::Index>(directions());
  Tangent tangent;
  tangent.state = Eigen::MatrixXd::Identity(n, all);
  tangent.time = Eigen::RowVectorXd::Zero(all);
  tangent.parameter = Eigen::MatrixXd::Zero(all - n, all);
  tangent.parameter.rightCols(all - n).setIdentity();
  for (int period = 0; period < recorded_periods; ++period) {
    const Outcome outcome = with_derivatives ? moving->advance(state, Section{}, tangent)
                                             : moving->advance(state, Section{}, nullptr);
    if (outcome != Outcome::ok) throw std::runtime_error(advice(outcome));
  }
  return {state.x.begin(), state.x.end()};
}

Orbit GrazeSweep::follow(double frequency) const {
  const std::unique_ptr<System> system = this->system(frequency);
  HybridState state = problem_.start();
  Orbit orbit;
  ImpactCounter counter;
  for (int period = 1; period <= dropped_periods + recorded_periods; ++period) {
    const std::int64_t before = counter.impacts;
    const Outcome outcome = system->advance(state, Section{}, &counter);
    if (outcome != Outcome::ok) throw std::runtime_error(advice(outcome));
    if (period <= dropped_periods) continue;
    orbit.recorded_impacts += counter.impacts - before;
    orbit.points.insert(orbit.points.end(), state.x.begin(), state.x.end());
  }
  orbit.impacts = counter.impacts;
  return orbit;
}

}  // namespace graze::bench
