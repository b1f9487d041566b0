#include "core/lanes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <numbers>
#include <utility>

#include "core/lane_batch.hpp"
#include "core/lane_law.hpp"
#include "core/value.hpp"

namespace graze {
namespace {

// ---- Which kernel
// ------------------------------------------------------------------------------------------

struct KernelSet {
  std::string name;
  LaneKernel (*find)(int dofs, int contacts, int harmonics);
  LaneKernel find_for(const LaneLaw& law) const {
    return find(law.dofs, static_cast<int>(law.contacts.size()), static_cast<int>(law.orders.size()));
  }
};

/// Those that this processor can run, the best one last.
const std::vector<KernelSet>& kernel_sets() {
  static const std::vector<KernelSet> sets = [] {
    std::vector<KernelSet> list = {{"none", [](int, int, int) -> LaneKernel { return nullptr; }},
                                   {"baseline", lane_kernel_baseline}};
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        lane_kernel_avx2(1, 1, 1) != nullptr) {
      list.push_back({"avx2", lane_kernel_avx2});
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && lane_kernel_avx512(1, 1, 1) != nullptr) {
      list.push_back({"avx512", lane_kernel_avx512});
    }
#endif
    return list;
  }();
  return sets;
}

const KernelSet& named_set(const std::string& name) {
  std::string known;
  for (const KernelSet& set : kernel_sets()) {
    if (set.name == name) return set;
    known += (known.empty() ? "" : ", ") + set.name;
  }
  throw InputError("GRAZE_CPU = \"" + name + "\": must be one of " + known + " on this processor");
}

std::atomic<const KernelSet*> chosen{nullptr};

const KernelSet& kernel_set() {
  if (const KernelSet* set = chosen.load()) return *set;
  const char* wanted = std::getenv("GRAZE_CPU");
  const KernelSet& set = wanted != nullptr && *wanted != '\0' ? named_set(wanted) : kernel_sets().back();
  chosen = &set;
  return set;
}

// ---- Batches
// -----------------------------------------------------------------------------------------------

constexpr long most_lanes = 128;

/// Where the rows that the bookkeeping touches stand (LaneRows, with sizes known at run time only).
struct Rows {
  int left, to, step, level, impacts, vigour, count;
  Rows(int n, int m, int harmonics) {
    left = 0;
    to = 4 * n;
    step = 6 * n + 4 * m;
    level = step + 8 * n + 6 * n * m + m;
    impacts = level + 9 * m + m * m;
    vigour = impacts + m;
    count = vigour + 1 + 2 * m * harmonics;
  }
};

class ContactCounter final : public Observer {
 public:
  explicit ContactCounter(std::vector<std::int64_t>& impacts) : impacts_(impacts) {}
  void event(const Event& event) override {
    if (event.kind == EventKind::impact) ++impacts_[static_cast<std::size_t>(event.contact)];
  }
  void near_miss(int, double, double) override {}
  void excursion(int, double, double) override {}

 private:
  std::vector<std::int64_t>& impacts_;
};

/// One period by the scalar engine, from wherever the motion stands.
void advance_alone(LaneMotion& motion) {
  ContactCounter counter(motion.impacts);
  motion.outcome =
      motion.system->advance(motion.state, Section{}, motion.impacts.empty() ? nullptr : &counter);
  if (motion.outcome == Outcome::ok && motion.state.x.cwiseAbs().maxCoeff() > beyond_every_scale) {
    motion.outcome = Outcome::unbounded;
  }
}

/// Vectors of the kernels do not cross lines of the cache.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), line)); }
  void deallocate(T* data, std::size_t) { ::operator delete(data, line); }
  bool operator==(const LineAllocator&) const { return true; }
};

/// A motion in a batch.
struct Lane {
  LaneMotion* motion;
  LaneLaw law;
};

/// Lanes with the same cells.
class Batch {
 public:
  Batch(LaneKernel kernel, std::vector<Lane> lanes);
  void advance(int periods, bool record);
  std::int64_t marched = 0, all = 0;

 private:
  std::size_t index(int row, std::size_t lane) const {
    const std::size_t block = lane / lanes_per_block * static_cast<std::size_t>(rows_.count);
    return (block + static_cast<std::size_t>(row)) * lanes_per_block + lane % lanes_per_block;
  }
  double& value(int row, std::size_t lane) { return values_[index(row, lane)]; }
  void board(std::size_t lane);
  void rest(std::size_t lane);
  void leave(std::size_t lane, int cell);
  void put_down(std::size_t lane, int from, int cell);
  void tabulate();
  void record(const std::vector<double*>& to) const;

  LaneKernel kernel_;
  std::vector<Lane> lanes_;
  Rows rows_;
  std::vector<double, LineAllocator<double>> values_;
  std::vector<double> phase_;
  std::vector<double> outside_;  ///< see tabulate
  std::vector<long> queue_;
  std::vector<int> left_at_;
  std::vector<char> marches_;        ///< else it goes alone, and its state is the motion's
  std::vector<std::int64_t> turns_;  ///< marched since it came on board
  LaneBatch batch_;
};

Batch::Batch(LaneKernel kernel, std::vector<Lane> lanes)
    : kernel_(kernel),
      lanes_(std::move(lanes)),
      rows_(lanes_.front().law.dofs, static_cast<int>(lanes_.front().law.contacts.size()),
            static_cast<int>(lanes_.front().law.orders.size())) {
  const LaneLaw& first = lanes_.front().law;
  const std::size_t count = lanes_.size();
  batch_.blocks = (static_cast<long>(count) + lanes_per_block - 1) / lanes_per_block;
  batch_.rows = rows_.count;
  const std::size_t places = static_cast<std::size_t>(batch_.blocks) * lanes_per_block;
  values_.assign(static_cast<std::size_t>(rows_.count) * places, 0.0);
  queue_.assign(4 * places, 0);
  left_at_.assign(places, -1);
  marches_.assign(count, 0);
  turns_.assign(count, 0);
  batch_.values = values_.data();
  batch_.queue = queue_.data();
  batch_.left_at = left_at_.data();
  batch_.cells = first.cells;
  batch_.harmonics = static_cast<int>(first.orders.size());
  for (int j = 0; j < batch_.harmonics; ++j) {
    batch_.rate[j] = 2 * std::numbers::pi * first.orders[static_cast<std::size_t>(j)] / first.cells;
  }
  for (int cell = 0; cell <= first.cells; ++cell) {
    for (const int order : first.orders) {
      const double phase = 2 * std::numbers::pi * (static_cast<double>(order) * cell / first.cells);
      const double third = 2 * std::numbers::pi * order / first.cells / 3;
      phase_.insert(phase_.end(),
                    {std::cos(phase), std::sin(phase), -third * std::sin(phase), third * std::cos(phase)});
    }
  }
  batch_.phase = phase_.data();
  for (std::size_t lane = 0; lane < places; ++lane) {
    const std::vector<double>& rows = lanes_[std::min(lane, count - 1)].law.rows;
    for (std::size_t r = 0; r < rows.size(); ++r) value(rows_.step + static_cast<int>(r), lane) = rows[r];
    rest(lane);
    if (lane < count) board(lane);
  }
}

/// Takes a motion on board where it flies freely at phase zero.
void Batch::board(std::size_t lane) {
  Lane& l = lanes_[lane];
  const HybridState& s = l.motion->state;
  constexpr double far = 1e-9;      // of the gap, off every contact for certain
  constexpr double largest = 1e10;  // what is beyond every scale is told by the scalar engine
  if (s.time != 0 || s.mode != 0 || !s.x.allFinite() || s.x.cwiseAbs().maxCoeff() > largest) return;
  for (const Touch& touch : s.touches) {
    if (touch.order != 0) return;
  }
  Eigen::VectorXd gap, rate;
  l.motion->system->gaps(s, gap, rate);
  const double size = s.x.cwiseAbs().maxCoeff();
  for (const int contact : l.law.contacts) {
    if (!(gap(contact) > far * (size + std::abs(gap(contact))))) return;
  }
  const LaneLaw::Vector y = l.law.inside(s.x);
  for (Eigen::Index i = 0; i < y.size(); ++i) value(rows_.to + static_cast<int>(i), lane) = y(i);
  value(rows_.vigour, lane) = l.law.vigour(y);
  // Not known yet: its first cell is looked into.
  for (int i = 0; i < static_cast<int>(l.law.contacts.size()); ++i) {
    value(rows_.level + i, lane) = -std::numeric_limits<double>::infinity();
  }
  marches_[lane] = 1;
}

/// Nothing moves there.
void Batch::rest(std::size_t lane) {
  const LaneLaw& law = lanes_.front().law;
  for (int i = 0; i < 2 * law.dofs; ++i) value(rows_.to + i, lane) = 0;
  for (int i = 0; i < static_cast<int>(law.contacts.size()); ++i) {
    value(rows_.level + i, lane) = std::numeric_limits<double>::infinity();
  }
}

/// The motion's state from the rows.
void Batch::put_down(std::size_t lane, int from, int cell) {
  Lane& l = lanes_[lane];
  HybridState& s = l.motion->state;
  l.law.outside(&values_[index(from, lane)], lanes_per_block, cell, s.x.data());
  s.time = cell * l.law.cell;
  s.turns += std::exchange(turns_[lane], 0);
  s.mode = 0;
  s.settled = true;
  s.touches.assign(static_cast<std::size_t>(l.motion->system->contacts()), Touch{});
}

/// What the kernel does not do of this period is done alone.
void Batch::leave(std::size_t lane, int cell) {
  put_down(lane, rows_.left, cell);
  rest(lane);
  marches_[lane] = 0;
}

/// What record multiplies with: per block and state what the forces alone make of it and a row of from_modes,
/// lanes side by side.
void Batch::tabulate() {
  const Eigen::Index states = 2 * lanes_.front().law.dofs;
  for (std::size_t first = 0; first < lanes_.size(); first += lanes_per_block) {
    const auto add = [&](const auto& of) {
      for (std::size_t l = first; l < first + lanes_per_block; ++l) {
        outside_.push_back(of(lanes_[std::min(l, lanes_.size() - 1)].law));
      }
    };
    for (Eigen::Index i = 0; i < states; ++i) {
      add([&](const LaneLaw& law) { return law.at_phase_zero(i); });
      for (Eigen::Index j = 0; j < states; ++j) add([&](const LaneLaw& law) { return law.from_modes(i, j); });
    }
  }
}

/// The states at phase zero of all lanes that march, as LaneLaw::outside has them.
void Batch::record(const std::vector<double*>& to) const {
  const int states = 2 * lanes_.front().law.dofs;
  const double* table = outside_.data();
  for (std::size_t first = 0; first < lanes_.size(); first += lanes_per_block) {
    const double* const z = &values_[index(rows_.to, first)];
    const std::size_t count = std::min<std::size_t>(lanes_per_block, lanes_.size() - first);
    for (int i = 0; i < states; ++i) {
      double x[lanes_per_block];
      std::copy(table, table + lanes_per_block, x);
      table += lanes_per_block;
      for (int j = 0; j < states; ++j, table += lanes_per_block) {
        for (int l = 0; l < lanes_per_block; ++l) x[l] += table[l] * z[j * lanes_per_block + l];
      }
      for (std::size_t l = 0; l < count; ++l) {
        if (marches_[first + l] != 0) to[first + l][i] = x[l];
      }
    }
  }
}

void Batch::advance(int periods, bool keep) {
  const std::size_t states = static_cast<std::size_t>(2 * lanes_.front().law.dofs);
  std::vector<double*> place;  // of the next state to be kept, per lane
  if (keep) {
    if (outside_.empty()) tabulate();
    for (Lane& l : lanes_) {
      std::vector<double>& points = l.motion->points;
      const std::size_t before = points.size();
      points.resize(before + states * static_cast<std::size_t>(periods));
      place.push_back(points.data() + before);
    }
  }
  for (int period = 0; period < periods; ++period) {
    std::fill(left_at_.begin(), left_at_.end(), -1);
    const bool some =
        std::any_of(marches_.begin(), marches_.end(), [](char marches) { return marches != 0; });
    if (some) kernel_(batch_);
    if (keep) record(place);
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (marches_[lane] != 0 && left_at_[lane] < 0) {
        ++turns_[lane];
        ++marched;
        ++all;
      } else {
        LaneMotion& motion = *lanes_[lane].motion;
        if (motion.outcome != Outcome::ok) continue;
        ++all;
        if (marches_[lane] != 0) leave(lane, left_at_[lane]);
        advance_alone(motion);
        if (motion.outcome != Outcome::ok) continue;
        if (keep) std::copy(motion.state.x.begin(), motion.state.x.end(), place[lane]);
        board(lane);
      }
      if (keep) place[lane] += states;
    }
  }
  if (keep) {  // a motion that has ended has kept less
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      std::vector<double>& points = lanes_[lane].motion->points;
      points.resize(static_cast<std::size_t>(place[lane] - points.data()));
    }
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    Lane& l = lanes_[lane];
    if (marches_[lane] != 0) put_down(lane, rows_.to, 0);
    for (std::size_t i = 0; i < l.law.contacts.size(); ++i) {
      double& count = value(rows_.impacts + static_cast<int>(i), lane);
      if (!l.motion->impacts.empty()) {
        l.motion->impacts[static_cast<std::size_t>(l.law.contacts[i])] += static_cast<std::int64_t>(count);
      }
      count = 0;
    }
  }
}

}  // namespace

struct Lanes::Fleet {
  std::vector<Batch> batches;
  std::vector<LaneMotion*> alone;
  std::int64_t alone_periods = 0;
};

Lanes::Lanes(std::span<LaneMotion> motions) : fleet_(std::make_unique<Fleet>()) {
  const KernelSet& set = kernel_set();
  std::vector<std::vector<Lane>> groups;  // of the same shape
  const auto alike = [](const LaneLaw& a, const LaneLaw& b) {
    return a.dofs == b.dofs && a.cells == b.cells && a.contacts.size() == b.contacts.size() &&
           a.orders == b.orders;
  };
  LaneModes modes;
  for (LaneMotion& motion : motions) {
    std::optional<LaneLaw> law;
    const auto* source = dynamic_cast<const LinearSource*>(motion.system);
    const auto linear = source != nullptr ? source->linear_law() : std::nullopt;
    if (linear) law = LaneLaw::of(*linear, modes);
    if (!law || set.find_for(*law) == nullptr) {
      fleet_->alone.push_back(&motion);
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<Lane>& g) {
      return g.size() < static_cast<std::size_t>(most_lanes) && alike(g.front().law, *law);
    });
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->push_back({&motion, std::move(*law)});
  }
  for (std::vector<Lane>& group : groups) {
    const LaneKernel kernel = set.find_for(group.front().law);
    fleet_->batches.emplace_back(kernel, std::move(group));
  }
}

Lanes::~Lanes() = default;

void Lanes::advance(int periods, bool record) {
  for (Batch& batch : fleet_->batches) batch.advance(periods, record);
  for (LaneMotion* motion : fleet_->alone) {
    for (int period = 0; period < periods && motion->outcome == Outcome::ok; ++period) {
      advance_alone(*motion);
      ++fleet_->alone_periods;
      if (motion->outcome != Outcome::ok || !record) continue;
      motion->points.insert(motion->points.end(), motion->state.x.begin(), motion->state.x.end());
    }
  }
}

Lanes::Share Lanes::share() const {
  Share share{0, fleet_->alone_periods};
  for (const Batch& batch : fleet_->batches) {
    share.marched += batch.marched;
    share.all += batch.all;
  }
  return share;
}

std::vector<std::string> lane_kernels() {
  std::vector<std::string> names;
  for (const KernelSet& set : kernel_sets()) names.push_back(set.name);
  return names;
}

std::string lane_kernel() { return kernel_set().name; }

void choose_lane_kernel(const std::string& name) { chosen = name.empty() ? nullptr : &named_set(name); }

}  // namespace graze
