#include "maintain/record_spool.hpp"

#include <cstring>
#include <string_view>

#include "base/try.hpp"
#include "store/cache_folder.hpp"
#include "store/durable.hpp"

namespace xtts::maintain {
namespace {

// Three times the records of a shard.
constexpr std::uint64_t kSpoolBytesMax = std::uint64_t{1} << 29U;
constexpr std::chrono::seconds kSyncEvery{5};

// Stands before the rows of each record. Only this machine reads it back.
struct Prefix {
  std::uint64_t size_bytes = 0;
  std::uint64_t check = 0;  // of the rows, seeded with their size
};

// Gives `put` the shard's records, up to the first that does not read back right. Returns the bytes
// that they take.
Result<std::size_t> replay(std::string_view text, const Digest& owner, std::uint64_t count_max,
                           const RecordSpool::Put& put) {
  Digest found;
  if (text.size() < sizeof found) return std::size_t{0};
  std::memcpy(&found, text.data(), sizeof found);
  if (found != owner) return std::size_t{0};
  std::size_t end = sizeof found;
  Prefix prefix;
  for (std::uint64_t count = 0; count < count_max && text.size() - end >= sizeof prefix; ++count) {
    std::memcpy(&prefix, text.data() + end, sizeof prefix);
    const auto left = as_bytes(text.substr(end + sizeof prefix));
    if (prefix.size_bytes > left.size()) break;
    const auto rows = left.first(static_cast<std::size_t>(prefix.size_bytes));
    if (check64(rows, prefix.size_bytes) != prefix.check) break;
    XTTS_TRY(put(rows));
    end += sizeof prefix + rows.size();
  }
  return end;
}

}  // namespace

RecordSpool::RecordSpool(Env& env, const std::string& cache, const Digest& owner)
    : env_(env), cache_(cache), owner_(owner) {}

std::string RecordSpool::path_of(std::uint64_t shard) const {
  return join_path(store::build_folder(cache_),
                   std::string(store::kSpoolPrefix) + std::to_string(shard));
}

Status RecordSpool::begin(std::uint64_t shard, std::uint64_t record_count_max, const Put& put) {
  if (file_) XTTS_TRY(file_->sync());  // complete, before a later shard has a file
  auto text = read_text_file(env_, path_of(shard), kSpoolBytesMax);
  const StatusCode code = text.status().code();
  if (!text && code != StatusCode::kNotFound && code != StatusCode::kInvalidArgument)
    return text.status();
  std::string kept = text ? std::move(*text) : std::string();
  XTTS_ASSIGN(const std::size_t end, replay(kept, owner_, record_count_max, put));
  kept.resize(end);
  if (kept.empty()) kept.assign(reinterpret_cast<const char*>(&owner_), sizeof owner_);
  XTTS_TRY(replace_file(env_, path_of(shard), as_bytes(std::string_view(kept))));
  XTTS_ASSIGN(file_, env_.open_for_write(path_of(shard), WriteMode::kAppend));
  synced_at_ = env_.now();
  return {};
}

Status RecordSpool::append(std::span<const std::byte> rows) {
  const Prefix prefix{.size_bytes = rows.size(), .check = check64(rows, rows.size())};
  XTTS_TRY(file_->append(std::as_bytes(std::span(&prefix, 1))));
  XTTS_TRY(file_->append(rows));
  const auto now = env_.now();
  if (now - synced_at_ < kSyncEvery) return {};
  synced_at_ = now;
  return file_->sync();
}

Status RecordSpool::remove(std::uint64_t shard) {
  return store::remove_if_there(env_, path_of(shard));
}

}  // namespace xtts::maintain
