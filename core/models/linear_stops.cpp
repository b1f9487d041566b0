/// Any linear system with stops and dry friction, given by its matrices in the case file.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/contact/friction_mode.hpp"
#include "core/equations/named_parameters.hpp"
#include "core/equations/scope.hpp"
#include "core/math/dense.hpp"
#include "core/models/linear_form.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

[[noreturn]] void refuse(const Value& value, const std::string& key, const std::string& rule) {
  throw InputError(value.place(), key, value.toml(), rule);
}

/// Path of the keys of one of several tables.
std::string element(const char* tables, std::size_t index) {
  return std::string("model.") + tables + "." + std::to_string(index) + ".";
}

/// What a stop or a friction is called: its number when the case file gives it no name.
Quantity named(const Value& table, const char* key, Eigen::Index index, const std::string& meaning) {
  const Value* name = table.find("name");
  const std::string label = name != nullptr ? name->text(key) : std::to_string(index + 1);
  return {label, "1", meaning + label};
}

bool is_compliant(const Value& stop) { return stop.find("stiffness") != nullptr; }

/// A number of the case file that is an expression: what it must keep to at any values of the parameters.
struct Rule {
  Fixed quantity{};
  Range range;
};

class LinearStops final : public Model {
 public:
  explicit LinearStops(const Value& table);
  std::unique_ptr<System> system(std::span<const double> values, const Tolerance& tolerance) const override;

 private:
  void read_parameters(const Value& table);
  void read_masses(const Value& table);
  void read_forces(const Value& table);
  void read_stops(const Value& table);
  void read_law(const Value& stop, Eigen::Index c);
  static StopLaw law_of(const Value& stop, std::size_t k);
  void read_frictions(const Value& table);

  /// A number becomes a parameter of this name, an expression what it says.
  Fixed read(const Value& value, const std::string& key, const std::string& name, const std::string& meaning,
             const Range& range = Range::finite());
  Fixed add(const std::string& name, const std::string& meaning, double value, const Range& range);
  /// A square matrix of the size of the mass matrix; zero when left out.
  LinearForm::Matrix read_matrix(const Value& table, const char* name, const std::string& symbol,
                                 const std::string& meaning);
  /// One entry per mass; zero when left out.
  LinearForm::Vector read_list(const Value& table, const char* name, const std::string& path,
                               const std::function<std::string(Eigen::Index)>& symbol,
                               const std::string& meaning);
  /// A list of numbers only, one per mass, not all zero.
  Eigen::VectorXd read_direction(const Value& table, const char* name, const std::string& path) const;
  LinearForm::Vector literals(const Eigen::VectorXd& v) {
    return v.unaryExpr([&](double a) { return scope_.graph().literal(a); });
  }
  /// At the values of the case file.
  Eigen::MatrixXd value_of_matrix(const LinearForm::Matrix& m) const;
  /// Circulatory and gyroscopic forces are allowed; more often one entry of a matrix is mistyped.
  void remark_asymmetry(const LinearForm::Matrix& m, const std::string& name, const std::string& symbol);

  Eigen::Index masses() const { return form_->mass.rows(); }

  /// Friction on a compliant stop.
  struct Rubbing {
    int stop;
    Fixed coefficient;
    Eigen::VectorXd direction;
  };

  Scope scope_{0};
  std::vector<Rubbing> rubbing_;
  std::vector<Rule> rules_;
  Fixed omega_{}, force_scale_{}, damping_scale_{};
  std::shared_ptr<LinearForm> form_ = std::make_shared<LinearForm>();
};

LinearStops::LinearStops(const Value& table) {
  read_parameters(table);
  const Value& omega = table.at("omega");
  omega_ = read(omega, "model.omega", "omega", "fundamental forcing frequency", Range::positive());
  scope_.add_quantity("omega", scope_.graph().fixed(omega_), omega, "model.omega");
  force_scale_ = add("force_scale", "factor of all harmonic forces", 1, Range::finite());
  damping_scale_ = add("damping_scale", "factor of the damping matrix", 1, Range::finite());
  for (const auto& [name, scale] :
       {std::pair("force_scale", force_scale_), std::pair("damping_scale", damping_scale_)})
    scope_.add_quantity(name, scope_.graph().fixed(scale), Value(1.0),
                        std::string("model.parameters.") + name);
  read_masses(table);
  read_forces(table);
  read_stops(table);
  read_frictions(table);
  form_->operations = scope_.graph().fixed();
}

std::unique_ptr<System> LinearStops::system(std::span<const double> values,
                                            const Tolerance& tolerance) const {
  std::vector<double> quantities;
  evaluate_fixed(form_->operations, values.data(), quantities);
  for (const Rule& rule : rules_) {
    if (!rule.range.contains(quantities[static_cast<std::size_t>(rule.quantity)])) return nullptr;
  }
  return linear_system(form_, values, tolerance);
}

Fixed LinearStops::add(const std::string& name, const std::string& meaning, double value,
                       const Range& range) {
  parameters_.push_back({{name, "1", meaning}, value, range});
  return scope_.graph().parameter(parameters_.size() - 1);
}

void LinearStops::read_parameters(const Value& table) {
  const Value* given = table.find("parameters");
  if (given == nullptr) return;
  for (Parameter& parameter : named_parameters(*given, "model.parameters")) {
    scope_.add_parameter(parameter.name, parameters_.size(), given->at(parameter.name),
                         "model.parameters." + parameter.name);
    parameters_.push_back(std::move(parameter));
  }
}

Fixed LinearStops::read(const Value& value, const std::string& key, const std::string& name,
                        const std::string& meaning, const Range& range) {
  if (value.is_number()) {
    if (parameter_index(name) >= 0)
      refuse(value, key, "there is a parameter " + name + " already; another name");
    const double number = value.number(key);
    if (!range.contains(number)) refuse(value, key, "must satisfy " + range.text());
    return add(name, meaning, number, range);
  }
  const Syntax syntax = syntax_of(value, key);
  const Fixed quantity = scope_.build_fixed(syntax);
  std::vector<double> quantities;
  evaluate_fixed(scope_.graph().fixed(), values().data(), quantities);
  const double now = quantities[static_cast<std::size_t>(quantity)];
  if (!range.contains(now))
    syntax.refuse(syntax.root(),
                  "is " + Value(now).toml() + " at these parameter values: must satisfy " + range.text());
  rules_.push_back({quantity, range});
  return quantity;
}

LinearForm::Matrix LinearStops::read_matrix(const Value& table, const char* name, const std::string& symbol,
                                            const std::string& meaning) {
  const std::string key = std::string("model.") + name;
  const Value* value = table.find(name);
  const Eigen::Index n = static_cast<Eigen::Index>(table.at("mass").array("model.mass").size());
  LinearForm::Matrix m(n, n);
  if (value != nullptr && static_cast<Eigen::Index>(value->array(key).size()) != n)
    refuse(*value, key, "must have " + std::to_string(n) + " rows and columns like mass");
  for (Eigen::Index i = 0; i < n; ++i) {
    const Value zeros(Value::Array(static_cast<std::size_t>(n), Value(0.0)));
    const Value& row = value != nullptr ? value->array(key)[static_cast<std::size_t>(i)] : zeros;
    const std::string row_key = key + "." + std::to_string(i);
    const Value::Array& entries = row.array(row_key);
    if (static_cast<Eigen::Index>(entries.size()) != n)
      refuse(*value, key,
             "must have " + std::to_string(n) + " rows and columns" + (symbol == "M" ? "" : " like mass"));
    for (Eigen::Index j = 0; j < n; ++j) {
      const std::string place = "_" + std::to_string(i + 1) + "_" + std::to_string(j + 1);
      m(i, j) = read(entries[static_cast<std::size_t>(j)], row_key + "." + std::to_string(j), symbol + place,
                     meaning);
    }
  }
  return m;
}

LinearForm::Vector LinearStops::read_list(const Value& table, const char* name, const std::string& path,
                                          const std::function<std::string(Eigen::Index)>& symbol,
                                          const std::string& meaning) {
  const Value* value = table.find(name);
  const Value zeros(Value::Array(static_cast<std::size_t>(masses()), Value(0.0)));
  const Value::Array& list = (value != nullptr ? *value : zeros).array(path + name);
  if (static_cast<Eigen::Index>(list.size()) != masses())
    refuse(*value, path + name, "must have one number per mass, " + std::to_string(masses()));
  LinearForm::Vector v(masses());
  for (Eigen::Index i = 0; i < masses(); ++i) {
    v(i) = read(list[static_cast<std::size_t>(i)], path + name + "." + std::to_string(i), symbol(i), meaning);
  }
  return v;
}

Eigen::VectorXd LinearStops::read_direction(const Value& table, const char* name,
                                            const std::string& path) const {
  const Value& value = table.at(name);
  const std::vector<double> list = value.numbers(path + name);
  if (static_cast<Eigen::Index>(list.size()) != masses())
    refuse(value, path + name, "must have one number per mass, " + std::to_string(masses()));
  Eigen::VectorXd direction = Eigen::Map<const Eigen::VectorXd>(list.data(), masses());
  if (direction.isZero(0)) refuse(value, path + name, "must not be zero");
  return direction;
}

Eigen::MatrixXd LinearStops::value_of_matrix(const LinearForm::Matrix& m) const {
  std::vector<double> quantities;
  evaluate_fixed(scope_.graph().fixed(), values().data(), quantities);
  return m.unaryExpr([&](Fixed f) { return quantities[static_cast<std::size_t>(f)]; });
}

bool is_symmetric(const Eigen::MatrixXd& m) {
  return (m - m.transpose()).cwiseAbs().maxCoeff() <= 1e-12 * m.cwiseAbs().maxCoeff();
}

void LinearStops::remark_asymmetry(const LinearForm::Matrix& m, const std::string& name,
                                   const std::string& symbol) {
  const Eigen::MatrixXd value = value_of_matrix(m);
  if (is_symmetric(value)) return;
  Eigen::Index i = 0, j = 0;
  (value - value.transpose()).cwiseAbs().maxCoeff(&i, &j);
  if (i > j) std::swap(i, j);
  const auto entry = [&](Eigen::Index row, Eigen::Index column) {
    return symbol + "_" + std::to_string(row + 1) + "_" + std::to_string(column + 1) + " = " +
           Value(value(row, column)).toml();
  };
  remarks_.push_back("model." + name + " is not symmetric: " + entry(i, j) + ", " + entry(j, i));
}

void LinearStops::read_masses(const Value& table) {
  LinearForm& at = *form_;
  at.mass = read_matrix(table, "mass", "M", "entry of the mass matrix");
  const Eigen::MatrixXd M = value_of_matrix(at.mass);
  if (M.size() == 0 || !is_symmetric(M) || !is_positive_definite(M)) {
    refuse(table.at("mass"), "model.mass", "must be symmetric and positive definite");
  }
  at.damping = read_matrix(table, "damping", "C", "entry of the damping matrix").unaryExpr([&](Fixed c) {
    return scope_.graph().multiply(damping_scale_, c);
  });
  at.stiffness = read_matrix(table, "stiffness", "K", "entry of the stiffness matrix");
  remark_asymmetry(at.damping, "damping", "C");
  remark_asymmetry(at.stiffness, "stiffness", "K");
  at.constant = read_list(
      table, "constant", "model.", [](Eigen::Index i) { return "f_" + std::to_string(i + 1) + "_1"; },
      "constant force");
  for (Eigen::Index i = 1; i <= masses(); ++i) {
    const std::string k = std::to_string(i);
    states_.push_back({"x" + k, "1", "displacement of mass " + k});
    states_.push_back({"v" + k, "1", "velocity of mass " + k, "x" + k});
  }
}

void LinearStops::read_forces(const Value& table) {
  LinearForm& at = *form_;
  const Value* forces = table.find("force");
  const Value::Array none;
  const Value::Array& list = forces != nullptr ? forces->array("model.force") : none;
  Graph& graph = scope_.graph();
  at.base_frequency = list.empty() ? graph.literal(0) : omega_;
  at.frequency.resize(static_cast<Eigen::Index>(list.size()));
  for (std::size_t k = 0; k < list.size(); ++k) {
    const double order = list[k].at("order").number("model.force.order");
    at.frequency(static_cast<Eigen::Index>(k)) = graph.multiply(omega_, graph.literal(order));
    at.commensurate = at.commensurate && order == std::round(order);
  }
  const auto amplitudes = [&](const char* name, const std::string& symbol, const std::string& meaning) {
    LinearForm::Matrix columns(masses(), static_cast<Eigen::Index>(list.size()));
    for (std::size_t k = 0; k < list.size(); ++k) {
      const std::string row = symbol + "_" + std::to_string(k + 1) + "_";
      columns.col(static_cast<Eigen::Index>(k)) =
          read_list(
              list[k], name, element("force", k), [&](Eigen::Index i) { return row + std::to_string(i + 1); },
              meaning)
              .unaryExpr([&](Fixed amplitude) { return graph.multiply(force_scale_, amplitude); });
    }
    return columns;
  };
  at.cosine = amplitudes("cosine", "a", "cosine amplitude (force, mass)");
  at.sine = amplitudes("sine", "b", "sine amplitude (force, mass)");
}

void LinearStops::read_stops(const Value& table) {
  LinearForm& at = *form_;
  const Value* stops = table.find("stop");
  const Value::Array none;
  const Value::Array& list = stops != nullptr ? stops->array("model.stop") : none;
  constexpr std::size_t most = 62;  // the mode has one bit for each
  if (list.size() > most) refuse(*stops, "model.stop", "at most 62 stops");
  const Eigen::Index count = static_cast<Eigen::Index>(list.size());
  at.normal.resize(masses(), count);
  at.position.resize(count);
  at.restitution.resize(count);
  for (Eigen::Index c = 0; c < count; ++c) {
    const Value& stop = list[static_cast<std::size_t>(c)];
    at.normal.col(c) = literals(read_direction(stop, "normal", element("stop", static_cast<std::size_t>(c))));
    contacts_.push_back(named(stop, "model.stop.name", c, "stop "));
  }
  for (Eigen::Index c = 0; c < count; ++c) {
    const std::size_t k = static_cast<std::size_t>(c);
    at.position(c) =
        read(list[k].at("position"), element("stop", k) + "position", "position_" + contacts_[k].name,
             "position of the stop: normal . x <= position", Range::any());
  }
  const bool compliant = std::any_of(list.begin(), list.end(), is_compliant);
  constexpr std::int64_t most_compliant = 15;
  if (compliant && count > most_compliant)
    refuse(*stops, "model.stop", "at most 15 stops where one has a stiffness");
  if (compliant) at.law.assign(list.size(), StopLaw::rigid);
  at.stop_stiffness = at.stop_damping = at.preload =
      LinearForm::Vector::Constant(count, scope_.graph().literal(0));
  for (Eigen::Index c = 0; c < count; ++c) read_law(list[static_cast<std::size_t>(c)], c);
}

StopLaw LinearStops::law_of(const Value& stop, std::size_t k) {
  const auto chosen = [&](const char* key, const char* choice) {
    const Value* value = stop.find(key);
    return value != nullptr && value->text(element("stop", k) + key) == choice;
  };
  const bool by_gap = chosen("release", "gap");
  if (!chosen("plate", "relaxing")) return by_gap ? StopLaw::release_by_gap : StopLaw::release_by_force;
  if (by_gap)
    refuse(stop.at("plate"), element("stop", k) + "plate", "a relaxing plate is released by its force");
  if (const Value* preload = stop.find("preload"))
    refuse(*preload, element("stop", k) + "preload", "a relaxing plate has no preload");
  return StopLaw::relaxing_plate;
}

/// Restitution of a rigid stop, stiffness, damping, preload and release of a compliant one.
void LinearStops::read_law(const Value& stop, Eigen::Index c) {
  LinearForm& at = *form_;
  const std::size_t k = static_cast<std::size_t>(c);
  const auto number = [&](const char* name, double fallback, const char* meaning, const Range& range) {
    const Value* value = stop.find(name);
    const std::string parameter = std::string(name) + "_" + contacts_[k].name;
    return read(value != nullptr ? *value : Value(fallback), element("stop", k) + name, parameter, meaning,
                range);
  };
  if (!is_compliant(stop)) {
    for (const char* name : {"damping", "preload", "release", "plate", "mu", "slip"}) {
      if (const Value* value = stop.find(name))
        refuse(*value, element("stop", k) + name, "only of a stop with a stiffness");
    }
    at.restitution(c) = number("restitution", 0.7, "restitution of the stop", Range::unit());
    return;
  }
  if (const Value* value = stop.find("restitution"))
    refuse(*value, element("stop", k) + "restitution", "a stop with a stiffness has no restitution");
  at.restitution(c) = scope_.graph().literal(0);
  at.stop_stiffness(c) = number("stiffness", 0, "stiffness of the stop", Range::positive());
  at.law[k] = law_of(stop, k);
  const bool relaxes = at.law[k] == StopLaw::relaxing_plate;
  at.stop_damping(c) =
      number("damping", 0, "damping of the stop", relaxes ? Range::positive() : Range::non_negative());
  if (relaxes) {
    at.preload(c) = scope_.graph().literal(0);
    states_.push_back(
        {"z_" + contacts_[k].name, "1", "penetration of the plate of stop " + contacts_[k].name});
  } else {
    at.preload(c) = number("preload", 0, "preload of the stop", Range::non_negative());
  }
  if (const Value* slip = stop.find("slip"); slip != nullptr && stop.find("mu") == nullptr)
    refuse(*slip, element("stop", k) + "slip", "only of a stop with mu");
  if (const Value* mu = stop.find("mu")) {
    const std::string key = element("stop", k) + "mu";
    if (stop.find("slip") == nullptr) refuse(*mu, key, "needs slip, the direction of sliding along the stop");
    if (stop.find("preload") != nullptr)
      refuse(*mu, key,
             "a stop with a preload has no friction: that on an abutment, where it rests with a part of the "
             "preload, is not modelled");
    if (at.law[k] == StopLaw::release_by_gap)
      refuse(*mu, key, "a stop with friction is released by its force");
    rubbing_.push_back({static_cast<int>(c),
                        number("mu", 0, "friction coefficient of the stop; 0: none", Range::non_negative()),
                        read_direction(stop, "slip", element("stop", k))});
  }
}

void LinearStops::read_frictions(const Value& table) {
  LinearForm& at = *form_;
  const Value* frictions = table.find("friction");
  const Value::Array none;
  const Value::Array& list = frictions != nullptr ? frictions->array("model.friction") : none;
  const Eigen::Index own = static_cast<Eigen::Index>(list.size());
  const Eigen::Index count = own + static_cast<Eigen::Index>(rubbing_.size());
  const std::int64_t springs = at.law.empty() ? 0 : at.position.size();
  if (count > 0 && ModeLayout{at.position.size(), count, springs}.bits() > ModeLayout::most_bits) {
    refuse(frictions != nullptr ? *frictions : table.at("stop"),
           frictions != nullptr ? "model.friction" : "model.stop",
           springs > 0
               ? "at most 31 stops and frictions together, stops counted twice where one has a stiffness"
               : "at most 31 stops and frictions together");
  }
  at.sliding.resize(masses(), count);
  at.friction.resize(count);
  for (Eigen::Index k = 0; k < own; ++k) {
    const Value& friction = list[static_cast<std::size_t>(k)];
    at.sliding.col(k) =
        literals(read_direction(friction, "direction", element("friction", static_cast<std::size_t>(k))));
    frictions_.push_back(named(friction, "model.friction.name", k, "friction "));
    const std::string key = element("friction", static_cast<std::size_t>(k)) + "amplitude";
    at.friction(k) = read(friction.at("amplitude"), key, "friction_" + frictions_.back().name,
                          "amplitude of the dry friction; 0: none", Range::non_negative());
  }
  if (rubbing_.empty()) return;
  at.pressed_by.assign(list.size(), -1);
  for (std::size_t k = 0; k < rubbing_.size(); ++k) {
    const Rubbing& rubbing = rubbing_[k];
    at.sliding.col(own + static_cast<Eigen::Index>(k)) = literals(rubbing.direction);
    at.friction(own + static_cast<Eigen::Index>(k)) = rubbing.coefficient;
    at.pressed_by.push_back(rubbing.stop);
    const std::string& stop = contacts_[static_cast<std::size_t>(rubbing.stop)].name;
    frictions_.push_back({"stop_" + stop, "1", "friction on stop " + stop});
  }
}

Key key(const char* name, Key::Type type, const char* meaning) {
  Key k;
  k.name = name;
  k.type = type;
  k.unit = "1";
  k.meaning = meaning;
  k.range = Range::finite();
  return k;
}

Key expressions(const char* name, Key::Type type, const char* meaning) {
  Key k = key(name, type, meaning);
  k.expressions = true;
  return k;
}

std::vector<Key> stop_keys() {
  Key normal = key("normal", Key::Type::numbers,
                   "direction towards the stop, one number per mass: [1, 0] above mass 1, [-1, 0] below it, "
                   "[1, -1] between 1 and 2");
  normal.required = true;
  Key position = expressions("position", Key::Type::number, "the gap is position - normal . x; inf: none");
  position.required = true;
  position.range = Range::any();
  Key restitution = expressions("restitution", Key::Type::number,
                                "of a rigid stop: Newton's coefficient of restitution; 0.7 when left out");
  restitution.range = Range::unit();
  Key stiffness = expressions("stiffness", Key::Type::number,
                              "makes the stop compliant: a spring that engages where the gap is zero");
  stiffness.range = Range::positive();
  Key damping = expressions("damping", Key::Type::number, "of a compliant stop; 0 when left out");
  damping.range = Range::non_negative();
  Key preload = expressions("preload", Key::Type::number,
                            "of a compliant stop: force where it begins, on an abutment; 0 when left out");
  preload.range = Range::non_negative();
  Key release = key("release", Key::Type::text,
                    "of a compliant stop: it ends where its force vanishes (the default) or where the gap is "
                    "zero again, the damper pulling until then");
  release.choices = {"force", "gap"};
  Key plate =
      key("plate", Key::Type::text,
          "of a compliant stop with damping: none, its surface is back at once (the default), or a "
          "massless plate, a state z, that goes back by damping z' + stiffness z = 0 from the release "
          "on and engages where the body meets it");
  plate.choices = {"none", "relaxing"};
  Key mu =
      expressions("mu", Key::Type::number,
                  "of a compliant stop that bodies slide along: friction of mu times its force at most, with "
                  "stick; 0: none");
  mu.range = Range::non_negative();
  Key slip =
      key("slip", Key::Type::numbers, "with mu: direction of sliding along the stop, one number per mass");
  return {key("name", Key::Type::text, "name of the contact; its number when left out"),
          normal,
          position,
          restitution,
          stiffness,
          damping,
          preload,
          release,
          plate,
          mu,
          slip};
}

std::vector<Key> friction_keys() {
  Key direction =
      key("direction", Key::Type::numbers,
          "direction of sliding, one number per mass: [1, 0] mass 1 on the ground, [1, -1] masses 1 "
          "and 2 on each other");
  direction.required = true;
  Key amplitude = expressions("amplitude", Key::Type::number,
                              "the force is at most this; 0: none; a number or the name of a parameter");
  amplitude.required = true;
  amplitude.range = Range::non_negative();
  return {key("name", Key::Type::text, "name of the friction; its number when left out"), direction,
          amplitude};
}

std::vector<Key> force_keys() {
  Key order = key("order", Key::Type::number, "frequency over omega; whole orders keep the forcing periodic");
  order.range = Range::positive();
  order.fallback = Value(1.0);
  return {order, expressions("cosine", Key::Type::numbers, "amplitudes of cos(order omega t), one per mass"),
          expressions("sine", Key::Type::numbers, "amplitudes of sin(order omega t), one per mass")};
}

}  // namespace

GRAZE_MODEL(linear_stops) {
  ModelInfo info;
  info.name = "linear_stops";
  info.meaning =
      "Any number of masses with linear springs and dampers, harmonic forces, rigid and compliant stops and "
      "dry "
      "friction, given by matrices; every number may be an expression of named parameters, but for orders "
      "and "
      "directions.";
  info.equations =
      "M x'' + C x' + K x = f + sum_k [a_k cos(order_k omega t) + b_k sin(order_k omega t)]\n"
      "stop c: gap = position_c - normal_c . x >= 0; impact: normal velocity -> -restitution_c times itself\n"
      "compliant stop c, d = -gap: engaged from d = 0 on, -normal_c (preload_c + stiffness_c d + damping_c "
      "d') "
      "until that force or d falls to zero (release)\n"
      "its friction: -slip_c times mu_c times that force times sgn(slip_c . x'), at rest anything up to "
      "that\n"
      "relaxing plate of stop c: z = d while engaged, then damping_c z' + stiffness_c z = 0; gap = z - d\n"
      "friction k: -direction_k times amplitude_k sgn(direction_k . x'), at rest anything up to that";
  info.citations = {
      "Brogliato: Nonsmooth Mechanics, 3rd edition, Springer 2016 (Newton's law with several contacts, "
      "complementarity)"};
  Key omega = expressions("omega", Key::Type::number, "fundamental forcing frequency");
  omega.range = Range::positive();
  omega.fallback = Value(1.0);
  Key mass = expressions("mass", Key::Type::matrix, "mass matrix, symmetric and positive definite");
  mass.required = true;
  Key force = key("force", Key::Type::tables, "harmonic forces");
  force.children = force_keys();
  Key stop = key("stop", Key::Type::tables, "stops");
  stop.children = stop_keys();
  Key friction = key("friction", Key::Type::tables, "dry frictions");
  friction.children = friction_keys();
  info.keys = {parameters_key(),
               omega,
               mass,
               expressions("damping", Key::Type::matrix, "damping matrix; zero when left out"),
               expressions("stiffness", Key::Type::matrix, "stiffness matrix; zero when left out"),
               expressions("constant", Key::Type::numbers, "constant forces, one per mass"),
               force,
               stop,
               friction};
  info.states = {{"x1", "1", "displacement of mass 1"},
                 {"v1", "1", "velocity of mass 1; and so on", "x1"},
                 {"z_1", "1", "penetration of the relaxing plate of stop 1, where it has one; and so on"}};
  info.contacts = {{"1", "1", "first stop; and so on, or by name"}};
  info.frictions = {{"1", "1", "first friction; and so on, or by name"}};
  info.modes =
      "bit c set: stop number c (from 0) is closed\n"
      "  with friction, after n stops bits n + 2k, n + 2k + 1: friction k (from 0), 0 none, 1 slides "
      "forward, "
      "2 backward, 3 sticks\n"
      "  then bit c of the next n set: stop c is closed but does not press, friction holds the masses\n"
      "  with a compliant stop, also without friction, these, and then two bits of each stop: 0 open or "
      "closed, 1 engaged, "
      "2 released and not back at its position yet; closed: at rest under less than the preload";
  info.example =
      R"(# Two masses in a chain, each fixed to the ground; each number may be an expression of parameters.
# parameters = { zeta = 0.02 }  # then damping = [["2*zeta", 0], [0, "2*zeta"]]
omega = 0.8
mass = [[1, 0], [0, 1]]
damping = [[0.2, -0.1], [-0.1, 0.2]]
stiffness = [[2, -1], [-1, 2]]
# constant = [0, -9.81]  # constant forces, one per mass

# One table for each harmonic force: cosine and sine amplitudes, one per mass.
[[model.force]]
order = 1  # times omega
cosine = [1, 0]
# sine = [0, 0]

# One table for each stop: the gap is position - normal . x.
[[model.stop]]
name = "wall"  # sweepable: position_wall, restitution_wall
normal = [1, 0]  # above mass 1; [-1, 0]: below it
position = 0.5
restitution = 0.8

[[model.stop]]
name = "between"
normal = [1, -1]  # mass 1 hits mass 2
position = 0.6
restitution = 0.8

# One table for each dry friction.
# [[model.friction]]
# name = "ground"  # sweepable: friction_ground
# direction = [0, 1]  # mass 2 on the ground; [1, -1]: masses 1 and 2 on each other
# amplitude = 0.05
)";
  info.make = [](const Value& table) -> std::shared_ptr<const Model> {
    return std::make_shared<LinearStops>(table);
  };
  return info;
}

}  // namespace graze
