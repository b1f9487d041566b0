#include "core/model.hpp"

namespace graze {

// The list of models that the build has collected: first declared, then called.
#define GRAZE_MODEL(name) ModelInfo name##_model();
#include "generated/models.inc"
#undef GRAZE_MODEL

const std::vector<ModelInfo>& models() {
  static const std::vector<ModelInfo> list = {
#define GRAZE_MODEL(name) name##_model(),
#include "generated/models.inc"
#undef GRAZE_MODEL
  };
  return list;
}

namespace {

Key number_key(const char* name, Key::Type type, double fallback, Range range, const char* meaning) {
  Key key;
  key.name = name;
  key.type = type;
  key.unit = "1";
  key.fallback = type == Key::Type::integer ? Value(static_cast<std::int64_t>(fallback)) : Value(fallback);
  key.range = range;
  key.meaning = meaning;
  return key;
}

}  // namespace

const std::vector<Key>& tolerance_keys() {
  const Tolerance defaults;
  static const std::vector<Key> keys = {
      number_key("chatter", Key::Type::number, defaults.chatter, Range{0, 0.1, true, false},
                 "a chatter sequence is completed by its closed formula once it would end within about this "
                 "fraction of the system's shortest time scale; the error goes with the third power"),
      number_key("turn", Key::Type::number, defaults.turn, Range{0, 0.5, true, false},
                 "... and only when the pressing force changes by less than this share until then"),
      number_key("events", Key::Type::integer, static_cast<double>(defaults.events),
                 Range{1, 1e9, false, false},
                 "events allowed in one map iterate before the point counts as chattering without end"),
      number_key("patience", Key::Type::number, defaults.patience, Range{0, 1e9, true, false},
                 "forcing periods (autonomous: shortest natural periods) to wait for the next impact or "
                 "section")};
  return keys;
}

Tolerance read_tolerance(const Value& table) {
  Tolerance t;
  t.chatter = table.at("chatter").number("tolerance.chatter");
  t.turn = table.at("turn").number("tolerance.turn");
  t.events = table.at("events").integer("tolerance.events");
  t.patience = table.at("patience").number("tolerance.patience");
  return t;
}

int Model::parameter_index(std::string_view name) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::vector<double> Model::values() const {
  std::vector<double> values;
  for (const Parameter& p : parameters_) values.push_back(p.value);
  return values;
}

}  // namespace graze
