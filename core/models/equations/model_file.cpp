#include "core/models/equations/model_file.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "core/models/equations/typed_model.hpp"

namespace graze {
namespace {

std::vector<Key> file_keys() {
  std::vector<Key> keys;
  add_key(keys, "graze", Key::Type::integer, "format of the file");
  add_key(keys, "meaning", Key::Type::text, "the system in a sentence or two").required = true;
  add_key(keys, "citations", Key::Type::open, "papers, most important first").fallback =
      Value(Value::Array{});
  Key& model = add_key(keys, "model", Key::Type::table, "the equations");
  model.required = true;
  model.children = typed_keys();
  Key& kind = add_key(model.children, "name", Key::Type::text, "what the table is");
  kind.choices = {"equations"};
  kind.fallback = Value("equations");
  return keys;
}

/// A case gives the parameters as keys beside those that choose the model.
void check_names(const std::vector<Parameter>& parameters, const Value& table) {
  for (const Parameter& p : parameters) {
    if (p.name != "name" && p.name != "file") continue;
    const Value& given = table.at("parameters").at(p.name);
    throw InputError(given.place(), "model.parameters." + p.name, given.toml(),
                     p.name + " chooses the model in a case; another name");
  }
}

std::string text_of(const Value& value) { return value.is_text() ? value.text("") : value.toml(); }

/// Lines "x'' = …" for the members of a table.
std::string lines(const Value* equations, const std::string& primes, const Value* masses) {
  std::string text;
  if (equations == nullptr) return text;
  for (const auto& [name, right] : equations->table("")) {
    const Value* mass = masses != nullptr ? masses->find(name) : nullptr;
    if (mass != nullptr) text.append("(").append(text_of(*mass)).append(") ");
    text.append(name).append(primes).append(" = ").append(text_of(right)).append("\n");
  }
  return text;
}

std::string matrix_text(const Value& mass) {
  std::string text;
  for (const Value& row : mass.array("")) {
    text += text.empty() ? "M = [" : "; ";
    std::string entries;
    for (const Value& entry : row.array("")) entries += (entries.empty() ? "" : ", ") + text_of(entry);
    text += entries;
  }
  return text + "]\n";
}

std::string contact_text(const Value& contact, std::size_t number) {
  const Value* name = contact.find("name");
  std::string text = "contact " + (name != nullptr ? name->text("") : std::to_string(number)) +
                     ": gap = " + text_of(contact.at("gap"));
  const auto add = [&](const char* key, const std::string& before) {
    if (const Value* value = contact.find(key)) text += before + text_of(*value);
  };
  add("restitution", ", restitution = ");
  add("normal_force", ", force = ");
  if (contact.find("stiffness") != nullptr) {
    text += ", force = ";
    if (const Value* preload = contact.find("preload")) text += text_of(*preload) + " + ";
    text += "(" + text_of(contact.at("stiffness")) + ") depth";
    if (const Value* damping = contact.find("damping")) text += " + (" + text_of(*damping) + ") depth'";
  }
  const Value* release = contact.find("release");
  if (release != nullptr && release->text("") == "gap") text += " until the gap is 0 again";
  add("mu", ", friction ");
  add("static", " (at rest ");
  if (contact.find("static") != nullptr) text += ")";
  if (contact.find("mu") != nullptr) text += " times the force";
  add("slip", " against ");
  add("foot", ", where ");
  if (contact.find("foot") != nullptr) text += " > 0";
  return text + "\n";
}

std::string friction_text(const Value& friction, std::size_t number) {
  const Value* name = friction.find("name");
  std::string text = "friction " + (name != nullptr ? name->text("") : std::to_string(number)) +
                     ": slip = " + text_of(friction.at("slip")) +
                     ", amplitude = " + text_of(friction.at("amplitude"));
  if (const Value* at_rest = friction.find("static")) text += ", at rest up to " + text_of(*at_rest);
  return text + "\n";
}

std::string jump_text(const Value& jump, std::size_t number) {
  const Value* name = jump.find("name");
  const std::string& direction = jump.at("direction").text("");
  std::string text = "jump " + (name != nullptr ? name->text("") : std::to_string(number)) + ": where " +
                     text_of(jump.at("when")) +
                     (direction == "down" ? " falls through 0"
                      : direction == "up" ? " rises through 0"
                                          : " passes through 0");
  for (const auto& [state, value] : jump.at("set").table("")) text += ", " + state + " -> " + text_of(value);
  return text + "\n";
}

}  // namespace

std::string equations_text(const Value& table) {
  const Value* mass = table.find("mass");
  const bool is_matrix = mass != nullptr && mass->is_array();
  std::string text = is_matrix ? matrix_text(*mass) : "";
  text += lines(table.find("force"), is_matrix ? ": row of M q''" : "''", is_matrix ? nullptr : mass);
  text += lines(table.find("rate"), "'", nullptr);
  text += lines(table.find("definitions"), "", nullptr);
  if (const Value* contacts = table.find("contact")) {
    std::size_t number = 0;
    for (const Value& contact : contacts->array("")) text += contact_text(contact, ++number);
  }
  if (const Value* jumps = table.find("jump")) {
    std::size_t number = 0;
    for (const Value& jump : jumps->array("")) text += jump_text(jump, ++number);
  }
  if (const Value* frictions = table.find("friction")) {
    std::size_t number = 0;
    for (const Value& friction : frictions->array("")) text += friction_text(friction, ++number);
  }
  if (const Value* period = table.find("period"))
    text += "period of the forcing = " + text_of(*period) + "\n";
  if (!text.empty()) text.pop_back();
  return text;
}

ModelInfo model_of_file(const std::string& name, const Value& settings, std::string text) {
  const Value file = checked(settings, file_keys(), "");
  const Value& table = file.at("model");
  const auto model = std::make_shared<const TypedModel>(table);
  check_names(model->parameters(), table);
  ModelInfo info;
  info.name = name;
  info.meaning = file.at("meaning").text("meaning");
  for (const Value& paper : file.at("citations").array("citations"))
    info.citations.push_back(paper.text("citations"));
  info.equations = equations_text(table);
  info.states = model->states();
  info.contacts = model->contacts();
  info.jumps = model->jumps();
  info.frictions = model->frictions();
  info.modes = typed_modes;
  info.text = std::move(text);
  info.start = [model](std::span<const double> values) { return model->start(values); };
  info.set_parameters(model->parameters(),
                      [model](std::span<const double> values, const Tolerance& tolerance) {
                        return model->system(values, tolerance);
                      });
  return info;
}

}  // namespace graze
