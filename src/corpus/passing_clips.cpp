#include "corpus/passing_clips.hpp"

#include <utility>

#include "base/try.hpp"
#include "corpus/lists/unread_lists.hpp"
#include "formats/split.hpp"

namespace xtts::corpus {

PassingClips::PassingClips(const formats::CorpusConfig& config, const formats::CorporaEntry* entry,
                           std::uint16_t folder, FoundClips& receiver, SpeakerRule speakers)
    : entry_(entry),
      folder_(folder),
      receiver_(receiver),
      speakers_(std::move(speakers)),
      language_(config.language),
      dataset_(entry == nullptr ? SharedText() : SharedText(entry->name)),
      split_(entry == nullptr ? std::nullopt : formats::split_named(entry->split)) {}

Result<std::unique_ptr<PassingClips>> PassingClips::create(const formats::CorpusConfig& config,
                                                           const formats::CorporaEntry* entry,
                                                           std::uint16_t folder,
                                                           FoundClips& receiver) {
  XTTS_ASSIGN(auto speakers, SpeakerRule::create(config));
  return std::unique_ptr<PassingClips>(
      new PassingClips(config, entry, folder, receiver, std::move(speakers)));
}

void PassingClips::take(Clip clip, const ClipPlace& place) {
  if (!has_text_) remember(clip);
  if (auto problem = set_facts_(clip)) {
    problems_.push_back(std::move(*problem));
    return;
  }
  if (clip.language.empty()) clip.language = language_;
  speakers_.apply(clip);
  if (entry_ != nullptr) place_in_corpus(clip);
  ++count_;
  receiver_.take(std::move(clip), place);
}

void PassingClips::remember(const Clip& clip) {
  has_text_ = has_text(clip);
  if (has_text_) telling_clips_.clear();
  const bool tells = has_text_ || !clip.extra_json.empty();
  if (tells && telling_clips_.size() < kClipsSeen) telling_clips_.push_back(clip);
}

void PassingClips::place_in_corpus(Clip& clip) {
  clip.dataset = dataset_;
  clip.folder = folder_;
  if (entry_->speaker.empty() && !clip.speaker.empty())
    clip.speaker = speakers_of_corpus_.of(entry_->name + "/" + clip.speaker);
  if (!split_) return;
  clip.split = *split_;
  clip.has_own_split = true;
}

}  // namespace xtts::corpus
