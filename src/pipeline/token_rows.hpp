// TokenRows: the tokens column of an index, clip by clip. Its records were published before, or
// are written here. Writing is cheap: the whole column is made again whenever a text,
// the tokenizer or the set of clips changes, and it is not journalled. One thread at a time.
// Memory: ColumnRows, two shard images.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "corpus/clips/clip.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/sealer.hpp"
#include "pipeline/shard_assembler.hpp"
#include "pipeline/text_column.hpp"
#include "reader/cache_view.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"
#include "text/tokenizer.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct IndexJob;

class TokenRows {
 public:
  // `job` must outlive the object.
  [[nodiscard]] static Result<std::unique_ptr<TokenRows>> open(const IndexJob& job,
                                                               store::CacheFolder& folder);

  [[nodiscard]] std::uint32_t id() const noexcept { return column_.entry.spec.id; }
  [[nodiscard]] bool are_published() const noexcept { return published_ != nullptr; }

  // Clips come in canonical order. `planned`: the clip's place among the planned clips.
  // `published_position`: set for a clip whose records stay.
  [[nodiscard]] Result<ClipText> add(const corpus::Clip& clip, std::uint64_t planned,
                                     std::optional<std::uint64_t> published_position);
  // Call it after the last clip.
  [[nodiscard]] Result<IndexedColumn> finish();

 private:
  TokenRows(const IndexJob& job, text::Tokenizer tokenizer);
  [[nodiscard]] Status write(const corpus::Clip& clip, std::uint64_t planned, ClipText text);
  [[nodiscard]] Status end_shard();
  void add_shards(const std::vector<store::JournalShard>& shards);

  const IndexJob& job_;
  const text::Tokenizer tokenizer_;
  IndexedColumn column_;
  reader::CacheView* published_ = nullptr;  // set if this index keeps its records

  // Used if records are written here.
  std::unique_ptr<Sealer> sealer_;
  std::optional<ShardAssembler> assembler_;
  std::uint64_t shard_ = 0;  // the planned shard that is being filled
  std::uint64_t next_ordinal_ = 0;
};

}  // namespace xtts::pipeline
