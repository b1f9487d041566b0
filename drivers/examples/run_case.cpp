/// Runs a sweep in memory and prints the period of the attractor at every frequency:
///     run_case quickstart.toml analysis.axis.points=11
#include <graze/graze.hpp>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc < 2) throw graze::InputError("usage: run_case CASE [KEY=VALUE]...");
  const graze::Dataset result = graze::run(graze::load_case(argv[1], {argv + 2, argv + argc}));
  const std::vector<double>& delta = result.values<double>("delta");
  const std::vector<std::int32_t>& period = result.values<std::int32_t>("period");
  for (std::size_t k = 0; k < delta.size(); ++k) std::cout << delta[k] << ' ' << period[k] << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
