/// What many tests need: models from a few lines of TOML, an observer that keeps every event.
#pragma once

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/model.hpp"
#include "data/case_file.hpp"

namespace graze::test {

/// The settings tree of some TOML text.
inline Value settings(const std::string& toml) {
  const auto path =
      std::filesystem::temp_directory_path() / ("graze_test_" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << "graze = 1\n" << toml;
  const Value root = read_case(path.string(), {}).root;
  std::filesystem::remove(path);
  return root;
}

/// All digits of a number, as TOML writes it.
inline std::string fmt_double(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17e", value);
  return text;
}

/// A model from its table, for example "name = 'two_dof_stops'\ndelta = 0.16".
inline std::shared_ptr<const Model> make_model(const std::string& toml) {
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

inline std::unique_ptr<System> make_system(const std::string& toml, const Tolerance& tolerance = {}) {
  const auto model = make_model(toml);
  return model->system(model->values(), tolerance);
}

inline HybridState state_at(const std::vector<double>& x, double time = 0) {
  HybridState state;
  state.time = time;
  state.x = Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  return state;
}

inline Section for_time(double interval) {
  Section section;
  section.kind = Section::Kind::time;
  section.interval = interval;
  return section;
}

/// Keeps every event with copies of its states.
class Log : public Observer {
 public:
  struct Entry {
    double time;
    EventKind kind;
    int contact;
    double speed;
    std::vector<double> before, after;
    int friction = -1;
  };

  void event(const Event& e) override {
    entries.push_back({e.time,
                       e.kind,
                       e.contact,
                       e.approach_speed,
                       {e.before.begin(), e.before.end()},
                       {e.after.begin(), e.after.end()},
                       e.friction});
  }
  void near_miss(int contact, double time, double speed) override {
    entries.push_back({time, EventKind::section, contact, speed, {}, {}});
    ++near_misses;
  }
  void excursion(int contact, double, double gap) override {
    if (static_cast<std::size_t>(contact) >= greatest_gap.size())
      greatest_gap.resize(static_cast<std::size_t>(contact) + 1);
    greatest_gap[static_cast<std::size_t>(contact)] =
        std::max(greatest_gap[static_cast<std::size_t>(contact)], gap);
  }

  /// Entries of one kind (and contact, unless −1).
  std::vector<Entry> of(EventKind kind, int contact = -1) const {
    std::vector<Entry> found;
    for (const Entry& e : entries) {
      if (e.kind == kind && (contact < 0 || e.contact == contact)) found.push_back(e);
    }
    return found;
  }

  std::vector<Entry> entries;
  std::vector<double> greatest_gap;
  int near_misses = 0;
};

}  // namespace graze::test
