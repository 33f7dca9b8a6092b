// sources.bin holds size, times and inode of each source when it was read, so that the next build
// need not hash it again (cache-v1.md, section 10). Local and disposable: a damaged file is
// ignored. Pure functions except load and save.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "base/hash.hpp"
#include "formats/data_folders.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

class CacheFolder;

struct SourceRow {
  Digest id_hash;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::optional<std::int64_t> ctime_ns;  // unset: a table of version 2 has none
  std::uint64_t inode = 0;
  std::uint64_t reject_check = 0;  // check of the reject's line; 0 for a stored clip
  // Of the source, where no index tells it; zero where it is unknown.
  Digest content = {};
};

struct SourceTable {
  formats::DataFolders data = {};  // absolute
  // The digests of the last build's plan and published index. If both are equal now, nothing has
  // changed.
  Digest plan_digest;
  Digest index_digest;
  std::vector<SourceRow> rows;  // ascending by id hash

  [[nodiscard]] const SourceRow* find(const Digest& id_hash) const noexcept;
};

// nullopt: the file is absent or damaged.
[[nodiscard]] std::optional<SourceTable> load_source_table(Env& env, const std::string& cache);
// The same table of the clips that an unfinished build computes, as they were before it read them.
// Its digests are unset.
[[nodiscard]] std::optional<SourceTable> load_planned_sources(Env& env, const std::string& cache);
[[nodiscard]] Status save_planned_sources(CacheFolder& folder, SourceTable table);
// Sorts the rows and saves them. Not durable: losing the file costs one rehash. kBusy: another
// builder has taken over.
[[nodiscard]] Status save_source_table(CacheFolder& folder, SourceTable table);

}  // namespace xtts::store
