#include "request/verify_words.hpp"

#include <algorithm>
#include <cstdio>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/shell_words.hpp"
#include "pipeline/losses.hpp"

namespace xtts::request {
namespace {

using verify::Check;
using verify::Evidence;
using verify::Outcome;
using verify::Remedy;
using verify::RemedyKind;

std::string in_words(const verify::FoundIndex& index) {
  if (!index.generation) return index.name + " (unreadable)";
  std::string text = formatted("{} (generation {}", index.name, *index.generation);
  if (!index.has_manifest) return text + ", unreadable)";
  return formatted("{}, {}, {} s)", text, counted(index.record_count, "clip", "clips"),
                   static_cast<std::uint64_t>(index.seconds));
}

std::string in_words(const formats::Numerics& numerics) {
  return formatted("{} {} ({})", numerics.device, numerics.isa, numerics.libraries);
}

std::string verify_command(const Remedy& remedy) {
  return "xtts-precompute verify " + shell_quoted(remedy.cache);
}

std::string data_word(const Remedy& remedy) {
  return remedy.data.path.empty() ? "DATA" : shell_quoted(remedy.data.path);
}

// A build finds its recipe in the cache.
std::string build_command(const Remedy& remedy) {
  std::string text = formatted("xtts-precompute build {} {}{}", data_word(remedy),
                               shell_quoted(remedy.cache), remedy.data.audio_root_options());
  if (!remedy.partition.empty()) text += " --partition " + remedy.partition;
  return text + remedy.limits;
}

std::string update_command(const Remedy& remedy) {
  // A published part is never updated.
  if (!remedy.partition.empty()) return build_command(remedy) + " --overwrite";
  std::string text = build_command(remedy);
  if (remedy.gone_share > pipeline::LossLimits().gone)
    text += " --max-gone " + pipeline::limit_that_allows(remedy.gone_share);
  return text + (remedy.is_other_machine ? " --allow-mixed" : "");
}

// A repair finds sources that have not moved by itself.
std::string data_option(const Remedy& remedy) {
  const bool is_found_again = !remedy.data.path.empty() && remedy.data.path == remedy.data_before;
  return (is_found_again ? "" : " --data " + data_word(remedy)) + remedy.data.audio_root_options();
}

}  // namespace

std::string words_of(const Evidence& evidence) {
  std::string text = evidence.text;
  if (evidence.numerics) {
    text +=
        formatted("; this machine computes with other numerics than the cache's: here {}, cache {}",
                  in_words(evidence.numerics->here), in_words(evidence.numerics->cache));
  }
  if (evidence.indexes.empty()) return text;
  text = formatted("which index is the newest cannot be proved ({}); found: ", text);
  for (const verify::FoundIndex& index : evidence.indexes)
    text += (&index == evidence.indexes.data() ? "" : ", ") + in_words(index);
  return text;
}

std::string what_of(const verify::Finding& finding) {
  std::string words(name_of(finding.check));
  std::ranges::replace(words, '_', ' ');
  if (!finding.part.empty()) words += " " + finding.part;
  if (finding.outcome == Outcome::kUnreadable) return "unreadable " + words;
  if (finding.outcome == Outcome::kNotRepaired) return "not mended, " + words;
  return words;
}

std::string words_of(const verify::RepairedFile& repair) {
  const std::string why = words_of(repair.why);
  return words_of(repair.done) + (why.empty() ? "" : ": " + why);
}

std::string words_of(const verify::DeepComparison& comparison) {
  if (comparison.tolerant_count == 0) return comparison.exact_count == 0 ? "" : "bit for bit";
  char tolerance[32];
  std::snprintf(tolerance, sizeof tolerance, "%.2g", comparison.tolerance);
  const std::string text = formatted(
      "within a tolerance of {}, because numerics differ: cache {}, here {}",
      std::string(tolerance), comparison.cache ? in_words(*comparison.cache) : "another machine",
      in_words(comparison.here));
  if (comparison.exact_count == 0) return text;
  return formatted("bit for bit for {}, for the others {}",
                   counted(comparison.exact_count, "record", "records"), text);
}

std::string command_of(const Remedy& remedy) {
  switch (remedy.kind) {
    case RemedyKind::kLookAtDisk:
      return verify_command(remedy) + (remedy.is_after_repair ? " --repair" : "");
    case RemedyKind::kRepair:
      return verify_command(remedy) + " --repair";
    case RemedyKind::kSources:
      return formatted("{} --repair{}", verify_command(remedy), data_option(remedy));
    case RemedyKind::kChooseIndex:
      return formatted("{} --repair --index {}", verify_command(remedy), remedy.index);
    case RemedyKind::kAddColumn:
      return formatted("xtts_precompute.open('{}').add_column('{}', FUNCTION, version='ANOTHER')",
                       remedy.cache, remedy.column);
    case RemedyKind::kBuild:
      return update_command(remedy);
    case RemedyKind::kLeaveOut: {
      const double share =
          static_cast<double>(remedy.lost_clip_count) / static_cast<double>(remedy.clip_count);
      return formatted("{} --repair --max-gone {}{}", verify_command(remedy),
                       pipeline::limit_that_allows(share),
                       remedy.data.path.empty() ? "" : data_option(remedy));
    }
    case RemedyKind::kOtherMachine:
      return formatted("{}{} --data {}{}", verify_command(remedy),
                       remedy.is_after_repair ? " --repair" : " --level deep", data_word(remedy),
                       remedy.data.audio_root_options());
    case RemedyKind::kOverwrite:
      break;
  }
  return formatted("{} --overwrite{}", build_command(remedy),
                   remedy.is_recipe_lost ? " --recipe NAME" : "");
}

std::string note_of(const Remedy& remedy) {
  switch (remedy.kind) {
    case RemedyKind::kLookAtDisk:
      return "look at permissions and at the disk's health, then";
    case RemedyKind::kRepair:
      return {};
    case RemedyKind::kSources:
      if (!remedy.data.path.empty()) return {};
      return remedy.data_before.empty()
                 ? "DATA is the folder of the sources"
                 : "DATA is where the sources are now that were in " + remedy.data_before;
    case RemedyKind::kChooseIndex:
      return "this takes the newest index that can be read; name another to take that";
    case RemedyKind::kAddColumn:
      return "in Python, to add the column again";
    case RemedyKind::kBuild:
      return std::string("this computes clips again whose sources have changed") +
             (remedy.gone_share > 0.0 ? ", and takes out those that DATA no longer has" : "");
    case RemedyKind::kLeaveOut:
      return formatted(
          "{} of {}{}", remedy.lost_clip_count, counted(remedy.clip_count, "clip", "clips"),
          remedy.lost_clip_count == 1
              ? " cannot be made again: its record is lost, and its source is gone or makes "
                "another. This leaves it out of the cache"
              : " cannot be made again: their records are lost, and their sources are gone or "
                "make others. This leaves them out of the cache");
    case RemedyKind::kOtherMachine:
      return "on a machine with the cache's numerics";
    case RemedyKind::kOverwrite:
      break;
  }
  return std::string(
             "nothing in the cache can mend it: restore the files from a copy, or compute all "
             "clips again") +
         (remedy.is_recipe_lost ? ". NAME is the recipe that the cache had" : "");
}

}  // namespace xtts::request
