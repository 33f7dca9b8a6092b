#include "corpus/clips/splits.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/env.hpp"
#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "corpus/files/names.hpp"
#include "formats/block.hpp"
#include "formats/clip_id.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace {

// If the user gives seed 0 to both split and subset, they must not draw the same numbers: a subset
// of 5 % would then lie inside the validation split. These names are part of the rule and never
// change.
constexpr std::string_view kSplitDomain = "xtts split 1";
constexpr std::string_view kSubsetDomain = "xtts subset 1";

// A smaller share is a rounding error: 1 - 0.9 - 0.1 is 2.8e-17 in binary.
constexpr double kShareMin = 1e-9;

std::uint64_t draw(std::string_view domain, std::uint64_t seed, std::string_view key) {
  return check64(as_bytes(key), check64(as_bytes(domain), seed));
}

// The upper 53 bits as a number in [0, 1), exact.
double unit_interval(std::uint64_t number) {
  return static_cast<double>(number >> 11U) * 0x1p-53;
}

std::string split_key(const Clip& clip, formats::SplitBy split_by) {
  // Clips without a speaker or text share nothing that would have to stay together.
  if (split_by == formats::SplitBy::kSpeaker && !clip.speaker.empty()) return clip.speaker;
  if (split_by == formats::SplitBy::kText && !clip.text_normalized.empty())
    return clip.text_normalized;
  if (split_by == formats::SplitBy::kSource) return formats::full_id(clip.dataset, clip.source);
  return full_id(clip);
}

struct SplitDraw {
  std::uint64_t number = 0;
  std::size_t clip_index = 0;
};

class SplitAssigner {
 public:
  SplitAssigner(const formats::CorpusConfig& config, std::vector<Clip>& clips)
      : config_(config), clips_(clips) {}

  // Returns how many clips validation held back.
  std::uint64_t run(const KnownSplits& known) {
    for (std::size_t i = 0; i < clips_.size(); ++i) settle(i, known);
    std::sort(unsettled_.begin(), unsettled_.end(),
              [](const SplitDraw& a, const SplitDraw& b) { return a.number < b.number; });
    SplitChooser chooser(config_, validation_count_);
    for (std::size_t first = 0; first < unsettled_.size();) {
      std::size_t end = first + 1;
      while (end < unsettled_.size() && unsettled_[end].number == unsettled_[first].number) ++end;
      assign(first, end, chooser);
      first = end;
    }
    return chooser.held_back_count();
  }

 private:
  void settle(std::size_t index, const KnownSplits& known) {
    Clip& clip = clips_[index];
    if (clip.has_own_split) {
      validation_count_ += clip.split == Split::kValidation ? 1 : 0;
      return;
    }
    const std::uint64_t number = split_number(config_, clip);
    const std::optional<Split> split = known ? known(full_id(clip)) : std::nullopt;
    if (!split) {
      unsettled_.push_back({number, index});
      return;
    }
    clip.split = *split;
    validation_count_ += clip.split == Split::kValidation ? 1 : 0;
    // If split_by has changed since, one key may have several splits. The lowest value wins,
    // whatever the order.
    const auto [place, is_new] = known_groups_.try_emplace(number, *split);
    if (!is_new) place->second = std::min(place->second, *split);
  }

  void assign(std::size_t first, std::size_t end, SplitChooser& chooser) {
    const std::uint64_t number = unsettled_[first].number;
    const auto known = known_groups_.find(number);
    if (known != known_groups_.end()) chooser.follow(known->second, end - first);
    const Split split =
        known != known_groups_.end() ? known->second : chooser.choose(number, end - first);
    for (std::size_t i = first; i < end; ++i) clips_[unsettled_[i].clip_index].split = split;
  }

  const formats::CorpusConfig& config_;
  std::vector<Clip>& clips_;
  std::vector<SplitDraw> unsettled_;
  std::unordered_map<std::uint64_t, Split> known_groups_;
  std::uint64_t validation_count_ = 0;
};

constexpr std::array<std::pair<std::string_view, Split>, 8> kWords = {{
    {"train", Split::kTrain},
    {"training", Split::kTrain},
    {"validation", Split::kValidation},
    {"valid", Split::kValidation},
    {"val", Split::kValidation},
    {"dev", Split::kValidation},
    {"eval", Split::kValidation},
    {"test", Split::kTest},
}};

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::uint64_t split_number(const formats::CorpusConfig& config, const Clip& clip) {
  return draw(kSplitDomain, config.split_seed, split_key(clip, config.split_by));
}

SplitChooser::SplitChooser(const formats::CorpusConfig& config, std::uint64_t validation_count)
    : config_(config),
      test_share_(1.0 - config.train_split - config.validation_split),
      validation_count_(validation_count) {}

Split SplitChooser::choose(std::uint64_t number, std::uint64_t clip_count) {
  if (!may_validate(number)) return beyond_validation(number);
  if (validation_count_ + clip_count <= config_.validation_clips_max) {
    validation_count_ += clip_count;
    return Split::kValidation;
  }
  held_back_count_ += clip_count;
  return Split::kTrain;
}

void SplitChooser::follow(Split split, std::uint64_t clip_count) {
  if (split == Split::kValidation) validation_count_ += clip_count;
}

bool SplitChooser::may_validate(std::uint64_t number) const {
  return unit_interval(number) < config_.validation_split;
}

Split SplitChooser::beyond_validation(std::uint64_t number) const {
  const bool is_test =
      test_share_ > kShareMin && unit_interval(number) < config_.validation_split + test_share_;
  return is_test ? Split::kTest : Split::kTrain;
}

void note_splits(const formats::CorpusConfig& config, std::uint64_t held_back_count,
                 bool has_validation, std::vector<std::string>& notes) {
  if (held_back_count > 0) {
    notes.push_back(formatted("{} that the hash gives to validation: validation_clips_max is {}",
                              counted(held_back_count, "clip trains", "clips train"),
                              config.validation_clips_max));
  }
  if (!has_validation && config.validation_split > 0) {
    notes.emplace_back("no clip is in the validation split");
  }
}

void assign_splits(const formats::CorpusConfig& config, const KnownSplits& known,
                   std::vector<Clip>& clips, std::vector<std::string>& notes) {
  const std::uint64_t held_back_count = SplitAssigner(config, clips).run(known);
  const bool has_validation = std::any_of(clips.begin(), clips.end(), [](const Clip& found) {
    return found.split == Split::kValidation;
  });
  note_splits(config, held_back_count, has_validation, notes);
}

bool is_in_training_subset(const formats::CorpusConfig& config, const Clip& clip) {
  return unit_interval(draw(kSubsetDomain, config.subset_seed, full_id(clip))) <
         config.train_subset_fraction;
}

void note_subset(std::uint64_t kept_count, std::uint64_t train_count,
                 std::vector<std::string>& notes) {
  notes.push_back(formatted("train_subset_fraction keeps {} of {}", kept_count,
                            counted(train_count, "training clip", "training clips")));
}

void keep_training_subset(const formats::CorpusConfig& config, std::vector<Clip>& clips,
                          std::vector<std::string>& notes) {
  if (config.train_subset_fraction >= 1.0) return;
  std::uint64_t train_count = 0;
  const auto removed_count = std::erase_if(clips, [&](const Clip& found) {
    if (found.split != Split::kTrain) return false;
    ++train_count;
    return !is_in_training_subset(config, found);
  });
  note_subset(train_count - removed_count, train_count, notes);
}

std::optional<Split> split_of_word(std::string_view word) {
  for (const auto& [known, split] : kWords) {
    if (equals_ignoring_case(word, known)) return split;
  }
  return std::nullopt;
}

std::optional<Split> split_of_name(std::string_view path) {
  const std::string_view name = file_name(path);
  std::optional<Split> found;
  for (std::size_t begin = 0; begin < name.size();) {
    std::size_t end = begin;
    while (end < name.size() && is_of_word(name[end])) ++end;
    const auto split = split_of_word(name.substr(begin, end - begin));
    if (split && found && *split != *found) return std::nullopt;
    if (split) found = split;
    begin = end + 1;
  }
  return found;
}

}  // namespace xtts::corpus
