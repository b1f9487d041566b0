/// Counts what happens on an orbit: impacts, chatter, sticking, rising, nearness to grazing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/event.hpp"

namespace graze {

/// Listens to a motion, counts within windows. The definitions of PHYSICS hold across window borders: a
/// sequence that begins before the window counts when it ends in it, a stick that spans the border counts
/// once (where it begins).
class Tally : public Observer {
 public:
  struct Contact {
    std::int64_t impacts = 0;
    std::int64_t chatter_complete = 0;
    std::int64_t chatter_incomplete =
        0;  ///< at least three impacts of shrinking speed that did not accumulate
    std::int64_t sticks = 0;
    std::int64_t rises = 0;
    double stick_time = 0;
    double greatest_gap = 0;
  };

  explicit Tally(int contacts) : counts_(static_cast<std::size_t>(contacts)), tracks_(counts_.size()) {}

  /// Begins to count at `time` with the contacts of `mode` closed (bit i: contact i).
  void open_window(double time, std::int64_t mode);
  /// Ends the window; after it the counts hold.
  void close_window(double time);

  const std::vector<Contact>& contacts() const { return counts_; }
  double all_stick_time() const { return all_stick_time_; }
  /// Smallest approach speed, or equivalent speed of a near miss; of a chatter sequence only the first
  /// impact counts. NaN: nothing was touched or nearly touched.
  double min_gap_speed() const { return min_gap_speed_; }

  void event(const Event& event) override;
  void near_miss(int contact, double time, double speed) override;
  void excursion(int contact, double time, double gap) override;
  void unloaded(int contact, double time) override;

 private:
  /// What must be remembered of a contact from event to event.
  struct Track {
    int run = 0;            ///< impacts of shrinking speed so far
    double last_speed = 0;  ///< of that run
    bool closed = false;
    double closed_since = 0;
    bool released = false;         ///< left by vanishing force, not stuck again since
    double gap_since_release = 0;  ///< greatest
    std::vector<double> returns;   ///< greatest gaps of releases that ended in complete chatter, this window
  };

  void end_run(std::size_t contact, bool complete);
  void note_speed(double speed);
  bool all_closed() const;
  void begin_stick(std::size_t contact, double time);
  void end_stick(std::size_t contact, double time);

  std::vector<Contact> counts_;
  std::vector<Track> tracks_;
  double window_start_ = 0;
  double all_closed_since_ = 0;
  double all_stick_time_ = 0;
  double min_gap_speed_ = 0;
};

/// A release followed by complete chatter without a flight: the gap stayed below this share of the
/// contact's greatest gap on the orbit.
inline constexpr double rise_share = 0.1;

}  // namespace graze
