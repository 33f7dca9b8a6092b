// Every format that libsndfile can write, at several rates and numbers of channels: our samples
// against those that libsndfile reads from the same bytes. A file is read as libsndfile reads it,
// or it is refused. data/sndfile_formats.tsv tells which.

#include <gtest/gtest.h>

#if XTTS_WITH_SNDFILE
#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include "decode/libav_decoder.hpp"
#include "decode_support.hpp"
#include "support/temp_folder.hpp"

namespace xtts::decode::test {
namespace {

constexpr int kFrameCount = 4801;  // odd, and more than a block of any codec
// Of the difference to libsndfile's samples, relative to the sound. Decoders of lossy codecs round
// differently: -42 dB is IMA ADPCM in AIFF, whose predictor Apple's decoder keeps from block to
// block.
constexpr double kDifferenceDbMax = -40.0;

// A file as libsndfile writes it, and as it reads it.
struct Written {
  Bytes bytes;
  SF_INFO info = {};
  std::vector<float> mean;
  std::vector<float> first;
};

// A rising tone for each channel, all different.
std::vector<float> tones(int channel_count) {
  std::vector<float> samples;
  for (int i = 0; i < kFrameCount; ++i)
    for (int c = 0; c < channel_count; ++c)
      samples.push_back(static_cast<float>(
          0.6 * std::sin(2 * std::numbers::pi * (c + 1) * (0.005 * i + 1e-6 * i * i)) +
          0.1 * std::sin(0.7 * i)));
  return samples;
}

bool read_back(const std::string& path, Written& written) {
  SNDFILE* sound = sf_open(path.c_str(), SFM_READ, &written.info);
  if (sound == nullptr) return false;
  const auto channels = static_cast<std::size_t>(written.info.channels);
  std::vector<float> samples(static_cast<std::size_t>(written.info.frames) * channels);
  const auto count = sf_readf_float(sound, samples.data(), written.info.frames);
  sf_close(sound);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const float* frame = samples.data() + i * channels;
    float sum = frame[0];
    for (std::size_t c = 1; c < channels; ++c) sum += frame[c];
    written.mean.push_back(sum / static_cast<float>(channels));
    written.first.push_back(frame[0]);
  }
  return true;
}

// Nothing where libsndfile cannot write the format.
std::optional<Written> write(SF_INFO info, const std::string& path) {
  if (sf_format_check(&info) == 0) return std::nullopt;
  std::filesystem::remove(path);
  SNDFILE* sound = sf_open(path.c_str(), SFM_WRITE, &info);
  if (sound == nullptr) return std::nullopt;
  sf_command(sound, SFC_SET_CLIPPING, nullptr, SF_TRUE);
  sf_command(sound, SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);  // it has the time of day
  const std::vector<float> samples = tones(info.channels);
  sf_writef_float(sound, samples.data(), kFrameCount);
  sf_close(sound);
  Written written;
  if ((info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_RAW) written.info = info;
  EXPECT_TRUE(read_back(path, written)) << std::hex << info.format << ": " << sf_strerror(nullptr);
  const auto text = read_text_file(Env::real(), path, 1 << 22);
  EXPECT_TRUE(text.ok()) << text.status().message();
  if (text.ok()) written.bytes = bytes_of(*text);
  return written;
}

double difference_db(const std::vector<float>& ours, const std::vector<float>& theirs) {
  double difference = 0.0;
  double power = 1e-30;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    difference += std::pow(static_cast<double>(ours[i]) - static_cast<double>(theirs[i]), 2);
    power += std::pow(static_cast<double>(theirs[i]), 2);
  }
  return difference > 0.0 ? 10.0 * std::log10(difference / power) : -300.0;
}

// libsndfile decodes Opus at the rate that the encoder was given, we at 48 kHz.
bool is_at_another_rate(const SF_INFO& info) {
  return (info.format & SF_FORMAT_SUBMASK) == SF_FORMAT_OPUS && info.samplerate != 48000;
}

// Apple's order of channels: libsndfile writes ALAC without it, and reads it so. The mean is equal.
bool is_in_another_order(const SF_INFO& info) {
  const int subtype = info.format & SF_FORMAT_SUBMASK;
  return subtype >= SF_FORMAT_ALAC_16 && subtype <= SF_FORMAT_ALAC_32 && info.channels > 2;
}

// Returns the outcome of a file, in the words of the table.
std::string outcome_of(const Written& written) {
  audio::DecodeRequest request = at_rate(0);
  const auto mean = decode_bytes(written.bytes, request);
  request.mix = audio::Mix::kFirst;
  const auto first = decode_bytes(written.bytes, request);
  if (!mean.ok()) {
    const bool is_named = mean.status().message().find("reads wrongly") != std::string::npos;
    return is_named ? "refused: " + mean.status().message() : "refused: FFmpeg does not read it";
  }
  const audio::SourceFacts& facts = mean->facts;
  if (!facts.warnings.empty()) return "WRONG: a warning about a whole file";
  if (facts.channel_count != written.info.channels) return "WRONG: other channels";
  if (is_at_another_rate(written.info)) return "at 48 kHz, whatever the encoder was given";
  if (facts.sample_rate_hz != static_cast<std::uint32_t>(written.info.samplerate))
    return "WRONG: another rate";
  if (mean->samples.size() != written.mean.size()) return "WRONG: another length";
  const bool is_reordered = is_in_another_order(written.info);
  const double mean_db = difference_db(mean->samples, written.mean);
  const double first_db = is_reordered ? mean_db : difference_db(first->samples, written.first);
  if (std::max(mean_db, first_db) > kDifferenceDbMax) return "WRONG: other samples";
  const std::string order = is_reordered ? "; more than 2 channels in Apple's order" : "";
  return (std::max(mean_db, first_db) < -290.0 ? "equal" : "equal but for rounding") + order;
}

std::vector<SF_FORMAT_INFO> formats(int count_command, int command) {
  int count = 0;
  sf_command(nullptr, count_command, &count, sizeof count);
  std::vector<SF_FORMAT_INFO> all;
  for (int i = 0; i < count; ++i) {
    SF_FORMAT_INFO format{i, nullptr, nullptr};
    sf_command(nullptr, command, &format, sizeof format);
    all.push_back(format);
  }
  return all;
}

// Calls visit(container, encoding with its order of bytes, file) for each that can be written.
template <typename Visit>
void for_each_file(std::span<const int> channel_counts, std::span<const int> rates_hz,
                   Visit visit) {
  const testing::TempFolder folder;
  constexpr std::array<std::pair<int, const char*>, 3> kOrders = {
      {{SF_ENDIAN_LITTLE, ", little-endian"}, {SF_ENDIAN_BIG, ", big-endian"}, {0, ""}}};
  for (const auto& container : formats(SFC_GET_FORMAT_MAJOR_COUNT, SFC_GET_FORMAT_MAJOR)) {
    for (const auto& encoding : formats(SFC_GET_FORMAT_SUBTYPE_COUNT, SFC_GET_FORMAT_SUBTYPE)) {
      for (const int channels : channel_counts) {
        for (const int rate_hz : rates_hz) {
          std::vector<Bytes> seen;
          for (const auto& [order, words] : kOrders) {
            if (order == 0 && !seen.empty()) continue;
            SF_INFO info{};
            info.channels = channels;
            info.samplerate = rate_hz;
            info.format = container.format | encoding.format | order;
            auto written = write(info, folder.path() + "/sound");
            // Most encodings have one order only.
            if (!written || std::ranges::find(seen, written->bytes) != seen.end()) continue;
            visit(std::string(container.name), std::string(encoding.name) + words, *written);
            seen.push_back(std::move(written->bytes));
          }
        }
      }
    }
  }
}

using Table = std::map<std::string, std::map<std::string, std::set<std::string>>>;

std::string versions() {
  std::array<char, 64> version{};
  sf_command(nullptr, SFC_GET_LIB_VERSION, version.data(), version.size());
  return "# " + std::string(version.data()) + "; " + decode_libraries() + "\n";
}

std::string text_of(const Table& table) {
  std::string text = versions();
  for (const auto& [container, outcomes] : table) {
    for (const auto& [outcome, encodings] : outcomes) {
      text += container + "\t" + outcome + "\t";
      for (const std::string& encoding : encodings)
        text += (&encoding == &*encodings.begin() ? "" : "; ") + encoding;
      text += "\n";
    }
  }
  return text;
}

TEST(Sndfile, WhatItWritesIsReadAsItReadsItOrRefused) {
  constexpr std::array<int, 3> kChannels = {1, 2, 6};
  constexpr std::array<int, 6> kRatesHz = {8000, 11111, 16000, 22050, 44100, 48000};
  Table table;
  std::size_t count = 0;
  for_each_file(
      kChannels, kRatesHz,
      [&](const std::string& container, const std::string& encoding, const Written& file) {
        const std::string outcome = outcome_of(file);
        EXPECT_FALSE(outcome.starts_with("WRONG"))
            << container << ", " << encoding << ", " << file.info.channels << " channels, "
            << file.info.samplerate << " Hz: " << outcome;
        table[container][outcome].insert(encoding);
        ++count;
      });
  EXPECT_GT(count, 2000U);
  const std::string path =
      std::string(XTTS_SOURCE_DIR) + "/tests/unit/decode/data/sndfile_formats.tsv";
  if (std::getenv("XTTS_REGENERATE") != nullptr) {
    std::ofstream(path) << text_of(table);
  }
  const auto stored = read_text_file(Env::real(), path, 1 << 20);
  ASSERT_TRUE(stored.ok()) << stored.status().message();
  if (!stored->starts_with(versions()))
    GTEST_SKIP() << "the table is of other versions than " << versions();
  EXPECT_EQ(*stored, text_of(table));
}

// The command that a refusal prints makes a file that is read as libsndfile reads the refused one.
TEST(Sndfile, TheCommandOfARefusalConverts) {
  if (std::system("command -v sndfile-convert >/dev/null") != 0)
    GTEST_SKIP() << "no sndfile-convert (Debian: sndfile-programs)";
  const testing::TempFolder folder;
  std::size_t count = 0;
  for_each_file(
      std::array{1}, std::array{8000},
      [&](const std::string& container, const std::string& encoding, const Written& file) {
        const std::string what = container + ", " + encoding;
        const auto refused = decode_bytes(file.bytes, at_rate(0));
        if (refused.ok()) return;
        const std::string& message = refused.status().message();
        const auto begin = message.find("`sndfile-convert") + 1;
        if (begin == 0) return;
        const std::string command = message.substr(begin, message.find('`', begin) - begin);
        folder.write("FILE", {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()});
        ASSERT_EQ(std::system(("cd " + folder.path() + " && " + command).c_str()), 0) << what;
        const std::string converted = folder.path() + "/NEW.wav";
        const auto text = read_text_file(Env::real(), converted, 1 << 20);
        ASSERT_TRUE(text.ok()) << what;
        const auto decoded = decode_bytes(bytes_of(*text), at_rate(0));
        ASSERT_TRUE(decoded.ok()) << what << ": " << decoded.status().message();
        ASSERT_EQ(decoded->samples.size(), file.mean.size()) << what;
        EXPECT_LT(difference_db(decoded->samples, file.mean), -140.0) << what;
        std::filesystem::remove(converted);
        ++count;
      });
  EXPECT_GE(count, 14U);
}

}  // namespace
}  // namespace xtts::decode::test

#else
TEST(Sndfile, WhatItWritesIsReadAsItReadsItOrRefused) {
  GTEST_SKIP() << "built without libsndfile (Debian: libsndfile1-dev)";
}
#endif
