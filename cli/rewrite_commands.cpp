// compact, convert and merge: each writes a new cache from existing caches.
#include <optional>
#include <thread>
#include <utility>

#include "base/formatted.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "formats/enum_names.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "maintain/merge.hpp"
#include "maintain/rewrite.hpp"
#include "reader/cache_view.hpp"
#include "recipe/recipe_file.hpp"
#include "report/human.hpp"
#include "request/option_values.hpp"

namespace xtts::cli {
namespace {

using report::format_counted;
using report::format_size;

struct RewriteOptions {
  std::string from;
  std::string to;
  std::string store;
  std::string layout;
  std::string dtype;
  std::string bake;
  std::uint32_t thread_count = 0;
  bool keep_statistics = false;
};

struct MergeOptions {
  std::string to;
  std::vector<std::string> parts;
  std::string max_rejects = "5%";
  std::uint32_t thread_count = 0;
  bool allow_mixed = false;
};

// Any thread may report progress.
class RewriteProgress {
 public:
  explicit RewriteProgress(Context& context) : view_(context) {}

  void update(const char* step, std::uint64_t done, std::uint64_t total) {
    view_.update([&] { return formatted("{} of {}", report::format_share(done, total), step); });
  }
  void clear() {
    view_.clear();
    graceful_stop_.reset();
  }

 private:
  ProgressView view_;
  std::optional<GracefulStopScope> graceful_stop_{std::in_place};
};

maintain::WriteRun run_of(Context& context, std::uint32_t thread_count, RewriteProgress& progress) {
  return {.thread_count =
              thread_count != 0 ? thread_count : std::max(1U, std::thread::hardware_concurrency()),
          .progress = [&progress](const char* step, std::uint64_t done,
                                  std::uint64_t total) { progress.update(step, done, total); },
          .cancelled = stop_requested,
          .notice = [&context](const std::string& text) { context.warn(text); }};
}

nlohmann::json report_to_json(const maintain::RewriteReport& report) {
  return {{"unchanged", report.unchanged},
          {"generation_before", report.generation_before},
          {"records", report.record_count},
          {"left_behind", report.left_behind_count},
          {"baked", report.is_baked},
          {"bytes_before", report.bytes_before},
          {"bytes_after", report.bytes_after},
          {"statistics_changed", report.statistics_changed},
          {"completed", report.is_completed},
          {"bytes_freed", report.left_over.freed_bytes},
          {"bytes_held", report.left_over.held_bytes}};
}

void warn_of_statistics(Context& context, const maintain::RewriteReport& report) {
  if (!report.statistics_changed) return;
  context.warn(
      "mean and deviation are those of the clips that are there now, not those of the first "
      "publication: a model that was trained with the old ones needs --keep-statistics");
}

Status run_compact(Context& context, const RewriteOptions& options) {
  RewriteProgress progress(context);
  const auto report =
      maintain::compact(context.env, {.cache = options.from,
                                      .keep_statistics = options.keep_statistics,
                                      .run = run_of(context, options.thread_count, progress)});
  progress.clear();
  if (!report) return report.status();
  if (report->unchanged && report->left_over.freed_bytes > 0) {
    context.summarize(
        formatted("removed {} of an older generation, which a compact has left that was killed or "
                  "ran beside a reader; {} is one generation, its bytes are canonical\n",
                  format_size(report->left_over.freed_bytes), options.from));
  } else if (report->unchanged) {
    context.summarize(
        formatted("nothing to do: {} is one generation, its bytes are canonical\n", options.from));
  } else {
    context.summarize(
        formatted("compacted {} into one: {}, {} before, {} now, every byte verified\n",
                  format_counted(report->generation_before, "generation", "generations"),
                  format_counted(report->record_count, "record", "records"),
                  format_size(report->bytes_before), format_size(report->bytes_after)));
  }
  if (report->left_over.held_bytes > 0) {
    context.warn(
        formatted("a reader holds an older generation: its {} stay. When it has ended, {} removes "
                  "them, and so does the next build",
                  format_size(report->left_over.held_bytes),
                  command_in_text("xtts-precompute compact " + shell_quoted(options.from))));
  }
  warn_of_statistics(context, *report);
  context.print_json(report_to_json(*report));
  return {};
}

// Takes the storage of the cache, with the changes that the options ask for.
Result<formats::StorageConfig> storage_of(Context& context, const RewriteOptions& options) {
  XTTS_ASSIGN(const auto view, reader::CacheView::open(context.env, options.from));
  XTTS_ASSIGN(auto recipe, formats::recipe_of(view->manifest()));
  const auto set = [&](const std::string& key, const std::string& value) {
    return value.empty() ? Status() : recipe::apply_setting(context.env, recipe, key + "=" + value);
  };
  XTTS_TRY(set("storage.store", options.store));
  XTTS_TRY(set("storage.layout", options.layout));
  XTTS_TRY(set("storage.dtype", options.dtype));
  return recipe.storage;
}

Status run_convert(Context& context, const RewriteOptions& options) {
  XTTS_ASSIGN(const auto storage, storage_of(context, options));
  RewriteProgress progress(context);
  const auto report =
      maintain::convert(context.env, {.from = options.from,
                                      .to = options.to,
                                      .storage = storage,
                                      .bake_corpus = !options.bake.empty(),
                                      .run = run_of(context, options.thread_count, progress)});
  progress.clear();
  if (!report) return report.status();
  const std::string what = report->is_completed
                               ? "completed a convert that was killed after it had published: "
                               : "converted ";
  context.summarize(formatted("{}{} to {} {} in {}{}: {} before, {} now, every byte verified\n",
                              what, format_counted(report->record_count, "record", "records"),
                              formats::name_of(storage.layout), to_string(storage.dtype),
                              formats::name_of(storage.store),
                              options.bake.empty() ? "" : ", normalized by the corpus' statistics",
                              format_size(report->bytes_before), format_size(report->bytes_after)));
  context.print_json(report_to_json(*report));
  return {};
}

Status run_merge(Context& context, const MergeOptions& options) {
  XTTS_ASSIGN(const auto max_rejects,
              request::parse_reject_limit("--max-rejects", options.max_rejects));
  RewriteProgress progress(context);
  const auto report =
      maintain::merge(context.env, {.to = options.to,
                                    .parts = options.parts,
                                    .max_rejects = max_rejects,
                                    .allow_mixed = options.allow_mixed,
                                    .run = run_of(context, options.thread_count, progress)});
  progress.clear();
  if (!report) return report.status();
  std::string how = " (linked: the parts may go)";
  if (report->copied_count > 0)
    how = formatted(" ({} of them copied, every byte verified)", report->copied_count);
  if (report->is_completed) how = " (every byte verified: the parts may go)";
  context.summarize(formatted(
      "{}{}: {} in {}{}, {}, {}\n",
      report->is_completed ? "completed a merge that was killed after it had published: "
                           : "merged ",
      format_counted(report->part_count, "part", "parts"),
      format_counted(report->record_count, "record", "records"),
      format_counted(report->shard_count, "shard", "shards"), how,
      format_counted(report->reject_count, "reject", "rejects"), format_size(report->cache_bytes)));
  context.print_json({{"parts", report->part_count},
                      {"records", report->record_count},
                      {"rejects", report->reject_count},
                      {"shards", report->shard_count},
                      {"copied", report->copied_count},
                      {"completed", report->is_completed},
                      {"bytes", report->cache_bytes}});
  return {};
}

}  // namespace

void add_compact_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<RewriteOptions>();
  Command(app, context, "compact", "Rewrite the generations of a cache as one, in canonical bytes")
      .required("CACHE", options->from, "The cache's folder")
      .flag("--keep-statistics", options->keep_statistics,
            "Keep the mean and deviation of the first publication")
      .threads(options->thread_count)
      .notes(
          "The old files of updates go, and the bytes become those of a first build. There has to "
          "be room\n"
          "for the cache once more. Readers keep the generation that they opened. No source is "
          "read.")
      .examples("xtts-precompute compact ./cache")
      .runs([&context, options] { return run_compact(context, *options); });
}

void add_convert_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<RewriteOptions>();
  Command(app, context, "convert", "Copy a cache into another storage, without the sources")
      .required("CACHE", options->from, "The cache's folder")
      .required("NEW", options->to, "The folder to make")
      .choice("--store", options->store, {"lmdb", "hdf5"}, "The file format of shards")
      .choice("--layout", options->layout, {"padded", "packed"},
              "padded: ready tensors; packed: records of their true lengths")
      .choice("--dtype", options->dtype, {"float32", "float16", "bfloat16"},
              "The number type of the stored features")
      .choice("--bake", options->bake, {"corpus"},
              "Store each channel as (x - mean) / deviation of the corpus")
      .threads(options->thread_count)
      .notes(
          "--bake corpus normalizes once, as readers can do in each epoch: the bits are the same. "
          "The means\n"
          "and deviations are 'statistics' of 'xtts-precompute info --json'. Padding stays as it "
          "is. A baked\n"
          "cache takes no new clips: update the cache that it was made from, and bake that again.")
      .examples(
          "xtts-precompute convert ./cache ./cache16 --layout packed --dtype float16\n"
          "xtts-precompute convert ./cache ./for_h5py --store hdf5\n"
          "xtts-precompute convert ./cache ./normalized --bake corpus\n"
          "xtts-precompute diff ./cache ./cache16   # how much rounding has cost")
      .runs([&context, options] { return run_convert(context, *options); });
}

void add_merge_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<MergeOptions>();
  Command(app, context, "merge",
          "Join the parts that `xtts-precompute build --partition` made on several machines")
      .required("NEW", options->to, "The folder to make")
      .required("PART", options->parts, "The folders of all parts, in any order")
      .option("--max-rejects", options->max_rejects, "N|P%",
              "How many faulty clips are tolerated, in all parts together")
      .flag("--allow-mixed", options->allow_mixed,
            "Join what different CPUs or library versions made")
      .threads(options->thread_count)
      .notes(
          "The result is what one build makes, byte for byte. No feature is read: shards get a "
          "second name,\n"
          "or are copied if NEW is on another file system. A part that is missing, doubled or of "
          "another\n"
          "recipe is named, and nothing is made.")
      .examples(
          "xtts-precompute build ./data ./part-1 --partition 1/2   # on one machine\n"
          "xtts-precompute build ./data ./part-2 --partition 2/2   # on another\n"
          "xtts-precompute merge ./cache ./part-1 ./part-2")
      .runs([&context, options] { return run_merge(context, *options); });
}

}  // namespace xtts::cli
