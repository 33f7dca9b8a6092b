#include "store_builder.hpp"

#include <gtest/gtest.h>

#include "base/try.hpp"
#include "sample_cache.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {
namespace {

using store::CacheFolder;
using store::FinishedImage;
using store::Journal;
using store::JournalShard;
using store::SealedShard;

const formats::ColumnSpec& mel() {
  static const formats::ColumnSpec column = mel_column({10, 3});
  return column;
}
const formats::ColumnSpec& tokens() {
  static const formats::ColumnSpec column = tokens_column();
  return column;
}

const FinishedImage& mel_image(std::size_t shard) {
  static const std::vector<SampleImage> images = [] {
    std::vector<SampleImage> made;
    for (std::uint64_t i = 0; i < 3; ++i) made.push_back(sample_image(mel(), 70, 1000 * i));
    return made;
  }();
  return images[shard].finished;
}

const FinishedImage& tokens_image(std::uint64_t generation) {
  static const std::vector<SampleImage> images = [] {
    std::vector<SampleImage> made;
    for (std::uint64_t i = 0; i < 2; ++i) made.push_back(sample_image(tokens(), 20, 50 + 1000 * i));
    return made;
  }();
  return images[generation - 1].finished;
}

struct Job {
  std::string column;
  std::uint64_t ordinal = 0;
  const FinishedImage* image = nullptr;
};

// What a generation computes.
std::vector<Job> jobs_of(std::uint64_t generation) {
  if (generation == 1) {
    return {{"mel", 0, &mel_image(0)}, {"mel", 1, &mel_image(1)}, {"tokens", 0, &tokens_image(1)}};
  }
  return {{"mel", 2, &mel_image(2)}, {"tokens", 0, &tokens_image(2)}};
}

SealedShard sealed_of(const Job& job) {
  return {.column = job.column,
          .ordinal = job.ordinal,
          .record_count = job.image->record_count,
          .digest = job.image->table.digest(),
          .table = job.image->table};
}

std::string rejects_of(std::uint64_t generation) {
  return "rejects of generation " + std::to_string(generation) + "\n";
}

const SampleIndex& index_of(std::uint64_t generation) {
  static const std::vector<SampleIndex> indexes = {sample_index(1, rejects_of(1)),
                                                   sample_index(2, rejects_of(2))};
  return indexes[generation - 1];
}

formats::Manifest manifest_of(std::uint64_t generation) {
  std::vector<SealedShard> mel_shards;
  for (std::uint64_t i = 0; i <= generation; ++i) {
    mel_shards.push_back(sealed_of({"mel", i, &mel_image(i)}));
  }
  return sample_manifest(
      generation, index_of(generation),
      {{mel(), mel_shards}, {tokens(), {sealed_of({"tokens", 0, &tokens_image(generation)})}}});
}

class Builder {
 public:
  Builder(Env& env, std::uint64_t generation) : env_(env), generation_(generation) {}

  Status run() {
    XTTS_ASSIGN(folder_, CacheFolder::open(env_, std::string(kCache)));
    XTTS_ASSIGN(const auto published, folder_->manifest());
    if (published && published->generation >= generation_) return mend(*published);
    XTTS_TRY(seal_all(published ? &*published : nullptr));
    XTTS_TRY(commit_index(*folder_, index_of(generation_)));
    return publish(manifest_of(generation_));
  }

 private:
  // Died between the manifest and the end: what comes after the manifest is done again.
  Status mend(const formats::Manifest& published) {
    const auto rejects = read_text_file(env_, store::rejects_path(std::string(kCache)), 1000);
    const bool differs = !rejects || *rejects != rejects_of(published.generation);
    if (differs) return publish(published);
    return collect_and_finish(published);
  }

  Status seal_all(const formats::Manifest* published) {
    XTTS_ASSIGN(auto journal,
                Journal::open(env_, std::string(kCache),
                              {.plan = digest128("plan " + std::to_string(generation_)),
                               .features_fingerprint = {},
                               .storage_fingerprint = {},
                               .numerics = {},
                               .generation = generation_}));
    const auto jobs = jobs_of(generation_);
    std::vector<SealedShard> keep;
    for (const JournalShard& shard : journal.shards) {
      XTTS_ASSIGN(const bool intact, folder_->is_intact(*shard.sealed));
      // The tests lose nothing that was synced, so that a line that is not true is a fault of ours.
      EXPECT_TRUE(intact) << "journal names a shard that is not there";
      keep.push_back(*shard.sealed);
    }
    XTTS_TRY(folder_->collect_garbage(published, keep));
    for (std::size_t i = journal.shards.size(); i < jobs.size(); ++i) {
      XTTS_ASSIGN(auto sealed, folder_->seal(jobs[i].column, jobs[i].ordinal, *jobs[i].image));
      XTTS_TRY(journal.journal->append(
          {.planned_shard = i, .sealed = std::move(sealed), .rejects = {}}));
    }
    return {};
  }

  Status publish(const formats::Manifest& manifest) {
    XTTS_TRY(folder_->publish(manifest, rejects_of(manifest.generation)));
    return collect_and_finish(manifest);
  }

  Status collect_and_finish(const formats::Manifest& manifest) {
    XTTS_TRY(folder_->collect_garbage(&manifest, {}));
    return folder_->finish();
  }

  Env& env_;
  const std::uint64_t generation_;
  std::unique_ptr<CacheFolder> folder_;
};

std::string shard_path(const std::string& column, std::uint64_t ordinal, const Digest& digest) {
  return join_path(store::column_folder(std::string(kCache), column),
                   formats::shard_file_name(ordinal, digest));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Files make_files(std::uint64_t generation) {
  const formats::Manifest manifest = manifest_of(generation);
  Files files;
  for (const auto& column : manifest.columns) {
    for (std::size_t i = 0; i < column.shards.size(); ++i) {
      const std::string path = shard_path(column.spec.name, i, column.shards[i].digest);
      files[path] = all_shards().at(path);
    }
  }
  files[join_path(kCache, formats::index_file_name(manifest.index_digest))] =
      index_of(generation).bytes;
  files[store::manifest_path(std::string(kCache))] = *formats::encode_manifest(manifest);
  return files;
}

}  // namespace

Status build_generation(Env& env, std::uint64_t generation) {
  return Builder(env, generation).run();
}

Status build_both(Env& env) {
  XTTS_TRY(build_generation(env, 1));
  return build_generation(env, 2);
}

const Files& files_of(std::uint64_t generation) {
  static const std::vector<Files> files = {make_files(1), make_files(2)};
  return files[generation - 1];
}

const Files& all_shards() {
  static const Files shards = [] {
    Files made;
    for (const std::uint64_t generation : {1U, 2U}) {
      for (const Job& job : jobs_of(generation)) {
        made[shard_path(job.column, job.ordinal, job.image->table.digest())] =
            text_of(job.image->bytes);
      }
    }
    return made;
  }();
  return shards;
}

}  // namespace xtts::testing
