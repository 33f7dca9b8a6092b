#include "verify/manifest_repair.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "reader/cache_paths.hpp"
#include "reader/index_reader.hpp"
#include "reader/manifest_file.hpp"
#include "store/cache_folder.hpp"
#include "store/generations.hpp"
#include "store/source_table.hpp"

namespace xtts::verify {
namespace {

struct Candidate {
  std::string index_name;
  std::optional<std::uint64_t> generation;    // nothing: its footer cannot be read
  std::optional<formats::Manifest> manifest;  // nothing: it keeps no copy that can be read
};

// Reads the manifest that an index was published with.
std::optional<formats::Manifest> read_copy(Run& run, const std::string& name) {
  const auto digest = reader::digest_of_index_name(name);
  const auto facts = run.env.stat(run.path_of(name));
  if (!digest || !facts) return std::nullopt;
  const auto index =
      reader::IndexReader::open(run.env, run.path_of(name), name, {facts->size_bytes, *digest});
  if (!index) return std::nullopt;
  const auto copy = (*index)->section_text(formats::SectionKind::kManifest);
  if (!copy || copy->empty()) return std::nullopt;
  auto manifest = formats::decode_manifest_copy(*copy, facts->size_bytes, *digest);
  return manifest ? std::optional(std::move(*manifest)) : std::nullopt;
}

FoundIndex seen(const Candidate& candidate) {
  FoundIndex seen{.name = candidate.index_name, .generation = candidate.generation};
  if (!candidate.manifest) return seen;
  seen.has_manifest = true;
  seen.record_count = candidate.manifest->counts.records;
  seen.seconds = candidate.manifest->counts.seconds;
  return seen;
}

class ManifestRepair {
 public:
  explicit ManifestRepair(Run& run)
      : run_(run), sources_(store::load_source_table(run.env, run.cache)) {}

  Result<std::optional<RepairedFile>> run() {
    XTTS_TRY(list_candidates());
    const Candidate* const newest = choose();
    if (newest == nullptr) return std::optional<RepairedFile>();
    if (run_.options.index.empty()) {
      XTTS_ASSIGN(auto doubt, why_not_newest(*newest));
      if (doubt) {
        ask(*newest, std::move(*doubt));
        return std::optional<RepairedFile>();
      }
    }
    XTTS_TRY(put_in_place(*newest->manifest));
    return std::optional(
        RepairedFile{.file = std::string(reader::kManifestName),
                     .done = {"manifest_remade",
                              formatted("made again from its copy in {}, generation {}",
                                        newest->index_name, newest->manifest->generation),
                              newest->manifest->generation}});
  }

 private:
  // Leaves out an index of the generation that an unfinished build was making, unless it was
  // published and the power failed before .build/ was removed.
  Status list_candidates() {
    const auto damaged =
        read_text_file(run_.env, run_.path_of(reader::kManifestName), formats::kManifestBytesMax);
    const auto is_published = [&](const std::string& index) {
      const auto digest = reader::digest_of_index_name(index);
      if (!digest) return false;
      return (damaged && damaged->find(digest->to_hex()) != std::string::npos) ||
             (sources_ && sources_->index_digest == *digest);  // saved after publication
    };
    const auto unfinished = store::unfinished_generation(run_.env, run_.cache);
    XTTS_ASSIGN(const auto entries, run_.env.list(run_.cache));
    for (const DirectoryEntry& entry : entries) {
      if (!store::is_index_name(entry.name)) continue;
      Candidate candidate{
          .index_name = entry.name,
          .generation = store::generation_of_index(run_.env, run_.path_of(entry.name)),
          .manifest = read_copy(run_, entry.name)};
      if (unfinished && candidate.generation && *candidate.generation >= *unfinished &&
          !is_published(entry.name))
        continue;
      candidates_.push_back(std::move(candidate));
    }
    std::ranges::sort(candidates_, std::ranges::greater(), [](const Candidate& candidate) {
      return std::pair(candidate.generation.value_or(0), candidate.index_name);
    });
    return {};
  }

  [[nodiscard]] const Candidate* choose() const {
    for (const Candidate& candidate : candidates_) {
      if (!candidate.manifest) continue;
      if (run_.options.index.empty() || run_.options.index == candidate.index_name)
        return &candidate;
    }
    return nullptr;
  }

  // Returns nothing if the index is proved to be the newest. No two generations share a number, so
  // no other index may be as high, or of unknown height.
  Result<std::optional<Evidence>> why_not_newest(const Candidate& chosen) {
    for (const Candidate& other : candidates_) {
      if (&other == &chosen || (other.generation && *other.generation < *chosen.generation))
        continue;
      return std::optional(Evidence("maybe_newer_index", other.index_name + " may be newer"));
    }
    if (sources_) {
      const std::string name = formats::index_file_name(sources_->index_digest);
      if (!run_.env.stat(run_.path_of(name)))
        return std::optional(
            Evidence("lost_index_of_sources",
                     formatted("sources.bin names {}, which is lost and may be newer", name)));
    }
    return newer_shard(*chosen.manifest);
  }

  // Finds a shard that no index names, of a generation whose index is lost.
  Result<std::optional<Evidence>> newer_shard(const formats::Manifest& chosen) {
    std::set<std::string> named;
    for (const formats::ColumnEntry& column : chosen.columns) {
      for (std::size_t i = 0; i < column.shards.size(); ++i)
        named.insert(reader::shard_name(column, i));
    }
    const auto unfinished = store::unfinished_generation(run_.env, run_.cache);
    const auto columns = run_.env.list(run_.path_of("shards"));
    if (columns.status().code() == StatusCode::kNotFound) return std::optional<Evidence>();
    if (!columns) return columns.status();
    for (const DirectoryEntry& column : *columns) {
      if (column.kind != FileKind::kDirectory || column.is_symlink) continue;
      const std::string folder = join_path("shards", column.name);
      XTTS_ASSIGN(const auto files, run_.env.list(run_.path_of(folder)));
      for (const DirectoryEntry& file : files) {
        const std::string name = join_path(folder, file.name);
        if (!store::is_shard_name(file.name) || named.contains(name)) continue;
        const auto generation = store::generation_of_shard(run_.env, run_.path_of(name));
        const bool is_unpublished = unfinished && generation && *generation >= *unfinished;
        if (is_unpublished || (generation && *generation <= chosen.generation)) continue;
        if (!generation)
          return std::optional(Evidence("shard_of_no_index", name + " is of no known generation"));
        return std::optional(
            Evidence("shard_of_lost_index",
                     formatted("{} is of generation {}, whose index is lost", name, *generation),
                     *generation));
      }
    }
    return std::optional<Evidence>();
  }

  void ask(const Candidate& newest, Evidence doubt) {
    for (const Candidate& candidate : candidates_) doubt.indexes.push_back(seen(candidate));
    run_.findings.add({.file = std::string(reader::kManifestName),
                       .check = Check::kManifest,
                       .outcome = Outcome::kNotRepaired,
                       .found = std::move(doubt),
                       .remedy = RemedyKind::kChooseIndex,
                       .is_of_checks = false});
    run_.is_manifest_told = true;
    run_.index_to_name = newest.index_name;
  }

  Status put_in_place(const formats::Manifest& manifest) {
    XTTS_ASSIGN(const auto folder,
                store::CacheFolder::open(run_.env, run_.cache, run_.lease_callbacks()));
    XTTS_ASSIGN(const std::string text, formats::encode_manifest(manifest));
    XTTS_TRY(store::replace_manifest(*folder, text));
    // Shards that an unfinished build has sealed are kept.
    if (store::unfinished_generation(run_.env, run_.cache)) return {};
    return folder->finish();
  }

  Run& run_;
  const std::optional<store::SourceTable> sources_;
  std::vector<Candidate> candidates_;  // the highest generation first
};

}  // namespace

Result<std::optional<RepairedFile>> repair_manifest(Run& run) {
  const auto loaded = reader::load_manifest(run.env, run.cache);
  const bool is_damaged = loaded.status().code() == StatusCode::kCorrupt;
  if (!is_damaged && !store::is_manifest_lost(run.env, run.cache))
    return std::optional<RepairedFile>();
  return ManifestRepair(run).run();
}

}  // namespace xtts::verify
