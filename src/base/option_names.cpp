#include "base/option_names.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/formatted.hpp"
#include "base/shell_words.hpp"

namespace xtts {
namespace {

std::atomic<OptionNames> names_of_process = OptionNames::kFlags;

bool are_flags() noexcept {
  return names_of_process.load(std::memory_order_relaxed) == OptionNames::kFlags;
}

// Options that may be given several times are lists in code.
bool is_list(std::string_view flag) {
  return flag == "audio-root" || flag == "set";
}

std::string in_code(std::string_view value) {
  const bool stands_for_another =
      std::ranges::all_of(value, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (stands_for_another) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

void name_options_as(OptionNames names) noexcept {
  names_of_process.store(names, std::memory_order_relaxed);
}

std::string option(std::string_view flag) {
  if (are_flags()) return "--" + std::string(flag);
  if (flag == "set") return "settings";
  std::string name(flag);
  std::ranges::replace(name, '-', '_');
  return is_list(flag) ? name + "s" : name;
}

std::string option(std::string_view flag, std::string_view value) {
  if (is_list(flag)) return option(flag, std::array{std::string(value)});
  return option(flag) + (are_flags() ? " " + shell_quoted(value) : "=" + in_code(value));
}

std::string option(std::string_view flag, std::span<const std::string> values) {
  std::string text;
  for (const std::string& value : values) {
    if (are_flags()) {
      text += formatted("{}{} {}", text.empty() ? "" : " ", option(flag), shell_quoted(value));
    } else {
      text += (text.empty() ? "" : ", ") + in_code(value);
    }
  }
  return are_flags() ? text : formatted("{}=[{}]", option(flag), text);
}

std::string option_on(std::string_view flag) {
  return are_flags() ? option(flag) : option(flag) + "=True";
}

std::string option_set(std::string_view key, std::string_view value) {
  return option("set", formatted("{}={}", key, value));
}

std::string option_or_setting(std::string_view flag, std::string_view key, std::string_view value) {
  return are_flags() ? option(flag, value) : option_set(key, value);
}

}  // namespace xtts
