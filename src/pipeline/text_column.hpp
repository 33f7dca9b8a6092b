// The tokens column: texts -> token records. Cheap, so it is made whole whenever a text, the
// tokenizer or the set of clips changes, and is not journalled. Memory: two shard images. One
// thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "corpus/corpus.hpp"
#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "formats/recipe_fwd.hpp"
#include "pipeline/sealer.hpp"
#include "pipeline/shard_assembler.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"
#include "text/tokenizer.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// What the index says of a clip's text.
struct ClipText {
  std::optional<formats::Reason> refusal;  // set: the text breaks this rule, and nothing else is
  std::uint32_t token_count = 0;
  bool was_cut = false;
  std::vector<std::int32_t> tokens;
  formats::RecordFacts facts;
};

[[nodiscard]] ClipText tokenize_clip(const corpus::Clip& clip, const text::Tokenizer& tokenizer,
                                     const formats::TextConfig& config);
// Of a clip that a plan has taken: kInternal where a rule refuses its text.
[[nodiscard]] Result<ClipText> tokenize_planned_clip(const corpus::Clip& clip,
                                                     const text::Tokenizer& tokenizer,
                                                     const formats::TextConfig& config);

class TextColumnWriter {
 public:
  TextColumnWriter(const formats::ColumnSpec& column, formats::StoreKind store,
                   std::uint64_t generation, store::CacheFolder& folder);
  // `planned`: the clip's place in the planned list; ascending.
  [[nodiscard]] Status add(std::uint64_t planned, const corpus::Clip& clip, ClipText text);
  [[nodiscard]] Result<std::vector<store::JournalShard>> finish();

 private:
  Status end_shard();

  const formats::ColumnSpec column_;
  const std::uint64_t clips_per_shard_;
  Sealer sealer_;
  ShardAssembler assembler_;
  std::uint64_t shard_ = 0;
  std::uint64_t next_ordinal_ = 0;
};

}  // namespace xtts::pipeline
