// Lists that are not UTF-8 become UTF-8, by the iconv of the C library. A mark at the beginning
// decides (UTF-8, UTF-16, UTF-32); without one, the encoding that the corpus section names does.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts {

inline constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// The encoding of a list that begins with these bytes, if the corpus section names `named`. Empty:
// UTF-8.
[[nodiscard]] std::string encoding_of(std::string_view beginning, const std::string& named);

// Turns text into UTF-8, piece by piece. Bytes that are no text become 0xFF, which is no UTF-8, so
// they are faults of their line. One thread at a time.
class Decoder {
 public:
  // kInvalidArgument: the system does not know the encoding.
  [[nodiscard]] static Result<Decoder> open(const std::string& encoding);

  void take(std::string_view bytes, std::string& out);
  // Call it at the end of the list: a character that is cut short is no text.
  void finish(std::string& out);

 private:
  struct Closer {
    void operator()(void* converter) const noexcept;
  };
  Decoder(void* converter, std::size_t unit_bytes)
      : converter_(converter), unit_bytes_(unit_bytes) {}

  std::unique_ptr<void, Closer> converter_;
  std::size_t unit_bytes_;  // of its shortest character
  std::string rest_;        // a character whose end has not come yet
};

// The text of all bytes, in UTF-8. `bytes` is UTF-8 already where encoding_of() is empty.
[[nodiscard]] Result<std::string> as_utf8(std::string bytes, const std::string& named);

// kInvalidArgument: the system does not know the encoding `named`; empty is known.
[[nodiscard]] Status check_encoding(const std::string& named);

}  // namespace xtts
