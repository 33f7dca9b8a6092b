// The decoder over real and hostile files: XTTS_CORPUS names the unpacked test corpus (see its
// manifest.tsv).

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "decode/libav_decoder.hpp"
#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

struct Row {
  std::string path;
  std::string expected;
  std::string codec;
  std::string rate_hz;
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

bool starts_with_any(const std::string& path, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    if (path.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<Row> sound_rows(const std::string& corpus) {
  const auto manifest = read_text_file(Env::real(), corpus + "/manifest.tsv", 4 << 20);
  std::vector<Row> rows;
  if (!manifest.ok()) return rows;
  std::istringstream in(*manifest);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto fields = split(line);
    if (fields.size() < 16 || fields[2] == "text" || fields[3] == "n/a") continue;
    if (!starts_with_any(fields[0],
                         {"real_ljspeech/", "real_mixed/", "odd_formats/", "hostile/files/"}))
      continue;
    rows.push_back({fields[0], fields[3], fields[10], fields[13]});
  }
  return rows;
}

std::string suffix_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(dot + 1);
}

TEST(Corpus, EveryFileIsDecodedOrRejectedAsItsManifestSays) {
  const char* corpus = std::getenv("XTTS_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "XTTS_CORPUS names no corpus of real and hostile files";
  const std::vector<Row> rows = sound_rows(corpus);
  ASSERT_GT(rows.size(), 100U);
  const auto decoder = make_libav_decoder();
  std::vector<float> samples;
  for (const Row& row : rows) {
    // Without its name, this 64-byte FLAC with a senseless header is not recognised: a fair
    // rejection.
    if (row.path.find("claxon__d44b4144") != std::string::npos) continue;
    // Its 24 bits in 32 are those of no standard. FFmpeg reads zeros, so it is refused.
    if (row.path.find("hound__pcmwaveformat-24bit-4byte") != std::string::npos) continue;
    const auto file = Env::real().open_for_read(std::string(corpus) + "/" + row.path);
    ASSERT_TRUE(file.ok()) << row.path;
    const auto facts = audio::decode_whole(*decoder, **file, audio::DecodeRequest(), samples);
    const bool wanted = row.expected.starts_with("ok");
    EXPECT_EQ(facts.ok(), wanted) << row.path << ": " << facts.status().message();
    if (!facts.ok()) {
      EXPECT_EQ(facts.status().code(), StatusCode::kBadInput) << row.path;
    } else {
      EXPECT_GT(samples.size(), 0U) << row.path;
      if (wanted && !row.rate_hz.empty()) {
        EXPECT_EQ(std::to_string(facts->sample_rate_hz), row.rate_hz) << row.path;
      }
    }
  }
}

// A plan may hope that a clip is not much longer than it was said to be, for then it would not fit.
// Headers that lie about whole files are another matter: the build's sound decides.
TEST(Corpus, LengthsBeforeDecodingAreThoseOfTheSound) {
  const char* corpus = std::getenv("XTTS_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "XTTS_CORPUS names no corpus of real and hostile files";
  const auto decoder = make_libav_decoder();
  std::vector<float> samples;
  std::size_t by_header_count = 0;
  std::vector<std::string> silent;  // containers that only decoding measures
  for (const Row& row : sound_rows(corpus)) {
    const auto file = Env::real().open_for_read(std::string(corpus) + "/" + row.path);
    ASSERT_TRUE(file.ok()) << row.path;
    const auto facts = audio::decode_whole(*decoder, **file, audio::DecodeRequest(), samples);
    const auto by_header = audio::header_length(**file);
    const auto by_packets = decoder->length(**file, suffix_of(row.path));
    const bool is_clean = row.expected == "ok" && facts.ok() && facts->warnings.empty();
    if (!is_clean) continue;
    const double seconds = static_cast<double>(facts->frame_count) / facts->sample_rate_hz;
    const auto expect_right = [&](const audio::SourceLength& length, const char* way) {
      const double said = static_cast<double>(length.frame_count) / length.sample_rate_hz;
      EXPECT_GT(said, seconds - 0.001 - seconds * 0.001) << row.path << " " << way;
      EXPECT_LT(said, seconds * 1.01 + 0.25) << row.path << " " << way;
    };
    if (by_header) expect_right(*by_header, "by its header");
    by_header_count += by_header ? 1 : 0;
    if (!by_packets.ok()) silent.push_back(row.path);
    if (by_packets.ok()) expect_right(*by_packets, "by its container");
  }
  EXPECT_GT(by_header_count, 50U);
  EXPECT_LE(silent.size(), 3U) << ::testing::PrintToString(silent);
}

}  // namespace
}  // namespace xtts::decode::test
