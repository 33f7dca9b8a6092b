#include "doctor/support_text.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

#include "doctor/check_json.hpp"
#include "recipe/trainer_keys.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::doctor {
namespace {

constexpr const char* kHidden = "[removed]";
constexpr const char* kNotShown = "(not shown)";

// A line for a key. Only the trainer's own values are shown: another may be a secret.
std::string line_of(const std::string& name, const recipe::YamlNode& value) {
  const bool is_single = value.kind == recipe::YamlNode::Kind::kScalar;
  const std::string text = is_single ? value.text : std::string(describe(value));
  const bool is_address = text.find("://") != std::string::npos;  // it may hold a password
  const bool is_shown = recipe::is_trainer_key(name) && !is_address;
  return name + ": " + (is_shown ? text : kNotShown) + "\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (from.size() < 2) return text;  // a home of "/" would turn every path into "~"
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// "hf_AbC...": a word of letters and digits that is longer than any name.
bool is_random_word(const std::string& word) {
  constexpr std::size_t kLong = 32;
  if (word.size() < kLong) return false;
  const auto is_in = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  const bool has_digit = std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c); });
  const bool has_letter =
      std::ranges::any_of(word, [](unsigned char c) { return std::isalpha(c); });
  return has_digit && has_letter && std::ranges::all_of(word, is_in);
}

std::string without_random_words(const std::string& line) {
  std::string result;
  std::string word;
  const auto end_word = [&] {
    result += is_random_word(word) ? kHidden : word;
    word.clear();
  };
  for (const char c : line) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      word += c;
      continue;
    }
    end_word();
    result += c;
  }
  end_word();
  return result;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  static const std::regex secret_key(
      R"(^(\s*(?:-\s*)?["']?[\w.-]*(?:token(?![a-z])|secret|passw|credential|api_?key|access_?key|private_?key|webhook)[\w.-]*["']?\s*[:=]\s*)\S.*$)",
      std::regex::icase);
  static const std::regex address(R"((\w+://)[^/\s@]+@)");
  std::istringstream lines{std::string(text)};
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    // A longer line is data, and std::regex is recursive.
    constexpr std::size_t kLineMax = 2000;
    if (line.size() > kLineMax) {
      result += std::string(kHidden) + "\n";
      continue;
    }
    line = std::regex_replace(line, secret_key, std::string("$1") + kHidden);
    line = std::regex_replace(line, address, std::string("$1") + kHidden + "@");
    result += without_random_words(line) + "\n";
  }
  return result;
}

std::string config_for_support(std::string_view text, const std::string& origin) {
  const auto root = recipe::read_yaml_map(text, origin);
  if (!root.ok()) return "It cannot be read: " + root.status().message() + "\n";
  std::string lines;
  for (const recipe::YamlEntry& section : root->entries) {
    if (section.value.kind != recipe::YamlNode::Kind::kMap)
      lines += line_of(section.key, section.value);
    for (const recipe::YamlEntry& entry : section.value.entries)
      lines += line_of(section.key + "." + entry.key, entry.value);
  }
  return lines;
}

std::string support_text(const Diagnosis& diagnosis, const SupportFacts& facts) {
  std::string text = "xtts-precompute doctor, a report for support\n\n== Versions\n" +
                     facts.versions + "\n== Command\n" + facts.command + "\n\n== Machine\n";
  for (const std::string& line : diagnosis.machine) text += line + "\n";
  text += "\n== Findings\n" +
          to_json(diagnosis.checks).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
          "\n";
  text = without_secrets(text);
  // These lines hold no other values than the trainer's.
  if (!facts.config_path.empty()) text += "\n== " + facts.config_path + "\n" + facts.config;
  return replaced(std::move(text), facts.home, "~");
}

}  // namespace xtts::doctor
