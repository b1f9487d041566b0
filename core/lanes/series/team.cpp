#include "core/lanes/series/team.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "core/math/denormals.hpp"
#include "core/math/root_search.hpp"
#include "core/system/interrupt.hpp"
#include "core/system/memoising_system.hpp"
#include "core/system/mode.hpp"

namespace graze {
namespace {

constexpr int most_states = 16;
constexpr int most_contacts = 16;
constexpr int least_order = 8, most_order = 20;
constexpr int impacts_per_iterate = 500;  // of an iterate; more of them are not the kernel's

/// The order that takes a tolerance with least work: about e² in a radius of convergence are lost per step.
/// (Jorba, Zou: A software package for the numerical integration of ODEs by means of high-order Taylor
/// methods, Experimental Mathematics 14 (2005) 99-117)
int order_for(double tolerance) {
  return std::clamp(static_cast<int>(std::round(1 - std::log(tolerance) / 2)), least_order, most_order);
}

/// Of what hangs on flags, which stand in sums, products and quotients only.
SeriesSwitched::Kind kind_of(FixedOperation::Kind kind) {
  using Kind = SeriesSwitched::Kind;
  return kind == FixedOperation::Kind::sum       ? Kind::sum
         : kind == FixedOperation::Kind::product ? Kind::product
                                                 : Kind::quotient;
}

double first_zero_of(const double* c, int count) {
  constexpr double nowhere = 2;
  return first_zero(std::span<const double>(c, static_cast<std::size_t>(count)), 1).value_or(nowhere);
}

}  // namespace

bool SeriesTeam::takes(const SeriesLaw& law, const Section& section) {
  if (law.program->flow.inputs() > most_states + 1 || law.program->contacts.size() > most_contacts ||
      law.events < 2 * impacts_per_iterate) {
    return false;
  }
  switch (section.kind) {
    case Section::Kind::stroboscopic:
    case Section::Kind::level:
    case Section::Kind::impact_before:
    case Section::Kind::impact_after:
      return true;
    case Section::Kind::time:
      return !(law.period > 0);
  }
  return false;
}

bool SeriesTeam::alike(const SeriesLaw& a, const SeriesLaw& b) {
  return a.program == b.program && a.chatter == b.chatter && a.integration == b.integration &&
         a.patience == b.patience;
}

SeriesTeam::SeriesTeam(SeriesKernel kernel, std::vector<Member> members, const Section& section,
                       Lanes::Repeats repeats)
    : kernel_(kernel), members_(std::move(members)), section_(section), repeats_(repeats) {
  const SeriesLaw& law = members_.front().law;
  batch_.order = order_for(law.integration);
  batch_.tolerance = law.integration;
  batch_.chatter = law.chatter;
  batch_.most_impacts = impacts_per_iterate;
  using Kind = SeriesBatch::Section;
  batch_.section = section.kind == Section::Kind::level           ? Kind::level
                   : section.kind == Section::Kind::impact_after  ? Kind::impact
                   : section.kind == Section::Kind::impact_before ? Kind::before_impact
                                                                  : Kind::deadline;
  batch_.section_contact = section.contact;
  batch_.coordinate = section.coordinate;
  batch_.level = section.level;
  batch_.direction = section.direction;
  batch_.first_zero = first_zero_of;
  batch_.owner = this;
  batch_.begin = [](void* owner, int lane) { return static_cast<SeriesTeam*>(owner)->next(lane); };
  batch_.arrived = [](void* owner, int lane) {
    SeriesTeam& team = *static_cast<SeriesTeam*>(owner);
    ++team.stepped;
    team.put_down(lane);
    team.finish_iterate(lane);
    return team.go_on(lane);
  };
  batch_.left = [](void* owner, int lane, bool from_here) {
    SeriesTeam& team = *static_cast<SeriesTeam*>(owner);
    if (from_here) team.hand_over(lane);
    team.iterate_alone(lane);
    return team.go_on(lane);
  };
  at_.resize(static_cast<std::size_t>(kernel_.width));
  lay_out();
}

/// The programs for this order and width, and room for the lanes.
void SeriesTeam::lay_out() {
  const SeriesLaw& law = members_.front().law;
  const MotionProgram& program = *law.program;
  const int m = batch_.contacts = static_cast<int>(program.contacts.size());
  const int n = batch_.states = static_cast<int>(program.flow.inputs()) - 1;
  const int g = batch_.guards = static_cast<int>(program.flow.outputs()) - n;
  int rows = 0;
  const auto take = [&](int count) { return std::exchange(rows, rows + count); };
  SeriesRows& row = batch_.row;
  row.time = take(1);
  row.deadline = take(1);
  row.state = take(n);
  row.side = take(m);
  row.left = take(g);
  row.speed = take(g);
  row.impacts = take(m);
  row.turns = take(1);
  row.period = take(1);
  row.rate = take(1);
  row.fixed = take(static_cast<int>(law.fixed.size()));
  rows_.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(kernel_.width), 0.0);
  batch_.rows = rows_.data();
  for (const MotionProgram::Contact& c : program.contacts) {
    contacts_.push_back(contact(c));
    if (!c.law || !c.law->force) continue;
    contacts_.back().force_guard = m + static_cast<int>(force_contacts_.size());
    force_contacts_.push_back(static_cast<int>(contacts_.size()) - 1);
  }
  batch_.contact = contacts_.data();
  for (const auto& [result, op] : program.switched) {
    switched_.push_back(
        {kind_of(op.kind), static_cast<int>(result), static_cast<int>(op.a), static_cast<int>(op.b)});
  }
  batch_.switched = switched_.data();
  batch_.switched_count = static_cast<int>(switched_.size());
  batch_.velocities = program.velocities.data();
  batch_.velocity_count = static_cast<int>(program.velocities.size());
  flow_ = lay_out(program.flow);
  polynomials_.assign(static_cast<std::size_t>((g + 1) * stride()), 0.0);
  batch_.polynomials = polynomials_.data();
}

SeriesTeam::Flow SeriesTeam::lay_out(const Program& program) const {
  Flow flow;
  flow.program.emplace(program, batch_.order, kernel_.width, fixed_rows());
  // The series of all states and of guards that are not states themselves.
  const SeriesList list = flow.program->list();
  for (int s = 0; s < batch_.states; ++s) flow.weighed.push_back(list.rows + (1 + s) * stride());
  for (int i = 0; i < batch_.guards; ++i) flow.weighed.push_back(list.outputs[batch_.states + i]);
  std::sort(flow.weighed.begin(), flow.weighed.end());
  flow.weighed.erase(std::unique(flow.weighed.begin(), flow.weighed.end()), flow.weighed.end());
  return flow;
}

/// Chooses the list that carries so many tangents along, and makes room for them.
void SeriesTeam::carry(int tangents) {
  batch_.tangents = tangents;
  const MotionProgram& program = *members_.front().law.program;
  if (tangents > 0 && !varied_.program) {
    varied_ = lay_out(program.varied);
    const double* const* output = varied_.program->list().outputs + batch_.states + batch_.guards;
    for (const MotionProgram::Slope& s : program.slopes) {
      slopes_.push_back(s.constant
                            ? SeriesSlope{s.of, s.by, nullptr,
                                          fixed_rows() + static_cast<long>(*s.constant) * kernel_.width}
                            : SeriesSlope{s.of, s.by, *output++, nullptr});
    }
    batch_.slopes = slopes_.data();
    batch_.slope_count = static_cast<int>(slopes_.size());
  }
  Flow& flow = tangents > 0 ? varied_ : flow_;
  batch_.flow = flow.program->list();
  const std::size_t changes = static_cast<std::size_t>(tangents), n = static_cast<std::size_t>(batch_.states);
  changes_.assign(2 * changes * (n + 1) * static_cast<std::size_t>(kernel_.width), 0.0);
  change_series_.assign(changes * n * static_cast<std::size_t>(stride()), 0.0);
  batch_.changes = changes_.data();
  batch_.change_series = change_series_.data();
  // A change may decay or grow where the state shows nothing of it.
  weighed_ = flow.weighed;
  for (long k = 0; k < static_cast<long>(changes * n); ++k)
    weighed_.push_back(batch_.change_series + k * stride());
  batch_.weighed = weighed_.data();
  batch_.weighed_count = static_cast<int>(weighed_.size());
}

SeriesContact SeriesTeam::contact(const MotionProgram::Contact& given) {
  const auto lay = [&](const Program& program) {
    programs_.push_back(std::make_unique<SeriesProgram>(program, 1, kernel_.width, fixed_rows()));
    return programs_.back()->list();
  };
  SeriesContact c;
  c.impact = lay(given.impact);
  c.pressing = lay(given.pressing);
  c.position = given.position.data();
  c.velocity = given.velocity.data();
  c.moved = static_cast<int>(given.position.size());
  c.terms = static_cast<int>(given.impact.outputs()) - 3 - c.moved;
  c.restitution = static_cast<int>(given.restitution);
  c.has_foot = given.has_foot;
  if (given.law) {
    c.flag = static_cast<int>(given.law->flag);
    if (given.law->force) c.force = lay(*given.law->force);
  }
  return c;
}

/// When an iterate that begins at this time ends at the latest, as MotionLoop has it.
double SeriesTeam::deadline(const SeriesLaw& law, double time) const {
  const bool forced = law.period > 0;
  switch (section_.kind) {
    case Section::Kind::stroboscopic: {
      if (!forced) return time + section_.interval;
      const double next = section_.phase * law.period;
      return next > time ? next : next + law.period;
    }
    case Section::Kind::time:
      return time + section_.interval;
    default:
      return time + law.patience * (forced ? law.period : 2 * std::numbers::pi / law.rate);
  }
}

/// Another motion into this lane, as far as there is one. @return whether there is one that the kernel moves
bool SeriesTeam::next(int lane) {
  while (waiting_ < members_.size()) {
    Place& at = at_[static_cast<std::size_t>(lane)];
    at = {waiting_, 0, iterates_[members_[waiting_].number]};
    ++waiting_;
    for (std::size_t i = 0; i < law(lane).fixed.size(); ++i)
      value(batch_.row.fixed + static_cast<int>(i), lane) = law(lane).fixed[i];
    value(batch_.row.rate, lane) = law(lane).rate;
    value(batch_.row.period, lane) = law(lane).period;
    if (go_on(lane)) return true;
  }
  return false;
}

/// The motion stands at the section. @return whether the kernel has one to move in this lane, this or the
/// next
bool SeriesTeam::go_on(int lane) {
  const Place& at = at_[static_cast<std::size_t>(lane)];
  while (at.done < at.due && motion(lane).outcome == Outcome::ok) {
    if (!motion(lane).state.settled) settle(lane);
    if (board(lane)) return true;
    if (motion(lane).outcome == Outcome::ok) iterate_alone(lane);
  }
  return next(lane);
}

/// A fresh start becomes the state of a motion under way, or is refused.
void SeriesTeam::settle(int lane) {
  const Denormals as_called(denormals_);
  Section at_once;
  at_once.kind = Section::Kind::time;
  at_once.interval = 0;
  advance_alone(motion(lane), at_once);
}

/// What a mode says of a contact that is not closed: of a rigid one whether it has been passed by.
Spring SeriesTeam::spring(int lane, int i) const {
  const std::int64_t mode = members_[at_[static_cast<std::size_t>(lane)].member].motion->state.mode;
  if (contacts_[static_cast<std::size_t>(i)].flag < 0)
    return is_closed(mode, batch_.contacts + i) ? Spring::recovering : Spring::open;
  return static_cast<Spring>((mode >> (law(lane).springs + 2 * i)) & 3);
}

/// The place among the touches of a state that belongs to a guard; nothing: it is not watched.
std::optional<std::size_t> SeriesTeam::touch_of(int lane, int guard) {
  const int m = batch_.contacts;
  const bool of_force = guard >= m;
  const int i = of_force ? force_contacts_[static_cast<std::size_t>(guard - m)] : guard;
  const auto& law = members_.front().law.program->contacts[static_cast<std::size_t>(i)].law;
  const bool by_force = law && !law->by_gap && spring(lane, i) == Spring::engaged;
  if (of_force && !by_force) return std::nullopt;
  return static_cast<std::size_t>(by_force && !of_force ? m + i : i);
}

/// Fills the rows of a lane where its motion is free. @return whether it is
bool SeriesTeam::board(int lane) {
  const HybridState& s = motion(lane).state;
  const int m = batch_.contacts;
  if (motion(lane).outcome != Outcome::ok || s.x.size() != batch_.states ||
      motion(lane).tangent.cols() != batch_.tangents)
    return false;
  for (int i = 0; i < m; ++i) {
    if (is_closed(s.mode, i)) return false;
  }
  for (const Touch& touch : s.touches) {
    if (touch.order > 1) return false;
  }
  const SeriesRows& row = batch_.row;
  value(row.time, lane) = s.time;
  value(row.deadline, lane) = deadline(law(lane), s.time);
  value(row.turns, lane) = 0;
  for (int k = 0; k < batch_.states; ++k) value(row.state + k, lane) = s.x(k);
  for (int i = 0; i < m; ++i) {
    const int flag = contacts_[static_cast<std::size_t>(i)].flag;
    value(row.side + i, lane) = spring(lane, i) == Spring::open ? 1 : -1;
    if (flag >= 0) value(row.fixed + flag, lane) = spring(lane, i) == Spring::engaged ? 1 : 0;
    value(row.impacts + i, lane) = 0;
  }
  for (int i = 0; i < batch_.guards; ++i) {
    const auto place = touch_of(lane, i);
    const Touch touch = place && *place < s.touches.size() ? s.touches[*place] : Touch{};
    value(row.left + i, lane) = touch.order;
    value(row.speed + i, lane) = touch.speed;
  }
  if (batch_.tangents > 0) board_tangent(lane);
  return true;
}

void SeriesTeam::board_tangent(int lane) {
  const LaneMotion& moved = motion(lane);
  for (int t = 0; t < batch_.tangents; ++t) {
    for (int s = 0; s < batch_.states; ++s) change(t, s, lane) = moved.tangent(s, t);
    change(t, batch_.states, lane) = moved.tangent_time.size() > 0 ? moved.tangent_time(t) : 0;
  }
}

void SeriesTeam::take_tangent(int lane) {
  LaneMotion& moved = motion(lane);
  for (int t = 0; t < batch_.tangents; ++t) {
    for (int s = 0; s < batch_.states; ++s) moved.tangent(s, t) = change(t, s, lane);
    if (moved.tangent_time.size() > 0) moved.tangent_time(t) = change(t, batch_.states, lane);
  }
}

/// The motion's state from the rows.
void SeriesTeam::take_state(int lane) {
  LaneMotion& moved = motion(lane);
  HybridState& s = moved.state;
  const SeriesRows& row = batch_.row;
  const int m = batch_.contacts;
  for (int k = 0; k < batch_.states; ++k) s.x(k) = value(row.state + k, lane);
  s.time = value(row.time, lane);
  s.turns += static_cast<std::int64_t>(value(row.turns, lane));
  s.mode = 0;
  const bool compliant =
      std::any_of(contacts_.begin(), contacts_.end(), [](const SeriesContact& c) { return c.flag >= 0; });
  s.touches.assign(static_cast<std::size_t>(compliant ? 2 * m : m), Touch{});
  for (int i = 0; i < m; ++i) {
    const int flag = contacts_[static_cast<std::size_t>(i)].flag;
    if (value(row.side + i, lane) < 0) {
      const Spring within =
          flag >= 0 && value(row.fixed + flag, lane) > 0 ? Spring::engaged : Spring::recovering;
      s.mode |= flag < 0 ? std::int64_t{1} << (m + i)
                         : static_cast<std::int64_t>(within) << (law(lane).springs + 2 * i);
    }
    if (!moved.impacts.empty() && batch_.tangents == 0) {
      moved.impacts[static_cast<std::size_t>(i)] += static_cast<std::int64_t>(value(row.impacts + i, lane));
    }
  }
  for (int i = 0; i < batch_.guards; ++i) {
    if (const auto place = touch_of(lane, i))
      s.touches[*place] = {value(row.left + i, lane) > 0 ? 1 : 0, value(row.speed + i, lane)};
  }
  if (batch_.tangents > 0) take_tangent(lane);
}

/// At the section.
void SeriesTeam::put_down(int lane) {
  take_state(lane);
  LaneMotion& moved = motion(lane);
  HybridState& s = moved.state;
  if (is_stroboscopic(lane)) {
    s.turns += s.time < law(lane).period ? 0 : 1;
    s.time = section_.phase * law(lane).period;
  }
  s.settled = section_.kind != Section::Kind::impact_before;  // the impact is how it goes on
  note_growth(moved);
  if (size_of(*moved.system, s.x) > moved.bound) moved.outcome = Outcome::unbounded;
}

/// On the way, where the section is met at a given time all the same. Changes then are of the time, too.
void SeriesTeam::hand_over(int lane) {
  if (!is_stroboscopic(lane)) return;
  motion(lane).tangent_time.resize(batch_.tangents);
  take_state(lane);
}

/// From where the motion stands to the section, whatever happens on the way.
void SeriesTeam::iterate_alone(int lane) {
  const Denormals as_called(denormals_);
  advance_alone(motion(lane), section_);
  if (is_stroboscopic(lane)) motion(lane).tangent_time.resize(0);
  if (motion(lane).outcome == Outcome::ok) note_growth(motion(lane));
  ++alone;
  finish_iterate(lane);
}

void SeriesTeam::finish_iterate(int lane) {
  check_interrupt();
  Place& at = at_[static_cast<std::size_t>(lane)];
  Member& member = members_[at.member];
  ++at.done;
  if (record_) record_point(*member.motion);
  if (batch_.tangents > 0) member.mark = {};
  const bool looks_back = repeats_ == Lanes::Repeats::known && member.law.period > 0 && batch_.tangents == 0;
  if (looks_back && member.motion->outcome == Outcome::ok) look_back(member, at);
}

/// Whether the motion of a forced system has been where it is, bit by bit: then it does again what it did
/// since. The mark is taken anew after 1, 2, 4, 8, 16, then after 16 or a quarter of all iterates.
void SeriesTeam::look_back(Member& member, Place& at) {
  Member::Mark& mark = member.mark;
  ++mark.since;
  if (mark.iterates > 0 && go_on_alike(member.motion->state, mark.state)) {
    repeat(member, at);
  } else if (mark.since >= mark.span) {
    mark.iterates += mark.since;
    mark.span = static_cast<int>(std::max(std::min<std::int64_t>(mark.iterates, 16), mark.iterates / 4));
    mark.since = 0;
    mark.state = member.motion->state;
    mark.impacts = member.motion->impacts;
  }
}

/// The iterates since the mark again, as often as there is time for.
void SeriesTeam::repeat(Member& member, Place& at) {
  Member::Mark& mark = member.mark;
  LaneMotion& moved = *member.motion;
  const int length = std::exchange(mark.since, 0);
  const std::int64_t turns = moved.state.turns - std::exchange(mark.state.turns, moved.state.turns);
  const std::vector<std::int64_t> before = std::exchange(mark.impacts, moved.impacts);
  const int times = (at.due - at.done) / length;
  if (times == 0 || (record_ && at.done < length)) return;  // once more, to have the states
  for (std::size_t i = 0; i < moved.impacts.size(); ++i)
    moved.impacts[i] += times * (moved.impacts[i] - before[i]);
  if (record_) {
    const std::size_t points = static_cast<std::size_t>(length * moved.state.x.size());
    const std::size_t stamps = static_cast<std::size_t>(length);
    for (int k = 0; k < times; ++k) {
      for (std::size_t j = 0; j < points; ++j)
        moved.points.push_back(moved.points[moved.points.size() - points]);
      for (std::size_t j = 0; j < stamps; ++j) {
        LaneMotion::Stamp stamp = moved.stamps[moved.stamps.size() - stamps];
        stamp.turns += turns;
        moved.stamps.push_back(stamp);
      }
    }
  }
  moved.state.turns += times * turns;
  mark.state.turns = moved.state.turns;
  mark.impacts = moved.impacts;
  at.done += times * length;
  known += times * length;
}

void SeriesTeam::replace(std::size_t number) {
  for (Member& member : members_) {
    if (member.number == number) member.mark = {};
  }
}

void SeriesTeam::advance(std::span<const int> iterates, bool record) {
  iterates_ = iterates;
  record_ = record;
  waiting_ = 0;
  int tangents = 0;
  for (const Member& member : members_) {
    if (iterates[member.number] > 0)
      tangents = std::max(tangents, static_cast<int>(member.motion->tangent.cols()));
  }
  carry(tangents);
  denormals_ = Denormals::mode();
  kernel_.run(batch_);
}

}  // namespace graze
