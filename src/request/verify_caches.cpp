#include "request/verify_caches.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "reader/cache_set.hpp"
#include "reader/set_file.hpp"

namespace xtts::request {
namespace {

Result<verify::Report> verify_one(Env& env, const VerifyOptions& options, const Caller& caller,
                                  const std::function<void(verify::Options&)>& complete) {
  XTTS_ASSIGN(verify::Options settings, settings_of(env, options, caller));
  complete(settings);
  return verify::verify_cache(env, options.cache, settings);
}

// Sound caches may still be others than the set tells of.
Status check_set(Env& env, const std::string& path) {
  XTTS_ASSIGN(const auto caches, reader::CacheSet::open(env, path));
  for (std::size_t i = 0; i < caches->cache_count(); ++i) {
    const auto cache = caches->cache(i);
    if (cache.status().code() == StatusCode::kMismatch)
      return {StatusCode::kCorrupt, cache.status().message()};
    XTTS_TRY(cache.status());
  }
  return {};
}

void add(verify::Report one, const std::string& path, verify::Report& all) {
  all.ok = all.ok && one.ok;
  if (!all.remedy) all.remedy = std::move(one.remedy);
  all.level = one.level;
  all.shard_count += one.shard_count;
  all.clip_count += one.clip_count;
  all.record_count += one.record_count;
  all.has_sources = all.has_sources && one.has_sources;
  all.bytes_checked += one.bytes_checked;
  all.seconds += one.seconds;
  all.finding_count += one.finding_count;
  for (verify::Finding& finding : one.findings) {
    finding.file = join_path(path, finding.file);
    all.findings.push_back(std::move(finding));
  }
  for (verify::RepairedFile& repaired : one.repaired) {
    repaired.file = join_path(path, repaired.file);
    all.repaired.push_back(std::move(repaired));
  }
  all.comparison.exact_count += one.comparison.exact_count;
  all.comparison.tolerant_count += one.comparison.tolerant_count;
  all.comparison.tolerance = std::max(all.comparison.tolerance, one.comparison.tolerance);
  if (one.comparison.cache) all.comparison.cache = std::move(one.comparison.cache);
  all.comparison.here = std::move(one.comparison.here);
  all.sampled_of += one.sampled_of;
}

}  // namespace

Result<verify::Report> verify_caches(Env& env, const VerifyOptions& options, const Caller& caller,
                                     const std::function<void(verify::Options&)>& complete) {
  if (!reader::is_set(env, options.cache)) return verify_one(env, options, caller, complete);
  XTTS_ASSIGN(const reader::LoadedSet loaded, reader::load_set(env, options.cache));
  verify::Report all;
  for (const formats::SetMember& member : loaded.set.members) {
    VerifyOptions of_cache = options;
    of_cache.cache = loaded.path_of(member);
    auto one = verify_one(env, of_cache, caller, complete);
    if (!one) return one.status().with_context(of_cache.cache);
    add(std::move(*one), member.path, all);
  }
  if (all.ok) XTTS_TRY(check_set(env, options.cache));
  return all;
}

}  // namespace xtts::request
