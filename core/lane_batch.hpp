/// What the kernels of the marching engine are given: motions side by side, as plain arrays. (core/LANES.md)
///
/// Included by sources that are compiled for other processors: no inline functions here that others share.
#pragma once

namespace graze {

inline constexpr int lanes_per_block = 8;

/// Where the rows of a block of lanes stand: row r of lane l in block b at values[(b * rows + r) * 8 + l].
/// Time counts in cells.
///
/// Coordinates ξ are chosen so that the first `Free` contacts are coordinates, n_iᵀ q = ξ_i; the others have
/// rows `normal`. The motion is ξ = y + p, p the answer to the forces alone, y'' = −K y − C y'.
template <int Dofs, int Contacts, int Free>
struct LaneRows {
  static constexpr int symmetric = Dofs * (Dofs + 1) / 2;
  static constexpr int left = 0;                                  ///< y and y' where a lane has left …
  static constexpr int from = left + 2 * Dofs;                    ///< … where the cell begins
  static constexpr int to = from + 2 * Dofs;                      ///< … and where it ends
  static constexpr int step = to + 2 * Dofs;                      ///< e^{A}, row by row
  static constexpr int stiffness = step + 4 * Dofs * Dofs;        ///< −M⁻¹K
  static constexpr int damping = stiffness + Dofs * Dofs;         ///< −M⁻¹C
  static constexpr int mass = damping + Dofs * Dofs;              ///< M, upper triangle
  static constexpr int normal = mass + symmetric;                 ///< n_i for i >= Free
  static constexpr int push = normal + (Contacts - Free) * Dofs;  ///< M⁻¹n/(nᵀM⁻¹n)
  static constexpr int position = push + Contacts * Dofs;         ///< d less what constant forces push away
  static constexpr int level = position + Contacts;               ///< d less the error bound on this flight
  static constexpr int stretch = level + Contacts;   ///< √(nᵀM⁻¹n): |nᵀy''''| <= stretch √(2E)
  static constexpr int driven = stretch + Contacts;  ///< bound of |nᵀp''''|
  static constexpr int kick = driven + Contacts;     ///< √(2E) of M⁻¹n/(nᵀM⁻¹n)
  static constexpr int margin = kick + Contacts;     ///< of rounding
  static constexpr int restitution = margin + Contacts;
  static constexpr int chatter =
      restitution + Contacts;                        ///< rebound below this × acceleration: scalar engine
  static constexpr int reach = chatter + Contacts;   ///< impact below this: scalar engine
  static constexpr int impacts = reach + Contacts;   ///< counted so far
  static constexpr int vigour = impacts + Contacts;  ///< bound of √(2E) on this flight
  static constexpr int forced = vigour + 1;          ///< nᵀp: factors of cos, sin per contact and harmonic
  static constexpr int count(int harmonics) { return forced + 2 * Contacts * harmonics; }
};

inline constexpr int most_harmonics = 4;

struct LaneBatch {
  double* values = nullptr;
  long blocks = 0;
  long rows = 0;
  int cells = 0;  ///< in a period
  int harmonics = 0;
  double rate[most_harmonics] = {};  ///< of their phases, per cell
  const double* phase = nullptr;     ///< [cell][harmonic]: cos, sin, a third of their rates; cells + 1 times
  long* queue = nullptr;             ///< room for three entries per lane
  int* left_at = nullptr;  ///< per lane: the cell in which it left for the scalar engine, −1: it did not
};

/// Marches all lanes one forcing period.
using LaneKernel = void (*)(LaneBatch&);

/// What a kernel is called, and the one for these sizes; nullptr: it has none.
LaneKernel lane_kernel_baseline(int dofs, int contacts, int harmonics);
LaneKernel lane_kernel_avx2(int dofs, int contacts, int harmonics);
LaneKernel lane_kernel_avx512(int dofs, int contacts, int harmonics);

}  // namespace graze
