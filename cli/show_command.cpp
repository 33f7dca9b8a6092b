// show: one record: facts, text, tokens; as a picture, an array or sound.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/clip_description.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/picture_files.hpp"
#include "cli/record_files.hpp"
#include "dsp/mel_filters.hpp"
#include "formats/data_folders.hpp"
#include "formats/feature_config.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/normalization.hpp"
#include "formats/reject.hpp"
#include "reader/cache_set.hpp"
#include "reader/repair_advice.hpp"
#include "report/human.hpp"
#include "report/mel_figure.hpp"
#include "report/reasons.hpp"
#include "report/table.hpp"
#include "request/stored_sound.hpp"

namespace xtts::cli {
namespace {

using nlohmann::json;
using report::Align;
using report::escape_controls;
using report::format_count;
using report::format_short;

struct ShowOptions {
  std::string cache, id;
  PictureFiles pictures;
  std::string npy, wav;
  formats::DataFolders data;
};

// Finds the id in "LJ001-0001.wav" and "wavs/LJ001-0001.wav".
Result<std::string> id_meant(const reader::CacheSet& clips, const std::string& path) {
  for (const std::string& id :
       {path.substr(0, path.rfind('.')), std::string(file_name(path.substr(0, path.rfind('.'))))}) {
    XTTS_ASSIGN(const auto position, clips.find(id));
    if (position) return id;
  }
  return std::string();
}

// Says why the clip is absent: it was rejected, or is unknown.
Status explain_absence(const reader::CacheSet& clips, const std::string& id) {
  XTTS_ASSIGN(const std::string lines, clips.rejects_jsonl());
  XTTS_ASSIGN(const auto rejects, formats::decode_rejects(lines));
  for (const auto& reject : rejects) {
    if (reject.id != id) continue;
    return {StatusCode::kNotFound,
            formatted("clip '{}' was rejected ({}, {}): {}", escape_controls(id),
                      to_string(reject.kind), name_of(reject.reason),
                      escape_controls(report::words_of(reject)))};
  }
  XTTS_ASSIGN(const std::string meant, id_meant(clips, id));
  return {StatusCode::kNotFound,
          formatted("there is no clip '{}' in {}; {}", escape_controls(id), clips.path(),
                    meant.empty() ? "ls lists them"
                                  : formatted("did you mean '{}'?", escape_controls(meant)))};
}

std::vector<std::int32_t> token_values(const reader::RecordData& record) {
  std::vector<std::int32_t> tokens(record.bytes.size() / sizeof(std::int32_t));
  if (record.dtype != DType::kInt32) return {};
  std::memcpy(tokens.data(), record.bytes.data(), tokens.size() * sizeof(std::int32_t));
  return tokens;
}

struct ClipColumn {
  std::string name;
  reader::RecordData record;
  double low = 0.0, mean = 0.0, high = 0.0;
  bool is_baked = false;  // normalized by `convert --bake`
};

Result<std::vector<ClipColumn>> read_columns(reader::CacheView& view, std::uint64_t position) {
  std::vector<ClipColumn> columns;
  for (const formats::ColumnEntry& column : view.manifest().columns) {
    ClipColumn summary;
    summary.name = column.spec.name;
    summary.is_baked = column.spec.name == "mel" && view.manifest().features.contains("baked");
    XTTS_ASSIGN(const auto location, view.location(column.spec.id, position));
    if (location.block_row == formats::kNoRecord) continue;  // an added column lacks it
    XTTS_ASSIGN(summary.record,
                reader::with_repair(view.read_record(column.spec.name, position), view.path()));
    const std::vector<float> values = values_as_float32(summary.record);
    if (!values.empty()) {
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      summary.low = double{*low};
      summary.high = double{*high};
      for (const float value : values) summary.mean += double{value};
      summary.mean /= static_cast<double>(values.size());
    }
    columns.push_back(std::move(summary));
  }
  return columns;
}

const ClipColumn* find_column(const std::vector<ClipColumn>& columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const ClipColumn& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

std::string source_text(const formats::RecordFacts& facts) {
  std::string text = escape_controls(facts.source_path.value_or("(unknown)"));
  if (facts.codec) text += ", " + escape_controls(*facts.codec);
  if (facts.container) text += " in " + escape_controls(*facts.container);
  if (facts.source_rate_hz) text += formatted(", {} Hz", format_count(*facts.source_rate_hz));
  if (facts.source_channel_count) {
    text += ", " + report::format_counted(*facts.source_channel_count, "channel", "channels");
  }
  if (facts.segment_start_s) {
    text += formatted(
        ", from {} s to {}", report::format_fixed(*facts.segment_start_s, 2),
        facts.segment_end_s ? report::format_fixed(*facts.segment_end_s, 2) + " s" : "its end");
  } else if (facts.source_frame_count && facts.source_rate_hz.value_or(0) > 0) {
    text += formatted(
        ", {} s", report::format_fixed(
                      static_cast<double>(*facts.source_frame_count) / *facts.source_rate_hz, 2));
  }
  return text;
}

std::string level_text(const formats::RecordFacts& facts) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += formatted("{}{} {}", text.empty() ? "" : ", ", name, value);
  };
  if (facts.rms) add("RMS", format_short(double{*facts.rms}));
  if (facts.peak) add("peak", format_short(double{*facts.peak}));
  if (facts.gain) add("gain", format_short(double{*facts.gain}));
  if (facts.clipped_sample_count) add("clipped samples", format_count(*facts.clipped_sample_count));
  if (facts.nonfinite_sample_count.value_or(0) > 0) {
    add("NaN or Inf samples", format_count(*facts.nonfinite_sample_count));
  }
  if (facts.silence_share) add("silence", report::format_percent(double{*facts.silence_share}));
  if (facts.bandwidth_hz) {
    const auto hz = static_cast<std::uint64_t>(std::llround(*facts.bandwidth_hz));
    add("sound up to", format_count(hz) + " Hz");
  }
  return text;
}

std::string shape_text(const std::vector<std::uint32_t>& shape) {
  std::string text;
  for (const std::uint32_t size : shape) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

std::string tokens_text(const ClipColumn& column) {
  std::string text;
  for (const std::int32_t token : token_values(column.record)) {
    text += (text.empty() ? "" : " ") + std::to_string(token);
  }
  return text;
}

std::string describe(const ClipFacts& clip, const std::vector<ClipColumn>& columns) {
  const formats::RecordFacts& facts = clip.facts;
  report::Table table({Align::kLeft, Align::kLeft});
  const auto row = [&](const char* name, const std::string& value) {
    if (!value.empty()) table.add_row({name, value});
  };
  row("clip", escape_controls(clip.full_id()));
  row("text", escape_controls(facts.text_raw.value_or("")));
  if (facts.text_normalized != facts.text_raw) {
    row("normalized", escape_controls(facts.text_normalized.value_or("")));
  }
  row("speaker", escape_controls(clip.speaker));
  row("language", escape_controls(clip.language));
  row("split", clip.split());
  row("sound",
      formatted("{} s, {}{}", report::format_fixed(clip.seconds, 2),
                report::format_counted(clip.plan.mel_len, "frame", "frames"),
                (clip.plan.flags & formats::kPlanAudioCut) != 0 ? ", cut to max_frames" : ""));
  row("source", source_text(facts));
  if (facts.trim_start_samples && facts.trim_end_samples) {
    row("trim", formatted("samples {} to {}", format_count(*facts.trim_start_samples),
                          format_count(*facts.trim_end_samples)));
  }
  row("level", level_text(facts));
  row("warnings", escape_controls(report::lines_of(facts.warnings)));
  row("extra", escape_controls(facts.extra_json.value_or("")));
  for (const ClipColumn& column : columns) {
    std::string text(to_string(column.record.dtype));
    text += " " + shape_text(column.record.shape);
    if (column.name == "tokens") {  // tokens are numbers of characters: their mean says nothing
      row("tokens", text);
      row(" ", tokens_text(column));
      continue;
    }
    row(column.name.c_str(),
        formatted("{}, min {}, mean {}, max {}{}", text, format_short(column.low),
                  format_short(column.mean), format_short(column.high),
                  column.is_baked ? ", normalized by the corpus' statistics" : ""));
  }
  return table.render();
}

json to_json(const ClipFacts& clip, const std::vector<ClipColumn>& columns) {
  json out = clip_to_json(clip);
  out["columns"] = json::array();
  for (const ClipColumn& column : columns) {
    out["columns"].push_back({{"name", column.name},
                              {"dtype", to_string(column.record.dtype)},
                              {"shape", column.record.shape},
                              {"min", column.low},
                              {"mean", column.mean},
                              {"max", column.high},
                              {"baked", column.is_baked}});
    if (column.name == "tokens") out["tokens"] = token_values(column.record);
  }
  return out;
}

std::string value_unit(const formats::FeatureConfig& config) {
  if (config.normalize.method != formats::NormalizeMethod::kNone || config.baked.is_baked())
    return "normalized";
  return formats::log_text(config);
}

struct Frequencies {
  double low_hz;
  double high_hz;
  std::function<double(double hz)> channel_of_hz;
};

Frequencies frequencies_of(const formats::FeatureConfig& config) {
  const double rate_hz = config.sample_rate_hz;
  if (config.mel.scale == formats::MelScale::kNone) {
    const double bins_per_hz = config.stft.n_fft / rate_hz;
    return {0.0, rate_hz / 2.0, [bins_per_hz](double hz) { return hz * bins_per_hz; }};
  }
  // Filters that were made for another rate lie at shifted frequencies.
  const formats::MelConfig mel = config.mel;
  const double shift = mel.bins_rate_hz == 0 ? 1.0 : rate_hz / mel.bins_rate_hz;
  const double low = dsp::hz_to_mel(mel.f_min_hz, mel.scale);
  const double high = dsp::hz_to_mel(mel.f_max_hz, mel.scale);
  // n_mels + 2 edges lie at equal distances; filter m has its peak at edge m + 1.
  return {mel.f_min_hz * shift, mel.f_max_hz * shift, [=](double hz) {
            return (dsp::hz_to_mel(hz / shift, mel.scale) - low) / (high - low) *
                       (static_cast<double>(mel.n_mels) + 1.0) -
                   1.0;
          }};
}

// Takes logarithms of the linear column, which has none. Without them its picture would show
// nothing.
void take_logarithms(std::vector<float>& values, formats::FeatureConfig& config) {
  for (float& value : values) value = std::log10(std::max(value, 1e-5F));
  config.mel.scale = formats::MelScale::kNone;
  config.log.base = formats::LogBase::kTen;
  config.normalize = {};
}

Result<json> figure_of(const ClipFacts& clip, const ClipColumn& mel,
                       formats::FeatureConfig config) {
  if (mel.record.shape.size() != 2)
    return Status(StatusCode::kUnsupported, formatted("column {} is not a matrix", mel.name));
  std::vector<float> values = values_as_float32(mel.record);
  if (mel.name == "linear") take_logarithms(values, config);
  const Frequencies shown = frequencies_of(config);
  report::MelPicture picture;
  picture.values = values;
  picture.frame_count = mel.record.shape[0];
  picture.mel_count = mel.record.shape[1];
  picture.frame_s = static_cast<double>(config.stft.hop_samples) / config.sample_rate_hz;
  picture.channel_of_hz = shown.channel_of_hz;
  picture.low_hz = shown.low_hz;
  picture.high_hz = shown.high_hz;
  picture.title = clip.full_id();
  picture.subtitle = clip.text();
  picture.value_unit = value_unit(config);
  return report::mel_figure(picture);
}

Result<std::string> conditioned_wav(Context& context, const ShowOptions& options,
                                    reader::CacheView& view, std::uint64_t position) {
  const request::Caller& caller = context.caller;
  XTTS_ASSIGN(auto sound, request::StoredSound::open(context.env, view, options.data, caller));
  XTTS_ASSIGN(const std::vector<float> samples, sound->read(position));
  return encode_wav(samples, sound->sample_rate_hz());
}

Status write_files(Context& context, const ShowOptions& options, reader::CacheView& view,
                   std::uint64_t position, const ClipFacts& clip,
                   const std::vector<ClipColumn>& columns) {
  const auto write = [&](const std::string& path, std::string_view bytes) {
    XTTS_TRY(write_output_file(context.env, path, bytes));
    context.inform(formatted("wrote {}, {}", path, report::format_size(bytes.size())));
    return Status();
  };
  const ClipColumn* mel = find_column(columns, "mel");
  if (mel == nullptr) mel = find_column(columns, "linear");
  if (mel == nullptr && options.pictures.are_wanted())
    return {StatusCode::kUnsupported,
            "a picture is made of column mel or linear, and the cache has neither: leave out --png "
            "and --svg"};
  if (!options.npy.empty()) XTTS_TRY(write(options.npy, encode_npy(columns.front().record)));
  if (!options.wav.empty()) {
    XTTS_ASSIGN(const std::string wav, conditioned_wav(context, options, view, position));
    XTTS_TRY(write(options.wav, wav));
  }
  if (!options.pictures.are_wanted()) return {};
  XTTS_ASSIGN(const formats::FeatureConfig config,
              formats::feature_config_from_json(view.manifest().features));
  XTTS_ASSIGN(const json figure, figure_of(clip, *mel, config));
  return write_pictures(context, options.pictures, figure);
}

Status run_show(Context& context, const ShowOptions& options) {
  const bool writes_to_stdout = is_standard_output(options.npy) ||
                                options.pictures.go_to_stdout() || is_standard_output(options.wav);
  if (writes_to_stdout && context.flags.json) {
    return {
        StatusCode::kInvalidArgument,
        "--json and FILE would both be written to stdout: name another FILE, or leave out --json"};
  }
  XTTS_ASSIGN(const auto clips, reader::CacheSet::open(context.env, options.cache));
  XTTS_ASSIGN(const auto position, clips->find(options.id));
  if (!position) return explain_absence(*clips, options.id);
  const query::Tables tables = query::Tables::of(clips->whole());
  XTTS_ASSIGN(const formats::PlanRow plan, clips->plan_row(*position));
  XTTS_ASSIGN(formats::RecordFacts facts, clips->details(*position));
  const ClipFacts clip = describe_clip(tables, plan, std::move(facts));
  const auto place = clips->locate(*position);
  XTTS_ASSIGN(reader::CacheView* const view, clips->cache(place.table));
  XTTS_ASSIGN(const std::vector<ClipColumn> columns, read_columns(*view, place.position));
  XTTS_TRY(write_files(context, options, *view, place.position, clip, columns));
  if (!writes_to_stdout) context.print(describe(clip, columns));
  context.print_json(to_json(clip, columns));
  return {};
}

}  // namespace

void add_show_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<ShowOptions>();
  Command(app, context, "show", "One record: facts, text, tokens; as picture, array or sound")
      .required("CACHE", options->cache, "The cache's folder")
      .required("ID", options->id, "The clip's id, as ls shows it")
      .option("--png", options->pictures.png, "FILE", "Write a picture of the mel spectrogram")
      .option("--svg", options->pictures.svg, "FILE", "The same picture for web pages")
      .option("--npy", options->npy, "FILE",
              "Write the first column, the mel, as a NumPy array [frames, mels]")
      .option("--wav", options->wav, "FILE",
              "Write the conditioned sound that the features were made of, or the column wave")
      .option("--data", options->data.path, "DATA", "For --wav: the folder of the sources now")
      .repeated("--audio-root", options->data.audio_roots, "DIR",
                "For --wav: as for build, in that order (default: those of the last build)")
      .examples(
          "xtts-precompute show ./cache LJ001-0001\n"
          "xtts-precompute show ./cache LJ001-0001 --png mel.png --npy mel.npy\n"
          "xtts-precompute show ./cache LJ001-0001 --wav heard.wav\n"
          "xtts-precompute show ./cache LJ001-0001 --wav /dev/stdout | aplay")
      .notes(
          "A FILE that is there is replaced, whole or not at all. Into a FIFO or /dev/stdout the "
          "bytes are\n"
          "written as they come, and nothing else is printed there.")
      .runs([&context, options] { return run_show(context, *options); });
}

}  // namespace xtts::cli
