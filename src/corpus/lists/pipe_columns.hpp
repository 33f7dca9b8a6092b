// PipeColumns: what each field of a line "id|text|normalized text" means, by the LJSpeech rule or
// by a header line.
//
// The LJSpeech rule: the id ends at the first '|', and the normalized text starts after the last.
// The raw text lies between them and may itself hold '|'. With two fields, the one text is both. A
// header with other columns (a speaker, a language) or another order replaces the rule: each line
// must then have as many fields as the header. Plain value; share freely.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "corpus/lists/clip_collector.hpp"
#include "xtts/status.hpp"

namespace xtts::corpus {

struct PipeRow {  // views of the line, trimmed
  std::string_view id;
  std::string_view text_raw;
  std::string_view text_normalized;
  std::string_view speaker;
  std::string_view language;
  std::size_t field_count = 0;
};

// The clip of a row; its id names the audio. The audio and all fields are views of the row.
[[nodiscard]] ListedClip listed(const PipeRow& row);

class PipeColumns {
 public:
  PipeColumns() = default;  // the LJSpeech rule

  // nullopt: `line` does not begin like a header.
  [[nodiscard]] static std::optional<PipeColumns> from_header(std::string_view line);
  [[nodiscard]] Result<PipeRow> split(std::string_view line) const;

 private:
  [[nodiscard]] Result<PipeRow> split_by_position(std::string_view line) const;

  bool by_position_ = false;
  std::size_t column_count_ = 0;
  // Column of each field, where the header names it; the id is always the first.
  std::optional<std::size_t> raw_;
  std::optional<std::size_t> normalized_;
  std::optional<std::size_t> speaker_;
  std::optional<std::size_t> language_;
};

}  // namespace xtts::corpus
