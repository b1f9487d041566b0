#include "drivers/explore/described_case.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/settings/symbol.hpp"
#include "drivers/plot/colours.hpp"
#include "drivers/plot/described.hpp"

namespace graze {
namespace {

constexpr std::array shown_analyses = {"sweep", "continue", "curves", "basins", "simulate"};

void check_analysis(const std::string& name, const std::string& path) {
  if (std::find(shown_analyses.begin(), shown_analyses.end(), name) != shown_analyses.end()) return;
  throw InputError(path + ": the page shows sweep, continue, curves, basins and simulate, not " + name +
                   "; graze plot draws it");
}

Value quantity(const Quantity& q) {
  Value result;
  result.set("name", Value(q.name));
  result.set("symbol", Value(symbol_of(q)));
  result.set("unit", Value(q.unit == "1" ? "" : typeset_unit(q.unit)));
  result.set("meaning", Value(q.meaning));
  result.set("velocity_of", Value(q.velocity_of));
  return result;
}

Value quantities(const std::vector<Quantity>& list) {
  Value::Array result;
  for (const Quantity& q : list) result.push_back(quantity(q));
  return Value(std::move(result));
}

Value parameters(const Model& model) {
  Value::Array result;
  for (const Parameter& parameter : model.parameters()) {
    Value entry = quantity(parameter);
    entry.set("value", Value(Value::Data(parameter.value)));
    entry.set("low", Value(Value::Data(parameter.range.low)));
    entry.set("high", Value(Value::Data(parameter.range.high)));
    entry.set("rule", Value(parameter.range.text()));
    result.push_back(std::move(entry));
  }
  return Value(std::move(result));
}

/// The tables of a case file; in each, every value in TOML.
Value sections(const Value& root) {
  Value result{Value::Table{}};
  for (const char* name : {"model", "initial", "analysis", "tolerance", "run"}) {
    const Value* table = root.find(name);
    if (table == nullptr) continue;
    Value section{Value::Table{}};
    for (const auto& [key, value] : table->table(name)) section.set(key, Value(value.toml()));
    result.set(name, std::move(section));
  }
  return result;
}

template <class Colour>
Value colour_list(std::size_t count, const Colour& colour) {
  Value::Array list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(Value(colour(i)));
  return Value(std::move(list));
}

Value colours() {
  Value classes;
  for (const char* name : {"undetermined", "periodic", "quasiperiodic", "chaotic", "unbounded", "failed"})
    classes.set(name, Value(class_colour(name)));
  Value result;
  result.set("classes", std::move(classes));
  result.set("contacts", colour_list(6, contact_colour));
  result.set("sets", colour_list(set_colours, set_colour));
  result.set("regions", colour_list(region_colours, region_colour));
  return result;
}

}  // namespace

Shown read_shown(const std::string& path) {
  Shown shown;
  shown.name = path;
  if (path.ends_with(".toml")) {
    shown.file = read_case(path, {});
    return shown;
  }
  shown.has_result = true;
  shown.result = read_result(path);
  check_analysis(attribute(shown.result.attributes, "analysis"), path);
  shown.file = recorded_case(shown.result.attributes, path);
  return shown;
}

Value described(const Shown& shown, const Case& c) {
  check_analysis(c.question->name, shown.name);
  Value result;
  result.set("title", Value(c.title));
  result.set("name", Value(shown.name));
  result.set("analysis", Value(c.question->name));
  result.set("model", Value(c.model->name));
  result.set("meaning", Value(c.model->meaning));
  result.set("parameters", parameters(*c.problem.model));
  result.set("states", quantities(c.problem.model->states()));
  Value::Array drifting;
  const auto system = c.problem.model->system(c.problem.model->values(), c.problem.tolerance);
  for (const std::string& state : drifting_states(*c.problem.model, system.get()))
    drifting.push_back(Value(state));
  result.set("drifting", Value(std::move(drifting)));
  result.set("contacts", quantities(c.problem.model->contacts()));
  Value::Array start;
  for (const double x : c.problem.start_state) start.emplace_back(x);
  result.set("start", Value(std::move(start)));
  result.set("start_time", Value(Value::Data(c.problem.start_time)));
  result.set("forced", Value(Value::Data(system != nullptr && system->period() > 0)));
  result.set("sections", sections(c.file.root));
  result.set("colours", colours());
  return result;
}

}  // namespace graze
