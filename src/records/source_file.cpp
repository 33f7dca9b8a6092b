#include "records/source_file.hpp"

#include <algorithm>
#include <cstring>

#include "base/shortage.hpp"
#include "base/try.hpp"

namespace xtts::records {
namespace {

class MemoryFile final : public RandomAccessFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size_bytes() const override { return bytes_.size(); }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    if (offset_bytes >= bytes_.size()) return std::size_t{0};
    const auto rest = bytes_.subspan(offset_bytes);
    const std::size_t count = std::min(rest.size(), out.size());
    std::memcpy(out.data(), rest.data(), count);
    return count;
  }

 private:
  std::span<const std::byte> bytes_;
};

// The clip is not at fault if the system ran short of descriptors or memory meanwhile.
Status as_source_failure(const Status& failure, std::uint64_t shortages_before) {
  if (shortage_count() != shortages_before) return {StatusCode::kResource, failure.message()};
  const StatusCode code = failure.code() == StatusCode::kInvalidArgument ? StatusCode::kBadInput
                                                                         : StatusCode::kSourceIo;
  return {code, failure.message()};
}

}  // namespace

Result<SourceFile::Opened> SourceFile::read(Env& env, const corpus::SourcePlace& place) {
  const std::string& path = place.path;
  const std::uint64_t shortages = shortage_count();
  // A file that changes while it is read is read once more. A second change rejects the clip.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto before = env.stat(path);
    if (!before) return as_source_failure(before.status(), shortages);
    auto opened = corpus::open_source(env, place);
    if (!opened) return as_source_failure(opened.status(), shortages);
    file_ = std::move(opened).value();

    Opened result;
    result.size_bytes = file_->size_bytes();
    const bool buffered = result.size_bytes <= buffered_bytes_max_;
    buffer_.resize(buffered ? result.size_bytes : std::size_t{1} << 20U);
    Hasher128 hasher;
    std::uint64_t offset = 0;
    while (offset < result.size_bytes) {
      const auto got = file_->read_at(offset, buffer_);
      if (!got) return as_source_failure(got.status(), shortages);
      if (*got == 0) break;
      if (!buffered) hasher.update(std::span(buffer_).first(*got));
      offset += *got;
    }
    const auto after = env.stat(path);
    if (!after) return as_source_failure(after.status(), shortages);
    if (offset != result.size_bytes || *before != *after) continue;

    if (buffered) {
      result.content_digest = digest128(std::span<const std::byte>(buffer_));
      file_ = std::make_unique<MemoryFile>(buffer_);
    } else {
      result.content_digest = hasher.finish();
    }
    result.file = file_.get();
    return result;
  }
  return Status(StatusCode::kSourceIo,
                "the file changed while it was read, twice: build again when nothing writes to it");
}

}  // namespace xtts::records
