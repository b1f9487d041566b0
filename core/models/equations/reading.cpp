#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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
constexpr std::size_t most_laws = 31;      // … for each friction too, and two more where some are compliant

[[noreturn]] void refuse(const Value& value, const std::string& key, const std::string& rule) {
  throw InputError(value.place(), key, value.toml(), rule);
}

using Expressions = std::vector<Expression>;

class Reading {
 public:
  explicit Reading(const Value& table)
      : table_(table), scope_(1 + 2 * list("coordinates").size() + list("states").size(), 2) {}

  TypedDescription read() {
    read_parameters();
    read_names();
    read_definitions();
    read_equations();
    read_contacts();
    read_jumps();
    read_frictions();
    list_holding();
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
  void check_law(const Value& given, const std::string& key) const;
  TypedLaw law(const Value& given, const std::string& key, const Expression& gap, const Expression& opening);
  Expression typed_force(const Syntax& syntax);
  void read_frictions();
  void note_bounds(const Value* at_rest, const Expression& sliding, const Expression& resting);
  void read_contact_friction(const Value& given, const std::string& key, std::size_t contact);
  void add_friction(const Syntax& slip, const Expression& amplitude, const Expression* limit, int contact,
                    const std::string& name, const std::string& meaning);
  void list_holding();
  TypedKick kick(const Expressions& change);
  void list_motion();
  Expressions switch_forces(Expressions& accelerations);
  void list_switched();
  void read_symmetries();
  void read_start();
  Value::Array state_names() const;
  std::vector<std::size_t> symmetric_states(const char* name);
  void check_shift();
  void recognise();
  void warn_of_unused();
  void check_at_home();
  void check_period(const std::vector<double>& fixed);

  /// Solutions of M u = b for several b.
  std::vector<Expressions> solve(std::vector<Expressions> right);
  Expression rate_of(const Expression& e, const Expressions& accelerations);
  /// … with all contacts open.
  Expression rate_of(const Expression& e) { return rate_of(e, accelerations_); }
  bool is_polynomial(const Expression& e, std::size_t input);
  Quantity quantity(const std::string& name, const std::string& meaning) const;

  const Value& table_;
  Scope scope_;
  TypedDescription description_;
  std::shared_ptr<TypedSystem> typed_ = std::make_shared<TypedSystem>();
  Motions motions_;
  Expressions accelerations_, other_rates_, state_rates_;
  Expressions jump_values_;              ///< what jumps wait for and set
  std::vector<Expressions> directions_;  ///< of contacts, then against slips: by the velocities
  Expressions speeds_;                   ///< along these
  Expressions forces_;                   ///< of compliant contacts, zero of the others
  /// Of compliant contacts, in the placeholders of depth and its rate.
  struct Law {
    Expression force, sign;
  };
  std::map<std::size_t, Law> laws_in_depth_;
  Expressions laws_;  ///< forces, amplitudes and limits
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
  Expressions slopes;
  for (const Expression& rate : state_rates_) {
    for (std::size_t s = 0; s < state_rates_.size(); ++s) slopes.push_back(graph().derivative(rate, 1 + s));
  }
  typed_->jacobian = Program(graph(), slopes);
}

/// Along a motion.
Expression Reading::rate_of(const Expression& e, const Expressions& accelerations) {
  Graph& g = graph();
  Expression rate = g.derivative(e, 0);
  const auto add = [&](int state, const Expression& its_rate) {
    rate = g.add(rate, g.multiply(g.derivative(e, index(state) + 1), its_rate));
  };
  for (std::size_t i = 0; i < coordinates(); ++i) {
    add(typed_->position[i], input(typed_->velocity[i]));
    add(typed_->velocity[i], accelerations[i]);
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
  contact.mobility = Program(g, {mobility});
  for (Expression& p : push) p = p == mobility ? g.number(1) : g.divide(p, mobility);
  contact.kick = kick(push);
  Motions::Contact motion;
  motion.gap = gap;
  Expression force = g.number(0);
  if (const Value* restitution = given.find("restitution")) {
    contact.restitution = scope_.build_fixed(*restitution, key + ".restitution");
  } else {
    contact.law = law(given, key, gap, opening);
    motion.law = contact.law->by_gap ? StopLaw::release_by_gap : StopLaw::release_by_force;
    motion.is_linear = contact.law->linear.has_value();
    if (motion.is_linear) {
      motion.stiffness = contact.law->linear->stiffness;
      motion.damping = contact.law->linear->damping;
      motion.preload = contact.law->preload;
    }
    force = laws_.back();
  }
  motion.restitution = contact.restitution;
  motions_.contacts.push_back(motion);
  forces_.push_back(force);
  directions_.push_back(normal);
  speeds_.push_back(opening);
  Expression foot = g.number(1);
  if (const Value* where = given.find("foot")) {
    foot = scope_.build(*where, key + ".foot");
    contact.foot = Program(g, {foot});
  }
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
  impact.restitution = contact.restitution;
  impact.has_foot = contact.foot.has_value();
  typed_->motion.contacts.push_back(std::move(impact));
  return contact;
}

/// One of restitution, stiffness and normal_force, with what goes with it.
void Reading::check_law(const Value& given, const std::string& key) const {
  const bool rigid = given.find("restitution") != nullptr, spring = given.find("stiffness") != nullptr,
             typed = given.find("normal_force") != nullptr;
  const auto only = [&](const char* name, bool there, const char* rule) {
    const Value* value = given.find(name);
    if (value != nullptr && !there) refuse(*value, key + "." + name, rule);
  };
  if (rigid + spring + typed == 0)
    throw InputError(given.place(), key + ".restitution", "",
                     "is missing: a contact has a restitution (rigid), a stiffness or a normal_force");
  if (rigid + spring + typed > 1)
    refuse(given.at(rigid ? "restitution" : "normal_force"), key + (rigid ? ".restitution" : ".normal_force"),
           rigid ? "a contact with a stiffness or a normal_force has no restitution"
                 : "a contact has a stiffness or a normal_force, not both");
  only("damping", spring, "only of a contact with a stiffness");
  only("preload", spring, "only of a contact with a stiffness");
  only("release", !rigid, "only of a contact with a stiffness or a normal_force");
  only("slip", given.find("mu") != nullptr, "only of a contact with mu");
  only("static", given.find("mu") != nullptr, "only of a contact with mu");
  only("mu", given.find("slip") != nullptr, "needs slip, the sliding speed, beside it");
  only("preload", given.find("mu") == nullptr,
       "a contact with mu has no preload: friction on an abutment, where it rests with a part of that, is "
       "not modelled");
  only("foot", rigid, "only of a rigid contact");
}

/// In the placeholders of depth and its rate.
Expression Reading::typed_force(const Syntax& syntax) {
  Graph& g = graph();
  const std::size_t depth = g.inputs(), rate = depth + 1;
  Expression force = scope_.build(syntax, {{"depth", g.input(depth)}, {"depth'", g.input(rate)}});
  if (!g.depends(force, depth)) syntax.refuse(syntax.root(), "must depend on depth, which is minus the gap");
  const Expression zero = g.number(0);
  if (!g.is_zero(g.substitute(force, {{depth, zero}, {rate, zero}})))
    syntax.refuse(
        syntax.root(),
        "must be 0 where depth and depth' are; a force that is there from the beginning is a preload "
        "beside a stiffness");
  return force;
}

TypedLaw Reading::law(const Value& given, const std::string& key, const Expression& gap,
                      const Expression& opening) {
  Graph& g = graph();
  const std::size_t depth = g.inputs(), rate = depth + 1;
  TypedLaw law;
  const Value* release = given.find("release");
  law.by_gap = release != nullptr && release->text(key + ".release") == "gap";
  Expression force;
  if (const Value* text = given.find("normal_force")) {
    force = typed_force(syntax_of(*text, key + ".normal_force"));
    law.preload = g.literal(0);
  } else {
    const auto number = [&](const char* name) {
      const Value* value = given.find(name);
      return value != nullptr ? scope_.build_fixed(*value, key + "." + name) : g.literal(0);
    };
    law.linear = {number("stiffness"), number("damping")};
    law.preload = number("preload");
    force = g.add(g.fixed(law.preload), g.multiply(g.fixed(law.linear->stiffness), g.input(depth)));
    force = g.add(force, g.multiply(g.fixed(law.linear->damping), g.input(rate)));
  }
  const auto is_singular = [&](Atom a) {
    const AtomOperation op = g.atom(a);
    const bool root = op.kind == AtomOperation::Kind::call &&
                      (op.function == Function::sqrt || op.function == Function::log);
    if (op.kind != AtomOperation::Kind::power && !root) return false;
    Expression argument = g.number(0);
    argument.linear.push_back({op.a, g.literal(1)});
    return g.depends(argument, depth);
  };
  const std::vector<Atom> atoms = g.needed({force});
  law.singular = std::any_of(atoms.begin(), atoms.end(), is_singular);
  const Expression sign = g.without_powers(force, depth);
  law.watched = !law.by_gap && !sign.is_fixed();
  laws_in_depth_[typed_->contacts.size()] = {force, sign};
  Expressions results = {force, sign, g.derivative(force, depth), g.derivative(force, rate)};
  for (Expression& e : results) e = g.substitute(e, {{depth, g.negative(gap)}, {rate, g.negative(opening)}});
  law.force = Program(g, results);
  law.elastic = Program(g, {g.substitute(force, {{depth, g.negative(gap)}, {rate, g.number(0)}})});
  law.at_surface = Program(g, {g.substitute(force, {{depth, g.number(0)}, {rate, g.negative(opening)}})});
  laws_.push_back(results.front());
  return law;
}

void Reading::add_friction(const Syntax& syntax, const Expression& amplitude, const Expression* limit,
                           int contact, const std::string& name, const std::string& meaning) {
  Graph& g = graph();
  const Expression slip = scope_.build(syntax);
  Expressions against;
  for (const int v : typed_->velocity) {
    const Expression part = g.derivative(slip, index(v) + 1);
    for (const int other : typed_->velocity) {
      if (g.depends(part, index(other) + 1))
        syntax.refuse(syntax.root(), "a slip must be linear in the velocities");
    }
    against.push_back(g.negative(part));
  }
  if (std::all_of(against.begin(), against.end(), [&](const Expression& e) { return g.is_zero(e); }))
    syntax.refuse(syntax.root(), "a slip must depend on a velocity");
  TypedFriction friction;
  friction.slip = Program(g, {slip});
  friction.amplitude = Program(g, {amplitude});
  friction.limit = Program(g, {limit != nullptr ? *limit : amplitude});
  if (amplitude.is_fixed()) friction.fixed = amplitude.constant;
  friction.eases = limit != nullptr && *limit != amplitude;
  friction.contact = contact;
  typed_->frictions.push_back(std::move(friction));
  directions_.push_back(against);
  speeds_.push_back(g.negative(slip));
  laws_.push_back(amplitude);
  if (limit != nullptr) laws_.push_back(*limit);
  Motions::Friction motion;
  motion.slip = slip;
  motion.contact = contact;
  motions_.frictions.push_back(motion);
  description_.frictions.push_back({name, "1", meaning});
}

/// Of the friction read last.
void Reading::note_bounds(const Value* at_rest, const Expression& sliding, const Expression& resting) {
  if (at_rest != nullptr && sliding.is_fixed() && resting.is_fixed())
    typed_->frictions.back().bounds = TypedFriction::Bounds{sliding.constant, resting.constant};
}

void Reading::read_contact_friction(const Value& given, const std::string& key, std::size_t contact) {
  const Value* mu = given.find("mu");
  if (mu == nullptr) return;
  const bool rigid = given.find("restitution") != nullptr;
  const auto share = [&](const Expression& factor) {
    return rigid ? factor : graph().multiply(factor, forces_[contact]);
  };
  const Expression factor = scope_.build(*mu, key + ".mu");
  const Value* at_rest = given.find("static");
  const Expression factor_at_rest = at_rest != nullptr ? scope_.build(*at_rest, key + ".static") : factor;
  const Expression amplitude = share(factor), limit = share(factor_at_rest);
  const std::string& label = description_.contacts[contact].name;
  add_friction(syntax_of(given.at("slip"), key + ".slip"), amplitude, at_rest != nullptr ? &limit : nullptr,
               static_cast<int>(contact), label, "friction of contact " + label);
  if (factor.is_fixed() && at_rest == nullptr) motions_.frictions.back().factor = factor.constant;
  note_bounds(at_rest, factor, factor_at_rest);
  typed_->frictions.back().share = Program(graph(), {factor});
  typed_->frictions.back().share_at_rest = Program(graph(), {factor_at_rest});
}

void Reading::read_frictions() {
  const Value::Array& contacts = list("contact");
  for (std::size_t c = 0; c < contacts.size(); ++c)
    read_contact_friction(contacts[c], "model.contact." + std::to_string(c), c);
  const Value::Array& frictions = list("friction");
  for (std::size_t k = 0; k < frictions.size(); ++k) {
    const std::string key = "model.friction." + std::to_string(k);
    const Value& given = frictions[k];
    const Value* name = given.find("name");
    const Value* meaning = given.find("meaning");
    const std::string label = name != nullptr ? name->text(key + ".name") : std::to_string(k + 1);
    const Expression amplitude = scope_.build(given.at("amplitude"), key + ".amplitude");
    const Value* at_rest = given.find("static");
    const Expression limit = at_rest != nullptr ? scope_.build(*at_rest, key + ".static") : amplitude;
    add_friction(syntax_of(given.at("slip"), key + ".slip"), amplitude, at_rest != nullptr ? &limit : nullptr,
                 -1, label, meaning != nullptr ? meaning->text(key + ".meaning") : "friction " + label);
    note_bounds(at_rest, amplitude, limit);
    if (amplitude.is_fixed() && at_rest == nullptr) motions_.frictions.back().factor = amplitude.constant;
  }
  if (typed_->only_impacts()) return;
  if (!typed_->jumps.empty())
    refuse(table_.at("jump"), "model.jump", "only where no contact is compliant and nothing has friction");
  const bool compliant = std::any_of(typed_->contacts.begin(), typed_->contacts.end(),
                                     [](const TypedContact& c) { return c.law.has_value(); });
  const std::size_t places = contacts.size() * (compliant ? 2 : 1) + typed_->frictions.size();
  if (places > most_laws) {
    const char* last = frictions.empty() ? "contact" : "friction";
    refuse(table_.at(last), std::string("model.") + last,
           compliant ? "at most 31 contacts and frictions together, contacts counted twice where one is "
                       "compliant"
                     : "at most 31 contacts and frictions together");
  }
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (const Value* foot = contacts[c].find("foot"))
      refuse(*foot, "model.contact." + std::to_string(c) + ".foot",
             "only where no contact is compliant and nothing has friction");
  }
}

/// Accelerations along contacts and slips, and what forces there make of them.
void Reading::list_holding() {
  if (typed_->only_impacts()) return;
  Graph& g = graph();
  Expressions results;
  for (const Expression& speed : speeds_) results.push_back(rate_of(speed));
  const std::vector<Expressions> pushes = solve(directions_);
  for (std::size_t a = 0; a < directions_.size(); ++a) {
    typed_->pushes.push_back(kick(pushes[a]));
    for (std::size_t b = a; b < directions_.size(); ++b) {
      Expression response = g.number(0);
      for (std::size_t i = 0; i < coordinates(); ++i)
        response = g.add(response, g.multiply(directions_[a][i], pushes[b][i]));
      results.push_back(response);
    }
  }
  typed_->holding = Program(g, results);
}

/// Whether it depends on an input in no other way.
bool Reading::is_polynomial(const Expression& e, std::size_t input) {
  const std::vector<Atom> atoms = graph().needed({e});
  return std::none_of(atoms.begin(), atoms.end(), [&](Atom a) {
    const AtomOperation::Kind kind = graph().atom(a).kind;
    if (kind == AtomOperation::Kind::input || kind == AtomOperation::Kind::sum) return false;
    Expression alone = graph().number(0);
    alone.linear.push_back({a, graph().literal(1)});
    return graph().depends(alone, input);
  });
}

/// Adds the forces of compliant contacts, times their flags, to the accelerations. Of one that is not
/// engaged depth is 1 and does not move, where it might not exist or bend otherwise.
/// @return what MotionProgram::flow has of them
Expressions Reading::switch_forces(Expressions& accelerations) {
  Graph& g = graph();
  const std::size_t depth = g.inputs(), rate = depth + 1;
  const std::vector<Expressions> pushes = solve(directions_);
  Expressions signs;
  for (const auto& [c, law] : laws_in_depth_) {
    MotionProgram::Contact& contact = typed_->motion.contacts[c];
    contact.law.emplace();
    contact.law->flag = g.flag(c);
    contact.law->by_gap = typed_->contacts[c].law->by_gap;
    const Expression on = g.fixed(contact.law->flag), off = g.subtract(g.number(1), on);
    Expression here = g.negative(motions_.contacts[c].gap), speed = g.negative(speeds_[c]);
    if (!is_polynomial(law.force, depth)) here = g.add(g.multiply(on, here), off);
    if (!is_polynomial(law.force, rate)) speed = g.multiply(on, speed);
    const auto switched = [&](const Expression& e) {
      return g.multiply(on, g.substitute(e, {{depth, here}, {rate, speed}}));
    };
    const Expression force = switched(law.force);
    for (std::size_t i = 0; i < coordinates(); ++i)
      accelerations[i] = g.add(accelerations[i], g.multiply(pushes[c][i], force));
    if (!typed_->contacts[c].law->watched) continue;
    signs.push_back(g.add(switched(law.sign), off));
    contact.law->force = Program(g, {signs.back()});
  }
  return signs;
}

/// Quantities that hang on flags.
void Reading::list_switched() {
  std::vector<bool> hangs;
  for (const FixedOperation& op : graph().fixed()) {
    const std::size_t place = hangs.size();
    const bool is_flag = op.kind == FixedOperation::Kind::flag;
    const auto hangs_on = [&](Fixed f) {
      const std::size_t other = static_cast<std::size_t>(f);
      return other < place && hangs[other];
    };
    const bool follows = hangs_on(op.a) || hangs_on(op.b);
    if (follows) typed_->motion.switched.push_back({static_cast<Fixed>(place), op});
    hangs.push_back(is_flag || follows);
  }
}

/// All that moves while no contact is closed, in one list.
void Reading::list_motion() {
  if (!typed_->has_motion()) return;
  MotionProgram& motion = typed_->motion;
  motion.velocities = typed_->velocity;
  Expressions accelerations = accelerations_;
  const Expressions signs = switch_forces(accelerations);
  Expressions all = state_rates_;
  for (std::size_t i = 0; i < coordinates(); ++i) all[index(typed_->velocity[i])] = accelerations[i];
  const Expressions rates = all;
  for (std::size_t c = 0; c < speeds_.size(); ++c) {
    all.push_back(motions_.contacts[c].gap);
    motion.contacts[c].pressing = Program(graph(), {graph().negative(rate_of(speeds_[c], accelerations))});
  }
  all.insert(all.end(), signs.begin(), signs.end());
  motion.flow = Program(graph(), all);
  for (std::size_t of = 0; of < rates.size(); ++of) {
    for (std::size_t by = 0; by < rates.size(); ++by) {
      const Expression slope = graph().derivative(rates[of], 1 + by);
      if (graph().is_zero(slope)) continue;
      MotionProgram::Slope& s =
          motion.slopes.emplace_back(MotionProgram::Slope{static_cast<int>(of), static_cast<int>(by), {}});
      if (slope.is_fixed()) {
        s.constant = slope.constant;
      } else {
        all.push_back(slope);
      }
    }
  }
  motion.varied = Program(graph(), all);
  list_switched();
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
    const std::string key = "model.contact." + std::to_string(c);
    check_law(contacts[c], key);
    typed_->contacts.push_back(contact(contacts[c], key));
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
  const std::string prefix = key + ".set.";
  Expressions values;
  for (std::size_t s = 0; s < description_.states.size(); ++s) {
    const std::string& name = description_.states[s].name;
    const Value* value = set.find(name);
    if (value == nullptr) continue;
    jump.states.push_back(static_cast<int>(s));
    values.push_back(scope_.build(*value, prefix + name));
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
std::vector<std::size_t> Reading::symmetric_states(const char* name) {
  std::vector<std::size_t> states;
  const Value* table = table_.find("symmetry");
  const Value* given = table != nullptr ? table->find(name) : nullptr;
  if (given == nullptr) return states;
  const std::string key = std::string("model.symmetry.") + name;
  for (const Value& value : given->array(key)) {
    const auto place = std::find_if(description_.states.begin(), description_.states.end(),
                                    [&](const Quantity& q) { return q.name == value.text(key); });
    if (place == description_.states.end()) refuse(value, key, "there is no such coordinate or state");
    states.push_back(static_cast<std::size_t>(place - description_.states.begin()));
  }
  return states;
}

Value::Array Reading::state_names() const {
  Value::Array names;
  for (const Quantity& state : description_.states) names.emplace_back(Value::Data(state.name));
  return names;
}

/// Nothing may notice where the same is added to all of these states.
void Reading::check_shift() {
  if (typed_->shifted.empty()) return;
  Graph& g = graph();
  Expressions all = accelerations_;
  all.insert(all.end(), other_rates_.begin(), other_rates_.end());
  for (const Motions::Contact& contact : motions_.contacts) all.push_back(contact.gap);
  all.insert(all.end(), speeds_.begin(), speeds_.end());
  all.insert(all.end(), laws_.begin(), laws_.end());
  all.insert(all.end(), jump_values_.begin(), jump_values_.end());
  for (const Expression& e : all) {
    Expression change = g.number(0);
    for (const std::size_t state : typed_->shifted) change = g.add(change, g.derivative(e, state + 1));
    if (g.is_zero(change)) continue;
    const Value& states = table_.at("symmetry").at("shift");
    const Value::Array& names = states.array("");
    refuse(names.size() == 1 ? names.front() : states, "model.symmetry.shift",
           "forces, rates or gaps depend on it");
  }
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
  for (const std::size_t state : symmetric_states("turn")) typed_->symmetries[state] = Symmetry::turn;
  typed_->shifted = symmetric_states("shift");
  check_shift();
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
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const std::string key = "model.contact." + std::to_string(c) + ".";
    const TypedContact& contact = typed_->contacts[c];
    const auto check_key = [&](const char* name, Fixed f, const Range& range) {
      if (const Value* value = contacts[c].find(name)) check(*value, key + name, f, range);
    };
    check_key("restitution", contact.restitution, Range::unit());
    if (!contact.law || !contact.law->linear) continue;
    check_key("stiffness", contact.law->linear->stiffness, Range::positive());
    check_key("damping", contact.law->linear->damping, Range::non_negative());
    check_key("preload", contact.law->preload, Range::non_negative());
  }
  const Value::Array& frictions = list("friction");
  const std::size_t of_contacts = typed_->frictions.size() - frictions.size();  // the first ones
  for (std::size_t k = 0; k < typed_->frictions.size(); ++k) {
    const TypedFriction& friction = typed_->frictions[k];
    const bool own = friction.contact < 0;
    const std::size_t place = own ? k - of_contacts : static_cast<std::size_t>(friction.contact);
    const Value& given = own ? frictions[place] : contacts[place];
    const std::string key = (own ? "model.friction." : "model.contact.") + std::to_string(place) + ".";
    const char* factor = own ? "amplitude" : "mu";
    if (friction.fixed) check(given.at(factor), key + factor, *friction.fixed, Range::non_negative());
    if (!friction.bounds) continue;
    const double sliding = fixed[static_cast<std::size_t>(friction.bounds->sliding)];
    check(given.at("static"), key + "static", friction.bounds->resting,
          Range{sliding, std::numeric_limits<double>::infinity(), false, false});
  }
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
  const auto at = [&](const Program& program, double t, double size) {
    std::vector<double> result;
    workspace.run(
        program, fixed.data(),
        [&](std::size_t i) { return i == 0 ? t : size * (0.1 + 0.07 * static_cast<double>(i % 5)); },
        [&](std::size_t, double value) { result.push_back(value); });
    return result;
  };
  const auto check_at = [&](const Program& program, double share, double size) {
    const std::vector<double> now = at(program, share * period, size),
                              later = at(program, (share + 1) * period, size);
    for (std::size_t k = 0; k < now.size(); ++k) {
      if (std::abs(later[k] - now[k]) > 1e-6 * (std::abs(now[k]) + std::abs(later[k])) + 1e-9)
        refuse(table_.at("period"), "model.period",
               "forces, rates, gaps or jumps are not the same a period later");
    }
  };
  // A compliant contact is pressed at some of these states.
  const auto check = [&](const Program& program) {
    for (const double share : {0.11, 0.37, 0.83})
      for (const double size : {1.0, -1.0, 50.0, -50.0}) check_at(program, share, size);
  };
  check(typed_->rates);
  for (const TypedContact& contact : typed_->contacts) {
    check(contact.gap);
    if (contact.law) check(contact.law->force);
    if (contact.foot) check(*contact.foot);
  }
  for (const TypedJump& jump : typed_->jumps) {
    check(jump.trigger);
    check(jump.values);
  }
  for (const TypedFriction& friction : typed_->frictions) {
    check(friction.slip);
    const bool own = friction.contact < 0;
    check(own ? friction.amplitude : friction.share);
    check(own ? friction.limit : friction.share_at_rest);
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
  Key& contact = add_key(keys, "contact", Key::Type::tables, "rigid and compliant contacts");
  add_key(contact.children, "name", Key::Type::text, "name of the contact; its number when left out");
  add_key(contact.children, "meaning", Key::Type::text, "in a few words");
  Key& gap = add_key(contact.children, "gap", Key::Type::number,
                     "at least 0 while open; of coordinates, time and parameters");
  gap.required = true;
  gap.expressions = true;
  const auto law_key = [&](const char* name, const Range& range, const char* meaning) {
    Key& key = add_key(contact.children, name, Key::Type::number, meaning);
    key.range = range;
    key.expressions = true;
  };
  law_key("restitution", Range::unit(), "of a rigid contact: Newton's, of the gap's rate");
  law_key("stiffness", Range::positive(),
          "of a compliant contact: its force is preload + stiffness depth + damping depth', depth = -gap");
  law_key("damping", Range::non_negative(), "beside stiffness; 0 when left out");
  law_key("preload", Range::non_negative(),
          "beside stiffness: force where it begins, on an abutment; 0 when left out");
  add_key(contact.children, "normal_force", Key::Type::open,
          "of a compliant contact with any other law, of depth, depth', coordinates, velocities and time: "
          "\"k*depth^1.5*(1 + c*depth')\"");
  add_key(contact.children, "release", Key::Type::text,
          "of a compliant contact: it ends where its force vanishes (the default) or where the gap is zero "
          "again")
      .choices = {"force", "gap"};
  add_key(contact.children, "mu", Key::Type::open,
          "coefficient of Coulomb friction by the force of the contact, along slip; of a rigid one by its "
          "impulse "
          "too, with Poisson's restitution");
  add_key(contact.children, "slip", Key::Type::open, "sliding speed, linear in the velocities");
  add_key(contact.children, "static", Key::Type::open, "coefficient of friction at rest; mu when left out");
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
  Key& friction = add_key(keys, "friction", Key::Type::tables, "Coulomb frictions of a given amplitude");
  add_key(friction.children, "name", Key::Type::text, "name of the friction; its number when left out");
  add_key(friction.children, "meaning", Key::Type::text, "in a few words");
  add_key(friction.children, "slip", Key::Type::open, "sliding speed, linear in the velocities").required =
      true;
  add_key(friction.children, "amplitude", Key::Type::open,
          "force while it slides, of states, time and parameters")
      .required = true;
  add_key(friction.children, "static", Key::Type::open,
          "greatest force at rest; the amplitude when left out");
  Key& symmetry =
      add_key(keys, "symmetry", Key::Type::table, "what may be added without changing the motion");
  add_key(symmetry.children, "turn", Key::Type::open, "angles: whole turns");
  add_key(symmetry.children, "shift", Key::Type::open, "coordinates: the same added to all of them");
  return keys;
}

}  // namespace graze
