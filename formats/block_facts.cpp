// The facts value of a block (cache-v1.md, section 6.1).
#include <algorithm>
#include <bit>
#include <cassert>

#include "base/checked.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/constants.hpp"
#include "formats/facts.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

constexpr std::string_view kMagic = "XTTSFCT1";
constexpr std::string_view kWhat = "facts value";
constexpr std::size_t kRecordCountAt = 10;
constexpr std::size_t kBlockIndexAt = 28;
constexpr std::size_t kSumCountAt = 32;
constexpr std::size_t kSumsOffsetAt = 36;
constexpr std::size_t kFramesAt = 40;
constexpr std::size_t kOffsetsAt = 64;
constexpr std::size_t kCheckBytes = 8;

// With this size the value begins 16 bytes into its own page and fills its pages.
std::size_t value_bytes_for(std::size_t content_bytes) {
  return align_up(content_bytes + kCheckBytes + kLmdbPageHeaderBytes, kPageBytes) -
         kLmdbPageHeaderBytes;
}

bool is_value_size(std::size_t size) {
  return size >= kBlockHeaderBytes && (size + kLmdbPageHeaderBytes) % kPageBytes == 0;
}

Result<std::vector<RecordFacts>> decode_records(std::span<const std::byte> bytes,
                                                std::size_t sums_offset) {
  const std::size_t count = load<std::uint16_t>(bytes, kRecordCountAt);
  if (count < 1 || count > kBlockRecordsMax) {
    return corrupt(formatted("facts value: records, {}, are outside 1 to 64", count));
  }
  std::vector<RecordFacts> records;
  std::size_t begin = kOffsetsAt + 4 * (count + 1);
  if (load<std::uint32_t>(bytes, kOffsetsAt) != begin) {
    return corrupt(formatted("facts value: offsets do not begin at {}", begin));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = load<std::uint32_t>(bytes, kOffsetsAt + 4 * (i + 1));
    if (end < begin || end > sums_offset) {
      return corrupt(formatted("facts value: offsets of record {} do not ascend to the sums", i));
    }
    auto facts = decode_facts(bytes.subspan(begin, end - begin));
    if (!facts) return facts.status().with_context(formatted("facts value: record {}", i));
    records.push_back(std::move(*facts));
    begin = end;
  }
  return records;
}

}  // namespace

std::string encode_block_facts(const BlockFacts& facts) {
  assert(!facts.records.empty() && facts.records.size() <= kBlockRecordsMax);
  assert(facts.sums.size() % 2 == 0);
  const std::size_t count = std::min(facts.records.size(), kBlockRecordsMax);
  std::string out(kOffsetsAt + 4 * (count + 1), '\0');
  std::vector<std::uint32_t> offsets;
  for (std::size_t i = 0; i < count; ++i) {
    offsets.push_back(static_cast<std::uint32_t>(out.size()));
    append_facts(facts.records[i], out);
  }
  offsets.push_back(static_cast<std::uint32_t>(out.size()));
  const std::size_t sums_offset = align_up<std::size_t>(out.size(), 8);
  out.resize(sums_offset, '\0');
  for (const double sum : facts.sums) append(out, std::bit_cast<std::uint64_t>(sum));
  out.resize(value_bytes_for(out.size()), '\0');

  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(out));
  store_preamble(bytes, kMagic);
  store(bytes, kRecordCountAt, static_cast<std::uint16_t>(count));
  store(bytes, kBlockIndexAt, facts.block_index);
  store(bytes, kSumCountAt, static_cast<std::uint32_t>(facts.sums.size()));
  store(bytes, kSumsOffsetAt, static_cast<std::uint32_t>(sums_offset));
  store(bytes, kFramesAt, facts.summed_frame_count);
  for (std::size_t i = 0; i < offsets.size(); ++i) store(bytes, kOffsetsAt + 4 * i, offsets[i]);
  seal(bytes);
  return out;
}

Result<BlockFacts> decode_block_facts(std::span<const std::byte> bytes) {
  if (!is_value_size(bytes.size())) {
    return corrupt(
        formatted("facts value: size, {} bytes, does not fill pages less 16 bytes", bytes.size()));
  }
  XTTS_TRY(check_preamble(bytes, kMagic, kWhat));
  const std::size_t sum_count = load<std::uint32_t>(bytes, kSumCountAt);
  const std::size_t sums_offset = load<std::uint32_t>(bytes, kSumsOffsetAt);
  if (sum_count % 2 != 0) return corrupt("facts value: number of sums is odd");
  // sum_count is below 2^32, so 8 * sum_count cannot wrap.
  if (sums_offset % 8 != 0 ||
      !lies_within(sums_offset, 8 * sum_count, bytes.size() - kCheckBytes)) {
    return corrupt("facts value: sums do not lie in the value at a multiple of 8");
  }
  BlockFacts facts;
  facts.block_index = load<std::uint32_t>(bytes, kBlockIndexAt);
  facts.summed_frame_count = load<std::uint64_t>(bytes, kFramesAt);
  XTTS_ASSIGN(facts.records, decode_records(bytes, sums_offset));
  for (std::size_t i = 0; i < sum_count; ++i) {
    facts.sums.push_back(std::bit_cast<double>(load<std::uint64_t>(bytes, sums_offset + 8 * i)));
  }
  return facts;
}

std::uint64_t stored_facts_check(std::span<const std::byte> bytes) {
  return stored_check(bytes);
}

}  // namespace xtts::formats
