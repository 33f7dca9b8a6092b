#include "repair_support.hpp"
#include "request/verify_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::testing {

using ::testing::IsEmpty;
using verify::Level;
using verify::Report;

pipeline::BuildRequest repair_request(const std::vector<std::string>& settings) {
  auto request = request_for(recipe_of_small_shards(settings));
  request.max_rejects.count = 1;
  return request;
}

void add_repair_corpus(MemoryEnv& env) {
  add_listed_sounds(env, kRepairClips);
  env.add_file(sound_path(3, kData + "/wavs"), "no sound");
}

// The bytes that every repair must come back to.
const Files& whole_cache() {
  static const Files files = [] {
    MemoryEnv env;
    add_repair_corpus(env);
    must_build(env, repair_request());
    return files_below(env);
  }();
  return files;
}

void add_whole_cache(MemoryEnv& env) {
  add_repair_corpus(env);
  for (const auto& [name, bytes] : whole_cache()) env.add_file(kCache + "/" + name, bytes);
}

verify::Options repair_options(const std::string& data) {
  verify::Options options;
  options.level = Level::kFull;
  options.thread_count = 2;
  options.repair = true;
  options.sources.data.path = data;
  options.sources.make_decoder = in_this_process();
  return options;
}

Report repaired(Env& env, const verify::Options& options) {
  const auto report = verify::verify_cache(env, kCache, options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report ? *report : Report{};
}

std::string told(const Report& report) {
  std::string text;
  for (const auto& finding : report.findings)
    text += finding.file + " " + finding.clip + " " + request::what_of(finding) + ": " +
            request::words_of(finding.found) + "\n";
  return text;
}

std::vector<std::string> shard_names(const std::string& column) {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files_named(whole_cache(), "shards/" + column))
    names.push_back(name);
  return names;
}

std::string flipped(std::string bytes, std::size_t offset) {
  bytes[offset] = static_cast<char>(bytes[offset] ^ 0x20);
  return bytes;
}

const std::string& whole(const std::string& name) {
  return whole_cache().at(name);
}

std::size_t header_of(const std::string& bytes) {
  return bytes.find("XTTSBLK1");
}
std::size_t facts_of(const std::string& bytes) {
  return bytes.find("XTTSFCT1");
}

void expect_repaired(MemoryEnv& env, const Report& report, const std::string& file) {
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_THAT(report.findings, IsEmpty()) << told(report);
  EXPECT_EQ(report.record_count, 2 * (kRepairClips - 1));
  ASSERT_EQ(report.repaired.size(), 1U);
  EXPECT_EQ(report.repaired.front().file, file);
  EXPECT_EQ(difference(whole_cache(), files_below(env)), "");
}

}  // namespace xtts::testing
