// monitor: what the machine does while it trains, line by line.
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/monitor_view.hpp"
#include "cli/number_option.hpp"
#include "cli/output_file.hpp"
#include "cli/stop_signal.hpp"
#include "probe/monitor.hpp"
#include "request/temporary_folder.hpp"

namespace xtts::cli {
namespace {

struct MonitorCommandOptions {
  probe::MonitorOptions watched;
  std::string interval_ms = "1000";
  std::string for_s;
  std::string csv;
  std::string prometheus;
};

constexpr std::size_t kLinesBetweenHeaders = 20;
constexpr std::size_t kSamplesKept = 100'000;   // a day of seconds
constexpr std::chrono::milliseconds kStep{50};  // how soon a signal is noticed

// Sleeps until the next sample is due. False: a signal came.
bool wait_until(Env& env, std::chrono::nanoseconds due) {
  while (env.now() < due) {
    if (stop_requested()) return false;
    env.sleep_for(std::min<std::chrono::nanoseconds>(kStep, due - env.now()));
  }
  return !stop_requested();
}

// Where `xtts-precompute train` writes what its reader does (myxtts/watch.py); empty: nothing has.
std::string usual_readers(Env& env) {
  const std::string folder =
      join_path(request::temporary_folder(env), formatted("xtts-readers-{}", ::geteuid()));
  return env.stat(folder).ok() ? folder : std::string();
}

class MonitorRun {
 public:
  MonitorRun(Context& context, const MonitorCommandOptions& options)
      : context_(context), options_(options) {}

  Status run() {
    XTTS_ASSIGN(const double interval_ms,
                parse_number_option("--interval", options_.interval_ms, 50.0, 3'600'000.0));
    std::optional<double> for_s;
    if (!options_.for_s.empty()) {
      XTTS_ASSIGN(for_s, parse_number_option("--for", options_.for_s, 0.0, 31'536'000.0));
    }
    probe::MonitorOptions watched = options_.watched;
    if (watched.readers.empty()) watched.readers = usual_readers(context_.env);
    XTTS_ASSIGN(monitor_, probe::Monitor::open(context_.env, watched));
    if (!options_.csv.empty()) {
      XTTS_ASSIGN(csv_, context_.env.open_for_write(options_.csv, WriteMode::kTruncate));
    }
    const GracefulStopScope graceful_stop;  // the last sample's files are written whole
    const auto interval = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double, std::milli>(interval_ms));
    const auto begin = context_.env.now();
    auto due = begin + interval;
    while (wait_until(context_.env, due)) {
      XTTS_TRY(take(monitor_->sample()));
      due = std::max(due + interval, context_.env.now());
      const double passed = std::chrono::duration<double>(context_.env.now() - begin).count();
      if (for_s && passed + 1e-3 * interval_ms / 2.0 >= *for_s) break;
      if (context_.out.is_abandoned()) break;
    }
    if (csv_ != nullptr) XTTS_TRY(csv_->close());
    return tell_verdict();
  }

 private:
  Status take(probe::MonitorSample sample) {
    // A reader or a GPU may appear later: then the columns change, under a new header.
    const bool is_new = samples_.empty() || sample.readers.size() != shown_.readers.size();
    if (is_new) shown_ = sample;
    if (is_new || line_count_ % kLinesBetweenHeaders == 0) context_.print(monitor_header(shown_));
    ++line_count_;
    context_.print(monitor_line(sample, shown_));
    context_.out.flush();
    if (csv_ != nullptr) {
      // The CSV keeps the columns of its first line.
      if (samples_.empty()) first_ = sample;
      const std::string text = (samples_.empty() ? monitor_csv_header(first_) : std::string()) +
                               monitor_csv_line(sample, first_);
      XTTS_TRY(csv_->append(as_bytes(text)));
    }
    if (!options_.prometheus.empty()) {
      const std::string text = monitor_to_prometheus(sample);
      XTTS_TRY(replace_file(context_.env, options_.prometheus, as_bytes(text)));
    }
    if (samples_.size() < kSamplesKept) samples_.push_back(std::move(sample));
    return {};
  }

  Status tell_verdict() {
    const MonitorVerdict verdict = judge_samples(samples_, monitor_->no_gpu());
    context_.summarize(verdict.text + "\n");
    nlohmann::json samples = nlohmann::json::array();
    for (const probe::MonitorSample& sample : samples_) samples.push_back(monitor_to_json(sample));
    const auto or_null = [](const std::optional<double>& value) {
      return value ? nlohmann::json(*value) : nlohmann::json();
    };
    context_.print_json(
        {{"samples", std::move(samples)},
         {"disk", monitor_->disk()},
         {"gpu_missing", monitor_->no_gpu()},
         {"verdict",
          {{"text", verdict.text},
           {"level", verdict.level.empty() ? nlohmann::json() : nlohmann::json(verdict.level)},
           {"mean", or_null(verdict.mean)},
           {"std", or_null(verdict.std)},
           {"period_s", or_null(verdict.period_s)}}}});
    return {};
  }

  Context& context_;
  const MonitorCommandOptions& options_;
  std::unique_ptr<probe::Monitor> monitor_;
  std::unique_ptr<WritableFile> csv_;
  probe::MonitorSample shown_, first_;
  std::size_t line_count_ = 0;
  std::vector<probe::MonitorSample> samples_;
};

}  // namespace

void add_monitor_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<MonitorCommandOptions>();
  Command(app, context, "monitor",
          "Watch GPU, processors, disk, memory and readers while you train")
      .option("--interval", options->interval_ms, "MS", "Milliseconds between two lines")
      .option("--for", options->for_s, "S", "End after so many seconds (default: at Ctrl-C)")
      .option("--cache", options->watched.cache, "CACHE",
              "Also say how much of this cache is in memory")
      .option("--data", options->watched.folder, "DIR", "Watch the disk of this folder")
      .option("--readers", options->watched.readers, "DIR",
              "Also show the readers of programs that run with XTTS_READER_STATS=DIR "
              "(default: that of `xtts-precompute train`)")
      .option("--csv", options->csv, "FILE", "Also write the samples as CSV")
      .option("--prometheus", options->prometheus, "FILE",
              "Keep the last sample there, in Prometheus' text format")
      .notes("With --json, one document follows at the end.")
      .examples(
          "xtts-precompute monitor --for 60                          # in a second terminal\n"
          "xtts-precompute monitor --cache ./cache --csv monitor.csv\n"
          "XTTS_READER_STATS=/tmp/stats python train.py & xtts-precompute monitor --readers "
          "/tmp/stats")
      .runs([&context, options] { return MonitorRun(context, *options).run(); });
}

}  // namespace xtts::cli
