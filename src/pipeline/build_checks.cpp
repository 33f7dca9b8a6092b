#include "pipeline/build_checks.hpp"

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/recipe.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/build_request.hpp"
#include "records/record_maker.hpp"
#include "report/reasons.hpp"
#include "store/cache_folder.hpp"
#include "store/ownership.hpp"

namespace xtts::pipeline {
namespace {

using formats::Reject;
using formats::RejectClass;

constexpr std::size_t kRejectsNamed = 5;

Status refuse(const nlohmann::json& published, const nlohmann::json& asked,
              const std::string& section, const std::string& advice = {}) {
  std::string text = formatted("the cache was made with other {}:", section);
  for (const auto& line : formats::describe_differences(published, asked, section))
    text += "\n  " + line;
  return {StatusCode::kMismatch, text + "\n" + advice + "name another CACHE, or give " +
                                     option_on("overwrite") + " to build anew in this one"};
}

// A build finds the cache's recipe by itself.
std::string advice_on_recipe(const BuildRequest& request) {
  if (request.recipe_of) return "leave these settings out to keep the cache's; or ";
  return formatted("leave out {} and {} to keep the cache's recipe; or ", option("recipe"),
                   option("config"));
}

std::string describe(const formats::Numerics& numerics) {
  return formatted("{} {} ({})", numerics.device, numerics.isa, numerics.libraries);
}

// Lists faults first: policy drops matter less beside them.
// Of the faults, or of what rules of the recipe drop.
std::string first_of(const std::vector<Reject>& rejects, bool of_faults) {
  std::string text;
  std::size_t named = 0;
  for (const Reject& reject : rejects) {
    if (of_faults == (reject.kind == RejectClass::kPolicy)) continue;
    text += "\n  " + formats::place_of(reject) + ": " + report::words_of(reject);
    if (++named == kRejectsNamed) break;
  }
  return text;
}

// Policy drops are no faults.
}  // namespace

Status check_dtype_holds_full_scale(const formats::Recipe& recipe, dsp::Isa isa) {
  XTTS_ASSIGN(const auto refusal, records::refusal_of_full_scale(recipe, isa));
  if (!refusal) return {};
  return {StatusCode::kInvalidArgument,
          "storage.dtype: of a tone at full scale, " + report::words_of(*refusal)};
}

Status check_data_folder(Env& env, const std::string& data) {
  const auto facts = env.stat(data);
  if (facts.status().code() == StatusCode::kNotFound)
    return {StatusCode::kNotFound, "there is no DATA at " + data +
                                       ": name the folder with the recordings, or a corpora.yaml"};
  if (!facts) return {StatusCode::kNotFound, "DATA: " + facts.status().message()};
  if (facts->kind == FileKind::kDirectory) return {};
  return {StatusCode::kInvalidArgument,
          "DATA: " + data +
              " is not a folder: give the folder that holds the recordings, or a corpora.yaml"};
}

// Finds a file at `cache`, or above it, where a folder would have to be.
Status check_no_file_at(Env& env, const std::string& cache) {
  std::string path = cache;
  auto found = env.stat(path);
  while (!found && path != parent_path(path)) {
    path = parent_path(path);
    found = env.stat(path);
  }
  if (!found || found->kind == FileKind::kDirectory) return {};
  return {StatusCode::kInvalidArgument,
          formatted("CACHE: {} is not a folder: give a folder, or a name that is not taken", path)};
}

Status check_folders(Env& env, const std::string& data, const std::string& cache) {
  if (cache.empty()) return {StatusCode::kInvalidArgument, "CACHE is empty: name its folder"};
  XTTS_TRY(check_data_folder(env, data));
  if (env.stat(store::manifest_path(data)).ok() && store::check_may_be_cache(env, data).ok()) {
    return {StatusCode::kInvalidArgument,
            formatted("DATA: {} is a cache: give the folder with the recordings first, then CACHE",
                      data)};
  }
  XTTS_ASSIGN(const auto data_stat, env.stat(data));
  XTTS_TRY(check_no_file_at(env, cache));
  const auto cache_stat = env.stat(cache);
  if (!cache_stat) return {};
  if (cache_stat->device == data_stat.device && cache_stat->inode == data_stat.inode) {
    return {StatusCode::kInvalidArgument, "DATA and CACHE are the same folder"};
  }
  return store::check_may_be_cache(env, cache);
}

Status check_not_baked(const formats::Manifest* published, const formats::Recipe& recipe) {
  const bool is_baked = published != nullptr && published->features.contains("baked");
  if (!is_baked && !to_json(*recipe.features).contains("baked")) return {};
  return {
      StatusCode::kMismatch,
      formatted("CACHE holds records that 'xtts-precompute convert --bake corpus' has normalized, "
                "and a build cannot add to them: build the cache that it was made from, and bake "
                "that anew; or give {} to build anew in this one, without normalization",
                option_on("overwrite"))};
}

Status check_same_recipe(const formats::Manifest& published, const BuildRequest& request) {
  const formats::Recipe& recipe = request.recipe;
  XTTS_TRY(published.allows_changes());
  if (published.features_fingerprint != formats::fingerprint(*recipe.features)) {
    return refuse(published.features, to_json(*recipe.features), "features",
                  advice_on_recipe(request));
  }
  if (published.storage_fingerprint != formats::fingerprint(recipe.storage)) {
    return refuse(published.storage, to_json(recipe.storage), "storage",
                  "'xtts-precompute convert CACHE NEW' writes it in another storage without "
                  "computing anything; or ");
  }
  return {};
}

Status check_partition(const BuildRequest& request, const formats::Manifest* published) {
  const auto& part = request.partition;
  if (part && request.recipe.corpus.duplicates == formats::OddClip::kDrop) {
    return {StatusCode::kInvalidArgument,
            formatted("corpus.duplicates=drop has to see all clips in one build: give {}, or build "
                      "without {}",
                      option_set("corpus.duplicates", "warn"), option("partition"))};
  }
  if (published == nullptr) return {};
  const auto& before = published->partition;
  if (!part && !before) return {};
  if (!before || !part || before->index != part->index || before->count != part->count) {
    return {StatusCode::kMismatch,
            formatted("CACHE holds {}. Name another CACHE, or give {} to build anew in this one",
                      before ? formatted("part {} of a cache: 'xtts-precompute merge NEW PART...' "
                                         "joins all parts, and later builds update NEW",
                                         before->name())
                             : std::string("a whole cache, no part of one"),
                      option_on("overwrite"))};
  }
  if (request.options.retry_rejects) {
    return {StatusCode::kInvalidArgument,
            formatted("a published part is not changed: join the parts with 'xtts-precompute merge "
                      "NEW PART...', then build NEW with {}; or give {} to build this part anew",
                      option_on("retry-rejects"), option_on("overwrite"))};
  }
  if (published->text_fingerprint != formats::fingerprint(request.recipe.text))
    return refuse(published->text, to_json(request.recipe.text), "text");
  if (published->corpus_fingerprint != formats::fingerprint(request.recipe.corpus))
    return refuse(published->corpus, to_json(request.recipe.corpus), "corpus");
  return {};
}

Status check_same_clips(const formats::Partition& published, const Digest& all_clips) {
  if (published.plan == all_clips) return {};
  return {StatusCode::kMismatch,
          "DATA holds other clips, texts or files than when part " + published.name() +
              " was built, but all parts must be of the same DATA: give " + option_on("overwrite") +
              " to build this part anew, and build the others anew, too"};
}

Status check_same_numerics(const formats::Numerics& published, const formats::Numerics& now,
                           std::uint64_t to_compute_count) {
  if (to_compute_count == 0 || published.hash() == now.hash()) return {};
  return {StatusCode::kMismatch,
          formatted(
              "the cache was computed by {}, this is {}; results agree within the recipe's "
              "tolerance but not bit for bit: give {} to add {} all the same, or {} to build anew",
              describe(published), describe(now), option_on("allow-mixed"),
              counted(to_compute_count, "clip", "clips"), option_on("overwrite"))};
}

Status check_same_corpus(std::uint64_t published_count, std::uint64_t gone_count) {
  if (published_count == 0 || gone_count < published_count) return {};
  return {StatusCode::kMismatch,
          formatted("DATA holds none of the {} of this cache: is it another corpus? Name another "
                    "CACHE, or give {} to build anew in this one",
                    counted(published_count, "clip", "clips"), option_on("overwrite"))};
}

Status check_added_columns(const formats::Manifest& published, bool has_tokens) {
  const bool has_added = std::ranges::any_of(
      published.columns,
      [](const formats::ColumnEntry& column) { return column.axis.has_value(); });
  if (!has_added || (published.find_column("tokens") != nullptr) == has_tokens) return {};
  return {StatusCode::kMismatch,
          formatted("the cache has {}, DATA or the recipe asks for {}, and there are added columns "
                    "behind them: name another CACHE, or give {} to build anew in this one, and "
                    "add the columns again",
                    has_tokens ? "no tokens" : "tokens", has_tokens ? "some" : "none",
                    option_on("overwrite"))};
}

std::uint64_t fault_count(const std::vector<Reject>& rejects) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      rejects, [](const Reject& reject) { return reject.kind != RejectClass::kPolicy; }));
}

std::uint64_t allowed_faults(const RejectLimit& limit, std::uint64_t considered_count) noexcept {
  return limit.count.value_or(
      static_cast<std::uint64_t>(std::floor(limit.share * static_cast<double>(considered_count))));
}

std::uint64_t considered_clip_count(const BuildPlan& plan) noexcept {
  return plan.clips.size() + plan.corpus.problems.size() + plan.elsewhere_count;
}

Status check_known_rejects(const BuildPlan& plan, const RejectLimit& limit) {
  return check_known_faults(fault_count(plan.rejects), considered_clip_count(plan), limit,
                            plan.rejects);
}

Status check_known_faults(std::uint64_t faults, std::uint64_t considered_count,
                          const RejectLimit& limit, const std::vector<Reject>& examples) {
  const std::uint64_t allowed = allowed_faults(limit, considered_count);
  if (faults <= allowed) return {};
  return {StatusCode::kTooManyRejects,
          formatted("{} of {} cannot be used, more than the {} allowed. Nothing was computed: run "
                    "again with {} to build without them. The first of them:{}",
                    faults, counted(considered_count, "clip", "clips"), allowed,
                    option("max-rejects", std::to_string(faults)), first_of(examples, true))};
}

Status check_rejects(const std::vector<Reject>& rejects, const RejectLimit& limit,
                     std::uint64_t considered_count) {
  const std::uint64_t faults = fault_count(rejects);
  const std::uint64_t allowed = allowed_faults(limit, considered_count);
  if (faults <= allowed) return {};
  return {
      StatusCode::kTooManyRejects,
      formatted("{} of {} could not be used, more than the {} allowed. Nothing was published; what "
                "was computed is kept: run again with {} to publish it. The first of them:{}",
                faults, counted(considered_count, "clip", "clips"), allowed,
                option("max-rejects", std::to_string(faults)), first_of(rejects, true))};
}

Status check_any_clip(const std::vector<Reject>& rejects, std::uint64_t stored_count) {
  if (stored_count != 0) return {};
  return {StatusCode::kTooManyRejects,
          formatted("no clip is left to store: {} were rejected, or dropped by rules of the "
                    "recipe. The first of them:{}{}",
                    rejects.size(), first_of(rejects, true), first_of(rejects, false))};
}

}  // namespace xtts::pipeline
