// Speakers: one name for all clips, or a regular expression on file names; and the file that gives
// names their numbers. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "corpus/clips/clip.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::corpus {

// Sets the speaker of each clip as the config says; without a config, the list's speaker stays.
class SpeakerRule {
 public:
  // kInvalidArgument: an invalid pattern, or both a name and a pattern.
  [[nodiscard]] static Result<SpeakerRule> create(const formats::CorpusConfig& config);
  SpeakerRule(SpeakerRule&&) noexcept;
  SpeakerRule& operator=(SpeakerRule&&) noexcept;
  ~SpeakerRule();

  void apply(Clip& clip);
  // How many file names did not match; nullopt: all did.
  [[nodiscard]] std::optional<std::string> note() const;

 private:
  struct Rule;
  explicit SpeakerRule(std::unique_ptr<Rule> rule);

  std::unique_ptr<Rule> rule_;  // <regex> costs a second in every file that includes it
};

// The same for clips that are in memory, with its note.
[[nodiscard]] Status apply_speakers(const formats::CorpusConfig& config, std::vector<Clip>& clips,
                                    std::vector<std::string>& notes);

// The names in a small list (base/small_list.hpp), one a line. kInvalidArgument, with file and
// line: a line that is empty, begins or ends with a blank, or cannot name a speaker; a name twice.
[[nodiscard]] Result<std::vector<std::string>> read_speaker_names(Env& env, const std::string& path,
                                                                  const std::string& encoding);

}  // namespace xtts::corpus
