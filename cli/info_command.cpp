// info: what a cache is and what is in it.
#include <algorithm>

#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/clip_description.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "formats/constants.hpp"
#include "formats/enum_names.hpp"
#include "formats/normalization.hpp"
#include "formats/reject.hpp"
#include "formats/rules.hpp"
#include "pipeline/unfinished.hpp"
#include "query/fields.hpp"
#include "reader/cache_paths.hpp"
#include "reader/cache_set.hpp"
#include "report/human.hpp"
#include "report/table.hpp"
#include "request/recipe_note.hpp"

namespace xtts::cli {
namespace {

using nlohmann::json;
using report::Align;
using report::escape_controls;
using report::format_count;
using report::format_counted;
using report::format_duration;
using report::format_size;

struct InfoOptions {
  std::string cache;
  std::string by;
};

struct Group {
  std::string name;
  std::uint64_t clip_count = 0;
  std::uint64_t frame_count = 0;
  double seconds = 0.0;
};

std::uint64_t column_bytes(const formats::ColumnEntry& column) {
  std::uint64_t sum = 0;
  for (const formats::ShardEntry& shard : column.shards) sum += shard.file_bytes;
  return sum;
}

// Describes a column that was added after the build.
std::string addition_text(const formats::ColumnEntry& column) {
  if (!column.axis) return "";
  std::string text = "added";
  if (!column.version.empty()) text += ", version " + escape_controls(column.version);
  if (column.missing_count == 0) return text;
  return formatted("{}, lacks {} (add_column again)", text,
                   format_counted(column.missing_count, "clip", "clips"));
}

json columns_to_json(const formats::Manifest& manifest) {
  json columns = json::array();
  for (const formats::ColumnEntry& column : manifest.columns) {
    std::uint64_t records = 0;
    for (const formats::ShardEntry& shard : column.shards) records += shard.record_count;
    columns.push_back({{"name", column.spec.name},
                       {"dtype", to_string(column.spec.dtype)},
                       {"shape", column.spec.shape},
                       {"layout", formats::name_of(column.spec.layout)},
                       {"shards", column.shards.size()},
                       {"records", records},
                       {"bytes", column_bytes(column)},
                       {"fingerprint", column.spec.fingerprint.to_hex()},
                       {"numerics", column.spec.numerics.to_hex()}});
    if (!column.axis) continue;  // a build made it
    columns.back()["axis"] = formats::name_of(*column.axis);
    columns.back()["version"] = column.version;
    columns.back()["missing"] = column.missing_count;
  }
  return columns;
}

// nullopt: there are no mels, or the recipe is of a newer version.
std::optional<Normalization> known_normalization(const formats::Manifest& manifest) {
  const auto found = formats::normalization_of(manifest);
  return found ? *found : std::nullopt;
}

json manifest_to_json(const std::string& path, const formats::Manifest& manifest,
                      const std::string& recipe_note) {
  json rejects = json::object();
  for (const auto& [kind, count] : manifest.counts.rejects_by_class) rejects[kind] = count;
  json out = {{"path", path},
              {"format_version", formats::kFormatVersion},
              {"generation", manifest.generation},
              {"data_layout", manifest.data_layout},
              {"partition", manifest.partition ? json{{"index", manifest.partition->index},
                                                      {"count", manifest.partition->count}}
                                               : json(nullptr)},
              {"clips", manifest.counts.records},
              {"planned", manifest.counts.planned},
              {"frames", manifest.counts.frames},
              {"seconds", manifest.counts.seconds},
              {"bytes", reader::cache_bytes(manifest)},
              {"splits", manifest.counts.records_by_split},
              {"rejects", rejects},
              {"columns", columns_to_json(manifest)},
              {"baked", manifest.features.contains("baked")},
              {"normalization", formats::to_json(known_normalization(manifest))},
              {"datasets", manifest.datasets},
              {"speakers", manifest.speakers},
              {"languages", manifest.languages},
              {"numerics",
               {{"device", manifest.numerics.device},
                {"isa", manifest.numerics.isa},
                {"libraries", manifest.numerics.libraries},
                {"hash", manifest.numerics.hash().to_hex()}}},
              {"fingerprints",
               {{"features", manifest.features_fingerprint.to_hex()},
                {"text", manifest.text_fingerprint.to_hex()},
                {"corpus", manifest.corpus_fingerprint.to_hex()},
                {"storage", manifest.storage_fingerprint.to_hex()}}},
              {"recipe",
               {{"name", manifest.recipe_name},
                {"differs", recipe_note.empty() ? json() : json(recipe_note)},
                {"features", manifest.features},
                {"text", manifest.text},
                {"corpus", manifest.corpus},
                {"storage", manifest.storage}}}};
  if (manifest.mel_statistics) {
    out["statistics"] = {{"frames", manifest.mel_statistics->frame_count},
                         {"mean", manifest.mel_statistics->mean},
                         {"std", manifest.mel_statistics->std_deviation}};
  }
  return out;
}

// Gives "train 11,000, validation 1,100". The largest classes of rejects use the same form.
std::string counts_text(const std::map<std::string, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    if (count > 0)
      text += formatted("{}{} {}", text.empty() ? "" : ", ", name, format_count(count));
  }
  return text.empty() ? "none" : text;
}

// Gives "3: anna, ben, clara". A corpus that is built alone has a data set without a name, which
// is not counted.
std::string names_text(std::vector<std::string> names) {
  constexpr std::size_t kShown = 5;
  std::erase(names, "");
  std::string text = format_count(names.size());
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? ": " : ", ") +
            report::shorten(escape_controls(names[i]), report::Table::kCellWidthMax);
  }
  return text + (names.size() > kShown ? ", ..." : "");
}

std::string shape_text(const std::vector<std::uint32_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

std::string describe(const reader::CacheSet& clips, const formats::Manifest& manifest,
                     const std::string& recipe_note) {
  const formats::Counts& counts = manifest.counts;
  report::Table table({Align::kLeft, Align::kLeft});
  const std::string what = clips.is_set() ? format_counted(clips.cache_count(), "cache", "caches")
                                          : formatted("generation {}", manifest.generation);
  table.add_row({clips.is_set() ? "set" : "cache",
                 formatted("{}, {}, {}", escape_controls(clips.path()),
                           format_size(reader::cache_bytes(manifest)), what)});
  if (manifest.partition) {
    table.add_row({"part", manifest.partition->name() +
                               " of a plan: 'xtts-precompute set SET PART...' names all parts as "
                               "one"});
  }
  table.add_row({"recipe", formatted("{}, features {}", escape_controls(manifest.recipe_name),
                                     manifest.features_fingerprint.to_hex().substr(0, 12))});
  if (const auto normalization = known_normalization(manifest))
    table.add_row({"numbers", normalization->text});
  if (!recipe_note.empty()) table.add_row({"differs", escape_controls(recipe_note)});
  table.add_row({"clips", formatted("{} of {} planned, {}, {}", format_count(counts.records),
                                    format_count(counts.planned), format_duration(counts.seconds),
                                    format_counted(counts.frames, "frame", "frames"))});
  table.add_row({"splits", counts_text(counts.records_by_split)});
  table.add_row({"rejects", counts_text(counts.rejects_by_class)});
  table.add_row({"speakers", names_text(manifest.speakers)});
  table.add_row({"languages", names_text(manifest.languages)});
  if (manifest.datasets.size() > 1) table.add_row({"data sets", names_text(manifest.datasets)});
  table.add_row(
      {"made by", escape_controls(formatted("{} {}, {}", manifest.numerics.device,
                                            manifest.numerics.isa, manifest.numerics.libraries))});
  report::Table columns({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight,
                         Align::kRight, Align::kLeft});
  for (const formats::ColumnEntry& column : manifest.columns) {
    columns.add_row(
        {escape_controls(column.spec.name), std::string(to_string(column.spec.dtype)),
         shape_text(column.spec.shape),
         formatted("{} {}", formats::name_of(column.spec.layout), formats::name_of(column.store)),
         format_counted(column.shards.size(), "shard", "shards"), format_size(column_bytes(column)),
         addition_text(column)});
  }
  return table.render() + "columns\n" + columns.render(2);
}

Result<std::vector<Group>> group_clips(const reader::CacheSet& clips, const std::string& by) {
  const query::Field* field = query::find_field(by);
  const query::Tables tables = query::Tables::of(clips.whole());
  static const formats::RecordFacts kNoFacts;
  std::map<std::string, Group> groups;
  for (std::uint64_t position = 0; position < clips.size(); ++position) {
    XTTS_ASSIGN(const formats::PlanRow plan, clips.plan_row(position));
    const query::FieldValue value = field->get({tables, plan, kNoFacts});
    const auto* text = std::get_if<std::string_view>(&value);
    Group& group = groups[text == nullptr ? std::string() : std::string(*text)];
    ++group.clip_count;
    group.frame_count += plan.mel_len;
    group.seconds += plan.mel_len * tables.frame_s;
  }
  std::vector<Group> sorted;
  for (auto& [name, group] : groups) {
    group.name = name;
    sorted.push_back(std::move(group));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Group& a, const Group& b) { return a.frame_count > b.frame_count; });
  return sorted;
}

Status run_by(Context& context, const reader::CacheSet& clips, const std::string& by) {
  XTTS_ASSIGN(const std::vector<Group> groups, group_clips(clips, by));
  json list = json::array();
  report::Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({by, "clips", "frames", "sound"});
  for (const Group& group : groups) {
    list.push_back({{"name", group.name.empty() ? json() : json(group.name)},
                    {"clips", group.clip_count},
                    {"frames", group.frame_count},
                    {"seconds", group.seconds}});
    table.add_row({group.name.empty() ? "(unknown)" : escape_controls(group.name),
                   format_count(group.clip_count), format_count(group.frame_count),
                   format_duration(group.seconds)});
  }
  context.print(context.out.is_terminal() ? table.render(0, context.out.width()) : table.render());
  context.print_json({{"path", clips.path()}, {"by", by}, {"groups", list}});
  return {};
}

struct RuleCounts {
  std::uint64_t warned_count = 0;    // clips that are stored with a warning
  std::uint64_t rejected_count = 0;  // clips and lines of lists
};

// A clip that breaks two rules counts with both.
Result<std::map<formats::Rule, RuleCounts>> count_rules(const reader::CacheSet& clips) {
  std::map<formats::Rule, RuleCounts> counts;
  for (std::uint64_t position = 0; position < clips.size(); ++position) {
    XTTS_ASSIGN(const formats::PlanRow plan, clips.plan_row(position));
    if ((plan.flags & formats::kPlanWarnings) == 0) continue;
    XTTS_ASSIGN(const formats::RecordFacts facts, clips.details(position));
    for (const formats::Reason& warning : facts.warnings) ++counts[warning.rule].warned_count;
  }
  XTTS_ASSIGN(const std::string lines, clips.rejects_jsonl());
  XTTS_ASSIGN(const auto rejects, formats::decode_rejects(lines));
  for (const formats::Reject& reject : rejects) ++counts[reject.reason.rule].rejected_count;
  return counts;
}

Status run_by_rule(Context& context, const reader::CacheSet& clips) {
  XTTS_ASSIGN(const auto counts, count_rules(clips));
  json list = json::array();
  report::Table table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight});
  table.add_row({"rule", "stage", "warned", "rejected"});
  for (const auto& [rule, count] : counts) {
    const formats::RuleInfo& info = formats::info_of(rule);
    list.push_back({{"rule", info.name},
                    {"stage", formats::to_string(info.stage)},
                    {"warned", count.warned_count},
                    {"rejected", count.rejected_count}});
    table.add_row({std::string(info.name), std::string(formats::to_string(info.stage)),
                   format_count(count.warned_count), format_count(count.rejected_count)});
  }
  if (counts.empty()) {
    context.summarize("no clip breaks a rule: none was rejected, none has a warning\n");
  } else {
    context.print(table.render());
  }
  context.print_json({{"path", clips.path()}, {"by", "rule"}, {"rules", list}});
  return {};
}

// Unfinished work, and the command that goes on with it; null if there is none.
Result<json> unfinished_to_json(Context& context, const std::string& cache,
                                const formats::Manifest* published) {
  const auto confined = confined_to(context.env, cache, Links::kNone);
  XTTS_ASSIGN(const auto found, pipeline::find_unfinished(*confined, cache, published));
  if (!found) return json();
  return json{{"what", pipeline::words_of(*found)},
              {"bytes", found->bytes},
              {"command", pipeline::command_to_continue(cache, *found)}};
}

std::string unfinished_text(const json& unfinished) {
  return unfinished["what"].get<std::string>() + " lies there. This goes on with it:\n  " +
         unfinished["command"].get<std::string>();
}

// A first build that is not finished has no manifest yet.
Status without_manifest(Context& context, const InfoOptions& options, const Status& failure) {
  if (failure.code() != StatusCode::kNotFound || !context.env.stat(options.cache).ok())
    return failure;
  const auto unfinished = unfinished_to_json(context, options.cache, nullptr);
  if (!unfinished || unfinished->is_null()) return failure;
  return {failure.code(),
          formatted("{} is no cache yet: {}", options.cache, unfinished_text(*unfinished))};
}

Status run_info(Context& context, const InfoOptions& options) {
  const auto opened = reader::CacheSet::open(context.env, options.cache);
  if (!opened) return without_manifest(context, options, opened.status());
  const reader::CacheSet& clips = **opened;
  if (options.by == "rule") return run_by_rule(context, clips);
  if (!options.by.empty()) return run_by(context, clips, options.by);
  XTTS_ASSIGN(const formats::Manifest manifest, clips.manifest_with_shards());
  const std::string note = request::recipe_note(context.env, manifest);
  json unfinished;
  if (!clips.is_set()) {
    XTTS_ASSIGN(unfinished, unfinished_to_json(context, options.cache, &manifest));
  }
  context.print(describe(clips, manifest, note) +
                (unfinished.is_null()
                     ? ""
                     : report::escape_controls_in_lines(unfinished_text(unfinished)) + "\n"));
  json document = manifest_to_json(clips.path(), manifest, note);
  document["caches"] = clips.is_set() ? json(clips.cache_count()) : json();
  document["unfinished"] = unfinished;
  context.print_json(document);
  return {};
}

}  // namespace

void add_info_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<InfoOptions>();
  Command(app, context, "info", "What a cache is: recipe, clips, hours, columns, sizes")
      .required("CACHE", options->cache, "The cache's folder")
      .choice("--by", options->by, {"speaker", "language", "split", "dataset", "rule"},
              "Count clips and hours by this; rule: the rules that clips break")
      .examples(
          "xtts-precompute info ./cache\n"
          "xtts-precompute info ./cache --by speaker\n"
          "xtts-precompute info ./cache --by rule\n"
          "xtts-precompute info ./cache --json | jq .seconds")
      .runs([&context, options] { return run_info(context, *options); });
}

}  // namespace xtts::cli
