// Decoding, and where its time goes. The counter x_real_time is seconds of sound per second.
//
// WAV clips of 6.5 s are made in memory. Other formats: put clips into a folder and name it in
// XTTS_DECODE_CLIPS, e.g.
//   ffmpeg -i clip.wav clip.flac; ... XTTS_DECODE_CLIPS=folder decode_bench

#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "audio/resampler.hpp"
#include "base/env.hpp"
#include "base/hash.hpp"
#include "decode/detail/codec.hpp"
#include "decode/detail/demuxer.hpp"
#include "decode/detail/mixdown.hpp"
#include "decode/detail/source_reader.hpp"
#include "decode/libav_decoder.hpp"

namespace xtts::decode {
namespace {

constexpr double kSeconds = 6.5;
constexpr std::size_t kFrame = 4096;  // near what the codecs give at a time

class MemoryFile final : public RandomAccessFile {
 public:
  explicit MemoryFile(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size_bytes() const override { return bytes_.size(); }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    if (offset_bytes >= bytes_.size()) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(out.size(), bytes_.size() - offset_bytes);
    std::memcpy(out.data(), bytes_.data() + offset_bytes, count);
    return count;
  }

 private:
  std::string bytes_;
};

std::vector<std::int16_t> tone(std::uint32_t rate_hz, std::uint32_t channels) {
  std::vector<std::int16_t> samples(static_cast<std::size_t>(kSeconds * rate_hz) * channels);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<std::int16_t>(9000 * std::sin(0.05 * static_cast<double>(i)));
  }
  return samples;
}

template <typename Value>
void append(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<const char*>(&value),
               sizeof(value));  // the machine is little-endian, as WAV is
}

std::string wav(std::uint32_t rate_hz, std::uint16_t channels) {
  const auto samples = tone(rate_hz, channels);
  const auto payload_bytes = static_cast<std::uint32_t>(samples.size() * 2);
  std::string bytes = "RIFF";
  append<std::uint32_t>(bytes, 36 + payload_bytes);
  bytes += "WAVEfmt ";
  append<std::uint32_t>(bytes, 16);
  append<std::uint16_t>(bytes, 1);
  append(bytes, channels);
  append(bytes, rate_hz);
  append<std::uint32_t>(bytes, rate_hz * channels * 2U);
  append(bytes, static_cast<std::uint16_t>(channels * 2));
  append<std::uint16_t>(bytes, 16);
  bytes += "data";
  append(bytes, payload_bytes);
  return bytes.append(reinterpret_cast<const char*>(samples.data()), payload_bytes);
}

void count(benchmark::State& state, double seconds) {
  state.counters["x_real_time"] =
      benchmark::Counter(seconds, benchmark::Counter::kIsIterationInvariantRate);
}

void decode_file(benchmark::State& state, const RandomAccessFile& file,
                 std::uint32_t target_rate_hz) {
  const auto decoder = make_libav_decoder();
  audio::DecodeRequest request;
  std::vector<float> samples;
  double seconds = 0.0;
  for (auto _ : state) {
    request.target_rate_hz = target_rate_hz;
    const auto facts = audio::decode_whole(*decoder, file, request, samples);
    if (!facts.ok()) return state.SkipWithError(facts.status().message().c_str());
    seconds = static_cast<double>(facts->frame_count) / facts->sample_rate_hz;
  }
  count(state, seconds);
}

void whole(benchmark::State& state) {
  const auto rate_hz = static_cast<std::uint32_t>(state.range(0));
  decode_file(state, MemoryFile(wav(rate_hz, static_cast<std::uint16_t>(state.range(1)))),
              static_cast<std::uint32_t>(state.range(2)));
}
BENCHMARK(whole)
    ->ArgNames({"rate", "channels", "target"})
    ->Args({22050, 1, 22050})
    ->Args({44100, 2, 44100})
    ->Args({44100, 2, 22050})
    ->Args({48000, 1, 22050});

// The file's facts, the demuxer and the codec, up to before the first packet.
void open_only(benchmark::State& state) {
  const MemoryFile file(wav(22050, 1));
  for (auto _ : state) {
    detail::SourceReader reader(file);
    const detail::Complaints complaints;
    auto demuxer = detail::Demuxer::open(reader, "", complaints);
    auto codec = detail::Codec::open(*demuxer, complaints);
    benchmark::DoNotOptimize(codec.ok());
  }
  count(state, kSeconds);
}
BENCHMARK(open_only);

// libav's part of the work: everything but mix, facts and resampling.
void open_and_codec(benchmark::State& state) {
  const auto rate_hz = static_cast<std::uint32_t>(state.range(0));
  const MemoryFile file(wav(rate_hz, static_cast<std::uint16_t>(state.range(1))));
  const detail::PacketPtr packet(av_packet_alloc());
  const detail::FramePtr frame(av_frame_alloc());
  for (auto _ : state) {
    detail::SourceReader reader(file);
    const detail::Complaints complaints;
    auto demuxer = detail::Demuxer::open(reader, "", complaints);
    auto codec = detail::Codec::open(*demuxer, complaints);
    while (demuxer->read(*packet) == 0) {
      if (codec->send(packet.get()) == 0) {
        while (codec->receive(*frame) == 0) benchmark::DoNotOptimize(frame->data[0]);
      }
      av_packet_unref(packet.get());
    }
  }
  count(state, kSeconds);
}
BENCHMARK(open_and_codec)->ArgNames({"rate", "channels"})->Args({22050, 1})->Args({44100, 2});

void mix_and_count(benchmark::State& state) {
  const auto channels = static_cast<std::uint32_t>(state.range(0));
  const auto samples = tone(22050 * channels, channels);
  const std::size_t frames = samples.size() / channels;
  std::vector<float> out(kFrame);
  detail::Mixdown mixdown;
  detail::SampleCounts counts;
  for (auto _ : state) {
    for (std::size_t i = 0; i + kFrame <= frames; i += kFrame) {
      const auto* plane = reinterpret_cast<const std::uint8_t*>(samples.data() + i * channels);
      const detail::PcmView pcm{AV_SAMPLE_FMT_S16, static_cast<int>(channels), kFrame, &plane};
      benchmark::DoNotOptimize(mixdown.mix(pcm, audio::Mix::kMean, out.data(), counts));
    }
  }
  count(state, kSeconds);
}
BENCHMARK(mix_and_count)->ArgName("channels")->Arg(1)->Arg(2);

void digest(benchmark::State& state) {
  const std::vector<float> samples(
      static_cast<std::size_t>(kSeconds * static_cast<double>(state.range(0))), 0.25F);
  for (auto _ : state) {
    Hasher128 hasher;
    for (std::size_t i = 0; i + kFrame <= samples.size(); i += kFrame) {
      hasher.update(std::as_bytes(std::span(samples).subspan(i, kFrame)));
    }
    benchmark::DoNotOptimize(hasher.finish());
  }
  count(state, kSeconds);
}
BENCHMARK(digest)->ArgName("rate")->Arg(22050)->Arg(44100);

constexpr std::array kMethods = {audio::ResampleMethod::kSoxrHq,
                                 audio::ResampleMethod::kTorchaudioSinc,
                                 audio::ResampleMethod::kFfmpegSwr};

audio::ResamplerSetting setting_of(const benchmark::State& state) {
  return {static_cast<std::uint32_t>(state.range(0)), static_cast<std::uint32_t>(state.range(1)),
          kMethods.at(static_cast<std::size_t>(state.range(2)))};
}

void start_resampler(benchmark::State& state) {
  audio::Resampler resampler;
  for (auto _ : state) benchmark::DoNotOptimize(resampler.start(setting_of(state)).ok());
}
BENCHMARK(start_resampler)
    ->ArgNames({"rate", "to", "method"})
    ->ArgsProduct({{44100, 48000}, {22050}, {0, 1, 2}});

void resample(benchmark::State& state) {
  const auto setting = setting_of(state);
  const std::vector<float> samples(static_cast<std::size_t>(kSeconds * setting.from_hz), 0.25F);
  audio::Resampler resampler;
  audio::OutputSamples out;
  for (auto _ : state) {
    out.begin();
    bool ok = resampler.start(setting).ok();
    for (std::size_t i = 0; i + kFrame <= samples.size(); i += kFrame) {
      ok = ok && resampler.push(std::span(samples).subspan(i, kFrame), out).ok();
    }
    ok = ok && resampler.finish(out).ok();
    if (!ok) return state.SkipWithError("resampling failed");
  }
  count(state, kSeconds);
}
BENCHMARK(resample)
    ->ArgNames({"rate", "to", "method"})
    ->ArgsProduct({{22050, 44100, 48000}, {16000, 24000}, {0, 1, 2}});

// Times the length that a plan asks for before anything is decoded; files that a header says
// nothing about show 0 s.
void measure_length(benchmark::State& state, const std::string& path, bool by_header) {
  const auto decoder = make_libav_decoder();
  double seconds = 0.0;
  for (auto _ : state) {
    const auto file = Env::real().open_for_read(path);
    if (!file.ok()) return state.SkipWithError(file.status().message().c_str());
    std::optional<audio::SourceLength> length;
    if (by_header) {
      length = audio::header_length(**file);
    } else if (const auto found = decoder->length(**file, ""); found.ok()) {
      length = *found;
    }
    if (length) seconds = static_cast<double>(length->frame_count) / length->sample_rate_hz;
  }
  count(state, seconds);
}

void register_clips() {
  const char* folder = std::getenv("XTTS_DECODE_CLIPS");
  if (folder == nullptr) return;
  const auto entries = Env::real().list(folder);
  if (!entries.ok()) return;
  for (const DirectoryEntry& entry : *entries) {
    if (entry.kind != FileKind::kRegular) continue;
    const std::string path = join_path(folder, entry.name);
    benchmark::RegisterBenchmark(("clip/" + entry.name).c_str(), [path](benchmark::State& state) {
      const auto file = Env::real().open_for_read(path);
      if (!file.ok()) return state.SkipWithError(file.status().message().c_str());
      decode_file(state, **file, 22050);
    });
    for (const bool by_header : {true, false}) {
      benchmark::RegisterBenchmark(
          ((by_header ? "header/" : "container/") + entry.name).c_str(),
          [path, by_header](benchmark::State& state) { measure_length(state, path, by_header); });
    }
  }
}

}  // namespace
}  // namespace xtts::decode

int main(int argument_count, char** arguments) {
  benchmark::Initialize(&argument_count, arguments);
  xtts::decode::register_clips();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
