// ByteWindow reads a list from its beginning to its end through a window of bounded size. On the
// way it inflates a packed list, and turns a list of another encoding into UTF-8 (encoding.hpp). A
// list may be larger than memory, and a packed one may hold far more than its size suggests.
//
// A failure on the way (the disk, damaged or endless gzip) ends the bytes early and is kept in
// failure(). The reader checks it at the end, or the ReadLog of a layout does. Owns the file.
// Views are valid until the next call. One thread at a time.
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
// Lists pack to a fifth; those of absolute paths to a thirtieth; runs of a byte to a thousandth.
inline constexpr std::uint64_t kPackedRatioMax = 200;
// Any list may inflate to this size, whatever its ratio: a small list is no danger.
inline constexpr std::uint64_t kUnpackedFreeBytes = std::uint64_t{64} << 20U;

// Progress of the list in work, and the first failure, for a layout that reads many lists.
struct ListLog {
  Status failure;                // of the first list that ended early
  std::uint64_t size_bytes = 0;  // of the file
  std::uint64_t read_bytes = 0;  // of that, how many were consumed
};

class ByteWindow {
 public:
  class Source;

  // kInvalidArgument: above kListBytesMax, or the system does not know the encoding.
  [[nodiscard]] static Result<ByteWindow> open(Env& env, const std::string& path, bool is_packed,
                                               const std::string& encoding = {});
  [[nodiscard]] static ByteWindow of(std::string bytes);
  // A window over `bytes`, which must outlive it.
  [[nodiscard]] static ByteWindow view_of(std::string_view bytes);

  ByteWindow(ByteWindow&&) noexcept;
  ByteWindow& operator=(ByteWindow&&) noexcept;
  ~ByteWindow();

  // The next bytes: at least `wanted`, unless fewer are left.
  [[nodiscard]] std::string_view peek(std::size_t wanted);
  // The bytes that are available without reading.
  [[nodiscard]] std::string_view available() const;
  void skip(std::size_t count);  // at most available()
  // From now on, failure() and progress also go to `log`, which is null or outlives the window.
  void set_log(ListLog* log);
  [[nodiscard]] const Status& failure() const { return failure_; }

 private:
  ByteWindow();
  void fill();
  [[nodiscard]] Status decode(const std::string& encoding);

  std::unique_ptr<Source> source_;  // null: all bytes are at hand
  std::string buffer_;
  std::string_view borrowed_;
  std::size_t begin_ = 0;
  Status failure_;
  ListLog* log_ = nullptr;
};

// TextStore keeps copies of texts longer than their list. Views are valid while it lives.
class TextStore {
 public:
  [[nodiscard]] std::string_view keep(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t room_bytes_ = 0;  // behind next_
};

}  // namespace xtts::corpus
