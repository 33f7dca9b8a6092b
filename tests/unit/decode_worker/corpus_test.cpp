// A contained decoder gives what the one inside gives: samples, facts, codes and messages, for
// every fixture and, where XTTS_CORPUS names the unpacked test corpus, for its odd and hostile
// files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "decode/libav_decoder.hpp"
#include "worker_support.hpp"

namespace xtts::decode_worker::test {
namespace {

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void expect_same_for_all(const std::vector<std::string>& paths) {
  const auto plain = decode::make_libav_decoder();
  const auto decoder = contained();
  for (const auto& path : paths) {
    const auto file = Env::real().open_for_read(path);
    if (!file.ok()) continue;
    expect_same(decode_with(*decoder, **file), decode_with(*plain, **file), path);
    const auto own = decode::test::at_rate(0);
    expect_same(decode_with(*decoder, **file, own), decode_with(*plain, **file, own),
                path + ", at its own rate");
  }
}

TEST(ContainedCorpus, EveryFixtureIsTheSame) {
  const auto paths = files_below(std::string(XTTS_SOURCE_DIR) + "/tests/unit/decode/data");
  ASSERT_GT(paths.size(), 15U);
  expect_same_for_all(paths);
}

TEST(ContainedCorpus, EveryOddAndHostileFileIsTheSame) {
  const char* corpus = std::getenv("XTTS_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "XTTS_CORPUS names no corpus of real and hostile files";
  for (const char* folder : {"/odd_formats", "/hostile/files"}) {
    const auto paths = files_below(std::string(corpus) + folder);
    ASSERT_GT(paths.size(), 10U);
    expect_same_for_all(paths);
  }
}

}  // namespace
}  // namespace xtts::decode_worker::test
