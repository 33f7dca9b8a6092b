#include "store/journal.hpp"

#include "base/try.hpp"
#include "store/journal_line.hpp"

namespace xtts::store {
namespace {

// A line has 4 KB for a padded mel shard and 20 MB for 100,000 rejects. A larger journal is not
// ours.
constexpr std::uint64_t kJournalBytesMax = std::uint64_t{1} << 30U;

std::string journal_path(const std::string& cache) {
  return join_path(build_folder(cache), "journal");
}

// The lines up to the first with a wrong check. Lines after a torn or damaged one are ignored,
// because another build wrote them.
JournalContents read_back(std::string_view text) {
  JournalContents found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(begin, end - begin);
    if (!found.head) {
      found.head = decode_head_line(line);
      if (!found.head) break;
    } else {
      auto shard = decode_shard_line(line);
      if (!shard) break;
      found.shards.push_back(std::move(*shard));
    }
    begin = end + 1;
  }
  return found;
}

// The old journal's text; empty: nothing that could be ours.
Result<std::string> read_old(Env& env, const std::string& path) {
  auto text = read_text_file(env, path, kJournalBytesMax);
  if (text) return text;
  const StatusCode code = text.status().code();
  if (code == StatusCode::kNotFound || code == StatusCode::kInvalidArgument) return std::string();
  return text.status();
}

}  // namespace

Status Journal::append(const JournalShard& shard) {
  // After a failure the end of the file is unknown, and the next line might join half of this one.
  if (failure_.ok()) failure_ = write(encode_line(shard));
  return failure_;
}

Status Journal::write(const std::string& line) {
  XTTS_TRY(folder_.check());
  XTTS_TRY(file_->append(as_bytes(std::string_view(line))));
  return file_->sync();
}

Result<JournalContents> read_journal(Env& env, const std::string& cache) {
  XTTS_ASSIGN(const std::string text, read_old(env, journal_path(cache)));
  return read_back(text);
}

Result<std::unique_ptr<Journal>> Journal::begin(Env& env, CacheFolder& folder,
                                                const JournalHead& head,
                                                std::span<const JournalShard> shards) {
  const std::string path = journal_path(folder.path());
  std::string text = encode_line(head);
  for (const JournalShard& shard : shards) text += encode_line(shard);
  // The new text is synced: a torn tail must go before the next line, and lines that were read may
  // never have reached the disk.
  XTTS_TRY(folder.replace("journal", path, text));
  auto file = env.open_for_write(path, WriteMode::kAppend);
  if (!file) XTTS_TRY(folder.check());
  if (!file) return file.status();
  return std::make_unique<Journal>(folder, std::move(*file));
}

Result<Journal::Opened> Journal::open(Env& env, CacheFolder& folder, const JournalHead& head) {
  XTTS_TRY(folder.check());  // planning takes long; another builder may own the journal by now
  XTTS_ASSIGN(JournalContents found, read_journal(env, folder.path()));
  Opened opened;
  if (found.head == head) opened.shards = std::move(found.shards);
  XTTS_ASSIGN(opened.journal, begin(env, folder, head, opened.shards));
  return opened;
}

}  // namespace xtts::store
