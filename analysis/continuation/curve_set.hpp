/// All curves over two parameters found from some located points: followed, joined, switched between.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/continuation/budget.hpp"
#include "analysis/continuation/curve_start.hpp"
#include "core/results/checkpoint.hpp"

namespace graze {

struct Curve {
  BifurcationKind kind = BifurcationKind::fold;
  int contact = -1;
  std::vector<CurvePoint> points;  ///< along the curve
  std::vector<Codim2> codim2;
  std::string origin;  ///< where the start came from
  std::string begins;  ///< why it goes no further at its first point
  std::string ends;    ///< … at its last one
};

struct CurveSetOptions {
  CurveOptions walk;
  bool switching = false;  ///< whether to follow what leaves points of codimension two
  Budget::Limits limits;
};

/// What became of a start.
struct CurveFate {
  int curve = -1;      ///< the curve that it lies on; −1: none
  std::string reason;  ///< why there is none
};

class CurveSet {
 public:
  /// Curves are kept in the journal, and those kept earlier are not computed again.
  CurveSet(Plane plane, const CurveSetOptions& options, Journal& journal)
      : plane_(std::move(plane)),
        options_(options),
        journal_(journal),
        budget_(options.limits, "curves", "points of codimension two") {}

  const std::vector<Curve>& curves() const { return curves_; }
  const Budget& budget() const { return budget_; }
  /// The curve through a point, followed if none of the known ones passes through it, and, where that is
  /// wanted, the curves that leave it.
  CurveFate take(const CurveSeed& seed, const std::string& origin);

 private:
  /// One direction of a curve.
  struct Side {
    std::vector<CurvePoint> points;
    std::vector<Codim2> codim2;
    std::string end;
  };
  std::optional<std::size_t> find(BifurcationKind kind, int contact, const CurvePoint& point,
                                  std::size_t last) const;
  Side walked(const CurveSolution& start, int direction, std::size_t known) const;
  Curve followed(const CurveSolution& start) const;
  bool add(const CurveSolution& start, const std::string& origin);
  void drop_known(std::vector<Codim2>& points) const;
  void follow_switches(std::size_t first);

  Plane plane_;
  CurveSetOptions options_;
  Journal& journal_;
  Budget budget_;
  std::vector<Curve> curves_;
  std::size_t part_ = 0;  ///< number of the next part in the journal
};

}  // namespace graze
