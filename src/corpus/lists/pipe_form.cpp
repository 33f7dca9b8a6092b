#include "corpus/lists/pipe_form.hpp"

#include <algorithm>
#include <unordered_set>

namespace xtts::corpus {
namespace {

constexpr std::size_t kSpeakerBytesMax = 64;

struct Column {
  std::size_t distinct_count = 0;
  bool has_words_only = false;
};

Column look_at(const std::vector<std::string_view>& cells) {
  const std::unordered_set<std::string_view> distinct(cells.begin(), cells.end());
  const bool has_words_only =
      std::all_of(distinct.begin(), distinct.end(), [](std::string_view cell) {
        return cell.size() <= kSpeakerBytesMax &&
               cell.find_first_of(" \t") == std::string_view::npos;
      });
  return {distinct.size(), has_words_only};
}

}  // namespace

std::string_view to_string(PipeForm form) noexcept {
  switch (form) {
    case PipeForm::kText:
      return "file|text";
    case PipeForm::kTextSpeaker:
      return "file|text|speaker";
    case PipeForm::kSpeakerText:
      return "file|speaker|text";
    case PipeForm::kTextNormalized:
      return "file|text|normalized text";
  }
  return "unknown";
}

PipeForm form_of_columns(const std::vector<std::string_view>& second,
                         const std::vector<std::string_view>& third) {
  const Column left = look_at(second);
  const Column right = look_at(third);
  if (left.has_words_only != right.has_words_only) {
    return left.has_words_only ? PipeForm::kSpeakerText : PipeForm::kTextSpeaker;
  }
  const bool is_left = left.distinct_count < right.distinct_count;
  const std::size_t fewer = std::min(left.distinct_count, right.distinct_count);
  const std::size_t more = std::max(left.distinct_count, right.distinct_count);
  if (!left.has_words_only && fewer * 2 > more) return PipeForm::kTextNormalized;
  return is_left ? PipeForm::kSpeakerText : PipeForm::kTextSpeaker;
}

}  // namespace xtts::corpus
