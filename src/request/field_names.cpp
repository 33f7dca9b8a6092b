#include "request/field_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace xtts::request {
namespace {

enum class FieldKind { kSwitch, kNumber, kWord, kSetting, kList };

struct FlagField {
  std::string_view flag;
  std::string_view field;
  FieldKind kind;
};

// What builds, verifies and the runtime take in code.
constexpr std::array kFlagFields = {
    FlagField{"allow-mixed", "allow_mixed", FieldKind::kSwitch},
    FlagField{"audio-root", "audio_roots", FieldKind::kList},
    FlagField{"config", "config", FieldKind::kWord},
    FlagField{"data", "data", FieldKind::kWord},
    FlagField{"device", "device", FieldKind::kWord},
    FlagField{"dry-run", "dry_run", FieldKind::kSwitch},
    FlagField{"dtype", "dtype", FieldKind::kWord},
    FlagField{"index", "index", FieldKind::kWord},
    FlagField{"isa", "isa", FieldKind::kWord},
    FlagField{"language", "language", FieldKind::kWord},
    FlagField{"layout", "layout", FieldKind::kWord},
    FlagField{"layout-of-data", "layout_of_data", FieldKind::kWord},
    FlagField{"level", "level", FieldKind::kWord},
    FlagField{"max-dropped", "max_dropped", FieldKind::kNumber},
    FlagField{"max-gone", "max_gone", FieldKind::kNumber},
    FlagField{"max-rejects", "max_rejects", FieldKind::kNumber},
    FlagField{"memory", "memory", FieldKind::kNumber},
    FlagField{"no-text", "no_text", FieldKind::kSwitch},
    FlagField{"overwrite", "overwrite", FieldKind::kSwitch},
    FlagField{"partition", "partition", FieldKind::kNumber},
    FlagField{"recipe", "recipe", FieldKind::kWord},
    FlagField{"repair", "repair", FieldKind::kSwitch},
    FlagField{"retry-rejects", "retry_rejects", FieldKind::kSwitch},
    FlagField{"sample", "sample", FieldKind::kNumber},
    FlagField{"seed", "seed", FieldKind::kNumber},
    FlagField{"set", "settings", FieldKind::kSetting},
    FlagField{"speakers", "speakers", FieldKind::kWord},
    FlagField{"store", "store", FieldKind::kWord},
};

// Commands that messages quote, to be pasted into a shell.
constexpr std::array<std::string_view, 4> kQuotedCommands = {"'xtts-precompute ", "'build ",
                                                             "'convert ", "'merge "};

const FlagField* find_flag(std::string_view flag) {
  const auto* const found = std::ranges::find(kFlagFields, flag, &FlagField::flag);
  return found == kFlagFields.end() ? nullptr : found;
}

bool is_flag_character(char c) {
  return c == '-' || (c >= 'a' && c <= 'z');
}

// The end of a shell's word that begins at `begin`, quotes and escapes within it included.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  bool is_quoted = false;
  std::size_t at = begin;
  for (; at < text.size(); ++at) {
    if (text[at] == '\'') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && text[at] == '\\') {
      ++at;
    } else if (!is_quoted && std::string_view(" \n,;)").find(text[at]) != std::string_view::npos) {
      break;
    }
  }
  at = std::min(at, text.size());
  // The message's own colon or stop.
  while (at > begin && (text[at - 1] == ':' || text[at - 1] == '.')) --at;
  return at;
}

std::string without_quotes(std::string_view word) {
  std::string plain;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\'') continue;
    if (word[i] == '\\' && i + 1 < word.size()) ++i;
    plain += word[i];
  }
  return plain;
}

// A command in quotes may hold words in quotes: those begin behind a space.
std::size_t end_of_command(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] != '\'') continue;
    if (text[at - 1] != ' ') return at + 1;
    const std::size_t closing = text.find('\'', at + 1);
    if (closing == std::string_view::npos) return text.size();
    at = closing;
  }
  return text.size();
}

class FieldWriter {
 public:
  explicit FieldWriter(std::string_view message) : text_(message) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (copies_command() || writes_field() || writes_call()) continue;
      out_ += text_[at_++];
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] bool is_at_word() const {
    return at_ == 0 || std::string_view(" \n('\"").find(text_[at_ - 1]) != std::string_view::npos;
  }

  bool copies_command() {
    std::size_t end = at_;
    for (const std::string_view command : kQuotedCommands)
      if (rest().starts_with(command)) end = end_of_command(text_, at_);
    // Not in quotes: to the end of its line.
    if (is_at_word() && rest().starts_with("xtts-precompute "))
      end = std::min(text_.find('\n', at_), text_.size());
    out_ += text_.substr(at_, end - at_);
    const bool is_copied = end > at_;
    at_ = end;
    return is_copied;
  }

  bool writes_call() {
    for (const char* const words : {"he same command", "lower -j"}) {
      if (!rest().starts_with(words)) continue;
      out_ += words[0] == 'h' ? "he same call" : "lower number of threads";
      at_ += std::string_view(words).size();
      return true;
    }
    return false;
  }

  bool writes_field() {
    if (!is_at_word() || !rest().starts_with("--")) return false;
    std::size_t end = at_ + 2;
    while (end < text_.size() && is_flag_character(text_[end])) ++end;
    const FlagField* const found = find_flag(text_.substr(at_ + 2, end - at_ - 2));
    if (found == nullptr) return false;
    at_ = end;
    out_ += found->field;
    if (found->kind == FieldKind::kSwitch) {
      out_ += "=True";
    } else if (has_value(found->kind)) {
      out_ += found->kind == FieldKind::kList || found->kind == FieldKind::kSetting
                  ? "=[" + list_of(*found) + "]"
                  : "=" + value();
    }
    return true;
  }

  [[nodiscard]] std::string_view next_word() const {
    if (at_ >= text_.size() || text_[at_] != ' ') return {};
    return text_.substr(at_ + 1, end_of_word(text_, at_ + 1) - at_ - 1);
  }

  // "the 10 % that --max-dropped allows" has none.
  [[nodiscard]] bool has_value(FieldKind kind) const {
    const std::string_view word = next_word();
    if (word.empty()) return false;
    if (kind == FieldKind::kNumber)
      return std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    return kind != FieldKind::kSetting || word.find('=') != std::string_view::npos;
  }

  std::string value() {
    const std::string word = without_quotes(next_word());
    at_ = end_of_word(text_, at_ + 1);
    // "DATA" stands for the caller's own word.
    const bool is_placeholder =
        std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
    return is_placeholder ? word : "\"" + word + "\"";
  }

  std::string list_of(const FlagField& field) {
    std::string items = value();
    const std::string again = " --" + std::string(field.flag);
    while (rest().starts_with(again + " ")) {
      at_ += again.size();
      items += ", " + value();
    }
    return items;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string field_of(std::string_view flag) {
  if (const FlagField* const found = find_flag(flag)) return std::string(found->field);
  std::string name(flag);
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string with_fields(std::string_view message) {
  return FieldWriter(message).run();
}

}  // namespace xtts::request
