// bench: how fast and how evenly do batches come out of this cache?
#include <algorithm>
#include <charconv>
#include <memory>
#include <thread>

#include "base/try.hpp"
#include "cli/bench_view.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/picture_files.hpp"
#include "cli/stop_signal.hpp"
#include "loader/option_rules.hpp"
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
                option + " is a number from 1 to 1000000, not '" + text + "'");
}

Shuffle shuffle_of(const std::string& name) {
  if (name == "none") return Shuffle::kNone;
  return name == "window" ? Shuffle::kWindow : Shuffle::kGlobal;
}

Reading reading_of(const std::string& name) {
  if (name == "mapped") return Reading::kMapped;
  return name == "direct" ? Reading::kDirect : Reading::kAuto;
}

// --sweep tries the usual batch sizes, and thread counts up to the processor's.
std::vector<BenchRun> runs_of_sweep() {
  const std::uint32_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  std::vector<BenchRun> runs;
  for (const std::uint32_t size : {8U, 16U, 32U, 64U}) {
    for (const std::uint32_t threads : {1U, 2U, 4U, 8U}) {
      if (threads <= cores)
        runs.push_back({.batch_size = size, .thread_count = threads, .measured = {}});
    }
  }
  return runs;
}

Result<loader::Measured> measure_run(Context& context, const BenchCommandOptions& options,
                                     const BenchRun& run, std::uint32_t batch_count) {
  XTTS_ASSIGN(auto view, reader::CacheView::open(context.env, options.cache));
  if (options.is_cold) {
    XTTS_TRY(loader::drop_from_memory(options.cache, view->manifest()));
  }
  loader::MeasureOptions settings;
  settings.reader = {.batch_size = run.batch_size,
                     .split = options.split,
                     .shuffle = shuffle_of(options.shuffle),
                     .thread_count = run.thread_count,
                     .device = options.device,
                     .reading = reading_of(options.reading)};
  settings.batch_count = batch_count;
  settings.cancelled = stop_requested;
  return loader::measure(view, settings);
}

Result<BenchQuestion> question_of(Context& context, const BenchCommandOptions& options) {
  XTTS_ASSIGN(const auto view, reader::CacheView::open(context.env, options.cache));
  const formats::ColumnSpec& column = view->manifest().columns.front().spec;
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
  if (options.pictures.are_wanted()) XTTS_TRY(find_draw_program().status());
  std::vector<BenchRun> runs = runs_of_sweep();
  if (!options.sweeps) {
    runs = {{.batch_size = batch_size, .thread_count = thread_count, .measured = {}}};
  }
  std::vector<BenchRun> measured;
  for (BenchRun& run : runs) {
    auto result = measure_run(context, options, run, batch_count);
    // A small cache cannot fill the larger batches of a sweep, so we leave those out.
    const bool is_too_small = options.sweeps && !measured.empty() &&
                              result.status().code() == StatusCode::kInvalidArgument;
    if (is_too_small) continue;
    if (!result.ok()) return result.status();
    run.measured = std::move(*result);
    measured.push_back(std::move(run));
  }
  if (!writes_to_stdout) context.print(describe_bench(question, measured));
  context.print_json(bench_to_json(question, measured));
  if (!options.pictures.are_wanted()) return {};
  const BenchRun& run = choose_run(question, measured);
  return write_pictures(context, options.pictures,
                        report::batch_times_figure(pass_of(question, run).batch_ms,
                                                   "Batches of " + std::to_string(run.batch_size) +
                                                       " from " + options.cache));
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
      .option("--device", options->device, "NAME", "Where batches are consumed")
      .option("-j,--threads", options->thread_count, "N", "Threads that fill batches")
      .flag("--sweep", options->sweeps,
            "Try batches of 8, 16, 32, 64 with 1 to 8 threads, and recommend")
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
