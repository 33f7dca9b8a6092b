// Tests of the public reader, in C++ and C, on the CPU and on a device whose memory the host cannot
// touch. They check where data lies, which waits are needed, and that the same batches come.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "loader/measure.hpp"
#include "made_cache.hpp"
#include "support/cuda_under_test.hpp"
#include "support/device_under_test.hpp"
#include "xtts/xtts.h"

namespace xtts {
namespace {

class ReaderOn : public ::testing::TestWithParam<testing::DeviceChoice> {
 protected:
  [[nodiscard]] Reader open(ReaderOptions options) const {
    options.device = device_.name();
    return open_reader(cache_.open(), options);
  }
  [[nodiscard]] std::vector<std::byte> read(const BatchColumn& column) const {
    return device_.read(column.bytes);
  }
  void expect_rows(const Batch& batch) const {
    ASSERT_TRUE(batch.wait().ok());
    const BatchColumn& mel = *batch.find("mel");
    const BatchColumn& tokens = *batch.find("tokens");
    const auto mels = read(mel);
    const auto numbers = read(tokens);
    for (std::uint32_t row = 0; row < batch.valid_count(); ++row) {
      const testing::TestClip& clip = cache_.made().clips[batch.positions()[row]];
      EXPECT_EQ(mel.lengths[row],
                static_cast<std::int32_t>(clip.mel.size() / cache_.options().channel_count));
      EXPECT_EQ(tokens.lengths[row], static_cast<std::int32_t>(clip.tokens.size()));
      expect_row(mels, row, batch.size(), std::as_bytes(std::span(clip.mel)));
      expect_row(numbers, row, batch.size(), std::as_bytes(std::span(clip.tokens)));
    }
    for (std::uint32_t row = batch.valid_count(); row < batch.size(); ++row) {
      EXPECT_EQ(mel.lengths[row], 0);
      EXPECT_EQ(batch.speakers()[row], -1);
    }
  }
  void expect_same(const Batch& batch, const Batch& wanted) const {
    ASSERT_TRUE(batch.wait().ok());
    ASSERT_TRUE(std::ranges::equal(batch.positions(), wanted.positions()));
    EXPECT_TRUE(std::ranges::equal(batch.speakers(), wanted.speakers()));
    EXPECT_TRUE(std::ranges::equal(batch.languages(), wanted.languages()));
    ASSERT_EQ(batch.columns().size(), wanted.columns().size());
    for (std::size_t i = 0; i < batch.columns().size(); ++i) {
      const BatchColumn& column = batch.columns()[i];
      EXPECT_TRUE(std::ranges::equal(column.lengths, wanted.columns()[i].lengths));
      EXPECT_TRUE(std::ranges::equal(read(column), wanted.columns()[i].bytes)) << column.name;
    }
  }
  void expect_same_epoch(Reader& reader, Reader& wanted_of) const {
    for (;;) {
      const auto batch = reader.next();
      const auto wanted = wanted_of.next();
      ASSERT_TRUE(batch.ok() && wanted.ok());
      ASSERT_EQ(batch->has_value(), wanted->has_value());
      if (!*batch) break;
      expect_same(**batch, **wanted);
    }
  }
  static void expect_row(const std::vector<std::byte>& column, std::uint32_t row,
                         std::uint32_t row_count, std::span<const std::byte> wanted) {
    const std::size_t row_bytes = column.size() / row_count;
    EXPECT_EQ(std::memcmp(column.data() + row * row_bytes, wanted.data(), wanted.size()), 0);
  }

  testing::DeviceUnderTest device_{GetParam()};
  MadeCache cache_{{.clip_count = 61, .clips_per_block = 8, .blocks_per_shard = 4}};
};

TEST_P(ReaderOn, BringsEveryClipInEachOrder) {
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
    Reader reader = open({.batch_size = 7, .shuffle = shuffle, .last_batch = LastBatch::kPad});
    std::size_t clip_count = 0;
    for (;;) {
      const auto batch = reader.next();
      ASSERT_TRUE(batch.ok()) << batch.status().message();
      if (!*batch) break;
      expect_rows(**batch);
      clip_count += (*batch)->valid_count();
    }
    EXPECT_EQ(clip_count, cache_.made().clips.size());
  }
}

// Tries all changes of records on their way: crops, dtypes, normalization and others.
TEST_P(ReaderOn, BringsWhatComesOnTheCpu) {
  const std::vector<double> numbers(cache_.options().channel_count, 1.5);
  const ColumnRequest normalized = {
      .name = "mel", .normalize = Normalize::kGiven, .means = numbers, .deviations = numbers};
  const ColumnRequest half = {.name = "mel", .dtype = DType::kFloat16, .pad_value = -7.0};
  const std::vector<ReaderOptions> all = {
      {.batch_size = 6, .columns = {normalized, {.name = "tokens", .pad_value = -1.0}}},
      {.batch_size = 6, .columns = {half}, .thread_count = 3},
      {.batch_size = 5, .seed = 2, .crop_frames = 9},
      {.last_batch = LastBatch::kPad,
       .buckets = {{.batch_size = 4, .frames_max = 20}, {.batch_size = 6}}},
      {.batch_size = 3, .slot_count = 9, .thread_count = 4}};
  for (const ReaderOptions& options : all) {
    Reader reader = open(options);
    Reader on_cpu = open_reader(cache_.open(), options);
    expect_same_epoch(reader, on_cpu);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ReaderOn, SaysWhereColumnsLie) {
  Reader reader = open({.batch_size = 8, .shuffle = Shuffle::kNone});
  const auto batch = reader.next();
  ASSERT_TRUE(batch.ok() && batch->has_value());
  for (const BatchColumn& column : (*batch)->columns()) {
    EXPECT_EQ(column.device, device_.id());
    if (device_.has_own_memory()) {
      EXPECT_FALSE(column.is_view) << "the device cannot read the file";
      EXPECT_EQ(column.as_floats().status().code(), StatusCode::kUnsupported);
      EXPECT_EQ(column.as_int32s().status().code(), StatusCode::kUnsupported);
    } else {
      EXPECT_TRUE(column.is_view);
    }
  }
}

TEST_P(ReaderOn, StreamWaitsAndItsBatchMayBeDropped) {
  Reader reader = open({.batch_size = 8, .seed = 3, .last_batch = LastBatch::kPad});
  const auto stream = device_.make_stream();
  std::atomic<std::size_t> sound_count = 0;
  std::size_t batch_count = 0;
  for (;; ++batch_count) {
    const auto batch = reader.next();
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    if (!*batch) break;
    ASSERT_TRUE((*batch)->let_wait(stream).ok());
    const BatchColumn& mel = *(*batch)->find("mel");
    const testing::TestClip& first = cache_.made().clips[(*batch)->positions()[0]];
    const auto look = [&](const std::vector<std::byte>& bytes) {
      if (std::memcmp(bytes.data(), first.mel.data(), first.mel.size() * sizeof(float)) == 0)
        ++sound_count;
    };
    device_.launch(stream, mel.bytes.data(), mel.bytes.size(), look);
  }
  device_.finish(stream);
  EXPECT_EQ(sound_count, batch_count);
}

TEST_P(ReaderOn, TheLogNamesTheGpuAndItsMemory) {
  std::string told;
  Reader reader = open(
      {.batch_size = 8, .log = [&](LogLevel, const std::string& text) { told += text + "\n"; }});
  const bool names_gpu = told.find("device: cuda:0 (") != std::string::npos &&
                         told.find(" MiB\n") != std::string::npos;
  EXPECT_EQ(names_gpu, device_.id().kind == DeviceKind::kCuda) << told;
}

// Lengths and numbers for the host lie on the device, too, where the device copies them.
TEST_P(ReaderOn, LengthsAndNumbersLieOnTheDevice) {
  Reader reader = open({.batch_size = 8, .seed = 4});
  const auto batch = reader.next();
  ASSERT_TRUE(batch.ok() && batch->has_value());
  ASSERT_TRUE((*batch)->wait().ok());
  const auto check = [&](std::span<const std::int32_t> on_host) {
    const std::int32_t* const there = (*batch)->on_device(on_host);
    ASSERT_NE(there, nullptr);
    EXPECT_EQ(there == on_host.data(), !device_.has_own_memory());
    if (!device_.has_own_memory()) return;
    const auto wanted = std::as_bytes(on_host);
    EXPECT_TRUE(std::ranges::equal(
        device_.read({reinterpret_cast<const std::byte*>(there), wanted.size()}), wanted));
  };
  for (const BatchColumn& column : (*batch)->columns()) check(column.lengths);
  check((*batch)->speakers());
  check((*batch)->languages());
  const std::vector<std::int32_t> not_in_the_batch(8);
  EXPECT_EQ((*batch)->on_device(not_in_the_batch), nullptr);
}

TEST_P(ReaderOn, BatchOutlivesItsReader) {
  std::optional<Batch> kept;
  {
    Reader reader = open({.batch_size = 8});
    kept = std::move(*reader.next());
  }
  expect_rows(*kept);
}

TEST_P(ReaderOn, IsMeasured) {
  const auto caches = reader::CacheSet::open(Env::real(), cache_.path());
  ASSERT_TRUE(caches.ok()) << caches.status().message();
  const auto measured = loader::measure(
      *caches, {.reader = {.batch_size = 8, .device = device_.name()}, .batch_count = 20});
  ASSERT_TRUE(measured.ok()) << measured.status().message();
  EXPECT_EQ(measured->again.sample_count, 160U);
}

TEST_P(ReaderOn, TellsCOfTheDevice) {
  xtts_error error;
  xtts_cache* cache = nullptr;
  ASSERT_EQ(xtts_cache_open(cache_.path().c_str(), &cache, &error), XTTS_OK);
  xtts_reader_options options;
  xtts_reader_options_init(&options, sizeof options);
  options.batch_size = 8;
  options.device = device_.name().c_str();
  xtts_reader* reader = nullptr;
  ASSERT_EQ(xtts_reader_open(cache, &options, &reader, &error), XTTS_OK) << error.message;
  xtts_batch batch;
  ASSERT_EQ(xtts_reader_next(reader, &batch, &error), XTTS_OK) << error.message;
  ASSERT_EQ(xtts_batch_wait(&batch, &error), XTTS_OK);
  const xtts_batch_column& mel = *xtts_batch_find(&batch, "mel");
  const DeviceId device{static_cast<DeviceKind>(mel.device_kind), mel.device_number};
  EXPECT_EQ(device, device_.device()->id());
  const auto bytes = device_.read({static_cast<const std::byte*>(mel.data), mel.data_bytes});
  const testing::TestClip& first = cache_.made().clips[batch.positions[0]];
  expect_row(bytes, 0, batch.size, std::as_bytes(std::span(first.mel)));
  EXPECT_EQ(mel.lengths[0],
            static_cast<std::int32_t>(first.mel.size() / cache_.options().channel_count));
  const std::uintptr_t stream = device_.make_stream();
  EXPECT_EQ(xtts_batch_let_wait(&batch, stream, &error), XTTS_OK);
  batch.release(&batch);
  xtts_reader_close(reader);
  xtts_cache_close(cache);
}

INSTANTIATE_TEST_SUITE_P(Devices, ReaderOn, testing::all_devices(),
                         [](const auto& choice) { return testing::name_of(choice.param); });

}  // namespace
}  // namespace xtts
