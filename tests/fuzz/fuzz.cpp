/// Entry of libFuzzer: GRAZE_FUZZ names the reader.
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/readers.hpp"

namespace {

const graze::fuzz::Reader& chosen() {
  const char* name = std::getenv("GRAZE_FUZZ");
  for (const graze::fuzz::Reader& reader : graze::fuzz::readers())
    if (name != nullptr && std::string_view(reader.name) == name) return reader;
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const graze::fuzz::Reader& reader = chosen();
  reader.read({reinterpret_cast<const char*>(data), size});
  return 0;
}
