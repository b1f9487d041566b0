/// Sums of products of wide dual numbers: bit for bit those of plain arithmetic, whatever vectors make them.
#include <catch2/catch.hpp>

#include <random>
#include <vector>

#include "core/math/dual_sum.hpp"

using namespace graze;

TEST_CASE("sums of products of wide dual numbers are those of plain arithmetic to the last bit") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> number(-1, 1);
  const auto draw = [&] {
    WideDual d(number(random));
    for (double& slope : d.slope) slope = number(random);
    return d;
  };
  for (int round = 0; round < 200; ++round) {
    const std::ptrdiff_t stride = 1 + round % 7;
    const std::ptrdiff_t count = round % 9;
    std::vector<WideDual> a, b;
    for (std::ptrdiff_t j = 0; j < stride * count; ++j) a.push_back(draw());
    for (std::ptrdiff_t j = 0; j < count; ++j) b.push_back(draw());
    const double t = number(random);
    WideDual sum = draw();
    wide_sum(a.data(), stride, b.data(), count, t, sum);

    WideDual plain(0);
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      plain += a[static_cast<std::size_t>(j * stride)] * b[static_cast<std::size_t>(j)];
    }
    plain *= t;
    CAPTURE(stride, count);
    CHECK(sum.value == plain.value);
    CHECK(sum.slope == plain.slope);
  }
}
