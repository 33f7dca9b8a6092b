// A cache that has grown: built, then updated with clips that came, changed, went and were mended,
// one of them a reject in the middle. And the same clips built from nothing.
#pragma once

#include "../pipeline/build_support.hpp"

namespace xtts::testing {

inline constexpr std::uint32_t kGrownClips = 20;  // shards of 8

inline std::string listed_wav(std::uint32_t number) {
  return sound_path(number, kData + "/wavs");
}

inline pipeline::BuildRequest grown_request(const std::vector<std::string>& settings = {}) {
  auto request = request_for(recipe_of_small_shards(settings), 1);
  request.max_rejects.share = 1.0;
  return request;
}

// DATA as it is in the end: clips 0 to 19 without 4; 3 is no sound, 7 sounds like 27, the text of 5
// was mended, that of 9 is too long to be kept.
inline void add_grown_data(MemoryEnv& env) {
  add_listed_sounds(env, kGrownClips);
  env.add_file(listed_wav(3), "no sound");
  env.add_file(listed_wav(7), sound(27));
  (void)env.remove_file(listed_wav(4));
  add_list(env, kGrownClips, {{5, "Mended."}, {9, std::string(300, 'x')}});
  std::string list = env.contents(kData + "/metadata.csv");
  const auto line = list.find(clip_name(4));
  list.erase(line, list.find('\n', line) + 1 - line);
  env.add_file(kData + "/metadata.csv", list);
}

// Two builds: of the first twelve clips as they were, then of all.
inline void build_grown(MemoryEnv& env, const std::vector<std::string>& settings = {}) {
  add_listed_sounds(env, 12);
  must_build(env, grown_request(settings));
  add_grown_data(env);
  must_build(env, grown_request(settings));
}

inline Files built_from_nothing(const std::vector<std::string>& settings = {}) {
  MemoryEnv env;
  add_grown_data(env);
  must_build(env, grown_request(settings));
  return published_files(env);
}

}  // namespace xtts::testing
