#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/equations/named_parameters.hpp"
#include "core/equations/scope.hpp"
#include "core/models/equations/linear_recognition.hpp"
#include "core/models/equations/typed_system.hpp"

namespace graze {
namespace {

constexpr std::size_t most_states = 60;
constexpr std::size_t most_contacts = 31;  // the mode has two bits for each
constexpr std::size_t most_bits = 62;      // … and one for each jump

[[noreturn]] void refuse(const Value& value, const std::string& key, const std::string& rule) {
  throw InputError(value.place(), key, value.toml(), rule);
}

using Expressions = std::vector<Expression>;

class Reading {
 public:
  explicit Reading(const Value& table)
      : table_(table), scope_(1 + 2 * list("coordinates").size() + list("states").size()) {}

  TypedDescription read() {
    read_parameters();
    read_names();
    read_definitions();
    read_equations();
    read_contacts();
    read_jumps();
    list_motion();
    read_symmetries();
    read_start();
    if (const Value* rate = table_.find("fastest_rate"))
      typed_->fastest_rate = scope_.build_fixed(*rate, "model.fastest_rate");
    recognise();
    warn_of_unused();
    typed_->operations = graph().fixed();
    check_at_home();
    description_.system = std::move(typed_);
    return std::move(description_);
  }

 private:
  Graph& graph() { return scope_.graph(); }
  std::size_t coordinates() const { return static_cast<std::size_t>(typed_->coordinates); }
  std::size_t others() const { return static_cast<std::size_t>(typed_->others); }
  /// A list of text; empty when left out.
  const Value::Array& list(const char* name) const {
    static const Value::Array none;
    const Value* value = table_.find(name);
    return value != nullptr ? value->array(std::string("model.") + name) : none;
  }
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  Expression input(int state) { return graph().input(index(state) + 1); }

  void read_parameters();
  void read_names();
  void read_order(const std::vector<std::string>& names);
  void read_definitions();
  void read_equations();
  void read_mass();
  Expressions read_by_name(const char* table, const Value::Array& names, const Expression* when_missing);
  void refuse_unknown(const Value& given, const std::string& path, const Value::Array& names) const;
  void read_contacts();
  void read_jumps();
  TypedJump jump(const Value& given, const std::string& key);
  Expressions terms_of(const Expression& e);
  TypedContact contact(const Value& given, const std::string& key);
  TypedKick kick(const Expressions& change);
  void list_motion();
  void read_symmetries();
  void read_start();
  Value::Array state_names() const;
  std::vector<std::size_t> symmetric_states(const char* name, bool may_matter);
  void recognise();
  void warn_of_unused();
  void check_at_home();
  void check_period(const std::vector<double>& fixed);

  /// Solutions of M u = b for several b.
  std::vector<Expressions> solve(std::vector<Expressions> right);
  Expression rate_of(const Expression& e);
  Quantity quantity(const std::string& name, const std::string& meaning) const;

  const Value& table_;
  Scope scope_;
  TypedDescription description_;
  std::shared_ptr<TypedSystem> typed_ = std::make_shared<TypedSystem>();
  Motions motions_;
  Expressions accelerations_, other_rates_, state_rates_;
  Expressions jump_values_;  ///< what jumps wait for and set
};

void Reading::read_parameters() {
  const Value* given = table_.find("parameters");
  if (given == nullptr) return;
  description_.parameters = named_parameters(*given, "model.parameters");
  for (std::size_t k = 0; k < description_.parameters.size(); ++k) {
    const std::string& name = description_.parameters[k].name;
    scope_.add_parameter(name, k, given->at(name), "model.parameters." + name);
  }
}

Quantity Reading::quantity(const std::string& name, const std::string& meaning) const {
  Quantity q{name, "1", meaning};
  const Value* about = table_.find("about");
  const Value* told = about != nullptr ? about->find(name) : nullptr;
  if (told == nullptr) return q;
  const std::string key = "model.about." + name;
  if (told->is_text()) {
    q.meaning = told->text(key);
    return q;
  }
  std::vector<Key> keys;
  add_key(keys, "unit", Key::Type::text, "UDUNITS text").fallback = Value("1");
  add_key(keys, "meaning", Key::Type::text, "in a few words").required = true;
  const Value settings = checked(*told, keys, key);
  q.unit = settings.at("unit").text(key);
  q.meaning = settings.at("meaning").text(key);
  return q;
}

void Reading::read_names() {
  const Value::Array& names = list("coordinates");
  const Value::Array& velocities = list("velocities");
  const Value::Array& states = list("states");
  typed_->coordinates = static_cast<int>(names.size());
  typed_->others = static_cast<int>(states.size());
  if (typed_->states() == 0)
    throw InputError(table_.place(), "model.coordinates", "", "is missing: coordinates, states or both");
  if (index(typed_->states()) > most_states)
    refuse(table_.at("coordinates"), "model.coordinates", "more than 60 states");
  if (!velocities.empty() && velocities.size() != names.size())
    refuse(table_.at("velocities"), "model.velocities", "must have a name for each coordinate");
  std::vector<std::string> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i].text("model.coordinates");
    all.push_back(name);
    all.push_back(velocities.empty() ? name + "_dot" : velocities[i].text("model.velocities"));
  }
  for (const Value& state : states) all.push_back(state.text("model.states"));
  read_order(all);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = all[2 * i];
    scope_.add_input(name, 1 + index(typed_->position[i]), names[i], "model.coordinates");
    const Value& velocity = velocities.empty() ? names[i] : velocities[i];
    scope_.add_input(all[2 * i + 1], 1 + index(typed_->velocity[i]), velocity, "model.velocities");
    scope_.add_input(name + "'", 1 + index(typed_->velocity[i]));
  }
  for (std::size_t k = 0; k < states.size(); ++k)
    scope_.add_input(all[2 * names.size() + k], 1 + index(typed_->other[k]), states[k], "model.states");
  if (table_.find("period") != nullptr) scope_.add_input("t", 0);
}

/// Where each of the names, coordinate and velocity in turn, then the others, stands in the state.
void Reading::read_order(const std::vector<std::string>& names) {
  std::vector<std::string> order = names;
  if (const Value* given = table_.find("order")) {
    order.clear();
    for (const Value& name : given->array("model.order")) order.push_back(name.text("model.order"));
    if (!std::is_permutation(order.begin(), order.end(), names.begin(), names.end()))
      refuse(*given, "model.order", "must have each coordinate, velocity and state once");
  }
  const auto place = [&](const std::string& name) {
    return static_cast<int>(std::find(order.begin(), order.end(), name) - order.begin());
  };
  for (std::size_t i = 0; i < coordinates(); ++i) {
    typed_->position.push_back(place(names[2 * i]));
    typed_->velocity.push_back(place(names[2 * i + 1]));
  }
  for (std::size_t k = 2 * coordinates(); k < names.size(); ++k) typed_->other.push_back(place(names[k]));
  for (const std::string& name : order) {
    const std::size_t k =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    const bool is_velocity = k < 2 * coordinates() && k % 2 == 1;
    const std::string of = is_velocity ? names[k - 1] : "";
    description_.states.push_back(quantity(name, is_velocity             ? "velocity of " + of
                                                 : k < 2 * coordinates() ? "coordinate"
                                                                         : "state"));
    description_.states.back().velocity_of = of;
  }
}

void Reading::read_definitions() {
  const Value* given = table_.find("definitions");
  if (given == nullptr) return;
  for (const auto& [name, value] : given->table("model.definitions"))
    scope_.define(name, value, "model.definitions." + name);
}

void Reading::refuse_unknown(const Value& given, const std::string& path, const Value::Array& names) const {
  std::vector<std::string> known;
  for (const Value& name : names) known.push_back(name.text(""));
  const std::string prefix = path + ".";
  for (const auto& [name, value] : given.table(path)) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    refuse(value, prefix + name,
           "there is no " + name + (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  }
}

/// One expression for each of the names.
Expressions Reading::read_by_name(const char* table, const Value::Array& names,
                                  const Expression* when_missing) {
  const std::string path = std::string("model.") + table;
  const Value* given = table_.find(table);
  if (given != nullptr) refuse_unknown(*given, path, names);
  const std::string prefix = path + ".";
  Expressions result;
  for (const Value& value : names) {
    const std::string& name = value.text("");
    const Value* text = given != nullptr ? given->find(name) : nullptr;
    if (text == nullptr && when_missing == nullptr)
      throw InputError(table_.place(), prefix + name, "", "is missing: the equation of " + name);
    result.push_back(text != nullptr ? scope_.build(*text, prefix + name) : *when_missing);
  }
  return result;
}

void Reading::read_mass() {
  const std::size_t n = coordinates();
  const Expression zero = graph().number(0), one = graph().number(1);
  motions_.mass.assign(n, Expressions(n, zero));
  const Value* given = table_.find("mass");
  if (given == nullptr || given->is_table()) {
    const Expressions diagonal = read_by_name("mass", list("coordinates"), &one);
    for (std::size_t i = 0; i < n; ++i) motions_.mass[i][i] = diagonal[i];
  } else {
    const std::string rule =
        "must be a table by coordinate, or a matrix of " + std::to_string(n) + " rows and columns";
    if (given->array("model.mass").size() != n) refuse(*given, "model.mass", rule);
    for (std::size_t i = 0; i < n; ++i) {
      const std::string key = "model.mass." + std::to_string(i);
      const Value::Array& row = given->array("")[i].array(key);
      if (row.size() != n) refuse(*given, "model.mass", rule);
      for (std::size_t j = 0; j < n; ++j)
        motions_.mass[i][j] = scope_.build(row[j], key + "." + std::to_string(j));
    }
  }
  const Value& place = given != nullptr ? *given : table_;
  Expressions entries;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (motions_.mass[i][j] != motions_.mass[j][i]) refuse(place, "model.mass", "must be symmetric");
      entries.push_back(motions_.mass[i][j]);
    }
  }
  for (const Expression& m : entries) {
    for (const int v : typed_->velocity) {
      if (graph().depends(m, index(v) + 1)) refuse(place, "model.mass", "may not depend on velocities");
    }
  }
  typed_->mass = Program(graph(), entries);
}

/// Elimination without exchange of rows, as a positive definite matrix allows.
std::vector<Expressions> Reading::solve(std::vector<Expressions> right) {
  Graph& g = graph();
  auto m = motions_.mass;
  const std::size_t n = m.size();
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) {
      if (g.is_zero(m[i][k])) continue;
      const Expression share = g.divide(m[i][k], m[k][k]);
      for (std::size_t j = k + 1; j < n; ++j) m[i][j] = g.subtract(m[i][j], g.multiply(share, m[k][j]));
      for (Expressions& b : right) b[i] = g.subtract(b[i], g.multiply(share, b[k]));
    }
  }
  for (Expressions& b : right) {
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j) b[i] = g.subtract(b[i], g.multiply(m[i][j], b[j]));
      b[i] = g.divide(b[i], m[i][i]);
    }
  }
  return right;
}

void Reading::read_equations() {
  if (const Value* period = table_.find("period"))
    motions_.period = scope_.build_fixed(*period, "model.period");
  typed_->period = motions_.period;
  read_mass();
  motions_.force = read_by_name("force", list("coordinates"), nullptr);
  other_rates_ = read_by_name("rate", list("states"), nullptr);
  accelerations_ = solve({motions_.force}).front();
  Expressions rates = accelerations_;
  rates.insert(rates.end(), other_rates_.begin(), other_rates_.end());
  typed_->rates = Program(graph(), rates);

  state_rates_.assign(index(typed_->states()), graph().number(0));
  for (std::size_t i = 0; i < coordinates(); ++i) {
    state_rates_[index(typed_->position[i])] = input(typed_->velocity[i]);
    state_rates_[index(typed_->velocity[i])] = accelerations_[i];
  }
  for (std::size_t k = 0; k < others(); ++k) state_rates_[index(typed_->other[k])] = other_rates_[k];
  Expressions jacobian;
  for (const Expression& rate : state_rates_) {
    for (std::size_t s = 0; s < state_rates_.size(); ++s) jacobian.push_back(graph().derivative(rate, 1 + s));
  }
  typed_->jacobian = Program(graph(), jacobian);
}

/// Along the motion with all contacts open.
Expression Reading::rate_of(const Expression& e) {
  Graph& g = graph();
  Expression rate = g.derivative(e, 0);
  const auto add = [&](int state, const Expression& its_rate) {
    rate = g.add(rate, g.multiply(g.derivative(e, index(state) + 1), its_rate));
  };
  for (std::size_t i = 0; i < coordinates(); ++i) {
    add(typed_->position[i], input(typed_->velocity[i]));
    add(typed_->velocity[i], accelerations_[i]);
  }
  for (std::size_t k = 0; k < others(); ++k) add(typed_->other[k], other_rates_[k]);
  return rate;
}

TypedKick Reading::kick(const Expressions& change) {
  TypedKick kick;
  Expressions moving;
  for (std::size_t i = 0; i < change.size(); ++i) {
    if (graph().is_zero(change[i])) continue;
    if (change[i].is_fixed()) {
      kick.fixed.push_back({static_cast<int>(i), change[i].constant});
    } else {
      kick.moving.push_back(static_cast<int>(i));
      moving.push_back(change[i]);
    }
  }
  kick.program = Program(graph(), moving);
  return kick;
}

/// What it is the sum of, each alone.
Expressions Reading::terms_of(const Expression& e) {
  Expressions terms = {graph().fixed(e.constant)};
  for (const auto& term : e.linear) {
    terms.push_back(graph().number(0));
    terms.back().linear = {term};
  }
  for (const auto& term : e.products) {
    terms.push_back(graph().number(0));
    terms.back().products = {term};
  }
  return terms;
}

TypedContact Reading::contact(const Value& given, const std::string& key) {
  Graph& g = graph();
  TypedContact contact;
  const Syntax syntax = syntax_of(given.at("gap"), key + ".gap");
  const Expression gap = scope_.build(syntax);
  for (const int v : typed_->velocity) {
    if (g.depends(gap, index(v) + 1)) syntax.refuse(syntax.root(), "a gap may not depend on velocities");
  }
  for (const int p : typed_->other) {
    if (g.depends(gap, index(p) + 1))
      syntax.refuse(syntax.root(), "a gap may depend on coordinates, time and parameters only");
  }
  Expressions normal;
  for (const int q : typed_->position) normal.push_back(g.derivative(gap, index(q) + 1));
  if (std::all_of(normal.begin(), normal.end(), [&](const Expression& e) { return g.is_zero(e); }))
    syntax.refuse(syntax.root(), "a gap must depend on a coordinate");
  const Expression opening = rate_of(gap);
  contact.gap = Program(g, {gap});
  contact.opening = Program(g, {opening});
  contact.pressing = Program(g, {g.negative(rate_of(opening))});
  const Expressions terms = terms_of(gap);
  contact.terms = Program(g, terms);

  Expressions push = solve({normal}).front();
  Expression mobility = g.number(0);
  for (std::size_t i = 0; i < normal.size(); ++i) mobility = g.add(mobility, g.multiply(normal[i], push[i]));
  for (Expression& p : push) p = p == mobility ? g.number(1) : g.divide(p, mobility);
  contact.kick = kick(push);
  contact.restitution = scope_.build_fixed(given.at("restitution"), key + ".restitution");
  Expression foot = g.number(1);
  if (const Value* where = given.find("foot")) {
    foot = scope_.build(*where, key + ".foot");
    contact.foot = Program(g, {foot});
  }
  motions_.gap.push_back(gap);
  motions_.restitution.push_back(contact.restitution);
  MotionProgram::Contact impact;
  Expressions results = {gap, opening, foot};
  for (std::size_t i = 0; i < push.size(); ++i) {
    if (g.is_zero(push[i])) continue;
    impact.position.push_back(typed_->position[i]);
    impact.velocity.push_back(typed_->velocity[i]);
    results.push_back(push[i]);
  }
  results.insert(results.end(), terms.begin(), terms.end());
  impact.impact = Program(g, results);
  impact.pressing = contact.pressing;
  impact.restitution = contact.restitution;
  impact.has_foot = contact.foot.has_value();
  typed_->motion.contacts.push_back(std::move(impact));
  return contact;
}

/// All that moves while no contact is closed, in one list.
void Reading::list_motion() {
  Expressions all = state_rates_;
  all.insert(all.end(), motions_.gap.begin(), motions_.gap.end());
  typed_->motion.flow = Program(graph(), all);
}

void Reading::read_contacts() {
  const Value::Array& contacts = list("contact");
  if (contacts.size() > most_contacts) refuse(table_.at("contact"), "model.contact", "at most 31 contacts");
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Value* name = contacts[c].find("name");
    const Value* meaning = contacts[c].find("meaning");
    const std::string label = name != nullptr ? name->text("model.contact.name") : std::to_string(c + 1);
    description_.contacts.push_back(
        {label, "1", meaning != nullptr ? meaning->text("model.contact.meaning") : "contact " + label});
    typed_->contacts.push_back(contact(contacts[c], "model.contact." + std::to_string(c)));
  }
}

TypedJump Reading::jump(const Value& given, const std::string& key) {
  TypedJump jump;
  const Syntax syntax = syntax_of(given.at("when"), key + ".when");
  const Expression trigger = scope_.build(syntax);
  if (trigger.is_fixed())
    syntax.refuse(syntax.root(), "what a jump waits for must depend on a state or on time");
  jump.trigger = Program(graph(), {trigger});
  jump.terms = Program(graph(), terms_of(trigger));
  const std::string& direction = given.at("direction").text(key + ".direction");
  if (direction != "down") jump.direction = direction == "up" ? JumpDirection::up : JumpDirection::both;
  const Value& set = given.at("set");
  refuse_unknown(set, key + ".set", state_names());
  Expressions values;
  for (std::size_t s = 0; s < description_.states.size(); ++s) {
    const std::string& name = description_.states[s].name;
    const Value* value = set.find(name);
    if (value == nullptr) continue;
    jump.states.push_back(static_cast<int>(s));
    values.push_back(scope_.build(*value, key + ".set." + name));
  }
  if (values.empty()) refuse(set, key + ".set", "sets no state");
  jump.values = Program(graph(), values);
  jump_values_.insert(jump_values_.end(), values.begin(), values.end());
  jump_values_.push_back(trigger);
  return jump;
}

void Reading::read_jumps() {
  const Value::Array& jumps = list("jump");
  if (2 * typed_->contacts.size() + jumps.size() > most_bits)
    refuse(table_.at("jump"), "model.jump", "more than 62 of twice the contacts and the jumps");
  for (std::size_t k = 0; k < jumps.size(); ++k) {
    const Value* name = jumps[k].find("name");
    const Value* meaning = jumps[k].find("meaning");
    const std::string label = name != nullptr ? name->text("model.jump.name") : std::to_string(k + 1);
    description_.jumps.push_back(
        {label, "1", meaning != nullptr ? meaning->text("model.jump.meaning") : "jump " + label});
    typed_->jumps.push_back(jump(jumps[k], "model.jump." + std::to_string(k)));
  }
}

/// The states that the list `name` of the symmetry names.
std::vector<std::size_t> Reading::symmetric_states(const char* name, bool may_matter) {
  std::vector<std::size_t> states;
  const Value* table = table_.find("symmetry");
  const Value* given = table != nullptr ? table->find(name) : nullptr;
  if (given == nullptr) return states;
  const std::string key = std::string("model.symmetry.") + name;
  for (const Value& value : given->array(key)) {
    const auto place = std::find_if(description_.states.begin(), description_.states.end(),
                                    [&](const Quantity& q) { return q.name == value.text(key); });
    if (place == description_.states.end()) refuse(value, key, "there is no such coordinate or state");
    const std::size_t state = static_cast<std::size_t>(place - description_.states.begin());
    Expressions all = accelerations_;
    all.insert(all.end(), other_rates_.begin(), other_rates_.end());
    all.insert(all.end(), motions_.gap.begin(), motions_.gap.end());
    all.insert(all.end(), jump_values_.begin(), jump_values_.end());
    const bool matters = std::any_of(all.begin(), all.end(),
                                     [&](const Expression& e) { return graph().depends(e, state + 1); });
    if (matters && !may_matter) refuse(value, key, "forces, rates or gaps depend on it");
    states.push_back(state);
  }
  return states;
}

Value::Array Reading::state_names() const {
  Value::Array names;
  for (const Quantity& state : description_.states) names.emplace_back(Value::Data(state.name));
  return names;
}

void Reading::read_start() {
  typed_->start.assign(index(typed_->states()), graph().literal(0));
  const Value* given = table_.find("start");
  if (given == nullptr) return;
  refuse_unknown(*given, "model.start", state_names());
  for (std::size_t s = 0; s < description_.states.size(); ++s) {
    const std::string& name = description_.states[s].name;
    if (const Value* value = given->find(name))
      typed_->start[s] = scope_.build_fixed(*value, "model.start." + name);
  }
}

void Reading::read_symmetries() {
  typed_->symmetries.assign(index(typed_->states()), Symmetry::none);
  for (const std::size_t state : symmetric_states("turn", true)) typed_->symmetries[state] = Symmetry::turn;
  typed_->shifted = symmetric_states("shift", false);
}

void Reading::recognise() {
  const bool in_turn = [&] {
    for (std::size_t i = 0; i < coordinates(); ++i) {
      if (index(typed_->position[i]) != 2 * i || index(typed_->velocity[i]) != 2 * i + 1) return false;
    }
    return true;
  }();
  const bool plain = others() == 0 && in_turn && typed_->jumps.empty() &&
                     std::none_of(typed_->contacts.begin(), typed_->contacts.end(),
                                  [](const TypedContact& c) { return c.foot.has_value(); }) &&
                     typed_->shifted.empty() &&
                     std::all_of(typed_->symmetries.begin(), typed_->symmetries.end(),
                                 [](Symmetry s) { return s == Symmetry::none; });
  if (plain) typed_->linear = linear_form(graph(), motions_);
}

/// What nothing depends on is most often misspelt elsewhere. Unused definitions are checked like others.
void Reading::warn_of_unused() {
  const auto warn = [&](const char* table, const std::string& name, const char* rule) {
    const Value& value = table_.at(table).at(name);
    description_.warnings.push_back(
        InputError(value.place(), std::string("model.") + table + "." + name, value.toml(), rule).what());
  };
  for (const Parameter& p : description_.parameters) {
    if (!scope_.is_used(p.name)) warn("parameters", p.name, "no equation uses this parameter");
  }
  for (const std::string& name : scope_.unused_definitions()) {
    warn("definitions", name, "no equation uses this definition");
    scope_.build(Value(Value::Data(name), table_.at("definitions").at(name).place()),
                 "model.definitions." + name);
  }
}

/// At the values of the case file.
void Reading::check_at_home() {
  std::vector<double> values, fixed;
  for (const Parameter& p : description_.parameters) values.push_back(p.value);
  evaluate_fixed(typed_->operations, values.data(), fixed);
  const auto check = [&](const Value& value, const std::string& key, Fixed f, const Range& range) {
    const double now = fixed[static_cast<std::size_t>(f)];
    if (range.contains(now)) return;
    refuse(value, key,
           "is " + Value(now).toml() + " at these parameter values: must satisfy " + range.text());
  };
  const Value::Array& contacts = list("contact");
  for (std::size_t c = 0; c < contacts.size(); ++c)
    check(contacts[c].at("restitution"), "model.contact." + std::to_string(c) + ".restitution",
          typed_->contacts[c].restitution, Range::unit());
  const Range up_to_infinite{0, std::numeric_limits<double>::infinity(), true, false};
  if (typed_->period) check(table_.at("period"), "model.period", *typed_->period, up_to_infinite);
  if (typed_->fastest_rate)
    check(table_.at("fastest_rate"), "model.fastest_rate", *typed_->fastest_rate, Range::positive());
  if (typed_->period) check_period(fixed);
}

/// What hangs on time must be alike a period later.
void Reading::check_period(const std::vector<double>& fixed) {
  const double period = fixed[static_cast<std::size_t>(*typed_->period)];
  if (std::isinf(period)) return;
  Workspace<double> workspace;
  const auto at = [&](const Program& program, double t) {
    std::vector<double> result;
    workspace.run(
        program, fixed.data(),
        [&](std::size_t i) { return i == 0 ? t : 0.1 + 0.07 * static_cast<double>(i % 5); },
        [&](std::size_t, double value) { result.push_back(value); });
    return result;
  };
  const auto check = [&](const Program& program) {
    for (const double share : {0.11, 0.37, 0.83}) {
      const std::vector<double> now = at(program, share * period), later = at(program, (share + 1) * period);
      for (std::size_t k = 0; k < now.size(); ++k) {
        if (std::abs(later[k] - now[k]) > 1e-6 * (std::abs(now[k]) + std::abs(later[k])) + 1e-9)
          refuse(table_.at("period"), "model.period",
                 "forces, rates, gaps or jumps are not the same a period later");
      }
    }
  };
  check(typed_->rates);
  for (const TypedContact& contact : typed_->contacts) check(contact.gap);
  for (const TypedJump& jump : typed_->jumps) {
    check(jump.trigger);
    check(jump.values);
  }
}

}  // namespace

TypedDescription read_typed(const Value& table) { return Reading(table).read(); }

std::vector<Key> typed_keys() {
  std::vector<Key> keys;
  keys.push_back(parameters_key());
  add_key(keys, "coordinates", Key::Type::open,
          "names of the coordinates q; the velocity of x is x' in expressions and x_dot in results");
  add_key(keys, "velocities", Key::Type::open, "other names for the velocities, one for each coordinate");
  add_key(keys, "states", Key::Type::open, "names of first-order states p");
  add_key(keys, "order", Key::Type::open,
          "order of all states in results; left out: each coordinate with its velocity, then the first-order "
          "states");
  add_key(keys, "about", Key::Type::open,
          "what states mean: { x = \"lift of the disc\", phi = { unit = \"rad\", meaning = \"angle\" } }");
  add_key(
      keys, "definitions", Key::Type::open,
      "named quantities for use in the equations, in terms of each other: { spring = \"x + alpha*x^3\" }");
  add_key(keys, "period", Key::Type::open, "of the forcing; left out or infinite: autonomous");
  add_key(keys, "mass", Key::Type::open,
          "mass of each coordinate by name, or the matrix M(q, t), in rows; 1 when left out");
  add_key(keys, "force", Key::Type::open, "M q'' of each coordinate, by name");
  add_key(keys, "rate", Key::Type::open, "p' of each first-order state, by name");
  add_key(keys, "start", Key::Type::open,
          "where a motion starts when [initial] does not say: states by name, in terms of parameters; 0 when "
          "left out");
  add_key(keys, "fastest_rate", Key::Type::open,
          "fastest rate of the system, 1/time, the scale of steps and of chatter; left out: that of the "
          "linearised "
          "system at zero and of the forcing")
      .range = Range::positive();
  Key& contact = add_key(keys, "contact", Key::Type::tables, "rigid contacts");
  add_key(contact.children, "name", Key::Type::text, "name of the contact; its number when left out");
  add_key(contact.children, "meaning", Key::Type::text, "in a few words");
  Key& gap = add_key(contact.children, "gap", Key::Type::number,
                     "at least 0 while open; of coordinates, time and parameters");
  gap.required = true;
  gap.expressions = true;
  Key& restitution =
      add_key(contact.children, "restitution", Key::Type::number, "Newton's, of the gap's rate");
  restitution.required = true;
  restitution.range = Range::unit();
  restitution.expressions = true;
  add_key(contact.children, "foot", Key::Type::open,
          "a contact only where this is positive; elsewhere the gap may pass through zero");
  Key& jump = add_key(keys, "jump", Key::Type::tables, "what else makes the state jump");
  add_key(jump.children, "name", Key::Type::text, "name of the jump; its number when left out");
  add_key(jump.children, "meaning", Key::Type::text, "in a few words");
  Key& when = add_key(jump.children, "when", Key::Type::number,
                      "it jumps where this passes through 0; of states, time and parameters");
  when.required = true;
  when.expressions = true;
  Key& direction =
      add_key(jump.children, "direction", Key::Type::text, "where it falls through 0, rises, or both");
  direction.choices = {"down", "up", "both"};
  direction.fallback = Value("down");
  add_key(jump.children, "set", Key::Type::open,
          "states after the jump by name, all of them in terms of the state before: { x_dot = \"-x'/2\" }")
      .required = true;
  Key& symmetry =
      add_key(keys, "symmetry", Key::Type::table, "what may be added without changing the motion");
  add_key(symmetry.children, "turn", Key::Type::open, "angles: whole turns");
  add_key(symmetry.children, "shift", Key::Type::open,
          "places along something that is alike everywhere: anything");
  return keys;
}

}  // namespace graze
