#include "decode/formats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <unordered_map>

#include "decode/detail/libav.hpp"

namespace xtts::decode {
namespace {

struct Group {
  FormatUse use;
  bool holds_sound;
  std::string_view reason;
  std::string_view names;  // separated by spaces; the first of libav's own list of names
};

constexpr std::string_view kOtherFiles =
    "names other files or addresses; nothing but DATA is opened";
constexpr std::string_view kHeaderlessSamples =
    "samples without a header: nobody can know their rate, width and channels";
constexpr std::string_view kNoHeader =
    "has no header, and nearly any bytes look like it: read where its suffix says so";
constexpr std::string_view kWeakSignature =
    "has no header of its own, and bytes of anything else look like it";
constexpr std::string_view kBySuffixAlone = "has no signature, and its suffix is no proof";
constexpr std::string_view kTwin = "another demuxer reads the same files";
constexpr std::string_view kScore = "a score or script for a synthesizer, not a recording";
constexpr std::string_view kPictures = "pictures";
constexpr std::string_view kRawVideo = "pictures in motion without sound";
constexpr std::string_view kWords = "subtitles or text";
constexpr std::string_view kNoMeaning = "takes any bytes";

// We tested whether signatures are good enough: the probes of FFmpeg 5.1 on 3,000 blocks of random
// bytes, zeros, text, floats and 16-bit numbers. amrnb, gsm, h263, lrc and sga accepted some of
// them. mp3 and mpegts did, too, with a score (2 of 100) that does not count as recognition here.
constexpr auto kGroups = std::to_array<Group>({
    // Sound, or video with sound, each known by its content.
    {FormatUse::kRead, true, "",
     "aa aac aax ac3 ace acm adp ads adx aea aix alp amr apc ape apm argo_asf argo_brp asf ast "
     "avi avr avs bethsoftvid bfi bfstm bink binka bit boa brstm c93 caf cdxl codec2 dcstr derf "
     "dhav dsf dsicin dss dts dtshd dv dxa ea eac3 epaf film_cpk flac flv fsb fwse 4xm gdv genh "
     "gxf hca hcom hnm idcin iff ifv ilbc ipmovie ircam iss ivr jv kux kvag laf lmlm4 loas lvf "
     "lxf luodat matroska mca mlp mlv mm mmf mods moflex mov mp3 mpc mpc8 mpeg mpegts msf mtaf "
     "mtv musx mv mxf nistsphere nsp nsv nut nuv ogg oma osq paf pmp pp_bnk pva pvf qcp qoa r3d "
     "redspark rka rl2 rm roq rpl rsd s337m scd sdns sdr2 sdx shn siff simbiosis_imx smjpeg smk "
     "smush sol sox spdif psxstr svag svs swf tak thp 3dostr tiertexseq tmv truehd tta ty usm "
     "vag vividas vivo vmd voc vpk vqf wady wavarc wc3movie wsaud wsd wsvqa wtv wve wv xa xmd "
     "xmv xvag xwma yop iamf"},
    // detail/misread.cpp refuses these parts of them.
    {FormatUse::kRead, true,
     "but not RIFX, G.721, NMS ADPCM, AAC, Speex, Vorbis or samples with padding, which FFmpeg "
     "reads wrongly",
     "w64 wav"},
    {FormatUse::kRead, true, "but not G.721 or G.723, which FFmpeg reads wrongly", "au"},
    {FormatUse::kRead, true, "but not GSM, which FFmpeg reads wrongly", "aiff"},
    {FormatUse::kRefused, true, "FFmpeg reads it wrongly, and adds samples at its end", "sds"},
    {FormatUse::kReadBySuffix, true, kNoHeader,
     "aptx aptx_hd daud dfpwm g722 g723_1 g729 gsm rso sbc sln"},
    {FormatUse::kRefused, false, kOtherFiles, "concat dash hls imf webm_dash_manifest"},
    {FormatUse::kRefused, false, "opens connections to other machines",
     "rtp rtsp sap sdp msnwctcp"},
    {FormatUse::kRefused, false, "a sequence of pictures, found by its names", "image2 image2pipe"},
    {FormatUse::kRefused, true, kHeaderlessSamples,
     "alaw mulaw vidc f64be f64le f32be f32le s32be s32le s24be s24le s16be s16le s8 u32be u32le "
     "u24be u24le u16be u16le u8"},
    {FormatUse::kRefused, true, kWeakSignature, "amrnb amrwb argo_cvg mgsts sga"},
    {FormatUse::kRefused, true, "has no header, and its rate stands nowhere",
     "codec2raw g726 g726le g728 bonk evc"},
    {FormatUse::kRefused, true, kBySuffixAlone, "afc bmv mpegtsraw mvi mxg"},
    {FormatUse::kRefused, true, "begins as WAV does, and is read as WAV", "act"},
    {FormatUse::kRefused, true, kTwin, "asf_o live_flv"},
    {FormatUse::kRefused, false, kScore, "libgme libmodplug libopenmpt sbg"},
    {FormatUse::kRefused, false, "needs a synthesizer or a device",
     "alsa lavfi vapoursynth avisynth"},
    {FormatUse::kNotAudio, false, kNoMeaning, "data bitpacked"},
    {FormatUse::kNotAudio, false, kWords,
     "adf aqtitle ass bin dvbsub dvbtxt ffmetadata idf jacosub lrc mcc microdvd mpl2 mpsub pjs "
     "realtext "
     "sami scc srt stl subviewer1 subviewer sup tedcaptions tty vobsub vplayer webvtt xbin"},
    {FormatUse::kNotAudio, false, kPictures,
     "anm apng fits frm gif ico alias_pix brender_pix cine msp ser txd"},
    {FormatUse::kNotAudio, false, kRawVideo,
     "av1 avs2 avs3 cavsvideo cdg dfa dirac dnxhd ea_cdata filmstrip flic h261 h263 h264 hevc "
     "ingenient "
     "ipu iv8 ivf m4v mjpeg mjpeg_2000 mpegvideo mpjpeg nc obu rawvideo rcwt v210 v210x vc1 "
     "vc1test "
     "vvc yuv4mpegpipe apv pdv"},
});

std::string_view first_name(std::string_view names) {
  return names.substr(0, names.find(','));
}

using Rules = std::unordered_map<std::string_view, FormatRule>;

Rules make_rules() {
  Rules rules;
  for (const Group& group : kGroups) {
    std::string_view rest = group.names;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(' '), rest.size());
      if (end > 0)
        rules.emplace(rest.substr(0, end), FormatRule{group.use, group.reason, group.holds_sound});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return rules;
}

// libav has a demuxer for each picture format that it pipes: "png_pipe".
constexpr std::string_view kPipe = "_pipe";

template <typename Visit>
void for_each_demuxer(Visit visit) {
  void* position = nullptr;
  while (const AVInputFormat* format = av_demuxer_iterate(&position)) visit(*format);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

template <typename Visit>
void for_each_suffix(const char* list, Visit visit) {
  std::string_view rest = list == nullptr ? std::string_view() : list;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    const std::string suffix = lower(rest.substr(0, end));
    // "722" and "302" are more often the end of a number than a suffix.
    const bool is_name = std::ranges::any_of(suffix, [](char c) { return c < '0' || c > '9'; });
    if (is_name) visit(suffix);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

struct Suffix {
  SuffixMeaning meaning = SuffixMeaning::kNothing;
  std::string demuxer;
};

SuffixMeaning meaning_of(const FormatRule& rule) {
  if (rule.use == FormatUse::kRead) return SuffixMeaning::kSound;
  if (rule.use == FormatUse::kReadBySuffix) return SuffixMeaning::kHeaderless;
  const bool is_sound = rule.use == FormatUse::kRefused && rule.holds_sound && rule.is_known;
  return is_sound ? SuffixMeaning::kRefused : SuffixMeaning::kNothing;
}

// A muxer's suffixes name its files as well as a demuxer's do. We need them because libav's
// demuxers of WAV, Ogg and MPEG-TS list few or none. A muxer that writes no file of its own (hls,
// dash) is left out.
bool writes_sound(const AVOutputFormat& format) {
  if ((format.flags & AVFMT_NOFILE) != 0 || format.audio_codec == AV_CODEC_ID_NONE) return false;
  const AVInputFormat* twin = av_find_input_format(format.name);
  return twin == nullptr || rule_of_demuxer(twin->name).use == FormatUse::kRead;
}

// Names of sample dumps, whatever libav's muxers write under them.
constexpr std::array<std::string_view, 2> kDumps = {"raw", "pcm"};

std::map<std::string, Suffix> make_suffixes() {
  std::map<std::string, Suffix> suffixes;
  const auto add = [&](const std::string& suffix, SuffixMeaning meaning, const char* demuxer) {
    // Formats that are read by their content come first.
    if (meaning == SuffixMeaning::kNothing) return;
    Suffix& known = suffixes[suffix];
    if (known.meaning == SuffixMeaning::kNothing || meaning < known.meaning)
      known = {meaning, demuxer};
  };
  for_each_demuxer([&](const AVInputFormat& format) {
    for_each_suffix(format.extensions, [&](const std::string& suffix) {
      add(suffix, meaning_of(rule_of_demuxer(format.name)), format.name);
    });
  });
  void* position = nullptr;
  while (const AVOutputFormat* format = av_muxer_iterate(&position)) {
    if (!writes_sound(*format)) continue;
    for_each_suffix(format->extensions,
                    [&](const std::string& suffix) { add(suffix, SuffixMeaning::kSound, ""); });
  }
  for (const std::string_view dump : kDumps)
    suffixes[std::string(dump)] = {SuffixMeaning::kRefused, ""};
  return suffixes;
}

const Suffix* find_suffix(std::string_view suffix) {
  static const std::map<std::string, Suffix> suffixes = make_suffixes();
  const auto place = suffixes.find(lower(suffix));
  return place == suffixes.end() ? nullptr : &place->second;
}

FormatRule rule_of_decoder(const AVCodec& codec) {
  if (codec.type == AVMEDIA_TYPE_AUDIO) {
    const AVCodec* first = avcodec_find_decoder(codec.id);
    if (codec.id == AV_CODEC_ID_OPUS) first = avcodec_find_decoder_by_name("opus");
    if (first == nullptr || first == &codec) return {FormatUse::kRead, "", true};
    return {FormatUse::kRefused, "another decoder reads the same codec", true};
  }
  return {FormatUse::kNotAudio,
          codec.type == AVMEDIA_TYPE_SUBTITLE ? kWords : std::string_view("pictures or video")};
}

}  // namespace

FormatRule rule_of_demuxer(std::string_view name) {
  static const Rules rules = make_rules();
  const std::string_view first = first_name(name);
  if (const auto place = rules.find(first); place != rules.end()) return place->second;
  if (first.ends_with(kPipe)) return {FormatUse::kNotAudio, kPictures};
  return {FormatUse::kRefused, "unknown to this version of xtts-precompute", false, false};
}

std::vector<LinkedFormat> linked_demuxers() {
  std::vector<LinkedFormat> formats;
  for_each_demuxer([&](const AVInputFormat& format) {
    formats.push_back({format.name, format.long_name == nullptr ? "" : format.long_name,
                       format.extensions == nullptr ? "" : format.extensions,
                       rule_of_demuxer(format.name)});
  });
  return formats;
}

std::vector<LinkedFormat> linked_decoders() {
  std::vector<LinkedFormat> formats;
  void* position = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&position)) {
    if (av_codec_is_decoder(codec) == 0) continue;
    formats.push_back({codec->name, codec->long_name == nullptr ? "" : codec->long_name, "",
                       rule_of_decoder(*codec)});
  }
  return formats;
}

const std::string& readable_demuxers() {
  static const std::string names = [] {
    std::string list;
    for_each_demuxer([&](const AVInputFormat& format) {
      const FormatUse use = rule_of_demuxer(format.name).use;
      if (use != FormatUse::kRead && use != FormatUse::kReadBySuffix) return;
      if (!list.empty()) list += ',';
      list += format.name;
    });
    return list;
  }();
  return names;
}

SuffixMeaning meaning_of_suffix(std::string_view suffix) {
  const Suffix* known = find_suffix(suffix);
  return known == nullptr ? SuffixMeaning::kNothing : known->meaning;
}

std::string_view demuxer_of_suffix(std::string_view suffix) {
  const Suffix* known = find_suffix(suffix);
  const bool is_read_so = known != nullptr && known->meaning == SuffixMeaning::kHeaderless;
  return is_read_so ? std::string_view(known->demuxer) : std::string_view();
}

}  // namespace xtts::decode
