// xtts-precompute build DATA CACHE: options -> BuildRequest, and what a person sees of the build.
#include <chrono>
#include <optional>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/build_view.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "corpus/corpus.hpp"
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

// Reports on the trainer's config: the recipe that it has chosen, and a line for each setting that
// is not reproduced.
void tell_trainer_keys(Context& context, const recipe::TrainerConfig& config) {
  std::size_t honoured = 0;  // keys of the file
  std::size_t no_effect = 0;
  for (const auto& key : config.keys) {
    if (key.kind == recipe::KeyClass::kNotReproduced) continue;
    std::size_t& count = key.kind == recipe::KeyClass::kHonoured ? honoured : no_effect;
    if (!key.is_default) ++count;
    context.debug(formatted("{}: {}", key.key, key.note));
  }
  for (const std::string& line : config.choices) context.inform("config: " + line);
  for (const std::string& line : request::not_reproduced(config)) context.warn(line);
  context.inform(
      formatted("config: {} honoured, {} without effect on features (--log-level debug lists them)",
                report::format_counted(honoured, "key", "keys"), no_effect));
}

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

// Flags that say how to read lists: each is short for a setting of the recipe.
struct ListFlags {
  std::string audio, id, text, normalized, speaker, language, split, start, end, encoding;
};

std::vector<std::string> settings_of(const ListFlags& lists) {
  std::vector<std::string> settings;
  for (const auto& [key, name] : {std::pair("audio", &lists.audio),
                                  {"id", &lists.id},
                                  {"text", &lists.text},
                                  {"normalized", &lists.normalized},
                                  {"speaker", &lists.speaker},
                                  {"language", &lists.language},
                                  {"split", &lists.split},
                                  {"start", &lists.start},
                                  {"end", &lists.end}}) {
    if (!name->empty())
      settings.push_back(formatted("corpus.{}_column={}", std::string(key), *name));
  }
  if (!lists.encoding.empty()) settings.push_back("corpus.encoding=" + lists.encoding);
  return settings;
}

void add_list_flags(Command& command, ListFlags& lists) {
  const auto add = [&](const std::string& name, std::string& value, const std::string& what) {
    command.option(formatted("--{}-column", name), value, "NAME", what);
  };
  add("audio", lists.audio, "The column that names the audio, in a CSV, TSV or JSONL list");
  add("id", lists.id, "The column with ids");
  add("text", lists.text, "The column with texts");
  add("normalized", lists.normalized, "The column with normalized texts");
  add("speaker", lists.speaker, "The column with speakers");
  add("language", lists.language, "The column with languages");
  add("split", lists.split, "The column with train, validation or test");
  add("start", lists.start, "The column that says where a clip begins in its file, in seconds");
  add("end", lists.end, "The column that says where a clip ends, in seconds");
  command.option("--encoding", lists.encoding, "NAME",
                 "The encoding of the lists, such as cp1256 or UTF-16LE (default: UTF-8, or UTF-16 "
                 "with its mark)");
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
  auto lists = std::make_shared<ListFlags>();
  auto corpora_path = std::make_shared<std::string>();
  Command command(app, context, "build",
                  "Make a cache from DATA, continue an interrupted one, or bring one up to date");
  command
      .required("DATA", options->data,
                "A corpus in a known layout, any folder of audio, or a corpora.yaml")
      .required("CACHE", options->cache, "The cache's folder")
      .option(
          "--recipe", options->recipe, "NAME|FILE",
          "A shipped recipe (see `xtts-precompute recipes`) or a YAML file (default: what --config "
          "asks for, else the recipe of CACHE, else myxtts)")
      .repeated("--set", options->settings, "KEY=VALUE",
                "One key of the recipe: --set max_frames=1024; CACHE keeps it")
      .option("--config", options->config, "FILE",
              "The trainer's config.yaml, whose data keys choose recipe and settings")
      .option("--layout-of-data", options->layout_of_data, layout_choices(),
              "The layout of DATA (default: auto)")
      .repeated(
          "--audio-root", options->audio_roots, "DIR",
          "A folder outside of DATA that lists and links may lead to (default: those of the last "
          "build)")
      .option("--language", options->language, "NAME", "Language of clips whose list does not say")
      .option("--speakers", options->speakers_file, "FILE",
              "A file of speaker names, one a line, in the order of their numbers")
      .choice("--store", options->store, {"lmdb", "hdf5"},
              "The file format of shards: LMDB or HDF5")
      .choice("--layout", options->layout, {"padded", "packed"},
              "padded: ready tensors; packed: records of their true lengths")
      .choice("--dtype", options->dtype, {"float32", "float16", "bfloat16"},
              "The number type of the stored mels")
      .threads(options->thread_count)
      .option("--device", options->device, "{auto,cpu,cuda}",
              "Where features are computed; cuda:1 is the second GPU (auto: as the cache was made, "
              "else on the CPU)")
      .option("--isa", options->isa, "{best,scalar,avx2,avx512}",
              "The instruction set of the features; FFTW (but for scalar), FFmpeg and libsoxr "
              "choose their own")
      .option("--memory", options->memory, "SIZE",
              "The most memory to use (default: a quarter of RAM, 2G at most)")
      .option("--max-rejects", options->max_rejects, "N|P%", "How many faulty clips are tolerated")
      .option("--max-dropped", options->max_dropped, "P%",
              "The share of clips or hours that rules of the recipe may drop")
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
          "--set max_frames=1024")
      .runs([&context, options, lists, corpora_path] {
        BuildOptions all = *options;
        for (std::string& setting : settings_of(*lists)) all.settings.push_back(setting);
        return run_build(context, all, *corpora_path);
      });
}

}  // namespace xtts::cli
