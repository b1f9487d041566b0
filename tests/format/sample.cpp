// Hidden: writes files for the tests in Python, which read them with the tools that users have.
#include "tests/format/sample.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

using namespace graze;

TEST_CASE("writes sample files to the folder in GRAZE_SAMPLE", "[.sample]") {
  const char* folder = std::getenv("GRAZE_SAMPLE");
  REQUIRE(folder != nullptr);
  const std::string path = std::string(folder) + "/";

  Archive joined = test::sample_archive(path + "joined.h5");
  joined.prepare(false);
  for (std::size_t k = 0; k < test::sample_boxes().size(); ++k)
    joined.put(k, test::sample_block(test::sample_boxes()[k]));
  joined.consolidate();

  Archive interrupted = test::sample_archive(path + "interrupted.h5");
  interrupted.prepare(false);
  for (const std::size_t k : {std::size_t{0}, std::size_t{4}})
    interrupted.put(k, test::sample_block(test::sample_boxes()[k]));

  // As a simulation writes it: one piece, here without any event.
  Dataset motion;
  motion.dimensions = {{"sample", 5}, {"event", 0}};
  motion.arrays.push_back(
      {"time", {"sample"}, std::vector<double>{0, 0.25, 0.5, 0.75, 1}, "s", "time", {}, {}});
  motion.arrays.push_back({"event_time", {"event"}, std::vector<double>{}, "s", "time of the event", {}, {}});
  motion.arrays.push_back({"energy", {}, std::vector<double>{2.5}, "J", "energy at the end", {}, {}});
  write_result(path + "motion.h5", motion, test::sample_attributes, "case M", false);
}
