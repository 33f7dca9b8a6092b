#include "pipeline/speaker_numbers.hpp"

#include <algorithm>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"

namespace xtts::pipeline {
namespace {

constexpr std::size_t kNamesShown = 5;

std::string quoted(const std::string& name) {
  return formatted("'{}'", name);
}

std::string names_without_clip(const std::vector<std::string>& given, const NameSet& found) {
  std::string names;
  std::size_t count = 0;
  for (const std::string& name : given) {
    if (found.contains(name)) continue;
    if (count++ < kNamesShown) names += (names.empty() ? "" : ", ") + quoted(name);
  }
  if (count == 0) return {};
  if (count > kNamesShown) names += formatted(" and {} more", count - kNamesShown);
  return formatted("{} no clip: {}", counted(count, "name has", "names have"), names);
}

}  // namespace

Status check_speaker_numbers(const std::vector<std::string>& published,
                             const std::vector<std::string>& given) {
  const auto [ours, theirs] = std::ranges::mismatch(published, given);
  if (ours == published.end() || theirs == given.end()) return {};
  return {StatusCode::kMismatch,
          formatted("the cache numbers its speakers otherwise: number {} is {} there, and {} in "
                    "{}. Published numbers never change. Begin the file with the cache's names in "
                    "their order ('xtts-precompute info CACHE --json' has them), or leave {} out; "
                    "{} builds anew in the file's order",
                    ours - published.begin(), quoted(*ours), quoted(*theirs), option("speakers"),
                    option("speakers"), option_on("overwrite"))};
}

const std::vector<std::string>& numbers_to_keep(const std::vector<std::string>& published,
                                                const std::vector<std::string>& given) {
  return given.size() > published.size() ? given : published;
}

std::optional<std::string> note_on_speakers(const std::vector<std::string>& given,
                                            const std::vector<std::string>* published,
                                            const NameSet& found) {
  if (given.empty()) return std::nullopt;
  std::string note;
  if (published != nullptr && given.size() > published->size()) {
    note = "the cache keeps its numbers, and takes " +
           counted(given.size() - published->size(), "new name", "new names");
  } else if (published != nullptr) {
    note = "the cache has these numbers already";
  }
  if (const std::string idle = names_without_clip(given, found); !idle.empty())
    note += (note.empty() ? "" : "; ") + idle;
  if (note.empty()) return std::nullopt;
  return formatted("{}: {}", option("speakers"), note);
}

}  // namespace xtts::pipeline
