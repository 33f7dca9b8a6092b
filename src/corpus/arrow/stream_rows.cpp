#include "corpus/arrow/stream_rows.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/ipc/message.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "corpus/arrow/arrow_call.hpp"
#include "corpus/arrow/arrow_input.hpp"
#include "corpus/arrow/row_columns.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

static_assert(std::endian::native == std::endian::little, "lengths of a stream are little-endian");

constexpr std::uint32_t kMessageMark = 0xFFFFFFFFU;
// The metadata of a batch takes some bytes a column.
constexpr std::uint32_t kMetadataBytesMax = std::uint32_t{16} << 20U;
constexpr std::int64_t kDictionaryBytesMax = std::int64_t{64} << 20U;

Status packed() {
  return {
      StatusCode::kBadInput,
      "is compressed, so its sound does not lie in one piece: write it again without compression"};
}

// StreamMessages: the messages of a stream. It leaves the body of a batch unread.
class StreamMessages final : public arrow::ipc::MessageReader {
 public:
  StreamMessages(const RandomAccessFile& file, arrow::MemoryPool* pool)
      : file_(file), pool_(pool) {}

  arrow::Result<std::unique_ptr<arrow::ipc::Message>> ReadNextMessage() override {
    auto message = read_message();
    if (message.ok()) return std::move(*message);
    failure_ = message.status();
    return arrow::Status::Invalid(message.status().message());
  }

  // The failure of reading; the library reports only that reading failed.
  [[nodiscard]] const Status& failure() const { return failure_; }
  // The body of the last batch.
  [[nodiscard]] const std::shared_ptr<UnreadBytes>& body() const { return body_; }
  [[nodiscard]] bool has_end_mark() const { return has_end_mark_; }

 private:
  using Message = std::unique_ptr<arrow::ipc::Message>;

  Result<Message> read_message() {
    if (offset_bytes_ == file_.size_bytes()) return Message();
    std::uint32_t mark = 0;
    std::uint32_t metadata_bytes = 0;
    XTTS_TRY(read_exactly(file_, offset_bytes_, &mark, sizeof mark));
    if (mark != kMessageMark)
      return damaged("no message begins at byte " + std::to_string(offset_bytes_));
    XTTS_TRY(read_exactly(file_, offset_bytes_ + 4, &metadata_bytes, sizeof metadata_bytes));
    offset_bytes_ += 8;
    if (metadata_bytes == 0) {
      has_end_mark_ = true;
      return Message();
    }
    if (metadata_bytes > kMetadataBytesMax)
      return damaged("a message of " + counted(metadata_bytes, "byte", "bytes") +
                     " before its columns");
    XTTS_ASSIGN(const auto metadata, read_buffer(metadata_bytes));
    auto described = arrow::ipc::Message::Open(metadata, nullptr);
    if (!described.ok()) return to_status(described.status());
    const std::int64_t body_bytes = (*described)->body_length();
    const auto left = static_cast<std::int64_t>(file_.size_bytes() - offset_bytes_);
    if (body_bytes < 0 || body_bytes > left) {
      return Status(StatusCode::kBadInput, "is cut short: a batch has " +
                                               std::to_string(body_bytes) + " bytes, and " +
                                               std::to_string(left) + " are there");
    }
    XTTS_ASSIGN(auto body, read_body((*described)->type(), body_bytes));
    auto message = arrow::ipc::Message::Open(metadata, std::move(body));
    if (!message.ok()) return to_status(message.status());
    return std::move(*message);
  }

  Result<std::shared_ptr<arrow::Buffer>> read_buffer(std::int64_t size_bytes) {
    auto buffer = arrow::AllocateBuffer(size_bytes, pool_);
    if (!buffer.ok()) return to_status(buffer.status());
    XTTS_TRY(read_exactly(file_, offset_bytes_, (*buffer)->mutable_data(),
                          static_cast<std::size_t>(size_bytes)));
    offset_bytes_ += static_cast<std::uint64_t>(size_bytes);
    return std::shared_ptr<arrow::Buffer>(std::move(*buffer));
  }

  Result<std::shared_ptr<arrow::Buffer>> read_body(arrow::ipc::MessageType type,
                                                   std::int64_t size_bytes) {
    if (type != arrow::ipc::MessageType::RECORD_BATCH) {
      if (size_bytes > kDictionaryBytesMax)
        return damaged("a dictionary of " + std::to_string(size_bytes) + " bytes");
      return read_buffer(size_bytes);
    }
    XTTS_ASSIGN(body_, UnreadBytes::create(offset_bytes_, size_bytes));
    offset_bytes_ += static_cast<std::uint64_t>(size_bytes);
    return std::shared_ptr<arrow::Buffer>(body_);
  }

  const RandomAccessFile& file_;
  arrow::MemoryPool* pool_;
  std::uint64_t offset_bytes_ = 0;
  std::shared_ptr<UnreadBytes> body_;
  Status failure_;
  bool has_end_mark_ = false;
};

class StreamRows final : public ColumnRows {
 public:
  StreamRows(const RandomAccessFile& file, RowParts parts)
      : file_(file), parts_(parts), pool_(arrow::default_memory_pool(), kArrowBytesMax) {}

  Status open() {
    auto messages = std::make_unique<StreamMessages>(file_, &pool_);
    messages_ = messages.get();
    arrow::ipc::IpcReadOptions options;
    options.memory_pool = &pool_;
    options.use_threads = false;
    auto reader = arrow::ipc::RecordBatchStreamReader::Open(std::move(messages), options);
    if (!reader.ok()) {
      messages_ = nullptr;  // the reader owned it
      return to_status(reader.status());
    }
    reader_ = std::move(*reader);
    XTTS_ASSIGN(columns_, RowColumns::of(*reader_->schema()));
    return {};
  }

  [[nodiscard]] Result<std::optional<ColumnRow>> next() override {
    return call_arrow([&] { return next_row(); });
  }
  [[nodiscard]] const std::string& left_out() const override { return columns_->left_out(); }

 private:
  Result<std::optional<ColumnRow>> next_row() {
    while (batch_ == nullptr || row_ == batch_->num_rows()) {
      XTTS_ASSIGN(const bool is_there, next_batch());
      if (!is_there) return std::optional<ColumnRow>();
    }
    ColumnRow row;
    if (parts_ != RowParts::kSound) columns_->read(*batch_, row_, row);
    if (sound_->type_id() == arrow::Type::BINARY) {
      row.sound = place_of(static_cast<const arrow::BinaryArray&>(*sound_));
    } else {
      row.sound = place_of(static_cast<const arrow::LargeBinaryArray&>(*sound_));
    }
    ++row_;
    return std::optional<ColumnRow>(std::move(row));
  }

  // The library checked all offsets against the bytes that exist.
  template <typename Array>
  std::optional<ByteRange> place_of(const Array& array) const {
    const bool is_null = sound_struct_ != nullptr && sound_struct_->IsNull(row_);
    if (is_null || array.IsNull(row_)) return std::nullopt;
    return ByteRange{sound_offset_bytes_ + static_cast<std::uint64_t>(array.value_offset(row_)),
                     static_cast<std::uint64_t>(array.value_length(row_))};
  }

  Result<bool> next_batch() {
    row_ = 0;
    const auto status = reader_->ReadNext(&batch_);
    if (!status.ok()) return failure_of(status);
    if (batch_ == nullptr) {
      if (messages_->has_end_mark()) return false;
      return Status(StatusCode::kBadInput, "has no end mark: it was cut short");
    }
    filled_bytes_ = 0;
    XTTS_TRY(take_sound());
    if (parts_ != RowParts::kSound) {
      for (const int column : columns_->fields()) XTTS_TRY(fill(*batch_->column(column)));
    }
    XTTS_TRY(to_status(batch_->Validate()));  // all columns have the same length
    return true;
  }

  // Reads the offsets, not the sound itself.
  Status take_sound() {
    const auto column = batch_->column(columns_->sound());
    XTTS_TRY(fill(*column));
    sound_struct_ = nullptr;
    sound_ = column;
    if (columns_->bytes_in_struct() >= 0) {
      sound_struct_ = std::static_pointer_cast<arrow::StructArray>(column);
      sound_ = sound_struct_->field(columns_->bytes_in_struct());
    }
    const auto& bytes = sound_->data()->buffers[2];
    const bool has_sound = bytes != nullptr && messages_->body()->holds(*bytes);
    sound_offset_bytes_ = has_sound ? messages_->body()->offset_in_file(*bytes) : 0;
    return {};
  }

  Status fill(const arrow::Array& column) {
    XTTS_TRY(fill_buffers(*column.data()));
    return to_status(column.ValidateFull());
  }

  Status fill_buffers(const arrow::ArrayData& data) {
    const bool is_sound =
        data.type->id() == arrow::Type::BINARY || data.type->id() == arrow::Type::LARGE_BINARY;
    for (std::size_t i = 0; i < data.buffers.size(); ++i) {
      const auto& buffer = data.buffers[i];
      if (buffer == nullptr || buffer->size() == 0) continue;
      if (!messages_->body()->holds(*buffer)) {
        return packed();
      }
      if (is_sound && i == 2) continue;
      filled_bytes_ += buffer->size();
      if (filled_bytes_ > kArrowBytesMax) return to_status(arrow::Status::OutOfMemory(""));
      XTTS_TRY(messages_->body()->fill(file_, *buffer));
    }
    for (const auto& child : data.child_data) XTTS_TRY(fill_buffers(*child));
    return {};
  }

  Status failure_of(const arrow::Status& status) const {
    if (!messages_->failure().ok()) return messages_->failure();
    // The library unpacks a batch when it meets it, and finds only zeros.
    const bool is_packed = status.message().find("ompress") != std::string::npos;
    return is_packed ? packed() : to_status(status);
  }

  const RandomAccessFile& file_;
  const RowParts parts_;
  arrow::CappedMemoryPool pool_;
  StreamMessages* messages_ = nullptr;  // owned by reader_
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader_;
  std::optional<RowColumns> columns_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::shared_ptr<arrow::StructArray> sound_struct_;
  std::shared_ptr<arrow::Array> sound_;
  std::uint64_t sound_offset_bytes_ = 0;
  std::int64_t row_ = 0;
  std::int64_t filled_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<ColumnRows>> open_stream_rows(const RandomAccessFile& file, RowParts parts) {
  auto rows = std::make_unique<StreamRows>(file, parts);
  XTTS_TRY(call_arrow([&] { return rows->open(); }));
  return std::unique_ptr<ColumnRows>(std::move(rows));
}

}  // namespace xtts::corpus
