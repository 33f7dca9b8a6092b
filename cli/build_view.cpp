#include "cli/build_view.hpp"

#include <algorithm>
#include <map>

#include "base/character_words.hpp"
#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/shell_words.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/sound_columns.hpp"
#include "formats/split.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_report.hpp"
#include "pipeline/build_request.hpp"
#include "recipe/recipe_file.hpp"
#include "report/human.hpp"
#include "report/reasons.hpp"
#include "report/table.hpp"
#include "request/build_json.hpp"

namespace xtts::cli {
namespace {

using report::Align;
using report::escape_controls;
using report::format_count;
using report::format_counted;
using report::format_duration;
using report::format_size;
using report::Table;

constexpr std::size_t kRejectGroupsShown = 8;
constexpr std::size_t kNotesShown = 8;
constexpr std::size_t kCharactersShown = 12;

std::string line(const std::string& label, const std::string& text) {
  std::string padded = label;
  padded.resize(std::max<std::size_t>(padded.size() + 1, 10), ' ');
  return formatted("{}{}\n", padded, text);
}

std::string splits_text(const std::map<std::string, std::uint64_t>& splits) {
  std::string text;
  for (const formats::Split split : formats::kSplits) {
    const std::string name(to_string(split));
    const auto found = splits.find(name);
    if (found == splits.end() || found->second == 0) continue;
    if (!text.empty()) text += ", ";
    text += formatted("{} {}", name, format_count(found->second));
  }
  return text;
}

// Gives "40 clips (train 36, validation 4)". A part of a cache may have no splits.
std::string clips_text(std::uint64_t count, const std::map<std::string, std::uint64_t>& splits) {
  const std::string by_split = splits_text(splits);
  return format_counted(count, "clip", "clips") +
         (by_split.empty() ? "" : formatted(" ({})", by_split));
}

// "80 mels, wave int16, energy"
std::string columns_text(const formats::FeatureConfig& features) {
  std::vector<std::string> columns;
  for (const formats::SoundColumn column : formats::sound_columns_of(features))
    columns.push_back(formats::info_of(column).words(features));
  return report::format_list(columns);
}

std::string recipe_text(const formats::Recipe& recipe, const pipeline::ChosenLengths& lengths) {
  const auto& features = *recipe.features;
  const double seconds = static_cast<double>(lengths.frames.number) * features.stft.hop_samples /
                         features.sample_rate_hz;
  std::string text = formatted("{}: {} Hz, {}, at most {} frames ({} s)", recipe.name,
                               format_count(features.sample_rate_hz), columns_text(features),
                               format_count(lengths.frames.number), report::format_short(seconds));
  if (recipe.text.tokens == formats::TokenKind::kNone) return text;
  return formatted("{}; tokens: {}, at most {}", text, formats::name_of(recipe.text.tokens),
                   format_count(lengths.tokens.number));
}

// Says what a length that was chosen for the corpus holds, and what it costs; empty if it was not.
std::string length_text(const pipeline::ChosenLength& length, const formats::Recipe& recipe,
                        const std::string& key) {
  if (length.clip_count == 0) return {};
  std::string text = formatted("{}={} for this corpus: ", key, length.number);
  if (length.longer_count == 0) {
    text += formatted("all clips fit (the longest has {})", format_count(length.longest));
  } else {
    text += formatted("{} of {} clips fit, {}{} longer (up to {})",
                      format_count(length.clip_count - length.longer_count),
                      format_count(length.clip_count), format_count(length.longer_count),
                      length.longer_count == 1 ? " is" : " are", format_count(length.longest));
  }
  if (recipe.storage.layout != formats::Layout::kPadded) return text;
  return formatted("{}; {} is padding", text, report::format_percent(length.padding_share));
}

std::string lengths_text(const pipeline::ChosenLengths& lengths, const formats::Recipe& recipe) {
  const std::string frames = length_text(lengths.frames, recipe, "max_frames");
  const std::string tokens = length_text(lengths.tokens, recipe, "max_tokens");
  std::string text;
  if (!frames.empty()) text += line("Lengths", frames);
  if (!tokens.empty()) text += line(frames.empty() ? "Lengths" : "", tokens);
  return text;
}

// Gives "about 3 min to 5 min", or one time where both read the same. A guess below a second is
// no more exact than "under 1 s".
std::string range_text(const std::pair<double, double>& seconds) {
  const std::string to = format_duration(seconds.second);
  if (seconds.second < 1.0) return "under 1 s";
  if (seconds.first < 1.0) return "at most about " + to;
  const std::string from = format_duration(seconds.first);
  return "about " + (from == to ? from : formatted("{} to {}", from, to));
}

// Gives the number of clips that are too long, as the sample estimates it.
std::string expected_text(const pipeline::BuildRequest& request,
                          const pipeline::BuildPreview& preview) {
  std::string text;
  const auto& drops = preview.expected_drops;
  const std::string limit = format_count(preview.lengths.frames.number) + " frames";
  if (drops.count > 0) {
    text += line("Too long", formatted("about {} of {} for {}, and would be dropped",
                                       format_counted(drops.count, "clip", "clips"),
                                       format_count(preview.clip_count), limit));
    text += line("", pipeline::describe(drops, request.recipe));
    if (preview.expected_drop_share > request.max_losses.dropped) {
      text += line("", formatted("That is more than --max-dropped allows ({}): the build would end "
                                 "unpublished, with exit code 3",
                                 report::format_percent(request.max_losses.dropped)));
    }
  }
  if (preview.expected_cut_count > 0) {
    text += line(text.empty() ? "Too long" : "",
                 formatted("about {} without text, and would be cut to {}",
                           format_counted(preview.expected_cut_count, "clip", "clips"), limit));
  }
  return text;
}

// Says what a GPU can save at most: the time of the features.
std::string device_lines(double most_saved_share) {
  constexpr double kHardlyWorthIt = 0.05;
  std::string text = line(
      "Device",
      formatted("all before the features takes {} of the CPU's time: a GPU can save at most {}",
                report::format_percent(1.0 - most_saved_share),
                report::format_percent(most_saved_share)));
  if (most_saved_share < kHardlyWorthIt)
    text += line("", "Decoding is the limit: --device cpu takes about as long");
  return text;
}

std::string storage_lines(const pipeline::BuildPreview& preview) {
  std::string text;
  bool first = true;
  for (const auto& choice : preview.storage) {
    std::string entry = choice.name;
    entry.resize(std::max<std::size_t>(entry.size() + 1, 18), ' ');
    entry += format_size(choice.size_bytes);
    if (choice.chosen) entry += "  (chosen)";
    text += line(first ? "Size" : "", entry);
    first = false;
  }
  return text;
}

std::string free_line(const pipeline::BuildRequest& request,
                      const pipeline::BuildPreview& preview) {
  std::string text = formatted("{} for {}", format_size(preview.free_bytes),
                               escape_controls(request.options.cache));
  for (const auto& choice : preview.storage) {
    if (choice.chosen && choice.size_bytes > preview.free_bytes) {
      text += ": not enough; --layout packed and --dtype float16 need less";
    }
  }
  return line("Free", text);
}

// Gives "decoding 60 %, resampling 22 %, ...": the stages to improve first when a build is too
// slow.
std::string times_text(const records::StageTimes& times) {
  std::string text;
  const auto add = [&](const char* name, double seconds) {
    const double share = seconds / times.computing_s();
    if (share < 0.005) return;
    text += formatted("{}{} {}", text.empty() ? "" : ", ", name, report::format_percent(share));
  };
  add("reading", times.read_s);
  add("decoding", times.decode_s);
  add("resampling", times.resample_s);
  add("trim and loudness", times.condition_s);
  add("features", times.features_s);
  return formatted("{}; writing beside it {}", text, format_duration(times.write_s));
}

std::string unknown_characters_text(const std::map<std::string, std::uint64_t>& unknown) {
  std::string text;
  const ShownCharacters shown = by_count(unknown, shown_of(unknown.size(), kCharactersShown));
  for (const auto& [character, count] : shown.listed) {
    text += formatted("{}{} {}", text.empty() ? "" : ", ",
                      escape_controls(character_in_words(character)),
                      format_counted(count, "time", "times"));
  }
  if (shown.left_out > 0)
    text += formatted(", and {} more (--json lists them)", format_count(shown.left_out));
  return text;
}

std::string rejects_text(const std::vector<formats::Reject>& rejects) {
  Table table({Align::kRight, Align::kLeft, Align::kLeft, Align::kLeft});
  const auto groups = request::group_rejects(rejects);
  const std::size_t shown = shown_of(groups.size(), kRejectGroupsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& group = groups[i];
    const formats::Reject& example = *group.example;
    table.add_row(
        {format_count(group.count), std::string(formats::to_string(example.kind)),
         formats::name_of(example.reason),
         formatted("{}  ({})", report::shorten(escape_controls(report::words_of(example)), 100),
                   report::shorten(escape_controls(formats::place_of(example)), 60))});
  }
  std::string text = table.render(10);
  if (groups.size() > shown) {
    text += formatted("{}and {} more kinds (--json lists them)\n", std::string(10, ' '),
                      format_count(groups.size() - shown));
  }
  return text;
}

// Names the settings that would keep the clips that rules drop. A published cache changes its
// features only where it is made anew.
std::string drops_text(const pipeline::BuildRequest& request, bool is_published,
                       const std::vector<pipeline::DropRemedy>& drops) {
  std::string text;
  for (const pipeline::DropRemedy& drop : drops) {
    const std::string advice = pipeline::describe(drop, request.recipe);
    const bool is_anew = is_published && drop.setting().starts_with("features.");
    if (!advice.empty())
      text += line("", formatted("{} by {}: {}{}", format_count(drop.count), drop.setting(),
                                 is_anew ? "with --overwrite, " : "", advice));
  }
  return text;
}

// Gives "of 13 found: 11 stored, 2 dropped by rules; of 12 in the cache before: ...", where there
// is more than one number to give.
std::string accounting_text(const pipeline::Accounting& all) {
  std::string text;
  if (all.dropped + all.rejected > 0) {
    text += line("Clips", formatted("of {} found: {} stored, {} dropped by rules, {} rejected",
                                    format_count(all.found), format_count(all.stored),
                                    format_count(all.dropped), format_count(all.rejected)));
  }
  if (all.before > 0) {
    text +=
        line(text.empty() ? "Clips" : "",
             formatted("of {} in the cache before: {} stay, {} changed, {} renamed (copied), {} "
                       "dropped or rejected now, {} gone; {} new",
                       format_count(all.before), format_count(all.reused),
                       format_count(all.changed), format_count(all.renamed), format_count(all.lost),
                       format_count(all.gone), format_count(all.added)));
  }
  return text;
}

std::string warnings_text(const std::vector<pipeline::WarningKind>& kinds) {
  Table table({Align::kRight, Align::kLeft, Align::kLeft});
  const std::size_t shown = shown_of(kinds.size(), kRejectGroupsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    table.add_row({format_count(kinds[i].count), formats::name_of(kinds[i].example),
                   report::shorten(escape_controls(report::words_of(kinds[i].example)), 100) +
                       "  (" + report::shorten(escape_controls(kinds[i].example_id), 60) + ")"});
  }
  std::string text = table.render(10);
  if (kinds.size() > shown) {
    text += formatted("{}and {} more kinds (--json lists them)\n", std::string(10, ' '),
                      format_count(kinds.size() - shown));
  }
  return text;
}

std::string next_text(const pipeline::BuildRequest& request) {
  if (request.part) {
    return formatted("xtts-precompute set SET CACHE..., once all {} parts are built",
                     request.partition->count);
  }
  if (request.partition) {
    return formatted("xtts-precompute merge NEW PART..., once all {} parts are built",
                     request.partition->count);
  }
  return "xtts-precompute verify " + escape_controls(shell_quoted(request.options.cache));
}

}  // namespace

std::string describe_preview(const pipeline::BuildRequest& request,
                             const pipeline::BuildPreview& preview) {
  std::string text = line(
      "Data", formatted("{}: layout {}, {}, {}{}", escape_controls(request.data.path),
                        preview.layout, clips_text(preview.clip_count, preview.clips_by_split),
                        format_size(preview.source_bytes), preview.has_text ? "" : ", no text"));
  const std::size_t shown = shown_of(preview.notes.size(), kNotesShown);
  for (std::size_t i = 0; i < shown; ++i) text += line("", escape_controls(preview.notes[i]));
  if (preview.notes.size() > shown) {
    text += line("", formatted("and {} more notes (--dry-run --json lists all)",
                               format_count(preview.notes.size() - shown)));
  }
  if (request.partition) {
    text += line("Part",
                 formatted("{} of {}: these are its clips, dealt out by the bytes of their sources",
                           request.partition->index, request.partition->count));
  }
  text += line("Recipe", recipe_text(request.recipe, preview.lengths));
  const std::string fits = report::format_list(request.recipe.fits);
  if (!fits.empty() && recipe::has_features_of_its_name(Env::real(), request.recipe))
    text += line("", "for " + escape_controls(fits));
  text += lengths_text(preview.lengths, request.recipe);
  if (!preview.unknown_characters.empty()) {
    text += line("Unknown", "characters that the vocabulary lacks: " +
                                unknown_characters_text(preview.unknown_characters));
  }
  std::string work = format_counted(preview.to_compute_count, "clip", "clips");
  if (preview.reused_count > 0)
    work += formatted(", {} are in the cache already", format_count(preview.reused_count));
  if (preview.renamed_count > 0) {
    work += formatted(", of which {} are in the cache by another name and are copied",
                      format_count(preview.renamed_count));
  }
  if (preview.sealed_count > 0) {
    work += formatted(", of which {} were done by the build before, which published nothing",
                      format_count(preview.sealed_count));
  }
  if (preview.sound_seconds)
    work +=
        formatted("; {} of sound", range_text({*preview.sound_seconds, *preview.sound_seconds}));
  if (preview.build_seconds_range) {
    work += formatted(", {} on {}", range_text(*preview.build_seconds_range),
                      format_counted(request.run.thread_count, "thread", "threads"));
  }
  text += line("To do", work);
  if (preview.most_saved_share) text += device_lines(*preview.most_saved_share);
  if (preview.gone_count > 0) {
    text += line("", format_counted(preview.gone_count, "clip", "clips") +
                         " of the cache will go: not in DATA, or not chosen, any more");
    if (preview.would_pass_max_gone)
      text += line("", "That is more than --max-gone allows: the build would end with exit code 3");
  }
  text += expected_text(request, preview);
  text += storage_lines(preview);
  text += free_line(request, preview);
  if (!preview.rejects.empty()) {
    text += line("Rejected", format_counted(preview.rejects.size(), "clip", "clips") +
                                 " before any was decoded");
    text += rejects_text(preview.rejects);
    if (preview.would_pass_max_rejects) {
      text +=
          line("", "That is more than --max-rejects allows: the build would end with exit code 3");
    }
    text += drops_text(request, request.recipe_of && !request.options.overwrite, preview.drops);
    if (preview.would_pass_max_dropped) {
      text +=
          line("", "That is more than --max-dropped allows: the build would end with exit code 3");
    }
  }
  return text;
}

std::string describe_report(const pipeline::BuildRequest& request,
                            const pipeline::BuildReport& report, double elapsed_s) {
  const std::string cache = escape_controls(request.options.cache);
  if (report.unchanged) {
    std::string text = formatted("{} in {}: nothing to do ({})",
                                 format_counted(report.record_count, "clip", "clips"), cache,
                                 format_duration(elapsed_s));
    if (!report.rejects.empty()) {
      text += formatted("; {} rejected before: {}/rejects.jsonl",
                        format_count(report.rejects.size()), cache);
    }
    return line("Unchanged", text);
  }
  std::string done = formatted("{} in {}: {} of sound, {}, generation {}",
                               format_counted(report.record_count, "clip", "clips"), cache,
                               format_duration(report.sound_seconds),
                               format_size(report.cache_bytes), report.generation);
  std::string text = line("Done", done);
  std::string work = formatted("{} computed, {} reused, in {}", format_count(report.computed_count),
                               format_count(report.reused_count), format_duration(elapsed_s));
  text += line("", work);
  text += accounting_text(report.accounting);
  if (report.record_count > 0) {
    text += line("", splits_text(report.records_by_split) +
                         (report.speaker_count > 0
                              ? "; " + format_counted(report.speaker_count, "speaker", "speakers")
                              : std::string()));
  }
  if (report.times.computing_s() > 0.0) text += line("Time", times_text(report.times));
  if (report.cut_count > 0) {
    text += line("Cut", formatted("{} cut to {} frames",
                                  format_counted(report.cut_count, "clip was", "clips were"),
                                  format_count(report.lengths.frames.number)));
  }
  if (report.cut_text_count > 0) {
    text += line(report.cut_count > 0 ? "" : "Cut",
                 formatted("{} cut to {} tokens; the text itself is kept",
                           format_counted(report.cut_text_count, "text was", "texts were"),
                           format_count(report.lengths.tokens.number)));
  }
  if (report.warned_count > 0) {
    text += line("Warnings",
                 formatted("{} and stored: xtts-precompute ls {} --where warning",
                           format_counted(report.warned_count, "clip is odd", "clips are odd"),
                           escape_controls(shell_quoted(request.options.cache))));
    text += warnings_text(report.warnings);
  }
  if (!report.rejects.empty()) {
    text += line("Rejected", formatted("{}, each with its reason in {}/rejects.jsonl",
                                       format_count(report.rejects.size()), cache));
    text += rejects_text(report.rejects);
    text += drops_text(request, true, report.drops);
  }
  text += line("Next", next_text(request));
  return text;
}

}  // namespace xtts::cli
