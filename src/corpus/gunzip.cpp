#include "corpus/gunzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/try.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;

class Inflater {
 public:
  Inflater() : is_open_(inflateInit2(&stream_, kGzipOnly) == Z_OK) {}
  ~Inflater() {
    if (is_open_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Appends what one member of `bytes` holds to `out`, and takes it off `bytes`.
  Status take_member(std::string_view& bytes, std::uint64_t size_bytes_max, std::string& out) {
    if (!is_open_) return {StatusCode::kResource, "no memory to inflate it"};
    inflateReset(&stream_);
    for (int code = Z_OK; code != Z_STREAM_END;) {
      const auto given = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      // zlib reads through a pointer that is not const, and writes nothing there.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      code = inflate(&stream_, Z_NO_FLUSH);
      bytes.remove_prefix(given - stream_.avail_in);
      const std::size_t made = buffer_.size() - stream_.avail_out;
      if (made > size_bytes_max - out.size()) {
        return {
            StatusCode::kInvalidArgument,
            "inflates to more than " + counted(size_bytes_max, "byte", "bytes") + "; divide it"};
      }
      out.append(buffer_.data(), made);
      XTTS_TRY(check(code, bytes.empty(), made));
    }
    return {};
  }

 private:
  [[nodiscard]] Status check(int code, bool is_at_end, std::size_t made) const {
    if (code == Z_STREAM_END || (code == Z_OK && !(is_at_end && made == 0))) return {};
    if (code == Z_MEM_ERROR) return {StatusCode::kResource, "no memory to inflate it"};
    if (code == Z_OK || code == Z_BUF_ERROR) {
      return {StatusCode::kInvalidArgument, "is cut short: its gzip data does not end"};
    }
    return {StatusCode::kInvalidArgument,
            std::string("is damaged: ") + (stream_.msg == nullptr ? "no gzip data" : stream_.msg)};
  }

  z_stream stream_{};
  bool is_open_;
  std::array<char, std::size_t{64} << 10U> buffer_{};
};

}  // namespace

Result<std::string> gunzip(std::string_view bytes, std::uint64_t size_bytes_max) {
  std::string out;
  Inflater inflater;
  do {
    XTTS_TRY(inflater.take_member(bytes, size_bytes_max, out));
  } while (!bytes.empty());
  return out;
}

}  // namespace xtts::corpus
