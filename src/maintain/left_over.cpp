#include "maintain/left_over.hpp"

#include <algorithm>
#include <set>

#include "base/try.hpp"
#include "formats/index.hpp"
#include "reader/cache_paths.hpp"
#include "store/generations.hpp"

namespace xtts::maintain {
namespace {

Result<std::uint64_t> unnamed_bytes(Env& env, const std::string& cache,
                                    const formats::Manifest& manifest) {
  std::set<std::string> named{formats::index_file_name(manifest.index_digest)};
  for (const formats::ColumnEntry& column : manifest.columns)
    for (std::size_t i = 0; i < column.shards.size(); ++i)
      named.insert(reader::shard_name(column, i));
  XTTS_ASSIGN(auto paths, store::list_shards(env, cache));
  XTTS_ASSIGN(const auto names, store::list_names(env, cache, FileKind::kRegular));
  std::ranges::copy_if(names, std::back_inserter(paths), store::is_index_name);
  std::uint64_t bytes = 0;
  for (const std::string& path : paths) {
    if (named.contains(path)) continue;
    if (const auto facts = env.stat(join_path(cache, path))) bytes += facts->size_bytes;
  }
  return bytes;
}

}  // namespace

Result<LeftOver> remove_left_over(Env& env, store::CacheFolder& folder,
                                  const formats::Manifest& manifest) {
  XTTS_ASSIGN(const std::uint64_t before, unnamed_bytes(env, folder.path(), manifest));
  XTTS_TRY(folder.collect_garbage(&manifest, {}));
  XTTS_ASSIGN(const std::uint64_t after, unnamed_bytes(env, folder.path(), manifest));
  return LeftOver{.freed_bytes = before - std::min(before, after), .held_bytes = after};
}

std::shared_ptr<reader::CacheView> published_and_left(Env& env, const std::string& to) {
  const std::string folder = store::build_folder(to);
  if (!env.stat(folder).ok() || env.stat(join_path(folder, "journal")).ok()) return nullptr;
  auto view = reader::CacheView::open(env, to);
  return view ? std::move(*view) : nullptr;
}

Result<bool> has_same_clips(reader::CacheView& a, reader::CacheView& b) {
  const formats::Manifest& one = a.manifest();
  const formats::Manifest& other = b.manifest();
  if (one.counts.records != other.counts.records || one.counts.planned != other.counts.planned ||
      one.speakers != other.speakers || one.languages != other.languages ||
      one.datasets != other.datasets || one.text_fingerprint != other.text_fingerprint ||
      one.corpus_fingerprint != other.corpus_fingerprint ||
      one.numerics.hash() != other.numerics.hash())
    return false;
  for (std::uint64_t position = 0; position < a.size(); ++position) {
    XTTS_ASSIGN(const auto here, a.details(position));
    XTTS_ASSIGN(const auto there, b.details(position));
    if (here.id != there.id || here.dataset != there.dataset ||
        here.content_digest != there.content_digest)
      return false;
  }
  return true;
}

}  // namespace xtts::maintain
