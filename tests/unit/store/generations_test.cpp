#include "store/generations.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/memory_env.hpp"
#include "support/passing_env.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint64_t kSparseBytes = std::uint64_t{1} << 43U;
constexpr std::uint64_t kReadBytesMax = std::uint64_t{256} << 20U;

// A file of 8 TiB that holds nothing: what a damaged file system, or somebody, may leave.
class SparseFile final : public RandomAccessFile {
 public:
  explicit SparseFile(std::uint64_t& read_bytes) : read_bytes_(read_bytes) {}

  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t /*offset_bytes*/,
                                            std::span<std::byte> bytes) const override {
    if (read_bytes_ > kReadBytesMax) return Status(StatusCode::kResource, "has read enough");
    read_bytes_ += bytes.size();
    std::memset(bytes.data(), 0, bytes.size());
    return bytes.size();
  }
  [[nodiscard]] std::uint64_t size_bytes() const override { return kSparseBytes; }

 private:
  std::uint64_t& read_bytes_;
};

class SparseFileEnv final : public PassingEnv {
 public:
  using PassingEnv::PassingEnv;

  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& /*path*/) override {
    return std::unique_ptr<RandomAccessFile>(std::make_unique<SparseFile>(read_bytes_));
  }
  [[nodiscard]] std::uint64_t read_bytes() const { return read_bytes_; }

 private:
  std::uint64_t read_bytes_ = 0;
};

TEST(Generations, SparseShardIsNotReadToItsEnd) {
  MemoryEnv memory;
  SparseFileEnv env(memory);
  EXPECT_EQ(store::generation_of_shard(env, "/cache/shards/mel/00000-x.lmdb"), std::nullopt);
  EXPECT_LE(env.read_bytes(), kReadBytesMax);
}

}  // namespace
}  // namespace xtts::testing
