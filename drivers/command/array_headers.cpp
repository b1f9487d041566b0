#include "drivers/command/array_headers.hpp"

#include <iterator>
#include <sstream>

#include "data/h5.hpp"

namespace graze {

std::vector<Array> array_headers(const std::string& path) {
  std::vector<Array> arrays;
  try {
    const h5::File file = h5::File::open(path);
    for (const std::string& name : file.arrays()) {
      Array& array = arrays.emplace_back();
      array.name = name;
      array.dimensions = file.dimensions_of(name);
      array.unit = file.text(name, "units");
      array.long_name = file.text(name, "long_name");
      if (!file.has_attribute(name, "flag_meanings")) continue;
      std::istringstream flags(file.text(name, "flag_meanings"));
      array.flags.assign(std::istream_iterator<std::string>(flags), {});
    }
  } catch (const h5::Error&) {
    arrays.clear();
  }
  return arrays;
}

}  // namespace graze
