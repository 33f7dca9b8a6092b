// The lists of one Kaldi data folder that say something of utterances, by utterance: text, utt2spk
// and utt2lang. Owns the lists; what it hands out are views of them. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "corpus/list_text.hpp"
#include "corpus/listed_audio.hpp"
#include "corpus/listed_clips.hpp"

namespace xtts::corpus {

class UtteranceFacts {
 public:
  // Reads `path`, whose broken lines become problems of `clips`. Once.
  Status read(const LayoutInput& input, const std::string& path, ListedClips& clips);

  // What the list says of an utterance; empty where it says nothing.
  [[nodiscard]] std::string_view find(std::string_view utterance) const;
  // Whether the line of that utterance was no good, and is a problem already.
  [[nodiscard]] bool is_broken(std::string_view utterance) const;
  // The corpus has that utterance, be it good or bad.
  void expect(std::string_view utterance);
  // Utterances that were not expected.
  [[nodiscard]] std::uint64_t stray_count() const;

 private:
  struct Fact {
    std::string_view words;
    std::uint64_t line = 0;
    bool is_broken = false;
    bool is_expected = false;
  };

  ListSource source_;
  std::optional<ListText> list_;
  std::unordered_map<std::string_view, Fact> facts_;
};

}  // namespace xtts::corpus
