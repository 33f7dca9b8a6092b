#include "report/reasons.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "formats/rules.hpp"
#include "report/human.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace xtts::report {
namespace {

using formats::Reason;
using formats::Rule;

constexpr double kSecondsLikely = 1e7;  // 115 days: no header of a sound says more

template <typename... Values>
std::string text_of(const char* format, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string count_of(double number) {
  return text_of("%.0f", number);
}

std::string counted_by(double number, const char* one, const char* many) {
  return formatted("{} {}", count_of(number), number == 1.0 ? one : many);
}

std::string behind(std::string_view words, const std::string& detail) {
  return detail.empty() ? std::string(words) : formatted("{}: {}", words, detail);
}

// Adds the peak above 2: a file of another scale makes features that no column holds.
std::string with_peak(std::string words, double peak) {
  if (!(peak > 2.0)) return words;
  return words + text_of("; its samples reach %.4g, where full scale is 1", peak);
}

std::string unknown_characters(const Reason& reason) {
  return "characters outside the vocabulary: " + reason.detail;
}

std::string vanished(const Reason& reason, const char* dtype) {
  return formatted("column {}{}", reason.detail,
                   text_of(": %.1f %% of its values are too small for %s and became 0",
                           1e2 * reason.numbers[0], dtype));
}

std::string beyond(const Reason& reason, const char* dtype, const std::string& wider) {
  return formatted("column {}{}{} holds it", reason.detail,
                   text_of(" reaches %.4g, beyond %s: ", reason.numbers[0], dtype), wider);
}

// Gives the setting that would keep a clip that a rule of the recipe dropped.
std::string remedy_of(const Reason& reason) {
  const std::string setting(formats::info_of(reason.rule).setting);
  switch (reason.rule) {
    case Rule::kTooLong:
    case Rule::kTextTooLong:
      return formatted("{}={} keeps it", setting, count_of(reason.numbers[0]));
    case Rule::kClipTooLong:
      return formatted("{}={} keeps it", setting, count_of(std::ceil(reason.numbers[0])));
    case Rule::kSourceTooLong:
      return formatted("a higher {} keeps it", setting);
    case Rule::kOtherRate:
      return setting + "=soxr_hq resamples it";
    case Rule::kUnknownCharacters:
      return formatted("{}=drop leaves them out, {}=unk keeps their place", setting, setting);
    default:
      return setting + "=warn keeps it";
  }
}

}  // namespace

std::string words_of(const Reason& reason) {
  const auto& [first, second] = reason.numbers;
  const std::string& detail = reason.detail;
  switch (reason.rule) {
    case Rule::kBadRow:
    case Rule::kAudioMissing:
    case Rule::kAudioOutsideOfData:
    case Rule::kIdTwice:
    case Rule::kBadFile:
    case Rule::kNotRead:
    case Rule::kOutsideOfData:
    case Rule::kNoRecording:
    case Rule::kSourceUnreadable:
    case Rule::kSourceRefused:
    case Rule::kDecodeFailed:
    case Rule::kDecoderCrashed:
    case Rule::kUnfitSound:
      return detail;
    case Rule::kNoText:
      return "no text";
    case Rule::kTextTooLong:
      return formatted("{}, at most {}",
                       detail.empty() ? counted_by(first, "token", "tokens")
                                      : formatted("{} {}", count_of(first), detail),
                       count_of(second));
    case Rule::kUnknownCharacters:
      return unknown_characters(reason);
    case Rule::kTextNotUtf8:
      return formatted("text is not UTF-8 at byte {}: convert the list, or use text.tokens=bytes",
                       count_of(first));
    case Rule::kDecoderTooSlow:
      return formatted("{}{}: given up",
                       text_of("its decoder used more than %.3g s of processor time for ", first),
                       format_size(static_cast<std::uint64_t>(second)));
    case Rule::kDecoderTooLarge:
      return formatted("needs more than {} MiB to decode", count_of(first));
    case Rule::kDecoderStoodStill:
      return text_of("its decoder stood still for %.3g s: tried again by the next build", first);
    case Rule::kSourceEmpty:
      return "the file is empty";
    case Rule::kSourceTooLong:
      return text_of("longer than %g s", first);
    case Rule::kClipTooLong:
      return text_of("%.2f s, at most %.2f s", first, second);
    case Rule::kSegmentBeyondSource:
      return text_of("the segment begins at %.2f s, its source ends at %.2f s", first, second);
    case Rule::kSegmentEmpty:
      return "the segment is shorter than a sample";
    case Rule::kSegmentCut:
      return text_of("the segment should end at %.2f s, its source ends at %.2f s", first, second);
    case Rule::kOtherRate:
      return text_of("%.0f Hz, and the recipe takes %.0f Hz alone", first, second);
    case Rule::kRateChanges:
      return "the sample rate changes " + counted_by(first, "time", "times");
    case Rule::kPacketsSkipped:
      return formatted("{} skipped ({})", counted_by(first, "damaged packet", "damaged packets"),
                       detail);
    case Rule::kDecoderComplains:
      return behind("FFmpeg complains", detail);
    case Rule::kReadingStopped:
      return behind("reading stopped", detail);
    case Rule::kEndsEarly:
      return second > kSecondsLikely
                 ? "its header promises a length that no sound has"
                 : text_of("stops %.2f s early: its header promises %.2f s", first, second);
    case Rule::kEndMissing:
      return behind("its end is missing", detail);
    case Rule::kSourceNotFinite:
      return formatted("its source has {} NaN, infinite or beyond 1e30: taken as 0",
                       counted_by(first, "sample that is", "samples that are"));
    case Rule::kTooShort:
      return text_of("very short: %.2f ms", 1e3 * first);
    case Rule::kSilent:
      return "silent";
    case Rule::kClipped:
      return text_of("clipped: %.2f %% of its samples", 1e2 * first);
    case Rule::kNotFinite:
      return counted_by(first, "sample is", "samples are") +
             " NaN, infinite or beyond 1e30: taken as 0";
    case Rule::kLowRate:
      return text_of("low sample rate: %.0f Hz", first);
    case Rule::kSameSound:
      return "the same samples as " + detail;
    case Rule::kNoFeatures:
      return with_peak(detail, first);
    case Rule::kTooLong:
      return formatted("{}, at most {}", counted_by(first, "frame", "frames"), count_of(second));
    case Rule::kValuesNotFinite:
      return with_peak(formatted("column {}: values beyond float32, or no numbers", detail), first);
    case Rule::kBeyondFloat16:
      return beyond(reason, "float16", option("dtype", "bfloat16") + " or float32");
    case Rule::kBeyondBfloat16:
      return beyond(reason, "bfloat16", option("dtype", "float32"));
    case Rule::kBeyondInt16:
      return formatted("column {}{}", detail,
                       text_of(" reaches %.4g times full scale, and int16 holds full scale: "
                               "columns.wave=float32 or loudness.method=limit keeps it",
                               first));
    case Rule::kVanishedInFloat16:
      return vanished(reason, "float16");
    case Rule::kVanishedInBfloat16:
      return vanished(reason, "bfloat16");
    case Rule::kCutAtFullScale:
      return formatted("column {}{}", detail,
                       text_of(": %.1f %% of its samples are beyond full scale and were cut there",
                               1e2 * first));
    case Rule::kUnknown:
      break;
  }
  return "a rule of another version: " + detail;
}

std::string words_of(const formats::Reject& reject) {
  std::string words = words_of(reject.reason);
  if (formats::info_of(reject.reason.rule).setting.empty()) return words;
  const char* const between = reject.reason.rule == Rule::kUnknownCharacters ? "; " : ": ";
  return words + between + remedy_of(reject.reason);
}

std::string lines_of(std::span<const Reason> reasons) {
  std::string lines;
  for (const Reason& reason : reasons) lines += (lines.empty() ? "" : "\n") + words_of(reason);
  return lines;
}

}  // namespace xtts::report
