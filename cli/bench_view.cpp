#include "cli/bench_view.hpp"

#include <algorithm>
#include <cmath>

#include "base/formatted.hpp"
#include "base/shell_words.hpp"
#include "cli/gpu_view.hpp"
#include "report/gpu_words.hpp"
#include "report/human.hpp"
#include "report/table.hpp"

namespace xtts::cli {
namespace {

using loader::MeasuredPass;
using nlohmann::json;
using report::Align;
using report::BatchTimes;
using report::format_count;
using report::format_percent;
using report::format_short;

// Loading may take 30 % of a training step: the users' own judgement.
constexpr double kDataShareOfStep = 0.3;
// Uneven batches do not matter below this share of a step.
constexpr double kEvenSteps = 0.1;

double samples_per_s(const MeasuredPass& pass) {
  return pass.seconds > 0.0 ? static_cast<double>(pass.sample_count) / pass.seconds : 0.0;
}

std::string verdict_of(const BatchTimes& times) {
  return std::string(report::evenness(report::step_variation(times)));
}

std::string ms(double value) {
  return format_short(value);
}

// Percentiles need some times; fewer are told one by one.
constexpr std::size_t kTimesForPercentiles = 5;

std::string few_times_in_words(std::span<const double> batch_ms) {
  if (batch_ms.empty())
    return "no time of a batch, which lies between two: there was one; a higher --num-batches "
           "gives "
           "more";
  std::string text;
  for (const double time : batch_ms) text += (text.empty() ? "" : ", ") + ms(time);
  return text + " ms a batch: too few times for a verdict; a higher --num-batches gives more";
}

std::string times_in_words(const BatchTimes& times) {
  return formatted("{} ms a batch (p50 {}, p95 {}, p99 {}), variation {}, of a step of {} ms {}",
                   ms(times.mean_ms), ms(times.p50_ms), ms(times.p95_ms), ms(times.p99_ms),
                   format_percent(times.variation()), ms(report::kShortStepMs),
                   format_percent(report::step_variation(times)));
}

std::string rate_in_words(const MeasuredPass& pass) {
  const double bytes_per_s =
      pass.seconds > 0.0 ? static_cast<double>(pass.bytes) / pass.seconds : 0.0;
  return formatted("{} clips/s, {}/s",
                   format_count(static_cast<std::uint64_t>(samples_per_s(pass))),
                   report::format_size(static_cast<std::uint64_t>(bytes_per_s)));
}

std::string setting_in_words(const BenchRun& run) {
  return formatted("{} a batch, {}", report::format_counted(run.batch_size, "clip", "clips"),
                   report::format_counted(run.thread_count, "thread", "threads"));
}

// Leaves out advice that the cache or the question already follows.
std::string advice_for_cold(const BenchQuestion& question) {
  std::string steps;
  if (question.shuffle == "global") steps = "--shuffle window reads it in long runs";
  std::string storage;
  if (!question.is_packed) storage += " --layout packed";
  if (!question.is_half) storage += " --dtype float16";
  if (!storage.empty()) {
    steps += formatted("{}{} makes a cache of which less is read", steps.empty() ? "" : ", and ",
                       command_in_text(formatted("xtts-precompute convert {} NEW{}",
                                                 shell_quoted(question.cache), storage)));
  }
  return "\nThe disk sets this pace: " +
         (steps.empty() ? "it is read in long runs already, and the cache is as small as it can be"
                        : steps) +
         ".";
}

std::string storage_in_words(const BenchRun& run) {
  const loader::Measured& measured = run.measured;
  const auto line = [](const std::string& text) {
    return formatted("  {}\n", report::escape_controls(text));
  };
  std::string text = line(measured.storage) + line("read " + measured.reading);
  if (!measured.notice.empty()) text += line("notice: " + measured.notice);
  return text;
}

std::string gpu_in_words(const MeasuredPass& pass) {
  if (!pass.gpu) return {};
  std::string text;
  for (const std::string& line : report::gpu_lines(*pass.gpu)) text += formatted("  {}\n", line);
  return text;
}

json times_to_json(const MeasuredPass& pass) {
  const BatchTimes times = report::summarize_times(pass.batch_ms);
  json cycle = nullptr;
  if (times.cycle) {
    const double period = times.cycle->period;
    const bool is_whole = period == std::round(period);
    cycle = {{"period", is_whole ? json(static_cast<std::uint64_t>(period)) : json(period)},
             {"strength", times.cycle->strength}};
  }
  return {
      {"samples_per_s", samples_per_s(pass)},
      {"bytes_per_s", pass.seconds > 0.0 ? static_cast<double>(pass.bytes) / pass.seconds : 0.0},
      {"batches", pass.batch_ms.size()},
      {"ms",
       {{"mean", times.mean_ms},
        {"std", times.std_ms},
        {"p50", times.p50_ms},
        {"p95", times.p95_ms},
        {"p99", times.p99_ms}}},
      {"variation", times.variation()},
      {"cycle", cycle},
      {"consumer_wait_share", pass.seconds > 0.0 ? pass.waited_s / pass.seconds : 0.0}};
}

std::string describe_sweep(const BenchSweep& sweep) {
  report::Table table({Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                       Align::kRight, Align::kRight, Align::kRight});
  table.add_row(
      {"batch", "threads", "prefetch", "clips/s", "ms a batch", "range", "p99", "variation"});
  for (const SweepRun& run : sweep.runs) {
    const BatchTimes times = report::summarize_times(run.pass.batch_ms);
    table.add_row({format_count(run.setting.batch_size), format_count(run.setting.thread_count),
                   format_count(run.setting.slot_count),
                   format_count(static_cast<std::uint64_t>(samples_per_s(run.pass))),
                   ms(run.batch_ms.middle),
                   formatted("{} to {}", ms(run.batch_ms.low), ms(run.batch_ms.high)),
                   ms(times.p99_ms), format_percent(times.variation())});
  }
  std::string text = table.render(2);
  for (const std::string& one : sweep.left_out) text += formatted("  left out: {}\n", one);
  const SweepRun& chosen = sweep.runs[sweep.choice.index];
  text += "Recommended: " + report::format_counted(chosen.setting.batch_size, "clip", "clips") +
          " a batch, " + report::format_counted(chosen.setting.thread_count, "thread", "threads") +
          ", prefetch " + format_count(chosen.setting.slot_count) + ": " +
          ms(chosen.batch_ms.middle) + " ms a batch (" + ms(chosen.batch_ms.low) + " to " +
          ms(chosen.batch_ms.high) + ").\nThe time is the median of " +
          report::format_counted(sweep.round_count, "round", "rounds") +
          ". The range is that of the rounds, which holds the true median in " +
          format_percent(certainty_of_range(sweep.round_count)) + " of cases.\n";
  if (sweep.choice.equal_count < 2) return text + "It takes the least time a clip.\n";
  return formatted(
      "{}No difference that can be measured lies between {} settings, the fastest among them. This "
      "is the cheapest of them.\n",
      text, format_count(sweep.choice.equal_count));
}

json range_to_json(const SweepTimes& times) {
  return {{"low", times.low}, {"median", times.middle}, {"high", times.high}};
}

json setting_to_json(const SweepSetting& setting) {
  return {{"batch_size", setting.batch_size},
          {"threads", setting.thread_count},
          {"prefetch", setting.slot_count}};
}

json recommended_to_json(const BenchSweep& sweep) {
  if (sweep.runs.empty()) return nullptr;
  const SweepRun& chosen = sweep.runs[sweep.choice.index];
  json document = setting_to_json(chosen.setting);
  document["ms"] = range_to_json(chosen.batch_ms);
  document["rounds"] = sweep.round_count;
  document["certainty"] = certainty_of_range(sweep.round_count);
  document["equal_settings"] = sweep.choice.equal_count;
  return document;
}

}  // namespace

const MeasuredPass& pass_of(const BenchQuestion& question, const BenchRun& run) {
  return question.is_cold ? run.measured.first : run.measured.again;
}

std::string describe_bench(const BenchQuestion& question, const BenchRun& run,
                           const BenchSweep& sweep) {
  const MeasuredPass& pass = pass_of(question, run);
  const BatchTimes times = report::summarize_times(pass.batch_ms);
  std::string text;
  if (!sweep.runs.empty()) text += describe_sweep(sweep);
  text += report::escape_controls(question.cache) + ", shuffle " + question.shuffle + ", " +
          setting_in_words(run) + ", " +
          report::format_counted(pass.batch_ms.size() + 1, "batch", "batches") + "\n" +
          storage_in_words(run);
  if (!question.is_cold) {
    text += formatted("  first time   {}, each record verified as it is handed out\n",
                      rate_in_words(run.measured.first));
  }
  text += std::string("  ") + (question.is_cold ? "from disk    " : "after that   ") +
          rate_in_words(pass) + "\n  " +
          (times.count < kTimesForPercentiles
               ? few_times_in_words(pass.batch_ms)
               : formatted("{}: {}", times_in_words(times), verdict_of(times))) +
          "\n";
  if (times.cycle && report::step_variation(times) >= kEvenSteps) {
    text += formatted(
        "  every {} batches the times repeat themselves ({}): a queue that runs dry and is filled "
        "again\n",
        report::format_period(times.cycle->period), format_percent(times.cycle->strength));
  }
  return text + gpu_in_words(pass);
}

std::string bench_advice(const BenchQuestion& question, const BenchRun& run,
                         const BenchSweep& sweep) {
  const BatchTimes times = report::summarize_times(pass_of(question, run).batch_ms);
  if (times.count == 0) return "One batch tells no pace: measure more (--num-batches).";
  std::string text =
      formatted("A training step of {} ms or more spends less than 30 % of its time on this data",
                ms(times.mean_ms / kDataShareOfStep));
  if (times.count < kTimesForPercentiles || verdict_of(times) != "oscillating") return text + ".";
  // An occasional slow batch does not starve a step that is long against it.
  text += formatted(
      "; its slowest batches (p99) are hidden by steps of {} ms, with a batch or two filled ahead.",
      ms(times.p99_ms));
  if (question.is_cold) return text + advice_for_cold(question);
  if (run.thread_count == 1 && sweep.runs.empty())
    return text + "\nTry more threads (-j), or --sweep.";
  return text + "\nIf the machine does other work at the same time, measure again when it is idle.";
}

json bench_to_json(const BenchQuestion& question, const BenchRun& run, const BenchSweep& sweep) {
  const BatchTimes times = report::summarize_times(pass_of(question, run).batch_ms);
  json document = times_to_json(pass_of(question, run));
  document["cache"] = question.cache;
  document["shuffle"] = question.shuffle;
  document["cold"] = question.is_cold;
  document["storage"] = run.measured.storage;
  document["reading"] = run.measured.reading;
  document["notice"] = run.measured.notice;
  document["batch_size"] = run.batch_size;
  document["threads"] = run.thread_count;
  document["verdict"] = times.count == 0 ? json() : json(verdict_of(times));
  document["step_ms"] = report::kShortStepMs;
  document["step_variation"] = report::step_variation(times);
  document["step_ms_min"] = times.mean_ms / kDataShareOfStep;
  document["recommendation"] = bench_advice(question, run, sweep);
  document["first_pass"] = times_to_json(run.measured.first);
  if (const auto& gpu = pass_of(question, run).gpu) {
    document["gpu"] = gpu_to_json(*gpu);
    document["gpu_missing"] = gpu->missing;
  }
  document["prefetch"] = run.slot_count;
  document["recommended"] = recommended_to_json(sweep);
  document["left_out"] = sweep.left_out;
  document["runs"] = json::array();
  for (const SweepRun& one : sweep.runs) {
    json row = times_to_json(one.pass);
    row.update(setting_to_json(one.setting));
    row["ms_of_rounds"] = range_to_json(one.batch_ms);
    document["runs"].push_back(std::move(row));
  }
  if (sweep.runs.empty()) {
    json row = times_to_json(pass_of(question, run));
    row.update(setting_to_json({run.batch_size, run.thread_count, run.slot_count}));
    document["runs"].push_back(std::move(row));
  }
  return document;
}

}  // namespace xtts::cli
