// PassingClips: what discovery does to each clip of one corpus that passes on to a FoundClips, in
// place of a corpus in memory: its source is asked for size and times, its speaker and language are
// set, and what an entry of a corpora.yaml says of it. Splits, subset and repeated ids are the
// receiver's. One thread at a time. Memory: what lists of unknown columns need, a few clips.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corpus/clips/shared_labels.hpp"
#include "corpus/clips/speakers.hpp"
#include "corpus/lists/layout_input.hpp"
#include "formats/corpora.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {

class PassingClips final : public FoundClips {
 public:
  // Sets a clip's facts of its source, or tells why there are none.
  using SetFacts = std::function<std::optional<Reject>(Clip& clip)>;

  // `entry`: null where DATA is one corpus. `folder`: in Corpus::folders.
  [[nodiscard]] static Result<std::unique_ptr<PassingClips>> create(
      const formats::CorpusConfig& config, const formats::CorporaEntry* entry, std::uint16_t folder,
      FoundClips& receiver);

  // Call it before the first clip.
  void set_facts_by(SetFacts set_facts) { set_facts_ = std::move(set_facts); }

  void take(Clip clip, const ClipPlace& place) override;
  [[nodiscard]] Status status() const override { return receiver_.status(); }

  [[nodiscard]] std::uint64_t count() const { return count_; }  // of clips that went on
  [[nodiscard]] std::vector<Reject>& problems() { return problems_; }
  [[nodiscard]] std::optional<std::string> speaker_note() const { return speakers_.note(); }
  // Clips that tell as much as all of them whether a column of sentences is not known as the text.
  [[nodiscard]] const std::vector<Clip>& telling_clips() const { return telling_clips_; }

 private:
  PassingClips(const formats::CorpusConfig& config, const formats::CorporaEntry* entry,
               std::uint16_t folder, FoundClips& receiver, SpeakerRule speakers);
  void remember(const Clip& clip);
  void place_in_corpus(Clip& clip);

  const formats::CorporaEntry* const entry_;
  const std::uint16_t folder_;
  FoundClips& receiver_;
  SpeakerRule speakers_;
  SetFacts set_facts_;
  const SharedText language_;
  const SharedText dataset_;
  const std::optional<Split> split_;
  SharedLabels speakers_of_corpus_;
  std::uint64_t count_ = 0;
  std::vector<Reject> problems_;
  bool has_text_ = false;
  std::vector<Clip> telling_clips_;  // the first with further fields; one with a text, if any
};

}  // namespace xtts::corpus
