#include "corpus/lists/byte_window.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/encoding.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/names.hpp"
#include "corpus/lists/gunzip.hpp"

namespace xtts::corpus {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20U;

}  // namespace

class ByteWindow::Source {
 public:
  virtual ~Source() = default;
  // Appends a piece; false at the end.
  virtual Result<bool> read(std::string& out) = 0;
  [[nodiscard]] virtual std::uint64_t size_bytes() const = 0;  // of the file
  [[nodiscard]] virtual std::uint64_t read_bytes() const = 0;  // of the file
};

namespace {

class FileSource final : public ByteWindow::Source {
 public:
  explicit FileSource(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}

  Result<bool> read(std::string& out) override {
    const std::size_t before = out.size();
    const std::uint64_t rest_bytes = file_->size_bytes() - position_bytes_;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(rest_bytes, kReadBytes));
    if (wanted == 0) return false;
    out.resize(before + wanted);
    const auto room = std::as_writable_bytes(std::span<char>(out.data() + before, wanted));
    const auto got = file_->read_at(position_bytes_, room);
    out.resize(before + (got.ok() ? *got : 0));
    if (!got.ok()) return got.status();
    position_bytes_ += *got;
    return *got > 0;
  }

  [[nodiscard]] std::uint64_t size_bytes() const override { return file_->size_bytes(); }
  [[nodiscard]] std::uint64_t read_bytes() const override { return position_bytes_; }

 private:
  std::unique_ptr<RandomAccessFile> file_;
  std::uint64_t position_bytes_ = 0;
};

class PackedSource final : public ByteWindow::Source {
 public:
  PackedSource(std::unique_ptr<RandomAccessFile> file, std::string path)
      : packed_bytes_(file->size_bytes()), file_(std::move(file)), path_(std::move(path)) {}

  Result<bool> read(std::string& out) override {
    const std::size_t before = out.size();
    while (out.size() == before) {
      if (packed_.empty()) {
        XTTS_ASSIGN(const bool is_more, file_.read(packed_));
        if (!is_more) {
          if (inflater_.is_at_end()) return false;
          return refuse("is cut short: its gzip data does not end");
        }
        rest_ = packed_;
      }
      auto status = inflater_.take(rest_, out);
      if (!status.ok()) return Status(status.code(), formatted("{} {}", path_, status.message()));
      if (rest_.empty()) packed_.clear();
    }
    unpacked_bytes_ += out.size() - before;
    if (unpacked_bytes_ > kListBytesMax) {
      return refuse(formatted("inflates to more than {}; divide it into several lists",
                              counted(kListBytesMax, "byte", "bytes")));
    }
    if (unpacked_bytes_ > kUnpackedFreeBytes && unpacked_bytes_ / kPackedRatioMax > packed_bytes_) {
      return refuse("inflates to more than " + std::to_string(kPackedRatioMax) +
                    " times its size, which no list does: if it is a list all the same, unpack it");
    }
    return true;
  }

  [[nodiscard]] std::uint64_t size_bytes() const override { return packed_bytes_; }
  [[nodiscard]] std::uint64_t read_bytes() const override { return file_.read_bytes(); }

 private:
  Status refuse(std::string reason) const {
    return {StatusCode::kInvalidArgument, formatted("{} {}", path_, std::move(reason))};
  }

  std::uint64_t packed_bytes_;
  FileSource file_;
  std::string path_;
  std::string packed_;
  std::string_view rest_;
  GzipStream inflater_;
  std::uint64_t unpacked_bytes_ = 0;
};

// Decodes what another source reads. `rest` was read from it before.
class DecodedSource final : public ByteWindow::Source {
 public:
  DecodedSource(std::unique_ptr<ByteWindow::Source> encoded, std::string rest, Decoder decoder)
      : encoded_(std::move(encoded)), piece_(std::move(rest)), decoder_(std::move(decoder)) {}

  Result<bool> read(std::string& out) override {
    const std::size_t before = out.size();
    while (out.size() == before && !is_at_end_) {
      if (piece_.empty()) {
        XTTS_ASSIGN(const bool is_more, encoded_->read(piece_));
        is_at_end_ = !is_more;
        if (is_at_end_) decoder_.finish(out);
      }
      decoder_.take(piece_, out);
      piece_.clear();
    }
    return out.size() > before;
  }

  [[nodiscard]] std::uint64_t size_bytes() const override { return encoded_->size_bytes(); }
  [[nodiscard]] std::uint64_t read_bytes() const override { return encoded_->read_bytes(); }

 private:
  std::unique_ptr<ByteWindow::Source> encoded_;
  std::string piece_;
  Decoder decoder_;
  bool is_at_end_ = false;
};

}  // namespace

ByteWindow::ByteWindow() = default;
ByteWindow::ByteWindow(ByteWindow&&) noexcept = default;
ByteWindow& ByteWindow::operator=(ByteWindow&&) noexcept = default;
ByteWindow::~ByteWindow() = default;

Result<ByteWindow> ByteWindow::open(Env& env, const std::string& path, bool is_packed,
                                    const std::string& encoding) {
  XTTS_ASSIGN(auto file, env.open_for_read(path));
  if (file->size_bytes() > kListBytesMax) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} has {}; at most {} allowed", path,
                            counted(file->size_bytes(), "byte", "bytes"),
                            counted(kListBytesMax, "byte is", "bytes are")));
  }
  ByteWindow bytes;
  if (is_packed) {
    bytes.source_ = std::make_unique<PackedSource>(std::move(file), path);
  } else {
    bytes.source_ = std::make_unique<FileSource>(std::move(file));
  }
  XTTS_TRY(bytes.decode(encoding));
  return bytes;
}

// Nothing of the list has been taken yet: its first piece alone is read, for its mark.
Status ByteWindow::decode(const std::string& named) {
  fill();
  const std::string encoding = encoding_of(available(), named);
  if (encoding.empty() || source_ == nullptr) return {};
  XTTS_ASSIGN(Decoder decoder, Decoder::open(encoding));
  source_ = std::make_unique<DecodedSource>(std::move(source_), std::exchange(buffer_, {}),
                                            std::move(decoder));
  return {};
}

ByteWindow ByteWindow::of(std::string own_bytes) {
  ByteWindow bytes;
  bytes.buffer_ = std::move(own_bytes);
  return bytes;
}

ByteWindow ByteWindow::view_of(std::string_view borrowed) {
  ByteWindow bytes;
  bytes.borrowed_ = borrowed;
  return bytes;
}

void ByteWindow::set_log(ListLog* log) {
  log_ = log;
  if (log_ == nullptr) return;
  log_->size_bytes = source_ == nullptr ? 0 : source_->size_bytes();
  log_->read_bytes = 0;
}

std::string_view ByteWindow::available() const {
  return (borrowed_.data() == nullptr ? std::string_view(buffer_) : borrowed_).substr(begin_);
}

void ByteWindow::skip(std::size_t count) {
  begin_ += count;
}

std::string_view ByteWindow::peek(std::size_t wanted) {
  while (available().size() < wanted && source_ != nullptr) fill();
  return available();
}

void ByteWindow::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  // Earlier bytes have been consumed by now, except the rest at hand.
  if (log_ != nullptr) {
    log_->read_bytes = source_->read_bytes();
    log_->read_bytes -= std::min<std::uint64_t>(log_->read_bytes, available().size());
  }
  const Result<bool> is_more = source_->read(buffer_);
  if (is_more.ok() && *is_more) return;
  source_.reset();
  if (is_more.ok()) return;
  failure_ = is_more.status();
  if (log_ != nullptr && log_->failure.ok()) log_->failure = failure_;
}

std::string_view TextStore::keep(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > room_bytes_) {
    room_bytes_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique<char[]>(room_bytes_));
    next_ = blocks_.back().get();
  }
  std::memcpy(next_, text.data(), text.size());
  const std::string_view kept(next_, text.size());
  next_ += text.size();
  room_bytes_ -= text.size();
  return kept;
}

}  // namespace xtts::corpus
