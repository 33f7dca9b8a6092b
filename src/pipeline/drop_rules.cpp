#include "pipeline/drop_rules.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/rules.hpp"
#include "records/columns.hpp"
#include "report/human.hpp"

namespace xtts::pipeline {
namespace {

using formats::Rule;

constexpr double kMost = 0.99;

// The bytes of a record in the columns that the rule's setting sizes, if the setting is `value`.
double bytes_of_a_record(Rule rule, formats::Recipe recipe, double value) {
  double bytes = 0.0;
  if (rule == Rule::kTooLong) {
    recipe.features->max_frames = static_cast<std::uint32_t>(value);
    for (const formats::ColumnSpec& column : records::sound_column_forms(recipe))
      bytes += static_cast<double>(column.record_bytes());
  } else {
    recipe.text.max_tokens = static_cast<std::uint32_t>(value);
    bytes = static_cast<double>(records::tokens_column(recipe, {}).record_bytes());
  }
  return bytes;
}

// The extra bytes of the clips that `value` keeps and the recipe drops. `needed`: their values,
// ascending.
std::uint64_t extra_bytes(Rule rule, std::span<const double> needed, double value,
                          const formats::Recipe& recipe, std::uint64_t stored_count) {
  if (rule != Rule::kTooLong && rule != Rule::kTextTooLong) return 0;
  const auto kept = static_cast<double>(needed.size());
  const double record = bytes_of_a_record(rule, recipe, value);
  const auto stored = static_cast<double>(stored_count);
  if (recipe.storage.layout == formats::Layout::kPadded) {
    const double now = bytes_of_a_record(
        rule, recipe,
        rule == Rule::kTooLong ? recipe.features->max_frames : recipe.text.max_tokens);
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
  return option_set(remedy.setting(), number_text(choice.value));
}

std::string costs(const DropRemedy::Choice& choice) {
  if (choice.extra_bytes == 0) return {};
  return formatted(" and costs {} more", report::format_size(choice.extra_bytes));
}

}  // namespace

bool is_drop(const formats::Reject& reject) noexcept {
  return reject.kind == formats::RejectClass::kPolicy && !reject.split.empty();
}

std::optional<double> value_that_keeps(const formats::Reason& reason) {
  switch (reason.rule) {
    case Rule::kTooLong:
    case Rule::kTextTooLong:
      return reason.numbers[0];
    case Rule::kClipTooLong:
      return std::ceil(reason.numbers[0]);
    default:
      return std::nullopt;
  }
}

std::optional<double> seconds_of_drop(const formats::Reject& reject,
                                      const formats::FeatureConfig& features) {
  const double number = reject.reason.numbers[0];
  if (reject.reason.rule == Rule::kTooLong)
    return number * features.stft.hop_samples / features.sample_rate_hz;
  return reject.reason.rule == Rule::kClipTooLong ? std::optional(number) : std::nullopt;
}

DropRemedy remedy_of(Rule rule, std::vector<double> needed, const formats::Recipe& recipe,
                     std::uint64_t found_count, std::uint64_t stored_count) {
  DropRemedy remedy{.rule = rule, .count = needed.size(), .keeps_most = {}, .keeps_all = {}};
  if (needed.empty()) return remedy;
  std::sort(needed.begin(), needed.end());
  const auto choice = [&](std::size_t kept_count) {
    const double value = needed[kept_count - 1];
    return DropRemedy::Choice{.value = value,
                              .extra_bytes = extra_bytes(rule, std::span(needed).first(kept_count),
                                                         value, recipe, stored_count)};
  };
  remedy.keeps_all = choice(needed.size());
  const auto may_go =
      static_cast<std::uint64_t>((1.0 - kMost) * static_cast<double>(found_count) + 1e-9);
  // If fewer clips were dropped, the recipe already keeps that many.
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
  std::map<Rule, Dropped> by_rule;
  for (const formats::Reject& reject : rejects) {
    if (!is_drop(reject)) continue;
    Dropped& dropped = by_rule[reject.reason.rule];
    ++dropped.count;
    if (const auto value = value_that_keeps(reject.reason)) dropped.needed.push_back(*value);
  }
  std::vector<DropRemedy> remedies;
  for (auto& [rule, dropped] : by_rule) {
    const bool all_are_numbers = dropped.needed.size() == dropped.count;
    remedies.push_back(
        remedy_of(rule, all_are_numbers ? std::move(dropped.needed) : std::vector<double>(), recipe,
                  found_count, stored_count));
    remedies.back().count = dropped.count;
  }
  std::ranges::stable_sort(remedies, std::greater<>(), &DropRemedy::count);
  return remedies;
}

std::string describe(const DropRemedy& remedy, const formats::Recipe& recipe) {
  const std::string setting_name(remedy.setting());
  std::string text;
  if (remedy.keeps_most) {
    text = formatted("{} keeps 99 % of all clips{}, ", setting(remedy, *remedy.keeps_most),
                     costs(*remedy.keeps_most));
  }
  if (remedy.keeps_all) {
    text +=
        formatted("{} keeps all{}", setting(remedy, *remedy.keeps_all), costs(*remedy.keeps_all));
  } else if (remedy.rule == Rule::kUnknownCharacters) {
    text += option_set("text.unknown", "drop") +
            " leaves only the characters out, text.unknown=unk keeps their place";
  } else if (remedy.rule == Rule::kSourceTooLong) {
    text += formatted("a higher {} ({}) keeps them", setting_name, option("set"));
  } else if (remedy.rule == Rule::kOtherRate) {
    text += option_set(setting_name, "soxr_hq") + " resamples them";
  } else if (!setting_name.empty()) {
    text += option_set(setting_name, "warn") + " keeps them";
  }
  if (remedy.rule == Rule::kTextTooLong && recipe.text.tokens == formats::TokenKind::kBytes) {
    text +=
        " (text.tokens=bytes counts bytes: a letter of Persian, Arabic or Russian takes two, "
        "one of Chinese or Hindi three)";
  }
  return text;
}

}  // namespace xtts::pipeline
