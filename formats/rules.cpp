#include "formats/rules.hpp"

#include <cstddef>

namespace xtts::formats {
namespace {

constexpr std::string_view kDetail = "detail";

// clang-format off
constexpr std::array kRules{
    RuleInfo{Rule::kUnknown, "unknown", Stage::kUnknown},
    RuleInfo{Rule::kBadRow, "bad_row", Stage::kList},
    RuleInfo{Rule::kAudioMissing, "audio_missing", Stage::kList},
    RuleInfo{Rule::kAudioOutsideOfData, "audio_outside_of_data", Stage::kList},
    RuleInfo{Rule::kIdTwice, "id_twice", Stage::kList},
    RuleInfo{Rule::kBadFile, "bad_file", Stage::kDiscover},
    RuleInfo{Rule::kNotRead, "not_read", Stage::kDiscover},
    RuleInfo{Rule::kOutsideOfData, "outside_of_data", Stage::kDiscover},
    RuleInfo{Rule::kNoRecording, "no_recording", Stage::kDiscover},
    RuleInfo{Rule::kNoText, "no_text", Stage::kText, Effect::kChosen, {}, kDetail, "corpus.no_text"},
    RuleInfo{Rule::kTextTooLong, "text_too_long", Stage::kText, Effect::kRejected, {"tokens", "max_tokens"}, kDetail, "text.max_tokens"},
    RuleInfo{Rule::kUnknownCharacters, "unknown_characters", Stage::kText, Effect::kRejected, {"characters", "times"}, "examples", "text.unknown"},
    RuleInfo{Rule::kTextNotUtf8, "text_not_utf8", Stage::kText, Effect::kRejected, {"offset_bytes"}},
    RuleInfo{Rule::kSourceUnreadable, "source_unreadable", Stage::kRead},
    RuleInfo{Rule::kSourceRefused, "source_refused", Stage::kRead},
    RuleInfo{Rule::kSourceEmpty, "source_empty", Stage::kRead},
    RuleInfo{Rule::kDecodeFailed, "decode_failed", Stage::kDecode},
    RuleInfo{Rule::kDecoderCrashed, "decoder_crashed", Stage::kDecode},
    RuleInfo{Rule::kDecoderTooSlow, "decoder_too_slow", Stage::kDecode, Effect::kRejected, {"max_cpu_seconds", "source_bytes"}},
    RuleInfo{Rule::kDecoderTooLarge, "decoder_too_large", Stage::kDecode, Effect::kRejected, {"max_memory_mib"}},
    RuleInfo{Rule::kDecoderStoodStill, "decoder_stood_still", Stage::kDecode, Effect::kRejected, {"max_idle_seconds"}},
    RuleInfo{Rule::kSourceTooLong, "source_too_long", Stage::kDecode, Effect::kRejected, {"max_seconds"}, kDetail, "corpus.max_source_seconds"},
    RuleInfo{Rule::kClipTooLong, "clip_too_long", Stage::kDecode, Effect::kRejected, {"clip_seconds", "max_seconds"}, kDetail, "corpus.max_clip_seconds"},
    RuleInfo{Rule::kSegmentBeyondSource, "segment_beyond_source", Stage::kDecode, Effect::kRejected, {"start_s", "source_end_s"}},
    RuleInfo{Rule::kSegmentEmpty, "segment_empty", Stage::kDecode},
    RuleInfo{Rule::kSegmentCut, "segment_cut", Stage::kDecode, Effect::kWarned, {"end_s", "source_end_s"}},
    RuleInfo{Rule::kOtherRate, "other_rate", Stage::kDecode, Effect::kRejected, {"rate_hz", "wanted_hz"}, kDetail, "features.resampler"},
    RuleInfo{Rule::kRateChanges, "rate_changes", Stage::kDecode, Effect::kWarned, {"times"}},
    RuleInfo{Rule::kPacketsSkipped, "packets_skipped", Stage::kDecode, Effect::kChosen, {"packets"}, kDetail, "corpus.truncated"},
    RuleInfo{Rule::kDecoderComplains, "decoder_complains", Stage::kDecode, Effect::kWarned},
    RuleInfo{Rule::kReadingStopped, "reading_stopped", Stage::kDecode, Effect::kChosen, {}, kDetail, "corpus.truncated"},
    RuleInfo{Rule::kEndsEarly, "ends_early", Stage::kDecode, Effect::kChosen, {"missing_s", "promised_s"}, kDetail, "corpus.truncated"},
    RuleInfo{Rule::kEndMissing, "end_missing", Stage::kDecode, Effect::kChosen, {}, kDetail, "corpus.truncated"},
    RuleInfo{Rule::kSourceNotFinite, "source_not_finite", Stage::kDecode, Effect::kWarned, {"samples"}},
    RuleInfo{Rule::kUnfitSound, "unfit_sound", Stage::kCondition},
    RuleInfo{Rule::kTooShort, "too_short", Stage::kCondition, Effect::kChosen, {"clip_seconds"}, kDetail, "corpus.too_short"},
    RuleInfo{Rule::kSilent, "silent", Stage::kCondition, Effect::kChosen, {}, kDetail, "corpus.silent"},
    RuleInfo{Rule::kClipped, "clipped", Stage::kCondition, Effect::kChosen, {"share"}, kDetail, "corpus.clipped"},
    RuleInfo{Rule::kNotFinite, "not_finite", Stage::kCondition, Effect::kChosen, {"samples"}, kDetail, "corpus.not_finite"},
    RuleInfo{Rule::kLowRate, "low_rate", Stage::kCondition, Effect::kChosen, {"rate_hz"}, kDetail, "corpus.low_rate"},
    RuleInfo{Rule::kSameSound, "same_sound", Stage::kCondition, Effect::kChosen, {}, "first_id", "corpus.duplicates"},
    RuleInfo{Rule::kNoFeatures, "no_features", Stage::kFeatures, Effect::kRejected, {"peak"}},
    RuleInfo{Rule::kTooLong, "too_long", Stage::kFeatures, Effect::kRejected, {"frames", "max_frames"}, kDetail, "features.max_frames"},
    RuleInfo{Rule::kValuesNotFinite, "values_not_finite", Stage::kFeatures, Effect::kRejected, {"peak"}, "column"},
    RuleInfo{Rule::kBeyondFloat16, "beyond_float16", Stage::kFeatures, Effect::kRejected, {"largest"}, "column"},
    RuleInfo{Rule::kBeyondBfloat16, "beyond_bfloat16", Stage::kFeatures, Effect::kRejected, {"largest"}, "column"},
    RuleInfo{Rule::kBeyondInt16, "beyond_int16", Stage::kFeatures, Effect::kRejected, {"largest"}, "column"},
    RuleInfo{Rule::kVanishedInFloat16, "vanished_in_float16", Stage::kFeatures, Effect::kWarned, {"share"}, "column"},
    RuleInfo{Rule::kVanishedInBfloat16, "vanished_in_bfloat16", Stage::kFeatures, Effect::kWarned, {"share"}, "column"},
    RuleInfo{Rule::kCutAtFullScale, "cut_at_full_scale", Stage::kFeatures, Effect::kWarned, {"share"}, "column"},
};
// clang-format on

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<std::size_t>(kRules[i].rule) != i) return false;
  }
  return kRules.back().rule == Rule::kCutAtFullScale;
}
static_assert(is_in_order(), "kRules has a row for each Rule, in the order of the enumeration");

}  // namespace

std::string_view to_string(Stage stage) noexcept {
  switch (stage) {
    case Stage::kList:
      return "list";
    case Stage::kDiscover:
      return "discover";
    case Stage::kText:
      return "text";
    case Stage::kRead:
      return "read";
    case Stage::kDecode:
      return "decode";
    case Stage::kCondition:
      return "condition";
    case Stage::kFeatures:
      return "features";
    case Stage::kUnknown:
      break;
  }
  return "unknown";
}

const RuleInfo& info_of(Rule rule) noexcept {
  return kRules[static_cast<std::size_t>(rule)];
}

std::string_view name_of(Rule rule) noexcept {
  return info_of(rule).name;
}

std::span<const RuleInfo> all_rules() noexcept {
  return std::span(kRules).subspan(1);
}

bool precedes_sound(Stage stage) noexcept {
  return stage == Stage::kList || stage == Stage::kDiscover || stage == Stage::kText;
}

}  // namespace xtts::formats
