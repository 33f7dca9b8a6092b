// xtts-precompute build DATA CACHE: options -> BuildRequest, and what a person sees of the build.
#include <chrono>
#include <optional>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/build_flags.hpp"
#include "cli/build_view.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "corpus/several_corpora.hpp"
#include "pipeline/build.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_request.hpp"
#include "recipe/trainer_config.hpp"
#include "report/human.hpp"
#include "report/progress_meter.hpp"
#include "request/build_json.hpp"
#include "request/build_options.hpp"

namespace xtts::cli {
namespace {

class Observer final : public pipeline::BuildObserver {
 public:
  Observer(Context& context, const pipeline::BuildRequest& request)
      : context_(context), request_(request), view_(context) {}

  [[nodiscard]] bool wants_estimate() const override {
    return request_.options.dry_run || shows_preview();
  }

  void notice(const std::string& text) override { context_.warn(text); }

  void before(const pipeline::BuildPreview& preview) override {
    if (request_.options.dry_run) {
      preview_ = preview;
    } else if (shows_preview()) {
      context_.err.write(describe_preview(request_, preview));
    }
  }

  void progress(const pipeline::BuildProgress& progress) override {
    meter_.update(context_.env.now(), {.done = progress.done_count,
                                       .total = progress.total_count,
                                       .rejects = progress.reject_count,
                                       .sound_seconds = progress.sound_seconds,
                                       .bytes = progress.source_bytes});
    view_.update(meter_);
  }

  [[nodiscard]] bool cancelled() const override { return stop_requested(); }

  void finish() { view_.clear(); }

  // The preview that a dry run prints.
  [[nodiscard]] const pipeline::BuildPreview& preview() const { return preview_; }

 private:
  [[nodiscard]] bool shows_preview() const {
    return context_.shows_progress() && !context_.flags.json;
  }

  Context& context_;
  const pipeline::BuildRequest& request_;
  ProgressView view_;
  report::ProgressMeter meter_;
  pipeline::BuildPreview preview_;
};

// Writes the corpora in DATA as a file to build from. Builds nothing.
Status write_corpora(Context& context, const pipeline::BuildRequest& request,
                     const std::string& path) {
  XTTS_ASSIGN(const auto entries,
              corpus::find_corpora(context.env, request.data, request.recipe.corpus));
  if (entries.empty()) {
    return {StatusCode::kInvalidArgument,
            request.data.path +
                " holds no folders of known corpora, so --write-corpora has nothing to write: "
                "build from it without --write-corpora"};
  }
  if (context.env.stat(path).ok()) {
    return {StatusCode::kInvalidArgument,
            path + " is there already: name a new file for --write-corpora"};
  }
  const std::string yaml = corpus::corpora_yaml(entries);
  XTTS_ASSIGN(const auto file, context.env.open_for_write(path, WriteMode::kTruncate));
  XTTS_TRY(file->append(as_bytes(std::string_view(yaml))));
  XTTS_TRY(file->close());
  context.inform(
      formatted("wrote {}, which names {}: check it, then build with it in place of DATA", path,
                report::format_counted(entries.size(), "corpus", "corpora")));
  context.print_json({{"wrote", path}, {"corpora", entries.size()}});
  return {};
}

Status run_build(Context& context, const BuildOptions& options, const std::string& corpora_path) {
  XTTS_ASSIGN(const auto request, request::request_of(context.env, options, context.caller,
                                                      [&](const recipe::TrainerConfig& config) {
                                                        tell_trainer_keys(context, config);
                                                      }));
  if (!corpora_path.empty()) return write_corpora(context, request, corpora_path);
  const auto begin = context.env.now();
  Observer observer(context, request);
  std::optional<GracefulStopScope> graceful_stop;
  if (!request.options.dry_run) graceful_stop.emplace();
  auto report = pipeline::build(context.env, request, observer);
  graceful_stop.reset();
  observer.finish();
  const double elapsed_s = std::chrono::duration<double>(context.env.now() - begin).count();
  if (!report) {
    const StatusCode code = report.status().code();
    if (code != StatusCode::kCancelled) return report.status();
    return {StatusCode::kCancelled,
            "stopped: finished shards are kept; run the same command to go on"};
  }
  if (!request.options.dry_run) {
    context.summarize(describe_report(request, *report, elapsed_s));
  } else if (report->unchanged) {
    context.print(describe_report(request, *report, elapsed_s));
  } else {
    context.print(describe_preview(request, observer.preview()));
  }
  context.print_json(request.options.dry_run
                         ? request::preview_to_json(request, observer.preview())
                         : request::report_to_json(request, *report, elapsed_s));
  return {};
}

// With --part, the one folder that is named is CACHE.
Status place_folders(const std::string& data_here, const std::string& corpora_path,
                     BuildOptions& options) {
  if (options.part.empty()) {
    if (data_here.empty()) return {};
    return {StatusCode::kInvalidArgument,
            "--data says where DATA is for --part: without it, DATA stands before CACHE"};
  }
  if (options.data.empty() || !options.cache.empty() || !corpora_path.empty()) {
    return {StatusCode::kInvalidArgument,
            "--part has DATA from its plan, and takes CACHE alone: 'xtts-precompute build --part "
            "PLAN/0007 CACHE', with --data DIR where DATA is elsewhere on this machine"};
  }
  options.cache = std::move(options.data);
  options.data = data_here;
  return {};
}

}  // namespace

void add_build_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<BuildOptions>();
  auto lists = std::make_shared<ListFlags>();
  auto corpora_path = std::make_shared<std::string>();
  auto data_here = std::make_shared<std::string>();
  Command command(app, context, "build",
                  "Make a cache from DATA, continue an interrupted one, or bring one up to date");
  command
      .required("DATA", options->data,
                "A corpus in a known layout, any folder of audio, or a corpora.yaml")
      .required("CACHE", options->cache, "The cache's folder")
      .option_in_place_of("--part", options->part, "PLAN/PART",
                          "Build this part of a plan, which `xtts-precompute plan` makes, in place "
                          "of DATA",
                          {"DATA", "CACHE"})
      .option("--data", *data_here, "DIR",
              "With --part: where DATA is on this machine (default: where it was planned)");
  add_recipe_options(command, *options);
  command.threads(options->thread_count);
  add_machine_options(command, *options);
  command
      .option("--max-gone", options->max_gone, "P%",
              "The share of the cache's clips that may have vanished from DATA")
      .flag("--no-text", options->no_text,
            "Store sound without texts, even if a list cannot be read")
      .option("--partition", options->partition, "I/N",
              "Build only part I of N (from 1); `xtts-precompute merge` joins the parts")
      .flag("--retry-rejects", options->retry_rejects, "Try rejected clips again")
      .flag(
          "--overwrite", options->overwrite,
          "Build anew, by the recipe of CACHE or another; the published cache stays until the new "
          "one is complete")
      .flag("--discard-unfinished", options->discard_unfinished,
            "Give up the unfinished build, or the unfinished column, that lies in CACHE")
      .flag("--allow-mixed", options->allow_mixed,
            "Add to a cache that another CPU or library version made")
      .flag("--dry-run", options->dry_run, "Say what would be done, and stop")
      .option("--write-corpora", *corpora_path, "FILE",
              "Write a corpora.yaml that names the corpora in DATA, and stop");
  add_list_flags(command, *lists);
  command
      .examples(
          "xtts-precompute ./data ./cache                             # the short form of build\n"
          "xtts-precompute build ./data ./cache --dry-run             # clips, hours, sizes, time\n"
          "xtts-precompute build ./data ./cache --config config.yaml  # the trainer's own keys\n"
          "xtts-precompute build ./data ./cache --layout packed --dtype float16 "
          "--set max_frames=1024\n"
          "xtts-precompute build --part ./plan/0007 ./part-7          # one of many machines")
      .runs([&context, options, lists, corpora_path, data_here] {
        BuildOptions all = *options;
        XTTS_TRY(place_folders(*data_here, *corpora_path, all));
        for (std::string& setting : settings_of(*lists)) all.settings.push_back(setting);
        return run_build(context, all, *corpora_path);
      });
}

}  // namespace xtts::cli
