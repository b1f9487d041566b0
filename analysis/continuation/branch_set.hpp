/// All branches of a family of orbits found from some starts: continued, joined, switched between.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/budget.hpp"
#include "analysis/continuation/start.hpp"
#include "core/results/checkpoint.hpp"

namespace graze {

struct AtlasOptions {
  ContinuationOptions continuation;
  int generations = 1;  ///< how often in a row to follow what leaves a branch
  Budget::Limits limits;
};

class Atlas {
 public:
  /// On which branch an orbit lies.
  struct Place {
    std::size_t branch = 0;
    double distance = 0;  ///< greatest state
  };

  /// Branches are kept in the journal, and those kept earlier are not computed again.
  Atlas(const Family& family, const AtlasOptions& options, Journal& journal)
      : family_(family),
        options_(options),
        journal_(journal),
        budget_(options.limits, "branches", "period doublings and branch points") {}

  const std::vector<Branch>& branches() const { return branches_; }
  const Budget& budget() const { return budget_; }
  /// Where to look for an orbit: on branches of numbers first <= b < last, as near as that to their points.
  struct Search {
    std::size_t first = 0;
    std::size_t last = static_cast<std::size_t>(-1);
    double near = standing_near;
  };
  /// The place of an orbit on the branches; nothing: it lies on none of them.
  std::optional<Place> find(const Start& start, const Search& search) const;
  std::optional<Place> find(const Start& start) const { return find(start, Search{}); }
  /// The same after adding the branches through it, and those that leave these, where it lies on none.
  /// Nothing: no orbit is found from the start, or there are as many branches as allowed.
  std::optional<Place> take(const Start& start);
  /// Whether Newton's method finds an orbit from a start.
  std::optional<Solution> refined(const Start& start) const;

 private:
  Walk walk(std::size_t known) const;
  bool full() const { return budget_.is_spent(branches_.size()); }
  /// An orbit that leaves a branch.
  struct Departure {
    Solution start;
    Bifurcation at;
    std::string origin;
  };
  bool recall();
  void keep(Branch branch, const std::string& origin);
  void follow_switches(std::size_t first);
  /// Whether a branch ends at a period doubling, its orbits shrinking to the one of half as many periods.
  bool ends_at(const Bifurcation& doubling) const;
  std::vector<Departure> departures(const Bifurcation& at, std::size_t from) const;
  Branch departing(const Departure& departure, std::size_t known, int threads) const;
  void add(const std::vector<Departure>& group);

  const Family& family_;
  AtlasOptions options_;
  Journal& journal_;
  Budget budget_;
  std::vector<Branch> branches_;
};

}  // namespace graze
