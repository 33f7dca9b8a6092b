#include "store_builder.hpp"

#include <gtest/gtest.h>

#include "base/try.hpp"
#include "sample_cache.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {
namespace {

using formats::StoreKind;
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

// One of a kind a store, made when it is first asked for.
template <typename Make>
const auto& of_store(StoreKind store, Make make) {
  static const auto lmdb = make(StoreKind::kLmdb);
  static const auto hdf5 = make(StoreKind::kHdf5);
  return store == StoreKind::kLmdb ? lmdb : hdf5;
}

const FinishedImage& mel_image(StoreKind store, std::size_t shard) {
  const auto& images = of_store(store, [](StoreKind kind) {
    std::vector<SampleImage> made;
    for (std::uint64_t i = 0; i < 3; ++i) {
      made.push_back(sample_image(mel(), 70, 1000 * i, 0, kind));
    }
    return made;
  });
  return images[shard].finished;
}

const FinishedImage& tokens_image(StoreKind store, std::uint64_t generation) {
  const auto& images = of_store(store, [](StoreKind kind) {
    std::vector<SampleImage> made;
    for (std::uint64_t i = 0; i < 2; ++i) {
      made.push_back(sample_image(tokens(), 20, 50 + 1000 * i, 0, kind));
    }
    return made;
  });
  return images[generation - 1].finished;
}

struct Job {
  std::string column;
  std::uint64_t ordinal = 0;
  const FinishedImage* image = nullptr;
};

// Returns the shards that a generation computes.
std::vector<Job> jobs_of(StoreKind store, std::uint64_t generation) {
  if (generation == 1) {
    return {{"mel", 0, &mel_image(store, 0)},
            {"mel", 1, &mel_image(store, 1)},
            {"tokens", 0, &tokens_image(store, 1)}};
  }
  return {{"mel", 2, &mel_image(store, 2)}, {"tokens", 0, &tokens_image(store, 2)}};
}

SealedShard sealed_of(const Job& job) {
  return {.column = job.column,
          .store = job.image->store,
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

formats::Manifest manifest_of(StoreKind store, std::uint64_t generation) {
  std::vector<SealedShard> mel_shards;
  for (std::uint64_t i = 0; i <= generation; ++i) {
    mel_shards.push_back(sealed_of({"mel", i, &mel_image(store, i)}));
  }
  return sample_manifest(
      generation, index_of(generation),
      {{mel(), mel_shards},
       {tokens(), {sealed_of({"tokens", 0, &tokens_image(store, generation)})}}});
}

class Builder {
 public:
  Builder(Env& env, StoreKind store, std::uint64_t generation)
      : env_(env), store_(store), generation_(generation) {}

  Status run() {
    XTTS_ASSIGN(folder_, CacheFolder::open(env_, std::string(kCache)));
    XTTS_ASSIGN(const auto published, folder_->manifest());
    if (published && published->generation >= generation_) return mend(*published);
    XTTS_TRY(seal_all(published ? &*published : nullptr));
    XTTS_TRY(commit_index(*folder_, index_of(generation_)));
    return publish(manifest_of(store_, generation_));
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
                Journal::open(env_, *folder_,
                              {.plan = digest128("plan " + std::to_string(generation_)),
                               .features_fingerprint = {},
                               .storage_fingerprint = {},
                               .numerics = {},
                               .generation = generation_}));
    const auto jobs = jobs_of(store_, generation_);
    std::vector<SealedShard> keep;
    for (const JournalShard& shard : journal.shards) {
      XTTS_ASSIGN(const bool intact, folder_->is_intact(shard.sealed.front()));
      // The tests lose nothing that was synced, so that a line that is not true is a fault of ours.
      EXPECT_TRUE(intact) << "journal names a shard that is not there";
      keep.push_back(shard.sealed.front());
    }
    XTTS_TRY(folder_->collect_garbage(published, keep));
    for (std::size_t i = journal.shards.size(); i < jobs.size(); ++i) {
      XTTS_ASSIGN(auto sealed, folder_->seal(jobs[i].column, jobs[i].ordinal, *jobs[i].image));
      XTTS_TRY(journal.journal->append(
          {.planned_shard = i, .sealed = {std::move(sealed)}, .rejects = {}}));
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
  const StoreKind store_;
  const std::uint64_t generation_;
  std::unique_ptr<CacheFolder> folder_;
};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Files make_files(StoreKind store, std::uint64_t generation) {
  const formats::Manifest manifest = manifest_of(store, generation);
  Files files;
  for (const auto& column : manifest.columns) {
    for (std::size_t i = 0; i < column.shards.size(); ++i) {
      const std::string path =
          join_path(store::column_folder(std::string(kCache), column.spec.name),
                    formats::shard_file_name(i, column.shards[i].digest, column.store));
      files[path] = all_shards(store).at(path);
    }
  }
  files[join_path(kCache, formats::index_file_name(manifest.index_digest))] =
      index_of(generation).bytes;
  files[store::manifest_path(std::string(kCache))] = *formats::encode_manifest(manifest);
  return files;
}

}  // namespace

Status build_generation(Env& env, StoreKind store, std::uint64_t generation) {
  return Builder(env, store, generation).run();
}

Status build_both(Env& env, StoreKind store) {
  XTTS_TRY(build_generation(env, store, 1));
  return build_generation(env, store, 2);
}

const Files& files_of(StoreKind store, std::uint64_t generation) {
  const auto& files = of_store(store, [](StoreKind kind) {
    return std::vector<Files>{make_files(kind, 1), make_files(kind, 2)};
  });
  return files[generation - 1];
}

const Files& all_shards(StoreKind store) {
  return of_store(store, [](StoreKind kind) {
    Files made;
    for (const std::uint64_t generation : {1U, 2U}) {
      for (const Job& job : jobs_of(kind, generation)) {
        made[store::shard_path(std::string(kCache), sealed_of(job))] = text_of(job.image->bytes);
      }
    }
    return made;
  });
}

}  // namespace xtts::testing
