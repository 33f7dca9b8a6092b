// VctkSpeakers: what speaker-info.txt says of the speakers of VCTK: a table for people, with
// columns ID, AGE, GENDER, ACCENTS, REGION and COMMENTS, of which a row may lack some. A view of
// LayoutInput. One thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"

namespace xtts::corpus {

inline constexpr std::string_view kSpeakerInfo = "speaker-info.txt";

class VctkSpeakers {
 public:
  explicit VctkSpeakers(const LayoutInput& input) : input_(input) {}

  // Adds the speakers of the corpus whose folder the file lies in. False, with a note, where it
  // cannot be read: clips do without.
  bool read(const MetFile& file, ClipCollector& clips);
  // {"accent":"English","age":23,"gender":"F"} as far as known; empty: nothing is.
  [[nodiscard]] std::string extra_of(std::string_view base, std::string_view speaker) const;

 private:
  void read_row(std::string_view base, std::string_view row);

  const LayoutInput& input_;
  std::unordered_map<std::string, std::string> extras_;  // BASE/SPEAKER -> JSON
};

}  // namespace xtts::corpus
