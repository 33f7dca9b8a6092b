#include "plan/gathered_clips.hpp"

#include <utility>
#include <variant>

#include "base/try.hpp"
#include "corpus/lists/id_twice.hpp"
#include "formats/bytes.hpp"
#include "formats/preamble.hpp"

namespace xtts::plan {
namespace {

using corpus::Clip;
using corpus::ClipPlace;

constexpr std::uint64_t kProgressStride = 4096;

// In front of a row: the place where the clip was found.
constexpr std::uint32_t kNoList = UINT32_MAX;
constexpr std::size_t kPlaceBytes = 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t);

// No id holds a control character, so keys are in the order of data sets and ids.
void append_key(const Clip& clip, std::string& key) {
  key += clip.dataset.view();
  key += '\0';
  key += clip.id.view();
}

}  // namespace

std::uint32_t GatheredClips::number_of_list(const ClipPlace& place) {
  // Clips of one list come one after the other.
  if (!lists_.empty() && lists_.back().path == place.list)
    return static_cast<std::uint32_t>(lists_.size() - 1);
  const auto known = number_of_list_.find(place.list);
  if (known != number_of_list_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(lists_.size());
  lists_.push_back({std::string(place.list), place.split_of_list});
  number_of_list_.emplace(place.list, number);
  return number;
}

void GatheredClips::take(Clip clip, const ClipPlace& place) {
  if (!failure_.ok()) return;
  std::string key;
  append_key(clip, key);
  row_.clear();
  formats::append(row_, place.line == 0 ? kNoList : number_of_list(place));
  formats::append(row_, place.line);
  formats::append(row_, static_cast<std::uint32_t>(place.file.size()));
  row_ += place.file;
  pipeline::PartRowWriter().append(clip, interner_.of(clip), row_);
  failure_ = sorter_.add(key, row_);
  if (progress_ && count() % kProgressStride == 0) progress_(count());
}

Status GatheredClips::finish(std::size_t folder_count) {
  XTTS_TRY(failure_);
  folder_count_ = folder_count;
  return sorter_.finish();
}

GatheredClips::Place GatheredClips::take_place(std::string_view& row) {
  const auto bytes = formats::bytes_of(row);
  Place place;
  if (const auto list = formats::load<std::uint32_t>(bytes, 0); list != kNoList) place.list = list;
  place.line = formats::load<std::uint64_t>(bytes, sizeof(std::uint32_t));
  const auto file_bytes = formats::load<std::uint32_t>(bytes, kPlaceBytes - sizeof(std::uint32_t));
  place.file = row.substr(kPlaceBytes, file_bytes);
  row.remove_prefix(kPlaceBytes + file_bytes);
  return place;
}

ClipPlace GatheredClips::place_in_lists(const Place& place) const {
  ClipPlace found{.list = {}, .split_of_list = {}, .line = place.line, .file = place.file};
  if (!place.list) return found;
  found.list = lists_[*place.list].path;
  found.split_of_list = lists_[*place.list].split;
  return found;
}

formats::Reject GatheredClips::reject_of_second(const Clip& clip, const Place& place,
                                                std::string_view source_of_first,
                                                const Place& place_of_first) const {
  formats::Reject reject = corpus::reject_of_id_twice(
      clip.id, place_in_lists(place), place_in_lists(place_of_first), source_of_first);
  if (clip.dataset.empty()) return reject;
  // As discovery tells the problems of one of several corpora.
  const std::string prefix = clip.dataset + "/";
  reject.id.insert(0, prefix);
  reject.path.insert(0, prefix);
  return reject;
}

Status GatheredClips::for_each(const Use& use, const Refuse& refuse) const {
  XTTS_ASSIGN(const auto rows, sorter_.read());
  SharedText source_of_first;  // of the id at hand
  Place place_of_first;
  std::string last_key;
  for (bool is_begin = true;; is_begin = false) {
    XTTS_ASSIGN(const bool has_more, rows->next());
    if (!has_more) return {};
    const bool is_second = !is_begin && rows->key() == last_key;
    if (is_second && !refuse) continue;
    std::string_view row = rows->row();
    Place place = take_place(row);
    XTTS_ASSIGN(auto decoded, pipeline::PartRowReader(names(), folder_count_).take(row));
    if (!decoded) return formats::corrupt("a scratch file of the plan was cut");
    Clip& clip = std::get<Clip>(*decoded);
    if (is_second) {
      XTTS_TRY(refuse(reject_of_second(clip, place, source_of_first, place_of_first)));
      continue;
    }
    last_key = rows->key();
    source_of_first = clip.source;
    place_of_first = std::move(place);
    XTTS_TRY(use(clip));
  }
}

}  // namespace xtts::plan
