#include "pipeline/token_rows.hpp"

#include <span>
#include <utility>

#include "base/try.hpp"
#include "formats/index.hpp"
#include "formats/recipe.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/index_build.hpp"
#include "records/columns.hpp"

namespace xtts::pipeline {

Result<std::unique_ptr<TokenRows>> TokenRows::open(const IndexJob& job,
                                                   store::CacheFolder& folder) {
  XTTS_ASSIGN(auto tokenizer, text::Tokenizer::create(job.recipe.text));
  std::unique_ptr<TokenRows> tokens(new TokenRows(job, std::move(tokenizer)));
  formats::ColumnEntry& entry = tokens->column_.entry;
  const auto* const old = job.previous != nullptr && job.keeps_texts
                              ? job.previous->manifest().find_column("tokens")
                              : nullptr;
  if (old != nullptr) {
    tokens->published_ = job.previous;
    entry.spec = old->spec;
    XTTS_TRY(take_over(*job.previous, tokens->id(), tokens->column_.rows));
  } else {
    tokens->sealer_ = std::make_unique<Sealer>(folder, nullptr);
    tokens->assembler_.emplace(entry.spec, entry.store, job.generation);
  }
  return tokens;
}

TokenRows::TokenRows(const IndexJob& job, text::Tokenizer tokenizer)
    : job_(job), tokenizer_(std::move(tokenizer)) {
  column_.entry = records::entry_of(records::tokens_column(job.recipe, job.numerics), job.recipe);
}

Result<ClipText> TokenRows::add(const corpus::Clip& clip, std::uint64_t planned,
                                std::optional<std::uint64_t> published_position) {
  if (published_ != nullptr && published_position) {
    XTTS_ASSIGN(const auto location, published_->location(id(), *published_position));
    append_row(location, column_.rows.locations);
  }
  XTTS_ASSIGN(ClipText text, tokenize_planned_clip(clip, tokenizer_, job_.recipe.text));
  if (assembler_) XTTS_TRY(write(clip, planned, text));
  return text;
}

Status TokenRows::write(const corpus::Clip& clip, std::uint64_t planned, ClipText text) {
  const std::uint64_t shard = planned / column_.entry.spec.geometry().clips_per_shard();
  if (shard != shard_) XTTS_TRY(end_shard());
  shard_ = shard;
  AssembledRecord record;
  record.made.length = text.token_count;
  const auto bytes = std::as_bytes(std::span(text.tokens));
  record.made.rows.assign(bytes.begin(), bytes.end());
  add_facts_of_lists(clip, text.facts);
  record.facts = facts_of_text(text.facts);
  return assembler_->add(std::move(record));
}

Status TokenRows::end_shard() {
  XTTS_ASSIGN(auto image, assembler_->end_shard());
  if (!image) return {};
  SealJob job;
  job.images.push_back({column_.entry.spec.name, next_ordinal_++, std::move(image)});
  job.entry.planned_shard = shard_;
  return sealer_->submit(std::move(job));
}

Result<IndexedColumn> TokenRows::finish() {
  if (assembler_) {
    XTTS_TRY(end_shard());
    XTTS_ASSIGN(const auto shards, sealer_->finish());
    add_shards(shards);
  }
  return std::move(column_);
}

void TokenRows::add_shards(const std::vector<store::JournalShard>& shards) {
  // Blocks hold the surviving clips in order, so locations follow from the counts.
  std::uint32_t block = 0;
  for (const auto& shard : shards) {
    column_.rows.add_shard(shard.sealed.front(), job_.generation);
    for (const auto& place : shard.sealed.front().table.blocks) {
      for (std::uint16_t slot = 0; slot < place.record_count; ++slot)
        append_row(formats::LocationRow{.block_row = block, .slot = slot}, column_.rows.locations);
      ++block;
    }
  }
}

}  // namespace xtts::pipeline
