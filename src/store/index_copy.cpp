#include "store/index_copy.hpp"

#include <optional>
#include <vector>

#include "base/hash.hpp"
#include "base/try.hpp"
#include "formats/index.hpp"
#include "store/cache_folder.hpp"
#include "store/durable.hpp"

namespace xtts::store {
namespace {

std::string copy_path(const std::string& cache) {
  return join_path(cache, kIndexCopyName);
}

struct Footer {
  std::uint64_t file_bytes = 0;
  std::vector<std::byte> bytes;
};

std::optional<Footer> footer_of_copy(Env& env, const std::string& cache) {
  const auto file = env.open_for_read(copy_path(cache));
  if (!file || (*file)->size_bytes() < formats::kIndexFooterBytes) return std::nullopt;
  Footer footer{.file_bytes = (*file)->size_bytes(),
                .bytes = std::vector<std::byte>(formats::kIndexFooterBytes)};
  const auto got = (*file)->read_at(footer.file_bytes - footer.bytes.size(), footer.bytes);
  if (!got || *got != footer.bytes.size()) return std::nullopt;
  return footer;
}

}  // namespace

bool has_index_copy(Env& env, const std::string& cache, const formats::Manifest& manifest) {
  const auto footer = footer_of_copy(env, cache);
  return footer && footer->file_bytes == manifest.index_bytes &&
         digest128(footer->bytes) == manifest.index_digest;
}

bool is_copy_of_another(Env& env, const std::string& cache, const formats::Manifest& manifest) {
  const auto footer = footer_of_copy(env, cache);
  return footer && formats::decode_index_footer(footer->bytes, footer->file_bytes).ok() &&
         digest128(footer->bytes) != manifest.index_digest;
}

Status save_index_copy(Env& env, CacheFolder& folder, const formats::Manifest& manifest) {
  constexpr std::string_view kTemporaryName = "index-copy";
  if (has_index_copy(env, folder.path(), manifest)) return {};
  const std::string index = formats::index_file_name(manifest.index_digest);
  XTTS_ASSIGN(const auto file, folder.begin_file(kTemporaryName));
  XTTS_TRY(copy_synced(env, join_path(folder.path(), index), *file));
  return folder.commit_file(kTemporaryName, kIndexCopyName);
}

}  // namespace xtts::store
