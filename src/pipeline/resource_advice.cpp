#include "pipeline/resource_advice.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "formats/canonical_json.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/estimate.hpp"
#include "records/columns.hpp"
#include "records/shared_sources.hpp"
#include "report/human.hpp"
#include "store/cache_folder.hpp"

namespace xtts::pipeline {
namespace {

// A clip's bytes in the index, without its text: 80 bytes of rows, the rest its facts.
constexpr std::uint64_t kIndexBytesPerClip = 400;
// A clip's bytes among the facts of its block.
constexpr std::uint64_t kFactsBytesPerClip = 512;
// A block's header, its facts and the unused rest of its last page.
constexpr std::uint64_t kBytesPerBlock = 3 * formats::kPageBytes;
// Manifest, journal, footers, and the last pages of files.
constexpr std::uint64_t kOverheadBytes = std::uint64_t{64} << 10U;
// Less free space than this is a full disk, whatever the estimate says.
constexpr std::uint64_t kNothingFreeBytes = std::uint64_t{1} << 20U;

std::uint64_t chosen_bytes(const BuildPreview& preview) {
  for (const StorageChoice& choice : preview.storage) {
    if (choice.chosen) return choice.size_bytes;
  }
  return 0;
}

// The bytes of one clip in all columns of sound.
std::uint64_t record_bytes(const std::vector<formats::ColumnSpec>& columns) {
  std::uint64_t bytes = 0;
  for (const formats::ColumnSpec& column : columns) bytes += column.record_bytes();
  return bytes;
}

// The bytes of all records to compute, without headers, facts and padding.
std::uint64_t payload_bytes(Env& env, const BuildPlan& plan, const BuildRequest& request,
                            BuildPreview preview, std::uint64_t free_bytes) {
  if (plan.to_compute.empty()) return 0;
  const std::uint64_t padded =
      plan.to_compute.size() * record_bytes(records::sound_column_forms(request.recipe));
  const bool is_padded = request.recipe.storage.layout == formats::Layout::kPadded;
  if (is_padded || free_bytes >= padded) return padded;
  if (chosen_bytes(preview) == 0) {
    preview.to_compute_count = plan.to_compute.size();
    estimate(env, plan, request, SampleBudget::kFixed, nullptr, preview);
  }
  const std::uint64_t packed = chosen_bytes(preview);
  return packed == 0 ? padded : packed;
}

std::uint64_t sound_bytes(Env& env, const BuildPlan& plan, const BuildRequest& request,
                          const BuildPreview& preview, std::uint64_t free_bytes) {
  const std::uint64_t clips = plan.to_compute.size();
  std::uint64_t bytes =
      payload_bytes(env, plan, request, preview, free_bytes) + clips * kFactsBytesPerClip;
  for (const formats::ColumnSpec& column : records::sound_column_forms(request.recipe)) {
    const std::uint64_t per_block = column.geometry().records_per_block;
    bytes += (clips + per_block - 1) / per_block * kBytesPerBlock;
  }
  return bytes;
}

// The bytes of a source that several clips share, as SharedSources keeps it: floats of one channel.
// Its rate is not known yet; 48 kHz is the highest rate in corpora of speech.
std::uint64_t kept_sound_bytes(const corpus::Clip& clip) {
  constexpr double kBytesPerSecond = 48'000.0 * sizeof(float);
  const double seconds = clip.segment->end_s.value_or(clip.segment->start_s);
  // The source is decoded beyond its last segment, too.
  return std::max(static_cast<std::uint64_t>(seconds * kBytesPerSecond), 2 * clip.source_bytes);
}

// The most bytes of shared sources in .build/ at once: a source stays from its first clip to its
// last.
std::uint64_t shared_sound_bytes(const BuildPlan& plan) {
  struct Source {
    std::uint64_t bytes = 0;
    std::size_t last_clip = 0;
  };
  std::unordered_map<std::string, Source> sources;
  for (std::size_t i = 0; i < plan.to_compute.size(); ++i) {
    const corpus::Clip& clip = plan.corpus.clips[plan.to_compute[i]];
    if (!clip.segment) continue;
    Source& source = sources[plan.corpus.place_of(clip).key()];
    source.bytes = std::max(source.bytes, kept_sound_bytes(clip));
    source.last_clip = i;
  }
  std::uint64_t largest = 0;
  std::uint64_t now = 0;
  std::uint64_t most = 0;
  std::unordered_set<std::string> held;
  for (std::size_t i = 0; i < plan.to_compute.size(); ++i) {
    const corpus::Clip& clip = plan.corpus.clips[plan.to_compute[i]];
    if (!clip.segment) continue;
    const std::string path = plan.corpus.place_of(clip).key();
    const Source& source = sources[path];
    if (held.insert(path).second) now += source.bytes;
    most = std::max(most, now);
    largest = std::max(largest, source.bytes);
    if (source.last_clip == i) now -= source.bytes;
  }
  return std::min(most, records::SharedSources::kDiskBytesMax + largest);
}

// The bytes of tokens and index, which are written anew.
std::uint64_t text_bytes(const BuildPlan& plan, const BuildRequest& request) {
  const std::uint64_t record = records::tokens_column(request.recipe, {}).record_bytes();
  const bool is_padded = request.recipe.storage.layout == formats::Layout::kPadded;
  std::uint64_t sum = 0;
  for (const auto& clip : plan.corpus.clips) {
    const std::uint64_t text = text_to_tokenize(clip, request.recipe.text).size();
    const std::uint64_t tokens = formats::kPackedAlignmentBytes + text * sizeof(std::int32_t);
    sum += kIndexBytesPerClip + 2 * text;
    if (has_tokens(plan, request.recipe)) sum += is_padded ? record : std::min(record, tokens);
  }
  return sum;
}

// The bytes of sound shards that this build has sealed: shards that the published manifest does not
// name.
std::uint64_t sealed_bytes(Env& env, const std::string& cache, const std::string& name,
                           const formats::Manifest* published) {
  std::set<std::string> known;
  const formats::ColumnEntry* const column =
      published == nullptr ? nullptr : published->find_column(name);
  if (column != nullptr) {
    for (std::size_t i = 0; i < column->shards.size(); ++i)
      known.insert(formats::shard_file_name(i, column->shards[i].digest, column->store));
  }
  const std::string folder = store::column_folder(cache, name);
  const auto entries = env.list(folder);
  std::uint64_t sum = 0;
  for (const DirectoryEntry& entry : entries ? *entries : std::vector<DirectoryEntry>()) {
    if (known.contains(entry.name)) continue;
    const auto facts = env.stat(join_path(folder, entry.name));
    if (facts) sum += facts->size_bytes;
  }
  return sum;
}

}  // namespace

Result<std::uint64_t> free_bytes_for(Env& env, const std::string& cache) {
  std::string folder = cache;
  while (!env.stat(folder) && folder != "." && folder != "/") folder = parent_path(folder);
  return env.free_bytes(folder);
}

std::uint64_t bytes_left_to_write(Env& env, const BuildPlan& plan, const BuildRequest& request,
                                  const BuildPreview& preview, const formats::Manifest* published,
                                  std::uint64_t free_bytes) {
  const std::uint64_t sounds = sound_bytes(env, plan, request, preview, free_bytes);
  std::uint64_t sealed = 0;
  for (const formats::ColumnSpec& column : records::sound_column_forms(request.recipe))
    sealed += sealed_bytes(env, request.options.cache, column.name, published);
  return sounds - std::min(sounds, sealed) + text_bytes(plan, request) + shared_sound_bytes(plan) +
         kOverheadBytes;
}

Status advise_on_space(const Status& failure, std::optional<std::uint64_t> needed_bytes,
                       std::uint64_t free_bytes) {
  if (free_bytes >= std::max(needed_bytes.value_or(0), kNothingFreeBytes)) return failure;
  std::string text = formatted("{}; CACHE's file system has {} free", failure.message(),
                               report::format_size(free_bytes));
  if (needed_bytes)
    text += formatted(", and the build needs about {} more", report::format_size(*needed_bytes));
  text += ": make room and run again, which keeps every sealed shard, or name another CACHE";
  if (!needed_bytes) text += formatted(" ({} says how much it needs)", option_on("dry-run"));
  return {failure.code(), std::move(text)};
}

Status advise_on_writing(const Status& failure) {
  return {failure.code(),
          failure.message() +
              "; a build has to write into CACHE: make it writable, or name another "
              "CACHE (info, ls, show, verify and diff only read)"};
}

}  // namespace xtts::pipeline
