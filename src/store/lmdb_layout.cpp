#include "store/lmdb_layout.hpp"

#include <lmdb.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/constants.hpp"
#include "store/memory_file.hpp"

namespace xtts::store {
namespace {

using formats::kLmdbPageHeaderBytes;
using formats::kPageBytes;

// LMDB's page header on 64-bit machines: u64 page number, u16 pad, u16 flags, u32 pages of a large
// value.
constexpr std::size_t kPageFlagsAt = 10;
constexpr std::size_t kPageCountAt = 12;
constexpr std::uint16_t kLargeValueFlag = 0x04;  // P_OVERFLOW

// NOLOCK: no other process can reach a memfd. WRITEMAP: pages are made in the map, whose memory is
// zero, and not by malloc, whose memory is not. NOSYNC: there is no disk behind it.
constexpr unsigned kFlags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_WRITEMAP | MDB_NOSYNC | MDB_NOMETASYNC;

Status resource(std::string message) {
  return {StatusCode::kResource, "making a shard image: " + std::move(message)};
}

Status check_lmdb(int code, const char* operation) {
  if (code == MDB_SUCCESS) return {};
  if (code == MDB_MAP_FULL) {
    return resource("its records and facts need more than the 1 GiB that a shard may have");
  }
  return resource(formatted("LMDB, {}: {}", operation, ::mdb_strerror(code)));
}

MDB_val value_of(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};  // LMDB only reads it
}

struct EnvironmentDeleter {
  void operator()(MDB_env* environment) const { ::mdb_env_close(environment); }
};
struct TransactionDeleter {
  void operator()(MDB_txn* transaction) const { ::mdb_txn_abort(transaction); }
};

}  // namespace

// The order of members matters. Destruction runs from the last one up: the transaction before its
// environment, the environment before its file.
struct LmdbLayout::Impl {
  std::optional<MemoryFile> file;
  std::span<const std::byte> pages;
  std::unique_ptr<MDB_env, EnvironmentDeleter> environment;
  std::unique_ptr<MDB_txn, TransactionDeleter> transaction;
  MDB_dbi database = 0;

  [[nodiscard]] Status open_environment() {
    MDB_env* made = nullptr;
    XTTS_TRY(check_lmdb(::mdb_env_create(&made), "mdb_env_create"));
    environment.reset(made);
    XTTS_TRY(
        check_lmdb(::mdb_env_set_mapsize(made, formats::kLmdbMapBytes), "mdb_env_set_mapsize"));
    const int code = ::mdb_env_open(made, file->path().c_str(), kFlags, 0600);
    if (code == ENOENT) {
      return resource("LMDB reaches its memory through /proc, which is not mounted here");
    }
    return check_lmdb(code, "mdb_env_open");
  }

  [[nodiscard]] Status begin() {
    MDB_txn* begun = nullptr;
    XTTS_TRY(check_lmdb(::mdb_txn_begin(environment.get(), nullptr, 0, &begun), "mdb_txn_begin"));
    transaction.reset(begun);
    return check_lmdb(::mdb_dbi_open(begun, nullptr, 0, &database), "mdb_dbi_open");
  }
};

LmdbLayout::LmdbLayout(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LmdbLayout::~LmdbLayout() = default;

Result<std::unique_ptr<LmdbLayout>> LmdbLayout::open() {
  // LMDB 0.9 uses the system's page size; the format has only one (cache-v1.md, section 11).
  if (const long page_bytes = ::sysconf(_SC_PAGESIZE); page_bytes != kPageBytes) {
    return Status(StatusCode::kUnsupported,
                  formatted("making a shard image: this system's memory pages have {} bytes; "
                            "caches are built where they have 4096",
                            page_bytes));
  }
  auto impl = std::make_unique<Impl>();
  XTTS_ASSIGN(auto file, MemoryFile::create());
  impl->file.emplace(std::move(file));
  XTTS_TRY(impl->open_environment());
  XTTS_TRY(impl->begin());
  return std::unique_ptr<LmdbLayout>(new LmdbLayout(std::move(impl)));
}

Status LmdbLayout::put_small(std::string_view key, std::string_view value) {
  MDB_val lmdb_key = value_of(key);
  MDB_val lmdb_value = value_of(value);
  return check_lmdb(
      ::mdb_put(impl_->transaction.get(), impl_->database, &lmdb_key, &lmdb_value, MDB_APPEND),
      "mdb_put");
}

Result<std::uint64_t> LmdbLayout::reserve(std::string_view key, std::uint64_t size_bytes) {
  MDB_val lmdb_key = value_of(key);
  MDB_val lmdb_value{size_bytes, nullptr};
  XTTS_TRY(check_lmdb(::mdb_put(impl_->transaction.get(), impl_->database, &lmdb_key, &lmdb_value,
                                MDB_APPEND | MDB_RESERVE),
                      "mdb_put"));
  // The page header before the value holds the page number. The image's finish() proves it by a
  // scan.
  const std::span header(static_cast<const std::byte*>(lmdb_value.mv_data) - kLmdbPageHeaderBytes,
                         kLmdbPageHeaderBytes);
  if ((formats::load<std::uint16_t>(header, kPageFlagsAt) & kLargeValueFlag) == 0) {
    return Status(StatusCode::kInternal, "LMDB put a large value into a tree page");
  }
  return formats::load<std::uint64_t>(header, 0) * kPageBytes + kLmdbPageHeaderBytes;
}

Status LmdbLayout::finish() {
  // mdb_txn_commit frees the transaction whether it succeeds or not.
  XTTS_TRY(check_lmdb(::mdb_txn_commit(impl_->transaction.release()), "mdb_txn_commit"));
  MDB_envinfo info{};
  XTTS_TRY(check_lmdb(::mdb_env_info(impl_->environment.get(), &info), "mdb_env_info"));
  impl_->environment.reset();
  XTTS_TRY(impl_->file->cut((info.me_last_pgno + 1) * kPageBytes));
  XTTS_ASSIGN(impl_->pages, impl_->file->map());
  return {};
}

std::span<const std::byte> LmdbLayout::pages() const noexcept {
  return impl_->pages;
}

Result<std::vector<LargeValue>> scan_large_values(std::span<const std::byte> pages) {
  std::vector<LargeValue> values;
  const std::uint64_t page_count = pages.size() / kPageBytes;
  for (std::uint64_t page = 0; page < page_count;) {
    const auto header = pages.subspan(page * kPageBytes, kLmdbPageHeaderBytes);
    if (formats::load<std::uint64_t>(header, 0) != page) {
      return Status(StatusCode::kInternal, formatted("LMDB page {} has another number", page));
    }
    if ((formats::load<std::uint16_t>(header, kPageFlagsAt) & kLargeValueFlag) == 0) {
      ++page;
      continue;
    }
    const std::uint64_t count = formats::load<std::uint32_t>(header, kPageCountAt);
    if (count == 0 || count > page_count - page) {
      return Status(StatusCode::kInternal, formatted("LMDB page {} ends outside the file", page));
    }
    values.push_back({page * kPageBytes + kLmdbPageHeaderBytes, count});
    page += count;
  }
  return values;
}

}  // namespace xtts::store
