#include "verify/piece_reader.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/memory_env.hpp"

namespace xtts::verify {
namespace {

using testing::EnvCall;
using testing::EnvOperation;
using testing::MemoryEnv;

std::string counting(std::size_t size_bytes) {
  std::string text(size_bytes, '\0');
  for (std::size_t i = 0; i < size_bytes; ++i) text[i] = static_cast<char>(i * 131 >> 3);
  return text;
}

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Stretches of every length against buffers shorter and longer than they are, with gaps and steps
// back.
TEST(PieceReader, ShowsTheBytesOfTheFileWhateverTheStretches) {
  MemoryEnv env;
  const std::string contents = counting(5000);
  env.add_file("/f", contents);
  const auto file = env.open_for_read("/f");
  ASSERT_TRUE(file.ok());
  for (const unsigned seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<std::byte> buffer(64);
    PieceReader pieces(**file, "f", buffer);
    std::uint64_t offset = 0;
    for (int i = 0; i < 300; ++i) {
      const std::size_t size = random() % 200;
      if (offset + size > contents.size()) offset = 0;
      const auto bytes = pieces.view(offset, size);
      ASSERT_TRUE(bytes.ok());
      ASSERT_EQ(as_text(*bytes), contents.substr(offset, size));
      offset += size + random() % 40;
    }
  }
}

TEST(PieceReader, ReadsEachByteOnceWhereStretchesFollowEachOther) {
  MemoryEnv env;
  env.add_file("/f", counting(10'000));
  std::uint64_t bytes_read = 0;
  env.set_hook([&](EnvOperation& operation) {
    if (operation.call == EnvCall::kRead) bytes_read += operation.size_bytes;
    return Status();
  });
  const auto file = env.open_for_read("/f");
  std::vector<std::byte> buffer(1000);
  PieceReader pieces(**file, "f", buffer);
  for (std::uint64_t offset = 0; offset < 10'000; offset += 80)
    ASSERT_TRUE(pieces.view(offset, 80).ok());
  EXPECT_LE(bytes_read, 11'000);  // the last read asks for a whole piece
}

TEST(PieceReader, TellsWhereTheFileEnds) {
  MemoryEnv env;
  env.add_file("/f", counting(100));
  const auto file = env.open_for_read("/f");
  std::vector<std::byte> buffer(64);
  PieceReader pieces(**file, "f", buffer);
  EXPECT_TRUE(pieces.view(90, 10).ok());
  EXPECT_EQ(pieces.view(90, 11).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(pieces.view(200, 1).status().code(), StatusCode::kCorrupt);
}

// A read that touches bytes 300 to 309 fails, as on a bad sector. Stretches beside it are read all
// the same.
TEST(PieceReader, LosesOnlyTheStretchThatCannotBeRead) {
  MemoryEnv env;
  const std::string contents = counting(1000);
  env.add_file("/f", contents);

  class BadSector final : public RandomAccessFile {
   public:
    explicit BadSector(const RandomAccessFile& file) : file_(file) {}
    [[nodiscard]] std::uint64_t size_bytes() const override { return file_.size_bytes(); }
    [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset,
                                              std::span<std::byte> out) const override {
      if (offset < 310 && offset + out.size() > 300) return Status(StatusCode::kResource, "EIO");
      return file_.read_at(offset, out);
    }

   private:
    const RandomAccessFile& file_;
  };
  const auto file = env.open_for_read("/f");
  const BadSector bad(**file);
  std::vector<std::byte> buffer(500);
  PieceReader pieces(bad, "f", buffer);
  for (std::uint64_t offset = 0; offset < 1000; offset += 50) {
    const auto bytes = pieces.view(offset, 50);
    EXPECT_EQ(bytes.ok(), offset != 300) << offset;
    if (!bytes.ok()) continue;
    EXPECT_EQ(as_text(*bytes), contents.substr(offset, 50));
  }
}

}  // namespace
}  // namespace xtts::verify
