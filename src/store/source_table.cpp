#include "store/source_table.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "store/cache_folder.hpp"

namespace xtts::store {
namespace {

constexpr std::string_view kMagic = "XTTSSRC1";
constexpr std::uint32_t kVersion = 3;
// Rows of this version have no ctime and no digest of rejected sources.
constexpr std::uint32_t kVersionOfShortRows = 2;
constexpr std::size_t kRowCountAt = 16;
constexpr std::size_t kPathBytesAt = 24;
constexpr std::size_t kPlanDigestAt = 32;
constexpr std::size_t kIndexDigestAt = 48;
constexpr std::size_t kHeadBytes = 64;
constexpr std::size_t kRowBytes = 72;
constexpr std::size_t kShortRowBytes = 48;
constexpr std::size_t kTableCheckBytes = 8;
constexpr std::uint64_t kPathBytesMax = 65536;
// Rows per piece, so that memory does not depend on the number of clips.
constexpr std::size_t kPieceRows = 16384;

void append_row(const SourceRow& row, std::string& out) {
  formats::append_digest(out, row.id_hash);
  formats::append(out, row.size_bytes);
  formats::append(out, row.mtime_ns);
  formats::append(out, row.inode);
  formats::append(out, row.reject_check);
  formats::append(out, row.ctime_ns.value_or(0));
  formats::append_digest(out, row.content);
}

SourceRow load_row(std::span<const std::byte> bytes) {
  SourceRow row{.id_hash = formats::load_digest(bytes, 0),
                .size_bytes = formats::load<std::uint64_t>(bytes, 16),
                .mtime_ns = formats::load<std::int64_t>(bytes, 24),
                .ctime_ns = {},
                .inode = formats::load<std::uint64_t>(bytes, 32),
                .reject_check = formats::load<std::uint64_t>(bytes, 40)};
  if (bytes.size() < kRowBytes) return row;
  row.ctime_ns = formats::load<std::int64_t>(bytes, 48);
  row.content = formats::load_digest(bytes, 56);
  return row;
}

// Reads the file from beginning to end and hashes it on the way. Returns nothing unless all
// requested bytes exist.
class Reader {
 public:
  explicit Reader(const RandomAccessFile& file) : file_(file) {}

  bool read(std::span<std::byte> out) {
    const auto got = file_.read_at(offset_bytes_, out);
    if (!got || *got != out.size()) return false;
    offset_bytes_ += out.size();
    return true;
  }
  bool read_checked(std::span<std::byte> out) {
    if (!read(out)) return false;
    hasher_.update(out);
    return true;
  }
  [[nodiscard]] std::uint64_t check() const { return hasher_.finish(); }

 private:
  const RandomAccessFile& file_;
  std::uint64_t offset_bytes_ = 0;
  Hasher64 hasher_;
};

struct Head {
  std::size_t row_bytes = kRowBytes;
  std::uint64_t row_count = 0;
  std::uint64_t path_bytes = 0;
  std::uint64_t padded_path_bytes = 0;
};

// Accepts only numbers that match the file's size exactly.
std::optional<Head> decode_head(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
  if (formats::text_of(bytes.first(kMagic.size())) != kMagic) return {};
  const auto version = formats::load<std::uint32_t>(bytes, 8);
  if (version != kVersion && version != kVersionOfShortRows) return {};
  if (formats::load<std::uint32_t>(bytes, 12) != 0) return {};
  Head head{.row_bytes = version == kVersion ? kRowBytes : kShortRowBytes,
            .row_count = formats::load<std::uint64_t>(bytes, kRowCountAt),
            .path_bytes = formats::load<std::uint64_t>(bytes, kPathBytesAt)};
  if (head.path_bytes > kPathBytesMax || head.row_count > file_bytes / head.row_bytes) return {};
  head.padded_path_bytes = align_up<std::uint64_t>(head.path_bytes, 8);
  const std::uint64_t expected =
      kHeadBytes + head.padded_path_bytes + head.row_count * head.row_bytes + kTableCheckBytes;
  if (expected != file_bytes) return {};
  return head;
}

bool read_rows(Reader& reader, const Head& head, std::vector<SourceRow>& rows) {
  const std::uint64_t count = head.row_count;
  rows.reserve(count);
  std::vector<std::byte> piece(std::min<std::uint64_t>(count, kPieceRows) * head.row_bytes);
  while (rows.size() < count) {
    const std::size_t size =
        std::min<std::size_t>(count - rows.size(), kPieceRows) * head.row_bytes;
    const auto bytes = std::span(piece).first(size);
    if (!reader.read_checked(bytes)) return false;
    for (std::size_t at = 0; at < size; at += head.row_bytes) {
      rows.push_back(load_row(bytes.subspan(at, head.row_bytes)));
    }
  }
  return std::ranges::is_sorted(rows, {}, &SourceRow::id_hash);
}

// Joins DATA and the audio roots with a NUL between, because no path holds one.
std::string encode_folders(const formats::DataFolders& data) {
  std::string folders = data.path;
  for (const std::string& root : data.audio_roots) folders += '\0' + root;
  return folders;
}

formats::DataFolders decode_folders(std::string_view folders) {
  formats::DataFolders data;
  data.path = folders.substr(0, folders.find('\0'));
  while (folders.find('\0') != std::string_view::npos) {
    folders.remove_prefix(folders.find('\0') + 1);
    data.audio_roots.emplace_back(folders.substr(0, folders.find('\0')));
  }
  return data;
}

Status append_checked(WritableFile& file, Hasher64& hasher, std::string_view piece) {
  hasher.update(as_bytes(piece));
  return file.append(as_bytes(piece));
}

Status write_table(WritableFile& file, const SourceTable& table) {
  Hasher64 hasher;
  const std::string folders = encode_folders(table.data);
  std::string piece(kMagic);
  formats::append(piece, kVersion);
  formats::append(piece, std::uint32_t{0});
  formats::append(piece, std::uint64_t{table.rows.size()});
  formats::append(piece, std::uint64_t{folders.size()});
  formats::append_digest(piece, table.plan_digest);
  formats::append_digest(piece, table.index_digest);
  piece += folders;
  piece.resize(align_up<std::size_t>(piece.size(), 8), '\0');
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    append_row(table.rows[i], piece);
    if (i % kPieceRows != 0) continue;
    XTTS_TRY(append_checked(file, hasher, piece));
    piece.clear();
  }
  XTTS_TRY(append_checked(file, hasher, piece));
  piece.clear();
  formats::append(piece, hasher.finish());
  XTTS_TRY(file.append(as_bytes(std::string_view(piece))));
  return file.close();
}

std::optional<SourceTable> load_table(Env& env, const std::string& path) {
  const auto file = env.open_for_read(path);
  if (!file) return {};
  Reader reader(**file);
  std::array<std::byte, kHeadBytes> head_bytes{};
  if (!reader.read_checked(head_bytes)) return {};
  const auto head = decode_head(head_bytes, (*file)->size_bytes());
  if (!head) return {};
  SourceTable table;
  table.plan_digest = formats::load_digest(head_bytes, kPlanDigestAt);
  table.index_digest = formats::load_digest(head_bytes, kIndexDigestAt);
  std::string folders(head->padded_path_bytes, '\0');
  if (!reader.read_checked(std::as_writable_bytes(std::span(folders)))) return {};
  table.data = decode_folders(std::string_view(folders).substr(0, head->path_bytes));
  if (!read_rows(reader, *head, table.rows)) return {};
  std::array<std::byte, kTableCheckBytes> check{};
  if (!reader.read(check) || formats::load<std::uint64_t>(check, 0) != reader.check()) return {};
  return table;
}

Status save_table(CacheFolder& folder, SourceTable table, const std::string& path) {
  constexpr std::string_view kName = "sources.bin";
  std::ranges::sort(table.rows, {}, &SourceRow::id_hash);
  XTTS_ASSIGN(const auto file, folder.begin_file(kName));
  XTTS_TRY(write_table(*file, table));
  return folder.commit_disposable(kName, path);
}

std::string planned_path(const std::string& cache) {
  return join_path(build_folder(cache), kPlannedSources);
}

}  // namespace

const SourceRow* SourceTable::find(const Digest& id_hash) const noexcept {
  const auto found = std::ranges::lower_bound(rows, id_hash, {}, &SourceRow::id_hash);
  return found == rows.end() || found->id_hash != id_hash ? nullptr : &*found;
}

std::optional<SourceTable> load_source_table(Env& env, const std::string& cache) {
  return load_table(env, sources_path(cache));
}

std::optional<SourceTable> load_planned_sources(Env& env, const std::string& cache) {
  return load_table(env, planned_path(cache));
}

Status save_source_table(CacheFolder& folder, SourceTable table) {
  return save_table(folder, std::move(table), sources_path(folder.path()));
}

Status save_planned_sources(CacheFolder& folder, SourceTable table) {
  return save_table(folder, std::move(table), planned_path(folder.path()));
}

}  // namespace xtts::store
