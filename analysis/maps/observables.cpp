#include "analysis/maps/observables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/equations/scope.hpp"
#include "core/math/root_search.hpp"

namespace graze {
namespace {

/// Dimensions and arrays that results have of their own.
constexpr std::array<const char*, 12> taken = {"time",    "state",  "mode",  "sticks",
                                               "outcome", "sample", "event", "component",
                                               "contact", "jump",   "point", "dry_friction"};

bool is_usable(const std::string& name) {
  return is_symbol(name) && !function_named(name) && name != "pi" && name != "t";
}

Scope scope_of(const Model& model) {
  Scope scope(1 + model.states().size());
  std::size_t index = 0;
  for (const Quantity& state : model.states()) {
    ++index;
    if (is_usable(state.name)) scope.add_input(state.name, index);
    if (!state.velocity_of.empty()) scope.add_input(state.velocity_of + "'", index);
  }
  index = 0;
  for (const Parameter& parameter : model.parameters()) {
    if (is_usable(parameter.name))
      scope.add_parameter(parameter.name, index, Value(parameter.value), parameter.name);
    ++index;
  }
  scope.add_input("t", 0);
  return scope;
}

}  // namespace

std::vector<Key> observable_keys() {
  std::vector<Key> keys;
  add_key(keys, "name", Key::Type::text, "name in results and pictures").required = true;
  Key& value = add_key(keys, "value", Key::Type::number,
                       "an expression of states, parameters and the time t; x' is the velocity of x");
  value.required = true;
  value.expressions = true;
  add_key(keys, "meaning", Key::Type::text, "in a few words");
  add_key(keys, "unit", Key::Type::text, "UDUNITS text").fallback = Value("1");
  return keys;
}

Observables::Observables(const Value::Array& given, const Model& model) {
  Scope scope = scope_of(model);
  std::vector<Expression> values;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const std::string key = "observable." + std::to_string(k);
    const Value& name = given[k].at("name");
    const Value* meaning = given[k].find("meaning");
    const std::string& text = name.text(key + ".name");
    const auto refuse = [&](const std::string& rule) {
      throw InputError(name.place(), key + ".name", name.toml(), rule);
    };
    if (std::find(taken.begin(), taken.end(), text) != taken.end() || text.starts_with("event_"))
      refuse("results have an array of this name; another name");
    const Expression value = scope.build(given[k].at("value"), key + ".value");
    scope.add_quantity(text, value, name, key + ".name");
    values.push_back(value);
    quantities_.push_back({text, given[k].at("unit").text(key + ".unit"),
                           meaning != nullptr ? meaning->text(key + ".meaning") : "observable " + text});
  }
  program_ = Program(scope.graph(), values, false);
  operations_ = scope.graph().fixed();
}

std::vector<double> Observables::fixed_at(std::span<const double> parameters) const {
  std::vector<double> fixed;
  evaluate_fixed(operations_, parameters.data(), fixed);
  return fixed;
}

std::vector<double> Observables::at(std::span<const double> parameters, double time,
                                    std::span<const double> state) const {
  const std::vector<double> fixed = fixed_at(parameters);
  std::vector<double> values(size());
  Workspace<double> workspace;
  workspace.run(
      program_, fixed.data(), [&](std::size_t i) { return i == 0 ? time : state[i - 1]; },
      [&](std::size_t i, double value) { values[i] = value; });
  return values;
}

Observation::Observation(const Observables& observables, std::span<const double> parameters)
    : observables_(observables),
      fixed_(observables.fixed_at(parameters)),
      rows_(observables.program_.rows()),
      sums_(observables.size()) {}

void Observation::piece(const MotionPiece& piece) {
  std::vector<Polynomial> inputs;
  const auto take = [&](std::span<const double> c) {
    inputs.push_back(polynomial_part({c.begin(), c.end()}, 0, piece.end));
  };
  take(piece.time());
  for (std::size_t i = 0; i + 1 < observables_.program_.inputs(); ++i) take(piece.state(i));
  const double length = sum_of_moduli(inputs.front(), 1);
  if (!(length > 0)) return;
  duration_ += std::accumulate(inputs.front().begin() + 1, inputs.front().end(), 0.0);
  add(inputs, 0);
}

void Observation::add(const std::vector<Polynomial>& inputs, int halvings) {
  constexpr int most_halvings = 8;
  const Program& program = observables_.program_;
  const std::size_t terms = inputs.front().size();
  std::vector<double*> row;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (r < inputs.size()) {
      rows_[r] = inputs[r];
    } else {
      rows_[r].assign(terms, 0);
    }
    row.push_back(rows_[r].data());
  }
  for (std::size_t k = 0; k < terms; ++k) program.advance(row.data(), static_cast<int>(k), fixed_.data());
  bool ended = true;
  for (std::size_t i = 0; i < sums_.size(); ++i)
    ended = ended && has_ended(rows_[program.output(i)], sums_[i]);
  if (!ended && halvings < most_halvings) {
    for (const double from : {0.0, 0.5}) {
      std::vector<Polynomial> half;
      half.reserve(inputs.size());
      for (const Polynomial& p : inputs) half.push_back(polynomial_part(p, from, 0.5));
      add(half, halvings + 1);
    }
    return;
  }
  const Polynomial& clock = inputs.front();
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Polynomial& value = rows_[program.output(i)];
    for (std::size_t j = 1; j < terms; ++j) {
      if (clock[j] == 0) continue;
      double integral = 0;
      for (std::size_t k = terms; k-- > 0;) integral += value[k] / static_cast<double>(j + k);
      sums_[i].integral += static_cast<double>(j) * clock[j] * integral;
    }
    add_extrema(value, sums_[i]);
  }
}

/// Whether the last terms of a series are rounding of what the observable has been so far.
bool Observation::has_ended(const Polynomial& value, const Sum& sum) const {
  constexpr double rounding = 1e-15;
  constexpr std::size_t last = 4;
  double size = sum_of_moduli(value);
  if (sum.greatest >= sum.least) size = std::max({size, std::abs(sum.least), std::abs(sum.greatest)});
  return value.size() <= last || !(sum_of_moduli(std::span(value).last(last)) > rounding * size);
}

/// At the ends and at every zero of the slope that may be beyond what is known.
void Observation::add_extrema(const Polynomial& value, Sum& sum) {
  const auto add = [&](double v) {
    sum.least = std::min(sum.least, v);
    sum.greatest = std::max(sum.greatest, v);
  };
  add(polynomial(value, 0));
  add(polynomial(value, 1));
  const double spread = sum_of_moduli(std::span(value).subspan(1));
  if (value[0] - spread >= sum.least && value[0] + spread <= sum.greatest) return;
  for (const double s : stationary_points(value)) add(polynomial(value, s));
}

std::vector<Observed> Observation::result() const {
  std::vector<Observed> list;
  for (const Sum& sum : sums_) {
    if (duration_ > 0 && std::isfinite(sum.integral)) {
      list.push_back({sum.integral / duration_, sum.least, sum.greatest});
    } else {
      list.emplace_back();
    }
  }
  return list;
}

void Observables::add_arrays(PointArrays& arrays, const std::string& time) const {
  for (const Quantity& q : quantities_) {
    for (const Part& part : parts)
      arrays.add((q.name + part.suffix).c_str(), {}, std::vector<double>{}, q.unit.c_str(),
                 (part.meaning + time + ": " + q.meaning).c_str());
  }
}

void Observables::store(std::span<const Observed> observed, std::size_t point, Dataset& block) const {
  for (std::size_t k = 0; k < observed.size(); ++k) {
    for (const Part& part : parts)
      *row_of<double>(block, (quantities_[k].name + part.suffix).c_str(), point) = observed[k].*part.value;
  }
}

std::vector<Observed> observe(const Observables& observables, std::span<const double> parameters,
                              System& system, std::span<const HybridState> starts, const Section& section) {
  Observation observation(observables, parameters);
  for (HybridState state : starts) {
    if (system.advance(state, section, &observation) != Outcome::ok)
      return std::vector<Observed>(observables.size());
  }
  return observation.result();
}

}  // namespace graze
