#include "decode/detail/recognise.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "decode/detail/misread.hpp"
#include "decode/formats.hpp"

namespace xtts::decode::detail {
namespace {

// The bytes that a look reads: first the small number, which is enough for nearly all files.
constexpr std::array<std::size_t, 2> kLooksBytes = {std::size_t{4} << 10U, std::size_t{64} << 10U};

// Finds still pictures in the container of MP4.
bool is_picture(std::string_view head) {
  if (!head.substr(4).starts_with("ftyp")) return false;
  constexpr std::array<std::string_view, 6> kBrands = {"avif", "avis", "heic",
                                                       "heix", "mif1", "msf1"};
  return std::ranges::any_of(
      kBrands, [&](std::string_view brand) { return head.substr(8).starts_with(brand); });
}

// Asking each of libav's 350 demuxers costs as much as decoding a 6.5 s WAV. So we check four
// signatures that leave no doubt. libav finds out all others, such as ID3 tags before an MP3.
const AVInputFormat* by_signature(std::string_view head) {
  if (head.starts_with("RIFF") && head.substr(8).starts_with("WAVE"))
    return av_find_input_format("wav");
  if (head.starts_with("fLaC")) return av_find_input_format("flac");
  if (head.starts_with("OggS")) return av_find_input_format("ogg");
  if (head.substr(4).starts_with("ftyp")) return av_find_input_format("mov");
  return nullptr;
}

const AVInputFormat* by_suffix(std::string_view suffix) {
  const std::string name(demuxer_of_suffix(suffix));
  return name.empty() ? nullptr : av_find_input_format(name.c_str());
}

std::string refusal_of(const AVInputFormat& format) {
  const FormatRule rule = rule_of_demuxer(format.name);
  std::string text = formatted("it looks like '{}'", format.name);
  if (!rule.reason.empty()) text += ": " + std::string(rule.reason);
  return formatted("{}{})",
                   rule.holds_sound ? "is sound that is not read (" : "not an audio file (", text);
}

// If the suffix names a format without header, a weak likeness to another format is chance.
bool is_chance(int score, std::string_view suffix) {
  return score <= AVPROBE_SCORE_RETRY && !demuxer_of_suffix(suffix).empty();
}

audio::Recognition verdict_of(const AVInputFormat& format) {
  const FormatRule rule = rule_of_demuxer(format.name);
  if (rule.use == FormatUse::kRead) return {audio::ContentKind::kSound, ""};
  if (rule.use == FormatUse::kNotAudio || !rule.holds_sound)
    return {audio::ContentKind::kNotSound, ""};
  return {audio::ContentKind::kRefused, refusal_of(format)};
}

audio::Recognition verdict_of_suffix(std::string_view suffix) {
  switch (meaning_of_suffix(suffix)) {
    case SuffixMeaning::kHeaderless:
      return {audio::ContentKind::kSound, ""};
    case SuffixMeaning::kSound:
      return {audio::ContentKind::kRefused,
              "is named like sound, but has no format that FFmpeg knows"};
    case SuffixMeaning::kRefused:
      return {audio::ContentKind::kRefused,
              "is named like samples without a header, which are not read: "
              "convert it to WAV"};
    case SuffixMeaning::kNothing:
      break;
  }
  return {audio::ContentKind::kNotSound, ""};
}

}  // namespace

Result<const AVInputFormat*> recognise(const SourceReader& reader, std::string_view suffix,
                                       const Complaints& complaints) {
  if (is_picture(reader.head()))
    return Status(StatusCode::kBadInput, "not an audio file (it is a picture)");
  XTTS_TRY(refuse_misread(reader.head()));
  if (const AVInputFormat* format = by_signature(reader.head()); format != nullptr) return format;
  const AVInputFormat* format = nullptr;
  const int score = av_probe_input_buffer2(reader.io(), &format, "", nullptr, 0, 0);
  if (score == AVERROR(ENOMEM)) return complaints.failure("recognising the format", score);
  const bool is_found = score >= 0 && format != nullptr;
  if (!is_found || is_chance(score, suffix) ||
      rule_of_demuxer(format->name).use == FormatUse::kReadBySuffix) {
    if (const AVInputFormat* named = by_suffix(suffix); named != nullptr) return named;
  }
  if (!is_found) return Status(StatusCode::kBadInput, "not an audio file that FFmpeg knows");
  if (rule_of_demuxer(format->name).use != FormatUse::kRead)
    return Status(StatusCode::kBadInput, refusal_of(*format));
  return format;
}

Result<FirstLook> look_at(const RandomAccessFile& source, std::string_view suffix) {
  std::vector<unsigned char> bytes(kLooksBytes.back() + AVPROBE_PADDING_SIZE);
  std::size_t size = 0;
  bool is_doubtful = false;
  for (const std::size_t wanted : kLooksBytes) {
    // The padding must be zeros, and so must the rest behind a short file.
    const auto room = std::as_writable_bytes(std::span(bytes)).subspan(size, wanted - size);
    const Result<std::size_t> got = source.read_at(size, room);
    if (!got.ok()) return Status(StatusCode::kSourceIo, got.status().message());
    size += *got;
    const std::string_view head(reinterpret_cast<const char*>(bytes.data()), 12);
    if (is_picture(head)) return FirstLook{{audio::ContentKind::kNotSound, ""}, false};
    // A tag with a picture may be longer than any look, and only sound begins with a tag.
    if (by_signature(head) != nullptr || head.starts_with("ID3"))
      return FirstLook{{audio::ContentKind::kSound, ""}, false};
    AVProbeData probe{"", bytes.data(), static_cast<int>(size), nullptr};
    int score = 0;
    const AVInputFormat* format = av_probe_input_format3(&probe, 1, &score);
    const bool is_sure = format != nullptr && score > AVPROBE_SCORE_RETRY;
    // Files of these formats count as sound only if their suffix says so.
    const bool needs_suffix =
        is_sure && rule_of_demuxer(format->name).use == FormatUse::kReadBySuffix;
    if (is_sure && !needs_suffix) return FirstLook{verdict_of(*format), false};
    is_doubtful = format != nullptr && !is_sure && score > 0 &&
                  rule_of_demuxer(format->name).use == FormatUse::kRead;
    if (needs_suffix || size < wanted) break;
  }
  return FirstLook{verdict_of_suffix(suffix), is_doubtful};
}

}  // namespace xtts::decode::detail
