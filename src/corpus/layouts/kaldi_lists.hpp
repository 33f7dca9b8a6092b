// The lists of one Kaldi data folder that say something of utterances, by utterance: text, utt2spk
// and utt2lang. Keeps their words, and shares them with the clips. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/shared_text.hpp"
#include "corpus/digest_hash.hpp"
#include "corpus/lists/audio_finder.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/shared_labels.hpp"

namespace xtts::corpus {

class UtteranceFacts {
 public:
  // Texts differ, names repeat.
  enum class Words : std::uint8_t { kTexts, kNames };
  explicit UtteranceFacts(Words words) : words_(words) {}

  // Reads `path`, whose broken lines become problems of `clips`. Once.
  Status read(const LayoutInput& input, const std::string& path, ClipCollector& clips);

  // What the list says of an utterance; empty where it says nothing.
  [[nodiscard]] SharedText find(std::string_view utterance) const;
  // Whether the line of that utterance was no good, and is a problem already.
  [[nodiscard]] bool is_broken(std::string_view utterance) const;
  // The corpus has that utterance, be it good or bad.
  void expect(std::string_view utterance);
  // Utterances that were not expected.
  [[nodiscard]] std::uint64_t stray_count() const;
  // Of memory, without the words: the clips count these.
  [[nodiscard]] std::uint64_t held_bytes() const { return kFactBytes * facts_.size(); }

 private:
  struct Fact {
    SharedText words;
    std::uint32_t line = 0;
    bool is_broken = false;
    bool is_expected = false;
  };

  // With what an entry of a table takes beside it.
  static constexpr std::uint64_t kFactBytes = sizeof(Digest) + sizeof(Fact) + 32;

  Words words_;
  ListSource source_;
  SharedLabels names_;
  std::unordered_map<Digest, Fact, DigestHash> facts_;  // by what stands for the utterance
};

}  // namespace xtts::corpus
