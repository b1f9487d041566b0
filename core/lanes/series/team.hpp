/// Motions that the same list of operations moves, from section to section: core/lanes/series/SERIES.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/equations/motion_program.hpp"
#include "core/lanes/lanes.hpp"
#include "core/lanes/series/batch.hpp"
#include "core/lanes/series/list.hpp"
#include "core/lanes/team.hpp"
#include "core/system/compliant_stop.hpp"
#include "core/system/series_law.hpp"

namespace graze {

class SeriesTeam {
 public:
  /// A motion and what its system tells.
  struct Member {
    LaneMotion* motion;
    std::size_t number;  ///< of the motion, among all
    SeriesLaw law;
    /// A state of the past that later ones are compared with.
    struct Mark {
      HybridState state{};
      std::vector<std::int64_t> impacts{};
      int since = 0;              ///< iterates
      int span = 1;               ///< … till another one takes its place
      std::int64_t iterates = 0;  ///< of the motion, when it was taken
    };
    Mark mark{};
  };

  /// Whether kernels move such a motion from one of these sections to the next.
  static bool takes(const SeriesLaw& law, const Section& section);
  /// Whether two motions may be in one team.
  static bool alike(const SeriesLaw& a, const SeriesLaw& b);

  SeriesTeam(SeriesKernel kernel, std::vector<Member> members, const Section& section,
             Lanes::Repeats repeats);
  SeriesTeam(const SeriesTeam&) = delete;
  SeriesTeam& operator=(const SeriesTeam&) = delete;
  /// As Lanes::advance.
  void advance(std::span<const int> iterates, bool record);
  /// As Lanes::replace, if the motion is one of these.
  void replace(std::size_t number);

  std::int64_t stepped = 0, alone = 0, known = 0;  ///< iterates so far

 private:
  using Values = std::vector<double, LineAllocator<double>>;

  /// The list that moves the states, or their changes, too.
  struct Flow {
    std::optional<SeriesProgram> program{};
    std::vector<const double*> weighed{};
  };
  void lay_out();
  Flow lay_out(const Program& program) const;
  void carry(int tangents);
  SeriesContact contact(const MotionProgram::Contact& given);
  double& value(int row, int lane) {
    return rows_[static_cast<std::size_t>(row) * static_cast<std::size_t>(kernel_.width) +
                 static_cast<std::size_t>(lane)];
  }
  double& change(int tangent, int i, int lane) {
    const int row = tangent * (batch_.states + 1) + i;
    return changes_[static_cast<std::size_t>(row) * static_cast<std::size_t>(kernel_.width) +
                    static_cast<std::size_t>(lane)];
  }
  const double* fixed_rows() const {
    return rows_.data() + static_cast<long>(batch_.row.fixed) * kernel_.width;
  }
  long stride() const { return static_cast<long>(batch_.order + 1) * kernel_.width; }
  LaneMotion& motion(int lane) { return *members_[at_[static_cast<std::size_t>(lane)].member].motion; }
  /// Whether its section is a phase of the forcing.
  bool is_stroboscopic(int lane) const {
    return section_.kind == Section::Kind::stroboscopic && law(lane).period > 0;
  }
  const SeriesLaw& law(int lane) const { return members_[at_[static_cast<std::size_t>(lane)].member].law; }
  Spring spring(int lane, int contact) const;
  std::optional<std::size_t> touch_of(int lane, int guard);
  bool next(int lane);
  bool go_on(int lane);
  void settle(int lane);
  bool board(int lane);
  double deadline(const SeriesLaw& law, double time) const;
  void board_tangent(int lane);
  void put_down(int lane);
  void hand_over(int lane);
  void take_state(int lane);
  void take_tangent(int lane);
  void iterate_alone(int lane);
  void finish_iterate(int lane);
  struct Place;
  void look_back(Member& member, Place& at);
  void repeat(Member& member, Place& at);

  SeriesKernel kernel_;
  std::vector<Member> members_;
  Section section_;
  Lanes::Repeats repeats_;
  SeriesBatch batch_;
  Flow flow_, varied_;
  std::vector<SeriesSlope> slopes_;
  std::vector<const double*> weighed_;
  std::vector<std::unique_ptr<SeriesProgram>> programs_;
  std::vector<SeriesContact> contacts_;
  std::vector<int> force_contacts_;  ///< compliant contacts whose force is a guard
  std::vector<SeriesSwitched> switched_;
  Values rows_, polynomials_, changes_, change_series_;

  /// What a lane is at.
  struct Place {
    std::size_t member = 0;
    int done = 0;  ///< iterates of the advance that is under way …
    int due = 0;   ///< … and all of them
  };
  std::vector<Place> at_;
  std::size_t waiting_ = 0;        ///< member that comes next
  std::span<const int> iterates_;  ///< of the advance that is under way
  bool record_ = false;
  unsigned denormals_ = 0;
};

}  // namespace graze
