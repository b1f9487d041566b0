/// Counts what happens on an orbit: impacts, chatter, sticking, rising, nearness to grazing, dry friction.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/system/event.hpp"
#include "core/system/system.hpp"

namespace graze {

/// A gap below this share of the contact's greatest gap on the orbit is no flight.
inline constexpr double rise_share = 0.1;

/// Listens to a motion, counts within windows. A compliant contact counts as an impact where it begins and
/// as closed while it lasts.
///
/// Chatter sequence: impacts of one contact in a row, each slower than the one before and with no flight
/// between them, that is, with a gap that stays below rise_share of the contact's greatest gap on the orbit.
/// It is complete when it accumulates, incomplete when it ends otherwise after at least three impacts.
/// A reversal or stop of slip at the very instant of an impact of the same contact is part of that impact.
/// Rise: a release followed by complete chatter with no flight between them, in the same sense.
///
/// The greatest gap is that of the window before (or of another tally, refer_to): the first window only
/// learns it. Sequences go on across window borders and count where they end; a stick that spans a border
/// counts once, where it begins.
class Tally : public Observer {
 public:
  struct Contact {
    std::int64_t impacts = 0;
    std::int64_t impacts_reversing = 0;  ///< of these: slip along the contact has turned in the impact
    std::int64_t impacts_locking = 0;    ///< ... has stopped
    std::int64_t chatter_complete = 0;
    std::int64_t chatter_incomplete =
        0;  ///< at least three impacts of shrinking speed that did not accumulate
    std::int64_t sticks = 0;
    std::int64_t rises = 0;
    double stick_time = 0;
    double greatest_gap = 0;
    double peak_force = std::numeric_limits<double>::quiet_NaN();  ///< of a compliant contact; NaN: none told
  };

  struct Friction {
    std::int64_t sticks = 0;     ///< times it began to stick
    std::int64_t reversals = 0;  ///< of sliding, without sticking between
    double stick_time = 0;
  };

  Tally() = default;
  explicit Tally(const System& system)
      : counts_(static_cast<std::size_t>(system.contacts())),
        tracks_(counts_.size()),
        frictions_(static_cast<std::size_t>(system.frictions())),
        stuck_since_(frictions_.size()) {}

  /// Begins to count at `time`, where the motion of `system` stands at `state`.
  void open_window(double time, System& system, const HybridState& state);
  /// Takes the greatest gaps that another tally has counted as those of the orbit.
  void refer_to(const Tally& other);
  /// Ends the window; after it the counts hold.
  void close_window(double time);

  const std::vector<Contact>& contacts() const { return counts_; }
  const std::vector<Friction>& frictions() const { return frictions_; }
  /// How often each jump map of the model has fired; shorter than their list where the last ones have not.
  const std::vector<std::int64_t>& jumps() const { return jumps_; }
  double all_stick_time() const { return all_stick_time_; }
  /// Contacts in the order in which they are hit, the first most_letters of them.
  const std::vector<std::int8_t>& itinerary() const { return itinerary_; }
  static constexpr std::size_t most_letters = 64;
  /// Smallest approach speed, or equivalent speed of a near miss; of a chatter sequence only the first
  /// impact counts. NaN: nothing was touched or nearly touched.
  double min_gap_speed() const { return min_gap_speed_; }

  void event(const Event& event) override;
  bool follows_gaps() const override { return true; }
  void near_miss(int contact, double time, double speed) override;
  void excursion(int contact, double time, double gap) override;
  void load(const ContactLoad& load) override;

 private:
  /// What must be remembered of a contact from event to event.
  struct Track {
    double orbit_gap = 0;   ///< greatest gap on the orbit, as far as known
    int run = 0;            ///< impacts of the chatter sequence so far
    double last_speed = 0;  ///< of that sequence
    double gap_since_impact = 0;
    double impact_time = 0;
    bool closed = false;
    double closed_since = 0;
    bool released = false;  ///< left by vanishing force, not stuck again since
    double gap_since_release = 0;
  };

  void end_run(std::size_t contact, bool complete);
  void note_speed(double speed);
  void friction_event(const Event& event);
  bool all_closed() const;
  void begin_stick(std::size_t contact, double time);
  void end_stick(std::size_t contact, double time);

  std::vector<Contact> counts_;
  std::vector<Track> tracks_;
  std::vector<Friction> frictions_;
  std::vector<std::int64_t> jumps_;
  std::vector<std::optional<double>> stuck_since_;  ///< per friction; nothing while it slides
  double window_start_ = 0;
  double all_closed_since_ = 0;
  double all_stick_time_ = 0;
  double min_gap_speed_ = 0;
  std::vector<std::int8_t> itinerary_;
};

/// Keeps what it hears, for tallies to hear it as often as they need.
class EventLog final : public Observer {
 public:
  void event(const Event& event) override {
    heard_.push_back({Kind::event, event.kind, event.contact, event.friction, event.jump, event.time,
                      event.approach_speed});
  }
  bool follows_gaps() const override { return true; }
  void near_miss(int contact, double time, double speed) override {
    heard_.push_back({Kind::near_miss, {}, contact, -1, -1, time, speed});
  }
  void excursion(int contact, double time, double gap) override {
    heard_.push_back({Kind::excursion, {}, contact, -1, -1, time, gap});
  }
  void load(const ContactLoad& load) override;
  /// All of it again, at times later by this.
  void tell(Tally& tally, double later = 0) const;
  void clear() {
    heard_.clear();
    loads_.clear();
  }

 private:
  enum class Kind { event, near_miss, excursion };
  struct Entry {
    Kind kind;
    EventKind event;
    int contact, friction, jump;
    double time;
    double number;  ///< of an event its approach speed
  };

  std::vector<Entry> heard_;
  std::vector<ContactLoad> loads_;  ///< one of each contact that is loaded, with its greatest force
};

}  // namespace graze
