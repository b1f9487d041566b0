#include "core/system/model.hpp"

#include <utility>

#include "core/system/registry.hpp"

#undef GRAZE_MODEL

namespace graze {

// From a static library a linker takes only what something refers to: this refers to the models of the
// library.
#define GRAZE_MODEL(name) ModelInfo name##_model();
#include "generated/models.inc"
#undef GRAZE_MODEL
#define GRAZE_MODEL(name) name##_model,
[[gnu::used]] static ModelInfo (*const linked_models[])() = {
#include "generated/models.inc"
};
#undef GRAZE_MODEL

const std::vector<ModelInfo>& models() { return Registered<ModelInfo>::all(); }

const ModelInfo& find_model(const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (const ModelInfo& model : models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
    all += (all.empty() ? "" : ", ") + model.name;
  }
  const std::string nearest = nearest_name(name, names);
  throw InputError("there is no model " + name +
                   (nearest.empty() ? "; the models are " + all : "; did you mean " + nearest + "?"));
}

std::shared_ptr<const Model> make_model(const std::string& name, const Value& settings) {
  const ModelInfo& info = find_model(name);
  return info.make(checked(settings, info.keys, "model"));
}

const std::vector<Key>& tolerance_keys() {
  static const std::vector<Key> keys = [] {
    const Tolerance defaults;
    std::vector<Key> list;
    const auto add = [&](const char* name, Key::Type type, const Value& fallback, Range range,
                         const char* meaning) {
      Key& key = add_key(list, name, type, meaning);
      key.unit = "1";
      key.fallback = fallback;
      key.range = range;
    };
    add("chatter", Key::Type::number, Value(defaults.chatter), Range{0, 0.1, true, false},
        "a chatter sequence is completed by its closed formula once it would end within about this "
        "fraction of the system's shortest time scale; the error goes with the third power");
    add("turn", Key::Type::number, Value(defaults.turn), Range{0, 0.5, true, false},
        "... and only when the pressing force changes by less than this share until then");
    add("events", Key::Type::integer, Value(defaults.events), Range{1, 1e9, false, false},
        "events allowed in one map iterate before the point counts as chattering without end");
    add("patience", Key::Type::number, Value(defaults.patience), Range{0, 1e9, true, false},
        "forcing periods (autonomous: shortest natural periods) to wait for the next impact or section");
    add("integration", Key::Type::number, Value(defaults.integration), Range{0, 1e-3, true, false},
        "what a step of a nonlinear flow may leave out of any state, as a share of its size; linear "
        "flow is exact");
    return list;
  }();
  return keys;
}

Tolerance read_tolerance(const Value& table) {
  Tolerance t;
  t.chatter = table.at("chatter").number("tolerance.chatter");
  t.turn = table.at("turn").number("tolerance.turn");
  t.events = table.at("events").integer("tolerance.events");
  t.integration = table.at("integration").number("tolerance.integration");
  t.patience = table.at("patience").number("tolerance.patience");
  return t;
}

namespace {

using SystemMaker = std::function<std::unique_ptr<System>(std::span<const double>, const Tolerance&)>;

/// A model whose settings are its parameters.
class ParameterModel final : public Model {
 public:
  ParameterModel(const Value& table, const ModelInfo& info, std::vector<Parameter> parameters,
                 SystemMaker maker)
      : maker_(std::move(maker)) {
    parameters_ = std::move(parameters);
    for (Parameter& p : parameters_) p.value = table.at(p.name).number("model." + p.name);
    states_ = info.states;
    contacts_ = info.contacts;
    frictions_ = info.frictions;
    start_ = info.start;
  }
  std::vector<double> start(std::span<const double> values) const override {
    return start_ ? start_(values) : Model::start(values);
  }
  std::unique_ptr<System> system(std::span<const double> values, const Tolerance& tolerance) const override {
    return maker_(values, tolerance);
  }

 private:
  SystemMaker maker_;
  std::function<std::vector<double>(std::span<const double>)> start_;
};

}  // namespace

void ModelInfo::set_parameters(std::vector<Parameter> parameters, SystemMaker system) {
  for (const Parameter& p : parameters) keys.push_back(parameter_key(p));
  ModelInfo names;
  names.states = states;
  names.contacts = contacts;
  names.frictions = frictions;
  names.start = start;
  make = [names, parameters = std::move(parameters),
          system = std::move(system)](const Value& table) -> std::shared_ptr<const Model> {
    return std::make_shared<ParameterModel>(table, names, parameters, system);
  };
}

int Model::parameter_index(std::string_view name) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::vector<double> Model::start(std::span<const double>) const {
  return std::vector<double>(states_.size(), 0.0);
}

std::vector<double> Model::values() const {
  std::vector<double> values;
  values.reserve(parameters_.size());
  for (const Parameter& p : parameters_) values.push_back(p.value);
  return values;
}

}  // namespace graze
