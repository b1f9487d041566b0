/// Power series of the solution of a differential equation, built coefficient by coefficient.
///
/// The right-hand side is an ordinary function templated on its scalar. Evaluated once, with `Series`, it
/// works out coefficient 0 of every intermediate result, and a `Tape` notes the rules by which the others
/// come from the coefficients below; then every order is one pass over these rules. The scalar S of the
/// coefficients may be a dual number.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/math/dual.hpp"
#include "core/math/series_reach.hpp"
#include "core/math/series_rules.hpp"

namespace graze {

inline double constant(double, double value) { return value; }
template <int N>
Dual<N> constant(const Dual<N>&, const Dual<N>& value) {
  return value;
}

template <class S>
S square(const S& a) {
  return a * a;
}

/// (sin a, cos a) of plain and dual numbers.
inline std::pair<double, double> sine_cosine(double a) { return {std::sin(a), std::cos(a)}; }
template <int N>
std::pair<Dual<N>, Dual<N>> sine_cosine(const Dual<N>& a) {
  const double s = std::sin(a.value);
  const double c = std::cos(a.value);
  return {chain(a, s, c), chain(a, c, -s)};
}

template <class S>
class Tape;

/// One variable or intermediate result. Valid until its tape begins a new expansion.
template <class S>
class Series {
 public:
  Series() = default;
  Series(Tape<S>& tape, S* coefficients) : tape_(&tape), coefficients_(coefficients) {}

  S* coefficients() const { return coefficients_; }
  S& operator[](int k) { return coefficients_[k]; }
  const S& operator[](int k) const { return coefficients_[k]; }
  Tape<S>& tape() const { return *tape_; }
  /// The same, whose coefficients from the second order on are known to be zero.
  Series straight() const {
    Series r = *this;
    r.straight_ = true;
    return r;
  }
  bool is_straight() const { return straight_; }

  Series& operator+=(const Series& b) { return *this = *this + b; }
  Series& operator-=(const Series& b) { return *this = *this - b; }

  friend Series operator+(const Series& x, const Series& y) {
    return x.with(y, [](const S* a, const S* b, int k) { return a[k] + b[k]; });
  }
  friend Series operator-(const Series& x, const Series& y) {
    return x.with(y, [](const S* a, const S* b, int k) { return a[k] - b[k]; });
  }
  friend Series operator-(const Series& x) {
    return x.next([](const S* a, int k) { return -a[k]; });
  }
  friend Series operator*(const Series& x, const Series& y) {
    return x.with(y, [](const S* a, const S* b, int k) { return series::product(a, b, k); });
  }
  friend Series operator/(const Series& x, const Series& y) {
    const Series r = x.tape_->take();
    x.tape_->follow([a = x.coefficients_, b = y.coefficients_, r = r.coefficients_,
                     inverse = x.tape_->take().coefficients_](int k) {
      if (k == 0) {
        inverse[0] = S(1) / b[0];
        r[0] = a[0] / b[0];
      } else {
        r[k] = series::quotient(a, b, r, inverse[0], k);
      }
    });
    return r;
  }
  friend Series operator+(const Series& x, const S& b) {
    return x.linear([b](const S* a, int k) { return k == 0 ? a[0] + b : a[k]; });
  }
  friend Series operator-(const Series& x, const S& b) {
    return x.linear([b](const S* a, int k) { return k == 0 ? a[0] - b : a[k]; });
  }
  friend Series operator-(const S& a, const Series& y) {
    return y.linear([a](const S* b, int k) { return k == 0 ? a - b[0] : -b[k]; });
  }
  friend Series operator*(const Series& x, const S& b) {
    return x.linear([b](const S* a, int k) { return a[k] * b; });
  }
  friend Series operator/(const Series& x, const S& b) { return x * S(S(1) / b); }
  friend Series operator+(const S& a, const Series& b) { return b + a; }
  friend Series operator*(const S& a, const Series& b) { return b * a; }

  /// A number that does not change, on the tape of `like`.
  friend Series constant(const Series& like, const S& value) {
    return like.next([value](const S*, int k) { return k == 0 ? value : S(0); });
  }
  friend Series square(const Series& x) {
    return x.next([](const S* a, int k) { return series::square(a, k); });
  }
  friend Series sqrt(const Series& x) {
    const Series r = x.tape_->take();
    x.tape_->follow(
        [a = x.coefficients_, r = r.coefficients_, inverse = x.tape_->take().coefficients_](int k) {
          using std::sqrt;
          if (k == 0) {
            r[0] = sqrt(a[0]);
            inverse[0] = S(0.5) / r[0];
          } else {
            r[k] = series::root(a, r, inverse[0], k);
          }
        });
    return r;
  }
  /// (sin x, cos x).
  friend std::pair<Series, Series> sine_cosine(const Series& x) { return x.tape_->sine_cosine_of(x); }
  friend Series sin(const Series& a) { return sine_cosine(a).first; }
  friend Series cos(const Series& a) { return sine_cosine(a).second; }

 private:
  /// The series with coefficients rule(coefficients of this one, k).
  template <class Rule>
  Series next(const Rule& rule) const {
    const Series result = tape_->take();
    tape_->follow([rule, a = coefficients_, r = result.coefficients_](int k) { r[k] = rule(a, k); });
    return result;
  }
  /// … by a rule that leaves a straight series straight.
  template <class Rule>
  Series linear(const Rule& rule) const {
    const Series result = next(rule);
    return straight_ ? result.straight() : result;
  }
  /// … rule(coefficients of this one, of another one, k).
  template <class Rule>
  Series with(const Series& other, const Rule& rule) const {
    return next([rule, b = other.coefficients_](const S* a, int k) { return rule(a, b, k); });
  }

  Tape<S>* tape_ = nullptr;
  S* coefficients_ = nullptr;
  bool straight_ = false;
};

/// Where series live, in blocks, so that none moves when one more is taken; and how they go on.
template <class S>
class Tape {
 public:
  /// Starts over, for series up to this order.
  void begin(int highest) {
    stride_ = static_cast<std::size_t>(highest) + 1;
    if (stride_ > most_) {
      most_ = stride_;
      blocks_.clear();
    }
    watched_.clear();
    rules_.clear();
    angles_.clear();
    enter(0);
  }
  /// A variable, whose coefficients are filled from outside, each before those of the results; or a result,
  /// whose coefficients a rule fills.
  Series<S> take() {
    if (static_cast<std::size_t>(end_ - next_) < stride_) [[unlikely]]
      enter(block_ + 1);
    Series<S> r(*this, next_);
    next_ += stride_;
    return r;
  }
  /// Does rule(k), or rule(k, rows), now for k = 0, later for every further order.
  template <class Rule>
  [[gnu::noinline]] void follow(const Rule& rule, std::span<S* const> rows = {}) {
    apply(rule, rows.data(), 0);
    note(rule, rows);
  }
  /// Sine and cosine, worked out once for each series.
  std::pair<Series<S>, Series<S>> sine_cosine_of(const Series<S>& angle) {
    for (const auto& [known, sine, cosine] : angles_) {
      if (known == angle.coefficients()) return {sine, cosine};
    }
    const Series<S> sine = take();
    const Series<S> cosine = take();
    follow([a = angle.coefficients(), s = sine.coefficients(), c = cosine.coefficients(),
            rates = take().coefficients(), straight = angle.is_straight()](int k) {
      if (k == 0) {
        std::tie(s[0], c[0]) = sine_cosine(a[0]);
      } else if (straight) {
        series::turn(a, s, c, k);
      } else {
        rates[k] = series::rate(a, k);
        const auto [of_c, of_s] = series::integrals(rates, c, s, k);
        s[k] = of_c;
        c[k] = -of_s;
      }
    });
    angles_.push_back({angle.coefficients(), sine, cosine});
    return {sine, cosine};
  }
  /// How far the rules go that have been noted.
  std::size_t place() const { return rules_.size(); }
  /// Coefficient k of all results, or of those noted up to a place; each order in turn.
  void advance(int k) const { advance(k, place()); }
  void advance(int k, std::size_t until) const {
    const std::byte* at = rules_.data();
    for (const std::byte* end = at + until; at != end;) {
      const Noted& noted = *std::launder(reinterpret_cast<const Noted*>(at));
      noted.apply(at, k);
      at += noted.size;
    }
  }

  /// The argument of a function whose series holds while it does not move further than that.
  void watch(const S* argument, Reach reach) { watched_.emplace_back(argument, reach); }
  /// The greatest step, up to this one, that all of these hold on.
  double held(double step) const {
    const int order = static_cast<int>(stride_) - 1;
    for (const auto& [argument, reach] : watched_) {
      const double moved = moved_by(argument, order, step);
      const double most = reach_of(reach, value_of(argument[0]), order);
      if (moved > most) step *= most / moved;
    }
    return step;
  }

 private:
  static constexpr std::size_t series_per_block = 64;

  /// Σ |a_k| h^k, k = 1 … order, four sums side by side: none waits for another.
  static double moved_by(const S* a, int order, double h) {
    constexpr int chains = 4;
    const double h2 = h * h, h4 = h2 * h2;
    std::array<double, chains> sums{};
    int k = order;
    for (; k % chains != 0; --k) sums[static_cast<std::size_t>(k % chains)] = std::abs(value_of(a[k]));
    for (; k > 0; k -= chains) {
      for (int j = 1; j < chains; ++j) {
        double& sum = sums[static_cast<std::size_t>(j)];
        sum = sum * h4 + std::abs(value_of(a[k - chains + j]));
      }
      sums[0] = (sums[0] + std::abs(value_of(a[k]))) * h4;
    }
    return sums[0] + h * sums[1] + h2 * (sums[2] + h * sums[3]);
  }

  /// A rule behind it, and the rows behind that.
  struct Noted {
    void (*apply)(const std::byte* noted, int k);
    std::size_t size;
  };
  template <class Rule>
  static void apply(const Rule& rule, [[maybe_unused]] S* const* rows, int k) {
    if constexpr (std::is_invocable_v<const Rule&, int>) {
      rule(k);
    } else {
      rule(k, rows);
    }
  }
  template <class Rule>
  void note(const Rule& rule, std::span<S* const> rows) {
    static_assert(std::is_trivially_copyable_v<Rule> && alignof(Rule) <= alignof(Noted));
    constexpr std::size_t unit = alignof(Noted);
    constexpr std::size_t to_rows = sizeof(Noted) + (sizeof(Rule) + unit - 1) / unit * unit;
    const std::size_t size = to_rows + rows.size_bytes();
    std::byte* at = room_for(size);
    new (at) Noted{[](const std::byte* noted, int k) {
                     Tape::apply(*std::launder(reinterpret_cast<const Rule*>(noted + sizeof(Noted))),
                                 reinterpret_cast<S* const*>(noted + to_rows), k);
                   },
                   size};
    new (at + sizeof(Noted)) Rule(rule);
    std::copy(rows.begin(), rows.end(), reinterpret_cast<S**>(at + to_rows));
  }

  [[gnu::noinline]] std::byte* room_for(std::size_t size) {
    rules_.resize(rules_.size() + size);
    return rules_.data() + (rules_.size() - size);
  }
  [[gnu::noinline]] void enter(std::size_t block) {
    if (block == blocks_.size()) blocks_.emplace_back(series_per_block * most_);
    block_ = block;
    next_ = blocks_[block].data();
    end_ = next_ + blocks_[block].size();
  }

  std::vector<std::vector<S>> blocks_;
  std::vector<std::pair<const S*, Reach>> watched_;
  std::vector<std::byte> rules_;  ///< one behind the other
  struct Angle {
    const S* coefficients;
    Series<S> sine, cosine;
  };
  std::vector<Angle> angles_;
  std::size_t stride_ = 1, most_ = 0, block_ = 0;
  S* next_ = nullptr;
  S* end_ = nullptr;
};

}  // namespace graze
