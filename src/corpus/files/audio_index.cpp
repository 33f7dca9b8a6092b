#include "corpus/files/audio_index.hpp"

#include <tuple>
#include <utility>

#include "base/nfc.hpp"
#include "corpus/files/audio_extensions.hpp"

namespace xtts::corpus {
namespace {

bool is_below(std::string_view folder, std::string_view path) {
  return folder.empty() ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

// The path decides between equal ranks: x.wav or x.WAV.
bool is_preferred(const TreeFile& left, const TreeFile& right) {
  return std::tie(*left.audio_rank, left.path) < std::tie(*right.audio_rank, right.path);
}

}  // namespace

AudioIndex::AudioIndex(const DataTree& tree) : tree_(tree), next_(tree.files.size(), kNone) {
  best_.reserve(tree.files.size());
  for (std::size_t i = 0; i < tree.files.size(); ++i) {
    if (tree.files[i].audio_rank) insert(static_cast<std::uint32_t>(i));
  }
}

void AudioIndex::insert(std::uint32_t file_index) {
  ++audio_count_;
  const TreeFile& file = tree_.files[file_index];
  const std::string_view stem = stem_of(file);
  if (file.is_named_otherwise && stem.size() != file.path.size())
    by_name_.emplace(file.path, file_index);
  const auto [place, is_new] = best_.try_emplace(stem, file_index);
  if (is_new) {
    std::string form_c = nfc(stem);
    if (form_c != stem) {
      const auto [other, is_first] = by_form_c_.try_emplace(std::move(form_c), stem);
      if (!is_first) other->second = {};
    }
    return;
  }
  std::uint32_t* link = &place->second;
  while (*link != kNone && is_preferred(tree_.files[*link], file)) link = &next_[*link];
  next_[file_index] = *link;
  *link = file_index;
}

const TreeFile* AudioIndex::preferred_of(std::string_view stem) const {
  const auto place = best_.find(stem);
  return place == best_.end() ? nullptr : &tree_.files[place->second];
}

AudioIndex::Match AudioIndex::find(std::string_view path) const {
  const Match exact = find_exactly(path);
  if (exact.file != nullptr) return exact;
  const std::string form_c = nfc(path);
  const Match found = form_c == path ? Match() : find_exactly(form_c);
  if (by_form_c_.empty()) return found;
  for (const std::string_view stem : {std::string_view(form_c), without_audio_extension(form_c)}) {
    const auto place = by_form_c_.find(std::string(stem));
    if (place == by_form_c_.end()) continue;
    if (place->second.empty()) return {};
    const Match match = find_exactly(std::string(place->second) + form_c.substr(stem.size()));
    if (match.file != nullptr) return found.file == nullptr ? match : Match();
  }
  return found;
}

AudioIndex::Match AudioIndex::find_exactly(std::string_view path) const {
  if (const auto named = by_name_.find(path); named != by_name_.end())
    return {&tree_.files[named->second], true, false};
  const std::string_view stem = without_audio_extension(path);
  if (stem.size() != path.size()) {
    const auto place = best_.find(stem);
    for (auto i = place == best_.end() ? kNone : place->second; i != kNone; i = next_[i]) {
      if (tree_.files[i].path == path) return {&tree_.files[i], true, false};
    }
  }
  const auto place = best_.find(path);
  if (place == best_.end()) return {};
  return {&tree_.files[place->second], false, next_[place->second] != kNone};
}

NamedAudio::NamedAudio(const DataTree& tree) {
  files_.reserve(tree.files.size());
  for (const TreeFile& file : tree.files) {
    if (!file.audio_rank) continue;
    files_.emplace(file_name(without_audio_extension(file.path)), &file);
  }
}

const TreeFile* NamedAudio::find(std::string_view folder, std::string_view stem) const {
  const TreeFile* best = nullptr;
  const auto [begin, end] = files_.equal_range(stem);
  for (auto it = begin; it != end; ++it) {
    const TreeFile* file = it->second;
    if (!is_below(folder, file->path)) continue;
    if (best == nullptr || is_preferred(*file, *best)) best = file;
  }
  return best;
}

}  // namespace xtts::corpus
