#include "verify/index_repair.hpp"

#include "base/try.hpp"
#include "formats/index.hpp"
#include "reader/chunked_file.hpp"
#include "store/durable.hpp"
#include "store/index_copy.hpp"

namespace xtts::verify {

Result<bool> restore_index(Env& env, const std::string& cache, const formats::Manifest& manifest,
                           store::CacheFolder& folder) {
  constexpr std::string_view kTemporaryName = "index";
  const std::string name(store::kIndexCopyName);
  const std::string path = join_path(cache, name);
  const auto copy = reader::ChunkedFile::open(
      env, path, name, {.file_bytes = manifest.index_bytes, .digest = manifest.index_digest});
  if (copy.status().code() == StatusCode::kResource) return copy.status();
  if (!copy) return false;
  for (std::uint64_t chunk = 0; chunk < (*copy)->footer().chunk_count; ++chunk) {
    const Status status = (*copy)->check_chunk(chunk);
    if (status.code() == StatusCode::kResource) return status;
    if (!status.ok()) return false;
  }
  XTTS_ASSIGN(const auto file, folder.begin_file(kTemporaryName));
  XTTS_TRY(store::copy_synced(env, path, *file));
  XTTS_TRY(folder.commit_file(kTemporaryName, formats::index_file_name(manifest.index_digest)));
  return true;
}

}  // namespace xtts::verify
