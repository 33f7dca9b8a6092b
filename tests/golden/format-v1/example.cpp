#include "tests/golden/format-v1/example.hpp"

#include <array>
#include <cstdio>

#include "formats/bytes.hpp"
#include "formats/canonical_json.hpp"
#include "formats/clip_id.hpp"
#include "formats/corpus_config.hpp"
#include "formats/feature_config.hpp"
#include "formats/rules.hpp"
#include "formats/text_config.hpp"

namespace xtts::formats::example {
namespace {

TextConfig text_config() {
  TextConfig config;
  config.max_tokens = 4;
  return config;
}

Numerics numerics() {
  return {"cpu", "avx2", "fftw 3.3.10"};
}

RecordFacts facts() {
  RecordFacts facts;
  facts.id = "hi";
  facts.split = 0;
  facts.text_raw = "Hi!";
  facts.text_normalized = "Hi!";
  facts.character_count = 3;
  return facts;
}

template <typename Row>
void add_section(IndexEncoder& encoder, SectionKind kind, const Row& row) {
  std::string bytes;
  append_row(row, bytes);
  (void)encoder.begin_section(kind);
  (void)encoder.append(bytes_of(bytes));
  (void)encoder.end_section(1);
}

std::string hex_lines(std::string_view bytes, std::size_t begin, std::size_t size) {
  std::string out;
  std::array<char, 32> buffer{};
  for (std::size_t at = begin; at < begin + size; at += 16) {
    std::snprintf(buffer.data(), buffer.size(), "    %5zu ", at);
    out += buffer.data();
    std::string letters;
    for (std::size_t i = at; i < std::min(at + 16, begin + size); ++i) {
      const auto byte = static_cast<unsigned char>(bytes[i]);
      std::snprintf(buffer.data(), buffer.size(), " %02x", byte);
      out += buffer.data();
      letters += byte >= 0x20 && byte < 0x7F ? bytes[i] : '.';
    }
    out += std::string(3 * (16 - letters.size()) + 2, ' ') + letters + "\n";
  }
  return out;
}

}  // namespace

std::string payload() {
  std::string bytes;
  for (const std::int32_t token : {72, 105, 33, 0}) append(bytes, token);
  return bytes;
}

BlockHeader block_header() {
  BlockHeader header;
  header.column = {
      "tokens",         0, DType::kInt32, {4}, Layout::kPadded, fingerprint(text_config()),
      numerics().hash()};
  header.records.push_back({id_hash("", "hi"), 0, 3, 0, 0});
  header.payload_bytes = lay_out_records(header.column, header.records);
  header.records[0].check = record_check(header, 0, bytes_of(payload()));
  return header;
}

BlockFacts block_facts() {
  BlockFacts block;
  block.records.push_back(facts());
  return block;
}

ShardTable shard_table() {
  ShardTable table;
  table.file_bytes = 24576;
  table.structure_check = 0x0123456789abcdef;
  BlockPlace place;
  place.header_offset = 2 * 4096 + 16;
  place.payload_offset = 3 * 4096;
  place.payload_bytes = payload().size();
  place.facts_offset = 4 * 4096 + 16;
  place.facts_bytes = kBlockHeaderBytes;
  place.header_check = stored_header_check(encode_block_header(block_header()));
  place.facts_check = stored_facts_check(bytes_of(encode_block_facts(block_facts())));
  place.record_count = 1;
  table.blocks.push_back(place);
  return table;
}

std::string index() {
  std::string file;
  IndexEncoder encoder(
      [&file](std::span<const std::byte> bytes) {
        file += text_of(bytes);
        return Status();
      },
      1, 1);
  std::string details;
  append_facts(facts(), details);
  PlanRow plan;
  plan.text_len = 3;
  plan.details_bytes = static_cast<std::uint32_t>(details.size());
  add_section(encoder, SectionKind::kPlan, plan);
  add_section(encoder, SectionKind::kLocations, LocationRow());
  add_section(encoder, SectionKind::kIdHashes, IdHashRow{id_hash("", "hi"), 0});
  (void)encoder.begin_section(SectionKind::kDetails);
  (void)encoder.append(bytes_of(details));
  (void)encoder.end_section(1);
  add_section(encoder, SectionKind::kBlocks, BlockRow{shard_table().blocks[0], 0});
  (void)encoder.begin_section(SectionKind::kRejects);
  (void)encoder.append(bytes_of(encode_reject(reject()) + "\n"));
  (void)encoder.end_section(1);
  return encoder.finish().ok() ? file : std::string();
}

Manifest manifest() {
  Manifest manifest;
  manifest.recipe_name = "example";
  manifest.features = to_json(FeatureConfig());
  manifest.text = to_json(text_config());
  manifest.corpus = to_json(CorpusConfig());
  manifest.storage = to_json(StorageConfig());
  manifest.features_fingerprint = fingerprint(FeatureConfig());
  manifest.text_fingerprint = fingerprint(text_config());
  manifest.corpus_fingerprint = fingerprint(CorpusConfig());
  manifest.storage_fingerprint = fingerprint(StorageConfig());
  manifest.numerics = numerics();
  const ShardTable table = shard_table();
  ColumnEntry column;
  column.spec = block_header().column;
  column.shards.push_back({table.file_bytes, table.structure_check, 1, 1, 1, table.digest()});
  manifest.columns.push_back(column);
  manifest.datasets = {""};
  manifest.counts.planned = 2;
  manifest.counts.records = 1;
  manifest.counts.rejects_by_class = {{"input", 1}};
  manifest.counts.records_by_split = {{"train", 1}};
  manifest.index_bytes = index().size();
  manifest.index_digest = digest128(bytes_of(index()).last(kIndexFooterBytes));
  manifest.data_layout = "folder";
  return manifest;
}

Reject reject() {
  return {.kind = RejectClass::kInput,
          .id = "hello",
          .path = "hello.wav",
          .line = std::nullopt,
          .reason = {.rule = Rule::kDecodeFailed, .detail = "there is no sound in it"}};
}

std::string block_header_dump() {
  const auto header = encode_block_header(block_header());
  const std::string_view bytes = text_of(header);
  return hex_lines(bytes, 0, 160) + hex_lines(bytes, 240, 24) + hex_lines(bytes, 1776, 16) +
         hex_lines(bytes, 4072, 8);
}

std::string index_dump() {
  const std::string file = index();
  const std::string_view footer = std::string_view(file).substr(file.size() - kIndexFooterBytes);
  return hex_lines(footer, 0, 96) + hex_lines(footer, 128, 80) + hex_lines(footer, 4088, 8);
}

std::string manifest_dump() {
  const std::string text = encode_manifest(manifest()).value();
  constexpr std::size_t kWidth = 120;
  std::string out;
  for (std::size_t at = 0; at + 1 < text.size(); at += kWidth) {
    out += "    " + text.substr(at, std::min(kWidth, text.size() - 1 - at)) + "\n";
  }
  return out;
}

}  // namespace xtts::formats::example
