#include "maintain/make_set.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "base/check_cancelled.hpp"
#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "formats/feature_config.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "formats/set_manifest.hpp"
#include "formats/split.hpp"
#include "maintain/parts.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/published_clip.hpp"
#include "reader/cache_paths.hpp"
#include "reader/joined_set.hpp"
#include "reader/repair_advice.hpp"

namespace xtts::maintain {
namespace {

using formats::Manifest;

// A cache with its place in the set.
struct Named {
  std::shared_ptr<reader::CacheView> view;
  std::string path;  // as set.json has it
};

// Relative where the cache lies below the set's folder, so that both may move together.
std::string path_in_set(const std::string& folder, const std::string& cache) {
  const std::string inside = folder.ends_with('/') ? folder : folder + "/";
  return cache.starts_with(inside) ? cache.substr(inside.size()) : cache;
}

Status check_same_numerics(const Manifest& a, const Manifest& b, const std::string& both) {
  if (a.numerics.hash() == b.numerics.hash()) return {};
  return {
      StatusCode::kMismatch,
      formatted("{} were computed by {} {} ({}) and {} {} ({}): give {} to read them together "
                "all the same",
                both, a.numerics.device, a.numerics.isa, a.numerics.libraries, b.numerics.device,
                b.numerics.isa, b.numerics.libraries, option_on("allow-mixed"))};
}

// Every id must lead to one clip. The hashes of each cache ascend, so they are merged.
Status check_ids(const std::vector<Named>& caches, const std::function<bool()>& cancelled) {
  using Next = std::tuple<Digest, std::size_t, std::uint64_t>;  // hash, cache, rank
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  const auto add = [&](std::size_t cache, std::uint64_t rank) -> Status {
    if (rank == caches[cache].view->size()) return {};
    XTTS_ASSIGN(const auto row, caches[cache].view->id_hash_row(rank));
    next.emplace(row.hash, cache, rank);
    return {};
  };
  for (std::size_t i = 0; i < caches.size(); ++i) XTTS_TRY(add(i, 0));
  std::optional<Next> last;
  while (!next.empty()) {
    XTTS_TRY(check_cancelled(cancelled));
    const Next now = next.top();
    next.pop();
    const auto [hash, cache, rank] = now;
    if (last && std::get<0>(*last) == hash) {
      XTTS_ASSIGN(const auto row, caches[cache].view->id_hash_row(rank));
      XTTS_ASSIGN(const auto facts, caches[cache].view->details(row.position));
      return {StatusCode::kInvalidArgument,
              formatted("clip '{}' is in {} and in {}: a set has each clip once", full_id(facts),
                        caches[std::get<1>(*last)].view->path(), caches[cache].view->path())};
    }
    last = now;
    XTTS_TRY(add(cache, rank + 1));
  }
  return {};
}

class SetMaker {
 public:
  SetMaker(const SetRequest& request, std::vector<Named> caches, bool are_parts)
      : request_(request), caches_(std::move(caches)), are_parts_(are_parts) {}

  Result<formats::SetManifest> run() {
    XTTS_TRY(join());
    for (const Named& cache : caches_) {
      XTTS_TRY(check_cancelled(request_.run.cancelled));
      XTTS_TRY(add_rejects(*cache.view));
      XTTS_TRY(add_member(cache));
      add_statistics(*cache.view);
    }
    Manifest& whole = set_.whole;
    whole.counts.planned = whole.counts.records + rejected_clip_count_;
    XTTS_ASSIGN(const formats::Recipe recipe, formats::recipe_of(whole));
    whole.counts.seconds = static_cast<double>(whole.counts.frames) *
                           recipe.features->stft.hop_samples / recipe.features->sample_rate_hz;
    whole.mel_statistics = has_statistics_ ? dsp::statistics_of(totals_) : std::nullopt;
    XTTS_TRY(check_losses(recipe));
    return std::move(set_);
  }

  [[nodiscard]] std::uint64_t reject_count() const { return rejects_.size(); }

 private:
  Status join() {
    std::vector<std::shared_ptr<reader::ClipTable>> tables;
    std::vector<std::string> names;
    for (const Named& cache : caches_) {
      tables.push_back(cache.view);
      if (!are_parts_) names.push_back(cache.path);
    }
    XTTS_ASSIGN(set_.whole, reader::whole_of(tables, names));
    set_.whole.generation = 1;
    set_.whole.counts.rejects_by_class.clear();
    if (are_parts_) set_.plan = caches_.front().view->manifest().partition->plan;
    return {};
  }

  // Parts of --partition repeat the rejects of lists and texts.
  Status add_rejects(reader::CacheView& view) {
    XTTS_ASSIGN(const std::string lines, view.rejects_jsonl());
    XTTS_ASSIGN(auto rejects, formats::decode_rejects(lines));
    for (formats::Reject& reject : rejects) {
      if (!known_rejects_.insert(digest128(formats::encode_reject(reject))).second) continue;
      ++set_.whole.counts.rejects_by_class[std::string(formats::to_string(reject.kind))];
      if (formats::split_named(reject.split)) ++rejected_clip_count_;
      rejects_.push_back(std::move(reject));
    }
    return {};
  }

  Status add_member(const Named& cache) {
    const Manifest& manifest = cache.view->manifest();
    formats::SetMember member{.path = cache.path,
                              .index_digest = manifest.index_digest,
                              .groups = {},
                              .column_bytes = {}};
    XTTS_ASSIGN(member.groups, reader::groups_of(*cache.view));
    const auto& datasets = set_.whole.datasets;
    const auto numbers = reader::numbers_in(
        datasets, are_parts_ ? manifest.datasets : reader::named_datasets(manifest, cache.path));
    for (formats::ClipGroup& group : member.groups)
      if (group.dataset < numbers.size())
        group.dataset = static_cast<std::uint16_t>(numbers[group.dataset]);
    for (const formats::ColumnEntry& column : set_.whole.columns) {
      std::uint64_t bytes = 0;
      for (const auto& shard : manifest.find_column(column.spec.name)->shards)
        bytes += shard.file_bytes;
      member.column_bytes.push_back(bytes);
    }
    set_.members.push_back(std::move(member));
    return {};
  }

  void add_statistics(const reader::CacheView& view) {
    const Manifest& manifest = view.manifest();
    const auto& by_split = manifest.counts.records_by_split;
    const auto train = by_split.find("train");
    if (!has_statistics_ || train == by_split.end() || train->second == 0) return;
    has_statistics_ = manifest.mel_statistics && totals_.add(*manifest.mel_statistics);
    if (has_statistics_ || !request_.run.notice) return;
    request_.run.notice(
        formatted("the set has no statistics, because {} has no sums of its "
                  "training clips: build it anew with this version, or give "
                  "readers means and deviations",
                  view.path()));
  }

  Status check_losses(const formats::Recipe& recipe) const {
    const formats::Counts& counts = set_.whole.counts;
    XTTS_TRY(pipeline::check_rejects(rejects_, request_.max_rejects, counts.planned));
    XTTS_TRY(pipeline::check_any_clip(rejects_, counts.records));
    return pipeline::check_dropped(rejects_, recipe, request_.max_losses, counts.planned,
                                   counts.records, counts.seconds, pipeline::LossKnown::kAfter);
  }

  const SetRequest& request_;
  const std::vector<Named> caches_;
  const bool are_parts_;
  formats::SetManifest set_;
  std::set<Digest> known_rejects_;  // of their lines
  std::vector<formats::Reject> rejects_;
  std::uint64_t rejected_clip_count_ = 0;  // rejects that are clips of the plan
  dsp::TotalSums totals_;
  bool has_statistics_ = true;
};

// Opens the caches in the order of their clips.
Result<Parts> open_caches(Env& env, const SetRequest& request, bool& are_parts) {
  const auto kept = std::make_shared<reader::Kept>();
  kept->keeps_locks = false;
  Parts views;
  for (const std::string& path : request.caches) {
    XTTS_TRY(check_cancelled(request.run.cancelled));
    XTTS_ASSIGN(auto view, reader::CacheView::open(env, path, kept));
    XTTS_ASSIGN(const auto lost, pipeline::lost_shard(env, path, view->manifest()));
    if (lost) return reader::with_repair(Status(StatusCode::kCorrupt, *lost), path);
    views.push_back(std::move(view));
  }
  are_parts = views.front()->manifest().partition.has_value();
  for (const auto& view : views) {
    if (view->manifest().partition.has_value() == are_parts) continue;
    return Status(
        StatusCode::kInvalidArgument,
        formatted("of {} and {} one is a part of a plan, and one a whole cache: a set has "
                  "all the parts of a plan, or whole caches",
                  views.front()->path(), view->path()));
  }
  if (are_parts) return in_order(std::move(views), request.allow_mixed);
  for (const auto& view : views) {
    if (request.allow_mixed) break;
    XTTS_TRY(check_same_numerics(views.front()->manifest(), view->manifest(),
                                 formatted("{} and {}", views.front()->path(), view->path())));
  }
  return views;
}

Status check_folder(Env& env, const std::string& path) {
  if (!env.stat(join_path(path, reader::kManifestName)).ok()) return {};
  return {StatusCode::kInvalidArgument,
          path + " holds a cache: a set has a folder of its own, above its caches or elsewhere"};
}

// Absolute, also where the folder is not there yet.
std::string absolute(Env& env, std::string path) {
  if (auto real = env.real_path(path)) return std::move(*real);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string parent = parent_path(path);
  return parent == path ? path : join_path(absolute(env, parent), file_name(path));
}

}  // namespace

Result<SetReport> make_set(Env& env, const SetRequest& request) {
  if (request.caches.empty())
    return Status(StatusCode::kInvalidArgument,
                  "no caches are named: xtts-precompute set SET CACHE...");
  XTTS_TRY(check_folder(env, request.to));
  SetReport report{.cache_count = request.caches.size()};
  XTTS_ASSIGN(const Parts views, open_caches(env, request, report.are_parts));
  const std::string folder = absolute(env, request.to);
  std::vector<Named> caches;
  for (const auto& view : views) {
    XTTS_ASSIGN(const std::string path, env.real_path(view->path()));
    caches.push_back({view, path_in_set(folder, path)});
  }
  if (!report.are_parts) XTTS_TRY(check_ids(caches, request.run.cancelled));
  SetMaker maker(request, std::move(caches), report.are_parts);
  XTTS_ASSIGN(const formats::SetManifest set, maker.run());
  XTTS_ASSIGN(const std::string text, formats::encode_set(set));
  XTTS_TRY(formats::decode_set(text).status());
  XTTS_TRY(env.create_directories(request.to));
  const auto confined = confined_to(env, request.to, Links::kNone);
  XTTS_TRY(replace_file(*confined, join_path(request.to, formats::kSetFileName), as_bytes(text)));
  report.record_count = set.whole.counts.records;
  report.reject_count = maker.reject_count();
  report.sound_seconds = set.whole.counts.seconds;
  report.has_statistics = set.whole.mel_statistics.has_value();
  for (const formats::SetMember& member : set.members)
    for (const std::uint64_t bytes : member.column_bytes) report.shard_bytes += bytes;
  return report;
}

}  // namespace xtts::maintain
