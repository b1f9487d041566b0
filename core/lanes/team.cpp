#include "core/lanes/team.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "core/math/denormals.hpp"
#include "core/system/interrupt.hpp"
#include "core/system/memoising_system.hpp"

namespace graze {
namespace {

class ContactCounter final : public Observer {
 public:
  explicit ContactCounter(std::vector<std::int64_t>& impacts) : impacts_(impacts) {}
  void event(const Event& event) override {
    if (event.kind == EventKind::impact || event.kind == EventKind::contact_begin)
      ++impacts_[static_cast<std::size_t>(event.contact)];
  }

 private:
  std::vector<std::int64_t>& impacts_;
};

}  // namespace

void advance_alone(LaneMotion& motion, const Section& section) {
  if (const Eigen::Index columns = motion.tangent.cols(); columns > 0) {
    Tangent tangent{std::move(motion.tangent), Eigen::RowVectorXd::Zero(columns),
                    Eigen::MatrixXd(0, columns)};
    const bool timed = motion.tangent_time.size() > 0;
    if (timed) tangent.time = motion.tangent_time;
    motion.outcome = motion.system->advance(motion.state, section, tangent);
    motion.tangent = std::move(tangent.state);
    if (timed) motion.tangent_time = tangent.time;
  } else {
    ContactCounter counter(motion.impacts);
    Observer* const listener = motion.impacts.empty() ? nullptr : &counter;
    motion.outcome = motion.system->advance(motion.state, section,
                                            motion.observer != nullptr ? motion.observer : listener);
  }
  if (motion.outcome == Outcome::ok && size_of(*motion.system, motion.state.x) > motion.bound) {
    motion.outcome = Outcome::unbounded;
  }
}

void record_point(LaneMotion& motion) {
  if (motion.outcome != Outcome::ok) return;
  const HybridState& s = motion.state;
  motion.points.insert(motion.points.end(), s.x.begin(), s.x.end());
  motion.stamps.push_back({s.time, s.turns});
}

void note_growth(LaneMotion& motion) {
  if (motion.tangent.cols() != 1) return;
  double size = size_of(*motion.system, motion.tangent.col(0));
  if (motion.tangent_time.size() > 0)
    size = std::max(size, motion.system->rate() * std::abs(motion.tangent_time(0)));
  motion.growth.push_back(size);
  if (!(size > 0)) return;
  motion.tangent /= size;
  motion.tangent_time /= size;
}

LaneTeam::LaneTeam(LaneKernel kernel, LaneKernel carrying, std::vector<Lane> lanes, Lanes::Repeats repeats)
    : kernel_(kernel),
      carrying_(carrying),
      lanes_(std::move(lanes)),
      rows_(lanes_.front().law().dofs, static_cast<int>(lanes_.front().law().contacts.size()),
            static_cast<int>(lanes_.front().law().rows.size())),
      repeats_(repeats) {
  queue_.assign(5 * places(), 0);
  batch_.queue = queue_.data();
  at_.resize(lanes_.size());
  parked_.resize(lanes_.size());
  marks_.resize(lanes_.size());
  batch_.left = [](void* owner, long lane, int cell) {
    return static_cast<LaneTeam*>(owner)->left(static_cast<std::size_t>(lane), cell);
  };
  batch_.boards = [](void* owner, long begin, int lanes_there, int cell) {
    return static_cast<LaneTeam*>(owner)->boards(static_cast<std::size_t>(begin),
                                                 static_cast<std::size_t>(lanes_there), cell);
  };
  batch_.arrived = [](void* owner, long begin, int lanes_there) {
    return static_cast<LaneTeam*>(owner)->arrived(static_cast<std::size_t>(begin),
                                                  static_cast<std::size_t>(lanes_there));
  };
  tabulate_phases();
  fill_rows();
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    lane_of_[lanes_[lane].number] = lane;
    board(lane, 0);
  }
}

/// cos, sin and their rates per cell at the beginnings of all cells, and at the end of the last one.
void LaneTeam::tabulate_phases() {
  const LaneLaw& law = lanes_.front().law();
  batch_.cells = law.cells;
  batch_.harmonics = static_cast<int>(law.orders.size());
  for (int j = 0; j < batch_.harmonics; ++j) {
    batch_.rate[j] = 2 * std::numbers::pi * law.orders[static_cast<std::size_t>(j)] / law.cells;
  }
  for (int cell = 0; cell <= law.cells; ++cell) {
    for (const int order : law.orders) {
      const double phase = 2 * std::numbers::pi * (static_cast<double>(order) * cell / law.cells);
      const double rate = 2 * std::numbers::pi * order / law.cells;
      phase_.insert(phase_.end(),
                    {std::cos(phase), std::sin(phase), -rate * std::sin(phase), rate * std::cos(phase)});
    }
  }
  batch_.phase = phase_.data();
}

/// Rows and cards of all lanes, which are at rest; places without a lane are like the last one.
void LaneTeam::fill_rows() {
  values_.assign(static_cast<std::size_t>(rows_.count) * places(), 0.0);
  const std::vector<LaneLaw>& laws = lanes_.front().laws;
  const std::size_t constants = laws.front().rows.size() + laws.front().more.size();
  const std::size_t card = (constants + lanes_per_block - 1) / lanes_per_block * lanes_per_block;
  cards_.assign(card * laws.size() * places(), 0.0);
  if (laws.size() > 1) sets_.assign(places(), 0);
  for (std::size_t l = 0; l < places(); ++l) {
    double* place = &cards_[l * laws.size() * card];
    places_.push_back({&value(0, l), place, nullptr});
    for (const LaneLaw& law : lanes_[std::min(l, lanes_.size() - 1)].laws) {
      std::copy(law.more.begin(), law.more.end(), std::copy(law.rows.begin(), law.rows.end(), place));
      place += card;
    }
    enter(l, 0);
    rest(l);
  }
  batch_.places = places_.data();
  batch_.sets = sets_.empty() ? nullptr : sets_.data();
  batch_.card = static_cast<long>(card);
}

/// Its rows become those of the set.
void LaneTeam::enter(std::size_t lane, int set) {
  if (!sets_.empty()) sets_[lane] = set;
  const double* const card = places_[lane].card + set * batch_.card;
  double* const place = &value(rows_.constants, lane);
  for (int r = 0; r < rows_.count - rows_.constants; ++r) place[r * lanes_per_block] = card[r];
}

/// Whether a free motion is off every event for certain.
bool LaneTeam::is_clear(std::size_t lane, const LaneLaw& law, const LaneLaw::Vector& z, int cell) {
  constexpr double far = 1e-9;
  if (!sets_.empty()) {
    for (std::size_t i = 0; i < law.contacts.size(); ++i) {
      if (!(law.clearance(i, z, cell) > far)) return false;
    }
    return true;
  }
  const HybridState& s = lanes_[lane].motion->state;
  const double size = size_of(*lanes_[lane].motion->system, s.x);
  lanes_[lane].motion->system->gaps(s, gap_, gap_rate_);
  return std::all_of(law.contacts.begin(), law.contacts.end(),
                     [&](int contact) { return gap_(contact) > far * (size + std::abs(gap_(contact))); });
}

/// Takes a motion on board where it flies freely at the beginning of a cell.
void LaneTeam::board(std::size_t lane, int cell) {
  Lane& l = lanes_[lane];
  const HybridState& s = l.motion->state;
  constexpr double largest = 1e100;  // far below what overflows in the kernel
  if (std::abs(s.time - cell * l.law().cell) > 1e-12 * s.time || !s.x.allFinite() ||
      s.x.cwiseAbs().maxCoeff() > largest)
    return;
  const auto set =
      std::find_if(l.laws.begin(), l.laws.end(), [&](const LaneLaw& law) { return law.mode == s.mode; });
  if (set == l.laws.end()) return;
  const double size = size_of(*l.motion->system, s.x);
  if (size > 0.01 * l.motion->bound) return;  // what grows beyond it is told by the scalar engine
  for (const Touch& touch : s.touches) {
    if (touch.order != 0) return;
  }
  const LaneLaw::Vector y = set->inside(s.x, cell);
  if (!is_clear(lane, *set, y, cell)) return;
  if (!sets_.empty()) enter(lane, static_cast<int>(set - l.laws.begin()));
  for (Eigen::Index i = 0; i < y.size(); ++i) value(rows_.to + static_cast<int>(i), lane) = y(i);
  value(rows_.vigour, lane) = set->vigour(y);
  set_levels(lane, -std::numeric_limits<double>::infinity());  // not known: its first cell is looked into
  at_[lane].marches = true;
  at_[lane].aboard = at_[lane].done;
  if (batch_.tangents > 0) board_tangent(lane);
}

/// To who listens to the motion.
void LaneTeam::told(std::size_t lane, LaneNote note, int contact, double at, double value) {
  if (lane >= lanes_.size()) return;
  const Progress& progress = at_[lane];
  LaneMotion& motion = *lanes_[lane].motion;
  const bool goes = progress.marches && progress.done < progress.due && parked_[lane].empty();
  if (!goes || motion.observer == nullptr) return;
  const LaneLaw& law = lanes_[lane].law();
  const int number = law.contacts[static_cast<std::size_t>(contact)];
  const auto turns = static_cast<double>(motion.state.turns) + static_cast<double>(progress.done) -
                     static_cast<double>(progress.aboard);
  const double time = at * law.cell + turns * law.cell * law.cells;
  switch (note) {
    case LaneNote::impact: {
      Event event;
      event.time = time;
      event.contact = number;
      event.approach_speed = value / law.cell;
      return motion.observer->event(event);
    }
    case LaneNote::highest:
      return motion.observer->excursion(number, time, value);
    case LaneNote::lowest:
      return motion.observer->near_miss(number, time, value / law.cell);
  }
}

/// Room for the tangents of all lanes of the batch, and those of the lanes that march; the others bring
/// theirs with them.
void LaneTeam::bring_tangents() {
  const std::size_t rows = static_cast<std::size_t>(batch_.tangents) * states();
  const std::size_t end = static_cast<std::size_t>(batch_.blocks) * lanes_per_block;
  tangents_.assign(rows * end, 0.0);
  for (std::size_t l = 0; l < end; ++l) {
    places_[l].tangents = &tangents_[l / lanes_per_block * rows * lanes_per_block + l % lanes_per_block];
    if (l < lanes_.size() && at_[l].marches && at_[l].due > 0) board_tangent(l);
  }
}

void LaneTeam::board_tangent(std::size_t lane) {
  const Eigen::MatrixXd& tangents = lanes_[lane].motion->tangent;
  double* place = tangent(lane);
  for (Eigen::Index t = 0; t < tangents.cols(); ++t) {
    for (const double number : law(lane).tangent_inside(tangents.col(t))) {
      *place = number;
      place += lanes_per_block;
    }
  }
}

void LaneTeam::take_tangent(std::size_t lane) {
  Eigen::MatrixXd& tangents = lanes_[lane].motion->tangent;
  for (Eigen::Index t = 0; t < tangents.cols(); ++t) {
    const double* const z = tangent(lane) + t * static_cast<Eigen::Index>(states()) * lanes_per_block;
    tangents.col(t) = law(lane).tangent_outside(z, lanes_per_block);
  }
}

/// At phase zero.
void LaneTeam::note_growth_of(std::size_t lane) {
  LaneMotion& motion = *lanes_[lane].motion;
  if (!at_[lane].marches) return note_growth(motion);
  double* const z = tangent(lane);
  const double size =
      sets_.empty() ? sizes_of_block(lane)(static_cast<Eigen::Index>(lane % lanes_per_block))
                    : size_of(*motion.system, Eigen::VectorXd(law(lane).tangent_outside(z, lanes_per_block)));
  motion.growth.push_back(size);
  const double scale = size > 0 ? 1 / size : 1;
  for (std::size_t i = 0; i < states(); ++i) z[i * lanes_per_block] *= scale;
}

/// The sizes of the tangents of the block in which this lane is.
LaneTeam::Block LaneTeam::sizes_of_block(std::size_t lane) {
  const std::size_t begin = lane / lanes_per_block * lanes_per_block, count = states();
  const double* factor = &sizes_[begin * count * count];
  const double* const z = tangent(begin);
  Block size = Block::Zero();
  for (std::size_t i = 0; i < count; ++i) {
    Block sum = Block::Zero();
    for (std::size_t j = 0; j < count; ++j, factor += lanes_per_block)
      sum += Block::Map(factor) * Block::Map(z + j * lanes_per_block);
    for (Eigen::Index l = 0; l < lanes_per_block; ++l) size(l) = std::max(size(l), std::abs(sum(l)));
  }
  return size;
}

/// Per block and entry of a tangent, as size_of counts it, what makes it of its modes, lanes side by side.
void LaneTeam::tabulate_sizes() {
  const std::size_t count = states();
  sizes_.resize(places() * count * count);
  for (std::size_t lane = 0; lane < places(); ++lane) {
    const Lane& l = lanes_[std::min(lane, lanes_.size() - 1)];
    double* place = &sizes_[sizes(lane)];
    for (Eigen::Index i = 0; i < l.law().from_modes.rows(); ++i) {
      const double weight = size_of(*l.motion->system, Eigen::VectorXd::Unit(l.law().from_modes.rows(), i));
      for (Eigen::Index j = 0; j < l.law().from_modes.cols(); ++j, place += lanes_per_block)
        *place = weight * l.law().from_modes(i, j);
    }
  }
}

/// Nothing moves there.
void LaneTeam::rest(std::size_t lane) {
  for (int row = rows_.to; row < rows_.begun; ++row) value(row, lane) = 0;
  set_levels(lane, std::numeric_limits<double>::infinity());
}

void LaneTeam::set_levels(std::size_t lane, double level) {
  for (int row = rows_.level; row < rows_.vigour; ++row) value(row, lane) = level;
}

/// The motion's state from the rows.
void LaneTeam::put_down(std::size_t lane, int from, double cell, bool with_tangent) {
  const LaneLaw& set = law(lane);
  const System& system = *lanes_[lane].motion->system;
  HybridState& s = lanes_[lane].motion->state;
  set.outside(&values_[index(from, lane)], lanes_per_block, cell, s.x.data());
  s.time = cell * set.cell;
  s.turns += static_cast<std::int64_t>(at_[lane].done - std::exchange(at_[lane].aboard, 0));
  s.mode = set.mode;
  s.settled = true;
  s.touches.assign(static_cast<std::size_t>(system.contacts()), Touch{});
  if (with_tangent && batch_.tangents > 0) take_tangent(lane);
}

/// What the kernel does not do: the rest of a cell, and on to where the motion is free at the end of one.
/// There it boards; at which cell.
int LaneTeam::left(std::size_t lane, int cell) {
  const Denormals as_called(denormals_);
  put_down(lane, rows_.from, cell + value(rows_.begun, lane), true);
  const LaneLaw& law = lanes_[lane].law();
  LaneMotion& motion = *lanes_[lane].motion;
  if (const int last = static_cast<int>(value(rows_.last, lane)); last >= 0) {
    Touch& touch =
        motion.state.touches[static_cast<std::size_t>(law.contacts[static_cast<std::size_t>(last)])];
    touch.order = 1;
    touch.speed = value(rows_.rebound, lane) / law.cell;
  }
  rest(lane);
  at_[lane].marches = false;
  go_alone(lane);
  return boards(lane, 1, cell + 1);
}

/// From where the motion stands to where it is free at the end of a cell, or to the end of the period.
void LaneTeam::go_alone(std::size_t lane) {
  const Lane& l = lanes_[lane];
  LaneMotion& motion = *l.motion;
  const double step = l.law().cell;
  at_[lane].helped = true;
  Section flight;
  flight.flights = step;
  advance_alone(motion, flight);
  const bool on_its_way = motion.outcome == Outcome::ok && motion.state.time > 0;
  at_[lane].boards = on_its_way ? static_cast<int>(std::lround(motion.state.time / step)) : l.law().cells;
}

/// Those of these lanes that go alone and are due at the cell board; at phase zero, where they have had the
/// chance, they set out. The next cell at which one is due.
int LaneTeam::boards(std::size_t first, std::size_t count, int cell) {
  int next = batch_.cells;
  for (std::size_t lane = first; lane < std::min(first + count, lanes_.size()); ++lane) {
    Progress& at = at_[lane];
    const bool goes_alone = !at.marches && at.done < at.due && lanes_[lane].motion->outcome == Outcome::ok;
    if (!goes_alone || cell == batch_.cells) continue;
    const Denormals as_called(denormals_);
    if (cell == 0) {
      go_alone(lane);
    } else if (at.boards == cell) {
      board(lane, cell);
      if (!at.marches) go_alone(lane);
    }
    if (!at.marches) next = std::min(next, at.boards);
  }
  return next;
}

/// What record multiplies with: per block and state what the forces alone make of it and a row of from_modes,
/// lanes side by side.
void LaneTeam::tabulate() {
  const Eigen::Index states = 2 * lanes_.front().law().dofs;
  for (std::size_t first = 0; first < lanes_.size(); first += lanes_per_block) {
    const auto add = [&](const auto& of) {
      for (std::size_t l = first; l < first + lanes_per_block; ++l) {
        outside_.push_back(of(lanes_[std::min(l, lanes_.size() - 1)].law()));
      }
    };
    for (Eigen::Index i = 0; i < states; ++i) {
      add([&](const LaneLaw& law) { return law.at_phase_zero(i); });
      for (Eigen::Index j = 0; j < states; ++j) add([&](const LaneLaw& law) { return law.from_modes(i, j); });
    }
  }
}

/// The states at phase zero of those of these lanes that march, as LaneLaw::outside has them. All of them are
/// of one block.
void LaneTeam::record(std::size_t first, std::size_t end) {
  const std::size_t size = states();
  const std::size_t begin = first / lanes_per_block * lanes_per_block;
  const double* row = &outside_[outside(begin)];
  const double* const z = &value(rows_.to, begin);
  double* places[lanes_per_block];
  double nowhere[2 * LaneLaw::most_dofs];
  for (std::size_t k = first; k < end; ++k) {
    const Progress& at = at_[k];
    places[k - begin] = at.marches && at.done < at.due ? kept_[k] + at.done * size : nowhere;
  }
  for (std::size_t i = 0; i < size; ++i) {
    Block x = Block::Map(row);
    for (std::size_t j = 0; j < size; ++j) {
      row += lanes_per_block;
      x += Block::Map(row) * Block::Map(z + j * lanes_per_block);
    }
    row += lanes_per_block;
    for (std::size_t k = first; k < end; ++k) places[k - begin][i] = x(static_cast<Eigen::Index>(k - begin));
  }
  if (sets_.empty()) return;
  for (std::size_t k = first; k < end; ++k) {
    double* const place = places[k - begin];
    if (sets_[k] != 0 && place != nowhere) law(k).outside(z + (k - begin), lanes_per_block, 0, place);
  }
}

/// The end of a period of a lane that is not on board.
void LaneTeam::arrive_alone(std::size_t lane) {
  const Denormals as_called(denormals_);
  LaneMotion& motion = *lanes_[lane].motion;
  if (motion.outcome == Outcome::ok) {
    ++alone;
    board(lane, 0);
  }
  if (kept_.empty() || kept_[lane] == nullptr) return;
  double* const place = kept_[lane] + (at_[lane].done - 1) * states();
  if (motion.outcome == Outcome::ok) {
    std::copy(motion.state.x.begin(), motion.state.x.end(), place);
  } else {
    motion.points.resize(static_cast<std::size_t>(place - motion.points.data()));
    kept_[lane] = nullptr;
  }
}

/// At phase zero.
LaneTeam::Decisive LaneTeam::decisive(std::size_t lane) const {
  Decisive all{};
  const double* const place = &values_[index(0, lane)];
  double* next = all.data();
  const int end = rows_.to + static_cast<int>(states());
  for (int row = rows_.to; row < end; ++row) *next++ = place[row * lanes_per_block];
  for (int row = rows_.level; row <= rows_.vigour; ++row) *next++ = place[row * lanes_per_block];
  return all;
}

/// Whether the lane will do what it did after the mark.
bool LaneTeam::is_at(std::size_t lane, const Mark& mark) {
  const Progress& at = at_[lane];
  if (mark.periods == 0 || mark.marched != at.marches) return false;
  if (!at.marches) return go_on_alike(lanes_[lane].motion->state, mark.state);
  if (std::bit_cast<std::uint64_t>(value(rows_.to, lane)) != at.first) return false;
  if (!sets_.empty() && sets_[lane] != mark.set) return false;
  const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  return std::ranges::equal(decisive(lane), mark.rows, {}, bits, bits);
}

void LaneTeam::take(std::size_t lane, Mark& mark) {
  Progress& at = at_[lane];
  mark.marched = at.marches;
  if (at.marches) {
    mark.rows = decisive(lane);
    mark.set = sets_.empty() ? 0 : sets_[lane];
    at.first = std::bit_cast<std::uint64_t>(mark.rows.front());
  } else {
    mark.state = lanes_[lane].motion->state;
  }
}

/// Those so far, per contact of the system; nothing: they are not counted.
void LaneTeam::count_impacts(std::size_t lane, std::vector<std::int64_t>& list) {
  const Lane& l = lanes_[lane];
  list = l.motion->impacts;
  const std::vector<int>& contacts = l.law().contacts;
  for (std::size_t i = 0; i < contacts.size() && !list.empty(); ++i) {
    list[static_cast<std::size_t>(contacts[i])] +=
        static_cast<std::int64_t>(value(rows_.impacts + static_cast<int>(i), lane));
  }
}

/// At phase zero: whether the motion has been there before.
void LaneTeam::look_back(std::size_t lane) {
  Mark& mark = marks_[lane];
  if (is_at(lane, mark)) {
    const std::size_t length = static_cast<std::size_t>(mark.span - at_[lane].to_mark);
    at_[lane].to_mark = mark.span;
    repeat(lane, length, mark.impacts);
    count_impacts(lane, mark.impacts);
  } else if (at_[lane].to_mark <= 0) {
    mark.periods += static_cast<std::size_t>(mark.span);
    mark.span = static_cast<int>(std::max(std::min(mark.periods, std::size_t{16}), mark.periods / 4));
    take(lane, mark);
    count_impacts(lane, mark.impacts);
    at_[lane].to_mark = mark.span;
  }
}

/// The last `length` periods again, as often as there is time for.
void LaneTeam::repeat(std::size_t lane, std::size_t length, const std::vector<std::int64_t>& before) {
  LaneMotion& motion = *lanes_[lane].motion;
  if (!kept_.empty() && at_[lane].done < length) return;  // once more, to keep the states
  const std::size_t times = (at_[lane].due - at_[lane].done) / length;
  if (times == 0) return;
  std::vector<std::int64_t> now;
  count_impacts(lane, now);
  for (std::size_t i = 0; i < now.size(); ++i) {
    motion.impacts[i] += static_cast<std::int64_t>(times) * (now[i] - before[i]);
  }
  const std::size_t more = times * length;
  if (!kept_.empty()) {
    const std::size_t size = states();
    for (std::size_t k = at_[lane].done; k < at_[lane].done + more; ++k) {
      std::copy_n(kept_[lane] + (k - length) * size, size, kept_[lane] + k * size);
    }
  }
  if (!at_[lane].marches) motion.state.turns += static_cast<std::int64_t>(more);
  at_[lane].done += more;
  known += static_cast<std::int64_t>(more);
}

/// The lane has done all its periods; others beside it have not.
void LaneTeam::park(std::size_t lane) {
  std::vector<double>& rows = parked_[lane];
  for (int row = rows_.to; row < rows_.constants; ++row) rows.push_back(value(row, lane));
  if (batch_.tangents > 0 && at_[lane].due > 0) take_tangent(lane);
  rest(lane);
}

/// The end of a period for lanes that stand side by side: whether they go on.
bool LaneTeam::arrived(std::size_t first, std::size_t count) {
  check_interrupt();
  const std::size_t end = std::min(first + count, lanes_.size());
  if (first >= end) return false;
  if (!kept_.empty()) record(first, end);
  const double* const z = &value(rows_.to, first);
  const bool grows = batch_.tangents == 1, together = grows && sets_.empty();
  const Block grown = together ? sizes_of_block(first) : Block::Zero();
  Block scale = Block::Ones();
  bool some = false, through = false;
  for (std::size_t lane = first; lane < end; ++lane) {
    Progress& at = at_[lane];
    if (at.done == at.due) continue;
    ++at.done;
    const bool marches = at.marches;
    if (marches) {
      ++(at.helped ? alone : marched);
    } else {
      arrive_alone(lane);
    }
    at.helped = false;
    const bool goes_on = marches || lanes_[lane].motion->outcome == Outcome::ok;
    if (together && marches) {
      const auto l = static_cast<Eigen::Index>(lane % lanes_per_block);
      lanes_[lane].motion->growth.push_back(grown(l));
      if (grown(l) > 0) scale(l) = 1 / grown(l);
    } else if (grows && goes_on) {
      note_growth_of(lane);
    }
    const bool due = --at.to_mark <= 0;
    const bool perhaps = !marches || std::bit_cast<std::uint64_t>(z[lane - first]) == at.first;
    const bool looks_back =
        repeats_ == Lanes::Repeats::known && batch_.tangents == 0 && batch_.told == nullptr;
    if ((due || perhaps) && goes_on && looks_back) look_back(lane);
    through = through || at.done == at.due;
    some = some || (goes_on && at.done < at.due);
  }
  for (std::size_t i = 0; together && i < states(); ++i)
    Block::Map(tangent(first / lanes_per_block * lanes_per_block) + i * lanes_per_block) *= scale;
  for (std::size_t lane = first; some && through && lane < end; ++lane) {
    if (at_[lane].done == at_[lane].due && at_[lane].marches && parked_[lane].empty()) park(lane);
  }
  return some;
}

void LaneTeam::replace(std::size_t number) {
  const auto found = lane_of_.find(number);
  if (found == lane_of_.end()) return;
  const std::size_t lane = found->second;
  at_[lane] = Progress{};
  marks_[lane] = Mark{};
  rest(lane);
  board(lane, 0);
}

/// Brings the motions that have something to do to the first places, so that vectors are full and the kernel
/// does not see the others. How many these are.
std::size_t LaneTeam::close_ranks(std::span<const int> periods) {
  const auto is_busy = [&](std::size_t lane) { return periods[lanes_[lane].number] > 0; };
  std::size_t front = 0, back = lanes_.size();
  for (;;) {
    while (front < back && is_busy(front)) ++front;
    while (front < back && !is_busy(back - 1)) --back;
    if (front == back) return front;
    exchange(front++, --back);
  }
}

/// Motions change places; nothing of them depends on these.
void LaneTeam::exchange(std::size_t one, std::size_t other) {
  std::swap(lanes_[one], lanes_[other]);
  std::swap(lane_of_[lanes_[one].number], lane_of_[lanes_[other].number]);
  std::swap(at_[one], at_[other]);
  std::swap(marks_[one], marks_[other]);
  std::swap(places_[one].card, places_[other].card);
  if (!sets_.empty()) std::swap(sets_[one], sets_[other]);
  for (int row = 0; row < rows_.count; ++row) std::swap(value(row, one), value(row, other));
  const std::size_t size = states();
  for (std::size_t k = 0; !outside_.empty() && k < size * (1 + size) * lanes_per_block; k += lanes_per_block)
    std::swap(outside_[outside(one) + k], outside_[outside(other) + k]);
  for (std::size_t k = 0; !sizes_.empty() && k < size * size * lanes_per_block; k += lanes_per_block)
    std::swap(sizes_[sizes(one) + k], sizes_[sizes(other) + k]);
}

void LaneTeam::advance(std::span<const int> periods, bool record) {
  const std::size_t busy = close_ranks(periods);
  if (busy == 0) return;
  batch_.blocks = (static_cast<long>(busy) + lanes_per_block - 1) / lanes_per_block;
  const std::size_t end = std::min(static_cast<std::size_t>(batch_.blocks) * lanes_per_block, lanes_.size());
  bool listened = false;
  batch_.tangents = 0;
  for (std::size_t lane = 0; lane < end; ++lane) {
    const Lane& l = lanes_[lane];
    Progress& at = at_[lane];
    at.done = 0;
    at.due = static_cast<std::size_t>(std::max(periods[l.number], 0));
    if (at.due == 0) continue;
    batch_.tangents = std::max(batch_.tangents, static_cast<int>(l.motion->tangent.cols()));
    listened = listened || l.motion->observer != nullptr;
  }
  for (std::size_t lane = 0; batch_.tangents == 1 && lane < busy; ++lane) {
    std::vector<double>& growth = lanes_[lane].motion->growth;
    growth.reserve(growth.size() + at_[lane].due);
  }
  if (batch_.tangents > 0) bring_tangents();
  if (batch_.tangents == 1 && sizes_.empty() && sets_.empty()) tabulate_sizes();
  kept_.clear();
  if (record) {
    if (outside_.empty()) tabulate();
    for (std::size_t lane = 0; lane < end; ++lane) {
      std::vector<double>& points = lanes_[lane].motion->points;
      const std::size_t before = points.size();
      const bool goes = lanes_[lane].motion->outcome == Outcome::ok;
      if (goes) points.resize(before + states() * at_[lane].due);
      kept_.push_back(goes ? points.data() + before : nullptr);
    }
  }
  for (std::size_t lane = 0; lane < end; ++lane) {
    if (at_[lane].due == 0 && at_[lane].marches) park(lane);
  }
  batch_.owner = this;
  batch_.told = nullptr;
  if (listened) {
    batch_.told = [](void* owner, long lane, LaneNote note, int contact, double at, double value) {
      static_cast<LaneTeam*>(owner)->told(static_cast<std::size_t>(lane), note, contact, at, value);
    };
  }
  denormals_ = Denormals::mode();
  (batch_.tangents > 0 || listened ? carrying_ : kernel_)(batch_);
  for (std::size_t lane = 0; lane < end; ++lane) {
    Lane& l = lanes_[lane];
    const bool parked = !parked_[lane].empty();
    int row = rows_.to;
    for (const double number : std::exchange(parked_[lane], {})) value(row++, lane) = number;
    if (at_[lane].due == 0) continue;
    if (at_[lane].marches) put_down(lane, rows_.to, 0, !parked);
    count_impacts(lane, l.motion->impacts);
    for (int r = rows_.impacts; r < rows_.constants; ++r) value(r, lane) = 0;
  }
  batch_.tangents = 0;
}

}  // namespace graze
