#include "recipe/corpora_file.hpp"

#include <array>
#include <map>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/split.hpp"
#include "recipe/recipe_file.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::recipe {
namespace {

using formats::CorporaEntry;
using Kind = YamlNode::Kind;

// Folders outside of the corpus that hold its audio, too: one, or a list.
constexpr const char* kAudioRoot = "audio_root";

struct EntryKey {
  const char* name;
  std::string& (*field)(CorporaEntry& entry);
};
#define XTTS_FIELD(path) +[](CorporaEntry& entry) -> std::string& { return entry.path; }
constexpr std::array kKeys = {EntryKey{"name", XTTS_FIELD(name)},
                              EntryKey{"path", XTTS_FIELD(folder)},
                              EntryKey{"layout", XTTS_FIELD(layout)},
                              EntryKey{"language", XTTS_FIELD(language)},
                              EntryKey{"speaker", XTTS_FIELD(speaker)},
                              EntryKey{"speaker_pattern", XTTS_FIELD(speaker_pattern)},
                              EntryKey{"split", XTTS_FIELD(split)},
                              EntryKey{"audio_column", XTTS_FIELD(columns.audio)},
                              EntryKey{"id_column", XTTS_FIELD(columns.id)},
                              EntryKey{"text_column", XTTS_FIELD(columns.text)},
                              EntryKey{"normalized_column", XTTS_FIELD(columns.normalized)},
                              EntryKey{"speaker_column", XTTS_FIELD(columns.speaker)},
                              EntryKey{"language_column", XTTS_FIELD(columns.language)},
                              EntryKey{"split_column", XTTS_FIELD(columns.split)},
                              EntryKey{"start_column", XTTS_FIELD(columns.start)},
                              EntryKey{"end_column", XTTS_FIELD(columns.end)},
                              EntryKey{"encoding", XTTS_FIELD(encoding)}};
#undef XTTS_FIELD

const EntryKey* find_key(std::string_view name) {
  for (const EntryKey& key : kKeys) {
    if (name == key.name) return &key;
  }
  return nullptr;
}

std::string suggestion(const std::string& name) {
  std::vector<std::string> names;
  for (const EntryKey& key : kKeys) names.emplace_back(key.name);
  names.emplace_back(kAudioRoot);
  const std::string nearest = nearest_name(name, names);
  return nearest.empty() ? "" : formatted(", did you mean {}?", nearest);
}

// It becomes the part of an id before the '/', and a word of messages.
bool is_fit_as_name(std::string_view name) {
  if (name.empty() || name.size() > 100) return false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || byte < 0x20 || byte == 0x7F) return false;
  }
  return true;
}

class CorporaReader {
 public:
  CorporaReader(std::string origin, std::string folder)
      : origin_(std::move(origin)), folder_(std::move(folder)) {}

  Result<std::vector<CorporaEntry>> read(const YamlNode& list) {
    for (const YamlNode& item : list.items) read_entry(item);
    if (list.items.empty()) add(list.line, "names no corpus");
    if (!problems_.empty()) return Status(StatusCode::kInvalidArgument, problems_);
    return std::move(entries_);
  }

 private:
  void add(std::uint32_t line, const std::string& problem) {
    if (!problems_.empty()) problems_ += '\n';
    problems_ += formatted("{}:{}: {}", origin_, line, problem);
  }

  void read_entry(const YamlNode& node) {
    if (node.kind != Kind::kMap) {
      return add(node.line,
                 "expected 'name: ...' and 'path: ...', found " + std::string(describe(node)));
    }
    CorporaEntry entry;
    std::map<std::string, std::uint32_t> lines;
    for (const YamlEntry& pair : node.entries) {
      const EntryKey* key = find_key(pair.key);
      if (pair.key == kAudioRoot) {
        if (!lines.emplace(pair.key, pair.line).second) {
          add(pair.line, pair.key + ": given twice");
        } else {
          read_audio_roots(pair, entry);
        }
      } else if (key == nullptr) {
        add(pair.line, formatted("{}: unknown key{}", pair.key, suggestion(pair.key)));
      } else if (!lines.emplace(pair.key, pair.line).second) {
        add(pair.line, pair.key + ": given twice");
      } else if (pair.value.kind != Kind::kScalar || pair.value.text.empty()) {
        add(pair.line, formatted("{}: takes a text, found {}", pair.key, describe(pair.value)));
      } else {
        key->field(entry) = pair.value.text;
      }
    }
    check(node.line, lines, entry);
    if (!entry.folder.empty() && entry.folder.front() != '/')
      entry.folder = join_path(folder_, entry.folder);
    entries_.push_back(std::move(entry));
  }

  void read_audio_roots(const YamlEntry& pair, CorporaEntry& entry) {
    const auto read_folder = [&](const YamlNode& node) {
      if (node.kind != Kind::kScalar || node.text.empty()) {
        return add(node.line, formatted("{}: takes a folder or a list of them, found {}",
                                        std::string(kAudioRoot), describe(node)));
      }
      entry.audio_roots.push_back(node.text.front() == '/' ? node.text
                                                           : join_path(folder_, node.text));
    };
    if (pair.value.kind != Kind::kList) return read_folder(pair.value);
    for (const YamlNode& item : pair.value.items) read_folder(item);
  }

  void check(std::uint32_t line, const std::map<std::string, std::uint32_t>& lines,
             const CorporaEntry& entry) {
    const auto line_of = [&](const char* key) {
      const auto found = lines.find(key);
      return found == lines.end() ? line : found->second;
    };
    for (const char* key : {"name", "path"}) {
      if (!lines.contains(key)) add(line, std::string(key) + ": missing");
    }
    if (lines.contains("name") && !is_fit_as_name(entry.name)) {
      add(line_of("name"), "name: at most 100 bytes without '/' and control characters");
    } else if (!entry.name.empty() && !names_.emplace(entry.name, line).second) {
      add(line_of("name"), formatted("name: {} is the name of the corpus on line {} too",
                                     entry.name, names_[entry.name]));
    }
    if (!entry.speaker.empty() && !entry.speaker_pattern.empty())
      add(line_of("speaker_pattern"), "speaker_pattern: speaker is given too; give one");
    if (!entry.split.empty() && !formats::split_named(entry.split))
      add(line_of("split"), "split: takes train, validation or test");
  }

  std::string origin_;
  std::string folder_;
  std::map<std::string, std::uint32_t> names_;
  std::vector<CorporaEntry> entries_;
  std::string problems_;
};

}  // namespace

bool is_corpora_file(const std::string& data) {
  return data.ends_with(".yaml") || data.ends_with(".yml");
}

Result<std::vector<CorporaEntry>> load_corpora(Env& env, const std::string& path) {
  XTTS_ASSIGN(const std::string yaml, read_text_file(env, path, kYamlBytesMax));
  XTTS_ASSIGN(const YamlNode root, read_yaml(yaml, path));
  if (root.kind != Kind::kList) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{}:{}: expected a list of corpora ('- name: ...'), found {}", path,
                            root.line, describe(root)));
  }
  return CorporaReader(path, parent_path(path)).read(root);
}

}  // namespace xtts::recipe
