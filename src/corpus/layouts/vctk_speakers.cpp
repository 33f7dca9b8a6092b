#include "corpus/layouts/vctk_speakers.hpp"
#include "corpus/lists/clips_of_lines.hpp"

#include "corpus/lists/key_lines.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace {

constexpr std::size_t kAgeDigitsMax = 3;

// What follows the ID. Words are taken for what they look like, since columns may be empty.
nlohmann::json facts_of(std::string_view row) {
  nlohmann::json facts = nlohmann::json::object();
  std::string_view word = take_word(row);
  if (is_number(word) && word.size() <= kAgeDigitsMax) {
    facts["age"] = std::stoi(std::string(word));
    word = take_word(row);
  }
  if (word == "F" || word == "M") {
    facts["gender"] = std::string(word);
    word = take_word(row);
  }
  // Comments are in parentheses. Without age and gender the row is no row, or a header.
  if (!facts.empty() && !word.empty() && !word.starts_with('(')) {
    facts["accent"] = std::string(word);
  }
  return facts;
}

}  // namespace

bool VctkSpeakers::read(const MetFile& file, ClipCollector& clips) {
  auto list = read_list(input_, file.path);
  if (!list.ok()) {
    clips.note(printable(file.path) + " is not used: " + list.status().message());
    return false;
  }
  while (const auto line = list->next()) {
    if (!fault_of_text_bytes(line->text)) read_row(folder_of(file.path), line->text);
  }
  return true;
}

void VctkSpeakers::read_row(std::string_view base, std::string_view row) {
  const std::string_view id = take_word(row);
  const nlohmann::json facts = facts_of(row);
  if (facts.empty()) return;
  // Release 0.80 leaves the p of p225 out.
  const std::string speaker = is_number(id) ? "p" + std::string(id) : std::string(id);
  extras_.emplace(join_path(base, speaker), formats::dump_canonical(facts));
}

std::string VctkSpeakers::extra_of(std::string_view base, std::string_view speaker) const {
  const auto place = extras_.find(join_path(base, speaker));
  return place == extras_.end() ? std::string() : place->second;
}

}  // namespace xtts::corpus
