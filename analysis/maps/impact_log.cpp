#include "analysis/maps/impact_log.hpp"

#include <algorithm>
#include <cmath>

namespace graze {
namespace {

constexpr std::size_t longest_sequence = 3;

char letter(int slip) { return slip > 0 ? 'F' : slip < 0 ? 'B' : 'S'; }

/// All words of up to `left` further letters behind `word`, neighbours different, with every place of "-".
void add_words(const std::string& word, std::size_t left, std::vector<std::string>& names) {
  for (std::size_t k = 1; k <= word.size(); ++k) names.push_back(word.substr(0, k) + "-" + word.substr(k));
  if (left == 0) return;
  for (const char next : {'F', 'S', 'B'}) {
    if (word.empty() || word.back() != next) add_words(word + next, left - 1, names);
  }
}

}  // namespace

const std::vector<std::string>& slip_sequence_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    add_words("", longest_sequence, all);
    all.insert(all.end(), {"longer", "open", "none"});
    return all;
  }();
  return names;
}

int slip_sequence(const ImpactRecord& record) {
  const std::vector<std::string>& names = slip_sequence_names();
  std::string word;
  bool turned = std::isnan(record.turn);
  if (turned) word = "open";
  for (const ImpactRecord::Phase& phase : record.phases) {
    if (!turned && phase.time > record.turn) {
      word += '-';
      turned = true;
    }
    if (word != "open") word += letter(phase.slip);
  }
  if (!turned) word += '-';
  if (record.phases.empty() && word != "open") word = "none";
  if (record.phases.size() > longest_sequence && word != "open") word = "longer";
  return static_cast<int>(std::find(names.begin(), names.end(), word) - names.begin());
}

const std::vector<std::string>& ImpactBorders::names() {
  static const std::vector<std::string> list = {"stop_in_compression", "stop_in_restitution",
                                                "stick_possible", "painleve"};
  return list;
}

std::vector<double> ImpactBorders::of(const ImpactRecord& record) {
  const ContactLoad& c = record.first;
  const double sense = c.slip_speed < 0 ? -1 : 1;
  const double growth = c.normal_mobility - c.friction * sense * c.cross_mobility;
  const double loss = c.friction * c.tangential_mobility - sense * c.cross_mobility;
  const double w = record.approach_speed;
  const double u = std::abs(c.slip_speed);
  return {w * loss - u * growth, 2 * w * loss - u * growth,
          c.static_friction * c.tangential_mobility - std::abs(c.cross_mobility), -growth};
}

ImpactRecord* ImpactLog::open(int contact) {
  const auto found = std::find_if(records_.rbegin(), records_.rend(), [&](const ImpactRecord& r) {
    return r.contact == contact && std::isnan(r.end);
  });
  return found == records_.rend() ? nullptr : &*found;
}

void ImpactLog::event(const Event& e) {
  if (e.kind == EventKind::contact_begin) {
    ImpactRecord record;
    record.contact = e.contact;
    record.begin = e.time;
    record.approach_speed = e.approach_speed;
    record.before.assign(e.before.begin(), e.before.end());
    record.begin_force = e.force;
    records_.push_back(std::move(record));
  }
  if (e.kind != EventKind::contact_end) return;
  if (ImpactRecord* record = open(e.contact)) {
    record->end = e.time;
    record->separation_speed = e.approach_speed;
    record->after.assign(e.after.begin(), e.after.end());
    const bool is_told = record->first.contact >= 0 || !(record->end > record->begin);
    if (!is_told) {  // by an engine that reports no loads
      record->peak_force = record->greatest_penetration = record->impulse = ImpactRecord::nan;
      record->friction_work = record->damping_work = ImpactRecord::nan;
    }
  }
}

void ImpactLog::load(const ContactLoad& load) {
  ImpactRecord* record = open(load.contact);
  if (record == nullptr) return;  // it had begun before anybody listened
  if (record->first.contact < 0) record->first = load;
  const bool has_friction = load.slip != 0 || load.static_friction > 0;
  if (has_friction && (record->phases.empty() || record->phases.back().slip != load.slip))
    record->phases.push_back({load.slip, load.begin});
  record->peak_force = std::max(record->peak_force, load.peak_force);
  record->impulse += load.impulse;
  record->greatest_penetration = std::max(record->greatest_penetration, load.greatest_penetration);
  record->friction_work += load.friction_work;
  record->damping_work += load.damping_work;
  if (std::isnan(record->turn)) record->turn = load.turn;
  record->painleve =
      record->painleve || load.normal_mobility < load.friction * load.slip * load.cross_mobility;
}

}  // namespace graze
