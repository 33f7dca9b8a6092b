// What the tests of layouts with lists ask again and again.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corpus_checks.hpp"

namespace xtts::corpus {

using Ids = std::vector<std::string>;

// The corpus in /data; empty, and a failed test, where it is refused.
inline Corpus read_data(testing::MemoryEnv& env, const formats::CorpusConfig& config = {}) {
  auto corpus = discover(env, "/data", config);
  EXPECT_TRUE(corpus.ok()) << corpus.status().message();
  return corpus.ok() ? std::move(*corpus) : Corpus();
}

inline std::string layout_of(testing::MemoryEnv& env) {
  return read_data(env).layout;
}

// Empty audio of these names in /data.
inline void add_audio(testing::MemoryEnv& env, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) env.add_file("/data/" + path, "RIFF");
}

// The message of a refusal whose code says that the corpus or the call must be mended.
inline std::string refusal_of(testing::MemoryEnv& env, const formats::CorpusConfig& config = {}) {
  const Status status = discover(env, "/data", config).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
  return status.message();
}

inline bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace xtts::corpus
