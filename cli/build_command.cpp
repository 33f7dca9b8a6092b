// xtts-precompute build DATA CACHE: options -> BuildRequest, and what a person sees of the build.

#include <charconv>
#include <chrono>
#include <cmath>

#include "base/try.hpp"
#include "cli/build_view.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/isa_option.hpp"
#include "cli/reject_limit_option.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "corpus/corpus.hpp"
#include "formats/canonical_json.hpp"
#include "pipeline/build.hpp"
#include "recipe/corpora_file.hpp"
#include "recipe/recipe_file.hpp"
#include "report/human.hpp"
#include "report/progress.hpp"
#include "report/rate.hpp"

namespace xtts::cli {
namespace {

constexpr std::uint32_t kPartsMax = 100'000;

struct BuildOptions {
  std::string data;
  std::string cache;
  std::string recipe = "myxtts";
  std::vector<std::string> settings;
  std::string config;
  std::string layout_of_data;
  std::string language;
  std::string speakers_file;
  std::string store;
  std::string layout;
  std::string dtype;
  std::string device = "auto";
  std::string isa = "best";
  std::string memory;
  std::string max_rejects = "5%";
  std::string partition;
  std::uint32_t thread_count = 0;
  bool retry_rejects = false;
  bool overwrite = false;
  bool allow_mixed = false;
  bool dry_run = false;
};

Status bad_option(const std::string& option, const std::string& value,
                  const std::string& expected) {
  return {StatusCode::kInvalidArgument, option + " '" + value + "': " + expected};
}

// "512M", "2GiB", "1073741824".
Result<std::uint64_t> parse_size(const std::string& option, const std::string& text) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  std::string suffix(unit, end);
  if (suffix.size() > 1 && (suffix.substr(1) == "iB" || suffix.substr(1) == "B")) suffix.resize(1);
  const std::string units = "BKMGT";
  const auto place = suffix.empty()       ? 0
                     : suffix.size() == 1 ? units.find(suffix[0])
                                          : std::string::npos;
  if (error != std::errc() || place == std::string::npos || !(number > 0.0)) {
    return bad_option(option, text, "a size such as 512M or 2G");
  }
  const double size_bytes = std::ldexp(number, static_cast<int>(10 * place));
  if (size_bytes > 0x1p60) return bad_option(option, text, "more than any machine has");
  return static_cast<std::uint64_t>(size_bytes);
}

// "100" clips, or "5%" of them.
Result<std::vector<std::string>> read_speakers(Env& env, const std::string& path) {
  constexpr std::uint64_t kBytesMax = std::uint64_t{64} << 20U;
  XTTS_ASSIGN(const std::string text, read_text_file(env, path, kBytesMax));
  std::vector<std::string> names;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string name = text.substr(start, end - start);
    if (name.ends_with('\r')) name.pop_back();
    if (!name.empty()) names.push_back(std::move(name));
    start = end + 1;
  }
  return names;
}

// The trainer's config: what is honoured is in the recipe now; what is not reproduced is said, a
// line each.
void tell_trainer_keys(Context& context, const recipe::TrainerConfig& config) {
  std::size_t honoured = 0;
  std::size_t no_effect = 0;
  for (const auto& key : config.keys) {
    switch (key.kind) {
      case recipe::KeyClass::kHonoured:
        ++honoured;
        context.debug(key.key + ": " + key.note);
        break;
      case recipe::KeyClass::kNoEffect:
        ++no_effect;
        context.debug(key.key + ": " + key.note);
        break;
      case recipe::KeyClass::kNotReproduced:
        context.warn(key.key + " is not reproduced: " + key.note);
        break;
    }
  }
  context.inform("config: " + std::to_string(honoured) + " keys honoured, " +
                 std::to_string(no_effect) +
                 " without effect on features (--log-level debug lists them)");
}

Result<formats::Recipe> recipe_of(Context& context, const BuildOptions& options) {
  XTTS_ASSIGN(formats::Recipe recipe, recipe::load(context.env, options.recipe));
  if (!options.config.empty()) {
    XTTS_ASSIGN(auto config,
                recipe::apply_trainer_config(context.env, options.config, std::move(recipe)));
    tell_trainer_keys(context, config);
    recipe = std::move(config.recipe);
  }
  const auto set = [&](const std::string& key, const std::string& value) {
    return value.empty() ? Status() : recipe::apply_setting(context.env, recipe, key + "=" + value);
  };
  XTTS_TRY(set("corpus.layout", options.layout_of_data));
  XTTS_TRY(set("corpus.language", options.language));
  XTTS_TRY(set("storage.store", options.store));
  XTTS_TRY(set("storage.layout", options.layout));
  XTTS_TRY(set("storage.dtype", options.dtype));
  XTTS_TRY(recipe::apply_settings(context.env, recipe, options.settings));
  XTTS_TRY(recipe::check(recipe));
  return recipe;
}

// "2/8".
Result<pipeline::PartitionChoice> parse_partition(const std::string& text) {
  pipeline::PartitionChoice choice{.index = 0, .count = 0};
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, choice.index);
  if (index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, choice.count);
    if (count.ec == std::errc() && count.ptr == end && choice.index >= 1 &&
        choice.index <= choice.count && choice.count <= kPartsMax)
      return choice;
  }
  return bad_option("--partition", text,
                    "I/N, where part I of N is counted from 1, and N is at most " +
                        std::to_string(kPartsMax));
}

Result<pipeline::BuildRequest> request_of(Context& context, const BuildOptions& options) {
  pipeline::BuildRequest request;
  request.data = options.data;
  request.cache = options.cache;
  if (options.device != "auto" && options.device != "cpu") {
    return Status(StatusCode::kUnsupported,
                  "--device " + options.device + ": this build computes on the cpu only");
  }
  XTTS_ASSIGN(request.isa, parse_isa(options.isa));
  XTTS_ASSIGN(request.max_rejects, parse_reject_limit(options.max_rejects));
  request.run.thread_count =
      options.thread_count > 0 ? options.thread_count : pipeline::default_thread_count();
  request.run.memory_bytes = pipeline::default_memory_bytes();
  request.run.decoder_command = decoder_command();
  if (!options.memory.empty()) {
    XTTS_ASSIGN(request.run.memory_bytes, parse_size("--memory", options.memory));
    if (request.run.memory_bytes < pipeline::kMemoryBytesMin) {
      return bad_option("--memory", options.memory,
                        "at least 512M: two shard images alone take 256 MiB");
    }
  }
  if (!options.partition.empty()) {
    XTTS_ASSIGN(request.partition, parse_partition(options.partition));
  }
  if (!options.speakers_file.empty()) {
    XTTS_ASSIGN(request.known_speakers, read_speakers(context.env, options.speakers_file));
  }
  XTTS_ASSIGN(request.recipe, recipe_of(context, options));
  if (recipe::is_corpora_file(options.data)) {
    XTTS_ASSIGN(request.corpora, recipe::load_corpora(context.env, options.data));
  }
  request.overwrite = options.overwrite;
  request.allow_mixed = options.allow_mixed;
  request.retry_rejects = options.retry_rejects;
  request.dry_run = options.dry_run;
  return request;
}

class Observer final : public pipeline::BuildObserver {
 public:
  Observer(Context& context, const pipeline::BuildRequest& request)
      : context_(context), request_(request), view_(context) {}

  [[nodiscard]] bool wants_estimate() const override {
    return request_.dry_run || !context_.flags.quiet;
  }

  void notice(const std::string& text) override { context_.warn(text); }

  void before(const pipeline::BuildPreview& preview) override {
    if (request_.dry_run) {
      context_.print(describe_preview(request_, preview));
      context_.print_json(preview_to_json(request_, preview));
    } else if (!context_.flags.quiet && !context_.flags.json) {
      context_.err.write(describe_preview(request_, preview));
    }
  }

  void progress(const pipeline::BuildProgress& progress) override {
    const auto now = context_.env.now();
    if (!clips_) {
      // Counting starts where an interrupted build had stopped.
      start_ = progress;
      clips_.emplace(now);
      sound_.emplace(now);
      bytes_.emplace(now);
    }
    clips_->update(now, static_cast<double>(progress.done_count - start_.done_count));
    sound_->update(now, progress.sound_seconds);
    bytes_->update(now, static_cast<double>(progress.source_bytes));
    const auto shown = [&] {
      return report::Progress{.done = progress.done_count,
                              .total = progress.total_count,
                              .rejects = progress.reject_count,
                              .clips_per_s = clips_->per_second(),
                              .realtime_factor = sound_->per_second(),
                              .bytes_per_s = bytes_->per_second(),
                              .seconds_left = clips_->seconds_left(
                                  static_cast<double>(progress.total_count - start_.done_count))};
    };
    view_.update(
        {.bar = [&](std::size_t width) { return report::render_progress_bar(shown(), width); },
         .line = [&] { return report::render_progress_line(shown()); }});
  }

  [[nodiscard]] bool cancelled() const override { return stop_requested(); }

  void finish() { view_.clear(); }

 private:
  Context& context_;
  const pipeline::BuildRequest& request_;
  ProgressView view_;
  pipeline::BuildProgress start_;
  std::optional<report::RateEstimator> clips_, sound_, bytes_;
};

Status run_build(Context& context, const BuildOptions& options) {
  XTTS_ASSIGN(const auto request, request_of(context, options));
  const auto begin = context.env.now();
  Observer observer(context, request);
  auto report = pipeline::build(context.env, request, observer);
  observer.finish();
  const double elapsed_s = std::chrono::duration<double>(context.env.now() - begin).count();
  if (!report) {
    const StatusCode code = report.status().code();
    if (code != StatusCode::kCancelled) return report.status();
    return {StatusCode::kCancelled, "stopped; finished shards are kept, the same command goes on"};
  }
  if (request.dry_run) return {};
  context.summarize(describe_report(request, *report, elapsed_s));
  context.print_json(report_to_json(request, *report, elapsed_s));
  return {};
}

std::string layout_choices() {
  std::string text;
  for (const auto& layout : corpus::layout_names())
    text += (text.empty() ? "{" : ",") + std::string(layout.name);
  return text + "}";
}

}  // namespace

void add_build_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<BuildOptions>();
  Command(app, context, "build",
          "Make a cache from DATA, continue an interrupted one, or bring one up to date")
      .required("DATA", options->data, "A corpus in a known layout, any folder of audio, or a corpora.yaml")
      .required("CACHE", options->cache, "The cache's folder")
      .option("--recipe", options->recipe, "NAME|FILE",
              "A shipped recipe (see `recipes`) or a YAML file")
      .repeated("--set", options->settings, "KEY=VALUE",
                "One key of the recipe: --set max_frames=1024")
      .option("--config", options->config, "FILE",
              "The trainer's config.yaml: its data keys are read")
      .option("--layout-of-data", options->layout_of_data, layout_choices(),
              "What DATA is (default: auto)")
      .option("--language", options->language, "NAME", "Language of clips whose list does not say")
      .option("--speakers", options->speakers_file, "FILE",
              "Speaker names in the order of their numbers, one a line")
      .option("--store", options->store, "{lmdb,hdf5}", "What shards are: LMDB or HDF5 files")
      .option("--layout", options->layout, "{padded,packed}",
              "Ready tensors, or records of their true lengths")
      .option("--dtype", options->dtype, "{float32,float16,bfloat16}", "Of the stored mels")
      .threads(options->thread_count)
      .option("--device", options->device, "{auto,cpu}", "What computes")
      .option("--isa", options->isa, "{best,scalar,avx2,avx512}", "Instruction set")
      .option("--memory", options->memory, "SIZE",
              "At most this much (default: a quarter of RAM, 2G at most)")
      .option("--max-rejects", options->max_rejects, "N|P%", "Faulty clips that are tolerated")
      .option("--partition", options->partition, "I/N",
              "Only part I of N (from 1), for `merge` to join")
      .flag("--retry-rejects", options->retry_rejects, "Try rejected clips again")
      .flag("--overwrite", options->overwrite, "Begin anew; what is published stays until the end")
      .flag("--allow-mixed", options->allow_mixed,
            "Add to a cache that another CPU or library version made")
      .flag("--dry-run", options->dry_run, "Say what would be done, and stop")
      .examples(
          "xtts-precompute ./data ./cache                             # the short form of build\n"
          "xtts-precompute build ./data ./cache --dry-run             # clips, hours, sizes, time\n"
          "xtts-precompute build ./data ./cache --config config.yaml  # the trainer's own keys\n"
          "xtts-precompute build ./data ./cache --layout packed --dtype float16 "
          "--set max_frames=1024")
      .runs([&context, options] { return run_build(context, *options); });
}

}  // namespace xtts::cli
