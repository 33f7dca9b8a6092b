// Random values through encoder and decoder and back. The seed is printed; XTTS_SEED=N repeats a
// run.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "base/utf8.hpp"
#include "formats/bytes.hpp"
#include "formats/canonical_json.hpp"
#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "formats/reject.hpp"
#include "formats/rules.hpp"

namespace xtts::formats {
namespace {

class FormatsRoundTrip : public testing::Test {
 protected:
  FormatsRoundTrip() {
    const char* const given = std::getenv("XTTS_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
    random_.seed(seed);
    RecordProperty("seed", std::to_string(seed));
    std::printf("XTTS_SEED=%llu\n", static_cast<unsigned long long>(seed));
  }

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(below(std::uint64_t{high} - low + 1));
  }
  Digest digest() { return {random_(), random_()}; }
  std::string bytes(std::size_t size_max) {
    std::string text(below(size_max + 1), '\0');
    for (char& c : text) c = static_cast<char>(random_());
    return text;
  }
  // Any characters from all planes, control characters included.
  std::string text(std::size_t length_max) {
    std::string out;
    for (std::uint64_t i = below(length_max + 1); i > 0; --i) {
      const std::string candidate = bytes(4);
      out += candidate.substr(0, utf8_length_bytes(candidate));
    }
    return out;
  }
  Reason reason() {
    const std::span<const RuleInfo> rules = all_rules();
    const RuleInfo& info = rules[below(rules.size())];
    Reason made{.rule = info.rule, .detail = text(20)};
    for (std::size_t i = 0; i < info.numbers.size(); ++i)
      if (!info.numbers[i].empty()) made.numbers[i] = static_cast<double>(below(1000)) / 8.0;
    return made;
  }
  double finite() {
    for (;;) {
      const auto value = std::bit_cast<double>(random_());
      if (std::isfinite(value)) return value;
    }
  }
  template <typename T>
  void maybe(std::optional<T>& member, T value) {
    if (below(2) == 0) member = std::move(value);
  }

  ColumnSpec column();
  RecordFacts facts();
  Manifest manifest();
  nlohmann::json json_value(int depth);

  std::mt19937_64 random_;
};

ColumnSpec FormatsRoundTrip::column() {
  ColumnSpec spec;
  for (;;) {
    spec.name = text(7);
    spec.id = between(0, UINT32_MAX);
    spec.dtype = static_cast<DType>(between(1, 7));
    spec.layout = below(2) == 0 ? Layout::kPadded : Layout::kPacked;
    spec.shape.clear();
    for (std::uint64_t axis = between(1, 4); axis > 0; --axis) {
      spec.shape.push_back(between(1, 1U << between(0, 14)));
    }
    spec.fingerprint = digest();
    spec.numerics = digest();
    if (spec.validate().ok()) return spec;
  }
}

RecordFacts FormatsRoundTrip::facts() {
  RecordFacts facts;
  maybe(facts.id, text(20));
  maybe(facts.dataset, text(5));
  maybe(facts.split, static_cast<std::uint8_t>(below(3)));
  maybe(facts.text_raw, text(200));
  maybe(facts.content_digest, digest());
  maybe(facts.pcm_digest, digest());
  maybe(facts.source_rate_hz, between(0, UINT32_MAX));
  maybe(facts.source_channel_count, static_cast<std::uint16_t>(random_()));
  maybe(facts.source_frame_count, static_cast<std::uint64_t>(random_()));
  maybe(facts.gain, static_cast<float>(below(1000)) / 7.0F);
  maybe(facts.silence_share, 0.5F);
  maybe(facts.bandwidth_hz, static_cast<float>(below(11025)));
  for (std::uint64_t i = below(3); i > 0; --i) facts.warnings.push_back(reason());
  for (std::uint64_t i = below(3); i > 0; --i) facts.kept_signs.push_back(reason());
  maybe(facts.unknown_characters_json, text(10));
  maybe(facts.text_was_cut, static_cast<std::uint8_t>(below(2)));
  for (std::uint64_t i = below(3); i > 0; --i) {
    facts.unknown[static_cast<std::uint16_t>(between(36, 65535))] = bytes(20);
  }
  return facts;
}

Manifest FormatsRoundTrip::manifest() {
  Manifest manifest;
  manifest.generation = between(1, 9);
  manifest.recipe_name = text(10);
  for (auto* const section :
       {&manifest.features, &manifest.text, &manifest.corpus, &manifest.storage}) {
    *section = {{"a", json_value(3)}, {"b", json_value(3)}};
  }
  manifest.numerics = {text(5), text(5), text(50)};
  for (std::uint64_t i = below(4); i > 0; --i) {
    ColumnEntry entry;
    do entry.spec = column();
    while (manifest.find_column(entry.spec.name) != nullptr);
    entry.spec.id = static_cast<std::uint32_t>(manifest.columns.size());
    const bool is_float = static_cast<int>(entry.spec.dtype) <= 3;
    entry.fill_bits = is_float
                          ? std::bit_cast<std::uint32_t>(static_cast<float>(below(9)) / 7.0F - 0.5F)
                          : static_cast<std::uint32_t>(random_());
    for (std::uint64_t shard = below(4); shard > 0; --shard) {
      const std::uint32_t blocks = between(1, 1000);
      entry.shards.push_back(
          {1 + below(1U << 30U), random_(), blocks, 1 + below(blocks), 1, digest()});
    }
    manifest.columns.push_back(entry);
  }
  manifest.speakers = {"a" + text(5), "b" + text(5)};
  manifest.counts.seconds = finite();
  manifest.counts.records = random_();
  manifest.counts.rejects_by_class[text(3)] = random_();
  if (below(2) == 0)
    manifest.mel_statistics = Statistics{random_(), {finite(), finite()}, {finite(), finite()}};
  manifest.index_bytes = 4096 + below(1000);
  manifest.index_digest = digest();
  return manifest;
}

nlohmann::json FormatsRoundTrip::json_value(int depth) {
  switch (below(depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return below(2) == 0;
    case 2:
      return static_cast<std::uint64_t>(random_());
    case 3:
      return -static_cast<std::int64_t>(random_() >> 2U);
    case 4:
      return finite();
    case 5:
      return text(8);
    case 6:
      return nlohmann::json::array({json_value(depth - 1), json_value(depth - 1)});
    default:
      return {{text(4), json_value(depth - 1)}, {text(4), json_value(depth - 1)}};
  }
}

TEST_F(FormatsRoundTrip, BlockHeaders) {
  for (int run = 0; run < 2000; ++run) {
    BlockHeader header;
    header.column = column();
    header.block_index = between(0, UINT32_MAX);
    header.generation = 1 + below(UINT64_MAX);
    for (std::uint32_t i = between(1, header.column.geometry().records_per_block); i > 0; --i) {
      header.records.push_back(
          {digest(), 0, between(0, header.column.shape[0]), between(0, UINT32_MAX), random_()});
    }
    header.payload_bytes = lay_out_records(header.column, header.records);
    const auto bytes_in = encode_block_header(header);
    const auto read = decode_block_header(bytes_in);
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_EQ(encode_block_header(*read), bytes_in);
    std::uint64_t region_bytes = 0;
    for (std::size_t slot = 0; slot < read->records.size(); ++slot) {
      ASSERT_GE(read->region_bytes(slot), read->records[slot].length * read->column.row_bytes());
      region_bytes += read->region_bytes(slot);
    }
    ASSERT_EQ(region_bytes, header.payload_bytes);
  }
}

TEST_F(FormatsRoundTrip, FactsOfRecordsAndBlocks) {
  for (int run = 0; run < 500; ++run) {
    BlockFacts block;
    block.block_index = between(0, UINT32_MAX);
    for (std::uint32_t i = between(1, 64); i > 0; --i) block.records.push_back(facts());
    for (std::uint64_t i = below(100); i > 0; --i)
      block.sums.insert(block.sums.end(), {finite(), finite()});
    block.summed_frame_count = random_();
    const std::string value = encode_block_facts(block);
    const auto read = decode_block_facts(bytes_of(value));
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_EQ(read->records, block.records);
    ASSERT_EQ(read->sums, block.sums);
    ASSERT_EQ(read->summed_frame_count, block.summed_frame_count);
    ASSERT_EQ(read->block_index, block.block_index);
  }
}

TEST_F(FormatsRoundTrip, Manifests) {
  for (int run = 0; run < 500; ++run) {
    const auto text = encode_manifest(manifest());
    ASSERT_TRUE(text.ok()) << text.status().message();
    const auto read = decode_manifest(*text);
    ASSERT_TRUE(read.ok()) << read.status().message() << "\n" << *text;
    ASSERT_EQ(encode_manifest(*read).value(), *text);
  }
}

TEST_F(FormatsRoundTrip, CanonicalJsonReadsBackTheSameValue) {
  for (int run = 0; run < 5000; ++run) {
    const nlohmann::json value = json_value(5);
    const std::string text = dump_canonical(value);
    const auto read = parse_json(text);
    ASSERT_TRUE(read.ok()) << read.status().message() << "\n" << text;
    ASSERT_EQ(*read, value) << text;
    ASSERT_EQ(dump_canonical(*read), text);
  }
}

TEST_F(FormatsRoundTrip, Rejects) {
  for (int run = 0; run < 2000; ++run) {
    Reject reject;
    reject.kind = static_cast<RejectClass>(below(4));
    reject.id = text(20);
    reject.path = text(40);
    if (below(2) == 0) reject.line = random_();
    reject.reason = reason();
    const auto read = decode_reject(encode_reject(reject));
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_EQ(*read, reject);
  }
}

// Sections of random sizes, written in random pieces, are found again byte for byte.
TEST_F(FormatsRoundTrip, Indexes) {
  for (int run = 0; run < 100; ++run) {
    std::string file;
    IndexEncoder encoder(
        [&file](std::span<const std::byte> piece) {
          file += text_of(piece);
          return Status();
        },
        1, 0);
    std::vector<std::string> sections;
    for (std::uint64_t i = below(10); i > 0; --i) {
      sections.push_back(bytes(below(3) == 0 ? 150'000 : 100));
      ASSERT_TRUE(
          encoder.begin_section(SectionKind::kRejects, static_cast<std::uint32_t>(sections.size()))
              .ok());
      for (std::string_view rest = sections.back(); !rest.empty();) {
        const std::string_view piece = rest.substr(0, 1 + below(70'000));
        ASSERT_TRUE(encoder.append(bytes_of(piece)).ok());
        rest.remove_prefix(piece.size());
      }
      ASSERT_TRUE(encoder.end_section(0).ok());
    }
    ASSERT_TRUE(encoder.finish().ok());
    const auto footer = decode_index_footer(bytes_of(file).last(kIndexFooterBytes), file.size());
    ASSERT_TRUE(footer.ok()) << footer.status().message();
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const SectionEntry* const section =
          footer->find(SectionKind::kRejects, static_cast<std::uint32_t>(i + 1));
      ASSERT_NE(section, nullptr);
      ASSERT_EQ(file.substr(section->offset_bytes, section->size_bytes), sections[i]);
    }
  }
}

}  // namespace
}  // namespace xtts::formats
