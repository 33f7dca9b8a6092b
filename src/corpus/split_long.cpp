#include "corpus/split_long.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "base/formatted.hpp"
#include "corpus/files/names.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/lists/row_clip.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace {

using nlohmann::json;

// Times of words often start a little late and end a little early.
constexpr double kMarginSeconds = 0.05;

constexpr const char* kTimeFields[] = {"segments", "words", "alignment", "duration"};

const json* member(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? nullptr : &*found;
}

std::optional<double> number_at(const json& object, const char* key) {
  const json* const value = member(object, key);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>())
                                                : std::nullopt;
}

// {"start": 1.5, "end": 2.25, "text" or "word": "hello"}: the form of Whisper and its successors.
std::optional<TimedText> read_object(const json& object) {
  const auto start_s = number_at(object, "start");
  const auto end_s = number_at(object, "end");
  const json* text = member(object, "text");
  if (text == nullptr) text = member(object, "word");
  if (!start_s || !end_s || text == nullptr || !text->is_string()) return std::nullopt;
  return TimedText{*start_s, *end_s, text->get<std::string>()};
}

// ["hello", 1.5, 0.75, ...]: start and duration, the form of lhotse.
std::optional<TimedText> read_array(const json& array) {
  const bool is_item = array.is_array() && array.size() >= 3 && array[0].is_string() &&
                       array[1].is_number() && array[2].is_number();
  if (!is_item) return std::nullopt;
  const double start_s = array[1].get<double>();
  return TimedText{start_s, start_s + array[2].get<double>(), array[0].get<std::string>()};
}

using ReadItem = std::optional<TimedText> (*)(const json&);

// Empty where an item is malformed, or begins before the previous one ends: using the rest would
// silently lose half of a text.
std::vector<TimedText> read_items(const json* list, ReadItem read) {
  if (list == nullptr || !list->is_array()) return {};
  std::vector<TimedText> texts;
  for (const json& one : *list) {
    auto item = read(one);
    const double previous_end_s = texts.empty() ? 0.0 : texts.back().end_s;
    if (!item || !(item->start_s >= previous_end_s) || !(item->end_s >= item->start_s) ||
        item->end_s > kSegmentSecondsMax) {
      return {};
    }
    if (!trimmed(item->text).empty()) texts.push_back(std::move(*item));
  }
  return texts;
}

// WhisperX lists the words inside each segment.
json words_within(const json& row) {
  json words = json::array();
  const json* const segments = member(row, "segments");
  if (segments == nullptr || !segments->is_array()) return words;
  for (const json& segment : *segments) {
    const json* const list = member(segment, "words");
    if (list == nullptr || !list->is_array()) return json::array();
    words.insert(words.end(), list->begin(), list->end());
  }
  return words;
}

bool all_within(const std::vector<TimedText>& texts, double longest_s) {
  return std::ranges::all_of(
      texts, [&](const TimedText& one) { return one.end_s - one.start_s <= longest_s; });
}

// The sentences if all are short enough, else the words.
std::vector<TimedText> timed_texts(const json& row, double longest_s) {
  std::vector<TimedText> sentences = read_items(member(row, "segments"), read_object);
  if (!sentences.empty() && all_within(sentences, longest_s)) return sentences;
  const json within = words_within(row);
  const json* const alignment = member(row, "alignment");
  for (auto words :
       {read_items(member(row, "words"), read_object), read_items(&within, read_object),
        read_items(alignment == nullptr ? nullptr : member(*alignment, "word"), read_array)}) {
    if (!words.empty()) return words;
  }
  return sentences;
}

std::string joined(const std::vector<TimedText>& run) {
  std::string text;
  for (const TimedText& one : run) {
    const std::string_view word = trimmed(one.text);
    text += (text.empty() ? "" : " ") + std::string(word);
  }
  return text;
}

class ClipSplitter {
 public:
  ClipSplitter(double longest_s, std::vector<Clip>& clips) : longest_s_(longest_s) {
    // The order of clips is free here: the first piece stays in the clip's place.
    std::vector<Clip> further_pieces;
    for (Clip& clip : clips) {
      std::vector<Clip> pieces = split(clip, clips);
      if (pieces.empty()) continue;
      ++split_count;
      piece_count += pieces.size();
      clip = std::move(pieces.front());
      std::move(pieces.begin() + 1, pieces.end(), std::back_inserter(further_pieces));
    }
    std::ranges::move(further_pieces, std::back_inserter(clips));
  }

  std::uint64_t split_count = 0;
  std::uint64_t piece_count = 0;

 private:
  struct TextHash {
    std::size_t operator()(const SharedText& text) const {
      return std::hash<std::string_view>()(text.view());
    }
  };

  // Empty: the clip stays whole. `clips` holds clips as found, or already in pieces.
  std::vector<Clip> split(const Clip& clip, const std::vector<Clip>& clips) {
    if (clip.extra_json.empty()) return {};
    json row = json::parse(clip.extra_json.view(), nullptr, false);
    if (!row.is_object()) return {};
    const double longest_s = longest_s_ - 2.0 * kMarginSeconds;
    const auto texts = timed_texts(row, longest_s);
    const Segment whole = clip.segment.value_or(Segment());
    const auto duration_s = number_at(row, "duration");
    const double end_s = whole.end_s ? *whole.end_s
                         : duration_s && *duration_s > 0.0
                             ? whole.start_s + *duration_s
                             : (texts.empty() ? 0.0 : texts.back().end_s);
    const bool is_inside = !texts.empty() && texts.front().start_s >= whole.start_s &&
                           texts.back().end_s <= end_s + kMarginSeconds;
    if (!is_inside || end_s - whole.start_s <= longest_s_) return {};
    const auto runs = runs_within(texts, longest_s);
    if (runs.size() < 2) return {};
    for (const char* const field : kTimeFields) row.erase(field);
    if (ids_.empty()) {
      for (const Clip& one : clips) ids_.insert(one.id);
    }
    std::vector<Clip> pieces;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double before_s = i == 0 ? whole.start_s : runs[i - 1].back().end_s;
      const double after_s = i + 1 == runs.size() ? end_s : runs[i + 1].front().start_s;
      Clip& piece = pieces.emplace_back(clip);
      const double first_s = runs[i].front().start_s, last_s = runs[i].back().end_s;
      piece.segment =
          Segment{.start_s = std::max(before_s, first_s - kMarginSeconds),
                  .end_s = std::max(last_s, std::min(after_s, last_s + kMarginSeconds))};
      piece.id = piece.id + segment_suffix(*piece.segment);
      piece.text_raw = joined(runs[i]);
      piece.text_normalized = shared_on_one_line(piece.text_raw);
      piece.extra_json = row.empty() ? std::string() : formats::dump_canonical(row);
      // The list may already have such an id, a long name may not fit, or a time may be unusable.
      const bool is_usable =
          !fault_of_id(piece.id) && piece.segment->start_s < *piece.segment->end_s;
      if (!is_usable || !ids_.insert(piece.id).second) return {};
    }
    return pieces;
  }

  const double longest_s_;
  std::unordered_set<SharedText, TextHash> ids_;  // empty until a clip may be split
};

}  // namespace

std::vector<std::vector<TimedText>> runs_within(const std::vector<TimedText>& texts,
                                                double longest_s) {
  std::vector<std::vector<TimedText>> runs;
  for (std::size_t begin = 0; begin < texts.size();) {
    const double limit_s = texts[begin].start_s + longest_s;
    std::size_t end = begin + 1;
    while (end < texts.size() && texts[end].end_s <= limit_s) ++end;
    std::size_t cut = end;
    double longest_pause_s = -1.0;
    for (std::size_t i = end; end < texts.size() && i > begin + 1; --i) {
      if (texts[i - 1].end_s < limit_s - longest_s / 3.0) break;
      const double pause_s = texts[i].start_s - texts[i - 1].end_s;
      if (pause_s <= longest_pause_s) continue;
      longest_pause_s = pause_s;
      cut = i;
    }
    runs.emplace_back(texts.begin() + static_cast<std::ptrdiff_t>(begin),
                      texts.begin() + static_cast<std::ptrdiff_t>(cut));
    begin = cut;
  }
  return runs;
}

void split_long_clips(double longest_s, std::vector<Clip>& clips, std::vector<std::string>& notes) {
  const ClipSplitter splitter(longest_s, clips);
  if (splitter.split_count == 0) return;
  notes.push_back(formatted(
      "{} longer than a record may be, and split into {} at the times that the list gives",
      counted(splitter.split_count, "clip is", "clips are"), splitter.piece_count));
}

}  // namespace xtts::corpus
