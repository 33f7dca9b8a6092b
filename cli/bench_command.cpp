// bench: how fast and how evenly do batches come out of this cache?
#include <algorithm>
#include <charconv>
#include <memory>
#include <thread>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/bench_view.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/picture_files.hpp"
#include "cli/stop_signal.hpp"
#include "loader/option_rules.hpp"
#include "probe/machine.hpp"
#include "report/batch_figure.hpp"

namespace xtts::cli {
namespace {

struct BenchCommandOptions {
  std::string cache;
  std::string batch_size = "32";
  std::string batch_count = "100";
  std::string split;
  std::string shuffle = "global";
  std::string reading = "auto";
  std::string device = "cpu";
  PictureFiles pictures;
  std::string thread_count = std::to_string(loader::default_thread_count());
  bool sweeps = false;
  bool is_cold = false;
};

constexpr std::uint32_t kNumberMax = 1'000'000;

Result<std::uint32_t> parse_count(const std::string& option, const std::string& text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && number >= 1 && number <= kNumberMax) return number;
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is a number from 1 to 1000000, not '{}'", option, text));
}

Shuffle shuffle_of(const std::string& name) {
  if (name == "none") return Shuffle::kNone;
  return name == "window" ? Shuffle::kWindow : Shuffle::kGlobal;
}

Reading reading_of(const std::string& name) {
  if (name == "mapped") return Reading::kMapped;
  return name == "direct" ? Reading::kDirect : Reading::kAuto;
}

// Nothing of a cache opened so was verified yet, and with --cold nothing of it is in memory.
Result<std::shared_ptr<reader::CacheSet>> open_afresh(Context& context,
                                                      const BenchCommandOptions& options) {
  XTTS_ASSIGN(auto caches, reader::CacheSet::open(context.env, options.cache));
  if (options.is_cold) XTTS_TRY(loader::drop_from_memory(*caches));
  return caches;
}

loader::MeasureOptions settings_of(const BenchCommandOptions& options, const SweepSetting& setting,
                                   std::uint32_t batch_count) {
  loader::MeasureOptions settings;
  settings.reader = {.batch_size = setting.batch_size,
                     .split = options.split,
                     .shuffle = shuffle_of(options.shuffle),
                     .slot_count = setting.slot_count,
                     .thread_count = setting.thread_count,
                     .device = options.device,
                     .reading = reading_of(options.reading)};
  settings.batch_count = batch_count;
  settings.cancelled = stop_requested;
  return settings;
}

constexpr std::size_t kRoundCount = 5;
constexpr double kSweepSeconds = 36.0;  // for all rounds, besides opening readers

Result<SweepMachine> sweep_machine(Context& context, const BenchCommandOptions& options) {
  XTTS_ASSIGN(const auto caches, reader::CacheSet::open(context.env, options.cache));
  SweepMachine machine{
      .core_count = std::max(std::thread::hardware_concurrency(), 1U),
      .memory_available_bytes = probe::read_machine(context.env).memory_available_bytes};
  for (const formats::ColumnEntry& column : caches->whole().columns)
    machine.record_bytes += column.spec.record_bytes();
  return machine;
}

void add_pass(const loader::MeasuredPass& part, loader::MeasuredPass& whole) {
  whole.batch_ms.insert(whole.batch_ms.end(), part.batch_ms.begin(), part.batch_ms.end());
  whole.sample_count += part.sample_count;
  whole.bytes += part.bytes;
  whole.seconds += part.seconds;
  whole.waited_s += part.waited_s;
}

// The results so far of one setting's rounds.
struct SettingRounds {
  SweepRun run = {};
  std::vector<double> clip_ms = {};
};

// Settings whose batches the clips do not fill are left out in the first round.
Status measure_setting(const std::shared_ptr<reader::CacheSet>& warm, Context& context,
                       const BenchCommandOptions& options, std::uint32_t batch_count,
                       double seconds_max, SettingRounds& rounds) {
  std::shared_ptr<reader::CacheSet> caches = warm;
  if (options.is_cold) {
    XTTS_ASSIGN(caches, open_afresh(context, options));
  }
  XTTS_ASSIGN(const loader::MeasuredPass pass,
              loader::measure_round(caches, settings_of(options, rounds.run.setting, batch_count),
                                    seconds_max));
  add_pass(pass, rounds.run.pass);
  rounds.clip_ms.push_back(1e3 * pass.seconds / static_cast<double>(pass.sample_count));
  return {};
}

// The settings come one after the other in each round, and backwards in each second round. So what
// changes on the machine meanwhile favours none of them.
Result<BenchSweep> run_sweep(Context& context, const BenchCommandOptions& options,
                             std::uint32_t batch_count) {
  XTTS_ASSIGN(const SweepMachine machine, sweep_machine(context, options));
  SweepPlan plan = plan_sweep(machine);
  if (plan.settings.empty())
    return Status(StatusCode::kResource, "no setting of a sweep fits into the memory that is free");
  BenchSweep sweep{.left_out = std::move(plan.left_out)};
  XTTS_ASSIGN(const auto warm, reader::CacheSet::open(context.env, options.cache));
  std::vector<SettingRounds> all;
  for (const SweepSetting& setting : plan.settings) all.push_back({.run = {.setting = setting}});
  const double seconds_max =
      kSweepSeconds / static_cast<double>(kRoundCount * plan.settings.size());
  Status too_small;
  for (std::size_t round = 0; round < kRoundCount; ++round) {
    std::vector<SettingRounds> kept;
    std::vector<std::uint32_t> unfilled;
    for (SettingRounds& one : all) {
      const Status measured =
          measure_setting(warm, context, options, batch_count, seconds_max, one);
      if (round == 0 && measured.code() == StatusCode::kInvalidArgument) {
        if (too_small.ok()) too_small = measured;
        const std::uint32_t size = one.run.setting.batch_size;
        if (unfilled.empty() || unfilled.back() != size) unfilled.push_back(size);
        continue;
      }
      if (!measured.ok()) return measured;
      kept.push_back(std::move(one));
    }
    if (kept.empty()) return too_small;
    if (!unfilled.empty())
      sweep.left_out.push_back(formatted("batches of {}, because the clips chosen do not fill one",
                                         numbers_in_words(unfilled)));
    all = std::move(kept);
    std::ranges::reverse(all);
    ++sweep.round_count;
  }
  if (kRoundCount % 2 == 1) std::ranges::reverse(all);
  std::vector<SweepTimes> clip_ms;
  std::vector<SweepSetting> settings;
  for (SettingRounds& one : all) {
    clip_ms.push_back(times_of_rounds(one.clip_ms));
    settings.push_back(one.run.setting);
    const double size = one.run.setting.batch_size;
    one.run.batch_ms = {size * clip_ms.back().low, size * clip_ms.back().middle,
                        size * clip_ms.back().high};
    sweep.runs.push_back(std::move(one.run));
  }
  sweep.choice = choose_setting(settings, clip_ms);
  return sweep;
}

Result<BenchQuestion> question_of(Context& context, const BenchCommandOptions& options) {
  XTTS_ASSIGN(const auto caches, reader::CacheSet::open(context.env, options.cache));
  const formats::ColumnSpec& column = caches->whole().columns.front().spec;
  return BenchQuestion{.cache = options.cache,
                       .shuffle = options.shuffle,
                       .is_cold = options.is_cold,
                       .is_packed = column.layout == formats::Layout::kPacked,
                       .is_half = size_bytes(column.dtype) == 2};
}

Status run_bench(Context& context, const BenchCommandOptions& options) {
  XTTS_ASSIGN(const std::uint32_t batch_size, parse_count("--batch-size", options.batch_size));
  XTTS_ASSIGN(const std::uint32_t thread_count, parse_count("--threads", options.thread_count));
  XTTS_ASSIGN(const std::uint32_t batch_count, parse_count("--num-batches", options.batch_count));
  XTTS_ASSIGN(const BenchQuestion question, question_of(context, options));
  const bool writes_to_stdout = options.pictures.go_to_stdout();
  if (writes_to_stdout && context.flags.json) {
    return {
        StatusCode::kInvalidArgument,
        "--json and FILE would both be written to stdout: name another FILE, or leave out --json"};
  }
  // Known before minutes of measuring.
  if (options.pictures.are_wanted())
    XTTS_TRY(draw_svg(report::batch_times_figure({}, "")).status());
  SweepSetting setting{batch_size, thread_count, ReaderOptions{}.slot_count};
  BenchSweep sweep;
  if (options.sweeps) {
    XTTS_ASSIGN(sweep, run_sweep(context, options, batch_count));
    setting = sweep.runs[sweep.choice.index].setting;
  }
  XTTS_ASSIGN(const auto caches, open_afresh(context, options));
  BenchRun run{.batch_size = setting.batch_size,
               .thread_count = setting.thread_count,
               .slot_count = setting.slot_count,
               .measured = {}};
  XTTS_ASSIGN(run.measured, loader::measure(caches, settings_of(options, setting, batch_count)));
  if (!writes_to_stdout) {
    context.print(describe_bench(question, run, sweep));
    context.summarize(bench_advice(question, run, sweep) + "\n");
  }
  context.print_json(bench_to_json(question, run, sweep));
  if (!options.pictures.are_wanted()) return {};
  return write_pictures(context, options.pictures,
                        report::batch_times_figure(
                            pass_of(question, run).batch_ms,
                            formatted("Batches of {} from {}", run.batch_size, options.cache)));
}

}  // namespace

void add_bench_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<BenchCommandOptions>();
  Command(app, context, "bench", "Measure how fast and how evenly the reader gives batches")
      .required("CACHE", options->cache, "The cache's folder")
      .option("--batch-size", options->batch_size, "N", "Clips a batch")
      .option("--num-batches", options->batch_count, "N", "Batches to measure, twice")
      .option("--split", options->split, "NAME", "Only train, validation or test")
      .choice("--shuffle", options->shuffle, {"none", "global", "window"}, "The order of the clips")
      .choice("--reading", options->reading, {"auto", "mapped", "direct"},
              "Through the system's page cache, or past it")
      .option("--device", options->device, "{cpu,cuda,auto,pinned}",
              "Where batches are consumed; cuda:1: the second GPU, auto: the first GPU or else the "
              "CPU, pinned: the CPU with page-locked slots")
      .option("-j,--threads", options->thread_count, "N", "Threads that fill batches")
      .flag("--sweep", options->sweeps,
            "Try batches of 8 to 64, 1 to 16 threads and 4 to 16 batches ahead, and recommend")
      .flag("--cold", options->is_cold,
            "Ask the system to forget the shards first, and measure from disk")
      .option("--png", options->pictures.png, "FILE", "Write a picture of the times")
      .option("--svg", options->pictures.svg, "FILE", "The same picture for web pages")
      .notes(
          "The consumer looks at one byte of each page of a batch. The first pass checks each "
          "record;\n"
          "the second shows what later epochs are like.")
      .examples(
          "xtts-precompute bench ./cache\n"
          "xtts-precompute bench ./cache --cold --shuffle window   # as after a restart\n"
          "xtts-precompute bench ./cache --sweep --json | jq .recommendation")
      .runs([&context, options] { return run_bench(context, *options); });
}

}  // namespace xtts::cli
