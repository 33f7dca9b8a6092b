// TokenRows: the tokens column of an index: published before, sealed before, or written here, clip
// by clip. One thread at a time. Memory: ColumnRows, two images of tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "corpus/corpus.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/text_column.hpp"
#include "reader/cache_view.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"
#include "text/tokenizer.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

class TokenRows {
 public:
  struct Source {
    reader::CacheView* published = nullptr;                    // whose records are these, too
    const std::vector<store::JournalShard>* sealed = nullptr;  // before; neither: they are written
  };
  [[nodiscard]] static Result<TokenRows> begin(const formats::Recipe& recipe,
                                               const formats::Numerics& numerics,
                                               const Source& source, std::uint64_t generation,
                                               store::CacheFolder& folder);

  [[nodiscard]] bool reuses_published() const noexcept { return source_.published != nullptr; }

  // Clips come in canonical order. `published_position`: of one whose records stay.
  [[nodiscard]] Result<ClipText> add(const corpus::Clip& clip, std::uint64_t planned,
                                     std::optional<std::uint64_t> published_position);
  [[nodiscard]] Status finish();

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  [[nodiscard]] const ColumnRows& rows() const noexcept { return rows_; }
  [[nodiscard]] formats::ColumnEntry entry() const;

 private:
  TokenRows(const formats::Recipe& recipe, const formats::Numerics& numerics, const Source& source,
            std::uint64_t generation, text::Tokenizer tokenizer);
  void add_shards(const std::vector<store::JournalShard>& shards);

  const formats::Recipe& recipe_;
  Source source_;
  std::uint64_t generation_;
  std::uint32_t id_;
  formats::ColumnSpec spec_;
  text::Tokenizer tokenizer_;
  std::unique_ptr<TextColumnWriter> writer_;
  ColumnRows rows_;
};

}  // namespace xtts::pipeline
