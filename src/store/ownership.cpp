#include "store/ownership.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/constants.hpp"
#include "formats/manifest.hpp"
#include "store/builder_lease.hpp"
#include "store/builder_lock.hpp"
#include "store/cache_folder.hpp"
#include "store/durable.hpp"
#include "store/generations.hpp"
#include "store/index_copy.hpp"

namespace xtts::store {
namespace {

constexpr std::uint64_t kLockBytesMax = 1024;
constexpr std::string_view kMarkText =
    "The unfinished work of xtts-precompute: the next build goes on with it, and removes this "
    "folder at its end.\n";
// A network file system keeps a removed but open file under such a name.
constexpr std::string_view kKeptOpenPrefix = ".nfs";

bool is_name_without_mark(std::string_view name) {
  return name == "lock" || name == "lease" || name.starts_with(kKeptOpenPrefix) ||
         (name.starts_with("lease-") && name.ends_with(".tmp"));
}

std::string mark_path(const std::string& cache) {
  return join_path(build_folder(cache), kBuildMark);
}

Status not_ours(const std::string& cache, const std::string& what) {
  return {
      StatusCode::kInvalidArgument,
      formatted("{} is not of xtts-precompute (it holds {}): move it away, or name another CACHE",
                build_folder(cache), what)};
}

// An empty text is ours: the lock's file is empty before a builder holds it.
Status check_lock_text(Env& env, const std::string& cache) {
  const auto text = read_text_file(env, lock_path(cache), kLockBytesMax);
  if (text.status().code() == StatusCode::kNotFound) return {};
  if (!text && text.status().code() != StatusCode::kInvalidArgument) return text.status();
  if (text && (text->empty() || text->starts_with("host "))) return {};
  return not_ours(cache, "a file 'lock' of another program");
}

// A cache without manifest and index is still a cache if it has shards.
Result<bool> has_shards(Env& env, const std::string& folder) {
  XTTS_ASSIGN(const auto columns, env.list(folder));
  for (const DirectoryEntry& column : columns) {
    if (column.kind != FileKind::kDirectory) continue;
    XTTS_ASSIGN(const auto files, env.list(join_path(folder, column.name)));
    if (std::ranges::any_of(files, [](const auto& file) { return is_shard_name(file.name); }))
      return true;
  }
  return false;
}

Result<bool> is_manifest(Env& env, const std::string& path) {
  const auto text = read_text_file(env, path, formats::kManifestBytesMax);
  if (text) return text->find("xtts-cache") != std::string::npos;
  if (text.status().code() == StatusCode::kInvalidArgument) return false;
  return text.status();
}

}  // namespace

bool is_name_of_build(std::string_view name) {
  const auto is_numbered = [&](std::string_view prefix, std::string_view suffix) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
    const auto number = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return name == "lock" || name == "lease" || name == "journal" || name == kBuildMark ||
         name == kPlannedSources || name.ends_with(".tmp") || is_numbered(kSpoolPrefix, "") ||
         is_numbered("sound-", "") || is_numbered("long-", ".f32");
}

Status check_build_folder(Env& env, const std::string& cache) {
  XTTS_ASSIGN(const auto entries, env.list(build_folder(cache)));
  for (const DirectoryEntry& entry : entries) {
    if (entry.name != kBuildMark) continue;
    if (entry.kind == FileKind::kRegular && !entry.is_symlink) return {};
    return {StatusCode::kCorrupt, mark_path(cache) + " is not a regular file"};
  }
  for (const DirectoryEntry& entry : entries) {
    if (!is_name_without_mark(entry.name)) return not_ours(cache, formatted("'{}'", entry.name));
  }
  return check_lock_text(env, cache);
}

Status put_build_mark(Env& env, const std::string& cache) {
  if (env.stat(mark_path(cache)).ok()) return {};
  auto opened = open_new_file(env, mark_path(cache));
  // A builder that took over meanwhile may have made it.
  if (!opened) return env.stat(mark_path(cache)).ok() ? Status() : opened.status();
  const auto file = std::move(*opened);
  XTTS_TRY(file->append(as_bytes(kMarkText)));
  XTTS_TRY(file->close());
  return env.sync_directory(build_folder(cache));
}

Status check_may_be_cache(Env& env, const std::string& cache) {
  const std::shared_ptr<Env> confined = confined_to(env, cache, Links::kNone);
  const auto entries = confined->list(cache);
  if (!entries) {
    return entries.status().code() == StatusCode::kNotFound ? Status() : entries.status();
  }
  bool is_ours = false;
  bool is_empty = true;
  for (const DirectoryEntry& entry : *entries) {
    if (entry.name == ".build") {
      XTTS_TRY(check_build_folder(*confined, cache));
      is_ours = is_ours || confined->stat(mark_path(cache)).ok();
    } else if (entry.name == "manifest.json") {
      XTTS_ASSIGN(const bool is_of_cache, is_manifest(*confined, manifest_path(cache)));
      is_ours = is_ours || is_of_cache;
      is_empty = false;
    } else if (entry.name == "shards" && entry.kind == FileKind::kDirectory) {
      XTTS_ASSIGN(const bool is_of_cache, has_shards(*confined, join_path(cache, "shards")));
      is_ours = is_ours || is_of_cache;
      is_empty = false;
    } else if (entry.name != "lost+found") {
      is_ours = is_ours || is_index_name(entry.name) || entry.name == kIndexCopyName;
      is_empty = false;
    }
  }
  if (is_ours || is_empty) return {};
  return {StatusCode::kInvalidArgument,
          cache + " holds other files and is not a cache: name a new or an empty folder"};
}

}  // namespace xtts::store
