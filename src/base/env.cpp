// Parts that every Env shares: default answers for features that a file system lacks, and reading
// and writing of whole small files.
#include "base/env.hpp"

#include <string>
#include <utility>

#include "base/confined_env.hpp"
#include "base/direct_reads.hpp"
#include "base/file_mapping.hpp"
#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "base/storage_facts.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

// A unique name: a random number of 64 bits.
std::string temporary_beside(const std::string& path) {
  // Its length does not depend on `path`: names end at 255 bytes.
  return join_path(parent_path(path),
                   formatted("xtts-{}.tmp", random_digest().to_hex().substr(0, 16)));
}

}  // namespace

std::shared_ptr<Env> confined_to(Env& env, const std::string& folder, Links links) {
  if (auto* const ruled = dynamic_cast<RuledEnv*>(&env)) return ruled->with_rule(folder, links);
  return {std::shared_ptr<Env>(), &env};  // owns nothing
}

Result<std::unique_ptr<WritableFile>> open_new_file(Env& env, const std::string& path) {
  if (auto* const ruled = dynamic_cast<RuledEnv*>(&env)) return ruled->open_new(path);
  if (env.stat(path))
    return Status(StatusCode::kResource, formatted("creating {}: File exists", path));
  return env.open_for_write(path, WriteMode::kTruncate);
}

Result<std::shared_ptr<const FileMapping>> RandomAccessFile::map() const {
  return Status(StatusCode::kUnsupported, "this file cannot be mapped");
}

Result<std::shared_ptr<const DirectFile>> RandomAccessFile::open_direct() const {
  return Status(StatusCode::kUnsupported, "this file cannot be read past the page cache");
}

Result<StorageFacts> Env::storage(const std::string&) {
  return Status(StatusCode::kUnsupported, "what these files lie on is not known");
}
Result<std::uint64_t> Env::available_memory_bytes() {
  return Status(StatusCode::kUnsupported, "how much memory is free is not known");
}
Result<std::unique_ptr<DirectQueue>> Env::open_direct_queue(std::uint32_t) {
  return Status(StatusCode::kUnsupported, "these files cannot be read past the page cache");
}

Result<std::unique_ptr<FileLock>> RandomAccessFile::try_lock() const {
  return Status(StatusCode::kUnsupported, "nobody takes turns at this file");
}

Result<std::string> read_text_file(Env& env, const std::string& path,
                                   std::uint64_t size_bytes_max) {
  XTTS_ASSIGN(const auto file, env.open_for_read(path));
  const std::uint64_t size = file->size_bytes();
  if (size > size_bytes_max) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} has {} bytes; at most {} are read", path, size, size_bytes_max));
  }
  std::string text(size, '\0');
  XTTS_ASSIGN(const std::size_t got, file->read_at(0, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

Status replace_file(Env& env, const std::string& path, std::span<const std::byte> bytes) {
  const std::string temporary = temporary_beside(path);
  XTTS_ASSIGN(const auto file, open_new_file(env, temporary));
  Status status = file->append(bytes);
  if (status.ok()) status = file->sync();
  if (status.ok()) status = file->close();
  if (status.ok()) status = env.rename(temporary, path);
  if (status.ok()) return env.sync_directory(parent_path(path));
  (void)env.remove_file(temporary);
  return status;
}

}  // namespace xtts
