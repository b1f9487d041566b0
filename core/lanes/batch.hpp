/// What the kernels of the marching engine are given: motions side by side, as plain arrays.
/// (core/lanes/LANES.md)
///
/// Included by sources that are compiled for other processors: no inline functions here that others share.
#pragma once

namespace graze {

inline constexpr int lanes_per_block = 8;
inline constexpr int most_classical = 2;  ///< modes: for more of them kernels take any damping as mixing them
inline constexpr int most_impacts = 40;   ///< of a lane in a cell; the rest of them is not the kernel's

/// The rows of a lane, which stand beside those of the seven others of its block: see LanePlace. Time counts
/// in cells.
///
/// The motion along a contact's normal is nᵀx = row · z + nᵀp: p the answer to the forces alone, z the modes
/// of the free rest of it, all q before all p: q' = −a q + p and p' = D q − a p. Where damping is classical
/// (it mixes no modes) positions depend on all q only, and impacts change all p only: the other terms do not
/// stand in the rows.
template <int Dofs, int Contacts, bool Classical>
struct LaneRows {
  static constexpr int modes = 2 * Dofs;  ///< values of z
  static constexpr int terms = Classical ? Dofs : 2 * Dofs;
  static constexpr int from = 0;           ///< z where the cell begins …
  static constexpr int to = from + modes;  ///< … and where it ends
  static constexpr int begun =
      to + modes;  ///< of a lane that leaves: fraction of the cell, z there in `from`, …
  static constexpr int last = begun + 1;           ///< … the contact just left, −1: none, …
  static constexpr int rebound = last + 1;         ///< … and the rate of its gap
  static constexpr int level = rebound + 1;        ///< d less the error bound on this flight
  static constexpr int vigour = level + Contacts;  ///< √Σ(q''''² + k q'''²) on this flight, or more
  static constexpr int impacts = vigour + 1;       ///< counted so far
  // What does not change, of each lane in its `card` too:
  static constexpr int constants = impacts + Contacts;
  static constexpr int step = constants;                 ///< of z over a cell: q to q and p to p, …
  static constexpr int across = step + Dofs;             ///< … p to q, …
  static constexpr int back = across + Dofs;             ///< … q to p
  static constexpr int decay = back + Dofs;              ///< a
  static constexpr int square = decay + Dofs;            ///< D
  static constexpr int form = square + Dofs;             ///< factors of q², qp, p² in vigour²
  static constexpr int value = form + 3 * Dofs;          ///< nᵀx of z, of its first terms
  static constexpr int push = value + Contacts * terms;  ///< M⁻¹n/(nᵀM⁻¹n), as velocities: z's last terms
  static constexpr int position = push + Contacts * terms;  ///< d less what constant forces push away
  static constexpr int stretch = position + Contacts;       ///< |row · z''''| <= stretch × vigour
  static constexpr int driven = stretch + Contacts;         ///< bound of |nᵀp''''|
  static constexpr int kick = driven + Contacts;            ///< vigour of `push`
  static constexpr int margin = kick + Contacts;            ///< of rounding
  static constexpr int restitution = margin + Contacts;
  static constexpr int drag = restitution + Contacts;  ///< nᵀx'' for `push`
  static constexpr int chatter = drag + Contacts;      ///< rebound below this × acceleration: scalar engine
  static constexpr int spill =
      chatter + Contacts;  ///< [i][j]: what `push` of j takes from the gap of i in a cell
  static constexpr int forced =
      spill + Contacts * Contacts;  ///< nᵀp: factors of cos, sin per contact, harmonic
  static constexpr int count(int harmonics) { return forced + 2 * Contacts * harmonics; }
};

inline constexpr int most_harmonics = 4;

/// What a lane with compliant stops has in its card beyond LaneRows, where damping then always counts as
/// mixing the modes. A set is what all of its compliant stops do: open, engaged, recovering. There is a card
/// for each of them; the rows are those of the set in which the lane is. Contacts then are what stands
/// between the motion and its next event: the gap, the force of an engaged stop (over its stiffness), less
/// the gap.
template <int Dofs, int Contacts>
struct SetRows {
  static constexpr int modes = 2 * Dofs;
  /// The set after the event of each contact; −1: the same, after an impact.
  static constexpr int next(int harmonics) { return LaneRows<Dofs, Contacts, false>::count(harmonics); }
  /// 1: zero where this set begins by an event of the contact.
  static constexpr int fresh(int harmonics) { return next(harmonics) + Contacts; }
  static constexpr int counted(int harmonics) { return fresh(harmonics) + Contacts; }  ///< 1: its events are
  /// 1: its event changes nothing that moves.
  static constexpr int passing(int harmonics) { return counted(harmonics) + Contacts; }
  /// What the event takes from the velocities of a tangent, as a kick, per change of the row.
  static constexpr int shock(int harmonics) { return passing(harmonics) + Contacts; }
  /// Of each contact: z in the next set is `over` z and what the forces make of the difference, a constant
  /// and factors of cos, sin for each value.
  static constexpr int over(int harmonics) { return shock(harmonics) + Contacts; }
  static constexpr int over_size(int harmonics) { return modes * (modes + 1 + 2 * harmonics); }
  static constexpr int count(int harmonics) { return over(harmonics) + Contacts * over_size(harmonics); }
};

/// Where the numbers of a lane stand.
struct LanePlace {
  double* rows;        ///< row 0 of the lane; the others follow at every eighth place
  const double* card;  ///< its constants one after the other, so many that vectors are full; then those of
                       ///< its other sets
  double* tangents;    ///< z of its first tangent vector, then of the others, like rows; see LaneBatch
};

/// What LaneBatch::told tells.
enum class LaneNote {
  impact,   ///< of a contact, and its speed
  highest,  ///< a gap turns back: its value
  lowest    ///< a gap turns without an impact: √(2 g g'')
};

struct LaneBatch {
  long blocks = 0;
  const LanePlace* places = nullptr;  ///< of all lanes of all blocks
  int cells = 0;                      ///< in a period
  int harmonics = 0;
  double rate[most_harmonics] = {};  ///< of their phases, per cell
  const double* phase = nullptr;     ///< [cell][harmonic]: cos, sin, their rates; cells + 1 times
  int tangents = 0;       ///< vectors carried along by each lane, as z where a cell begins; at most 2 × Dofs
  int* sets = nullptr;    ///< of each lane, the one in which it is; nullptr: all stops are rigid
  long card = 0;          ///< numbers from the card of one set to that of the next one
  long* queue = nullptr;  ///< room for five entries per lane
  /// Called for a lane that has to go through a cell, or the rest of it, by other means: the rows are then as
  /// after that cell, or as at rest till the lane boards at the cell that it returns.
  int (*left)(void* owner, long lane, int cell) = nullptr;
  /// Called at the beginning of each period, and at cells where some of the lanes first … first + count − 1
  /// board; the next such cell, `cells`: none in this period.
  int (*boards)(void* owner, long first, int count, int cell) = nullptr;
  /// Called at the end of each period of lanes first … first + count − 1: whether they go on with another
  /// one.
  bool (*arrived)(void* owner, long first, int count) = nullptr;
  /// Called for what happens to lanes on the way, of each contact in the order of time; `at`: in cells since
  /// phase zero. nullptr: nobody listens. Only kernels that carry tangents do it, not where stops are
  /// compliant.
  void (*told)(void* owner, long lane, LaneNote note, int contact, double at, double value) = nullptr;
  void* owner = nullptr;
};

/// Marches all lanes, forcing period by forcing period, as long as `arrived` lets them go on.
using LaneKernel = void (*)(LaneBatch&);

/// What a kernel is compiled for.
struct LaneShape {
  int dofs, contacts, harmonics;
  bool classical;
  bool carries;  ///< tangent vectors along
  bool sets;     ///< compliant stops
};

/// The kernel for a shape; nullptr: there is none.
LaneKernel lane_kernel_baseline(const LaneShape& shape);
LaneKernel lane_kernel_avx2(const LaneShape& shape);
LaneKernel lane_kernel_avx512(const LaneShape& shape);
/// Those of compliant stops only.
LaneKernel set_kernel_baseline(const LaneShape& shape);
LaneKernel set_kernel_avx2(const LaneShape& shape);
LaneKernel set_kernel_avx512(const LaneShape& shape);

}  // namespace graze
