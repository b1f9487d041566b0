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
    jumps_ = info.jumps;
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

/// Another model with other parameter values.
class AdjustedModel final : public Model {
 public:
  AdjustedModel(std::shared_ptr<const Model> model, const std::vector<double>& values)
      : model_(std::move(model)) {
    parameters_ = model_->parameters();
    for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].value = values[i];
    states_ = model_->states();
    contacts_ = model_->contacts();
    frictions_ = model_->frictions();
    jumps_ = model_->jumps();
    remarks_ = model_->remarks();
  }
  std::vector<double> start(std::span<const double> values) const override { return model_->start(values); }
  std::unique_ptr<System> system(std::span<const double> values, const Tolerance& tolerance) const override {
    return model_->system(values, tolerance);
  }

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace

std::shared_ptr<const Model> with_values(std::shared_ptr<const Model> model,
                                         const std::vector<double>& values) {
  return std::make_shared<AdjustedModel>(std::move(model), values);
}

void ModelInfo::set_parameters(std::vector<Parameter> parameters, SystemMaker system) {
  for (const Parameter& p : parameters) keys.push_back(parameter_key(p));
  ModelInfo names;
  names.states = states;
  names.contacts = contacts;
  names.frictions = frictions;
  names.jumps = jumps;
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
