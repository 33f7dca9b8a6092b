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
struct ReadBack {
  std::optional<JournalHead> head;
  std::vector<JournalShard> shards;
  std::size_t valid_bytes = 0;
};

ReadBack read_back(std::string_view text) {
  ReadBack found;
  while (found.valid_bytes < text.size()) {
    const std::size_t end = text.find('\n', found.valid_bytes);
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(found.valid_bytes, end - found.valid_bytes);
    if (!found.head) {
      found.head = decode_head_line(line);
      if (!found.head) break;
    } else {
      auto shard = decode_shard_line(line);
      if (!shard) break;
      found.shards.push_back(std::move(*shard));
    }
    found.valid_bytes = end + 1;
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

Result<Journal::Opened> Journal::open(Env& env, CacheFolder& folder, const JournalHead& head) {
  const std::string path = journal_path(folder.path());
  XTTS_TRY(folder.check());  // planning takes long; another builder may own the journal by now
  XTTS_ASSIGN(std::string text, read_old(env, path));
  ReadBack found = read_back(text);
  Opened opened;
  if (found.head == head) {
    opened.shards = std::move(found.shards);
    text.resize(found.valid_bytes);
  } else {
    text = encode_line(head);
  }
  // Writes the journal again and syncs it: a torn tail must go before the next line, and lines
  // that were read may never have reached the disk.
  XTTS_TRY(folder.replace("journal", path, text));
  auto file = env.open_for_write(path, WriteMode::kAppend);
  if (!file) XTTS_TRY(folder.check());
  if (!file) return file.status();
  opened.journal = std::make_unique<Journal>(folder, std::move(*file));
  return opened;
}

std::uint64_t Journal::shard_count(Env& env, const std::string& cache, const Digest& plan) {
  const auto text = read_old(env, journal_path(cache));
  if (!text) return 0;
  const ReadBack found = read_back(*text);
  return found.head && found.head->plan == plan ? found.shards.size() : 0;
}

}  // namespace xtts::store
