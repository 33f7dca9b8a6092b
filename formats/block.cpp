#include "formats/block.hpp"

#include <algorithm>
#include <cassert>

#include "base/checked.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "formats/bytes.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

constexpr std::string_view kBlockMagic = "XTTSBLK1";
constexpr std::string_view kWhat = "block header";
constexpr std::uint8_t kCheckXxh3 = 1;
constexpr std::uint8_t kDigestXxh3 = 1;
constexpr std::size_t kNameBytes = 32;

// Offsets of the fields, cache-v1.md section 5.
namespace at {
constexpr std::size_t kHeaderBytes = 10;
constexpr std::size_t kPage = 28;
constexpr std::size_t kCheckAlgorithm = 32;
constexpr std::size_t kDigestAlgorithm = 33;
constexpr std::size_t kLayout = 34;
constexpr std::size_t kRank = 35;
constexpr std::size_t kDType = 36;
constexpr std::size_t kRecordCount = 38;
constexpr std::size_t kRecordsPerBlock = 40;
constexpr std::size_t kColumnId = 44;
constexpr std::size_t kShape = 48;
constexpr std::size_t kStride = 64;
constexpr std::size_t kPayload = 72;
constexpr std::size_t kBlockIndex = 80;
constexpr std::size_t kGeneration = 88;
constexpr std::size_t kFingerprint = 96;
constexpr std::size_t kNumerics = 112;
constexpr std::size_t kName = 128;
constexpr std::size_t kRecords = 240;
constexpr std::size_t kRecordBytes = 24;
constexpr std::size_t kIdHashes = 1776;
}  // namespace at

Status invalid(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

// A column's name is also the name of a folder.
bool is_column_name(std::string_view name) {
  if (name.empty() || name.size() >= kNameBytes || name.front() == '.' || !is_utf8(name)) {
    return false;
  }
  return std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '/' || c == '\\';
  });
}

std::uint64_t stride_of(const ColumnSpec& column) {
  return column.layout == Layout::kPadded ? column.record_bytes() : 0;
}

Result<std::string> decode_name(std::span<const std::byte> bytes) {
  const std::string_view field = text_of(bytes.subspan(at::kName, kNameBytes));
  const std::string_view name = field.substr(0, field.find('\0'));
  const bool zero_padded = field.find_first_not_of('\0', name.size()) == std::string_view::npos;
  if (name.size() == kNameBytes || !zero_padded) {
    return corrupt("block header: column name is not padded with zeros");
  }
  return std::string(name);
}

Status check_algorithms(std::span<const std::byte> bytes) {
  if (const auto value = load<std::uint16_t>(bytes, at::kHeaderBytes); value != kBlockHeaderBytes) {
    return corrupt(formatted("block header: header bytes are {}, not 4080", value));
  }
  if (const auto value = load<std::uint32_t>(bytes, at::kPage); value != kPageBytes) {
    return {StatusCode::kUnsupported,
            formatted("block header: page bytes are {}, not 4096", value)};
  }
  if (const auto value = load<std::uint8_t>(bytes, at::kCheckAlgorithm); value != kCheckXxh3) {
    return {StatusCode::kUnsupported,
            formatted("block header: check algorithm {} is not known", value)};
  }
  if (const auto value = load<std::uint8_t>(bytes, at::kDigestAlgorithm); value != kDigestXxh3) {
    return {StatusCode::kUnsupported,
            formatted("block header: digest algorithm {} is not known", value)};
  }
  return {};
}

Result<ColumnSpec> decode_column(std::span<const std::byte> bytes) {
  ColumnSpec column;
  XTTS_ASSIGN(column.name, decode_name(bytes));
  column.id = load<std::uint32_t>(bytes, at::kColumnId);
  column.dtype = static_cast<DType>(load<std::uint16_t>(bytes, at::kDType));
  column.layout = static_cast<Layout>(load<std::uint8_t>(bytes, at::kLayout));
  column.fingerprint = load_digest(bytes, at::kFingerprint);
  column.numerics = load_digest(bytes, at::kNumerics);
  const std::size_t rank = load<std::uint8_t>(bytes, at::kRank);
  if (rank < 1 || rank > kRankMax) {
    return corrupt(formatted("block header: rank {} is outside 1 to 4", rank));
  }
  for (std::size_t axis = 0; axis < kRankMax; ++axis) {
    const auto extent = load<std::uint32_t>(bytes, at::kShape + 4 * axis);
    if (axis < rank) {
      column.shape.push_back(extent);
    } else if (extent != 0) {
      return corrupt(formatted("block header: shape has {} in unused axis {}", extent, axis));
    }
  }
  if (Status status = column.validate(); !status.ok()) {
    return corrupt("block header: " + status.message());
  }
  return column;
}

Status decode_records(std::span<const std::byte> bytes, BlockHeader& header) {
  const std::size_t count = load<std::uint16_t>(bytes, at::kRecordCount);
  const std::uint32_t per_block = header.column.geometry().records_per_block;
  if (load<std::uint32_t>(bytes, at::kRecordsPerBlock) != per_block) {
    return corrupt(formatted("block header: records per block are not {}", per_block));
  }
  if (count < 1 || count > per_block) {
    return corrupt(formatted("block header: records in this block, {}, are outside 1 to {}", count,
                             per_block));
  }
  header.records.resize(count);
  for (std::size_t slot = 0; slot < count; ++slot) {
    BlockRecord& record = header.records[slot];
    const std::size_t entry = at::kRecords + at::kRecordBytes * slot;
    record.offset_bytes = load<std::uint64_t>(bytes, entry);
    record.length = load<std::uint32_t>(bytes, entry + 8);
    record.fill_bits = load<std::uint32_t>(bytes, entry + 12);
    record.check = load<std::uint64_t>(bytes, entry + 16);
    record.id_hash = load_digest(bytes, at::kIdHashes + 16 * slot);
    if (record.length > header.column.shape[0]) {
      return corrupt(formatted("block header: true length {} of record {} is above {}",
                               record.length, slot, header.column.shape[0]));
    }
  }
  return {};
}

// The layout leaves no choice: offsets, stride and payload bytes follow from lengths.
Status check_layout(std::span<const std::byte> bytes, const BlockHeader& header) {
  if (load<std::uint64_t>(bytes, at::kStride) != stride_of(header.column)) {
    return corrupt(formatted("block header: stride is not {}", stride_of(header.column)));
  }
  std::vector<BlockRecord> expected = header.records;
  const std::uint64_t payload_bytes = lay_out_records(header.column, expected);
  for (std::size_t slot = 0; slot < expected.size(); ++slot) {
    if (header.records[slot].offset_bytes != expected[slot].offset_bytes) {
      return corrupt(formatted("block header: offset of record {} is {}, not {}", slot,
                               header.records[slot].offset_bytes, expected[slot].offset_bytes));
    }
  }
  if (header.payload_bytes != payload_bytes) {
    return corrupt(formatted("block header: payload bytes are {}, not {}", header.payload_bytes,
                             payload_bytes));
  }
  return {};
}

void store_column(std::span<std::byte> bytes, const ColumnSpec& column) {
  store(bytes, at::kLayout, static_cast<std::uint8_t>(column.layout));
  store(bytes, at::kRank, static_cast<std::uint8_t>(column.shape.size()));
  store(bytes, at::kDType, static_cast<std::uint16_t>(column.dtype));
  store(bytes, at::kRecordsPerBlock, column.geometry().records_per_block);
  store(bytes, at::kColumnId, column.id);
  for (std::size_t axis = 0; axis < std::min(column.shape.size(), kRankMax); ++axis) {
    store(bytes, at::kShape + 4 * axis, column.shape[axis]);
  }
  store(bytes, at::kStride, stride_of(column));
  store_digest(bytes, at::kFingerprint, column.fingerprint);
  store_digest(bytes, at::kNumerics, column.numerics);
  const std::string_view name = std::string_view(column.name).substr(0, kNameBytes - 1);
  std::ranges::copy(bytes_of(name), bytes.begin() + at::kName);
}

}  // namespace

std::uint64_t ColumnSpec::row_bytes() const noexcept {
  std::uint64_t bytes = size_bytes(dtype);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) bytes *= shape[axis];
  return bytes;
}

Status ColumnSpec::validate() const {
  if (!is_column_name(name)) {
    return invalid(
        formatted("column name '{}' is not 1 to 31 bytes of UTF-8 that can name a folder", name));
  }
  const std::uint64_t element_bytes = size_bytes(dtype);
  if (element_bytes == 0) {
    return invalid(formatted("dtype {} is not known", static_cast<unsigned>(dtype)));
  }
  if (layout != Layout::kPadded && layout != Layout::kPacked) {
    return invalid(formatted("layout {} is not known", static_cast<unsigned>(layout)));
  }
  if (shape.empty() || shape.size() > kRankMax) {
    return invalid(formatted("rank {} is outside 1 to 4", shape.size()));
  }
  std::uint64_t bytes = element_bytes;
  for (const std::uint32_t extent : shape) {
    if (extent == 0) return invalid("shape has an axis of 0");
    // Both factors are below 2^32, so the product cannot wrap.
    bytes *= extent;
    if (bytes > kRecordBytesMax) return invalid("shape makes a record larger than 128 MiB");
  }
  return {};
}

std::uint64_t BlockHeader::region_bytes(std::size_t slot) const noexcept {
  assert(slot < records.size());
  const std::uint64_t end =
      slot + 1 < records.size() ? records[slot + 1].offset_bytes : payload_bytes;
  return end - records[slot].offset_bytes;
}

std::uint64_t lay_out_records(const ColumnSpec& column, std::span<BlockRecord> records) {
  const std::uint64_t row_bytes = column.row_bytes();
  std::uint64_t offset = 0;
  for (BlockRecord& record : records) {
    record.offset_bytes = offset;
    offset += column.layout == Layout::kPadded
                  ? column.record_bytes()
                  : align_up<std::uint64_t>(record.length * row_bytes, kPackedAlignmentBytes);
  }
  return offset;
}

std::uint64_t record_check(const BlockHeader& header, std::size_t slot,
                           std::span<const std::byte> region) {
  assert(slot < header.records.size());
  std::array<std::byte, 16 + kNameBytes + 8> place{};
  store_digest(place, 0, header.records[slot].id_hash);
  const std::string_view name = std::string_view(header.column.name).substr(0, kNameBytes - 1);
  std::ranges::copy(bytes_of(name), place.begin() + 16);
  store(std::span<std::byte>(place), 16 + kNameBytes, header.block_index);
  store(std::span<std::byte>(place), 20 + kNameBytes, static_cast<std::uint32_t>(slot));
  return check64(region, check64(place));
}

std::array<std::byte, kBlockHeaderBytes> encode_block_header(const BlockHeader& header) {
  assert(header.column.validate().ok());
  assert(!header.records.empty() && header.records.size() <= kBlockRecordsMax);
  std::array<std::byte, kBlockHeaderBytes> block{};
  const std::span<std::byte> bytes(block);
  store_preamble(bytes, kBlockMagic);
  store(bytes, at::kHeaderBytes, static_cast<std::uint16_t>(kBlockHeaderBytes));
  store(bytes, at::kPage, static_cast<std::uint32_t>(kPageBytes));
  store(bytes, at::kCheckAlgorithm, kCheckXxh3);
  store(bytes, at::kDigestAlgorithm, kDigestXxh3);
  store_column(bytes, header.column);
  const std::size_t count = std::min(header.records.size(), kBlockRecordsMax);
  store(bytes, at::kRecordCount, static_cast<std::uint16_t>(count));
  store(bytes, at::kPayload, header.payload_bytes);
  store(bytes, at::kBlockIndex, header.block_index);
  store(bytes, at::kGeneration, header.generation);
  for (std::size_t slot = 0; slot < count; ++slot) {
    const BlockRecord& record = header.records[slot];
    const std::size_t entry = at::kRecords + at::kRecordBytes * slot;
    store(bytes, entry, record.offset_bytes);
    store(bytes, entry + 8, record.length);
    store(bytes, entry + 12, record.fill_bits);
    store(bytes, entry + 16, record.check);
    store_digest(bytes, at::kIdHashes + 16 * slot, record.id_hash);
  }
  seal(bytes);
  return block;
}

Result<BlockHeader> decode_block_header(std::span<const std::byte> bytes) {
  if (bytes.size() != kBlockHeaderBytes) {
    return corrupt(formatted("block header: size is {} bytes, not 4080", bytes.size()));
  }
  XTTS_TRY(check_preamble(bytes, kBlockMagic, kWhat));
  XTTS_TRY(check_algorithms(bytes));
  BlockHeader header;
  XTTS_ASSIGN(header.column, decode_column(bytes));
  header.block_index = load<std::uint32_t>(bytes, at::kBlockIndex);
  header.generation = load<std::uint64_t>(bytes, at::kGeneration);
  header.payload_bytes = load<std::uint64_t>(bytes, at::kPayload);
  if (header.generation == 0) return corrupt("block header: generation is 0");
  XTTS_TRY(decode_records(bytes, header));
  XTTS_TRY(check_layout(bytes, header));
  return header;
}

std::uint64_t stored_header_check(std::span<const std::byte> header_bytes) {
  return stored_check(header_bytes);
}

}  // namespace xtts::formats
