#include "doctor/real_batches_check.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "base/cycle_search.hpp"
#include "doctor/range.hpp"
#include "report/batch_times.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

constexpr const char* kRounds = "measured in rounds; files in memory";

// Fills bars and evidence, one source after another.
class SideBySide {
 public:
  SideBySide(const RealBatches& batches, Check& check) : batches_(batches), check_(check) {}

  void compare() {
    if (const LibrosaRates* librosa = batches_.librosa) {
      add("raw audio, " + librosa->rates.way + ", " +
              report::format_counted(librosa->rates.worker_count, "worker", "workers"),
          librosa->rates.all);
      if (!librosa->single_threaded.empty())
        add("the same, with " + librosa->setting, librosa->single_threaded);
    }
    if (batches_.ours != nullptr)
      add("raw audio, this program, " +
              report::format_counted(batches_.ours->worker_count, "thread", "threads"),
          batches_.ours->all);
    if (batches_.cache != nullptr)
      add(batches_.is_sample ? "a cache of a sample" : "the cache", batches_.cache->clips_per_s);
    check_.evidence.push_back({.what = "synthetic data",
                               .value = "0 ms a batch",
                               .source = "one batch again and again, by definition",
                               .number = 0.0,
                               .unit = "ms"});
    check_.charts.push_back(
        {.title = "What a batch of " + std::to_string(batches_.batch_size) + " takes",
         .note = kRounds,
         .content = std::move(bars_)});
  }

 private:
  void add(const std::string& what, const std::vector<double>& rounds) {
    const auto range = range_of(rounds, 0.0);
    if (!range) return;
    const Range ms{1e3 * batches_.batch_size / range->high, 1e3 * batches_.batch_size / range->low};
    bars_.bars.push_back({.label = what, .value = ms.middle(), .low = ms.low, .high = ms.high});
    check_.evidence.push_back({.what = what,
                               .value = report::format_short(ms.low) + " to " +
                                        report::format_short(ms.high) + " ms a batch, " +
                                        report::format_short(range->middle()) + " clips/s",
                               .source = kRounds,
                               .number = ms.middle(),
                               .unit = "ms"});
  }

  const RealBatches& batches_;
  Check& check_;
  BarsChart bars_{.unit = "ms"};
};

void draw_batches(const CacheMeasurement& cache, Check& check) {
  if (cache.batch_ms.size() < 2) return;
  SeriesChart series{.x_name = "batches", .unit = "ms", .values = cache.batch_ms};
  if (const auto cycle = search_cycle(cache.batch_ms))
    series.period = ChartPeriod{.length = cycle->period};
  check.charts.push_back({.title = "Batches from the cache, one after the other",
                          .note = "the second pass, files in memory",
                          .content = std::move(series)});
  check.charts.push_back({.title = "How often a batch took how long",
                          .note = "the same batches",
                          .content = HistogramChart{.unit = "ms", .values = cache.batch_ms}});
}

// Uneven batches make uneven steps, but only as far as they are long beside a step.
void judge_evenness(const RealBatches& batches, Check& check) {
  const auto times = report::summarize_times(batches.cache->batch_ms);
  const double variation =
      report::step_variation(times, batches.step_ms > 0.0 ? batches.step_ms : report::kShortStepMs);
  if (report::evenness(variation) == "stable") return;
  check.findings.push_back(
      {.status = CheckStatus::kWarn,
       .text = "Batches from the cache come unevenly: their deviation is " +
               report::format_percent(variation) + " of a step.",
       .remedy = "Let the machine be idle and measure again: `xtts-precompute bench CACHE`."});
}

// The middle of what a batch takes; unset: no round says it.
std::optional<double> middle_ms(const std::vector<double>& clips_per_s, std::uint32_t batch_size) {
  const auto range = range_of(clips_per_s, 0.0);
  if (!range) return std::nullopt;
  return 1e3 * batch_size / range->middle();
}

}  // namespace

Check check_real_batches(const RealBatches& batches) {
  Check check{.name = "real_run", .title = "Real batches, side by side"};
  SideBySide(batches, check).compare();
  if (batches.cache != nullptr) draw_batches(*batches.cache, check);
  if (batches.librosa != nullptr) {
    if (auto finding = judge_own_threads(*batches.librosa))
      check.findings.push_back(std::move(*finding));
  }
  const auto cached = batches.cache == nullptr
                          ? std::nullopt
                          : middle_ms(batches.cache->clips_per_s, batches.batch_size);
  if (!cached) {
    check.summary =
        batches.no_cache.empty() ? "No batch came from a cache." : batches.no_cache + ".";
    if (!check.findings.empty()) check.status = worst_of(check.findings);
    return check;
  }
  check.summary = "A batch of " + std::to_string(batches.batch_size) + " from a cache takes " +
                  report::format_short(*cached) + " ms.";
  judge_evenness(batches, check);
  // The trainer's own way where it was measured.
  const ComputeRates* const way =
      batches.librosa != nullptr ? &batches.librosa->rates : batches.ours;
  const auto now = way == nullptr ? std::nullopt : middle_ms(way->all, batches.batch_size);
  if (now) {
    check.summary += " Computed on the fly it takes " + report::format_short(*now) + " ms.";
    if (*cached >= *now)
      check.findings.push_back(
          {.status = CheckStatus::kFail,
           .text = "A batch from the cache takes no less time than one computed on the fly.",
           .remedy = "Look at the cache's storage: `xtts-precompute bench CACHE --cold`."});
  }
  check.status = worst_of(check.findings);
  return check;
}

}  // namespace xtts::doctor
