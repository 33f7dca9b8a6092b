#include "maintain/one_numerics.hpp"

#include "base/option_names.hpp"
#include "base/try.hpp"
#include "reader/block_reader.hpp"
#include "reader/shard_files.hpp"

namespace xtts::maintain {

Status check_one_numerics(Env& env, reader::CacheView& view) {
  const auto& manifest = view.manifest();
  const auto& mel = manifest.columns.front();
  reader::ShardFiles files(env, view.path(), manifest);
  std::uint64_t first_row = 0;
  for (std::uint32_t shard = 0; shard < mel.shards.size(); ++shard) {
    XTTS_ASSIGN(const auto file, files.open(mel.spec.id, shard));
    XTTS_ASSIGN(const auto row, view.block(mel.spec.id, first_row));
    XTTS_ASSIGN(const auto header, reader::read_block_header(*file, row.place, mel.spec));
    if (header.column.numerics != manifest.numerics.hash()) {
      return {StatusCode::kMismatch,
              view.path() + " holds records of two processors or library versions (a build with " +
                  option_on("allow-mixed") +
                  "): build it anew with 'build DATA CACHE --overwrite'"};
    }
    first_row += mel.shards[shard].block_count;
  }
  return {};
}

}  // namespace xtts::maintain
