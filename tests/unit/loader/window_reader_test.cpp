// What windowed epochs ask of a disk: an environment that knows nothing to be in memory writes down
// every read of a shard.
#include "loader/window_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "base/file_mapping.hpp"
#include "loader/loader.hpp"
#include "reader/file_ranges.hpp"
#include "support/temp_folder.hpp"
#include "support/test_cache.hpp"

namespace xtts::loader {
namespace {

struct Read {
  std::string path;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
};

class ReadLog {
 public:
  void add(Read read) {
    const std::scoped_lock lock(mutex_);
    reads_.push_back(std::move(read));
  }
  [[nodiscard]] std::vector<Read> of_column(const std::string& column) const {
    const std::scoped_lock lock(mutex_);
    std::vector<Read> some;
    for (const Read& read : reads_) {
      if (read.path.find("/" + column + "/") != std::string::npos) some.push_back(read);
    }
    return some;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Read> reads_;
};

class ColdMapping final : public FileMapping {
 public:
  explicit ColdMapping(std::shared_ptr<const FileMapping> real) : real_(std::move(real)) {}
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override {
    return real_->bytes();
  }
  void will_need(std::uint64_t, std::uint64_t) const noexcept override {}
  void populate(std::uint64_t, std::uint64_t) const noexcept override {}
  [[nodiscard]] std::uint64_t resident_bytes(std::uint64_t, std::uint64_t) const override {
    return 0;
  }

 private:
  std::shared_ptr<const FileMapping> real_;
};

class LoggedFile final : public RandomAccessFile {
 public:
  LoggedFile(std::string path, std::unique_ptr<RandomAccessFile> real, ReadLog& log)
      : path_(std::move(path)), real_(std::move(real)), log_(log) {}
  [[nodiscard]] std::uint64_t size_bytes() const override { return real_->size_bytes(); }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    log_.add({path_, offset_bytes, out.size()});
    return real_->read_at(offset_bytes, out);
  }
  [[nodiscard]] Result<std::shared_ptr<const FileMapping>> map() const override {
    auto real = real_->map();
    if (!real.ok()) return real;
    return std::shared_ptr<const FileMapping>(std::make_shared<ColdMapping>(std::move(*real)));
  }

 private:
  std::string path_;
  std::unique_ptr<RandomAccessFile> real_;
  ReadLog& log_;
};

// Reading calls alone: a reader makes no others.
class ColdEnv final : public Env {
 public:
  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& path) override {
    auto real = Env::real().open_for_read(path);
    if (!real.ok()) return real;
    return std::unique_ptr<RandomAccessFile>(
        std::make_unique<LoggedFile>(path, std::move(*real), log));
  }
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_for_write(const std::string&,
                                                                     WriteMode) override {
    return refused();
  }
  [[nodiscard]] Result<FileFacts> stat(const std::string& path) override {
    return Env::real().stat(path);
  }
  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(const std::string& path) override {
    return Env::real().list(path);
  }
  [[nodiscard]] Status create_directories(const std::string&) override { return refused(); }
  [[nodiscard]] Status rename(const std::string&, const std::string&) override { return refused(); }
  [[nodiscard]] Status link(const std::string&, const std::string&) override { return refused(); }
  [[nodiscard]] Status remove_file(const std::string&) override { return refused(); }
  [[nodiscard]] Status remove_directory(const std::string&) override { return refused(); }
  [[nodiscard]] Status sync_directory(const std::string&) override { return refused(); }
  [[nodiscard]] Result<std::uint64_t> free_bytes(const std::string& path) override {
    return Env::real().free_bytes(path);
  }
  [[nodiscard]] Result<std::string> real_path(const std::string& path) override {
    return Env::real().real_path(path);
  }
  [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                       LockKind kind) override {
    return Env::real().lock(path, kind);
  }
  [[nodiscard]] Result<LockReach> lock_reach(const std::string& folder) override {
    return Env::real().lock_reach(folder);
  }
  [[nodiscard]] std::chrono::nanoseconds now() override { return Env::real().now(); }
  void sleep_for(std::chrono::nanoseconds duration) override { Env::real().sleep_for(duration); }

  ReadLog log;

 private:
  [[nodiscard]] static Status refused() { return {StatusCode::kResource, "read-only"}; }
};

class WindowReaderTest : public ::testing::Test {
 protected:
  WindowReaderTest()
      : made_(testing::make_test_cache({.clip_count = 96,
                                        .frames_max = 100,
                                        .channel_count = 20,
                                        .clips_per_block = 4,
                                        .blocks_per_shard = 8})) {
    for (const auto& [name, bytes] : made_.files) folder_.write(name, bytes);
    auto opened = reader::CacheView::open(env_, folder_.path());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    cache_ = *opened;
  }

  [[nodiscard]] std::unique_ptr<Loader> open(const ReaderOptions& options) {
    auto loader = Loader::open(*reader::CacheSet::join({cache_}), options);
    EXPECT_TRUE(loader.ok()) << loader.status().message();
    return std::move(*loader);
  }

  // Takes a whole epoch; returns the positions.
  static std::set<std::uint64_t> take_all(Loader& loader) {
    std::set<std::uint64_t> positions;
    for (;;) {
      const auto lease = loader.next();
      EXPECT_TRUE(lease.ok()) << lease.status().message();
      if (!lease.ok() || !*lease) return positions;
      positions.insert((**lease)->positions.begin(), (**lease)->positions.end());
    }
  }

  ColdEnv env_;
  testing::TempFolder folder_;
  testing::TestCache made_;
  std::shared_ptr<reader::CacheView> cache_;
};

TEST_F(WindowReaderTest, RangesAreWhatTheRecordsAndHeadersTake) {
  const formats::ColumnSpec& column = cache_->manifest().columns[0].spec;
  const auto first_block = cache_->block(0, 0);
  ASSERT_TRUE(first_block.ok());
  const auto of_one = reader::find_file_ranges(*cache_, column, 1, 2);
  ASSERT_TRUE(of_one.ok());
  // The header lies next to the records: one range.
  EXPECT_EQ(*of_one, (std::vector<reader::FileRange>{{0, first_block->place.header_offset,
                                                      first_block->place.payload_offset +
                                                          3 * column.record_bytes() -
                                                          first_block->place.header_offset}}));
  const auto of_all = reader::find_file_ranges(*cache_, column, 0, 96);
  ASSERT_TRUE(of_all.ok());
  EXPECT_EQ(of_all->size(), cache_->manifest().columns[0].shards.size());
  EXPECT_FALSE(reader::find_file_ranges(*cache_, column, 90, 10).ok());
}

TEST_F(WindowReaderTest, JoinsWhatTouchesAndKeepsWhatDoesNot) {
  const std::uint64_t far = std::uint64_t{1} << 20U;
  EXPECT_EQ(reader::join_ranges({{1, far, 10}, {0, 0, 100}, {0, 50, 10}, {0, 100, 5}, {1, 0, 1}}),
            (std::vector<reader::FileRange>{{0, 0, 105}, {1, 0, 1}, {1, far, 10}}));
  EXPECT_TRUE(reader::join_ranges({}).empty());
}

TEST_F(WindowReaderTest, EachWindowIsReadFromFrontToBackBeforeItsBatchesAreMade) {
  const auto loader = open({.batch_size = 8,
                            .shuffle = Shuffle::kWindow,
                            .seed = 3,
                            .stretch_samples = 8,
                            .stretches_per_window = 4});
  EXPECT_EQ(take_all(*loader).size(), 96U);
  const std::vector<Read> reads = env_.log.of_column("mel");
  // Three windows of four stretches: a run a stretch at most, and never back within a window.
  std::size_t run_count = 0;
  std::size_t turned_back = 0;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    total += reads[i].size_bytes;
    if (i == 0 || reads[i].path != reads[i - 1].path ||
        reads[i].offset_bytes != reads[i - 1].offset_bytes + reads[i - 1].size_bytes) {
      ++run_count;
    }
    if (i > 0 && std::pair(reads[i].path, reads[i].offset_bytes) <
                     std::pair(reads[i - 1].path, reads[i - 1].offset_bytes)) {
      ++turned_back;
    }
  }
  EXPECT_LE(run_count, 12U);
  EXPECT_LE(turned_back, 2U);
  EXPECT_GE(total, 96 * cache_->manifest().columns[0].spec.record_bytes());
}

TEST_F(WindowReaderTest, NotMoreThanTheNextWindowIsReadAhead) {
  const auto loader = open({.batch_size = 4,
                            .shuffle = Shuffle::kWindow,
                            .columns = {{.name = "mel"}},
                            .stretch_samples = 4,
                            .stretches_per_window = 2});  // twelve windows of eight
  ASSERT_TRUE(loader->next().ok());
  // The ring may have begun as many batches as it has slots, and one: three windows, and one ahead.
  std::set<std::pair<std::string, std::uint64_t>> blocks;
  for (const Read& read : env_.log.of_column("mel")) blocks.emplace(read.path, read.offset_bytes);
  EXPECT_LE(blocks.size(), 4 * 2U + 2U);
  EXPECT_EQ(take_all(*loader).size(), 92U);
}

TEST_F(WindowReaderTest, EpochsStatesAndEarlyEndsLeaveNobodyWaiting) {
  const ReaderOptions options{.batch_size = 4,
                              .shuffle = Shuffle::kWindow,
                              .thread_count = 3,
                              .stretch_samples = 4,
                              .stretches_per_window = 2};
  const auto loader = open(options);
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    loader->set_epoch(epoch);
    ASSERT_TRUE(loader->next().ok());
  }
  const ReaderState state = loader->state();
  const auto other = open(options);
  ASSERT_TRUE(other->load_state(state).ok());
  EXPECT_EQ(take_all(*other), take_all(*loader));
  for (int i = 0; i < 20; ++i) (void)open(options);
}

}  // namespace
}  // namespace xtts::loader
