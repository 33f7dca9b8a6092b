#include "stub_decoder.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include "base/hash.hpp"
#include "base/try.hpp"

namespace xtts::simulation {
namespace {

constexpr std::uint32_t kRateHz = 22050;
constexpr std::size_t kContentBytesMax = 4096;

struct Sound {
  std::uint64_t number = 0;
  std::uint64_t ms = 0;

  [[nodiscard]] std::uint64_t sample_count() const { return ms * kRateHz / 1000; }
};

Result<std::string> content_of(const RandomAccessFile& source) {
  std::string content(std::min<std::size_t>(source.size_bytes(), kContentBytesMax), '\0');
  XTTS_ASSIGN(const std::size_t count,
              source.read_at(0, std::as_writable_bytes(std::span(content))));
  content.resize(count);
  return content;
}

std::optional<Sound> parse(std::string_view content) {
  constexpr std::string_view kWord("\x7F\0sound ", 8);
  if (!content.starts_with(kWord)) return std::nullopt;
  Sound sound;
  const char* const end = content.data() + content.size();
  const auto number = std::from_chars(content.data() + kWord.size(), end, sound.number);
  if (number.ec != std::errc() || number.ptr == end) return std::nullopt;
  const auto ms = std::from_chars(number.ptr + 1, end, sound.ms);
  if (ms.ec != std::errc()) return std::nullopt;
  return sound;
}

bool is_headless(std::string_view suffix) {
  return suffix == "sln" || suffix == "g722";
}

class StubDecoder final : public audio::AudioDecoder {
 public:
  explicit StubDecoder(DecodedContents* decoded) : decoded_(decoded) {}

  Result<audio::SourceFacts> decode(const RandomAccessFile& source,
                                    const audio::DecodeRequest& request,
                                    const audio::TakeSamples& take) override {
    XTTS_ASSIGN(const std::string content, content_of(source));
    if (decoded_ != nullptr) decoded_->push_back(content);
    const auto sound = parse(content);
    if (!sound) return Status(StatusCode::kBadInput, "no sound in it");
    audio::SourceFacts facts;
    facts.container = facts.codec = is_headless(request.suffix) ? request.suffix : "stub";
    facts.sample_rate_hz = kRateHz;
    facts.channel_count = 1;
    facts.frame_count = sound->sample_count();
    facts.is_over_long = static_cast<double>(sound->ms) / 1000.0 > request.source_seconds_max;
    if (facts.is_over_long) return facts;
    const std::vector<float> samples = samples_of(*sound, request.suffix);
    facts.pcm_digest = digest128(std::as_bytes(std::span(samples)));
    XTTS_TRY(take(samples));
    return facts;
  }

  Result<audio::Recognition> recognise(const RandomAccessFile& source, std::string_view) override {
    XTTS_ASSIGN(const std::string content, content_of(source));
    return audio::Recognition{parse(content) ? audio::ContentKind::kSound
                                             : audio::ContentKind::kNotSound};
  }

  Result<audio::SourceLength> length(const RandomAccessFile& source, std::string_view) override {
    XTTS_ASSIGN(const std::string content, content_of(source));
    const auto sound = parse(content);
    if (!sound) return Status(StatusCode::kBadInput, "no sound in it");
    return audio::SourceLength{.sample_rate_hz = kRateHz, .frame_count = sound->sample_count()};
  }

  [[nodiscard]] std::chrono::nanoseconds resampling_time() const noexcept override { return {}; }
  Result<std::string> libraries() override { return std::string("stub 1"); }
  Result<audio::FormatList> formats() override { return audio::FormatList(); }

 private:
  static std::vector<float> samples_of(const Sound& sound, std::string_view suffix) {
    std::vector<float> samples(sound.sample_count());
    std::uint64_t state = sound.number * 0x9E3779B97F4A7C15U + 1;
    if (suffix == "g722") state += 77;
    for (float& sample : samples) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      sample = static_cast<float>(static_cast<std::int32_t>(state >> 32U)) * 0x1.0p-33F;
    }
    return samples;
  }

  DecodedContents* decoded_;
};

}  // namespace

audio::MakeDecoder make_stub_decoders(DecodedContents* decoded) {
  return [decoded](const std::function<bool()>&) { return std::make_unique<StubDecoder>(decoded); };
}

}  // namespace xtts::simulation
