// The counts that a reader writes into its file for the monitor (loader/stats_file.hpp). Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace xtts::probe {

struct ReaderCount {
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
  double wait_s = 0.0;
  double at_s = 0.0;  // the reader's own clock
};

// nullopt: not such a file, whoever wrote it.
[[nodiscard]] std::optional<ReaderCount> parse_reader_count(std::string_view text);

}  // namespace xtts::probe
