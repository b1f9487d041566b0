#include "tests/support.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "data/case_file.hpp"

namespace graze::test {

Value settings(const std::string& toml) {
  const auto path =
      std::filesystem::temp_directory_path() / ("graze_test_" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << "graze = 1\n" << toml;
  const Value root = read_case(path.string(), {}).root;
  std::filesystem::remove(path);
  return root;
}

std::string fmt_double(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17e", value);
  return text;
}

std::shared_ptr<const Model> make_model(const std::string& toml) {
  const Value table = settings("[model]\n" + toml).at("model");
  const std::string name = table.at("name").text("name");
  for (const ModelInfo& info : models()) {
    if (info.name != name) continue;
    std::vector<Key> keys = info.keys;
    Key key;
    key.name = "name";
    key.type = Key::Type::text;
    keys.push_back(key);
    return info.make(checked(table, keys, "model"));
  }
  throw std::runtime_error("no model " + name);
}

std::unique_ptr<System> make_system(const std::string& toml, const Tolerance& tolerance) {
  const auto model = make_model(toml);
  return model->system(model->values(), tolerance);
}

HybridState state_at(const std::vector<double>& x, double time) {
  HybridState state;
  state.time = time;
  state.x = Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  return state;
}

Section for_time(double interval) {
  Section section;
  section.kind = Section::Kind::time;
  section.interval = interval;
  return section;
}

Section at_level(int coordinate, double level, int direction) {
  Section section;
  section.kind = Section::Kind::level;
  section.coordinate = coordinate;
  section.level = level;
  section.direction = direction;
  return section;
}

void Log::event(const Event& e) {
  entries.push_back({e.time,
                     e.kind,
                     e.contact,
                     e.approach_speed,
                     {e.before.begin(), e.before.end()},
                     {e.after.begin(), e.after.end()},
                     e.friction,
                     e.jump});
}

void Log::near_miss(int contact, double time, double speed) {
  entries.push_back({time, EventKind::section, contact, speed, {}, {}});
  ++near_misses;
}

void Log::excursion(int contact, double, double gap) {
  if (static_cast<std::size_t>(contact) >= greatest_gap.size())
    greatest_gap.resize(static_cast<std::size_t>(contact) + 1);
  greatest_gap[static_cast<std::size_t>(contact)] =
      std::max(greatest_gap[static_cast<std::size_t>(contact)], gap);
}

std::vector<Log::Entry> Log::of(EventKind kind, int contact) const {
  std::vector<Entry> found;
  for (const Entry& e : entries) {
    if (e.kind == kind && (contact < 0 || e.contact == contact)) found.push_back(e);
  }
  return found;
}

}  // namespace graze::test
