// The names of the recipe's enumerators, in YAML recipes and in canonical JSON. Both use one
// table, so the fingerprint has the words that a person writes. Names never change, because they
// are in fingerprints.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "formats/corpus_config.hpp"
#include "formats/feature_enums.hpp"
#include "formats/storage_config.hpp"
#include "formats/text_config.hpp"

namespace xtts::formats {

template <typename Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

// enum_names(Enum{}) lists all enumerators in the order in which messages should show them.
constexpr auto enum_names(ChannelMix) {
  return std::to_array<EnumName<ChannelMix>>(
      {{ChannelMix::kMean, "mean"}, {ChannelMix::kFirst, "first"}});
}
constexpr auto enum_names(TrimMethod) {
  return std::to_array<EnumName<TrimMethod>>(
      {{TrimMethod::kNone, "none"}, {TrimMethod::kTopDb, "top_db"}});
}
constexpr auto enum_names(LoudnessMethod) {
  return std::to_array<EnumName<LoudnessMethod>>({{LoudnessMethod::kNone, "none"},
                                                  {LoudnessMethod::kRms, "rms"},
                                                  {LoudnessMethod::kPeak, "peak"},
                                                  {LoudnessMethod::kLimit, "limit"},
                                                  {LoudnessMethod::kLufs, "lufs"}});
}
constexpr auto enum_names(Rounding) {
  return std::to_array<EnumName<Rounding>>(
      {{Rounding::kEachStep, "each_step"}, {Rounding::kOnce, "once"}});
}
constexpr auto enum_names(WindowKind) {
  return std::to_array<EnumName<WindowKind>>({{WindowKind::kHann, "hann"},
                                              {WindowKind::kHamming, "hamming"},
                                              {WindowKind::kPovey, "povey"}});
}
constexpr auto enum_names(WindowSymmetry) {
  return std::to_array<EnumName<WindowSymmetry>>(
      {{WindowSymmetry::kPeriodic, "periodic"}, {WindowSymmetry::kSymmetric, "symmetric"}});
}
constexpr auto enum_names(Framing) {
  return std::to_array<EnumName<Framing>>({{Framing::kCenter, "center"},
                                           {Framing::kSame, "same"},
                                           {Framing::kNone, "none"},
                                           {Framing::kEnd, "end"},
                                           {Framing::kSnipEdges, "snip_edges"},
                                           {Framing::kKeepEdges, "keep_edges"}});
}
constexpr auto enum_names(PadMode) {
  return std::to_array<EnumName<PadMode>>({{PadMode::kZeros, "zeros"},
                                           {PadMode::kReflect, "reflect"},
                                           {PadMode::kReflectAgain, "reflect_again"},
                                           {PadMode::kSymmetric, "symmetric"}});
}
constexpr auto enum_names(SpectrumKind) {
  return std::to_array<EnumName<SpectrumKind>>({{SpectrumKind::kMagnitude, "magnitude"},
                                                {SpectrumKind::kPower, "power"},
                                                {SpectrumKind::kRootPlus, "root_plus"}});
}
constexpr auto enum_names(MelScale) {
  return std::to_array<EnumName<MelScale>>(
      {{MelScale::kSlaney, "slaney"}, {MelScale::kHtk, "htk"}, {MelScale::kNone, "none"}});
}
constexpr auto enum_names(MelTriangles) {
  return std::to_array<EnumName<MelTriangles>>(
      {{MelTriangles::kHz, "hz"}, {MelTriangles::kMel, "mel"}});
}
constexpr auto enum_names(MelNorm) {
  return std::to_array<EnumName<MelNorm>>({{MelNorm::kNone, "none"}, {MelNorm::kSlaney, "slaney"}});
}
constexpr auto enum_names(LogBase) {
  return std::to_array<EnumName<LogBase>>(
      {{LogBase::kNone, "none"}, {LogBase::kNatural, "natural"}, {LogBase::kTen, "ten"}});
}
constexpr auto enum_names(LogFloor) {
  return std::to_array<EnumName<LogFloor>>({{LogFloor::kClamp, "clamp"}, {LogFloor::kAdd, "add"}});
}
constexpr auto enum_names(NormalizeMethod) {
  return std::to_array<EnumName<NormalizeMethod>>(
      {{NormalizeMethod::kNone, "none"},
       {NormalizeMethod::kAffine, "affine"},
       {NormalizeMethod::kMinMax, "min_max"},
       {NormalizeMethod::kMeanVariance, "mean_variance"},
       {NormalizeMethod::kChannels, "channels"}});
}
constexpr auto enum_names(Axis) {
  return std::to_array<EnumName<Axis>>({{Axis::kFrames, "frames"},
                                        {Axis::kTokens, "tokens"},
                                        {Axis::kOwn, "own"},
                                        {Axis::kFixed, "fixed"}});
}
constexpr auto enum_names(WaveColumn) {
  return std::to_array<EnumName<WaveColumn>>({{WaveColumn::kNone, "none"},
                                              {WaveColumn::kInt16, "int16"},
                                              {WaveColumn::kFloat32, "float32"}});
}
constexpr auto enum_names(PadWhat) {
  return std::to_array<EnumName<PadWhat>>(
      {{PadWhat::kFrames, "frames"}, {PadWhat::kSamples, "samples"}});
}
constexpr auto enum_names(TooLong) {
  return std::to_array<EnumName<TooLong>>(
      {{TooLong::kDrop, "drop"}, {TooLong::kTruncate, "truncate"}, {TooLong::kSplit, "split"}});
}
constexpr auto enum_names(Precision) {
  return std::to_array<EnumName<Precision>>(
      {{Precision::kDouble, "double"}, {Precision::kFloat32, "float32"}});
}
constexpr auto enum_names(TokenKind) {
  return std::to_array<EnumName<TokenKind>>({{TokenKind::kNone, "none"},
                                             {TokenKind::kBytes, "bytes"},
                                             {TokenKind::kCharacters, "characters"}});
}
constexpr auto enum_names(LongText) {
  return std::to_array<EnumName<LongText>>(
      {{LongText::kDrop, "drop"}, {LongText::kTruncate, "truncate"}});
}
constexpr auto enum_names(UnknownCharacter) {
  return std::to_array<EnumName<UnknownCharacter>>({{UnknownCharacter::kDrop, "drop"},
                                                    {UnknownCharacter::kUnknownToken, "unk"},
                                                    {UnknownCharacter::kError, "error"}});
}
constexpr auto enum_names(SplitBy) {
  return std::to_array<EnumName<SplitBy>>({{SplitBy::kId, "id"},
                                           {SplitBy::kSource, "source"},
                                           {SplitBy::kSpeaker, "speaker"},
                                           {SplitBy::kText, "text"}});
}
constexpr auto enum_names(OddClip) {
  return std::to_array<EnumName<OddClip>>(
      {{OddClip::kKeep, "keep"}, {OddClip::kWarn, "warn"}, {OddClip::kDrop, "drop"}});
}
constexpr auto enum_names(CutClip) {
  return std::to_array<EnumName<CutClip>>({{CutClip::kAuto, "auto"},
                                           {CutClip::kKeep, "keep"},
                                           {CutClip::kWarn, "warn"},
                                           {CutClip::kDrop, "drop"},
                                           {CutClip::kReject, "reject"}});
}
constexpr auto enum_names(Layout) {
  return std::to_array<EnumName<Layout>>(
      {{Layout::kPadded, "padded"}, {Layout::kPacked, "packed"}});
}
constexpr auto enum_names(StoreKind) {
  return std::to_array<EnumName<StoreKind>>(
      {{StoreKind::kLmdb, "lmdb"}, {StoreKind::kHdf5, "hdf5"}});
}

template <typename Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) noexcept {
  for (const auto& entry : enum_names(Enum{})) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

template <typename Enum>
[[nodiscard]] constexpr std::optional<Enum> parse_enum(std::string_view name) noexcept {
  for (const auto& entry : enum_names(Enum{})) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

}  // namespace xtts::formats
