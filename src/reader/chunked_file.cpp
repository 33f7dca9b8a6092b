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
                                                       const IndexIdentity& identity) {
  XTTS_ASSIGN(auto file, env.open_for_read(path));
  std::unique_ptr<ChunkedFile> opened(new ChunkedFile(std::move(name), std::move(file)));
  XTTS_TRY(opened->load_footer(identity));
  XTTS_TRY(opened->load_chunk_checks());
  return opened;
}

Status ChunkedFile::load_footer(const IndexIdentity& identity) {
  const std::uint64_t size = file_->size_bytes();
  if (size != identity.file_bytes) {
    return corrupt(
        name_, std::min(size, identity.file_bytes),
        formatted("the file has {} bytes, the manifest says {}", size, identity.file_bytes));
  }
  if (size < formats::kIndexFooterBytes) return corrupt(name_, 0, "too short to be an index");
  const std::uint64_t footer_offset = size - formats::kIndexFooterBytes;
  XTTS_ASSIGN(const auto bytes,
              read_exactly(*file_, name_, footer_offset, formats::kIndexFooterBytes));
  auto footer = formats::decode_index_footer(bytes, size);
  if (!footer.ok()) {
    return footer.status().with_context(formatted("{} at byte {}", name_, footer_offset));
  }
  // An index of another generation is sound in itself; only the digest shows the error.
  const Digest digest = digest128(bytes);
  if (digest != identity.digest) {
    return corrupt(name_, footer_offset,
                   formatted("another index than the manifest names: digest {} instead of {}",
                             digest.to_hex(), identity.digest.to_hex()));
  }
  footer_ = std::move(*footer);
  return {};
}

Status ChunkedFile::load_chunk_checks() {
  XTTS_ASSIGN(const auto bytes, read_exactly(*file_, name_, footer_.data_bytes,
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
  XTTS_ASSIGN(auto bytes, read_exactly(*file_, name_, offset, size));
  if (formats::index_chunk_check(chunk, bytes) != chunk_checks_[chunk]) {
    return corrupt(name_, offset, formatted("index chunk {} is damaged", chunk));
  }
  return bytes;
}

Status ChunkedFile::check_chunk(std::uint64_t chunk) const {
  return load_chunk(chunk).status();
}

Result<ChunkedFile::Chunk> ChunkedFile::chunk_at(std::uint64_t chunk) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = kept_.find(chunk); found != kept_.end()) return found->second;
  }
  // Loads without the lock: two threads may load the same chunk, but neither waits for the other.
  XTTS_ASSIGN(auto bytes, load_chunk(chunk));
  Chunk loaded = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::scoped_lock lock(mutex_);
  if (!kept_.emplace(chunk, loaded).second) return loaded;
  oldest_first_.push_back(chunk);
  if (oldest_first_.size() > kKeptChunksMax) {
    kept_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  return loaded;
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
