#include "pipeline/token_rows.hpp"

#include <utility>

#include "base/try.hpp"
#include "formats/index.hpp"
#include "formats/recipe.hpp"
#include "records/columns.hpp"

namespace xtts::pipeline {

Result<TokenRows> TokenRows::begin(const formats::Recipe& recipe, const formats::Numerics& numerics,
                                   const Source& source, std::uint64_t generation,
                                   store::CacheFolder& folder) {
  XTTS_ASSIGN(auto tokenizer, text::Tokenizer::create(recipe.text));
  TokenRows tokens(recipe, numerics, source, generation, std::move(tokenizer));
  if (source.published != nullptr) {
    tokens.spec_ = source.published->manifest().columns[tokens.id_].spec;
    XTTS_TRY(take_over(*source.published, tokens.id_, tokens.rows_));
  } else if (source.sealed == nullptr) {
    tokens.writer_ =
        std::make_unique<TextColumnWriter>(tokens.spec_, recipe.storage.store, generation, folder);
  }
  return tokens;
}

TokenRows::TokenRows(const formats::Recipe& recipe, const formats::Numerics& numerics,
                     const Source& source, std::uint64_t generation, text::Tokenizer tokenizer)
    : recipe_(recipe),
      source_(source),
      generation_(generation),
      id_(static_cast<std::uint32_t>(recipe.features.sound_columns().size())),
      spec_(records::tokens_column(recipe, numerics)),
      tokenizer_(std::move(tokenizer)) {}

Result<ClipText> TokenRows::add(const corpus::Clip& clip, std::uint64_t planned,
                                std::optional<std::uint64_t> published_position) {
  if (source_.published != nullptr && published_position) {
    XTTS_ASSIGN(const auto location, source_.published->location(id_, *published_position));
    append_row(location, rows_.locations);
  }
  XTTS_ASSIGN(ClipText text, tokenize_planned_clip(clip, tokenizer_, recipe_.text));
  if (writer_) XTTS_TRY(writer_->add(planned, clip, text));
  return text;
}

Status TokenRows::finish() {
  if (source_.sealed != nullptr) add_shards(*source_.sealed);
  if (writer_) {
    XTTS_ASSIGN(const auto shards, writer_->finish());
    add_shards(shards);
  }
  return {};
}

void TokenRows::add_shards(const std::vector<store::JournalShard>& shards) {
  for (const auto& shard : shards) rows_.add_shard(shard.sealed.front(), generation_);
  // Blocks hold the survivors in order, so locations follow from the counts.
  std::uint32_t block = 0;
  for (const auto& shard : shards) {
    for (const auto& place : shard.sealed.front().table.blocks) {
      for (std::uint16_t slot = 0; slot < place.record_count; ++slot)
        append_row(formats::LocationRow{.block_row = block, .slot = slot}, rows_.locations);
      ++block;
    }
  }
}

formats::ColumnEntry TokenRows::entry() const {
  formats::ColumnEntry entry = records::entry_of(spec_, recipe_);
  entry.shards = rows_.shards;
  return entry;
}

}  // namespace xtts::pipeline
