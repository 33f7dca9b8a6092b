#include "doctor/yaml_edit.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "doctor/yaml_scalar.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::doctor {
namespace {

using recipe::YamlEntry;
using recipe::YamlNode;
using Kind = YamlNode::Kind;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kIndentOfNewFile = 2;

struct Line {
  std::string text;  // without its end
  std::string end;   // "\n", "\r\n", or nothing
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::size_t feed = text.find('\n');
    Line line{.text = std::string(text.substr(0, feed)), .end = ""};
    if (feed != std::string_view::npos) line.end = "\n";
    text.remove_prefix(feed == std::string_view::npos ? text.size() : feed + 1);
    if (!line.end.empty() && line.text.ends_with('\r')) {
      line.text.pop_back();
      line.end = "\r\n";
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string text_of(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) {
    text += line.text;
    text += line.end;
  }
  return text;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::size_t after_blanks(std::string_view text, std::size_t from) {
  while (from < text.size() && is_blank(text[from])) ++from;
  return from;
}

std::size_t begin_of(std::string_view line) {
  return line.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

std::size_t indent_of(std::string_view line) {
  const std::size_t begin = begin_of(line);
  const std::size_t end = line.find_first_not_of(' ', begin);
  return (end == std::string_view::npos ? line.size() : end) - begin;
}

bool is_empty_line(std::string_view line) {
  return after_blanks(line, begin_of(line)) == line.size();
}

bool is_comment_line(std::string_view line) {
  const std::size_t at = after_blanks(line, begin_of(line));
  return at < line.size() && line[at] == '#';
}

bool is_document_mark(std::string_view line) {
  return line == "---" || line == "..." || line.starts_with("--- ") || line.starts_with("... ");
}

// Finds the end of a quoted text that begins at `from`. Empty: it ends on another line.
std::optional<std::size_t> end_of_quoted(std::string_view line, std::size_t from) {
  const char quote = line[from];
  for (std::size_t at = from + 1; at < line.size(); ++at) {
    if (quote == '"' && line[at] == '\\') {
      ++at;
    } else if (line[at] == quote) {
      if (quote == '\'' && at + 1 < line.size() && line[at + 1] == quote) {
        ++at;
        continue;
      }
      return at + 1;
    }
  }
  return std::nullopt;
}

std::size_t end_of_plain(std::string_view line, std::size_t from) {
  std::size_t end = line.size();
  for (std::size_t at = from + 1; at < line.size(); ++at) {
    if (line[at] != '#' || !is_blank(line[at - 1])) continue;
    end = at;
    break;
  }
  while (end > from && is_blank(line[end - 1])) --end;
  return end;
}

// Where the value of "key: value  # note" stands in its line.
struct ValuePlace {
  std::size_t begin = 0;
  std::size_t end = 0;  // `begin`: there is no value
  char quote = 0;
};

Status refuse(std::string_view origin, std::uint32_t line, const std::string& reason) {
  return {StatusCode::kUnsupported, std::string(origin) + ":" + std::to_string(line) + ": " +
                                        reason + ", so this line is for you to change"};
}

std::optional<std::size_t> after_key(std::string_view line, std::string_view key) {
  std::size_t at = after_blanks(line, begin_of(line));
  if (at < line.size() && (line[at] == '"' || line[at] == '\'')) {
    const auto end = end_of_quoted(line, at);
    if (!end || line.substr(at + 1, *end - at - 2) != key) return std::nullopt;
    at = *end;
  } else {
    if (line.substr(at, key.size()) != key) return std::nullopt;
    at += key.size();
  }
  at = after_blanks(line, at);
  if (at == line.size() || line[at] != ':') return std::nullopt;
  ++at;
  if (at < line.size() && !is_blank(line[at])) return std::nullopt;
  return at;
}

// Says why a value that begins with `first` is left alone. Empty: it is not.
std::string why_refused(char first) {
  switch (first) {
    case '&':
      return "the value has an anchor";
    case '!':
      return "the value has a tag";
    case '|':
    case '>':
      return "the value is a block of text";
    case '{':
    case '[':
      return "the value stands in braces or brackets";
    default:
      return {};
  }
}

Result<ValuePlace> find_value(std::string_view line, const YamlEntry& entry,
                              std::string_view origin) {
  const auto colon = after_key(line, entry.key);
  if (!colon) return refuse(origin, entry.line, "the key does not stand alone at its line's start");
  const std::size_t at = after_blanks(line, *colon);
  ValuePlace place{.begin = at, .end = at};
  if (at == line.size() || line[at] == '#') {
    place.begin = place.end = *colon;
    return place;
  }
  if (const std::string reason = why_refused(line[at]); !reason.empty())
    return refuse(origin, entry.line, reason);
  if (line[at] == '"' || line[at] == '\'') {
    const auto end = end_of_quoted(line, at);
    if (!end) return refuse(origin, entry.line, "the value takes several lines");
    place.quote = line[at];
    place.end = *end;
  } else {
    place.end = end_of_plain(line, at);
  }
  return place;
}

std::string quoted(std::string_view value, char quote) {
  std::string out(1, quote);
  for (const char c : value) {
    if (quote == '\'' && c == '\'') out += '\'';
    if (quote == '"' && (c == '"' || c == '\\')) out += '\\';
    out += c;
  }
  return out + quote;
}

// A text without quotes must be a text to PyYAML, and must not hold what YAML gives a meaning.
bool may_be_plain(std::string_view value) {
  if (kind_of_plain(value) != ScalarKind::kText) return false;
  if (is_blank(value.front()) || is_blank(value.back())) return false;
  return value.find_first_of("#:{}[],&*!|>'\"%@`?") == std::string_view::npos &&
         !value.starts_with('-') && value != "=" && value != "<<" && value != "y" && value != "n";
}

// A comment behind the value keeps its column, if it has the blanks for that.
void replace_value(std::string& line, const ValuePlace& place, std::string_view word) {
  const std::size_t length = place.end - place.begin;
  const std::size_t note = line.find_first_not_of(' ', place.end);
  const std::size_t gap = note == std::string::npos ? 0 : note - place.end;
  if (gap > 0 && line[note] == '#') {
    if (word.size() > length)
      line.erase(place.end, std::min(word.size() - length, gap - 1));
    else
      line.insert(place.end, length - word.size(), ' ');
  }
  line.replace(place.begin, length, word);
}

std::string written(std::string_view value, ValueStyle style, char quote) {
  if (style == ValueStyle::kPlain) return std::string(value);
  if (quote != 0) return quoted(value, quote);
  return may_be_plain(value) ? std::string(value) : quoted(value, '"');
}

// --- trees ----------------------------------------------------------------------------------

bool is_same(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.text != b.text || a.quoted != b.quoted ||
      a.items.size() != b.items.size() || a.entries.size() != b.entries.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!is_same(a.items[i], b.items[i])) return false;
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key) return false;
    if (!is_same(a.entries[i].value, b.entries[i].value)) return false;
  }
  return true;
}

struct Key {
  std::string section;
  std::string name;  // empty: the section itself
};

Key split(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return {.section = std::string(key), .name = ""};
  return {.section = std::string(key.substr(0, dot)), .name = std::string(key.substr(dot + 1))};
}

// The only entry of that name; null where there is none, kUnsupported where there are two.
Result<YamlEntry*> find_entry(YamlNode& map, std::string_view key, std::string_view origin) {
  YamlEntry* found = nullptr;
  for (YamlEntry& entry : map.entries) {
    if (entry.key != key) continue;
    if (found != nullptr)
      return refuse(origin, entry.line, std::string(key) + " stands twice in the file");
    found = &entry;
  }
  return found;
}

// --- edits ----------------------------------------------------------------------------------

class Editor {
 public:
  Editor(std::string_view text, std::string_view origin, std::string_view key)
      : origin_(origin), lines_(lines_of(text)), key_(split(key)) {}

  // Parses the text, and finds the section and the key.
  Status open() {
    XTTS_ASSIGN(root_, recipe::read_yaml_map(text_of(lines_), origin_));
    XTTS_ASSIGN(section_, find_entry(root_, key_.section, origin_));
    if (section_ == nullptr) return {};
    line_of_key_ = section_->line;
    if (key_.name.empty()) return {};
    XTTS_TRY(check_section());
    XTTS_ASSIGN(entry_, find_entry(section_->value, key_.name, origin_));
    if (entry_ != nullptr) line_of_key_ = entry_->line;
    return {};
  }

  Result<std::string> set(std::string_view value, ValueStyle style) {
    YamlNode wanted;
    wanted.kind = Kind::kScalar;
    wanted.text = value;
    if (section_ == nullptr) {
      add_section(value, style);
      YamlEntry section{.key = key_.section, .line = 0, .value = {}};
      section.value.kind = Kind::kMap;
      section.value.entries.push_back({.key = key_.name, .line = 0, .value = wanted});
      root_.entries.push_back(std::move(section));
      return finish(&root_.entries.back().value.entries.back().value);
    }
    if (entry_ == nullptr) {
      XTTS_TRY(add_key(value, style));
      section_->value.kind = Kind::kMap;
      section_->value.entries.push_back({.key = key_.name, .line = 0, .value = wanted});
      return finish(&section_->value.entries.back().value);
    }
    if (entry_->value.kind == Kind::kMap || entry_->value.kind == Kind::kList)
      return refuse(origin_, entry_->line, "the value has several parts");
    std::string& line = lines_[entry_->line - 1].text;
    XTTS_ASSIGN(const ValuePlace place, find_value(line, *entry_, origin_));
    std::string word = written(value, style, place.quote);
    const bool is_empty = place.begin == place.end;
    if (is_empty) word.insert(0, 1, ' ');
    replace_value(line, place, word);
    entry_->value = std::move(wanted);
    return finish(&entry_->value);
  }

  Result<std::string> remove() {
    YamlNode& map = key_.name.empty() ? root_ : section_->value;
    YamlEntry* const entry = key_.name.empty() ? section_ : entry_;
    const std::size_t first = entry->line - 1;
    if (!after_key(lines_[first].text, entry->key))
      return refuse(origin_, entry->line, "the key does not stand alone at its line's start");
    const std::size_t indent = indent_of(lines_[first].text);
    const std::size_t end = end_of_entry(map, *entry);
    for (std::size_t at = first; at < end; ++at) {
      std::string& line = lines_[at].text;
      if (is_empty_line(line)) continue;
      const std::size_t shared = std::min(indent, indent_of(line));
      line.insert(begin_of(line) + shared, "# ");
    }
    std::erase_if(map.entries, [&](const YamlEntry& one) { return &one == entry; });
    if (map.entries.empty()) map.kind = Kind::kNull;
    return finish(nullptr);
  }

  [[nodiscard]] bool has_target() const {
    return section_ != nullptr && (key_.name.empty() || entry_ != nullptr);
  }

 private:
  // Adding a key or changing one in a section that an alias repeats would change other sections.
  Status check_section() {
    const Kind kind = section_->value.kind;
    if (kind != Kind::kMap && kind != Kind::kNull)
      return refuse(origin_, section_->line,
                    section_->key + " is " + std::string(describe(section_->value)));
    const std::string& line = lines_[section_->line - 1].text;
    const auto colon = after_key(line, section_->key);
    if (!colon) return refuse(origin_, section_->line, "the section does not begin its line");
    const std::size_t at = after_blanks(line, *colon);
    if (at == line.size() || line[at] == '#') return {};
    const std::string reason = why_refused(line[at]);
    return refuse(origin_, section_->line,
                  reason.empty() ? section_->key + " begins behind its colon" : reason);
  }

  // The line behind the last one that belongs to `entry`.
  [[nodiscard]] std::size_t end_of_entry(const YamlNode& map, const YamlEntry& entry) const {
    std::size_t end = lines_.size();
    for (const YamlEntry& other : root_.entries)
      if (other.line > entry.line) end = std::min<std::size_t>(end, other.line - 1);
    for (const YamlEntry& other : map.entries)
      if (other.line > entry.line) end = std::min<std::size_t>(end, other.line - 1);
    while (end > entry.line && is_between(lines_[end - 1].text)) --end;
    return end;
  }

  static bool is_between(std::string_view line) {
    return is_empty_line(line) || is_comment_line(line) || is_document_mark(line);
  }

  // The end of a line that is put behind `at`. The last line of the text may lack one.
  std::string end_behind(std::size_t at) {
    if (lines_[at].end.empty()) {
      const bool has_carriage =
          std::ranges::any_of(lines_, [](const Line& line) { return line.end == "\r\n"; });
      lines_[at].end = has_carriage ? "\r\n" : "\n";
      return "";
    }
    return lines_[at].end;
  }

  [[nodiscard]] std::size_t indent_of_section(const YamlEntry& section) const {
    if (section.value.entries.empty()) return 0;
    return indent_of(lines_[section.value.entries.front().line - 1].text);
  }

  [[nodiscard]] std::size_t indent_of_file() const {
    for (const YamlEntry& section : root_.entries)
      if (const std::size_t indent = indent_of_section(section); indent > 0) return indent;
    return kIndentOfNewFile;
  }

  Status add_key(std::string_view value, ValueStyle style) {
    std::size_t indent = indent_of_section(*section_);
    if (indent == 0) indent = indent_of_file();
    std::size_t end = lines_.size();
    for (const YamlEntry& other : root_.entries)
      if (other.line > section_->line) end = std::min<std::size_t>(end, other.line - 1);
    const auto belongs = [&](std::string_view line) {
      return !is_between(line) || (is_comment_line(line) && indent_of(line) >= indent);
    };
    while (end > section_->line && !belongs(lines_[end - 1].text)) --end;
    insert_behind(end - 1, std::string(indent, ' ') + key_.name + ": " + written(value, style, 0));
    return {};
  }

  void insert_behind(std::size_t at, std::string text) {
    Line line{.text = std::move(text), .end = end_behind(at)};
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(line));
  }

  void add_section(std::string_view value, ValueStyle style) {
    std::size_t last = lines_.size();
    while (last > 1 &&
           (is_empty_line(lines_[last - 1].text) || is_document_mark(lines_[last - 1].text)))
      --last;
    insert_behind(last - 1, key_.section + ":");
    insert_behind(last,
                  std::string(indent_of_file(), ' ') + key_.name + ": " + written(value, style, 0));
  }

  // `changed`: the node whose quotes are the new text's.
  Result<std::string> finish(YamlNode* changed) {
    std::string text = text_of(lines_);
    const auto made = recipe::read_yaml_map(text, origin_);
    const bool is_emptied = root_.entries.empty();
    if (is_emptied) return refuse(origin_, 1, "the file would hold nothing");
    if (!made.ok()) return refuse(origin_, line_of_key_, "the edit would not be YAML");
    if (changed != nullptr) {
      const YamlNode before = *changed;
      changed->quoted = true;
      if (is_same(root_, *made)) return text;
      *changed = before;
    }
    if (!is_same(root_, *made))
      return refuse(origin_, line_of_key_, "the edit would change more than this value");
    return text;
  }

  std::string_view origin_;
  std::vector<Line> lines_;
  Key key_;
  YamlNode root_;                 // as the text is to be, once an edit is made
  YamlEntry* section_ = nullptr;  // within root_
  YamlEntry* entry_ = nullptr;
  std::uint32_t line_of_key_ = 1;
};

}  // namespace

Result<std::string> set_yaml_value(std::string_view text, std::string_view origin,
                                   std::string_view key, std::string_view value, ValueStyle style) {
  if (key.find('.') == std::string_view::npos)
    return Status(StatusCode::kInvalidArgument, std::string(key) + " is a section, not a key");
  Editor editor(text, origin, key);
  XTTS_TRY(editor.open());
  return editor.set(value, style);
}

Result<std::string> remove_yaml_key(std::string_view text, std::string_view origin,
                                    std::string_view key) {
  Editor editor(text, origin, key);
  XTTS_TRY(editor.open());
  if (!editor.has_target())
    return Status(StatusCode::kNotFound, std::string(origin) + ": there is no " + std::string(key));
  return editor.remove();
}

}  // namespace xtts::doctor
