#include "corpus/lists/unread_lists.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/column_files.hpp"
#include "corpus/files/names.hpp"
#include "corpus/lists/list_candidates.hpp"

namespace xtts::corpus {
namespace {

constexpr std::array<std::string_view, 6> kListEndings{"csv", "tsv", "jsonl", "json", "txt", "lst"};
constexpr std::size_t kLinesSeen = 64;
constexpr std::size_t kListsNamed = 3;
constexpr std::size_t kHeaderCharacters = 80;

struct Candidate {
  std::string path;
  bool is_packed = false;
};

// The names of DATA's audio, with and without extension.
class AudioNames {
 public:
  explicit AudioNames(const DataTree& tree) {
    for (const TreeFile& file : tree.files) {
      if (!file.audio_rank) continue;
      const std::string_view name = file_name(file.path);
      names_.insert(name);
      names_.insert(without_audio_extension(name));
      stems_.insert(without_audio_extension(file.path));
    }
  }

  [[nodiscard]] bool has_beside(std::string_view stem) const { return stems_.contains(stem); }

  [[nodiscard]] bool is_named_by(std::string_view line) const {
    if (has(line.substr(0, line.find_first_of(" \t")))) return true;
    while (!line.empty()) {
      const std::size_t end = std::min(line.find_first_of(",;|\t\"'"), line.size());
      if (has(line.substr(0, end))) return true;
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    return false;
  }

 private:
  [[nodiscard]] bool has(std::string_view field) const {
    field = trimmed(field);
    if (const std::size_t slash = field.find_last_of("/\\"); slash != std::string_view::npos)
      field.remove_prefix(slash + 1);
    return !field.empty() && names_.contains(field);
  }

  std::unordered_set<std::string_view> names_;
  std::unordered_set<std::string_view> stems_;  // paths
};

std::optional<std::string_view> list_ending(std::string_view path) {
  const std::string_view extension = file_extension(path);
  const auto found = std::ranges::find_if(kListEndings, [&](std::string_view ending) {
    return equals_ignoring_case(extension, ending);
  });
  return found == kListEndings.end() ? std::nullopt : std::optional(*found);
}

// Up to kListCandidatesMax files of each kind: more would be one file for each clip.
std::vector<Candidate> candidates_of(const DataTree& tree) {
  std::map<std::string_view, std::vector<Candidate>> by_ending;
  for (const TreeFile& file : tree.files) {
    if (file.audio_rank) continue;
    std::string_view path = file.path;
    const bool is_packed = equals_ignoring_case(file_extension(path), "gz");
    if (is_packed) path.remove_suffix(3);
    const auto ending = list_ending(path);
    // A packed .txt or .json may be anything.
    if (!ending || (is_packed && (*ending == "txt" || *ending == "json"))) continue;
    auto& candidates = by_ending[*ending];
    if (candidates.size() <= kListCandidatesMax) candidates.push_back({file.path, is_packed});
  }
  std::vector<Candidate> all;
  for (auto& [ending, candidates] : by_ending) {
    if (candidates.size() > kListCandidatesMax) continue;
    std::ranges::move(candidates, std::back_inserter(all));
  }
  return all;
}

// Parquet and Arrow files may hold the texts of loose audio, as metadata.parquet does.
std::vector<std::string> column_files_of(const DataTree& tree) {
  std::vector<std::string> files;
  for (const TreeFile& file : tree.files) {
    if (!file.audio_rank && column_file_kind(file.path)) files.push_back(file.path);
    if (files.size() > kListCandidatesMax) return {};
  }
  return files;
}

std::string_view stem_of(const Candidate& candidate) {
  std::string_view stem = candidate.path;
  for (int endings = candidate.is_packed ? 2 : 1; endings > 0; --endings)
    stem.remove_suffix(file_extension(stem).size() + 1);
  return stem;
}

// Most lines must name audio; a header line need not.
bool names_audio(std::string_view text, const AudioNames& names) {
  std::size_t line_count = 0;
  std::size_t named_count = 0;
  while (line_count < kLinesSeen) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    ++line_count;
    named_count += names.is_named_by(line) ? 1U : 0U;
  }
  return named_count > 0 && 2 * named_count + 1 >= line_count;
}

std::string beginning_for_people(std::string_view text) {
  std::string line(first_line(text).substr(0, kHeaderCharacters));
  return formatted(" begins with '{}'", printable(line));
}

std::string in_words(const std::vector<std::string>& lists) {
  std::string text;
  const std::size_t shown = shown_of(lists.size(), kListsNamed);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + lists[i];
  if (lists.size() > shown) text += formatted(" and {} more", lists.size() - shown);
  return text;
}

bool looks_like_sentence(const std::string& text) {
  return text.find(' ') != std::string::npos;
}

}  // namespace

Result<std::optional<std::string>> find_unread_lists(const LayoutInput& input,
                                                     std::string_view but_below) {
  std::vector<Candidate> candidates = candidates_of(input.tree);
  std::vector<std::string> column_files = column_files_of(input.tree);
  if (!but_below.empty()) {
    const std::string folder = std::string(but_below) + "/";
    std::erase_if(candidates, [&](const Candidate& one) { return one.path.starts_with(folder); });
    std::erase_if(column_files, [&](const std::string& one) { return one.starts_with(folder); });
  }
  if (candidates.empty() && column_files.empty()) return std::optional<std::string>();
  const AudioNames names(input.tree);
  std::vector<std::string> found;
  for (const std::string& file : column_files) {
    const std::size_t suffix_bytes = file_extension(file).size() + 1;
    if (!names.has_beside(file.substr(0, file.size() - suffix_bytes)))
      found.push_back(printable(file));
  }
  for (const Candidate& candidate : candidates) {
    if (names.has_beside(stem_of(candidate))) continue;
    if (candidate.is_packed) {
      found.push_back(printable(candidate.path));
      continue;
    }
    XTTS_ASSIGN(std::string text, beginning_of(input, candidate.path));
    std::erase(text, '\0');  // UTF-16 without its mark
    if (names_audio(text, names))
      found.push_back(printable(candidate.path) +
                      (found.size() <= kListsNamed ? beginning_for_people(text) : std::string()));
  }
  return found.empty() ? std::optional<std::string>() : std::optional(in_words(found));
}

std::optional<std::string> find_unread_text(std::span<const Clip> clips) {
  std::map<std::string, std::set<std::string>> sentences;  // by column
  std::size_t row_count = 0;
  for (const Clip& clip : clips) {
    if (!clip.text_raw.empty() || !clip.text_normalized.empty()) return std::nullopt;
    if (clip.extra_json.empty() || row_count == kClipsSeen) continue;
    ++row_count;
    const auto extra = nlohmann::json::parse(clip.extra_json.view(), nullptr, false);
    if (!extra.is_object()) continue;
    for (const auto& [name, value] : extra.items()) {
      const auto* const text = value.get_ptr<const std::string*>();
      if (text != nullptr && looks_like_sentence(*text)) sentences[name].insert(*text);
    }
  }
  // Names of genres and places repeat; sentences do not.
  for (const auto& [name, texts] : sentences) {
    if (row_count > 1 && 4 * texts.size() >= 3 * row_count) return "column " + printable(name);
  }
  return std::nullopt;
}

}  // namespace xtts::corpus
