#include "analysis/maps/event_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace graze {

void Tally::open_window(double time, System& system, const HybridState& state) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i].greatest_gap > 0) tracks_[i].orbit_gap = counts_[i].greatest_gap;
    counts_[i] = {};
  }
  itinerary_.clear();
  jumps_.clear();
  window_start_ = time;
  all_stick_time_ = 0;
  min_gap_speed_ = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    Track& track = tracks_[i];
    track.closed = system.in_contact(state, static_cast<int>(i));
    // A chatter that accumulates just after the border begins its stick there.
    track.closed_since = std::max(time, track.closed ? track.closed_since : time);
  }
  for (std::size_t k = 0; k < frictions_.size(); ++k) {
    frictions_[k] = {};
    stuck_since_[k].reset();
    if (system.sticks(state, static_cast<int>(k))) stuck_since_[k] = time;
  }
  all_closed_since_ = time;
  for (const Track& track : tracks_) all_closed_since_ = std::max(all_closed_since_, track.closed_since);
}

void Tally::close_window(double time) {
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    Track& track = tracks_[i];
    if (!track.closed) continue;
    counts_[i].stick_time += std::max(0.0, time - track.closed_since);
  }
  if (all_closed()) all_stick_time_ += std::max(0.0, time - all_closed_since_);
  for (std::size_t k = 0; k < frictions_.size(); ++k) {
    if (stuck_since_[k]) frictions_[k].stick_time += time - *stuck_since_[k];
  }
}

void Tally::refer_to(const Tally& other) {
  for (std::size_t i = 0; i < tracks_.size(); ++i) tracks_[i].orbit_gap = other.counts_[i].greatest_gap;
}

bool Tally::all_closed() const {
  return !tracks_.empty() &&
         std::all_of(tracks_.begin(), tracks_.end(), [](const Track& track) { return track.closed; });
}

void Tally::begin_stick(std::size_t i, double time) {
  tracks_[i].closed = true;
  tracks_[i].closed_since = time;
  all_closed_since_ = std::max(time, window_start_);
  for (const Track& track : tracks_) {
    if (track.closed) all_closed_since_ = std::max(all_closed_since_, track.closed_since);
  }
}

void Tally::end_stick(std::size_t i, double time) {
  if (all_closed()) all_stick_time_ += std::max(0.0, time - all_closed_since_);
  counts_[i].stick_time += std::max(0.0, time - tracks_[i].closed_since);
  tracks_[i].closed = false;
}

void Tally::note_speed(double speed) {
  if (!(speed >= min_gap_speed_)) min_gap_speed_ = speed;
}

void Tally::end_run(std::size_t i, bool complete) {
  if (!complete && tracks_[i].run >= 3) ++counts_[i].chatter_incomplete;
  tracks_[i].run = 0;
}

void Tally::friction_event(const Event& e) {
  const std::size_t k = static_cast<std::size_t>(e.friction);
  Friction& count = frictions_[k];
  switch (e.kind) {
    case EventKind::slip_to_stick:
      if (stuck_since_[k]) break;  // told again at a fresh start
      ++count.sticks;
      stuck_since_[k] = e.time;
      break;
    case EventKind::stick_to_slip:
      if (stuck_since_[k]) count.stick_time += e.time - *stuck_since_[k];
      stuck_since_[k].reset();
      break;
    case EventKind::slip_reversal:
      ++count.reversals;
      break;
    default:
      break;
  }
}

void Tally::event(const Event& e) {
  if (e.friction >= 0) friction_event(e);
  if (e.jump >= 0) {
    jumps_.resize(std::max(jumps_.size(), static_cast<std::size_t>(e.jump) + 1));
    ++jumps_[static_cast<std::size_t>(e.jump)];
  }
  if (e.contact < 0) return;
  const std::size_t i = static_cast<std::size_t>(e.contact);
  Contact& count = counts_[i];
  Track& track = tracks_[i];
  switch (e.kind) {
    case EventKind::contact_begin:
      if (track.closed) break;  // told again at a fresh start
      begin_stick(i, e.time);
      [[fallthrough]];
    case EventKind::impact:
      ++count.impacts;
      if (itinerary_.size() < most_letters) itinerary_.push_back(static_cast<std::int8_t>(i));
      if (!(e.approach_speed < track.last_speed && track.gap_since_impact < rise_share * track.orbit_gap)) {
        end_run(i, false);
      }
      ++track.run;
      track.last_speed = e.approach_speed;
      track.gap_since_impact = 0;
      track.impact_time = e.time;
      if (track.run == 1) note_speed(e.approach_speed);
      break;
    case EventKind::slip_reversal:
      if (!track.closed && e.time == track.impact_time) ++count.impacts_reversing;
      break;
    case EventKind::slip_to_stick:
      if (!track.closed && e.time == track.impact_time) ++count.impacts_locking;
      break;
    case EventKind::graze:
      note_speed(0);
      break;
    case EventKind::chatter_complete:
      ++count.chatter_complete;
      end_run(i, true);
      if (track.released && track.gap_since_release < rise_share * track.orbit_gap) ++count.rises;
      break;
    case EventKind::stick:
      ++count.sticks;
      end_run(i, true);
      track.released = false;
      begin_stick(i, e.time);
      break;
    case EventKind::release:
      track.released = true;
      track.gap_since_release = 0;
      end_stick(i, e.time);
      break;
    case EventKind::contact_end:
      end_stick(i, e.time);
      break;
    default:
      break;
  }
}

void EventLog::tell(Tally& tally, double later) const {
  for (const Entry& entry : heard_) {
    const double time = entry.time + later;
    switch (entry.kind) {
      case Kind::event: {
        Event event;
        event.time = time;
        event.kind = entry.event;
        event.contact = entry.contact;
        event.friction = entry.friction;
        event.jump = entry.jump;
        event.approach_speed = entry.number;
        tally.event(event);
        break;
      }
      case Kind::near_miss:
        tally.near_miss(entry.contact, time, entry.number);
        break;
      case Kind::excursion:
        tally.excursion(entry.contact, time, entry.number);
        break;
    }
  }
  for (const ContactLoad& load : loads_) tally.load(load);
}

void EventLog::load(const ContactLoad& load) {
  const auto known = std::find_if(loads_.begin(), loads_.end(),
                                  [&](const ContactLoad& l) { return l.contact == load.contact; });
  if (known == loads_.end()) {
    loads_.push_back(load);
  } else {
    known->peak_force = std::max(known->peak_force, load.peak_force);
  }
}

void Tally::load(const ContactLoad& load) {
  double& peak = counts_[static_cast<std::size_t>(load.contact)].peak_force;
  if (!(peak >= load.peak_force)) peak = load.peak_force;
}

void Tally::near_miss(int, double, double speed) { note_speed(speed); }

void Tally::excursion(int contact, double, double gap) {
  const std::size_t i = static_cast<std::size_t>(contact);
  counts_[i].greatest_gap = std::max(counts_[i].greatest_gap, gap);
  tracks_[i].gap_since_release = std::max(tracks_[i].gap_since_release, gap);
  tracks_[i].gap_since_impact = std::max(tracks_[i].gap_since_impact, gap);
}

}  // namespace graze
