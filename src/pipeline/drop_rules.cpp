#include "pipeline/drop_rules.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "pipeline/columns.hpp"
#include "report/human.hpp"

namespace xtts::pipeline {
namespace {

constexpr double kMost = 0.99;
constexpr std::string_view kFramesKey = "features.max_frames";
constexpr std::string_view kTokensKey = "text.max_tokens";

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::optional<double> number_in(std::string_view text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

// The word that ends before `end`.
std::string_view word_before(std::string_view text, std::size_t end) {
  const std::size_t space = text.find_last_of(' ', end - 1);
  const std::size_t begin = space == std::string_view::npos ? 0 : space + 1;
  return text.substr(begin, end - begin);
}

// Of the column that the key sizes: what its records take of a cache, `value` being the key's.
double bytes_of_a_record(std::string_view key, formats::Recipe recipe, double value) {
  double bytes = 0.0;
  if (key == kFramesKey) {
    recipe.features.max_frames = static_cast<std::uint32_t>(value);
    for (const formats::ColumnSpec& column : sound_column_forms(recipe))
      bytes += static_cast<double>(column.record_bytes());
  } else {
    recipe.text.max_tokens = static_cast<std::uint32_t>(value);
    bytes = static_cast<double>(tokens_column(recipe, {}).record_bytes());
  }
  return bytes;
}

// `needed` of the clips that `value` keeps and the recipe does not, ascending.
std::uint64_t extra_bytes(std::string_view key, std::span<const double> needed, double value,
                          const formats::Recipe& recipe, std::uint64_t stored_count) {
  if (key != kFramesKey && key != kTokensKey) return 0;
  const auto kept = static_cast<double>(needed.size());
  const double record = bytes_of_a_record(key, recipe, value);
  const auto stored = static_cast<double>(stored_count);
  if (recipe.storage.layout == formats::Layout::kPadded) {
    const double now = key == kFramesKey
                           ? bytes_of_a_record(key, recipe, recipe.features.max_frames)
                           : bytes_of_a_record(key, recipe, recipe.text.max_tokens);
    return static_cast<std::uint64_t>((stored + kept) * record - stored * now);
  }
  double total = 0.0;
  for (const double one : needed) total += one;
  return static_cast<std::uint64_t>(total * record / value);
}

// "1397", "9.5".
std::string number_text(double value) {
  if (value == std::floor(value) && value < 1e15)
    return std::to_string(static_cast<std::uint64_t>(value));
  return report::format_short(value);
}

std::string setting(const DropRemedy& remedy, const DropRemedy::Choice& choice) {
  return "--set " + remedy.key + "=" + number_text(choice.value);
}

std::string costs(const DropRemedy::Choice& choice) {
  if (choice.extra_bytes == 0) return {};
  return " and costs " + report::format_size(choice.extra_bytes) + " more";
}

}  // namespace

bool is_drop(const formats::Reject& reject) noexcept {
  return reject.kind == formats::RejectClass::kPolicy && !reject.split.empty();
}

DropRule drop_rule_of(const formats::Reject& reject) {
  const std::string_view reason = reject.reason;
  for (std::size_t end = reason.find(" keeps "); end != std::string_view::npos && end > 0;
       end = reason.find(" keeps ", end + 1)) {
    const std::string_view word = word_before(reason, end);
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const bool is_key = key.find('.') != std::string_view::npos &&
                        std::all_of(key.begin(), key.end(), is_key_character);
    if (!is_key) continue;
    return {std::string(key),
            equals == std::string_view::npos ? std::nullopt : number_in(word.substr(equals + 1))};
  }
  return {reject.stage, std::nullopt};
}

std::optional<double> seconds_of_drop(const formats::Reject& reject,
                                      const formats::FeatureConfig& features) {
  const DropRule rule = drop_rule_of(reject);
  if (!rule.keeps) return std::nullopt;
  if (rule.key == kFramesKey)
    return *rule.keeps * features.stft.hop_samples / features.sample_rate_hz;
  if (rule.key == "corpus.max_clip_seconds")
    return number_in(std::string_view(reject.reason).substr(0, reject.reason.find(' ')));
  return std::nullopt;
}

DropRemedy remedy_of(std::string key, std::vector<double> needed, const formats::Recipe& recipe,
                     std::uint64_t found_count, std::uint64_t stored_count) {
  DropRemedy remedy{
      .key = std::move(key), .count = needed.size(), .keeps_most = {}, .keeps_all = {}};
  if (needed.empty()) return remedy;
  std::sort(needed.begin(), needed.end());
  const auto choice = [&](std::size_t kept_count) {
    const double value = needed[kept_count - 1];
    return DropRemedy::Choice{
        .value = value,
        .extra_bytes = extra_bytes(remedy.key, std::span(needed).first(kept_count), value, recipe,
                                   stored_count)};
  };
  remedy.keeps_all = choice(needed.size());
  const auto may_go =
      static_cast<std::uint64_t>((1.0 - kMost) * static_cast<double>(found_count) + 1e-9);
  // Where fewer have gone, the recipe keeps that many already.
  if (may_go > 0 && may_go < needed.size()) remedy.keeps_most = choice(needed.size() - may_go);
  if (remedy.keeps_most && remedy.keeps_most->value == remedy.keeps_all->value)
    remedy.keeps_most.reset();
  return remedy;
}

std::vector<DropRemedy> remedies_of(const std::vector<formats::Reject>& rejects,
                                    const formats::Recipe& recipe, std::uint64_t found_count,
                                    std::uint64_t stored_count) {
  struct Dropped {
    std::uint64_t count = 0;
    std::vector<double> needed;
  };
  std::map<std::string, Dropped> by_rule;
  for (const formats::Reject& reject : rejects) {
    if (!is_drop(reject)) continue;
    const DropRule rule = drop_rule_of(reject);
    Dropped& dropped = by_rule[rule.key];
    ++dropped.count;
    if (rule.keeps) dropped.needed.push_back(*rule.keeps);
  }
  std::vector<DropRemedy> remedies;
  for (auto& [key, dropped] : by_rule) {
    const bool all_are_numbers = dropped.needed.size() == dropped.count;
    remedies.push_back(
        remedy_of(key, all_are_numbers ? std::move(dropped.needed) : std::vector<double>(), recipe,
                  found_count, stored_count));
    remedies.back().count = dropped.count;
  }
  std::ranges::stable_sort(remedies, std::greater<>(), &DropRemedy::count);
  return remedies;
}

std::string describe(const DropRemedy& remedy, const formats::Recipe& recipe) {
  std::string text;
  if (remedy.keeps_most) {
    text = setting(remedy, *remedy.keeps_most) + " keeps 99 % of all clips" +
           costs(*remedy.keeps_most) + ", ";
  }
  if (remedy.keeps_all) {
    text += setting(remedy, *remedy.keeps_all) + " keeps all" + costs(*remedy.keeps_all);
  } else if (remedy.key == "text.unknown") {
    text +=
        "--set text.unknown=drop leaves only the characters out, text.unknown=unk keeps their "
        "place";
  } else if (remedy.key == "corpus.max_source_seconds") {
    text += "a higher " + remedy.key + " (--set) keeps them";
  } else if (remedy.key.find('.') != std::string::npos) {
    text += "--set " + remedy.key + "=warn keeps them";
  }
  if (remedy.key == kTokensKey && recipe.text.tokens == formats::TokenKind::kBytes) {
    text +=
        " (text.tokens=bytes counts bytes: a letter of Persian, Arabic or Russian takes two, "
        "one of Chinese or Hindi three)";
  }
  return text;
}

}  // namespace xtts::pipeline
