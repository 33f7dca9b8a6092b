#include "reader/chunked_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::reader {

static_assert(std::endian::native == std::endian::little, "chunk checks are read as they lie");

Result<std::unique_ptr<ChunkedFile>> ChunkedFile::open(Env& env, const std::string& path,
                                                       std::string name,
                                                       const IndexIdentity& identity,
                                                       std::shared_ptr<Kept> kept) {
  std::unique_ptr<ChunkedFile> opened(
      new ChunkedFile(env, path, std::move(name), identity, std::move(kept)));
  XTTS_TRY(opened->load_footer());
  XTTS_TRY(opened->load_chunk_checks());
  return opened;
}

ChunkedFile::ChunkedFile(Env& env, std::string path, std::string name,
                         const IndexIdentity& identity, std::shared_ptr<Kept> kept)
    : env_(&env),
      path_(std::move(path)),
      name_(std::move(name)),
      identity_(identity),
      kept_(std::move(kept)),
      owner_(kept_->new_owner()) {}

Result<ChunkedFile::File> ChunkedFile::file() const {
  const KeptKey key{owner_, 0};
  if (File found = kept_->indexes.find(key)) return found;
  XTTS_ASSIGN(File opened, env_->open_for_read(path_));
  const std::uint64_t size = opened->size_bytes();
  if (size != identity_.file_bytes) {
    return corrupt(
        name_, std::min(size, identity_.file_bytes),
        formatted("the file has {} bytes, the manifest says {}", size, identity_.file_bytes));
  }
  return kept_->indexes.add(key, std::move(opened));
}

Status ChunkedFile::load_footer() {
  XTTS_ASSIGN(const File opened, file());
  const std::uint64_t size = identity_.file_bytes;
  if (size < formats::kIndexFooterBytes) return corrupt(name_, 0, "too short to be an index");
  const std::uint64_t footer_offset = size - formats::kIndexFooterBytes;
  XTTS_ASSIGN(const auto bytes,
              read_exactly(*opened, name_, footer_offset, formats::kIndexFooterBytes));
  auto footer = formats::decode_index_footer(bytes, size);
  if (!footer.ok()) {
    return footer.status().with_context(formatted("{} at byte {}", name_, footer_offset));
  }
  // An index of another generation is sound in itself; only the digest shows the error.
  const Digest digest = digest128(bytes);
  if (digest != identity_.digest) {
    return corrupt(name_, footer_offset,
                   formatted("another index than the manifest names: digest {} instead of {}",
                             digest.to_hex(), identity_.digest.to_hex()));
  }
  footer_ = std::move(*footer);
  return {};
}

Status ChunkedFile::load_chunk_checks() {
  XTTS_ASSIGN(const File opened, file());
  XTTS_ASSIGN(const auto bytes, read_exactly(*opened, name_, footer_.data_bytes,
                                             footer_.chunk_count * sizeof(std::uint64_t)));
  if (check64(bytes) != footer_.chunk_table_check) {
    return corrupt(name_, footer_.data_bytes, "the table of chunk checks is damaged");
  }
  chunk_checks_.resize(footer_.chunk_count);
  if (!bytes.empty()) std::memcpy(chunk_checks_.data(), bytes.data(), bytes.size());
  return {};
}

Result<std::vector<std::byte>> ChunkedFile::load_chunk(std::uint64_t chunk) const {
  const std::uint64_t offset = chunk * formats::kIndexChunkBytes;
  const std::uint64_t size =
      std::min<std::uint64_t>(formats::kIndexChunkBytes, footer_.data_bytes - offset);
  XTTS_ASSIGN(const File opened, file());
  XTTS_ASSIGN(auto bytes, read_exactly(*opened, name_, offset, size));
  if (formats::index_chunk_check(chunk, bytes) != chunk_checks_[chunk]) {
    return corrupt(name_, offset, formatted("index chunk {} is damaged", chunk));
  }
  return bytes;
}

Status ChunkedFile::check_chunk(std::uint64_t chunk) const {
  return load_chunk(chunk).status();
}

Result<ChunkedFile::Chunk> ChunkedFile::chunk_at(std::uint64_t chunk) {
  const KeptKey key{owner_, chunk};
  if (Chunk found = kept_->index_chunks.find(key)) return found;
  // Two threads may load the same chunk, but neither waits for the other.
  XTTS_ASSIGN(auto bytes, load_chunk(chunk));
  return kept_->index_chunks.add(key,
                                 std::make_shared<const std::vector<std::byte>>(std::move(bytes)));
}

Status ChunkedFile::read(std::uint64_t offset_bytes, std::span<std::byte> out) {
  if (offset_bytes > footer_.data_bytes || out.size() > footer_.data_bytes - offset_bytes) {
    return corrupt(name_, offset_bytes, "a row points outside the sections");
  }
  while (!out.empty()) {
    XTTS_ASSIGN(const Chunk chunk, chunk_at(offset_bytes / formats::kIndexChunkBytes));
    const std::size_t skip = offset_bytes % formats::kIndexChunkBytes;
    const std::size_t size = std::min(out.size(), chunk->size() - skip);
    std::memcpy(out.data(), chunk->data() + skip, size);
    out = out.subspan(size);
    offset_bytes += size;
  }
  return {};
}

}  // namespace xtts::reader
