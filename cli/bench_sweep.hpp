// A sweep of bench: which settings are tried, and which of them is recommended. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xtts::cli {

struct SweepSetting {
  std::uint32_t batch_size = 0;
  std::uint32_t thread_count = 0;
  std::uint32_t slot_count = 0;  // `prefetch` in Python
};

struct SweepMachine {
  std::uint32_t core_count = 1;
  std::uint64_t memory_available_bytes = 0;
  std::uint64_t record_bytes = 0;  // of a clip in a batch
};

struct SweepPlan {
  std::vector<SweepSetting> settings;
  std::vector<std::string> left_out;  // "16 threads, because the machine has 2 processors"
};

// "4, 8 and 16".
[[nodiscard]] std::string numbers_in_words(const std::vector<std::uint32_t>& numbers);

// Batches of 8 to 64, 1 to 16 threads, and 4 to 16 batches ahead. Leaves out what the machine
// cannot run: more threads than processors, and slots that take more than half of the memory.
[[nodiscard]] SweepPlan plan_sweep(const SweepMachine& machine);

// The median of a setting's rounds, and the range from the fastest round to the slowest. The range
// of five rounds holds the true median with a probability of 94 %: in 2 of 32 cases all five lie on
// one side of it.
struct SweepTimes {
  double low = 0.0;
  double middle = 0.0;
  double high = 0.0;
};
[[nodiscard]] SweepTimes times_of_rounds(std::vector<double> rounds);

// The probability that the range of so many rounds holds the true median.
[[nodiscard]] double certainty_of_range(std::size_t round_count);

struct SweepChoice {
  std::size_t index = 0;
  std::size_t equal_count =
      0;  // settings that cannot be told from the fastest one; it counts itself
};

// `clip_ms` holds the milliseconds a clip of each setting. Where ranges overlap that of the fastest
// setting, no difference can be measured: among those, takes the fewest threads, then the fewest
// slots, then the smallest batch. There is at least one setting.
[[nodiscard]] SweepChoice choose_setting(const std::vector<SweepSetting>& settings,
                                         const std::vector<SweepTimes>& clip_ms);

}  // namespace xtts::cli
