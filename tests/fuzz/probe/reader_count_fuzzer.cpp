// Any bytes as a reader's file for the monitor: anybody may put one into that folder.
#include <cmath>

#include "probe/reader_count.hpp"
#include "tests/fuzz/formats/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto count = xtts::probe::parse_reader_count({reinterpret_cast<const char*>(data), size});
  if (!count) return 0;
  xtts::formats::require(std::isfinite(count->at_s) && std::isfinite(count->wait_s),
                         "times are numbers");
  return 0;
}
