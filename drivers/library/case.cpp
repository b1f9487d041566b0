#include "drivers/library/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "analysis/maps/observables.hpp"
#include "core/lanes/lanes.hpp"
#include "core/models/equations/typed_model.hpp"
#include "data/content_digest.hpp"
#include "data/memory.hpp"
#include "drivers/library/chosen_model.hpp"
#include "drivers/library/text.hpp"
#include "generated/version.hpp"

namespace graze {
namespace {

// Files in the block folder of a run, about, unless run.block says otherwise: few enough that other programs
// can open all of them at once, which reading an unfinished result takes.
constexpr double most_blocks = 400;
constexpr double most_files = 100000;  // and at most so many then
constexpr double exact_integers = 1LL << 53;

Key integer_key(const char* name, const char* meaning, double low, double high) {
  Key key;
  key.name = name;
  key.type = Key::Type::integer;
  key.unit = "1";
  key.meaning = meaning;
  key.fallback = Value(std::int64_t{0});
  key.range = Range{low, high};
  return key;
}

Key text_key(const char* name, const char* meaning) {
  Key key;
  key.name = name;
  key.type = Key::Type::text;
  key.meaning = meaning;
  key.fallback = Value("");
  return key;
}

Key table_key(const char* name, const char* meaning, std::vector<Key> children) {
  Key key;
  key.name = name;
  key.type = Key::Type::table;
  key.meaning = meaning;
  key.children = std::move(children);
  return key;
}

Key tables_key(const char* name, const char* meaning, std::vector<Key> children) {
  Key key = table_key(name, meaning, std::move(children));
  key.type = Key::Type::tables;
  return key;
}

/// A required table whose key `name` chooses one of `list` (models or analyses).
template <class Info>
Key choice_key(const char* name, const char* meaning, const std::vector<Info>& list) {
  Key key = table_key(name, meaning, {});
  key.required = true;
  for (const Info& info : list) key.variants.push_back({info.name, info.meaning, info.keys});
  return key;
}

template <class Info>
const Info& chosen(const std::vector<Info>& list, const Value& table) {
  const std::string& name = table.at("name").text("name");
  return *std::find_if(list.begin(), list.end(), [&](const Info& info) { return info.name == name; });
}

/// Keys of [initial] for one model: time, the whole state or its entries by name.
std::vector<Key> initial_keys(const std::vector<Quantity>& states) {
  std::vector<Key> keys(2);
  keys[0].name = "time";
  keys[0].fallback = Value(0.0);
  keys[1].name = "state";
  keys[1].type = Key::Type::numbers;
  for (const Quantity& state : states) {
    Key& key = keys.emplace_back();
    key.name = state.name;
    key.unit = state.unit;
    key.meaning = state.meaning;
  }
  for (Key& key : keys) key.range = Range::finite();
  return keys;
}

/// Results tell contacts and frictions by their names.
void check_names(const std::vector<Quantity>& named, const char* what, const Value& model) {
  std::set<std::string> names;
  for (const Quantity& one : named) {
    if (!names.insert(one.name).second)
      throw InputError(model.place(), "model", one.name, fmt::format("is the name of two {}", what));
  }
}

void read_initial(const Value& given, Problem& problem) {
  const std::vector<Quantity>& states = problem.model->states();
  const Value table = checked(given, initial_keys(states), "initial");
  const Value* state = table.find("state");
  problem.start_time = table.at("time").number("initial.time");
  problem.start_state = problem.model->start(problem.model->values());
  problem.start_given = state != nullptr;
  if (state != nullptr) {
    problem.start_state = state->numbers("initial.state");
    if (problem.start_state.size() != states.size()) {
      throw InputError(state->place(), "initial.state", state->toml(),
                       fmt::format("must have {} entries, one per state of the model", states.size()));
    }
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Value* entry = table.find(states[i].name);
    if (entry == nullptr) continue;
    const std::string key = "initial." + states[i].name;
    if (state != nullptr) {
      throw InputError(entry->place(), key, entry->toml(), "give initial.state or single states, not both");
    }
    problem.start_state[i] = entry->number(key);
    problem.start_given = true;
  }
}

/// Parameter values where the start is looked at: the corners of a sweep, else the model's own.
std::vector<std::vector<double>> corners(const Case& c) {
  std::vector<std::vector<double>> all = {c.problem.model->values()};
  for (const std::string& name : c.analysis->point_dimensions()) {
    const int parameter = c.problem.model->parameter_index(name);
    const Array* axis = c.layout.find(name);
    if (parameter < 0 || axis == nullptr) continue;
    const auto* values = std::get_if<std::vector<double>>(&axis->values);
    if (values == nullptr || values->empty()) continue;
    const std::size_t before = all.size();
    for (std::size_t k = 0; k < before; ++k) {
      std::vector<double> other = all[k];
      all[k][static_cast<std::size_t>(parameter)] = values->front();
      other[static_cast<std::size_t>(parameter)] = values->back();
      all.push_back(std::move(other));
    }
  }
  return all;
}

/// Why no motion may start where the case says at these parameter values; empty: one may.
std::string start_fault(const Problem& problem, const std::vector<double>& values) {
  const std::unique_ptr<System> system = problem.model->system(values, problem.tolerance);
  if (!system) return "";  // that is for the analysis to report
  const HybridState start = problem.start(values);
  if (may_start(*system, start)) return "";
  Eigen::VectorXd gap;
  Eigen::VectorXd rate;
  system->gaps(start, gap, rate);
  Eigen::Index deepest = 0;
  const double least = gap.size() > 0 ? gap.minCoeff(&deepest) : 0;
  if (!(least < 0))
    return "is no state of the model: its rates are not finite there, its masses not positive, or it has no "
           "meaning";
  const Quantity& contact = problem.model->contacts()[static_cast<std::size_t>(deepest)];
  return fmt::format("the start lies inside the stop of contact {} ({}) by {:.6g}", contact.name,
                     contact.meaning, -least);
}

void check_start(const Case& c, const Value& initial) {
  const Value* starts = c.problem.analysis.find("start");
  if (starts != nullptr && starts->is_text() &&
      (starts->text("start") == "random" || starts->text("start") == "from_sweep" ||
       starts->text("start") == "from_continue"))
    return;  // not used then
  std::string first;
  for (const std::vector<double>& values : corners(c)) {
    const std::string here = start_fault(c.problem, values);
    if (here.empty()) return;
    if (first.empty()) first = here;
  }
  throw InputError(initial.place(), "initial", initial.toml(), first);
}

/// A case file may come from a stranger: the result that it names stays in the folder where graze is started.
std::string read_output(const Value& table) {
  const Value& file = table.at("file");
  const std::filesystem::path path = file.text("output.file");
  const bool escapes = path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
  if (!escapes) return path;
  throw InputError(file.place(), "output.file", file.toml(),
                   "must be a name below the current folder; -o takes any other");
}

/// Makes the analysis and the layout of its result.
void ask(Case& c) {
  const auto too_large = [&] {
    return InputError(c.file.path + ": not even the coordinates of the result fit into memory: fewer points");
  };
  try {
    c.analysis = c.question->make(c.problem);
    c.layout = c.analysis->layout();
  } catch (const std::bad_alloc&) {
    throw too_large();
  } catch (const std::length_error&) {  // what a vector says to an absurd size
    throw too_large();
  }
}

std::string digest_of(const std::string& text) {
  ContentDigest digest;
  digest.text("", "model", text);
  return digest.hex();
}

/// Everything that determines the arrays, in one notation.
std::string identity_of(const Value& root, const Case& c, const std::string& sweep_identity) {
  const Problem& problem = c.problem;
  Value::Array state;
  for (const double x : problem.start_state) state.emplace_back(x);
  Value initial;
  initial.set("time", Value(problem.start_time));
  initial.set("state", Value(std::move(state)));

  Value essence;
  essence.set("model", root.at("model"));
  if (!c.model->text.empty()) essence.set("model_file", Value(Value::Data(digest_of(c.model->text))));
  essence.set("initial", std::move(initial));
  essence.set("analysis", root.at("analysis"));
  essence.set("tolerance", root.at("tolerance"));
  if (const Value* observables = root.find("observable")) essence.set("observable", *observables);
  essence.set("seed", root.at("run").at("seed"));
  if (problem.sweep) essence.set("sweep", Value(sweep_identity));
  return fmt::format("graze {}: {}", GRAZE_VERSION, essence.toml());
}

/// A file that a case file names lies in the folder of the case file, else in the current one; one that --set
/// names, in the current one.
std::string found_from_case(const std::string& name, const Value& from) {
  const std::filesystem::path beside = std::filesystem::path(from.place().file).parent_path() / name;
  const bool is_there = from.place().file != "--set" && std::filesystem::exists(beside);
  return is_there ? beside.string() : name;
}

/// Reads the result that the analysis starts from, if it names one; returns its identity.
std::string read_sweep(Problem& problem) {
  const Value* name = problem.analysis.find("sweep");
  const bool of_branches = problem.analysis.at("name").text("analysis.name") == "curves";
  if (of_branches) name = problem.analysis.find("branches");
  if (name == nullptr) return {};
  const std::string key = of_branches ? "analysis.branches" : "analysis.sweep";
  try {
    Result result = read_result(found_from_case(name->text(key), *name));
    result.data.attributes.insert(result.data.attributes.end(), result.attributes.begin(),
                                  result.attributes.end());
    problem.sweep = std::make_shared<const Dataset>(std::move(result.data));
    return attribute(result.attributes, "identity");
  } catch (const InputError& error) {
    throw InputError(name->place(), key, name->toml(), error.what());
  }
}

double element_bytes(const Array& array) {
  return std::visit(
      [](const auto& values) {
        return static_cast<double>(sizeof(typename std::decay_t<decltype(values)>::value_type));
      },
      array.values);
}

/// Bytes of all arrays where the leading dimensions `names` have the extents `counts` instead of their own.
double bytes_of(const Dataset& layout, const std::vector<std::string>& names,
                const std::vector<std::size_t>& counts) {
  double total = 0;
  for (const Array& array : layout.arrays) {
    double bytes = element_bytes(array);
    for (const std::string& dimension : array.dimensions) {
      const auto place = std::find(names.begin(), names.end(), dimension);
      const std::size_t size = place == names.end() ? layout.size(dimension)
                                                    : counts[static_cast<std::size_t>(place - names.begin())];
      bytes *= static_cast<double>(size);
    }
    total += bytes;
  }
  return total;
}

void check_files(const Case& c, double blocks) {
  if (blocks <= most_files) return;
  throw InputError(
      fmt::format("{}: the result would be in {:.0f} block files, more than {:.0f}: a larger run.block "
                  "or fewer branches to follow",
                  c.file.path, blocks, most_files));
}

void check_memory(const Case& c, const Plan& plan) {
  double largest = 0;
  for (const Box& box : plan.boxes) {
    largest = std::max(largest, bytes_of(c.layout, c.analysis->point_dimensions(), box.count));
  }
  const double needed = largest * plan.threads;
  if (needed <= physical_memory()) return;
  throw InputError(fmt::format(
      "{}: a result of {} ({:.0f} bytes) in blocks of up to {}, {} at a time, needs more than the {} of "
      "memory here: fewer points, a shorter record or a smaller run.block",
      c.file.path, bytes_text(plan.bytes), plan.bytes, bytes_text(largest), plan.threads,
      bytes_text(physical_memory())));
}

/// Sweepable parameters that the table [model] gives by names that are none of its keys: entries of matrices,
/// settings of named stops. They are taken out of the table.
Value::Table take_parameters(Value& root, const ModelInfo* info) {
  Value* table = root.find("model");
  auto* members = table != nullptr ? std::get_if<Value::Table>(&table->data()) : nullptr;
  if (info == nullptr || members == nullptr) return {};
  const auto is_key = [&](const auto& member) {
    return member.first == "name" || !member.second.is_number() ||
           std::any_of(info->keys.begin(), info->keys.end(),
                       [&](const Key& key) { return key.name == member.first; });
  };
  const auto others = std::stable_partition(members->begin(), members->end(), is_key);
  Value::Table taken(others, members->end());
  members->erase(others, members->end());
  return taken;
}

/// Where --set chooses another analysis, the keys of the file that belong to the old one only are dropped.
void drop_foreign_keys(Value& root) {
  Value* table = root.find("analysis");
  const Value* name = table != nullptr ? table->find("name") : nullptr;
  if (name == nullptr || !name->is_text() || name->place().file != "--set") return;
  const auto info = std::find_if(analyses().begin(), analyses().end(), [&](const AnalysisInfo& analysis) {
    return analysis.name == name->text("analysis.name");
  });
  auto* members = std::get_if<Value::Table>(&table->data());
  if (info == analyses().end() || members == nullptr) return;
  std::erase_if(*members, [&](const auto& member) {
    return member.second.place().file != "--set" &&
           std::none_of(info->keys.begin(), info->keys.end(),
                        [&](const Key& key) { return key.name == member.first; });
  });
}

/// Throws for a name that is neither a key of the table nor a parameter of the model.
[[noreturn]] void refuse_parameter(const Case& c, const std::string& name, const Value& value) {
  std::vector<std::string> names;
  for (const Key& key : c.model->keys) names.push_back(key.name);
  for (const Parameter& parameter : c.problem.model->parameters()) names.push_back(parameter.name);
  const std::string nearest = nearest_name(name, names);
  throw InputError(value.place(), "model." + name, value.toml(),
                   "unknown key; " + (nearest.empty() ? fmt::format("valid: {}", fmt::join(names, ", "))
                                                      : "did you mean " + nearest + "?"));
}

void set_parameters(Case& c, const Value::Table& given) {
  if (given.empty()) return;
  std::vector<double> values = c.problem.model->values();
  for (const auto& [name, value] : given) {
    const int index = c.problem.model->parameter_index(name);
    if (index < 0) refuse_parameter(c, name, value);
    const Parameter& parameter = c.problem.model->parameters()[static_cast<std::size_t>(index)];
    const double number = value.number("model." + name);
    if (!parameter.range.contains(number))
      throw InputError(value.place(), "model." + name, value.toml(),
                       "must satisfy " + parameter.range.text());
    values[static_cast<std::size_t>(index)] = number;
  }
  c.problem.model = with_values(c.problem.model, values);
}

/// Keys of a case with this model, which need not be one of the list.
std::vector<Key> keys_with(const ModelInfo* model) {
  std::vector<Key> keys = case_keys();
  if (model == nullptr) return keys;
  const auto table = std::find_if(keys.begin(), keys.end(), [](const Key& k) { return k.name == "model"; });
  std::erase_if(table->variants, [&](const Key::Variant& variant) { return variant.name == model->name; });
  table->variants.push_back({model->name, model->meaning, model->keys});
  return keys;
}

/// Everything of a case but its analysis, which may need other files.
Value read_settings(Case& c, CaseFile file) {
  c.file = std::move(file);
  Value given = c.file.root;
  c.model = chosen_model(given, c.file);
  const Value::Table parameters = take_parameters(given, c.model.get());
  drop_foreign_keys(given);
  Value root = checked(given, keys_with(c.model.get()), "");
  c.title = root.at("title").text("title");
  c.question = &chosen(analyses(), root.at("analysis"));
  c.output = read_output(root.at("output"));
  c.block = static_cast<std::size_t>(root.at("run").at("block").integer("run.block"));
  c.threads = static_cast<int>(root.at("run").at("threads").integer("run.threads"));
  c.problem.model = c.model->make(root.at("model"));
  check_names(c.problem.model->contacts(), "contacts", root.at("model"));
  check_names(c.problem.model->frictions(), "frictions", root.at("model"));
  if (const auto* typed = dynamic_cast<const TypedModel*>(c.problem.model.get()))
    c.warnings = typed->warnings();
  set_parameters(c, parameters);
  for (const auto& [name, value] : parameters)
    root.find("model")->set(name, value);  // they are part of its identity
  c.problem.analysis = root.at("analysis");
  c.problem.tolerance = read_tolerance(root.at("tolerance"));
  if (const Value* observables = root.find("observable"))
    c.problem.observables =
        std::make_shared<const Observables>(observables->array("observable"), *c.problem.model);
  c.problem.seed = static_cast<std::uint64_t>(root.at("run").at("seed").integer("run.seed"));
  if (c.problem.tolerance.engine == Tolerance::Engine::odeint && !is_typed(*c.model)) {
    const Value& engine = root.at("tolerance").at("engine");
    throw InputError(engine.place(), "tolerance.engine", engine.toml(),
                     "moves systems of equations only, not a model in C++");
  }
  const Value* initial = root.find("initial");
  read_initial(initial != nullptr ? *initial : Value(Value::Table{}), c.problem);
  return root;
}

}  // namespace

bool is_typed(const ModelInfo& model) { return model.name == "equations" || !model.text.empty(); }

std::vector<Key> case_keys() {
  Key format = integer_key("graze", "format of the case file", 1, 1);
  format.fallback = Value();
  format.required = true;
  Key initial = table_key(
      "initial", "the start: time (default 0) and state = [...], or single states by name (default 0)", {});
  initial.type = Key::Type::open;  // its keys are known with the model only
  return {
      format,
      text_key("title", "what the case shows; the title of pictures"),
      choice_key("model", "the system and its parameters", models()),
      initial,
      choice_key("analysis", "the question and its settings", analyses()),
      tables_key("observable", "quantities that results tell beside the states", observable_keys()),
      table_key("tolerance", "numbers that decide when the engine stops following", tolerance_keys()),
      table_key(
          "run", "how the work is done",
          {integer_key("seed", "of random starts", 0, exact_integers),
           integer_key("block", "points per block file; 0: as many as give some hundred blocks", 0, 1e9),
           integer_key("threads", "0: as many as the machine has", 0, 1024)}),
      table_key(
          "output", "where results go",
          {text_key("file", "result file, from the current folder; default: the case's name with .h5")}),
  };
}

Case load_case(const std::string& path, const std::vector<std::string>& overrides) {
  return make_case(read_case(path, overrides));
}

Case make_case(CaseFile file) {
  Case c;
  const Value root = read_settings(c, std::move(file));
  const Value* given = root.find("initial");
  const Value initial = given != nullptr ? *given : Value(Value::Table{});
  const std::string sweep = read_sweep(c.problem);
  c.identity = identity_of(root, c, sweep);
  ask(c);
  check_start(c, initial);
  return c;
}

CaseFile recorded_case(const Attributes& attributes, const std::string& name) {
  std::vector<std::string> overrides;
  std::istringstream lines(attribute(attributes, "overrides"));
  for (std::string line; std::getline(lines, line);) overrides.push_back(line);
  CaseFile file = parse_case(attribute(attributes, "case_toml"), name, overrides);
  file.model = attribute(attributes, "model_toml");
  return file;
}

Case described_case(const Attributes& attributes) {
  Case c;
  read_settings(c, recorded_case(attributes, "case of the result"));
  return c;
}

Attributes case_attributes(const Case& given, int threads) {
  std::string overrides;
  for (const std::string& text : given.file.overrides) overrides += text + "\n";
  std::vector<std::string> names, values;
  for (const Parameter& parameter : given.problem.model->parameters()) {
    names.push_back(parameter.name);
    values.push_back(Value(parameter.value).toml());
  }
  Attributes attributes = {{"title", given.title},
                           {"model", given.model->name},
                           {"analysis", given.question->name},
                           {"parameter_names", fmt::format("{}", fmt::join(names, " "))},
                           {"parameter_values", fmt::format("{}", fmt::join(values, " "))},
                           {"case_toml", given.file.text},
                           {"overrides", overrides},
                           {"seed", std::to_string(given.problem.seed)},
                           {"threads", std::to_string(threads)},
                           {"lane_kernel", lane_kernel()}};
  if (!given.model->text.empty()) attributes.emplace_back("model_toml", given.model->text);
  return attributes;
}

Plan make_plan(const Case& given, int threads) {
  Plan plan;
  const std::vector<std::string> dimensions = given.analysis->point_dimensions();
  std::vector<std::size_t> extents;
  plan.points = 1;
  for (const std::string& dimension : dimensions) {
    extents.push_back(given.layout.size(dimension));
    plan.points *= static_cast<double>(extents.back());
  }
  plan.bytes = bytes_of(given.layout, dimensions, extents);
  plan.blocks = !dimensions.empty();
  plan.threads = threads > 0 ? threads : given.threads;
  if (plan.threads == 0) plan.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));

  const double per_block = given.block > 0 ? static_cast<double>(given.block)
                                           : std::max(static_cast<double>(given.analysis->least_points()),
                                                      std::ceil(plan.points / most_blocks));
  check_files(given, plan.points / per_block);  // before so many boxes are made
  plan.boxes = given.analysis->blocks(static_cast<std::size_t>(per_block));
  check_files(given, static_cast<double>(plan.boxes.size()));
  check_memory(given, plan);
  return plan;
}

}  // namespace graze
