#include "core/results/shard.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace graze {

std::vector<std::size_t> dealt(std::size_t blocks, Shard shard) {
  const auto golden = static_cast<double>(blocks) / std::numbers::phi;
  auto stride = static_cast<std::size_t>(std::lround(golden));
  while (std::gcd(stride, blocks) > 1) ++stride;
  std::vector<std::size_t> order;
  std::size_t index = 0;
  for (std::size_t place = 0; place < blocks; ++place) {
    if (place % shard.parts == shard.part - 1) order.push_back(index);
    index = (index + stride) % blocks;
  }
  return order;
}

}  // namespace graze
