#include "core/lanes/lanes.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/lanes/series/team.hpp"
#include "core/lanes/team.hpp"
#include "core/settings/value.hpp"

namespace graze {
namespace {

struct KernelSet {
  std::string name;
  LaneKernel (*find)(const LaneShape& shape);
  SeriesKernel (*series)();
};

constexpr LaneShape simplest{1, 1, 1, true, false, false};

/// Those that this processor can run, the best one last.
const std::vector<KernelSet>& kernel_sets() {
  static const std::vector<KernelSet> sets = [] {
    std::vector<KernelSet> list = {
        {"none", [](const LaneShape&) -> LaneKernel { return nullptr; }, [] { return SeriesKernel{}; }},
        {"baseline", lane_kernel_baseline, series_kernel_baseline}};
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        lane_kernel_avx2(simplest) != nullptr) {
      list.push_back({"avx2", lane_kernel_avx2, series_kernel_avx2});
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && lane_kernel_avx512(simplest) != nullptr) {
      list.push_back({"avx512", lane_kernel_avx512, series_kernel_avx512});
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

}  // namespace

struct Lanes::Fleet {
  Section section;
  std::span<LaneMotion> motions;
  std::vector<LaneTeam> teams;
  std::vector<std::unique_ptr<SeriesTeam>> series;
  std::vector<std::size_t> alone;
  std::int64_t alone_periods = 0;

  void form_series(SeriesKernel kernel, std::vector<SeriesTeam::Member> members, Repeats repeats);
};

Lanes::Lanes(std::span<LaneMotion> motions, const Section& section, Repeats repeats)
    : fleet_(std::make_unique<Fleet>()) {
  fleet_->section = section;
  fleet_->motions = motions;
  const KernelSet& set = kernel_set();
  const SeriesKernel series = set.series();
  const bool in_cells = section.kind == Section::Kind::stroboscopic && section.phase == 0;
  std::vector<SeriesTeam::Member> members;
  std::vector<Lane> lanes;
  lanes.reserve(motions.size());
  LaneModesOfSets modes;
  for (std::size_t k = 0; k < motions.size(); ++k) {
    std::vector<LaneLaw> laws;
    if (const auto linear = motions[k].system->linear_law(); linear && in_cells)
      laws = LaneLaw::of(*linear, modes);
    const auto smooth = motions[k].system->series_law();
    if (!laws.empty() && set.find(laws.front().shape(false)) != nullptr) {
      lanes.push_back({&motions[k], k, std::move(laws)});
    } else if (smooth && series.width > 0 && SeriesTeam::takes(*smooth, section)) {
      members.push_back({&motions[k], k, *smooth, {}});
    } else {
      fleet_->alone.push_back(k);
    }
  }
  fleet_->form_series(series, std::move(members), repeats);
  // Those most alike side by side, in whatever order they come: they tend to be hit in the same cells.
  const auto shape = [](const Lane& l) {
    const LaneLaw& law = l.law();
    return std::make_tuple(law.dofs, law.classical, law.cells, std::cref(law.contacts), std::cref(law.orders),
                           l.laws.size());
  };
  std::vector<std::size_t> order(lanes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto one = shape(lanes[a]), other = shape(lanes[b]);
    return one != other ? one < other : lanes[a].law().rows < lanes[b].law().rows;
  });
  std::vector<Lane> team;
  for (std::size_t k = 0; k < order.size(); ++k) {
    team.reserve(LaneTeam::most);
    team.push_back(std::move(lanes[order[k]]));
    const bool last = k + 1 == order.size() || team.size() == LaneTeam::most ||
                      shape(lanes[order[k + 1]]) != shape(team.back());
    if (!last) continue;
    const LaneLaw& law = team.front().law();
    const LaneKernel kernel = set.find(law.shape(false)), carrying = set.find(law.shape(true));
    fleet_->teams.emplace_back(kernel, carrying, std::exchange(team, {}), repeats);
  }
}

/// Of the series: all that are alike.
void Lanes::Fleet::form_series(SeriesKernel kernel, std::vector<SeriesTeam::Member> members,
                               Repeats repeats) {
  while (!members.empty()) {
    const SeriesLaw law = members.front().law;
    const auto others = std::stable_partition(
        members.begin(), members.end(),
        [&](const SeriesTeam::Member& member) { return SeriesTeam::alike(member.law, law); });
    std::vector<SeriesTeam::Member> team(members.begin(), others);
    members.erase(members.begin(), others);
    series.push_back(std::make_unique<SeriesTeam>(kernel, std::move(team), section, repeats));
  }
}

Lanes::~Lanes() = default;

void Lanes::advance(int iterates, bool record) {
  advance(std::vector<int>(fleet_->motions.size(), iterates), record);
}

void Lanes::advance(std::span<const int> iterates, bool record) {
  for (LaneTeam& team : fleet_->teams) team.advance(iterates, record);
  for (const auto& team : fleet_->series) team->advance(iterates, record);
  for (const std::size_t k : fleet_->alone) {
    LaneMotion& motion = fleet_->motions[k];
    for (int done = 0; done < iterates[k] && motion.outcome == Outcome::ok; ++done) {
      advance_alone(motion, fleet_->section);
      if (motion.outcome == Outcome::ok) note_growth(motion);
      ++fleet_->alone_periods;
      if (record) record_point(motion);
    }
  }
}

bool Lanes::can_tell(const System& system) {
  const auto law = system.linear_law();
  return law && std::all_of(law->law.begin(), law->law.end(), [](StopLaw l) { return l == StopLaw::rigid; });
}

void Lanes::replace(std::size_t k) {
  for (LaneTeam& team : fleet_->teams) team.replace(k);
  for (const auto& team : fleet_->series) team->replace(k);
}

Lanes::Share Lanes::share() const {
  Share share{0, 0, fleet_->alone_periods};
  for (const LaneTeam& team : fleet_->teams) {
    share.marched += team.marched;
    share.known += team.known;
    share.all += team.marched + team.alone + team.known;
  }
  for (const auto& team : fleet_->series) {
    share.marched += team->stepped;
    share.known += team->known;
    share.all += team->stepped + team->alone + team->known;
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
