#include "drivers/plot/described.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "analysis/maps/observables.hpp"
#include "core/settings/symbol.hpp"
#include "data/case_file.hpp"
#include "drivers/library/case.hpp"
#include "drivers/plot/picture.hpp"

namespace graze {

Described::Described(const Attributes& attributes) {
  try {
    Case c = described_case(attributes);
    model_ = c.problem.model;
    tolerance_ = c.problem.tolerance;
    for (const Parameter& parameter : model_->parameters()) {
      const auto key = std::find_if(c.model->keys.begin(), c.model->keys.end(),
                                    [&](const Key& k) { return k.name == parameter.name; });
      const bool known = key != c.model->keys.end() && key->fallback.is_number();
      defaults_.push_back(known                        ? key->fallback.number(parameter.name)
                          : key != c.model->keys.end() ? std::numeric_limits<double>::infinity()
                                                       : std::numeric_limits<double>::quiet_NaN());
    }
    if (c.problem.observables) {
      for (const Quantity& observable : c.problem.observables->quantities())
        means_.push_back(observable.name + "_mean");
    }
    drifting_ = drifting_states(*model_, model_->system(model_->values(), tolerance_).get());
  } catch (const std::exception&) {  // a case of another version, or a damaged one: pictures do without
    model_.reset();
  }
}

const Quantity* Described::find(std::string_view name) const {
  if (!model_) return nullptr;
  for (const Quantity& state : model_->states())
    if (state.name == name) return &state;
  for (const Parameter& parameter : model_->parameters())
    if (parameter.name == name) return &parameter;
  return nullptr;
}

std::string Described::symbol(std::string_view name) const {
  const Quantity* quantity = find(name);
  return quantity != nullptr ? symbol_of(*quantity) : spelled_symbol(name);
}

std::string Described::label(std::string_view name, std::string_view unit) const {
  const Quantity* quantity = find(name);
  const bool said = !unit.empty() && unit != "1";
  return label_with_unit(symbol(name), said || quantity == nullptr ? unit : quantity->unit);
}

std::vector<Pair> Described::pairs(const std::vector<std::string>& states) const {
  std::vector<Pair> result;
  for (std::size_t position = 0; position < states.size(); ++position)
    for (std::size_t velocity = 0; velocity < states.size(); ++velocity) {
      const Quantity* quantity = find(states[velocity]);
      if (quantity != nullptr && quantity->velocity_of == states[position])
        result.push_back({position, velocity});
    }
  return result;
}

std::vector<std::string> Described::usual_states(const std::vector<std::string>& states) const {
  std::vector<std::string> usual, velocities;
  for (const Pair& pair : pairs(states)) {
    const std::string& position = states[pair.position];
    velocities.push_back(states[pair.velocity]);
    const bool drifts = std::find(drifting_.begin(), drifting_.end(), position) != drifting_.end();
    if (!drifts) usual.push_back(position);
  }
  if (usual.empty()) usual = velocities;
  if (usual.empty() && !states.empty()) usual = {states.front()};
  usual.resize(std::min<std::size_t>(usual.size(), 2));
  return usual;
}

bool Described::is_observed_mean(std::string_view array) const {
  return std::find(means_.begin(), means_.end(), array) != means_.end();
}

std::string Described::parameters(const std::vector<std::string>& swept) const {
  std::string text;
  for (std::size_t i = 0; i < defaults_.size(); ++i) {
    const Parameter& parameter = model_->parameters()[i];
    const bool differs = !std::isnan(defaults_[i]) && parameter.value != defaults_[i];
    if (!differs || std::find(swept.begin(), swept.end(), parameter.name) != swept.end()) continue;
    const std::string unit =
        parameter.unit == "1" || parameter.unit.empty() ? "" : " " + typeset_unit(parameter.unit);
    text += fmt::format("{}{} = {}{}", text.empty() ? "" : ", ", symbol_of(parameter),
                        number_text(parameter.value), unit);
  }
  return text;
}

std::vector<std::string> drifting_states(const Model& model, const System* system) {
  const Eigen::MatrixXd shifts = system ? system->shifts() : Eigen::MatrixXd();
  std::vector<std::string> names;
  for (Eigen::Index i = 0; i < shifts.rows(); ++i)
    if (!shifts.row(i).isZero(0)) names.push_back(model.states()[static_cast<std::size_t>(i)].name);
  return names;
}

std::string label_with_unit(std::string_view name, std::string_view unit) {
  if (unit.empty() || unit == "1") return std::string(name);
  return fmt::format("{} [{}]", name, typeset_unit(unit));
}

}  // namespace graze
