#include "store/cache_folder.hpp"

#include <array>

#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/block.hpp"
#include "formats/constants.hpp"
#include "store/durable.hpp"
#include "store/garbage.hpp"
#include "store/generations.hpp"
#include "store/index_copy.hpp"
#include "store/ownership.hpp"

namespace xtts::store {

// The state of a file between begin_file and commit_file.
struct PendingFile {
  bool is_synced = false;
  bool is_closed = false;
};

namespace {

using formats::Manifest;

std::string published_path(const std::string& cache, const formats::ColumnEntry& column,
                           std::uint64_t ordinal) {
  return join_path(column_folder(cache, column.spec.name),
                   formats::shard_file_name(ordinal, column.shards[ordinal].digest, column.store));
}

Status internal(std::string message) {
  return {StatusCode::kInternal, std::move(message)};
}

// Remembers whether the file's bytes are synced, because a rename promises that they are.
class WatchedFile final : public WritableFile {
 public:
  WatchedFile(std::unique_ptr<WritableFile> file, std::shared_ptr<PendingFile> state)
      : file_(std::move(file)), state_(std::move(state)) {}

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    state_->is_synced = false;
    return once([&] { return file_->append(bytes); });
  }
  [[nodiscard]] Status sync() override {
    XTTS_TRY(once([&] { return file_->sync(); }));
    state_->is_synced = true;
    return {};
  }
  [[nodiscard]] Status close() override {
    XTTS_TRY(once([&] { return file_->close(); }));
    state_->is_closed = true;
    return {};
  }

 private:
  // A failure is final: a later successful sync proves nothing about earlier bytes.
  template <typename Call>
  [[nodiscard]] Status once(Call call) {
    if (failure_.ok()) failure_ = call();
    return failure_;
  }

  std::unique_ptr<WritableFile> file_;
  std::shared_ptr<PendingFile> state_;
  Status failure_;
};

Result<bool> has_header(const RandomAccessFile& file, const SealedShard& shard,
                        const formats::BlockPlace& place) {
  std::array<std::byte, formats::kBlockHeaderBytes> bytes{};
  XTTS_ASSIGN(const std::size_t got, file.read_at(place.header_offset, bytes));
  if (got != bytes.size() || formats::stored_header_check(bytes) != place.header_check) {
    return false;
  }
  const auto header = formats::decode_block_header(bytes);
  return header.ok() && header->column.name == shard.column &&
         header->payload_bytes == place.payload_bytes &&
         header->records.size() == place.record_count;
}

std::set<std::string> names_in(const Manifest& manifest) {
  std::set<std::string> names{formats::index_file_name(manifest.index_digest),
                              std::string(kIndexCopyName)};
  for (const auto& column : manifest.columns) {
    for (std::size_t i = 0; i < column.shards.size(); ++i)
      names.insert(published_path("", column, i));
  }
  return names;
}

}  // namespace

Result<std::unique_ptr<CacheFolder>> CacheFolder::open(Env& env, const std::string& cache,
                                                       const LeaseCallbacks& callbacks) {
  const bool is_new = env.stat(cache).status().code() == StatusCode::kNotFound;
  XTTS_TRY(make_durable_folder(env, cache));
  const std::shared_ptr<Env> confined = confined_to(env, cache, Links::kNone);
  auto lock = BuilderLock::take(*confined, cache, callbacks);
  if (!lock) {
    if (is_new) (void)env.remove_directory(cache);
    return lock.status();
  }
  std::unique_ptr<CacheFolder> folder(
      new CacheFolder(env, confined, cache, std::move(*lock), is_new));
  XTTS_TRY(folder->clear_build_folder(
      {"journal", "lock", "lease", std::string(kBuildMark), std::string(kPlannedSources)}, true));
  // .build/ is durable from here on, so that the journal can be.
  XTTS_TRY(env.sync_directory(cache));
  return folder;
}

CacheFolder::CacheFolder(Env& whole_env, std::shared_ptr<Env> env, std::string cache,
                         std::unique_ptr<BuilderLock> lock, bool is_new)
    : whole_env_(whole_env),
      confined_(std::move(env)),
      env_(*confined_),
      cache_(std::move(cache)),
      lock_(std::move(lock)),
      is_new_(is_new) {}

Result<std::optional<Manifest>> CacheFolder::manifest() {
  const auto text = read_text_file(env_, manifest_path(cache_), formats::kManifestBytesMax);
  if (!text) {
    if (text.status().code() == StatusCode::kNotFound) return std::optional<Manifest>();
    if (text.status().code() != StatusCode::kInvalidArgument) return text.status();
    return Status(StatusCode::kCorrupt, text.status().message());
  }
  auto manifest = formats::decode_manifest(*text);
  if (!manifest) return manifest.status().with_context(manifest_path(cache_));
  return std::optional<Manifest>(std::move(*manifest));
}

Result<SealedShard> CacheFolder::seal(std::string_view column, std::uint64_t ordinal,
                                      const FinishedImage& image) {
  if (image.bytes.size() != image.table.file_bytes) {
    return internal("sealing a shard whose table is of another image");
  }
  SealedShard sealed{.column = std::string(column),
                     .store = image.store,
                     .ordinal = ordinal,
                     .record_count = image.record_count,
                     .digest = image.table.digest(),
                     .table = image.table};
  XTTS_TRY(prepare_column(sealed.column));
  const std::string temporary = temporary_path(formatted("{}-{}", sealed.column, ordinal));
  XTTS_TRY(write_temporary(temporary, image.bytes));
  XTTS_TRY(show(temporary, shard_path(cache_, sealed)));
  return sealed;
}

Result<bool> CacheFolder::adopt(const SealedShard& shard, const std::string& from) {
  XTTS_TRY(prepare_column(shard.column));
  const std::string temporary = temporary_path(formatted("{}-{}", shard.column, shard.ordinal));
  XTTS_TRY(remove_if_there(env_, temporary));
  XTTS_ASSIGN(const bool is_copy, link_or_copy(env_, from, temporary));
  XTTS_TRY(show(temporary, shard_path(cache_, shard)));
  return is_copy;
}

Result<bool> CacheFolder::is_intact(const SealedShard& shard) {
  if (!shard.table.validate(shard.store).ok() || shard.table.digest() != shard.digest) return false;
  const std::string path = shard_path(cache_, shard);
  const auto file = env_.open_for_read(path);
  if (!file && file.status().code() == StatusCode::kNotFound) return false;
  if (!file) return file.status();
  if ((*file)->size_bytes() != shard.table.file_bytes) return false;
  for (const formats::BlockPlace& place : shard.table.blocks) {
    XTTS_ASSIGN(const bool intact, has_header(**file, shard, place));
    if (!intact) return false;
  }
  return true;
}

Result<std::unique_ptr<WritableFile>> CacheFolder::begin_file(std::string_view temporary_name) {
  XTTS_TRY(lock_->check());
  auto file = create_file(env_, temporary_path(temporary_name));
  if (!file) return or_taken_over(file.status());
  auto state = std::make_shared<PendingFile>();
  pending_[std::string(temporary_name)] = state;
  return std::unique_ptr<WritableFile>(
      std::make_unique<WatchedFile>(std::move(*file), std::move(state)));
}

Status CacheFolder::commit_file(std::string_view temporary_name, std::string_view name) {
  const auto pending = pending_.extract(std::string(temporary_name));
  if (pending.empty() || !pending.mapped()->is_synced || !pending.mapped()->is_closed) {
    return internal(formatted("committing {}, which was not synced and closed", name));
  }
  const std::string temporary = temporary_path(temporary_name);
  const std::string path = join_path(cache_, name);
  // An equal file is not replaced, because readers hold their lock on the file, not on its name.
  XTTS_ASSIGN(const bool is_there, same_contents(env_, temporary, path));
  if (!is_there) return show(temporary, path);
  XTTS_TRY(remove_if_there(env_, temporary));
  return env_.sync_directory(cache_);
}

Status CacheFolder::publish(const Manifest& manifest, std::string_view rejects_jsonl) {
  XTTS_TRY(lock_->check());  // this manifest must not name another builder's files
  XTTS_TRY(check_names(manifest));
  XTTS_ASSIGN(const std::string text, formats::encode_manifest(manifest));
  // A manifest that readers would refuse is not published.
  if (const auto read_back = formats::decode_manifest(text); !read_back) {
    return internal("publishing a manifest that reads back as: " + read_back.status().message());
  }
  XTTS_TRY(save_index_copy(env_, *this, manifest));
  XTTS_TRY(replace_manifest(*this, text));
  return replace_rejects(*this, rejects_jsonl);
}

Status CacheFolder::replace(std::string_view temporary_name, const std::string& path,
                            std::string_view text) {
  const std::string temporary = temporary_path(temporary_name);
  XTTS_TRY(write_temporary(temporary, as_bytes(text)));
  return show(temporary, path);
}

Status CacheFolder::commit_disposable(std::string_view temporary_name, const std::string& path) {
  const auto pending = pending_.extract(std::string(temporary_name));
  if (pending.empty() || !pending.mapped()->is_closed)
    return internal(formatted("committing {}, which was not closed", path));
  XTTS_TRY(lock_->check());
  return or_taken_over(env_.rename(temporary_path(temporary_name), path));
}

Result<Generations> CacheFolder::generations() {
  Generations found;
  const auto published = manifest();
  if (published && *published) {
    const std::string current = formats::index_file_name((*published)->index_digest);
    XTTS_ASSIGN(found.are_others_read,
                remove_unnamed_indexes(env_, cache_, [&](const std::string& name) {
                  return name == current ? Result<bool>(false) : may_go(name);
                }));
  }
  XTTS_ASSIGN(found.newest, newest_generation(env_, cache_));
  return found;
}

Status CacheFolder::collect_garbage(const Manifest* manifest, std::span<const SealedShard> keep) {
  std::set<std::string> named;
  for (const SealedShard& shard : keep) named.insert(shard_path("", shard));
  if (manifest != nullptr) named.merge(names_in(*manifest));
  return remove_unnamed(env_, cache_, [&](const std::string& path) {
    return named.contains(path) ? Result<bool>(false) : may_go(path);
  });
}

Status CacheFolder::finish() {
  XTTS_TRY(lock_->check());
  XTTS_TRY(or_taken_over(clear_build_folder({"lock", "lease", std::string(kBuildMark)}, false)));
  // Without its mark .build/ must hold nothing else, also after a power cut.
  XTTS_TRY(or_taken_over(env_.sync_directory(build_folder(cache_))));
  XTTS_TRY(remove_if_there(env_, join_path(build_folder(cache_), kBuildMark)));
  XTTS_TRY(lock_->remove());
  Status status = env_.remove_directory(build_folder(cache_));
  if (!env_.stat(manifest_path(cache_)).ok()) remove_empty_folders();
  if (status.ok() || status.code() == StatusCode::kNotFound) return {};
  // Without the lock's file another builder may have begun already; then it owns the folder.
  const auto entries = env_.list(build_folder(cache_));
  return entries.ok() && !entries->empty() ? Status() : status;
}

// Removes unsealed shards and half-written files of a build that died. The lock is held.
Status CacheFolder::clear_build_folder(const std::set<std::string>& keep, bool keeps_spools) {
  XTTS_ASSIGN(const auto entries, env_.list(build_folder(cache_)));
  for (const DirectoryEntry& entry : entries) {
    if (!is_name_of_build(entry.name) || keep.contains(entry.name)) continue;
    if (keeps_spools && entry.name.starts_with(kSpoolPrefix)) continue;
    if (entry.kind == FileKind::kDirectory) {
      return {StatusCode::kCorrupt,
              join_path(build_folder(cache_), entry.name) + " is not a regular file but a folder"};
    }
    XTTS_TRY(lock_->check());
    XTTS_TRY(remove_if_there(env_, join_path(build_folder(cache_), entry.name)));
  }
  return {};
}

// Removes only empty folders. A folder that another builder uses by now stays too.
void CacheFolder::remove_empty_folders() {
  const std::string shards = parent_path(column_folder(cache_, "mel"));
  if (const auto columns = env_.list(shards)) {
    for (const DirectoryEntry& column : *columns)
      (void)env_.remove_directory(join_path(shards, column.name));
    (void)env_.remove_directory(shards);
  }
  if (is_new_) (void)whole_env_.remove_directory(cache_);
}

std::string CacheFolder::temporary_path(std::string_view name) const {
  return join_path(build_folder(cache_), formatted("{}{}.tmp", name, lock_->tag()));
}

// Makes a column's folder and every folder above it durable, once per column. seal() may run on
// several threads.
Status CacheFolder::prepare_column(const std::string& column) {
  const std::lock_guard lock(mutex_);
  if (prepared_columns_.contains(column)) return {};
  XTTS_TRY(lock_->check());  // a removed cache must not come back as empty folders
  const std::string folder = column_folder(cache_, column);
  XTTS_TRY(make_durable_folder(env_, parent_path(folder)));
  XTTS_TRY(make_durable_folder(env_, folder));
  prepared_columns_.insert(column);
  return {};
}

// Checks that every file that the manifest names exists.
Status CacheFolder::check_names(const Manifest& manifest) {
  XTTS_TRY(check_size(join_path(cache_, formats::index_file_name(manifest.index_digest)),
                      manifest.index_bytes));
  for (const auto& column : manifest.columns) {
    for (std::size_t i = 0; i < column.shards.size(); ++i) {
      XTTS_TRY(check_size(published_path(cache_, column, i), column.shards[i].file_bytes));
    }
  }
  return {};
}

Status CacheFolder::check_size(const std::string& path, std::uint64_t size_bytes) {
  const auto facts = env_.stat(path);
  if (facts && facts->size_bytes == size_bytes) return {};
  if (!facts && facts.status().code() == StatusCode::kResource) return facts.status();
  return {StatusCode::kCorrupt,
          formatted("publishing: {} is not there with its {} bytes", path, size_bytes)};
}

// If another builder took over and finished, .build/ is gone. Then we report kBusy.
Status CacheFolder::write_temporary(const std::string& path, std::span<const std::byte> bytes) {
  return or_taken_over(write_synced_file(env_, path, bytes));
}

Status CacheFolder::or_taken_over(Status status) {
  if (!status.ok()) XTTS_TRY(lock_->check());
  return status;
}

// Renames a visible file to its name while the cache is still ours. A builder that takes over
// first removes our temporary files, so that our late rename fails.
Status CacheFolder::show(const std::string& temporary, const std::string& path) {
  XTTS_TRY(lock_->check());
  return or_taken_over(rename_durably(env_, temporary, path));
}

// Called right before a file is removed: checks that the cache is still ours and that the
// manifest on disk does not name the file.
Result<bool> CacheFolder::may_go(const std::string& path) {
  XTTS_TRY(lock_->check());
  const auto facts = env_.stat(manifest_path(cache_));
  if (facts.status().code() == StatusCode::kNotFound) return true;
  if (!facts) return facts.status();
  if (seen_manifest_ != *facts) {
    const auto now = manifest();
    if (!now && now.status().code() == StatusCode::kResource) return now.status();
    named_now_.reset();  // an unreadable manifest may name any file
    if (now) named_now_ = *now ? names_in(**now) : std::set<std::string>();
    seen_manifest_ = *facts;
  }
  return named_now_.has_value() && !named_now_->contains(path);
}

Status replace_manifest(CacheFolder& folder, std::string_view text) {
  return folder.replace("manifest.json", manifest_path(folder.path()), text);
}

Status replace_rejects(CacheFolder& folder, std::string_view rejects_jsonl) {
  return folder.replace("rejects.jsonl", rejects_path(folder.path()), rejects_jsonl);
}

}  // namespace xtts::store
