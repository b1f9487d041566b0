/// What many tests need: models from a few lines of TOML, an observer that keeps every event.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/system/model.hpp"

namespace graze::test {

/// The settings tree of some TOML text.
Value settings(const std::string& toml);

/// All digits of a number, as TOML writes it.
std::string fmt_double(double value);

/// A model from its table, for example "name = 'two_dof_stops'\ndelta = 0.16".
std::shared_ptr<const Model> make_model(const std::string& toml);

std::unique_ptr<System> make_system(const std::string& toml, const Tolerance& tolerance = {});

HybridState state_at(const std::vector<double>& x, double time = 0);

Section for_time(double interval);
Section at_level(int coordinate, double level, int direction);

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
    int jump = -1;
  };

  void event(const Event& e) override;
  bool follows_gaps() const override { return true; }
  void near_miss(int contact, double time, double speed) override;
  void excursion(int contact, double time, double gap) override;

  /// Entries of one kind (and contact, unless −1).
  std::vector<Entry> of(EventKind kind, int contact = -1) const;

  std::vector<Entry> entries;
  std::vector<double> greatest_gap;
  int near_misses = 0;
};

}  // namespace graze::test
