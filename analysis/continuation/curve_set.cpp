#include "analysis/continuation/curve_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "analysis/continuation/branch_part.hpp"
#include "analysis/run/execute.hpp"

namespace graze {
namespace {

const std::string closed = "the curve is closed";

/// Whether a point lies between two neighbours of a curve: in the plane, and its orbit likewise.
bool lies_between(const Plane& plane, const CurvePoint& p, const CurvePoint& a, const CurvePoint& b) {
  constexpr double near = 5e-4;   // of the ranges
  constexpr double bulge = 0.05;  // of the distance of neighbours: so far may a curve be from their line
  constexpr double alike = 1e-2;  // of the orbit's size
  const auto place = [&](const CurvePoint& c) -> Eigen::Vector2d {
    return {c.orbit.parameter / plane.widths[0], c.second / plane.widths[1]};
  };
  const Eigen::Vector2d way = place(b) - place(a);
  const Eigen::Vector2d there = place(p) - place(a);
  const double square = way.squaredNorm();
  const double share = square > 0 ? std::clamp(way.dot(there) / square, 0.0, 1.0) : 0;
  if (!((there - share * way).norm() <= std::min(near, bulge * std::sqrt(square)))) return false;
  if (a.orbit.orbit.empty() || b.orbit.orbit.empty()) return false;
  const Eigen::VectorXd between =
      a.orbit.orbit.front() + share * (b.orbit.orbit.front() - a.orbit.orbit.front());
  return std::any_of(p.orbit.orbit.begin(), p.orbit.orbit.end(), [&](const Eigen::VectorXd& state) {
    return (state - between).cwiseAbs().maxCoeff() <= alike * a.orbit.size;
  });
}

bool lies_on(const Plane& plane, const CurvePoint& p, std::span<const CurvePoint> points) {
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    // Curves of orbits with one impact more each accumulate at a chatter border.
    const Signature& events = p.orbit.signature;
    if (!(points[k].orbit.signature == events || points[k + 1].orbit.signature == events)) continue;
    if (lies_between(plane, p, points[k], points[k + 1])) return true;
  }
  return false;
}

/// Whether two located points are one, whichever curve has come to them.
bool is_same(const Plane& plane, const Codim2& a, const Codim2& b) {
  constexpr double near = 1e-6;        // of the ranges
  constexpr double same_state = 1e-4;  // of the orbit's size
  if (a.kind != b.kind || a.sense != b.sense) return false;
  if (!(std::abs(a.at.parameter - b.at.parameter) <= near * plane.widths[0] &&
        std::abs(a.second - b.second) <= near * plane.widths[1]))
    return false;
  return std::any_of(b.at.orbit.begin(), b.at.orbit.end(), [&](const Eigen::VectorXd& state) {
    return !((state - a.at.orbit.front()).cwiseAbs().maxCoeff() > same_state * a.at.size);  // or not known
  });
}

}  // namespace

std::optional<std::size_t> CurveSet::find(BifurcationKind kind, int contact, const CurvePoint& point,
                                          std::size_t last) const {
  for (std::size_t k = 0; k < std::min(last, curves_.size()); ++k) {
    if (curves_[k].kind == kind && curves_[k].contact == contact && lies_on(plane_, point, curves_[k].points))
      return k;
  }
  return std::nullopt;
}

CurveSet::Side CurveSet::walked(const CurveSolution& start, int direction, std::size_t known) const {
  constexpr std::size_t recent = 30;  // points behind that are not taken for an earlier passage
  constexpr double same = 1e-12;      // of the ranges
  constexpr double met = 1e-4;
  const CurveCondition& condition = start.equations->condition();
  Side side;
  CurveWalk walk(start, direction, options_.walk);
  while (side.end.empty() && walk.next()) {
    side.codim2.insert(side.codim2.end(), walk.passed().begin(), walk.passed().end());
    side.points.push_back(walk.point());
    if (!walk.end().empty()) break;
    if (const auto on = find(condition.kind, condition.contact, walk.point(), known))
      side.end = "goes on as curve " + std::to_string(*on);
    const std::span<const CurvePoint> all(side.points);
    if (all.size() > recent && lies_on(plane_, all.back(), all.first(all.size() - recent))) side.end = closed;
    if (side.end.empty() && budget_.late()) side.end = used_up;
  }
  if (side.end.empty()) side.end = walk.end();
  const auto meeting = walk.at_half() ? halves_meet_near(walk.solution(), options_.walk) : std::nullopt;
  if (meeting) {
    // What the doubled orbits have there, is that point of the single ones.
    const auto place = [](const Codim2& c) { return Eigen::Vector2d(c.at.parameter, c.second); };
    std::erase_if(side.codim2, [&](const Codim2& c) {
      return c.kind == Codim2Kind::double_grazing || plane_.distance(place(c), place(*meeting)) <= met;
    });
    side.codim2.push_back(*meeting);
    side.end = codim2_names()[static_cast<std::size_t>(meeting->kind)] +
               ": behind it come the same orbits, half a turn later";
  }
  const auto values = [](const CurvePoint& p) { return Eigen::Vector2d(p.orbit.parameter, p.second); };
  const bool ends_at_start =
      side.points.size() == 1 && plane_.distance(values(side.points.front()), values(start.point)) <= same;
  if (ends_at_start) side.points.clear();
  return side;
}

Curve CurveSet::followed(const CurveSolution& start) const {
  std::array<Side, 2> sides;
  call_each(journal_.threads, sides.size(),
            [&](std::size_t k) { sides[k] = walked(start, k == 0 ? -1 : 1, curves_.size()); });
  auto& [back, ahead] = sides;
  Curve curve;
  curve.kind = start.equations->condition().kind;
  curve.contact = start.equations->condition().contact;
  curve.points.assign(back.points.rbegin(), back.points.rend());
  curve.points.push_back(start.point);
  curve.codim2.assign(back.codim2.rbegin(), back.codim2.rend());
  curve.begins = curve.ends = back.end;
  if (back.end == closed) return curve;  // the other way come the same points
  curve.points.insert(curve.points.end(), ahead.points.begin(), ahead.points.end());
  curve.codim2.insert(curve.codim2.end(), ahead.codim2.begin(), ahead.codim2.end());
  curve.ends = ahead.end;
  return curve;
}

/// Follows the curve from a start, or takes it from the journal; false: it is that point alone.
bool CurveSet::add(const CurveSolution& start, const std::string& origin) {
  const std::size_t number = part_++;
  if (const auto kept = journal_.recall(number)) {
    curves_.push_back(unpacked_curve(*kept));
  } else {
    curves_.push_back(followed(start));
    curves_.back().origin = origin;
    drop_known(curves_.back().codim2);
    if (!journal_.stop()) journal_.keep(number, packed(curves_.back()));
  }
  if (curves_.back().points.size() > 1) return true;
  curves_.pop_back();
  return false;
}

/// Without points that other curves have come to before.
void CurveSet::drop_known(std::vector<Codim2>& points) const {
  std::vector<Codim2> fresh;
  for (Codim2& c : points) {
    const auto same = [&](const Codim2& k) { return is_same(plane_, k, c); };
    const bool known = std::any_of(fresh.begin(), fresh.end(), same) ||
                       std::any_of(curves_.begin(), curves_.end() - 1, [&](const Curve& other) {
                         return std::any_of(other.codim2.begin(), other.codim2.end(), same);
                       });
    if (!known) fresh.push_back(std::move(c));
  }
  points = std::move(fresh);
}

CurveFate CurveSet::take(const CurveSeed& seed, const std::string& origin) {
  const CurveStart start = start_curve(plane_, seed);
  if (!start.solution) return {-1, start.reason};
  const CurveCondition& condition = start.solution->equations->condition();
  if (const auto on = find(condition.kind, condition.contact, start.solution->point, curves_.size()))
    return {static_cast<int>(*on), ""};
  if (budget_.is_spent(curves_.size())) {
    budget_.leave_start();
    return {-1, budget_.reason()};
  }
  const std::size_t number = curves_.size();
  if (!add(*start.solution, origin))
    return {-1, "no further point of the curve is found in either direction"};
  if (options_.switching) follow_switches(number);
  return {static_cast<int>(number), ""};
}

/// The curves that leave points of codimension two of the curves from number `first` on, and of those.
void CurveSet::follow_switches(std::size_t first) {
  for (std::size_t k = first; k < curves_.size(); ++k) {
    const std::vector<Codim2> points = curves_[k].codim2;
    for (const Codim2& at : points) {
      if (journal_.stop()) return;
      if (budget_.is_spent(curves_.size())) {
        budget_.leave_point();
        continue;
      }
      for (const CurveSolution& start : emanating(plane_, at)) {
        if (journal_.stop()) return;
        if (budget_.is_spent(curves_.size())) {
          budget_.leave_point();
          break;
        }
        const CurveCondition& condition = start.equations->condition();
        if (find(condition.kind, condition.contact, start.point, curves_.size())) continue;
        add(start, codim2_names()[static_cast<std::size_t>(at.kind)] + " of curve " + std::to_string(k));
      }
    }
  }
}

}  // namespace graze
