// Small lists: files of short lines that an option or a recipe names, such as the names of
// --speakers, vocabularies and numbers by channel. They are read as the lists of a corpus are: a
// byte-order mark is dropped, UTF-16 is known by its mark, and lines end in LF, CR LF or CR.
//
// Free functions. Failures: those of reading; kInvalidArgument with file and line where a line is
// not UTF-8 or holds a NUL byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts {

struct SmallList {
  std::string path;
  std::vector<std::string> lines;  // without their ends

  // kInvalidArgument: "PATH:3: what".
  [[nodiscard]] Status fault(std::size_t line_index, std::string_view what) const;
};

// `encoding`: of a file without a mark; empty: UTF-8.
[[nodiscard]] Result<SmallList> read_small_list(Env& env, const std::string& path,
                                                std::uint64_t size_bytes_max,
                                                const std::string& encoding = {});

// Returns the end of the lines of a text that begins so: LF, also behind a CR; the old Mac OS wrote
// CR alone.
[[nodiscard]] char line_end_of(std::string_view beginning) noexcept;

}  // namespace xtts
