#include "store/garbage.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/try.hpp"
#include "formats/manifest.hpp"
#include "store/durable.hpp"

namespace xtts::store {
namespace {

constexpr std::size_t kDigestDigits = 32;
constexpr std::size_t kOrdinalDigitsMin = 5;

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits && Digest::from_hex(text).has_value();
}

// Names that are not ours are somebody else's files.
bool is_index_name(std::string_view name) {
  constexpr std::string_view kPrefix = "index-";
  constexpr std::string_view kSuffix = ".bin";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size());
  return is_digest(name.substr(0, name.size() - std::min(name.size(), kSuffix.size())));
}

bool is_shard_name(std::string_view name) {
  const auto digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits < kOrdinalDigitsMin || digits == name.size() || name[digits] != '-') return false;
  name.remove_prefix(digits + 1);
  const std::string_view extension = name.substr(std::min(name.size(), kDigestDigits));
  return is_digest(name.substr(0, kDigestDigits)) &&
         (extension == formats::file_extension_of(formats::StoreKind::kLmdb) ||
          extension == formats::file_extension_of(formats::StoreKind::kHdf5));
}

Result<std::vector<std::string>> names_in(Env& env, const std::string& folder, FileKind kind) {
  auto entries = env.list(folder);
  std::vector<std::string> names;
  if (!entries && entries.status().code() == StatusCode::kNotFound) return names;
  if (!entries) return entries.status();
  for (DirectoryEntry& entry : *entries) {
    if (entry.kind == kind && !entry.is_symlink) names.push_back(std::move(entry.name));
  }
  // A listing has no order; what a crash leaves should not depend on it.
  std::ranges::sort(names);
  return names;
}

// Whether any index that is not named had to stay.
Result<bool> remove_indexes(Env& env, const std::string& cache,
                            const std::set<std::string>& named) {
  bool is_read = false;
  XTTS_ASSIGN(const auto names, names_in(env, cache, FileKind::kRegular));
  for (const std::string& name : names) {
    if (!is_index_name(name) || named.contains(name)) continue;
    const std::string path = join_path(cache, name);
    // The lock cannot be had for other reasons too (a file of another user): then it stays as well.
    if (const auto lock = env.lock(path, LockKind::kExclusive); lock.ok()) {
      XTTS_TRY(remove_if_there(env, path));
    } else {
      is_read = true;
    }
  }
  return is_read;
}

}  // namespace

Status remove_unnamed(Env& env, const std::string& cache, const std::set<std::string>& named) {
  // Indexes first: once its index is gone, no new reader can arrive at a generation that loses its
  // shards next.
  XTTS_ASSIGN(const bool is_read, remove_indexes(env, cache, named));
  if (is_read) return {};
  const std::string shards = join_path(cache, "shards");
  XTTS_ASSIGN(const auto columns, names_in(env, shards, FileKind::kDirectory));
  for (const std::string& column : columns) {
    const std::string folder = join_path(shards, column);
    XTTS_ASSIGN(const auto names, names_in(env, folder, FileKind::kRegular));
    for (const std::string& name : names) {
      const std::string relative = join_path(join_path("shards", column), name);
      if (!is_shard_name(name) || named.contains(relative)) continue;
      XTTS_TRY(remove_if_there(env, join_path(folder, name)));
    }
  }
  return {};
}

}  // namespace xtts::store
