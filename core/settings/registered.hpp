/// A list that source files add to, each by a line of its own.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace graze {

/// Functions that describe something with a `name` (a model, an analysis). An object of this class at
/// namespace scope adds one to the list before main() begins, in whatever program it is linked into.
template <class Info>
class Registered {
 public:
  using Describe = Info (*)();
  /// Describes several, of which none may have the name of one of `others`.
  using DescribeMore = std::vector<Info> (*)(const std::vector<Info>& others);

  explicit Registered(Describe describe) { functions().push_back(describe); }
  explicit Registered(DescribeMore describe) { further().push_back(describe); }

  /// All descriptions in the order of their names, made at the first call. Throws std::logic_error where two
  /// have the same name.
  static const std::vector<Info>& all() {
    static const std::vector<Info> list = described();
    return list;
  }

 private:
  static std::vector<Describe>& functions() {
    static std::vector<Describe> list;
    return list;
  }
  static std::vector<DescribeMore>& further() {
    static std::vector<DescribeMore> list;
    return list;
  }
  static std::vector<Info> described() {
    std::vector<Info> list;
    for (const Describe describe : functions()) list.push_back(describe());
    for (const DescribeMore describe : further()) {
      std::vector<Info> more = describe(list);
      list.insert(list.end(), more.begin(), more.end());
    }
    std::sort(list.begin(), list.end(), [](const Info& a, const Info& b) { return a.name < b.name; });
    const auto twice = std::adjacent_find(list.begin(), list.end(),
                                          [](const Info& a, const Info& b) { return a.name == b.name; });
    if (twice != list.end()) throw std::logic_error("\"" + twice->name + "\" is registered twice");
    return list;
  }
};

}  // namespace graze
