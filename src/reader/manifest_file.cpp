#include "reader/manifest_file.hpp"

#include "base/try.hpp"
#include "reader/cache_paths.hpp"

namespace xtts::reader {
namespace {

Status why_no_manifest(Env& env, const std::string& cache) {
  const auto folder = env.stat(cache);
  if (!folder.ok()) return {StatusCode::kNotFound, "there is no cache at " + cache};
  if (folder->kind != FileKind::kDirectory) {
    return {StatusCode::kNotFound, cache + " is not a folder, so not a cache"};
  }
  if (env.stat(join_path(cache, kBuildFolderName)).ok()) {
    return {StatusCode::kNotFound,
            cache +
                " is incomplete: its first build has not been published. Continue with: "
                "xtts-precompute build DATA " +
                cache};
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
