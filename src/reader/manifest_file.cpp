#include "reader/manifest_file.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "reader/cache_paths.hpp"

namespace xtts::reader {
namespace {

bool holds_an_index(Env& env, const std::string& cache) {
  const auto entries = env.list(cache);
  return entries.ok() && std::ranges::any_of(*entries, [](const DirectoryEntry& entry) {
           return digest_of_index_name(entry.name).has_value();
         });
}

Status why_no_manifest(Env& env, const std::string& cache) {
  const auto folder = env.stat(cache);
  if (!folder.ok()) return {StatusCode::kNotFound, "there is no cache at " + cache};
  if (folder->kind != FileKind::kDirectory) {
    return {StatusCode::kNotFound, cache + " is not a folder, so not a cache"};
  }
  const std::string build_folder = join_path(cache, kBuildFolderName);
  if (holds_an_index(env, cache) && !env.stat(join_path(build_folder, "journal")).ok()) {
    return {StatusCode::kCorrupt,
            join_path(cache, kManifestName) +
                " is lost, but an index is there, which keeps a copy: 'xtts-precompute verify " +
                cache + " --repair' brings it back"};
  }
  if (env.stat(build_folder).ok()) {
    return {StatusCode::kNotFound,
            cache +
                " is incomplete: what was making it has not published it. Continue with the same "
                "command: 'xtts-precompute build DATA " +
                cache + "', or the convert or merge that it was"};
  }
  return {StatusCode::kNotFound, cache + " holds no manifest.json, so it is not a cache"};
}

}  // namespace

Result<std::string> load_manifest_text(Env& env, const std::string& cache) {
  auto text = read_text_file(env, join_path(cache, kManifestName), formats::kManifestBytesMax);
  if (text.status().code() == StatusCode::kNotFound) return why_no_manifest(env, cache);
  return text;
}

Result<LoadedManifest> load_manifest(Env& env, const std::string& cache) {
  XTTS_ASSIGN(std::string text, load_manifest_text(env, cache));
  auto manifest = formats::decode_manifest(text);
  if (!manifest.ok()) return manifest.status().with_context(join_path(cache, kManifestName));
  return LoadedManifest{std::move(text), std::move(*manifest)};
}

}  // namespace xtts::reader
