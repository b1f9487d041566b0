/// A small table of keys with everything that keys can be, for the tests of checking and of the schema.
#pragma once

#include <string>
#include <vector>

#include "core/settings/parameter.hpp"

namespace graze::test {

inline Key make_key(const std::string& name, Key::Type type, const std::string& meaning) {
  Key key;
  key.name = name;
  key.type = type;
  key.meaning = meaning;
  return key;
}

inline Key make_number(const std::string& name, const Range& range, Value fallback,
                       const std::string& unit = "1") {
  Key key = make_key(name, Key::Type::number, "the number " + name);
  key.range = range;
  key.unit = unit;
  key.fallback = std::move(fallback);
  return key;
}

inline Key required(Key key) {
  key.required = true;
  return key;
}

inline Key with_children(Key key, std::vector<Key> children) {
  key.children = std::move(children);
  return key;
}

inline std::vector<Key> sample_keys() {
  Key model = required(make_key("model", Key::Type::table, "what moves"));
  model.variants = {{"ball",
                     "a bouncing ball",
                     {make_number("height", Range::positive(), Value(1.0), "m"),
                      make_number("restitution", Range::unit(), Value(0.7))}},
                    {"chain",
                     "masses in a row",
                     {required(make_key("mass", Key::Type::matrix, "the mass matrix")),
                      with_children(make_key("stops", Key::Type::tables, "its stops"),
                                    {required(make_number("position", Range::finite(), {}, "m")),
                                     make_number("restitution", Range::unit(), Value(0.5))})}}};

  Key map = make_key("map", Key::Type::text, "the map");
  map.choices = {"stroboscopic", "impact", "section"};
  map.fallback = "stroboscopic";
  Key transient = make_key("transient", Key::Type::integer, "iterates dropped");
  transient.range = Range::non_negative();
  transient.fallback = Value(std::int64_t{100});
  Key follow = make_key("follow", Key::Type::boolean, "whether a branch is followed");
  follow.fallback = Value(false);
  Key levels = make_key("levels", Key::Type::numbers, "levels \"quoted\" \\ with a backslash");
  levels.range = Range::finite();
  const Key axis = with_children(make_key("axis", Key::Type::table, "the axis"),
                                 {required(make_key("parameter", Key::Type::text, "what is varied")),
                                  make_number("from", Range::finite(), Value(0.0))});
  const Key analysis = with_children(make_key("analysis", Key::Type::table, "the question"),
                                     {map, transient, follow, levels, axis,
                                      make_key("extra", Key::Type::open, "whatever the reader makes of it"),
                                      make_number("limit", Range::any(), {})});
  return {required(make_key("graze", Key::Type::integer, "format")), make_key("title", Key::Type::text, ""),
          model, analysis};
}

}  // namespace graze::test
