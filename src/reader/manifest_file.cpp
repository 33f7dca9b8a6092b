#include "reader/manifest_file.hpp"

#include <algorithm>
#include <vector>

#include "base/formatted.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "formats/set_manifest.hpp"
#include "reader/cache_paths.hpp"

namespace xtts::reader {
namespace {

bool holds_an_index(Env& env, const std::string& cache) {
  const auto entries = env.list(cache);
  return entries.ok() && std::ranges::any_of(*entries, [](const DirectoryEntry& entry) {
           return digest_of_index_name(entry.name).has_value();
         });
}

// Returns the hint for a user who named a file: the cache's folder, if the file is a cache's
// manifest.
std::string folder_instead_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash);
  return file_name(file) == kManifestName
             ? ": " + command_in_text("xtts-precompute info " + shell_quoted(folder))
             : formatted(": {} makes one", command_in_text("xtts-precompute build DATA CACHE"));
}

// The caches in a folder, if the user named the folder above them.
std::string caches_below(Env& env, const std::string& folder,
                         const std::vector<DirectoryEntry>& entries) {
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : entries) {
    if (entry.kind != FileKind::kDirectory || entry.is_symlink) continue;
    if (env.stat(join_path(join_path(folder, entry.name), kManifestName)).ok())
      names.push_back(entry.name);
  }
  if (names.empty()) return {};
  return "; one is below it: " +
         command_in_text("xtts-precompute info " +
                         shell_quoted(join_path(folder, *std::ranges::min_element(names))));
}

Status why_no_manifest(Env& env, const std::string& cache) {
  const auto folder = env.stat(cache);
  const std::string to_make_one = formatted(
      "; {} makes one", command_in_text("xtts-precompute build DATA " + shell_quoted(cache)));
  if (!folder.ok() && cache.find("://") != std::string::npos) {
    return {StatusCode::kNotFound,
            formatted("commands read folders, not URLs; {} copies a published cache to one",
                      command_in_text("python -m xtts_precompute.buckets fetch " +
                                      shell_quoted(cache) + " DIR"))};
  }
  if (!folder.ok())
    return {StatusCode::kNotFound, formatted("there is no cache at {}{}", cache, to_make_one)};
  if (folder->kind != FileKind::kDirectory) {
    return {StatusCode::kNotFound,
            formatted("{} is a file, and a cache is a folder{}", cache, folder_instead_of(cache))};
  }
  const std::string build_folder = join_path(cache, kBuildFolderName);
  if (holds_an_index(env, cache) && !env.stat(join_path(build_folder, "journal")).ok()) {
    return {StatusCode::kCorrupt, join_path(cache, kManifestName) +
                                      " is lost, but an index is there, which keeps a copy"};
  }
  if (env.stat(build_folder).ok()) {
    return {StatusCode::kNotFound,
            formatted("{} is incomplete: the command that was making it has not published it. Run "
                      "that command again: {}, or the convert or merge that it was",
                      cache, command_in_text("xtts-precompute build DATA " + shell_quoted(cache)))};
  }
  if (env.stat(join_path(cache, formats::kSetFileName)).ok())
    return {StatusCode::kUnsupported,
            cache +
                " is a set of caches, and this takes one cache: name one of those that its "
                "set.json names"};
  const auto entries = env.list(cache);
  if (entries.ok() && entries->empty())
    return {StatusCode::kNotFound,
            formatted("{} is an empty folder, not a cache{}", cache, to_make_one)};
  const std::string below = entries.ok() ? caches_below(env, cache, *entries) : "";
  if (!below.empty())
    return {StatusCode::kNotFound,
            formatted("{} holds no manifest.json, so it is not a cache{}", cache, below)};
  return {StatusCode::kNotFound,
          cache + " holds no manifest.json, so it is not a cache; if it holds recordings, " +
              command_in_text("xtts-precompute build " + shell_quoted(cache) + " CACHE") +
              " makes a cache of them"};
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
