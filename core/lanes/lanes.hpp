/// Many motions side by side, in the vectors of the processor: core/lanes/LANES.md,
/// core/lanes/series/SERIES.md.
///
/// Marching changes nothing of what is computed: the events are those of System::advance, one motion after
/// the other, and states agree with it to rounding. What a motion does does not depend on those beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/system/event.hpp"
#include "core/system/outcome.hpp"
#include "core/system/system.hpp"

namespace graze {

/// One of many motions.
struct LaneMotion {
  System* system = nullptr;
  HybridState state;                  ///< where it stands
  Outcome outcome = Outcome::ok;      ///< not ok: it has broken off there
  std::vector<double> points;         ///< recorded states, one after the other
  std::vector<std::int64_t> impacts;  ///< per contact, added up while no tangents are carried; nothing: not
                                      ///< counted
  /// Changes of the state, in columns, that are carried along in first order; nothing: none.
  Eigen::MatrixXd tangent{};
  /// … and of the time at which a forced motion meets its section; nothing: none of these.
  Eigen::RowVectorXd tangent_time{};
  /// Where one is carried: its size (size_of) after each period, for the next one it is scaled to 1. (0: it
  /// stays zero.)
  std::vector<double> growth{};
  /// A motion larger than this (size_of) is given up as unbounded.
  double bound = std::numeric_limits<double>::infinity();
  struct Stamp {
    double time;
    std::int64_t turns;
  };
  /// Of the recorded states; none where the kernels march in cells, from phase zero to phase zero.
  std::vector<Stamp> stamps{};
  /// Hears of all that happens, then in place of `impacts`; of a system that Lanes::can_tell, which carries
  /// no tangents meanwhile. nullptr: nobody.
  Observer* observer = nullptr;
};

/// Motions that move together from one section to the next.
class Lanes {
 public:
  /// What happens when a motion comes back to a state that it had at an earlier section, to the last bit, as
  /// attracted ones do: the periods from there on are known, to the last bit, or are gone through all the
  /// same.
  enum class Repeats { known, gone_through };
  /// The motions stay where they are in memory as long as this lives. A motion whose system has neither
  /// LinearLaw nor SeriesLaw, or one that no kernel is made for, goes by System::advance; so do all with a
  /// LinearLaw on other sections than the stroboscopic one at phase zero.
  explicit Lanes(std::span<LaneMotion> motions, const Section& section = {},
                 Repeats repeats = Repeats::known);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// So many iterates of every motion, the states at their ends recorded in its points or not.
  void advance(int iterates, bool record);
  /// The same with so many iterates of each, and with tangents: as many of all that go.
  void advance(std::span<const int> iterates, bool record);

  /// Whether LaneMotion::observer hears of all events of such a motion: it has a LinearLaw, and no compliant
  /// stops.
  static bool can_tell(const System& system);

  /// Motion number k, at the end of a period, is somewhere else from now on: its state has been changed.
  void replace(std::size_t k);

  /// Iterates so far.
  struct Share {
    std::int64_t marched = 0;  ///< that the kernels have done from beginning to end
    std::int64_t known = 0;    ///< that were known
    std::int64_t all = 0;
  };
  Share share() const;

 private:
  struct Fleet;
  std::unique_ptr<Fleet> fleet_;
};

/// Names of the kernels that this processor can run, the best one last, and "none": everything goes by
/// System::advance.
std::vector<std::string> lane_kernels();
/// The one in use: what the environment variable GRAZE_CPU names, else the best. Throws InputError when it
/// names none of lane_kernels().
std::string lane_kernel();
/// Chooses another one, for all threads; an empty name: as at the start.
void choose_lane_kernel(const std::string& name);

}  // namespace graze
