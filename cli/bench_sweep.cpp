#include "cli/bench_sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "base/formatted.hpp"
#include "report/human.hpp"

namespace xtts::cli {
namespace {

constexpr std::array<std::uint32_t, 4> kBatchSizes{8, 16, 32, 64};
constexpr std::array<std::uint32_t, 5> kThreadCounts{1, 2, 4, 8, 16};
constexpr std::array<std::uint32_t, 3> kSlotCounts{4, 8, 16};

}  // namespace

std::string numbers_in_words(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

SweepPlan plan_sweep(const SweepMachine& machine) {
  SweepPlan plan;
  std::vector<std::uint32_t> too_many;
  for (const std::uint32_t threads : kThreadCounts)
    if (threads > machine.core_count) too_many.push_back(threads);
  if (!too_many.empty())
    plan.left_out.push_back(
        formatted("{} threads, because the machine has {}", numbers_in_words(too_many),
                  report::format_counted(machine.core_count, "processor", "processors")));
  for (const std::uint32_t size : kBatchSizes) {
    for (const std::uint32_t slots : kSlotCounts) {
      const std::uint64_t bytes = machine.record_bytes * size * slots;
      if (bytes > machine.memory_available_bytes / 2) {
        plan.left_out.push_back(formatted(
            "{} batches of {} ahead, because they take {} of {} of free memory", slots, size,
            report::format_size(bytes), report::format_size(machine.memory_available_bytes)));
        continue;
      }
      for (const std::uint32_t threads : kThreadCounts)
        if (threads <= machine.core_count) plan.settings.push_back({size, threads, slots});
    }
  }
  return plan;
}

SweepTimes times_of_rounds(std::vector<double> rounds) {
  if (rounds.empty()) return {};
  std::ranges::sort(rounds);
  return {rounds.front(), rounds[rounds.size() / 2], rounds.back()};
}

double certainty_of_range(std::size_t round_count) {
  return round_count == 0 ? 0.0 : 1.0 - std::pow(0.5, static_cast<double>(round_count) - 1.0);
}

SweepChoice choose_setting(const std::vector<SweepSetting>& settings,
                           const std::vector<SweepTimes>& clip_ms) {
  const auto fastest = std::ranges::min_element(clip_ms, {}, &SweepTimes::middle);
  const auto cost = [&](std::size_t i) {
    return std::tuple(settings[i].thread_count, settings[i].slot_count, settings[i].batch_size);
  };
  SweepChoice choice{.index = static_cast<std::size_t>(fastest - clip_ms.begin()),
                     .equal_count = 0};
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (clip_ms[i].low > fastest->high) continue;
    ++choice.equal_count;
    if (cost(i) < cost(choice.index)) choice.index = i;
  }
  return choice;
}

}  // namespace xtts::cli
