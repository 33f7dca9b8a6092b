// ByteWindow: the bytes of a list from its beginning to its end, through a window of bounded size,
// inflated on the way where the list is packed. A list may be larger than memory, and a packed one
// may hold far more than its size promises.
//
// What goes wrong on the way (the disk, damaged or endless gzip) ends the bytes early and is kept
// in failure(): whoever has read to the end asks for it, or the ReadLog of a layout does. Owns the
// file. Views are valid until the next call. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"

namespace xtts::corpus {

// MLS English, with ten million clips, has half of it.
inline constexpr std::uint64_t kListBytesMax = std::uint64_t{4} << 30U;
// Lists pack to a fifth, with absolute paths to a thirtieth. Runs of one byte pack to a thousandth.
inline constexpr std::uint64_t kPackedRatioMax = 200;
// What any list may inflate to, whatever its ratio: a small one is no danger.
inline constexpr std::uint64_t kUnpackedFreeBytes = std::uint64_t{64} << 20U;

// What whoever reads many lists is told of the one that is read.
struct ListLog {
  Status failure;                // of the first that ended early
  std::uint64_t size_bytes = 0;  // of the file
  std::uint64_t read_bytes = 0;  // of that, those that are taken
};

class ByteWindow {
 public:
  class Source;

  // kInvalidArgument: above kListBytesMax.
  [[nodiscard]] static Result<ByteWindow> open(Env& env, const std::string& path, bool is_packed);
  [[nodiscard]] static ByteWindow of(std::string bytes);
  // A view of bytes that outlive it.
  [[nodiscard]] static ByteWindow view_of(std::string_view bytes);

  ByteWindow(ByteWindow&&) noexcept;
  ByteWindow& operator=(ByteWindow&&) noexcept;
  ~ByteWindow();

  // The bytes that come next: at least `wanted` of them where there are so many.
  [[nodiscard]] std::string_view peek(std::size_t wanted);
  // Those that are at hand without reading.
  [[nodiscard]] std::string_view at_hand() const;
  void skip(std::size_t count);  // of those at hand
  // From now on, `log` (null, or it outlives the bytes) is told of failure() and of what is read.
  void tell(ListLog* log);
  [[nodiscard]] const Status& failure() const { return failure_; }

 private:
  ByteWindow();
  void fill();

  std::unique_ptr<Source> source_;  // null: all is at hand
  std::string buffer_;
  std::string_view borrowed_;
  std::size_t begin_ = 0;
  Status failure_;
  ListLog* log_ = nullptr;
};

// Texts that are kept while the list they came from is not. Views stay valid while it lives.
class TextStore {
 public:
  [[nodiscard]] std::string_view keep(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t room_bytes_ = 0;  // behind next_
};

}  // namespace xtts::corpus
