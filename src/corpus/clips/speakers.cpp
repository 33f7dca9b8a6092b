#include "corpus/clips/speakers.hpp"

#include <regex>
#include <string_view>
#include <unordered_map>

#include "base/env.hpp"
#include "base/formatted.hpp"
#include "base/small_list.hpp"
#include "base/try.hpp"
#include "corpus/clips/shared_labels.hpp"
#include "corpus/files/names.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace {

constexpr std::size_t kPatternBytesMax = 1000;

// By default libstdc++ matches by backtracking, and "(a+)+$" then takes 2^n steps. Its polynomial
// mode walks all states at once: that pattern on 250 letters takes 2 ms, common ones 0.5 to 2 us a
// name (measured, g++ 12). It refuses back-references. Other standard libraries lack the flag;
// there the pattern's author is trusted.
constexpr auto kRegexFlags = std::regex::ECMAScript | std::regex::optimize
#ifdef __GLIBCXX__
                             | std::regex_constants::__polynomial
#endif
    ;

// Turns Python's named groups, which patterns of Python tools use, into plain groups:
// "(?P<speaker>" becomes "(".
std::string without_group_names(std::string_view pattern) {
  std::string plain;
  for (;;) {
    const auto start = pattern.find("(?P<");
    const auto end = start == std::string_view::npos ? start : pattern.find('>', start);
    plain += pattern.substr(0, end == std::string_view::npos ? end : start);
    if (end == std::string_view::npos) return plain;
    plain += '(';
    pattern.remove_prefix(end + 1);
  }
}

Result<std::regex> compile(const std::string& pattern) {
  if (pattern.size() > kPatternBytesMax) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("speaker_pattern has more than {} bytes", kPatternBytesMax));
  }
  try {
    return std::regex(without_group_names(pattern), kRegexFlags);
  } catch (const std::regex_error& error) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("speaker_pattern '{}' is not a regular expression: {}", pattern, error.what()));
  }
}

// The speaker in `name`; empty: no match, or the match cuts a character in two.
std::string match_speaker(const std::regex& pattern, std::string_view name) {
  try {
    std::match_results<std::string_view::const_iterator> match;
    if (!std::regex_search(name.begin(), name.end(), match, pattern)) return {};
    std::string speaker = match[match.size() > 1 ? 1 : 0].str();
    return fault_of_id(speaker) ? std::string() : speaker;
  } catch (const std::regex_error&) {
    return {};  // the pattern is too complex for this name
  }
}

// Why a line of a file of names is none.
std::optional<std::string> fault_of_name(std::string_view name) {
  if (name.empty()) return "the line is empty, so the names below it would get other numbers";
  if (trimmed(name) != name) return formatted("a blank at the beginning or the end of '{}'", name);
  if (const auto fault = fault_of_label(name)) return "the name " + *fault;
  return std::nullopt;
}

}  // namespace

struct SpeakerRule::Rule {
  SharedText name;                    // of all clips
  std::optional<std::regex> pattern;  // on file names
  SharedLabels speakers;
  std::uint64_t unmatched_count = 0;
  SharedText example;  // the first path in order, so the note does not depend on the order of clips
};

SpeakerRule::SpeakerRule(std::unique_ptr<Rule> rule) : rule_(std::move(rule)) {}
SpeakerRule::SpeakerRule(SpeakerRule&&) noexcept = default;
SpeakerRule& SpeakerRule::operator=(SpeakerRule&&) noexcept = default;
SpeakerRule::~SpeakerRule() = default;

Result<SpeakerRule> SpeakerRule::create(const formats::CorpusConfig& config) {
  if (!config.speaker.empty() && !config.speaker_pattern.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "speaker and speaker_pattern are both set: set one only");
  }
  auto rule = std::make_unique<Rule>();
  rule->name = config.speaker;
  if (!config.speaker_pattern.empty()) {
    XTTS_ASSIGN(rule->pattern, compile(config.speaker_pattern));
  }
  return SpeakerRule(std::move(rule));
}

void SpeakerRule::apply(Clip& clip) {
  if (!rule_->name.empty()) clip.speaker = rule_->name;
  if (!rule_->pattern) return;
  clip.speaker = rule_->speakers.of(match_speaker(*rule_->pattern, file_name(clip.source)));
  if (!clip.speaker.empty()) return;
  if (rule_->unmatched_count++ == 0 || clip.source < rule_->example) rule_->example = clip.source;
}

std::optional<std::string> SpeakerRule::note() const {
  if (rule_->unmatched_count == 0) return std::nullopt;
  return "speaker_pattern gives no speaker for " +
         counted(rule_->unmatched_count, "clip", "clips") + " (" + rule_->example + ")";
}

Status apply_speakers(const formats::CorpusConfig& config, std::vector<Clip>& clips,
                      std::vector<std::string>& notes) {
  XTTS_ASSIGN(auto rule, SpeakerRule::create(config));
  for (Clip& clip : clips) rule.apply(clip);
  if (auto note = rule.note()) notes.push_back(std::move(*note));
  return {};
}

Result<std::vector<std::string>> read_speaker_names(Env& env, const std::string& path,
                                                    const std::string& encoding) {
  constexpr std::uint64_t kBytesMax = std::uint64_t{64} << 20U;
  XTTS_ASSIGN(SmallList list, read_small_list(env, path, kBytesMax, encoding));
  std::unordered_map<std::string_view, std::size_t> lines;
  for (std::size_t i = 0; i < list.lines.size(); ++i) {
    const std::string& name = list.lines[i];
    if (const auto fault = fault_of_name(name)) return list.fault(i, *fault);
    const auto [first, is_new] = lines.emplace(name, i);
    if (!is_new) {
      return list.fault(i, formatted("'{}' is the name on line {}, too: a name has one number, so "
                                     "remove one of the two lines",
                                     name, first->second + 1));
    }
  }
  if (list.lines.empty())
    return Status(StatusCode::kInvalidArgument, path + " is empty: give a speaker's name a line");
  return std::move(list.lines);
}

}  // namespace xtts::corpus
