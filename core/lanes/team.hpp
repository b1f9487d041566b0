/// Motions with the same cells, from section to section: core/lanes/LANES.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/lanes/batch.hpp"
#include "core/lanes/lanes.hpp"
#include "core/lanes/law.hpp"

namespace graze {

/// By the scalar engine, from wherever the motion stands.
void advance_alone(LaneMotion& motion, const Section& section);
/// Where it stands, into what it records; nothing of one that has broken off.
void record_point(LaneMotion& motion);
/// At the end of a period: LaneMotion::growth.
void note_growth(LaneMotion& motion);

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

/// A motion and what the kernels know of it.
struct Lane {
  LaneMotion* motion;
  std::size_t number;         ///< of the motion, among all
  std::vector<LaneLaw> laws;  ///< of its sets
  const LaneLaw& law() const { return laws.front(); }
};

/// Motions that march in the same cells.
class LaneTeam {
 public:
  static constexpr std::size_t most = 256;

  LaneTeam(LaneKernel kernel, LaneKernel carrying, std::vector<Lane> lanes, Lanes::Repeats repeats);
  /// As Lanes::advance.
  void advance(std::span<const int> periods, bool record);
  /// As Lanes::replace, if the motion is one of these.
  void replace(std::size_t number);

  std::int64_t marched = 0, alone = 0, known = 0;  ///< periods so far

 private:
  /// Where the rows that the bookkeeping touches stand (LaneRows, with sizes known at run time only).
  struct Rows {
    int from, to, begun, last, rebound, level, vigour, impacts, constants, count;
    Rows(int n, int m, int constant_rows) {
      from = 0;
      to = 2 * n;
      begun = 4 * n;
      last = begun + 1;
      rebound = begun + 2;
      level = begun + 3;
      vigour = level + m;
      impacts = vigour + 1;
      constants = impacts + m;
      count = constants + constant_rows;
    }
  };

  /// How far a lane is.
  struct Progress {
    std::size_t done = 0;     ///< periods of the advance that is under way …
    std::size_t due = 0;      ///< … and all of them
    std::size_t aboard = 0;   ///< done when it last came on board
    std::uint64_t first = 0;  ///< bits of the first coordinate of its mark
    int to_mark = 1;          ///< periods till the next one
    bool marches = false;     ///< else it goes alone, and its state is the motion's
    bool helped = false;      ///< some of this period has been done alone
    int boards = 0;  ///< cell at which it does, of one that goes alone; all cells: not in this period
  };

  /// All that decides what follows for a lane that marches: z, levels, vigour. Zeros where there is less.
  using Decisive = std::array<double, 2 * LaneLaw::most_dofs + LaneLaw::most_contacts + 1>;

  /// A state that a motion has had at a section: is it there again, all that follows is known. After so many
  /// periods, more and more, a new one is taken.
  struct Mark {
    bool marched = false;               ///< what Progress said
    Decisive rows{};                    ///< if it marched …
    HybridState state;                  ///< … else
    int set = 0;                        ///< in which it marched
    std::vector<std::int64_t> impacts;  ///< counted up to there
    std::size_t periods = 0;            ///< since the beginning; 0: not taken yet
    int span = 1;                       ///< from it to the next one
  };

  std::size_t index(int row, std::size_t lane) const {
    const std::size_t block = lane / lanes_per_block * static_cast<std::size_t>(rows_.count);
    return (block + static_cast<std::size_t>(row)) * lanes_per_block + lane % lanes_per_block;
  }
  double& value(int row, std::size_t lane) { return values_[index(row, lane)]; }
  /// Of the set in which the lane is.
  const LaneLaw& law(std::size_t lane) const {
    return lanes_[lane].laws[sets_.empty() ? 0 : static_cast<std::size_t>(sets_[lane])];
  }
  void enter(std::size_t lane, int set);
  bool is_clear(std::size_t lane, const LaneLaw& law, const LaneLaw::Vector& z, int cell);
  bool arrived(std::size_t first, std::size_t count);
  int left(std::size_t lane, int cell);
  int boards(std::size_t first, std::size_t count, int cell);
  void go_alone(std::size_t lane);
  void told(std::size_t lane, LaneNote note, int contact, double at, double value);
  void arrive_alone(std::size_t lane);
  void look_back(std::size_t lane);
  void repeat(std::size_t lane, std::size_t length, const std::vector<std::int64_t>& before);
  bool is_at(std::size_t lane, const Mark& mark);
  void take(std::size_t lane, Mark& mark);
  Decisive decisive(std::size_t lane) const;
  void set_levels(std::size_t lane, double level);
  double* tangent(std::size_t lane) { return places_[lane].tangents; }
  void bring_tangents();
  void board_tangent(std::size_t lane);
  void take_tangent(std::size_t lane);
  using Block =
      Eigen::Array<double, lanes_per_block, 1>;  ///< whole ones: loops of a known length are quicker
  Block sizes_of_block(std::size_t lane);
  void note_growth_of(std::size_t lane);
  void tabulate_sizes();
  std::size_t close_ranks(std::span<const int> periods);
  void exchange(std::size_t one, std::size_t other);
  void count_impacts(std::size_t lane, std::vector<std::int64_t>& list);
  void park(std::size_t lane);
  void board(std::size_t lane, int cell);
  void rest(std::size_t lane);
  void put_down(std::size_t lane, int from, double cell, bool with_tangent);
  void tabulate_phases();
  void fill_rows();
  void tabulate();
  void record(std::size_t first, std::size_t end);
  /// For all lanes, in whole blocks.
  std::size_t places() const {
    return (lanes_.size() + lanes_per_block - 1) / lanes_per_block * lanes_per_block;
  }
  /// Where so many numbers of a lane begin; the next one stands behind its neighbours'.
  static std::size_t begin_of(std::size_t lane, std::size_t numbers) {
    return lane / lanes_per_block * lanes_per_block * numbers + lane % lanes_per_block;
  }
  /// In `outside_` and `sizes_`.
  std::size_t outside(std::size_t lane) const { return begin_of(lane, states() * (1 + states())); }
  std::size_t sizes(std::size_t lane) const { return begin_of(lane, states() * states()); }
  std::size_t states() const { return 2 * static_cast<std::size_t>(lanes_.front().law().dofs); }

  LaneKernel kernel_, carrying_;
  std::vector<Lane> lanes_;
  std::unordered_map<std::size_t, std::size_t> lane_of_;  ///< of the motion with this number
  Rows rows_;
  std::vector<double, LineAllocator<double>> values_, cards_, tangents_;
  std::vector<LanePlace> places_;
  std::vector<int> sets_;  ///< LaneBatch::sets; nothing where all stops are rigid
  std::vector<double> phase_;
  std::vector<double> outside_;  ///< see tabulate
  std::vector<double> sizes_;    ///< see tabulate_sizes
  std::vector<long> queue_;
  std::vector<Progress> at_;
  std::vector<Mark> marks_;
  Lanes::Repeats repeats_;
  Eigen::VectorXd gap_, gap_rate_;  ///< room for `board`
  // Of the advance that is under way:
  unsigned denormals_ = 0;     ///< how its caller does with them; kernels flush them
  std::vector<double*> kept_;  ///< where its states go; nullptr: it has ended; nothing: they are not kept
  std::vector<std::vector<double>> parked_;  ///< rows of a lane that is done and waits at rest for others
  LaneBatch batch_;
};

}  // namespace graze
