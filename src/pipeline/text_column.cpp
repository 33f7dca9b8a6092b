#include "pipeline/text_column.hpp"

#include "base/try.hpp"
#include "base/utf8.hpp"
#include "formats/canonical_json.hpp"
#include "formats/clip_id.hpp"
#include "pipeline/plan.hpp"

namespace xtts::pipeline {
namespace {

std::uint32_t count_characters(std::string_view text) {
  std::uint32_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return count;
}

}  // namespace

ClipText tokenize_clip(const corpus::Clip& clip, const text::Tokenizer& tokenizer,
                       const formats::TextConfig& config) {
  ClipText text;
  const std::string_view chosen = text_to_tokenize(clip, config);
  auto encoded = tokenizer.encode(chosen);
  if (encoded.refusal) {
    text.refusal = std::move(encoded.refusal);
    return text;
  }
  text.tokens = std::move(encoded.values);
  text.token_count = static_cast<std::uint32_t>(text.tokens.size());
  text.was_cut = encoded.truncated;
  text.facts.text_raw = clip.text_raw;
  text.facts.text_normalized = clip.text_normalized;
  text.facts.character_count = count_characters(chosen);
  if (encoded.truncated) text.facts.text_was_cut = std::uint8_t{1};
  if (!encoded.unknown.empty()) {
    text.facts.unknown_characters_json = formats::dump_canonical(nlohmann::json(encoded.unknown));
  }
  return text;
}

Result<ClipText> tokenize_planned_clip(const corpus::Clip& clip, const text::Tokenizer& tokenizer,
                                       const formats::TextConfig& config) {
  ClipText text = tokenize_clip(clip, tokenizer, config);
  if (!text.refusal) return text;
  return Status(StatusCode::kInternal, "a planned clip's text breaks the rule " +
                                           std::string(formats::name_of(text.refusal->rule)));
}

TextColumnWriter::TextColumnWriter(const formats::ColumnSpec& column, formats::StoreKind store,
                                   std::uint64_t generation, store::CacheFolder& folder)
    : column_(column),
      clips_per_shard_(column.geometry().clips_per_shard()),
      sealer_(folder, nullptr),
      assembler_(column, store, generation, [](const std::vector<std::byte>&) {}) {}

Status TextColumnWriter::add(std::uint64_t planned, const corpus::Clip& clip, ClipText text) {
  const std::uint64_t shard = planned / clips_per_shard_;
  if (shard != shard_) XTTS_TRY(end_shard());
  shard_ = shard;
  AssembledRecord record;
  record.id_hash = formats::id_hash(clip.dataset, clip.id);
  record.dataset = clip.dataset;
  record.split = static_cast<std::uint8_t>(clip.split);
  record.length = text.token_count;
  const auto bytes = std::as_bytes(std::span(text.tokens));
  record.rows.assign(bytes.begin(), bytes.end());
  record.facts = std::move(text.facts);
  record.facts.id = clip.id;
  if (!clip.dataset.empty()) record.facts.dataset = clip.dataset;
  record.facts.split = record.split;
  if (!clip.speaker.empty()) record.facts.speaker = clip.speaker;
  if (!clip.language.empty()) record.facts.language = clip.language;
  if (!clip.extra_json.empty()) record.facts.extra_json = clip.extra_json;
  return assembler_.add(std::move(record));
}

Result<std::vector<store::JournalShard>> TextColumnWriter::finish() {
  XTTS_TRY(end_shard());
  return sealer_.finish();
}

Status TextColumnWriter::end_shard() {
  XTTS_ASSIGN(auto image, assembler_.end_shard());
  if (!image) return {};
  SealJob job;
  job.images.push_back({column_.name, next_ordinal_++, std::move(image)});
  job.entry.planned_shard = shard_;
  return sealer_.submit(std::move(job));
}

}  // namespace xtts::pipeline
