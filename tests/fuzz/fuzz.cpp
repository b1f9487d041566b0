/// Entry of libFuzzer; FUZZED is the reader.
#include "tests/fuzz/readers.hpp"

// Where HDF5 asks for more memory than there is, it takes no for an answer.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:quarantine_size_mb=16";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  graze::fuzz::FUZZED({reinterpret_cast<const char*>(data), size});
  return 0;
}
