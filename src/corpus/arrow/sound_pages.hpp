// SoundPages: finds the values of a Parquet column of bytes in its file, one after the other.
//
// Pages that are not packed are never read whole. Their values follow one another, each after its
// length, so a value costs one read of four bytes. A packed page is unpacked to find where its
// values begin. One thread at a time; a view of the file, the pool and the metadata. Throws the
// exceptions of Arrow's library.
#pragma once

#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/metadata.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/env.hpp"
#include "corpus/source_place.hpp"

namespace xtts::corpus {

class PageStream;

// One value: a range of the file, or of an unpacked page.
struct SoundPart {
  ByteRange range;
  std::shared_ptr<const PackedPage> page;
};

class SoundPages {
 public:
  // `leaf`: the column's index among those that hold values.
  SoundPages(const RandomAccessFile& file, arrow::MemoryPool* pool,
             const parquet::FileMetaData& metadata, int leaf);
  ~SoundPages();

  // The value of the next row; nullopt: it has none. kBadInput: there are fewer values than rows.
  [[nodiscard]] Result<std::optional<SoundPart>> next();

 private:
  [[nodiscard]] Status open_row_group();
  [[nodiscard]] Status next_page();
  [[nodiscard]] Status take_dictionary(const parquet::DictionaryPage& page);
  [[nodiscard]] Status take_page(const parquet::DataPage& page);
  [[nodiscard]] Status take_levels(const parquet::DataPage& page);
  [[nodiscard]] Status take_indices(const parquet::DataPage& page);
  [[nodiscard]] Result<bool> next_is_there();
  [[nodiscard]] Result<SoundPart> next_of_dictionary();
  // The value whose length is at `offset_bytes` in the page; moves `offset_bytes` past the value.
  [[nodiscard]] Result<SoundPart> value_at(std::uint64_t& offset_bytes) const;
  [[nodiscard]] Status read_page(std::uint64_t offset_bytes, void* out,
                                 std::size_t size_bytes) const;
  [[nodiscard]] Status read_bits(std::uint64_t offset_bytes, std::uint64_t size_bytes,
                                 std::vector<std::uint8_t>& bytes) const;
  // Notes where the bytes of page_ are. Only what follows the first `levels_bytes` may be packed.
  [[nodiscard]] Status place_page(std::uint64_t levels_bytes, bool is_packed);

  const RandomAccessFile& file_;
  arrow::MemoryPool* pool_;
  const parquet::FileMetaData& metadata_;
  const int leaf_;
  int row_group_ = 0;
  parquet::Compression::type codec_ = parquet::Compression::UNCOMPRESSED;
  std::shared_ptr<PageStream> stream_;
  std::unique_ptr<parquet::PageReader> pages_;

  std::shared_ptr<parquet::Page> page_;
  std::uint64_t page_offset_bytes_ = 0;       // in the file
  bool is_read_ = false;                      // page_ holds the bytes; else only the file does
  std::shared_ptr<const PackedPage> packed_;  // set: the page is packed in the file
  std::uint64_t unpacked_from_ = 0;           // offset in page_: earlier bytes are not packed
  std::int64_t values_left_ = 0;
  std::uint64_t value_offset_bytes_ = 0;  // of the next value in the page
  parquet::LevelDecoder levels_;
  std::vector<std::uint8_t> level_bytes_;
  bool has_indices_ = false;
  int index_bits_ = 0;
  parquet::LevelDecoder indices_;
  std::vector<std::uint8_t> index_bytes_;
  std::vector<SoundPart> dictionary_;
};

}  // namespace xtts::corpus
