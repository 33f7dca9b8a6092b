// Helpers that the tests of the public reader share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/temp_folder.hpp"
#include "support/test_cache.hpp"
#include "xtts/batch.hpp"

namespace xtts {

// A cache on disk, and the clips that it was made from.
class MadeCache {
 public:
  explicit MadeCache(const testing::TestCacheOptions& options = {.clip_count = 61})
      : options_(options), made_(testing::make_test_cache(options)) {
    for (const auto& [name, bytes] : made_.files) folder_.write(name, bytes);
  }

  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  [[nodiscard]] const testing::TestCache& made() const { return made_; }
  [[nodiscard]] const testing::TestCacheOptions& options() const { return options_; }
  [[nodiscard]] std::string shard(std::size_t column, std::size_t ordinal) const {
    return path() + "/" + made_.shard_name(column, ordinal);
  }
  [[nodiscard]] Cache open() const {
    auto cache = Cache::open(path());
    EXPECT_TRUE(cache.ok()) << cache.status().message();
    return std::move(*cache);
  }

 private:
  testing::TestCacheOptions options_;
  testing::TestCache made_;
  testing::TempFolder folder_;
};

inline Reader open_reader(const Cache& cache, const ReaderOptions& options) {
  auto reader = Reader::open(cache, options);
  EXPECT_TRUE(reader.ok()) << reader.status().message();
  return std::move(*reader);
}

// The positions of an epoch, in the order in which it brings them.
inline std::vector<std::uint64_t> positions_of_epoch(Reader& reader) {
  std::vector<std::uint64_t> positions;
  for (;;) {
    const auto batch = reader.next();
    EXPECT_TRUE(batch.ok()) << batch.status().message();
    if (!batch.ok() || !*batch) return positions;
    const auto some = (*batch)->positions();
    positions.insert(positions.end(), some.begin(), some.end());
  }
}

inline void expect_clip(const Batch& batch, std::uint32_t row, const testing::TestClip& clip,
                        std::uint32_t channels) {
  const BatchColumn* mel = batch.find("mel");
  const BatchColumn* tokens = batch.find("tokens");
  ASSERT_NE(mel, nullptr);
  ASSERT_NE(tokens, nullptr);
  const auto floats = mel->as_floats();
  const auto ints = tokens->as_int32s();
  ASSERT_TRUE(floats.ok() && ints.ok());
  const std::size_t frames = clip.mel.size() / channels;
  EXPECT_EQ(mel->lengths[row], static_cast<std::int32_t>(frames));
  EXPECT_EQ(tokens->lengths[row], static_cast<std::int32_t>(clip.tokens.size()));
  const std::size_t mel_stride = std::size_t{mel->shape[1]} * mel->shape[2];
  EXPECT_TRUE(std::ranges::equal(floats->subspan(row * mel_stride, clip.mel.size()), clip.mel))
      << clip.id;
  EXPECT_TRUE(
      std::ranges::equal(ints->subspan(row * tokens->shape[1], clip.tokens.size()), clip.tokens))
      << clip.id;
}

inline void expect_all_rows(const Batch& batch, const MadeCache& cache) {
  for (std::uint32_t row = 0; row < batch.valid_count(); ++row) {
    expect_clip(batch, row, cache.made().clips[batch.positions()[row]],
                cache.options().channel_count);
  }
}

inline std::vector<std::uint64_t> all_positions(const MadeCache& cache) {
  std::vector<std::uint64_t> positions(cache.made().clips.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  return positions;
}

}  // namespace xtts
