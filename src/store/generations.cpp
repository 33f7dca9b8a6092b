#include "store/generations.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/try.hpp"
#include "formats/block.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "store/cache_folder.hpp"
#include "store/journal_line.hpp"

namespace xtts::store {
namespace {

constexpr std::size_t kDigestDigits = 32;
constexpr std::size_t kOrdinalDigitsMin = 5;
constexpr std::size_t kSearchBytes = std::size_t{1} << 20U;
// The limit of pieces from each end of a shard. The first or last piece is enough for a sound
// shard. A damaged one may be a sparse file, whose size does not bound the time to read it.
constexpr std::uint64_t kSearchPiecesMax = 64;
constexpr std::string_view kHeaderMagic = "XTTSBLK1";
// A head line has some hundred bytes.
constexpr std::size_t kHeadLineBytesMax = 4096;

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits && Digest::from_hex(text).has_value();
}

// The bytes [offset, offset + size), up to the file's end; nullopt: they cannot be read.
std::optional<std::vector<std::byte>> read_some(const RandomAccessFile& file,
                                                std::uint64_t offset_bytes,
                                                std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  const auto got = file.read_at(offset_bytes, bytes);
  if (!got) return std::nullopt;
  bytes.resize(*got);
  return bytes;
}

// The generation of the first sound header in `bytes`.
std::optional<std::uint64_t> generation_in(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (auto at = text.find(kHeaderMagic); at != std::string_view::npos;
       at = text.find(kHeaderMagic, at + 1)) {
    if (bytes.size() - at < formats::kBlockHeaderBytes) break;
    const auto header = formats::decode_block_header(bytes.subspan(at, formats::kBlockHeaderBytes));
    if (header) return header->generation;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> list_names(Env& env, const std::string& folder, FileKind kind) {
  std::vector<std::string> names;
  auto entries = env.list(folder);
  if (entries.status().code() == StatusCode::kNotFound) return names;
  if (!entries) return entries.status();
  for (DirectoryEntry& entry : *entries)
    if (entry.kind == kind && !entry.is_symlink) names.push_back(std::move(entry.name));
  std::ranges::sort(names);
  return names;
}

bool is_index_name(std::string_view name) {
  constexpr std::string_view kPrefix = "index-";
  constexpr std::string_view kSuffix = ".bin";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size());
  return is_digest(name.substr(0, name.size() - std::min(name.size(), kSuffix.size())));
}

bool is_shard_name(std::string_view name) {
  const auto digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits < kOrdinalDigitsMin || digits == name.size() || name[digits] != '-') return false;
  name.remove_prefix(digits + 1);
  const std::string_view extension = name.substr(std::min(name.size(), kDigestDigits));
  return is_digest(name.substr(0, kDigestDigits)) &&
         (extension == formats::file_extension_of(formats::StoreKind::kLmdb) ||
          extension == formats::file_extension_of(formats::StoreKind::kHdf5));
}

Result<std::vector<std::string>> list_shards(Env& env, const std::string& cache) {
  std::vector<std::string> paths;
  XTTS_ASSIGN(const auto columns,
              list_names(env, join_path(cache, "shards"), FileKind::kDirectory));
  for (const std::string& column : columns) {
    const std::string folder = join_path("shards", column);
    XTTS_ASSIGN(const auto names, list_names(env, join_path(cache, folder), FileKind::kRegular));
    for (const std::string& name : names)
      if (is_shard_name(name)) paths.push_back(join_path(folder, name));
  }
  return paths;
}

std::optional<std::uint64_t> generation_of_index(Env& env, const std::string& path) {
  const auto file = env.open_for_read(path);
  if (!file || (*file)->size_bytes() < formats::kIndexFooterBytes) return std::nullopt;
  const std::uint64_t size = (*file)->size_bytes();
  const auto bytes =
      read_some(**file, size - formats::kIndexFooterBytes, formats::kIndexFooterBytes);
  if (!bytes) return std::nullopt;
  const auto footer = formats::decode_index_footer(*bytes, size);
  return footer ? std::optional(footer->generation) : std::nullopt;
}

// LMDB's shards begin with a header, and HDF5's have theirs after the payloads. So pieces are read
// from both ends in turn. They overlap by a header.
std::optional<std::uint64_t> generation_of_shard(Env& env, const std::string& path) {
  const auto file = env.open_for_read(path);
  if (!file) return std::nullopt;
  constexpr std::uint64_t kStep = kSearchBytes - formats::kBlockHeaderBytes;
  const std::uint64_t size = (*file)->size_bytes();
  const std::uint64_t pieces = size / kStep + 1;
  for (std::uint64_t i = 0; i < std::min(pieces, 2 * kSearchPiecesMax); ++i) {
    const std::uint64_t piece = i % 2 == 0 ? i / 2 : pieces - 1 - i / 2;
    const auto bytes = read_some(**file, piece * kStep, kSearchBytes);
    if (!bytes) continue;
    if (const auto generation = generation_in(*bytes)) return generation;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> unfinished_generation(Env& env, const std::string& cache) {
  const auto file = env.open_for_read(join_path(build_folder(cache), "journal"));
  if (!file) return std::nullopt;
  const auto bytes = read_some(**file, 0, kHeadLineBytesMax);
  if (!bytes) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const auto head = decode_head_line(text.substr(0, text.find('\n')));
  if (!head || head->generation == 0) return std::nullopt;
  return head->generation;
}

bool is_manifest_lost(Env& env, const std::string& cache) {
  if (env.stat(manifest_path(cache)).status().code() != StatusCode::kNotFound) return false;
  const auto names = list_names(env, cache, FileKind::kRegular);
  if (!names) return false;
  const bool has_journal = env.stat(join_path(build_folder(cache), "journal")).ok();
  const auto unfinished = unfinished_generation(env, cache);
  return std::ranges::any_of(*names, [&](const std::string& name) {
    if (!is_index_name(name)) return false;
    if (!has_journal) return true;
    const auto generation = generation_of_index(env, join_path(cache, name));
    return unfinished && generation && *generation < *unfinished;
  });
}

Result<std::uint64_t> newest_generation(Env& env, const std::string& cache) {
  std::uint64_t newest = 0;
  const auto text = read_text_file(env, manifest_path(cache), formats::kManifestBytesMax);
  const auto manifest =
      text ? formats::decode_manifest(*text) : Result<formats::Manifest>(text.status());
  if (manifest) newest = manifest->generation;
  const auto unfinished = unfinished_generation(env, cache);
  XTTS_ASSIGN(const auto names, list_names(env, cache, FileKind::kRegular));
  for (const std::string& name : names) {
    if (!is_index_name(name)) continue;
    const auto generation = generation_of_index(env, join_path(cache, name)).value_or(0);
    // A build that died between its index and its manifest left an index that was never read.
    if (unfinished && generation == *unfinished) continue;
    newest = std::max(newest, generation);
  }
  if (unfinished) newest = std::max(newest, *unfinished - 1);
  if (manifest || unfinished) return newest;
  XTTS_ASSIGN(const auto shards, list_shards(env, cache));
  for (const std::string& shard : shards)
    newest = std::max(newest, generation_of_shard(env, join_path(cache, shard)).value_or(0));
  return newest;
}

}  // namespace xtts::store
