// Helpers that the tests of discovery share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus.hpp"
#include "formats/corpus_config.hpp"
#include "support/memory_env.hpp"

namespace xtts::corpus {

inline Result<Corpus> discover(Env& env, const std::string& data,
                               const formats::CorpusConfig& config = {}) {
  return discover({.env = env, .data = {data}, .config = config});
}

inline std::vector<std::string> ids_of(const Corpus& corpus) {
  std::vector<std::string> ids;
  for (const Clip& clip : corpus.clips) ids.push_back(clip.id);
  std::sort(ids.begin(), ids.end());  // canonical order puts splits first
  return ids;
}

// The clip of that id; an empty one, which no expectation fits, where there is none.
inline Clip clip_of(const Corpus& corpus, std::string_view id) {
  for (const Clip& clip : corpus.clips) {
    if (clip.id == id) return clip;
  }
  return {};
}

// "metadata.csv:3 id: reason", one a line: what a person would be told.
inline std::string problems_of(const Corpus& corpus) {
  std::string text;
  for (const Reject& problem : corpus.problems) {
    text += problem.path;
    if (problem.line) text += ":" + std::to_string(*problem.line);
    text += " " + problem.id + ": " + problem.reason.detail + "\n";
  }
  return text;
}

inline std::string notes_of(const Corpus& corpus) {
  std::string text;
  for (const std::string& note : corpus.notes) text += note + "\n";
  return text;
}

inline bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Discovers /data, which must be a corpus.
inline Corpus discover_data(testing::MemoryEnv& env, const formats::CorpusConfig& config = {}) {
  auto corpus = discover(env, "/data", config);
  EXPECT_TRUE(corpus.ok()) << corpus.status().message();
  return corpus.ok() ? std::move(*corpus) : Corpus();
}

using Ids = std::vector<std::string>;

inline std::string layout_of(testing::MemoryEnv& env) {
  return discover_data(env).layout;
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

// /data with metadata.csv as given and empty audio of these names in wavs/.
inline void add_ljspeech(testing::MemoryEnv& env, std::string_view list,
                         const std::vector<std::string>& audio) {
  env.add_file("/data/metadata.csv", list);
  for (const std::string& name : audio) env.add_file("/data/wavs/" + name, "RIFF");
}

}  // namespace xtts::corpus
