// Rows of a plan's part files (plan-v1.md, section 3): clips, and rejects of lists. A writer and a
// reader remember the source of the clip before, so the rows of a file are read in the order in
// which they were written. Values in memory only. One thread at a time. Decoding takes hostile
// bytes: kCorrupt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/shared_text.hpp"
#include "corpus/clips/clip.hpp"
#include "formats/reject.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// The names that rows have numbers for.
struct RowNames {
  std::vector<SharedText> datasets, speakers, languages;
};

// The numbers of a clip's names. Of speaker and language one more than the place, and 0 for none.
struct RowNumbers {
  std::uint64_t dataset = 0;
  std::uint64_t speaker = 0;
  std::uint64_t language = 0;
};

class PartRowWriter {
 public:
  // Times and inode of the clip are not written.
  void append(const corpus::Clip& clip, const RowNumbers& numbers, std::string& out);
  static void append(const formats::Reject& reject, std::string& out);

 private:
  SharedText last_source_;
};

using PartRow = std::variant<corpus::Clip, formats::Reject>;

class PartRowReader {
 public:
  // A view of `names`, which may grow meanwhile. A clip's folder is below `folder_count`.
  PartRowReader(const RowNames& names, std::size_t folder_count)
      : names_(names), folder_count_(folder_count) {}

  // Takes the next row from the front of `rows`. nullopt: `rows` ends within it.
  [[nodiscard]] Result<std::optional<PartRow>> take(std::string_view& rows);

 private:
  [[nodiscard]] Result<corpus::Clip> decode_clip(std::string_view row);

  const RowNames& names_;
  const std::size_t folder_count_;
  SharedText last_source_;
};

}  // namespace xtts::pipeline
