#include "corpus/arrow/sound_pages.hpp"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <parquet/schema.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/try.hpp"
#include "corpus/arrow/arrow_call.hpp"
#include "corpus/arrow/arrow_input.hpp"

namespace xtts::corpus {
namespace {

// Size limit for levels and for indices, which take some bits a row.
constexpr std::uint64_t kBitsBytesMax = std::uint64_t{16} << 20U;
// Indices are decoded like levels, which have at most this many bits.
constexpr int kIndexBitsMax = 15;

std::uint64_t as_size(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

}  // namespace

// PageStream: the pages of one column chunk. The library does not give a page's place, but it
// reads the header first: so the last read is where the page's bytes lie.
class PageStream final : public arrow::io::InputStream {
 public:
  PageStream(const RandomAccessFile& file, arrow::MemoryPool* pool, const ByteRange& chunk,
             bool is_packed)
      : file_(file), input_(file, pool), chunk_(chunk), is_packed_(is_packed) {}

  [[nodiscard]] const ByteRange& last_read() const { return last_read_; }

  arrow::Status Close() override { return arrow::Status::OK(); }
  [[nodiscard]] bool closed() const override { return false; }
  [[nodiscard]] arrow::Result<std::int64_t> Tell() const override {
    return static_cast<std::int64_t>(position_);
  }
  arrow::Result<std::string_view> Peek(std::int64_t size_bytes) override {
    peeked_.resize(std::min(as_size(size_bytes), left()));
    const auto got =
        input_.ReadAt(place(), static_cast<std::int64_t>(peeked_.size()), peeked_.data());
    ARROW_RETURN_NOT_OK(got.status());
    peeked_.resize(as_size(*got));
    return std::string_view(peeked_);
  }
  arrow::Result<std::int64_t> Read(std::int64_t size_bytes, void* out) override {
    const auto size = static_cast<std::int64_t>(take(size_bytes));
    return input_.ReadAt(static_cast<std::int64_t>(last_read_.offset_bytes), size, out);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t size_bytes) override {
    const auto size = static_cast<std::int64_t>(take(size_bytes));
    if (is_packed_) return input_.ReadAt(static_cast<std::int64_t>(last_read_.offset_bytes), size);
    auto unread = UnreadBytes::create(last_read_.offset_bytes, size);
    if (!unread.ok()) return arrow::Status::IOError(unread.status().message());
    return std::shared_ptr<arrow::Buffer>(std::move(*unread));
  }

 private:
  [[nodiscard]] std::uint64_t left() const { return chunk_.size_bytes - position_; }
  [[nodiscard]] std::int64_t place() const {
    return static_cast<std::int64_t>(chunk_.offset_bytes + position_);
  }
  std::uint64_t take(std::int64_t size_bytes) {
    last_read_ = {chunk_.offset_bytes + position_, std::min(as_size(size_bytes), left())};
    position_ += last_read_.size_bytes;
    return last_read_.size_bytes;
  }

  const RandomAccessFile& file_;
  ArrowInput input_;
  const ByteRange chunk_;
  const bool is_packed_;
  std::uint64_t position_ = 0;
  ByteRange last_read_;
  std::string peeked_;
};

SoundPages::SoundPages(const RandomAccessFile& file, arrow::MemoryPool* pool,
                       const parquet::FileMetaData& metadata, int leaf)
    : file_(file), pool_(pool), metadata_(metadata), leaf_(leaf) {}

SoundPages::~SoundPages() = default;

Result<std::optional<SoundPart>> SoundPages::next() {
  while (values_left_ == 0) XTTS_TRY(next_page());
  --values_left_;
  XTTS_ASSIGN(const bool is_there, next_is_there());
  if (!is_there) return std::optional<SoundPart>();
  XTTS_ASSIGN(auto part, has_indices_ ? next_of_dictionary() : value_at(value_offset_bytes_));
  return std::optional<SoundPart>(std::move(part));
}

Status SoundPages::open_row_group() {
  if (row_group_ >= metadata_.num_row_groups()) return damaged("it has fewer sounds than rows");
  const auto row_group = metadata_.RowGroup(row_group_++);
  const auto chunk = row_group->ColumnChunk(leaf_);
  if (chunk->crypto_metadata() != nullptr)
    return {StatusCode::kBadInput, "is encrypted, which is not read"};
  std::int64_t begin = chunk->data_page_offset();
  if (chunk->has_dictionary_page() && chunk->dictionary_page_offset() > 0)
    begin = std::min(begin, chunk->dictionary_page_offset());
  const std::int64_t size = chunk->total_compressed_size();
  const auto file_bytes = static_cast<std::int64_t>(file_.size_bytes());
  if (begin < 0 || size < 0 || begin > file_bytes || size > file_bytes - begin)
    return damaged("a column lies outside of the file");
  codec_ = chunk->compression();
  stream_ = std::make_shared<PageStream>(file_, pool_, ByteRange{as_size(begin), as_size(size)},
                                         codec_ != parquet::Compression::UNCOMPRESSED);
  pages_ = parquet::PageReader::Open(stream_, chunk->num_values(), codec_,
                                     parquet::ReaderProperties(pool_),
                                     *metadata_.schema()->Column(leaf_));
  dictionary_.clear();
  return {};
}

Status SoundPages::next_page() {
  if (pages_ == nullptr) XTTS_TRY(open_row_group());
  page_ = pages_->NextPage();
  if (page_ == nullptr) {
    pages_ = nullptr;
    return {};
  }
  if (page_->type() == parquet::PageType::DICTIONARY_PAGE)
    return take_dictionary(static_cast<const parquet::DictionaryPage&>(*page_));
  return take_page(static_cast<const parquet::DataPage&>(*page_));
}

Status SoundPages::place_page(std::uint64_t levels_bytes, bool is_packed) {
  const ByteRange& read = stream_->last_read();
  page_offset_bytes_ = read.offset_bytes;
  is_read_ = codec_ != parquet::Compression::UNCOMPRESSED;
  unpacked_from_ = levels_bytes;
  packed_ = nullptr;
  const auto page_bytes = static_cast<std::uint64_t>(page_->size());
  if (levels_bytes > std::min(read.size_bytes, page_bytes))
    return damaged("levels that end after their page");
  if (!is_packed) return {};
  packed_ = std::make_shared<PackedPage>(
      PackedPage{{read.offset_bytes + levels_bytes, read.size_bytes - levels_bytes},
                 page_bytes - levels_bytes,
                 static_cast<std::int32_t>(codec_)});
  return {};
}

Status SoundPages::read_page(std::uint64_t offset_bytes, void* out, std::size_t size_bytes) const {
  const auto page_bytes = static_cast<std::uint64_t>(page_->size());
  if (offset_bytes > page_bytes || size_bytes > page_bytes - offset_bytes)
    return damaged("a sound ends after its page");
  if (!is_read_) return read_exactly(file_, page_offset_bytes_ + offset_bytes, out, size_bytes);
  std::memcpy(out, page_->data() + offset_bytes, size_bytes);
  return {};
}

Result<SoundPart> SoundPages::value_at(std::uint64_t& offset_bytes) const {
  std::uint32_t size_bytes = 0;
  XTTS_TRY(read_page(offset_bytes, &size_bytes, sizeof size_bytes));
  const std::uint64_t begin = offset_bytes + sizeof size_bytes;
  if (size_bytes > static_cast<std::uint64_t>(page_->size()) - begin)
    return damaged("a sound ends after its page");
  offset_bytes = begin + size_bytes;
  if (packed_ == nullptr) return SoundPart{{page_offset_bytes_ + begin, size_bytes}, nullptr};
  return SoundPart{{begin - unpacked_from_, size_bytes}, packed_};
}

Status SoundPages::take_dictionary(const parquet::DictionaryPage& page) {
  XTTS_TRY(place_page(0, codec_ != parquet::Compression::UNCOMPRESSED));
  if (page.num_values() < 0 || page.num_values() > (1 << kIndexBitsMax))
    return damaged("a dictionary of " + std::to_string(page.num_values()) + " sounds");
  dictionary_.clear();
  std::uint64_t offset_bytes = 0;
  for (std::int32_t i = 0; i < page.num_values(); ++i) {
    XTTS_ASSIGN(auto part, value_at(offset_bytes));
    dictionary_.push_back(std::move(part));
  }
  return {};
}

Status SoundPages::take_page(const parquet::DataPage& page) {
  XTTS_TRY(take_levels(page));
  has_indices_ = page.encoding() == parquet::Encoding::RLE_DICTIONARY ||
                 page.encoding() == parquet::Encoding::PLAIN_DICTIONARY;
  if (has_indices_) {
    XTTS_TRY(take_indices(page));
  } else if (page.encoding() != parquet::Encoding::PLAIN) {
    return {StatusCode::kBadInput, "keeps its sound in an encoding that is not read: " +
                                       parquet::EncodingToString(page.encoding())};
  }
  values_left_ = std::max(page.num_values(), 0);
  return {};
}

// Levels say which rows have a value. Pages of version 2 have the levels' length in the header.
Status SoundPages::take_levels(const parquet::DataPage& page) {
  const std::int16_t level_max = metadata_.schema()->Column(leaf_)->max_definition_level();
  if (page.type() == parquet::PageType::DATA_PAGE_V2) {
    const auto& second = static_cast<const parquet::DataPageV2&>(page);
    const std::int64_t repetition_bytes = second.repetition_levels_byte_length();
    const std::int64_t definition_bytes = second.definition_levels_byte_length();
    if (repetition_bytes < 0 || definition_bytes < 0) return damaged("levels of a negative length");
    value_offset_bytes_ = as_size(repetition_bytes + definition_bytes);
    XTTS_TRY(place_page(value_offset_bytes_,
                        second.is_compressed() && codec_ != parquet::Compression::UNCOMPRESSED));
    if (level_max == 0) return {};
    XTTS_TRY(read_bits(as_size(repetition_bytes), as_size(definition_bytes), level_bytes_));
    levels_.SetDataV2(static_cast<std::int32_t>(definition_bytes), level_max, page.num_values(),
                      level_bytes_.data());
    return {};
  }
  const auto& first = static_cast<const parquet::DataPageV1&>(page);
  value_offset_bytes_ = 0;
  XTTS_TRY(place_page(0, codec_ != parquet::Compression::UNCOMPRESSED));
  if (level_max == 0) return {};
  if (first.definition_level_encoding() != parquet::Encoding::RLE)
    return {StatusCode::kBadInput, "has levels in an encoding that is not read"};
  std::uint32_t definition_bytes = 0;
  XTTS_TRY(read_page(0, &definition_bytes, sizeof definition_bytes));
  value_offset_bytes_ = sizeof definition_bytes + std::uint64_t{definition_bytes};
  XTTS_TRY(read_bits(0, value_offset_bytes_, level_bytes_));
  levels_.SetData(parquet::Encoding::RLE, level_max, page.num_values(), level_bytes_.data(),
                  static_cast<std::int32_t>(value_offset_bytes_));
  return {};
}

// The first byte gives the bits of an index.
Status SoundPages::take_indices(const parquet::DataPage& page) {
  std::uint8_t bits = 0;
  XTTS_TRY(read_page(value_offset_bytes_, &bits, sizeof bits));
  if (bits > kIndexBitsMax) return damaged("an index of " + std::to_string(bits) + " bits");
  index_bits_ = bits;
  if (bits == 0) return {};
  const std::uint64_t begin = value_offset_bytes_ + sizeof bits;
  const std::uint64_t size_bytes = static_cast<std::uint64_t>(page.size()) - begin;
  XTTS_TRY(read_bits(begin, size_bytes, index_bytes_));
  indices_.SetDataV2(static_cast<std::int32_t>(size_bytes),
                     static_cast<std::int16_t>((1 << bits) - 1), page.num_values(),
                     index_bytes_.data());
  return {};
}

Status SoundPages::read_bits(std::uint64_t offset_bytes, std::uint64_t size_bytes,
                             std::vector<std::uint8_t>& bytes) const {
  if (size_bytes > kBitsBytesMax)
    return damaged("levels or indices of " + std::to_string(size_bytes) + " bytes");
  bytes.resize(std::max<std::uint64_t>(size_bytes, 1));
  return read_page(offset_bytes, bytes.data(), size_bytes);
}

Result<bool> SoundPages::next_is_there() {
  const std::int16_t level_max = metadata_.schema()->Column(leaf_)->max_definition_level();
  if (level_max == 0) return true;
  std::int16_t level = 0;
  if (levels_.Decode(1, &level) != 1) return damaged("levels end before their page");
  return level == level_max;
}

Result<SoundPart> SoundPages::next_of_dictionary() {
  std::int16_t index = 0;
  if (index_bits_ > 0 && indices_.Decode(1, &index) != 1)
    return damaged("indices end before their page");
  if (static_cast<std::size_t>(index) >= dictionary_.size())
    return damaged("an index leads out of the dictionary");
  return dictionary_[static_cast<std::size_t>(index)];
}

}  // namespace xtts::corpus
