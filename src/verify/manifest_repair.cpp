#include "verify/manifest_repair.hpp"

#include "base/try.hpp"
#include "reader/cache_paths.hpp"
#include "reader/index_reader.hpp"
#include "reader/manifest_file.hpp"
#include "store/cache_folder.hpp"

namespace xtts::verify {
namespace {

struct Found {
  std::string index_name;
  formats::Manifest manifest;
};

// The manifest that an index was published with; nothing where the file is no such index.
std::optional<Found> read_copy(Run& run, const std::string& name) {
  const auto digest = reader::digest_of_index_name(name);
  const auto facts = run.env.stat(run.path_of(name));
  if (!digest || !facts) return std::nullopt;
  const auto index =
      reader::IndexReader::open(run.env, run.path_of(name), name, {facts->size_bytes, *digest});
  if (!index) return std::nullopt;
  const auto copy = (*index)->section_text(formats::SectionKind::kManifest);
  if (!copy || copy->empty()) return std::nullopt;
  auto manifest = formats::decode_manifest_copy(*copy, facts->size_bytes, *digest);
  if (!manifest) return std::nullopt;
  return Found{name, std::move(*manifest)};
}

Result<std::optional<Found>> find_newest_copy(Run& run) {
  XTTS_ASSIGN(const auto entries, run.env.list(run.cache));
  std::optional<Found> newest;
  for (const DirectoryEntry& entry : entries) {
    auto found = read_copy(run, entry.name);
    if (found && (!newest || found->manifest.generation > newest->manifest.generation))
      newest = std::move(found);
  }
  return newest;
}

bool has_unfinished_build(Run& run) {
  return run.env.stat(join_path(store::build_folder(run.cache), "journal")).ok();
}

}  // namespace

Result<std::optional<Mended>> mend_manifest(Run& run) {
  const auto loaded = reader::load_manifest(run.env, run.cache);
  if (loaded.status().code() != StatusCode::kCorrupt || has_unfinished_build(run))
    return std::optional<Mended>();
  XTTS_ASSIGN(const auto found, find_newest_copy(run));
  if (!found) return std::optional<Mended>();
  XTTS_ASSIGN(const auto folder, store::CacheFolder::open(run.env, run.cache, run.notices()));
  XTTS_ASSIGN(const std::string text, formats::encode_manifest(found->manifest));
  XTTS_TRY(store::replace_manifest(*folder, text));
  XTTS_TRY(folder->finish());
  return std::optional(Mended{.file = std::string(reader::kManifestName),
                              .what = "made again from its copy in " + found->index_name +
                                      ", generation " +
                                      std::to_string(found->manifest.generation)});
}

}  // namespace xtts::verify
