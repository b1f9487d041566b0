#include "analysis/maps/map_keys.hpp"

#include <algorithm>
#include <limits>

namespace graze {

std::vector<Key> map_keys() {
  const AttractorOptions defaults;
  std::vector<Key> keys;
  const auto count = [&](const char* name, std::int64_t fallback, double low, const char* meaning) {
    Key& key = add_key(keys, name, Key::Type::integer, meaning);
    key.fallback = Value(fallback);
    key.range = Range{low, 1e9, false, false};
  };
  Key& map = add_key(keys, "map", Key::Type::text, "the section whose iterates are classified");
  map.choices = {"stroboscopic", "impact", "section"};
  map.fallback = Value("stroboscopic");
  add_key(keys, "contact", Key::Type::text, "map = \"impact\": the contact whose impacts are the iterates");
  Key& side = add_key(keys, "side", Key::Type::text, "map = \"impact\": states before or after the impact");
  side.choices = {"before", "after"};
  side.fallback = Value("after");
  add_key(keys, "coordinate", Key::Type::text, "map = \"section\": the state that passes a level");
  Key& level = add_key(keys, "level", Key::Type::number, "map = \"section\": that level");
  level.range = Range::finite();
  Key& direction = add_key(keys, "direction", Key::Type::text, "map = \"section\": the way it passes");
  direction.choices = {"up", "down"};
  direction.fallback = Value("up");
  count("transient", defaults.transient, 0, "map iterates dropped");
  count("record", defaults.record, 2, "map iterates kept");
  keys.back().range.high = std::numeric_limits<double>::infinity();  // read_attractor_options tells the bytes
  count("max_period", defaults.max_period, 1, "longest period looked for, below record");
  count("extension", defaults.extension, 1,
        "the transient may grow to this many times itself where convergence is slow");
  Key& persist = add_key(keys, "persist", Key::Type::number,
                         "what looks chaotic is followed for this many times as long again, at least, and a "
                         "period looked for on the way; 0: not");
  persist.fallback = Value(defaults.persist);
  persist.range = Range{0, 1e6, false, false};
  count("exponent", defaults.exponent, 128,
        "map iterates over which the Lyapunov exponent of a chaotic motion is taken, at least; its standard "
        "error falls with their square root");
  return keys;
}

Section read_section(const Value& table, const Model& model, const Tolerance& tolerance) {
  Section section;
  const std::string map = table.at("map").text("analysis.map");
  const auto needed = [&](const char* key) -> const Value& {
    const Value* value = table.find(key);
    if (value == nullptr) {
      throw InputError(table.at("map").place(), "analysis.map", table.at("map").toml(),
                       std::string("needs the key ") + key);
    }
    return *value;
  };
  if (map == "impact") {
    const std::string side = table.at("side").text("analysis.side");
    section.kind = side == "before" ? Section::Kind::impact_before : Section::Kind::impact_after;
    section.contact = index_of(model.contacts(), needed("contact"), "analysis.contact");
  } else if (map == "section") {
    section.kind = Section::Kind::level;
    section.coordinate = index_of(model.states(), needed("coordinate"), "analysis.coordinate");
    section.level = needed("level").number("analysis.level");
    section.direction = table.at("direction").text("analysis.direction") == "up" ? 1 : -1;
  } else {
    const auto system = model.system(model.values(), tolerance);
    if (system && !(system->period() > 0)) {
      throw InputError(table.at("map").place(), "analysis.map", "\"stroboscopic\"",
                       "needs a forced model; take the map impact or section");
    }
  }
  return section;
}

AttractorOptions read_attractor_options(const Value& table) {
  AttractorOptions options;
  constexpr std::int64_t most_iterates = 1000000000;
  const std::int64_t record = table.at("record").integer("analysis.record");
  if (record > most_iterates) {
    throw InputError(table.at("record").place(), "analysis.record", table.at("record").toml(),
                     "each point would take at least " + Value(8.0 * static_cast<double>(record)).toml() +
                         " bytes; at most " + std::to_string(most_iterates) + " iterates");
  }
  options.transient = static_cast<int>(table.at("transient").integer("analysis.transient"));
  options.record = static_cast<int>(record);
  options.max_period = static_cast<int>(table.at("max_period").integer("analysis.max_period"));
  options.extension = static_cast<int>(table.at("extension").integer("analysis.extension"));
  options.persist = table.at("persist").number("analysis.persist");
  options.exponent = static_cast<int>(table.at("exponent").integer("analysis.exponent"));
  if (options.max_period >= options.record) {
    throw InputError(table.at("max_period").place(), "analysis.max_period", table.at("max_period").toml(),
                     "must be below record: a period is seen only when it returns within the record");
  }
  return options;
}

int index_of(const std::vector<Quantity>& list, const Value& name, const std::string& key) {
  std::vector<std::string> names;
  for (const Quantity& q : list) names.push_back(q.name);
  const auto found = std::find(names.begin(), names.end(), name.text(key));
  if (found != names.end()) return static_cast<int>(found - names.begin());
  const std::string near = nearest_name(name.text(key), names);
  throw InputError(name.place(), key, name.toml(),
                   "the model has no such name" + (near.empty() ? "" : "; did you mean " + near + "?"));
}

Array names_coordinate(const std::string& dimension, const std::vector<Quantity>& list, const char* meaning) {
  Array array;
  array.name = dimension;
  array.dimensions = {dimension};
  std::vector<std::int32_t> index;
  for (std::size_t i = 0; i < list.size(); ++i) {
    index.push_back(static_cast<std::int32_t>(i));
    array.flags.push_back(list[i].name);
  }
  array.values = std::move(index);
  array.unit = "1";
  array.long_name = meaning;
  return array;
}

}  // namespace graze
