#include "plan/scratch_rows.hpp"

#include <algorithm>
#include <span>

#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/preamble.hpp"

namespace xtts::plan {
namespace {

constexpr std::size_t kHeadBytes = 2 * sizeof(std::uint32_t);

}  // namespace

void append_scratch_row(std::string_view key, std::string_view row, std::string& out) {
  formats::append(out, static_cast<std::uint32_t>(key.size()));
  formats::append(out, static_cast<std::uint32_t>(row.size()));
  out += key;
  out += row;
}

Result<bool> ScratchRows::next() {
  if (at_ == window_.size() && left_bytes_ == 0) return false;
  XTTS_TRY(hold(kHeadBytes));
  const auto head = formats::bytes_of(std::string_view(window_).substr(at_, kHeadBytes));
  const auto key_bytes = formats::load<std::uint32_t>(head, 0);
  const auto row_bytes = formats::load<std::uint32_t>(head, sizeof(std::uint32_t));
  XTTS_TRY(hold(kHeadBytes + key_bytes + row_bytes));
  const std::string_view bytes = std::string_view(window_).substr(at_ + kHeadBytes);
  key_ = bytes.substr(0, key_bytes);
  row_ = bytes.substr(key_bytes, row_bytes);
  at_ += kHeadBytes + key_bytes + row_bytes;
  return true;
}

Status ScratchRows::hold(std::size_t size_bytes) {
  if (window_.size() - at_ >= size_bytes) return {};
  window_.erase(0, at_);
  at_ = 0;
  const std::size_t begin = window_.size();
  const std::uint64_t wanted = std::min<std::uint64_t>(
      std::max<std::uint64_t>(size_bytes, window_bytes_) - begin, left_bytes_);
  window_.resize(begin + wanted);
  const auto into = std::as_writable_bytes(std::span(window_)).subspan(begin);
  XTTS_ASSIGN(const std::size_t size, file_->read_at(offset_bytes_, into));
  offset_bytes_ += size;
  left_bytes_ -= size;
  const bool is_cut = size < wanted || window_.size() < size_bytes;
  return is_cut ? formats::corrupt("a scratch file of the plan was cut") : Status();
}

}  // namespace xtts::plan
