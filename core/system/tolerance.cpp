#include "core/system/tolerance.hpp"

namespace graze {

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
    add("chatter", Key::Type::number, Value(defaults.chatter), Range{1e-12, 0.1},
        "a chatter sequence is completed by its closed formula once it would end within about this "
        "fraction of the system's shortest time scale; the error goes with the third power");
    add("turn", Key::Type::number, Value(defaults.turn), Range{1e-9, 0.5},
        "... and only when the pressing force changes by less than this share until then");
    add("events", Key::Type::integer, Value(defaults.events), Range{1, 1e9, false, false},
        "events allowed in one map iterate before the point counts as chattering without end");
    add("patience", Key::Type::number, Value(defaults.patience), Range{0, 1e9, true, false},
        "forcing periods (autonomous: shortest natural periods) to wait for the next impact or section");
    add("integration", Key::Type::number, Value(defaults.integration), Range{1e-16, 1e-3},
        "what a step of a nonlinear flow may leave out of any state, as a share of its size; linear "
        "flow is exact");
    add("engine", Key::Type::text, Value("series"), Range::any(),
        "what moves systems of equations: power series (linear ones: the exact flow), or Boost.Odeint as an "
        "independent second method");
    list.back().choices = {"series", "odeint"};
    list.back().unit.clear();
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
  if (table.at("engine").text("tolerance.engine") == "odeint") t.engine = Tolerance::Engine::odeint;
  t.patience = table.at("patience").number("tolerance.patience");
  return t;
}

}  // namespace graze
