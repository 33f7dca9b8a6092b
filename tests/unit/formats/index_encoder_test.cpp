#include "formats/index.hpp"
#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

struct Written {
  std::string file;
  IndexEncoder encoder;

  explicit Written(std::uint64_t record_count)
      : encoder(
            [this](std::span<const std::byte> bytes) {
              file += text_of(bytes);
              return Status();
            },
            1, record_count) {}
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  void section(SectionKind kind, const std::string& bytes, std::uint64_t rows, std::size_t step) {
    ASSERT_TRUE(encoder.begin_section(kind).ok());
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(encoder.append(bytes_of(std::string_view(bytes).substr(at, step))).ok());
    }
    EXPECT_EQ(encoder.section_bytes(), bytes.size());
    ASSERT_TRUE(encoder.end_section(rows).ok());
  }
};

std::string details(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + i % 26);
  return bytes;
}

// Every byte of the file is found again through the footer, and every check holds.
TEST(IndexEncoder, WritesWhatItsFooterSays) {
  Written written(2);
  const std::string plan(2 * kPlanRowBytes, 'p');
  const std::string text = details(200'001);
  written.section(SectionKind::kPlan, plan, 2, 1000);
  written.section(SectionKind::kDetails, text, 2, 777);
  const auto finished = written.encoder.finish();
  ASSERT_TRUE(finished.ok()) << finished.status().message();
  const std::string& file = written.file;
  EXPECT_EQ(finished->file_bytes, file.size());

  const auto footer_bytes = bytes_of(file).last(kIndexFooterBytes);
  EXPECT_EQ(finished->digest, digest128(footer_bytes));
  const auto footer = decode_index_footer(footer_bytes, file.size());
  ASSERT_TRUE(footer.ok()) << footer.status().message();
  const SectionEntry* const section = footer->find(SectionKind::kDetails);
  ASSERT_NE(section, nullptr);
  EXPECT_EQ(section->offset_bytes, 64U);
  EXPECT_EQ(file.substr(section->offset_bytes, section->size_bytes), text);
  EXPECT_EQ(footer->chunk_count, 4U);

  const auto checks = bytes_of(file).subspan(footer->data_bytes, 8 * footer->chunk_count);
  EXPECT_EQ(footer->chunk_table_check, check64(checks));
  for (std::uint64_t chunk = 0; chunk < footer->chunk_count; ++chunk) {
    const std::size_t begin = chunk * kIndexChunkBytes;
    const std::size_t size = std::min(kIndexChunkBytes, footer->data_bytes - begin);
    EXPECT_EQ(load<std::uint64_t>(checks, 8 * chunk),
              index_chunk_check(chunk, bytes_of(file).subspan(begin, size)));
  }
}

TEST(IndexEncoder, TheSameBytesInAnyPieces) {
  std::string first;
  for (const std::size_t step : {1UL, 63UL, 65536UL, 1'000'000UL}) {
    Written written(5);
    written.section(SectionKind::kDetails, details(140'000), 5, step);
    ASSERT_TRUE(written.encoder.finish().ok());
    if (first.empty()) first = written.file;
    EXPECT_EQ(written.file, first) << "pieces of " << step;
  }
}

TEST(IndexEncoder, AChunkCarriesItsPlace) {
  const std::string chunk(kIndexChunkBytes, 'c');
  EXPECT_NE(index_chunk_check(0, bytes_of(chunk)), index_chunk_check(1, bytes_of(chunk)));
}

TEST(IndexEncoder, AnIndexWithoutSectionsIsAFooter) {
  Written written(0);
  const auto finished = written.encoder.finish();
  ASSERT_TRUE(finished.ok()) << finished.status().message();
  EXPECT_EQ(written.file.size(), kIndexFooterBytes);
}

TEST(IndexEncoder, RefusesCallsOutOfOrder) {
  Written written(1);
  EXPECT_EQ(written.encoder.append(bytes_of("x")).code(), StatusCode::kInternal);
  EXPECT_EQ(written.encoder.end_section(0).code(), StatusCode::kInternal);
  ASSERT_TRUE(written.encoder.begin_section(SectionKind::kPlan).ok());
  EXPECT_EQ(written.encoder.begin_section(SectionKind::kDetails).code(), StatusCode::kInternal);
  EXPECT_EQ(written.encoder.finish().status().code(), StatusCode::kInternal);
}

TEST(IndexEncoder, RefusesRowsThatDoNotFillTheirSection) {
  Written written(1);
  ASSERT_TRUE(written.encoder.begin_section(SectionKind::kPlan).ok());
  ASSERT_TRUE(written.encoder.append(bytes_of(std::string(31, 'r'))).ok());
  expect_refused(written.encoder.end_section(1), StatusCode::kInternal, "rows");
}

TEST(IndexEncoder, RefusesToFinishWhatNoReaderWouldTake) {
  Written written(2);  // two records, but a plan of one
  written.section(SectionKind::kPlan, std::string(32, 'r'), 1, 32);
  expect_refused(written.encoder.finish().status(), StatusCode::kInternal, "as many as records");
}

TEST(IndexEncoder, ReturnsTheFailureOfItsSink) {
  IndexEncoder encoder(
      [](std::span<const std::byte>) { return Status(StatusCode::kResource, "disk full"); }, 1, 0);
  ASSERT_TRUE(encoder.begin_section(SectionKind::kRejects).ok());
  EXPECT_EQ(encoder.append(bytes_of(std::string(kIndexChunkBytes, 'x'))).code(),
            StatusCode::kResource);
}

}  // namespace
}  // namespace xtts::formats
