// TokenRows: the tokens column of an index: published before, sealed before, or written here, clip
// by clip. Writing is cheap: the column is made whole whenever a text, the tokenizer or the set of
// clips changes, and is not journalled. One thread at a time. Memory: ColumnRows, two shard images.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "corpus/corpus.hpp"
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
  // Of `job`, which must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<TokenRows>> open(const IndexJob& job,
                                                               store::CacheFolder& folder);

  [[nodiscard]] std::uint32_t id() const noexcept { return column_.entry.spec.id; }
  [[nodiscard]] bool are_published() const noexcept { return published_ != nullptr; }

  // Clips come in canonical order. `planned`: the clip's place among those that were planned.
  // `published_position`: of one whose records stay.
  [[nodiscard]] Result<ClipText> add(const corpus::Clip& clip, std::uint64_t planned,
                                     std::optional<std::uint64_t> published_position);
  // After the last clip.
  [[nodiscard]] Result<IndexedColumn> finish();

 private:
  TokenRows(const IndexJob& job, text::Tokenizer tokenizer);
  [[nodiscard]] Status write(const corpus::Clip& clip, std::uint64_t planned, ClipText text);
  [[nodiscard]] Status end_shard();
  void add_shards(const std::vector<store::JournalShard>& shards);

  const IndexJob& job_;
  const text::Tokenizer tokenizer_;
  IndexedColumn column_;
  reader::CacheView* published_ = nullptr;  // whose records are these, too

  // Where records are written here.
  std::unique_ptr<Sealer> sealer_;
  std::optional<ShardAssembler> assembler_;
  std::uint64_t shard_ = 0;  // of the planned ones, being filled
  std::uint64_t next_ordinal_ = 0;
};

}  // namespace xtts::pipeline
