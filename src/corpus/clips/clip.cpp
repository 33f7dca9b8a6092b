#include "corpus/clips/clip.hpp"

#include "base/formatted.hpp"
#include "formats/clip_id.hpp"

namespace xtts::corpus {

std::string full_id(const Clip& clip) {
  return formats::full_id(clip.dataset, clip.id);
}

bool has_text(const Clip& clip) {
  return !clip.text_raw.empty() || !clip.text_normalized.empty();
}

std::string place_in_words(const Reject& problem) {
  return (problem.line ? formatted("line {} of ", *problem.line) : "") + problem.path;
}

}  // namespace xtts::corpus
