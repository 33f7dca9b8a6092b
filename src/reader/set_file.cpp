#include "reader/set_file.hpp"

#include <utility>

#include "base/confined_env.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"
#include "reader/cache_paths.hpp"

namespace xtts::reader {

bool is_set(Env& env, const std::string& folder) {
  return env.stat(join_path(folder, formats::kSetFileName)).ok() &&
         !env.stat(join_path(folder, kManifestName)).ok();
}

std::string LoadedSet::path_of(const formats::SetMember& member) const {
  return member.path.starts_with('/') ? member.path : join_path(folder, member.path);
}

Result<LoadedSet> load_set(Env& env, const std::string& folder) {
  const auto confined = confined_to(env, folder, Links::kNone);
  const std::string path = join_path(folder, formats::kSetFileName);
  XTTS_ASSIGN(const std::string text, read_text_file(*confined, path, formats::kManifestBytesMax));
  auto set = formats::decode_set(text);
  if (!set) return set.status().with_context(path);
  XTTS_ASSIGN(std::string absolute, env.real_path(folder));
  return LoadedSet{std::move(*set), std::move(absolute), digest128(text)};
}

}  // namespace xtts::reader
