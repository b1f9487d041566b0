#include "drivers/plot/attractor_sets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "drivers/command/array_values.hpp"

namespace graze {
namespace {

constexpr double same = 1e-4;    // distance of one attractor from another start, over the range of the states
constexpr double change = 0.08;  // from one parameter value to the next
constexpr double apart = std::numeric_limits<double>::infinity();

/// An attractor at one parameter value, known by the point that was there first.
struct Known {
  std::size_t point;
  std::size_t number;
};

class Sorter {
 public:
  Sorter(const Dataset& data, const Points& points)
      : points_(points),
        states_(points.find("map_state", {"iterate", "state"})),
        period_(points.find("period")),
        iterates_(states_ != nullptr ? data.size("iterate") : 0),
        width_(states_ != nullptr ? data.size("state") : 0),
        count_(data.size(points.parameters().front()->name)),
        ranges_(width_) {
    std::vector<double> low(width_, apart), high(width_, -apart);
    const std::size_t total = states_ != nullptr ? data.elements(*states_) : 0;
    for (std::size_t i = 0; i < total; ++i) {
      const double value = number(*states_, i);
      if (!std::isfinite(value) || std::abs(value) > 1e6) continue;
      low[i % width_] = std::min(low[i % width_], value);
      high[i % width_] = std::max(high[i % width_], value);
    }
    for (std::size_t k = 0; k < width_; ++k) ranges_[k] = high[k] > low[k] ? high[k] - low[k] : 1;
  }

  std::vector<std::size_t> numbers_of_points() {
    std::vector<std::size_t> result(points_.start_names().size() * count_);
    std::vector<Known> before;
    for (std::size_t i = 0; i < count_; ++i) {
      std::vector<std::vector<std::size_t>> groups;
      for (const std::size_t start : points_.starts()) group(groups, points_.first(start) + i);
      const std::vector<Known> here = numbered(groups, before);
      for (std::size_t g = 0; g < groups.size(); ++g)
        for (const std::size_t point : groups[g]) result[point] = here[g].number;
      if (!here.empty()) before = here;
    }
    return result;
  }

 private:
  double period(std::size_t point) const { return period_ == nullptr ? 0 : number(*period_, point); }
  std::size_t length(std::size_t point) const {
    return period(point) >= 1 ? std::min(iterates_, static_cast<std::size_t>(period(point))) : iterates_;
  }
  double distance(std::size_t a, std::size_t i, std::size_t b, std::size_t k) const {
    double greatest = 0;
    for (std::size_t s = 0; s < width_; ++s) {
      const double difference = number(*states_, (a * iterates_ + i) * width_ + s) -
                                number(*states_, (b * iterates_ + k) * width_ + s);
      if (!(std::abs(difference) <= apart)) return apart;
      greatest = std::max(greatest, std::abs(difference) / ranges_[s]);
    }
    return greatest;
  }
  /// How far the first iterates of one motion are from the nearest of another, on the average.
  double distance(std::size_t a, std::size_t b) const {
    constexpr std::size_t enough = 8;
    double sum = 0;
    const std::size_t asked = std::min(enough, length(a));
    for (std::size_t i = 0; i < asked; ++i) {
      double nearest = apart;
      for (std::size_t k = 0; k < length(b); ++k) nearest = std::min(nearest, distance(a, i, b, k));
      sum += nearest / static_cast<double>(asked);
    }
    return asked == 0 ? apart : sum;
  }

  void group(std::vector<std::vector<std::size_t>>& groups, std::size_t point) const {
    if (points_.attractor(point) < 0 || points_.is(point, "failed") || points_.is(point, "unbounded")) return;
    for (std::vector<std::size_t>& other : groups) {
      const std::size_t known = other.front();
      if (points_.attractor(known) != points_.attractor(point) || period(known) != period(point)) continue;
      if (distance(point, known) <= (period(point) >= 1 ? same : change)) {
        other.push_back(point);
        return;
      }
    }
    groups.push_back({point});
  }

  /// Gives each group the number of the attractor that it continues, nearest ones first, else a free one.
  std::vector<Known> numbered(const std::vector<std::vector<std::size_t>>& groups,
                              const std::vector<Known>& before) const {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    struct Match {
      double distance;
      std::size_t group;
      std::size_t number;
    };
    std::vector<Match> matches;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const Known& known : before) {
        const double away = distance(groups[g].front(), known.point);
        if (away <= change) matches.push_back({away, g, known.number});
      }
    std::stable_sort(matches.begin(), matches.end(),
                     [](const Match& a, const Match& b) { return a.distance < b.distance; });
    std::vector<std::size_t> numbers(groups.size(), none);
    const auto taken = [&](std::size_t number) {
      return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
    };
    for (const Match& match : matches)
      if (numbers[match.group] == none && !taken(match.number)) numbers[match.group] = match.number;
    for (std::size_t& number : numbers) {
      if (number != none) continue;
      std::size_t free = 0;
      while (taken(free)) ++free;
      number = free;
    }
    std::vector<Known> here;
    for (std::size_t g = 0; g < groups.size(); ++g) here.push_back({groups[g].front(), numbers[g]});
    return here;
  }

  const Points& points_;
  const Array* states_;
  const Array* period_;
  std::size_t iterates_;
  std::size_t width_;
  std::size_t count_;
  std::vector<double> ranges_;
};

}  // namespace

std::vector<std::size_t> attractor_sets(const Dataset& data, const Points& points) {
  return Sorter(data, points).numbers_of_points();
}

}  // namespace graze
