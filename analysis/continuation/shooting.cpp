#include "analysis/continuation/shooting.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/continuation/newton.hpp"
#include "analysis/maps/multipliers.hpp"
#include "analysis/maps/shifts.hpp"
#include "core/math/dense.hpp"

namespace graze {

std::unique_ptr<System> Family::system(double parameter_value) const {
  std::vector<double> at = values;
  const std::size_t p = static_cast<std::size_t>(parameter);
  at[p] = parameter_value;
  if (!model->parameters()[p].range.contains(parameter_value)) return nullptr;
  return in_units(model->system(at, tolerance), units);
}

namespace {

/// Impacts between which a system moves by itself: those that belong to no chatter sequence, and the first
/// of each, which may have begun before the turn ended. None where two come at one instant: they are one
/// event.
std::vector<std::size_t> struck_steps(const Record& record) {
  const std::vector<Step>& steps = record.itinerary.steps;
  const std::vector<bool> inside = chattering(record.itinerary, record.speeds);
  std::vector<std::size_t> struck;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].end != EventKind::impact) continue;
    if (steps[k].instant) return {};
    std::size_t before = k;
    do {
      before = (before + steps.size() - 1) % steps.size();
    } while (before != k && steps[before].contact != steps[k].contact);
    const bool first = before == k || !inside[before];
    if (!inside[k] || first) struck.push_back(k);
  }
  return struck;
}

/// Contacts that a motion rests on or chatters at in these steps, of which the last is prescribed.
std::int64_t heeded_in(const Record& record, std::size_t first, std::size_t last) {
  const std::vector<Step>& steps = record.itinerary.steps;
  while (first < last && steps[first].instant) ++first;  // what an impact frees is open from it on
  std::int64_t heeded = steps[first].mode;
  for (std::size_t k = first; k < last; ++k) {
    if (steps[k].contact >= 0) heeded |= std::int64_t{1} << steps[k].contact;
  }
  return heeded;
}

/// Contacts that have been left for good by the end of a turn, since this step.
std::int64_t left_since(const Record& record, std::size_t first) {
  std::int64_t left = 0;
  const std::vector<Step>& steps = record.itinerary.steps;
  for (std::size_t k = first; k < steps.size(); ++k) {
    if (steps[k].contact < 0) continue;
    const std::int64_t bit = std::int64_t{1} << steps[k].contact;
    left = steps[k].end == EventKind::release ? left | bit : left & ~bit;
  }
  return left;
}

/// Without what frictions do at an instant that something else has begun: the next leg tells it.
Prescription without_instant_slips(Prescription all) {
  std::vector<Step>& steps = all.itinerary.steps;
  for (std::size_t k = steps.size(); k-- > 0;) {
    std::size_t first = k;
    while (steps[first].instant) --first;
    if (first == k || !of_friction(steps[k].end) || of_friction(steps[first].end)) continue;
    const auto gone = static_cast<std::ptrdiff_t>(k);
    steps.erase(steps.begin() + gone);
    all.durations.erase(all.durations.begin() + gone);
    all.speeds.erase(all.speeds.begin() + gone);
    all.behind.erase(all.behind.begin() + gone - 1);
  }
  return all;
}

}  // namespace

Prescription Family::prescribed(const Record& record, const System& at) const {
  const Itinerary& all = record.itinerary;
  const bool forced = at.period() > 0;  // else there is no motion of its own to follow
  const bool legs = in_full || !forced ? at.prescribes_slip(parameter) : at.prescribes(parameter);
  if (legs) return without_instant_slips({all, record.durations, record.speeds, record.behind});
  Prescription own{{{}, all.periods}, {}, {}, {}};
  const std::int64_t contacts = (std::int64_t{1} << model->contacts().size()) - 1;
  std::size_t begin = 0;
  const auto add = [&](std::size_t last) {
    const Step& step = all.steps[last];
    const std::int64_t heeded =
        at.passes_contacts() ? heeded_in(record, begin, last) & contacts : HybridState::all_contacts;
    own.itinerary.steps.push_back({step.end, step.contact, heeded, false, Leg::Length::own});
    const auto from = record.durations.begin();
    own.durations.push_back(std::accumulate(from + static_cast<std::ptrdiff_t>(begin),
                                            from + static_cast<std::ptrdiff_t>(last) + 1, 0.0));
    own.speeds.push_back(record.speeds[last]);
    begin = last + 1;
  };
  if (at.passes_contacts()) {
    for (const std::size_t k : struck_steps(record)) add(k);
  }
  const std::size_t last = begin;
  add(all.steps.size() - 1);
  // The orbit is a circle: its last leg and its first are one.
  std::vector<Step>& steps = own.itinerary.steps;
  steps.back().mode |= steps.front().mode;
  steps.front().mode |= steps.size() > 1 ? steps.back().mode & ~left_since(record, last) : 0;
  return own;
}

Eigen::VectorXd velocity_at(const Family& family, double parameter, const Eigen::VectorXd& state,
                            std::int64_t mode) {
  const std::unique_ptr<System> system = family.system(parameter);
  if (!system) return {};
  Leg leg;
  leg.state = state;
  leg.mode = mode;
  const auto course = system->follow({&leg, 1}, {family.parameter});
  if (!course) return {};
  return course->legs.front().state_slope.col(state.size() + 1);
}

Anchor anchor_at(const Family& family, double parameter, const Eigen::VectorXd& state, std::int64_t mode) {
  const std::unique_ptr<System> system = family.system(parameter);
  if (!system || system->period() > 0) return {};
  return {state, velocity_at(family, parameter, state, mode).normalized()};
}

ModeLayout layout_of(const Model& model) {
  return {static_cast<std::int64_t>(model.contacts().size()),
          static_cast<std::int64_t>(model.frictions().size())};
}

namespace {

/// Whether a friction may stick for the whole turn.
bool may_hold(const Itinerary& itinerary, const Model& model) {
  const ModeLayout layout = layout_of(model);
  if (moves_by_itself(itinerary)) return layout.frictions > 0;  // its steps do not tell
  for (std::int64_t k = 0; k < layout.frictions; ++k) {
    const auto sticks = [&](const Step& step) { return layout.sliding(step.mode, k) == Sliding::stuck; };
    if (std::all_of(itinerary.steps.begin(), itinerary.steps.end(), sticks)) return true;
  }
  return false;
}

}  // namespace

Shooting::Shooting(const Family& family, Itinerary itinerary, Anchor anchor, std::vector<std::size_t> nodes)
    : family_(&family),
      itinerary_(std::move(itinerary)),
      anchor_(std::move(anchor)),
      nodes_(std::move(nodes)),
      states_(static_cast<Eigen::Index>(family.model->states().size())) {
  nodes_.insert(nodes_.begin(), 0);
  may_be_held_ = may_hold(itinerary_, *family.model);
  sort_unknowns();
}

/// Rows in the order in which equations() writes them.
void Shooting::sort_unknowns() {
  const auto add = [&](Eigen::Index count) {
    for (Eigen::Index k = 0; k < count; ++k)
      live_rows_.push_back(static_cast<Eigen::Index>(live_rows_.size() + found_.size()));
  };
  for (Eigen::Index c = 0; c < duration_index(0); ++c) live_columns_.push_back(c);
  for (std::size_t k = 0; k < itinerary_.steps.size(); ++k) {
    const Step& step = itinerary_.steps[k];
    if (k > 0 && std::find(nodes_.begin(), nodes_.end(), k) != nodes_.end()) {
      joins_.push_back(static_cast<Eigen::Index>(live_rows_.size() + found_.size()));
      add(states_);
    }
    if (Leg::finds_end(step.length)) {
      found_.push_back({static_cast<Eigen::Index>(live_rows_.size() + found_.size()), duration_index(k)});
      continue;
    }
    live_columns_.push_back(duration_index(k));
    if (step.instant || step.end != EventKind::section) add(1);
  }
  live_columns_.push_back(size());
  add(1 + states_);  // the turn's length or the anchor, and its end
}

Eigen::Index Shooting::guard_row(std::size_t step) const {
  Eigen::Index row = 0;
  for (std::size_t k = 0; k <= step; ++k) {
    if (k > 0 && std::find(nodes_.begin(), nodes_.end(), k) != nodes_.end()) row += states_;
    const Step& s = itinerary_.steps[k];
    if (k < step && (s.instant || s.end != EventKind::section || Leg::finds_end(s.length))) ++row;
  }
  return row;
}

/// Combinations of the states, one per column, in which the orbit closes whatever the unknowns are: what
/// friction holds at rest or together for the whole turn.
Eigen::MatrixXd Shooting::kept(const Eigen::MatrixXd& slope) const {
  constexpr double rounding = 1e-10;
  if (!may_be_held_) return Eigen::MatrixXd(states_, 0);
  Eigen::MatrixXd closing = slope.bottomRows(states_);
  for (const Eigen::Index row : joins_) closing += slope.middleRows(row, states_);
  return null_space(closing.transpose(), rounding);
}

int Shooting::held(const Eigen::MatrixXd& slope) const { return static_cast<int>(kept(slope).cols()); }

void Shooting::hold(const Eigen::MatrixXd& slope, const Eigen::VectorXd& right,
                    Eigen::Ref<Eigen::MatrixXd> by_start, Eigen::Ref<Eigen::VectorXd> closing) const {
  const Eigen::MatrixXd still = kept(slope);
  if (still.cols() == 0) return;
  Eigen::VectorXd missed = right.segment(size() - states_, states_);
  for (const Eigen::Index row : joins_) missed += right.segment(row, states_);
  by_start += still * still.transpose();
  closing -= still * linear_solve(Eigen::MatrixXd(still.transpose() * still),
                                  Eigen::VectorXd(still.transpose() * missed));
}

Eigen::VectorXd Shooting::solve(const Eigen::MatrixXd& slope, const Eigen::RowVectorXd& further,
                                const Eigen::VectorXd& right) const {
  const Eigen::Index n = static_cast<Eigen::Index>(live_columns_.size());
  Eigen::MatrixXd reduced(n, n);
  Eigen::VectorXd rest(n);
  reduced.topRows(n - 1) = slope(live_rows_, live_columns_);
  reduced.row(n - 1) = further(live_columns_);
  rest.head(n - 1) = right(live_rows_);
  rest(n - 1) = right(size());
  for (const Found& f : found_) {
    const double share = further(f.column);
    if (share == 0) continue;
    reduced.row(n - 1) -= share * slope(f.row, live_columns_);
    rest(n - 1) -= share * right(f.row);
  }
  const Eigen::Index closing = n - 1 - states_;
  hold(slope, right, reduced.block(closing, 0, states_, states_), rest.segment(closing, states_));
  Eigen::VectorXd x(size() + 1);
  const Eigen::VectorXd live = shortest_solution(reduced, rest);
  x(live_columns_) = live;
  for (const Found& f : found_) x(f.column) = right(f.row) - slope(f.row, live_columns_).dot(live);
  return x;
}

/// All but the states at nodes.
Eigen::VectorXd Shooting::between_nodes(const Eigen::VectorXd& start, const std::vector<double>& durations,
                                        double parameter) const {
  Eigen::VectorXd u = Eigen::VectorXd::Zero(size() + 1);
  u.head(states_) = start;
  if (itinerary_.steps.size() == 1) {
    u(duration_index(0)) = std::accumulate(durations.begin(), durations.end(), 0.0);
  } else {
    for (std::size_t k = 0; k < itinerary_.steps.size(); ++k) u(duration_index(k)) = durations[k];
  }
  u(size()) = parameter;
  return u;
}

Eigen::VectorXd Shooting::unknowns(const Eigen::VectorXd& start, const Prescription& taken,
                                   double parameter) const {
  Eigen::VectorXd u = between_nodes(start, taken.durations, parameter);
  for (std::size_t j = 1; j < nodes_.size(); ++j)
    u.segment(static_cast<Eigen::Index>(j) * states_, states_) = taken.behind[nodes_[j] - 1];
  return u;
}

std::optional<Eigen::VectorXd> Shooting::unknowns(const Eigen::VectorXd& start,
                                                  const std::vector<double>& durations,
                                                  double parameter) const {
  Eigen::VectorXd u = between_nodes(start, durations, parameter);
  const std::unique_ptr<System> system = family_->system(parameter);
  if (!system) return std::nullopt;
  std::vector<Leg> list = legs(u, *system);
  for (std::size_t j = 1; j < nodes_.size(); ++j) list[nodes_[j]].state.resize(0);
  const auto course = system->follow_values(list, {family_->parameter});
  if (!course) return std::nullopt;
  for (std::size_t j = 1; j < nodes_.size(); ++j) {
    u.segment(static_cast<Eigen::Index>(j) * states_, states_) = course->legs[nodes_[j] - 1].state;
  }
  return u;
}

/// Whether the leg of a step begins and ends with events of one compliant contact.
bool Shooting::returns(std::size_t step) const {
  if (step == 0) return false;
  const Step& begin = itinerary_.steps[step - 1];
  const Step& end = itinerary_.steps[step];
  return of_compliant(begin.end) && of_compliant(end.end) && begin.contact == end.contact && !end.instant;
}

/// The legs, with states at nodes only.
std::vector<Leg> Shooting::legs(const Eigen::VectorXd& u, const System& system) const {
  std::vector<Leg> list;
  for (std::size_t k = 0; k < itinerary_.steps.size(); ++k) {
    const Step& step = itinerary_.steps[k];
    Leg leg;
    leg.time = k == 0 ? anchor_.phase * system.period() : std::numeric_limits<double>::quiet_NaN();
    leg.duration = u(duration_index(k));
    leg.length = step.length;
    leg.mode = step.mode;
    leg.end = step.end;
    leg.contact = step.contact;
    list.push_back(std::move(leg));
  }
  for (std::size_t j = 0; j < nodes_.size(); ++j) {
    list[nodes_[j]].state = u.segment(static_cast<Eigen::Index>(j) * states_, states_);
  }
  return list;
}

std::optional<std::vector<Leg>> Shooting::placed_legs(const Eigen::VectorXd& u) const {
  const std::unique_ptr<System> system = family_->system(u(size()));
  if (!system) return std::nullopt;
  std::vector<Leg> list = legs(u, *system);
  const auto course = system->follow_values(list, {family_->parameter});
  if (!course) return std::nullopt;
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (list[k].state.size() == 0) list[k].state = course->legs[k - 1].state;
    if (k > 0) list[k].time = course->legs[k - 1].time;
    list[k].duration = course->legs[k].time - list[k].time;
    if (Leg::finds_end(list[k].length)) list[k].length = Leg::Length::given;
  }
  return list;
}

std::optional<Equations> Shooting::equations(const Eigen::VectorXd& u, std::optional<int> second) const {
  std::vector<int> parameters{family_->parameter};
  std::vector<Eigen::Index> columns = live_columns_;
  if (second) {
    parameters.push_back(*second);
    columns.push_back(size() + 1);
  }
  const Eigen::Index count = static_cast<Eigen::Index>(parameters.size());
  const Eigen::Index unknowns = size() + count;
  const std::unique_ptr<System> system = family_->system(u(size()));
  if (!system) return std::nullopt;
  std::vector<Leg> list = legs(u, *system);
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (returns(k)) list[k].length = Leg::Length::returning;
  }
  const auto course = system->follow(list, parameters);
  if (!course) return std::nullopt;
  Equations e;
  e.residual.resize(size());
  e.slope.setZero(size(), unknowns);
  e.measure.resize(steps());
  e.measure_slope.setZero(steps(), unknowns);

  // By the unknowns that they depend on, one column each: present state and time, residual, measure.
  const Eigen::Index live = static_cast<Eigen::Index>(columns.size());
  Eigen::MatrixXd state_slope(live, states_);
  Eigen::VectorXd time_slope = Eigen::VectorXd::Zero(live);
  time_slope.tail(count) = anchor_.phase * course->period_slope.transpose();
  Eigen::MatrixXd next_slope(live, states_);
  Eigen::VectorXd end_slope = time_slope;
  Eigen::MatrixXd slope = Eigen::MatrixXd::Zero(live, size());
  Eigen::MatrixXd measure_slope(live, steps());
  Eigen::VectorXd state;
  double time = list.front().time;
  Eigen::Index row = 0;
  const auto join = [&](std::size_t node, const Eigen::VectorXd& from) {
    const Eigen::Index column = static_cast<Eigen::Index>(node) * states_;
    e.residual.segment(row, states_) = from - u.segment(column, states_);
    slope.middleCols(row, states_) = state_slope;
    slope.block(column, row, states_, states_) -= Eigen::MatrixXd::Identity(states_, states_);
    row += states_;
  };
  const auto begin_at = [&](std::size_t node) {
    const Eigen::Index column = static_cast<Eigen::Index>(node) * states_;
    state_slope.setZero();
    state_slope.middleRows(column, states_).setIdentity();
  };
  Eigen::Index column = duration_index(0);  // of the next duration that is not found, among `live`
  for (std::size_t k = 0; k < list.size(); ++k) {
    const auto node = std::find(nodes_.begin(), nodes_.end(), k);
    if (node != nodes_.end()) {
      const std::size_t j = static_cast<std::size_t>(node - nodes_.begin());
      if (j > 0) join(j, state);
      begin_at(j);
    }
    const Reached& reached = course->legs[k];
    const Step& step = itinerary_.steps[k];
    const bool found = Leg::finds_end(step.length);
    const auto chain = [&](const auto& by, auto&& total) {
      const auto add = [&](Eigen::Index first, Eigen::Index entries) {
        total.segment(first, entries) = by(states_) * time_slope.segment(first, entries);
        for (Eigen::Index i = 0; i < states_; ++i)
          total.segment(first, entries) += by(i) * state_slope.col(i).segment(first, entries);
      };
      add(0, column);  // later durations do not matter yet
      add(live - count, count);
      total.segment(column, live - count - column).setZero();
      if (!found) total(column) = by(states_ + 1);
      total.tail(count) += by.tail(count).transpose();
    };
    chain(reached.time_slope, end_slope);
    e.measure(static_cast<Eigen::Index>(k)) = reached.measure;
    chain(reached.measure_slope, measure_slope.col(static_cast<Eigen::Index>(k)));
    if (found) {
      e.residual(row) = list[k].duration - (reached.time - time);
      e.slope(row, duration_index(k)) = 1;
      slope.col(row++) = time_slope - end_slope;
    } else if (step.instant) {
      e.residual(row) = list[k].duration;
      slope(column, row++) = 1;
    } else if (step.end != EventKind::section) {
      e.residual(row) = reached.guard;
      chain(reached.guard_slope, slope.col(row++));
    }
    for (Eigen::Index i = 0; i < states_; ++i) chain(reached.state_slope.row(i), next_slope.col(i));
    state_slope.swap(next_slope);
    time_slope.swap(end_slope);
    time = reached.time;
    state = reached.state;
    if (!found) ++column;
  }
  if (forced()) {
    const double end = anchor_.phase + itinerary_.periods;  // in periods
    e.residual(row) = time - end * system->period();
    slope.col(row) = time_slope;
    slope.col(row++).tail(count) -= end * course->period_slope.transpose();
  } else {
    e.residual(row) = anchor_.normal.dot(u.head(states_) - anchor_.state);
    slope.col(row++).head(states_) = anchor_.normal;
  }
  join(0, state);
  // Where bodies drift the end is the start but for that, and the start is told without.
  const Shifts shifts(*system, family_->section);
  const Eigen::Index last = row - states_;
  for (std::size_t k = 0; k < shifts.free().size(); ++k) {
    const Eigen::Index entry = shifts.free()[k];
    const auto column_of = shifts.columns().col(static_cast<Eigen::Index>(k));
    e.residual.tail(states_) -= (column_of * e.residual(last + entry)).eval();
    slope.rightCols(states_) -= (slope.col(last + entry) * column_of.transpose()).eval();
  }
  for (const int entry : shifts.free()) {
    e.residual(last + entry) = u(entry);
    slope.col(last + entry) = Eigen::VectorXd::Unit(live, entry);
  }
  e.slope(Eigen::all, columns) = slope.transpose();
  e.measure_slope(Eigen::all, columns) = measure_slope.transpose();
  if (!e.residual.allFinite() || !e.slope.allFinite()) return std::nullopt;
  return e;
}

std::optional<std::vector<Eigen::MatrixXd>> Shooting::transitions(const Eigen::VectorXd& u) const {
  const std::unique_ptr<System> system = family_->system(u(size()));
  if (!system) return std::nullopt;
  const Eigen::Index n = states_;
  std::vector<Leg> list = legs(u, *system);
  Leg after;  // without duration: how fast the motion goes on behind the turn
  after.mode = list.front().mode;
  if (list.back().length == Leg::Length::own) after.length = Leg::Length::own;
  after.time = std::numeric_limits<double>::quiet_NaN();
  list.push_back(after);
  const auto course = system->follow(list, {family_->parameter});
  if (!course) return std::nullopt;
  std::vector<Eigen::MatrixXd> matrices;
  for (std::size_t k = 0; k < itinerary_.steps.size(); ++k) {
    const Reached& reached = course->legs[k];
    const Step& step = itinerary_.steps[k];
    Eigen::RowVectorXd longer = Eigen::RowVectorXd::Zero(n + 1);  // the leg, by its beginning
    if (!Leg::finds_end(step.length) && !step.instant) {
      if (step.end == EventKind::section || step.end == EventKind::graze) {
        longer(n) = -1;
      } else {
        const double rate = reached.guard_slope(n + 1);
        if (rate == 0) return std::nullopt;
        longer = -reached.guard_slope.head(n + 1) / rate;
      }
    }
    Eigen::MatrixXd matrix(n + 1, n + 1);
    matrix.topRows(n) = reached.state_slope.leftCols(n + 1) + reached.state_slope.col(n + 1) * longer;
    matrix.row(n) = reached.time_slope.head(n + 1) + reached.time_slope(n + 1) * longer;
    matrices.push_back(std::move(matrix));
  }
  const Eigen::VectorXd velocity = course->legs.back().state_slope.col(n + 1);
  Eigen::MatrixXd& last = matrices.back();
  Eigen::MatrixXd end = last.topRows(n) - velocity * last.row(n);
  end = Shifts(*system, family_->section).unshifted(end);
  if (!forced()) {  // back along the flow
    Eigen::Index fastest = 0;
    velocity.cwiseAbs().maxCoeff(&fastest);
    end -= velocity / velocity(fastest) * Eigen::RowVectorXd(end.row(fastest));
    end.row(fastest).setZero();
  }
  last.topRows(n) = end;
  last.row(n).setZero();
  return matrices;
}

std::vector<bool> chattering(const Itinerary& itinerary, const Eigen::VectorXd& measure) {
  return chattering(itinerary, std::vector<double>(measure.begin(), measure.end()));
}

std::vector<Eigen::Index> single_hits(const Itinerary& itinerary, const Eigen::VectorXd& measure) {
  const std::vector<bool> inside = chattering(itinerary, measure);
  std::vector<Eigen::Index> hits;
  for (std::size_t k = 0; k < inside.size(); ++k) {
    if (is_hit(itinerary.steps[k].end) && !inside[k]) hits.push_back(static_cast<Eigen::Index>(k));
  }
  return hits;
}

double slowest_single_hit(const Itinerary& itinerary, const Eigen::VectorXd& measure) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const Eigen::Index k : single_hits(itinerary, measure)) slowest = std::min(slowest, measure(k));
  return slowest;
}

Closing solve_with(const Shooting& shooting, const Eigen::VectorXd& guess, const Condition& condition) {
  struct Values {
    Equations equations;
    ConditionValue condition;
  };
  const Eigen::Index m = shooting.size();
  const double scale = guess.head(m).cwiseAbs().maxCoeff() + 1e-300;
  auto found = newton(
      guess, scale, with_parameters(guess, m),
      [&](const Eigen::VectorXd& u) -> std::optional<Values> {
        auto equations = shooting.equations(u);
        if (!equations) return std::nullopt;
        const ConditionValue value = condition(u, *equations);
        return Values{std::move(*equations), value};
      },
      [m](const Eigen::VectorXd&, const Values& at) {
        Eigen::VectorXd r(m + 1);
        r << at.equations.residual, at.condition.value;
        return r;
      },
      [&](const Eigen::VectorXd&, const Values& at, const Eigen::VectorXd& right) {
        return shooting.solve(at.equations.slope, at.condition.slope, right);
      });
  Closing c;
  c.ok = found.ok;
  c.iterations = found.iterations;
  c.u = std::move(found.x);
  if (!found.values) return c;
  c.residual = found.values->equations.residual.cwiseAbs().maxCoeff();
  c.equations = std::move(found.values->equations);
  return c;
}

Closing solve_fixed(const Shooting& shooting, const Eigen::VectorXd& guess) {
  const Eigen::Index m = shooting.size();
  const double parameter = guess(m);
  return solve_with(shooting, guess, [m, parameter](const Eigen::VectorXd& u, const Equations&) {
    return ConditionValue{u(m) - parameter, Eigen::RowVectorXd::Unit(m + 1, m)};
  });
}

Closing solve_plane(const Shooting& shooting, const Eigen::VectorXd& guess, const Eigen::VectorXd& normal) {
  return solve_with(shooting, guess, [&](const Eigen::VectorXd& u, const Equations&) {
    return ConditionValue{normal.dot(u - guess), normal.transpose()};
  });
}

Closing solve_measure(const Shooting& shooting, const Eigen::VectorXd& guess, std::size_t step,
                      double value) {
  const Eigen::Index k = static_cast<Eigen::Index>(step);
  return solve_with(shooting, guess, [k, value](const Eigen::VectorXd&, const Equations& e) {
    return ConditionValue{e.measure(k) - value, e.measure_slope.row(k)};
  });
}

std::vector<std::complex<double>> orbit_multipliers(const Shooting& shooting, const Eigen::VectorXd& u,
                                                    int segments) {
  auto matrices = shooting.transitions(u);
  if (!matrices) return {};
  if (segments > 0) {
    std::vector<Eigen::MatrixXd> groups;
    const std::size_t count = matrices->size();
    for (std::size_t g = 0; g < static_cast<std::size_t>(segments); ++g) {
      const std::size_t first = g * count / static_cast<std::size_t>(segments);
      const std::size_t last = (g + 1) * count / static_cast<std::size_t>(segments);
      Eigen::MatrixXd product = Eigen::MatrixXd::Identity(shooting.states() + 1, shooting.states() + 1);
      for (std::size_t k = first; k < last; ++k) product = ((*matrices)[k] * product).eval();
      groups.push_back(std::move(product));
    }
    matrices = std::move(groups);
  }
  auto multipliers = product_eigenvalues(*matrices);
  // The zeros of the time, along the flow and of the shifts.
  const auto system = shooting.family().system(u(shooting.size()));
  const std::size_t zeros = (shooting.forced() ? 1 : 2) + (system ? Shifts(*system).free().size() : 0);
  multipliers.resize(multipliers.size() - std::min(multipliers.size(), zeros));
  return multipliers;
}

}  // namespace graze
