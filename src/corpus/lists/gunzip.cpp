#include "corpus/lists/gunzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace xtts::corpus {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;

constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;

}  // namespace

struct GzipStream::State {
  z_stream stream{};
  bool is_open = inflateInit2(&stream, kGzipOnly) == Z_OK;

  State() = default;
  ~State() {
    if (is_open) inflateEnd(&stream);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

GzipStream::GzipStream() : state_(std::make_unique<State>()) {
  if (!state_->is_open) state_.reset();
}

GzipStream::~GzipStream() = default;

Status GzipStream::take(std::string_view& bytes, std::string& out) {
  if (state_ == nullptr) return {StatusCode::kResource, "no memory to inflate it"};
  if (bytes.empty()) return {};
  z_stream& stream = state_->stream;
  if (is_at_end_) inflateReset(&stream);
  is_at_end_ = false;
  const std::size_t before = out.size();
  out.resize(before + kPieceBytes);
  const auto given = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
  // zlib reads through a pointer that is not const, and writes nothing there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(given);
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
  stream.avail_out = static_cast<uInt>(kPieceBytes);
  const int code = inflate(&stream, Z_NO_FLUSH);
  bytes.remove_prefix(given - stream.avail_in);
  out.resize(before + kPieceBytes - stream.avail_out);
  is_at_end_ = code == Z_STREAM_END;
  if (code == Z_STREAM_END || code == Z_OK || code == Z_BUF_ERROR) return {};
  if (code == Z_MEM_ERROR) return {StatusCode::kResource, "no memory to inflate it"};
  return {StatusCode::kInvalidArgument,
          std::string("is damaged: ") + (stream.msg == nullptr ? "no gzip data" : stream.msg)};
}

}  // namespace xtts::corpus
