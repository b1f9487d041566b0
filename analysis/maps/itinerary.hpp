/// The events of an orbit, in order: what a boundary-value problem for it is built on.
#pragma once

#include <Eigen/Core>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/settings/parameter.hpp"
#include "core/system/model.hpp"
#include "core/system/system.hpp"

namespace graze {

/// An event of an orbit and the leg that leads to it, without their numbers.
struct Step {
  EventKind end = EventKind::section;
  int contact = -1;       ///< friction k of the model: -1 - k
  std::int64_t mode = 0;  ///< along the leg, as in HybridState
  bool instant = false;   ///< belongs to the instant of the step before: its leg has no duration
  Leg::Length length =
      Leg::Length::given;  ///< short flights of a chatter sequence find their ends themselves

  bool operator==(const Step&) const = default;
};

/// One turn of an orbit, from any place between events on. The last step is the end of the turn.
struct Itinerary {
  std::vector<Step> steps;
  int periods = 1;  ///< of the forcing; without forcing, iterates of the map

  bool operator==(const Itinerary&) const = default;
};

/// Whether an orbit is solved by its system's own motion (Leg::Length::own), not leg by leg.
bool moves_by_itself(const Itinerary& itinerary);
/// Whether a contact is hit by chatter while another one chatters.
bool chatters_at_once(const Itinerary& itinerary);

/// What happened on one turn.
struct Record {
  Outcome outcome = Outcome::ok;
  Itinerary itinerary;
  std::vector<double> durations;        ///< of all legs
  std::vector<double> speeds;           ///< approach speed of impacts, else 0
  std::vector<double> times;            ///< of all events, from the beginning on; of complete chatter that of
                                        ///< its accumulation
  std::vector<Eigen::VectorXd> behind;  ///< states right behind all events
  std::vector<Eigen::VectorXd> states;  ///< at phase zero of each period; without forcing at its beginning
  Eigen::VectorXd end;                  ///< state at the end of the last period
  double size = 0;                      ///< greatest entry of the states there and at events
  double apart = 0;                     ///< of a turn in pieces (record_pieces)
  std::vector<std::pair<int, double>>
      misses;  ///< contacts nearly touched, each with its speed (core/system/event)
};

/// Time since phase zero where an orbit begins, so many forcing periods after its first phase zero.
double time_in_period(const System& system, double phase);

/// Follows the motion from `start` over so many periods; of a system without forcing each is `period` long.
/// With forcing it starts `phase` periods after the first of the phases zero that `states` are of.
Record record_turn(System& system, const Eigen::VectorXd& start, int periods, double period = 0,
                   double phase = 0);

/// A part of a turn, begun in flight.
struct TurnPiece {
  Eigen::VectorXd start;
  double duration = 0;
};

/// The same turn of a forced system in pieces, each begun anew, so that what rounding grows to on one does
/// not go on. `states` are not told; `apart` is the greatest distance from where one ends to where the next
/// begins.
Record record_pieces(System& system, const std::vector<TurnPiece>& pieces, int periods, double phase);

/// Whether each step is an impact of a complete chatter sequence: impacts of one contact in a row, each
/// slower than the one before, the last one completed.
std::vector<bool> chattering(const Itinerary& itinerary, const std::vector<double>& speeds);

/// The itinerary as it is compared and shown: a chatter sequence is one entry, at the time at which it
/// accumulates, however many of its impacts were followed before it was completed, and it does not matter
/// with which event the list begins. Entry: kind of event and contact, −1 − friction, or jump.
struct Signature {
  struct Event {
    EventKind kind = EventKind::section;
    int place = 0;  ///< contact, −1 − friction, jump
    std::int64_t sense =
        0;  ///< the mode behind a compliant contact's beginning: it tells which way it slides
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  int periods = 1;

  bool operator==(const Signature&) const = default;
  /// How often a kind of event occurs at a contact; anywhere.
  int count(EventKind kind, int contact) const;
  int count(EventKind kind) const;
  /// Impacts and contacts begun at a contact.
  int hits(int contact) const;
};
Signature signature_of(const Record& record);

/// "1: impact(1) chatter_complete(2) release(2)": forcing periods, then events with the names of contacts,
/// frictions or jumps.
std::string text(const Signature& signature, const Model& model);

/// The itinerary of the orbit passed through twice.
Itinerary doubled(const Itinerary& itinerary);

}  // namespace graze
