// Odd and hostile files as a whole build meets them: each ends as the manifest of the recorded
// corpus says, stored, stored with a warning, or rejected by name. XTTS_CORPUS names its folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "build_support.hpp"
#include "formats/rules.hpp"
#include "support/temp_folder.hpp"

namespace xtts::testing {
namespace {

struct Row {
  std::string path;
  std::string expected;
};

// Those below `folder`, with paths relative to it.
std::vector<Row> rows_of(const std::string& corpus, const std::string& folder) {
  std::vector<Row> rows;
  const auto manifest = read_text_file(Env::real(), corpus + "/manifest.tsv", 4 << 20);
  EXPECT_TRUE(manifest.ok()) << manifest.status().message();
  if (!manifest.ok()) return rows;
  std::istringstream lines(*manifest);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream columns(line);
    for (std::string field; std::getline(columns, field, '\t');) fields.push_back(field);
    if (fields.size() < 4 || !fields[0].starts_with(folder + "/") || fields[3] == "n/a") continue;
    rows.push_back({fields[0].substr(folder.size() + 1), fields[3]});
  }
  return rows;
}

// Returns the outcome of each source: "ok", "ok but warn", "rejected".
std::map<std::string, std::string> outcomes(const std::string& data, const std::string& cache) {
  std::map<std::string, std::string> ends;
  auto request = request_for(recipe_with({"corpus.layout=folder"}));
  request.data.path = data;
  request.options.cache = cache;
  request.max_rejects.share = 1.0;
  const auto report = must_build(Env::real(), request);
  for (const auto& reject : report.rejects) {
    EXPECT_NE(reject.reason.rule, formats::Rule::kUnknown) << reject.path;
    ends[reject.path] = "rejected";
  }
  const auto view = open_cache(Env::real(), cache);
  for (std::uint64_t i = 0; i < view->size(); ++i) {
    const auto facts = view->details(i);
    EXPECT_TRUE(facts.ok()) << facts.status().message();
    if (facts.ok())
      ends[facts->source_path.value_or("")] = facts->warnings.empty() ? "ok" : "ok but warn";
  }
  EXPECT_EQ(damage_in(Env::real(), cache), "");
  return ends;
}

class RecordedCorpus : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedCorpus, EveryFileEndsAsItsManifestSays) {
  const char* corpus = std::getenv("XTTS_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "XTTS_CORPUS names no corpus of real and hostile files";
  const TempFolder folder;
  const auto rows = rows_of(corpus, GetParam());
  EXPECT_GT(rows.size(), 40U);
  const auto ends = outcomes(std::string(corpus) + "/" + GetParam(), folder.path() + "/cache");
  for (const Row& row : rows) {
    // 64 bytes with a senseless header, which FFmpeg knows by the name of its file alone.
    if (row.path.find("claxon__d44b4144") != std::string::npos) continue;
    // Its 24 bits in 32 are those of no standard. FFmpeg reads zeros, so it is refused.
    if (row.path.find("hound__pcmwaveformat-24bit-4byte") != std::string::npos) continue;
    const auto end = ends.find(row.path);
    ASSERT_NE(end, ends.end()) << row.path << " is neither stored nor rejected";
    if (row.expected == "ok") {
      EXPECT_NE(end->second, "rejected") << row.path;  // a word about it does no harm
    } else if (row.expected == "ok but warn") {
      EXPECT_EQ(end->second, "ok but warn") << row.path;
    } else {
      EXPECT_EQ(end->second, "rejected") << row.path;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, RecordedCorpus,
                         ::testing::Values("odd_formats", "hostile/files"));

}  // namespace
}  // namespace xtts::testing
