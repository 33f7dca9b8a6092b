#include "corpus/layouts/kaldi_lists.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/key_lines.hpp"

namespace xtts::corpus {

Status UtteranceFacts::read(const LayoutInput& input, const std::string& path,
                            ClipCollector& clips) {
  if (!met_file(input.tree, path)) return {};
  XTTS_ASSIGN(LineReader list, read_list(input, path));
  source_.list = path;
  clips.count_read_file();
  while (const auto line = next_key_line(list)) {
    const auto [place, is_new] = facts_.try_emplace(digest128(line->key));
    if (is_new) {
      clips.hold(kFactBytes);
      const std::string_view words = line->fault ? std::string_view() : line->words;
      place->second = {words_ == Words::kNames ? names_.of(words) : SharedText(words),
                       static_cast<std::uint32_t>(line->line), line->fault.has_value(), false};
    }
    if (line->fault) {
      clips.refuse(source_, line->line, line->key, "the line " + *line->fault);
    } else if (!is_new) {
      clips.refuse(source_, line->line, line->key,
                   "the same utterance is in line " + std::to_string(place->second.line) +
                       ", which is used");
    }
    XTTS_TRY(clips.check_bounds(source_));
  }
  return {};
}

SharedText UtteranceFacts::find(std::string_view utterance) const {
  const auto place = facts_.find(digest128(utterance));
  return place == facts_.end() ? SharedText() : place->second.words;
}

bool UtteranceFacts::is_broken(std::string_view utterance) const {
  const auto place = facts_.find(digest128(utterance));
  return place != facts_.end() && place->second.is_broken;
}

void UtteranceFacts::expect(std::string_view utterance) {
  const auto place = facts_.find(digest128(utterance));
  if (place != facts_.end()) place->second.is_expected = true;
}

std::uint64_t UtteranceFacts::stray_count() const {
  const auto count = std::count_if(facts_.begin(), facts_.end(), [](const auto& fact) {
    return !fact.second.is_expected && !fact.second.is_broken;
  });
  return static_cast<std::uint64_t>(count);
}

}  // namespace xtts::corpus
