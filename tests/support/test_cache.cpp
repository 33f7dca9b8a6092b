#include "support/test_cache.hpp"
#include "formats/recipe.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/convert_floats.hpp"
#include "formats/canonical_json.hpp"
#include "formats/index.hpp"

namespace xtts::testing {

using formats::SectionKind;

namespace {

constexpr std::string_view kRejects =
    "{\"class\":\"input\",\"id\":\"broken\",\"path\":\"broken.wav\"}\n";

// Throws where the test itself is wrong. GoogleTest reports the exception.
void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

template <typename T>
T require(Result<T> result) {
  require(result.status());
  return std::move(result).value();
}

template <typename T>
std::string rows_of(const std::vector<T>& numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
}

std::string mel_rows_of(const std::vector<float>& numbers, DType dtype) {
  std::string rows(numbers.size() * size_bytes(dtype), '\0');
  narrow_floats(numbers, dtype, std::as_writable_bytes(std::span(rows)));
  return rows;
}

TestClip make_clip(const TestCacheOptions& options, std::uint32_t number) {
  TestClip clip;
  const std::string name = "clip-" + std::to_string(100 + number);
  clip.id = options.dataset.empty() ? name : options.dataset + "/" + name;
  const std::uint32_t frames = 1 + number * 5 % options.frames_max;
  const std::uint32_t tokens = number * 7 % (options.tokens_max + 1);  // the first clip has none
  for (std::uint32_t i = 0; i < frames * options.channel_count; ++i) {
    clip.mel.push_back(static_cast<float>(number) + static_cast<float>(i) / 1024.0F);
  }
  for (std::uint32_t i = 0; i < tokens; ++i)
    clip.tokens.push_back(static_cast<std::int32_t>(1 + i * number));
  if (options.edit_clip) options.edit_clip(clip);
  return clip;
}

// The first speaker has half of the clips, the others share the rest.
std::uint32_t speaker_of(const TestCacheOptions& options, std::uint32_t position) {
  if (options.speaker_count == 1 || position % 2 == 0) return 0;
  return 1 + position / 2 % (options.speaker_count - 1);
}

std::string speaker_name(std::uint32_t speaker) {
  return speaker == 0 ? "Linda" : "speaker-" + std::to_string(speaker);
}

formats::RecordFacts facts_of(const TestCacheOptions& options, const TestClip& clip) {
  formats::RecordFacts facts;
  facts.id = clip.id.substr(options.dataset.empty() ? 0 : options.dataset.size() + 1);
  if (!options.dataset.empty()) facts.dataset = options.dataset;
  facts.split = 0;
  facts.speaker = speaker_name(0);
  facts.source_path = "wavs/" + *facts.id + ".wav";
  facts.text_raw = "Printing, in the only sense.";
  return facts;
}

// ColumnMaker makes one column: it cuts the clips into blocks, and the blocks into shards.
class ColumnMaker {
 public:
  ColumnMaker(const TestCacheOptions& options, formats::ColumnSpec spec, std::uint32_t fill_bits)
      : options_(options) {
    entry_.spec = std::move(spec);
    entry_.store = options.store;
    entry_.fill_bits = fill_bits;
  }

  void add(const TestClip& clip, std::uint32_t length, std::string rows) {
    if (block_.records.size() == options_.clips_per_block) end_block();
    locations_.push_back({static_cast<std::uint32_t>(rows_made_ + blocks_.size()),
                          static_cast<std::uint16_t>(block_.records.size())});
    block_.records.push_back({digest128(clip.id), length, entry_.fill_bits, std::move(rows)});
    block_.facts.records.push_back(facts_of(options_, clip));
  }

  void finish(TestCache& cache) {
    end_block();
    end_shard();
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      cache.files["shards/" + entry_.spec.name + "/" +
                  formats::shard_file_name(i, entry_.shards[i].digest, entry_.store)] =
          shards_[i].bytes;
    }
    cache.manifest.columns.push_back(entry_);
  }

  [[nodiscard]] const std::vector<formats::LocationRow>& locations() const { return locations_; }
  [[nodiscard]] std::vector<formats::BlockRow> block_rows() const {
    std::vector<formats::BlockRow> rows;
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
      for (const formats::BlockPlace& place : shards_[shard].table.blocks) {
        rows.push_back({place, static_cast<std::uint32_t>(shard)});
      }
    }
    return rows;
  }

 private:
  void end_block() {
    if (block_.records.empty()) return;
    blocks_.push_back(std::move(block_));
    block_ = {};
    if (blocks_.size() == options_.blocks_per_shard) end_shard();
  }

  void end_shard() {
    if (blocks_.empty()) return;
    shards_.push_back(options_.make_shard(entry_.spec, options_.generation, blocks_));
    const formats::ShardTable& table = shards_.back().table;
    std::uint64_t records = 0;
    for (const TestBlock& block : blocks_) records += block.records.size();
    entry_.shards.push_back({.file_bytes = table.file_bytes,
                             .structure_check = table.structure_check,
                             .block_count = static_cast<std::uint32_t>(blocks_.size()),
                             .record_count = records,
                             .generation = options_.generation,
                             .digest = table.digest()});
    rows_made_ += blocks_.size();
    blocks_.clear();
  }

  const TestCacheOptions& options_;
  formats::ColumnEntry entry_;
  TestBlock block_;
  std::vector<TestBlock> blocks_;
  std::vector<MadeShard> shards_;
  std::vector<formats::LocationRow> locations_;  // includes those of tombstones
  std::size_t rows_made_ = 0;
};

template <typename Row>
void put_section(formats::IndexEncoder& encoder, SectionKind kind, std::uint32_t column_id,
                 const std::vector<Row>& rows) {
  std::string bytes;
  for (const Row& row : rows) formats::append_row(row, bytes);
  require(encoder.begin_section(kind, column_id));
  require(encoder.append(as_bytes(bytes)));
  require(encoder.end_section(rows.size()));
}

struct ClipSections {
  std::vector<formats::PlanRow> plan;
  std::vector<formats::IdHashRow> id_hashes;
  std::string details;
};

ClipSections make_clip_sections(const TestCacheOptions& options, const TestCache& cache) {
  ClipSections sections;
  for (std::uint32_t position = 0; position < cache.clips.size(); ++position) {
    const TestClip& clip = cache.clips[position];
    const std::size_t begin = sections.details.size();
    const std::uint32_t speaker = speaker_of(options, position);
    formats::RecordFacts facts = facts_of(options, clip);
    facts.speaker = speaker_name(speaker);
    formats::append_facts(facts, sections.details);
    sections.plan.push_back(
        {.mel_len = static_cast<std::uint32_t>(clip.mel.size() / options.channel_count),
         .text_len = static_cast<std::uint32_t>(clip.tokens.size()),
         .speaker = static_cast<std::int32_t>(speaker),
         .details_offset = begin,
         .details_bytes = static_cast<std::uint32_t>(sections.details.size() - begin)});
    if (options.edit_plan_row) options.edit_plan_row(position, sections.plan.back());
    sections.id_hashes.push_back({digest128(clip.id), position});
  }
  std::ranges::sort(sections.id_hashes, {}, &formats::IdHashRow::hash);
  return sections;
}

// The tombstones, which name the locations beyond those of the `live` clips.
std::vector<formats::TombstoneRow> tombstones_of(const std::vector<ColumnMaker>& columns,
                                                 std::size_t live) {
  std::vector<formats::TombstoneRow> rows;
  for (std::uint32_t id = 0; id < columns.size(); ++id) {
    const auto& locations = columns[id].locations();
    for (std::size_t i = live; i < locations.size(); ++i)
      rows.push_back({id, locations[i].block_row, locations[i].slot});
  }
  return rows;
}

void make_index(const TestCacheOptions& options, const std::vector<ColumnMaker>& columns,
                TestCache& cache) {
  std::string bytes;
  formats::IndexEncoder encoder(
      [&bytes](std::span<const std::byte> more) {
        bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
        return Status();
      },
      options.generation, cache.clips.size());
  const ClipSections clips = make_clip_sections(options, cache);
  put_section(encoder, SectionKind::kPlan, 0, clips.plan);
  for (std::uint32_t id = 0; id < columns.size(); ++id) {
    std::vector<formats::LocationRow> live = columns[id].locations();
    live.resize(cache.clips.size());
    put_section(encoder, SectionKind::kLocations, id, live);
  }
  put_section(encoder, SectionKind::kIdHashes, 0, clips.id_hashes);
  require(encoder.begin_section(SectionKind::kDetails));
  require(encoder.append(as_bytes(clips.details)));
  require(encoder.end_section(cache.clips.size()));
  for (std::uint32_t id = 0; id < columns.size(); ++id) {
    put_section(encoder, SectionKind::kBlocks, id, columns[id].block_rows());
  }
  require(encoder.begin_section(SectionKind::kRejects));
  require(encoder.append(as_bytes(kRejects)));
  require(encoder.end_section(1));
  put_section(encoder, SectionKind::kTombstones, 0, tombstones_of(columns, cache.clips.size()));
  const auto finished = require(encoder.finish());
  cache.manifest.index_bytes = finished.file_bytes;
  cache.manifest.index_digest = finished.digest;
  cache.index_name = formats::index_file_name(finished.digest);
  cache.files[cache.index_name] = bytes;
}

void describe(const TestCacheOptions& options, formats::Manifest& manifest) {
  formats::Recipe recipe;
  recipe.storage.store = options.store;
  manifest.generation = options.generation;
  manifest.recipe_name = recipe.name;
  manifest.features = formats::to_json(*recipe.features);
  manifest.text = formats::to_json(recipe.text);
  manifest.corpus = formats::to_json(recipe.corpus);
  manifest.storage = formats::to_json(recipe.storage);
  manifest.features_fingerprint = formats::fingerprint(*recipe.features);
  manifest.text_fingerprint = formats::fingerprint(recipe.text);
  manifest.corpus_fingerprint = formats::fingerprint(recipe.corpus);
  manifest.storage_fingerprint = formats::fingerprint(recipe.storage);
  manifest.numerics = {.device = "cpu", .isa = "scalar", .libraries = "none"};
  manifest.speakers.clear();
  for (std::uint32_t i = 0; i < options.speaker_count; ++i) {
    manifest.speakers.push_back(speaker_name(i));
  }
  if (!options.dataset.empty()) manifest.datasets = {options.dataset};
  manifest.data_layout = "ljspeech";
  if (options.edit_manifest) options.edit_manifest(manifest);
}

formats::ColumnSpec spec_of(const TestCacheOptions& options, const formats::Manifest& manifest,
                            bool is_mel) {
  formats::ColumnSpec spec;
  spec.name = is_mel ? "mel" : "tokens";
  spec.id = is_mel ? 0 : 1;
  spec.dtype = is_mel ? options.mel_dtype : DType::kInt32;
  spec.shape = is_mel ? std::vector{options.frames_max, options.channel_count}
                      : std::vector{options.tokens_max};
  spec.layout = options.layout;
  spec.fingerprint = is_mel ? manifest.features_fingerprint : manifest.text_fingerprint;
  spec.numerics = manifest.numerics.hash();
  return spec;
}

}  // namespace

std::string TestCache::shard_name(std::size_t column, std::size_t ordinal) const {
  const formats::ColumnEntry& entry = manifest.columns[column];
  return "shards/" + entry.spec.name + "/" +
         formats::shard_file_name(ordinal, entry.shards[ordinal].digest, entry.store);
}

void TestCache::add_to(MemoryEnv& env, const std::string& folder) const {
  for (const auto& [name, bytes] : files) env.add_file(join_path(folder, name), bytes);
}

TestCache make_test_cache(const TestCacheOptions& options) {
  TestCache cache;
  describe(options, cache.manifest);
  std::vector<ColumnMaker> columns;
  columns.emplace_back(options, spec_of(options, cache.manifest, true),
                       std::bit_cast<std::uint32_t>(options.mel_fill));
  columns.emplace_back(options, spec_of(options, cache.manifest, false), 0);
  for (std::uint32_t copy = 1; copy <= options.mel_copies; ++copy) {
    formats::ColumnSpec spec = spec_of(options, cache.manifest, true);
    spec.name += "_" + std::to_string(copy);
    spec.id = 1 + copy;
    columns.emplace_back(options, std::move(spec), std::bit_cast<std::uint32_t>(options.mel_fill));
  }
  for (std::uint32_t i = 0; i < options.clip_count + options.tombstone_count; ++i) {
    TestClip clip = make_clip(options, i);
    columns[0].add(clip, static_cast<std::uint32_t>(clip.mel.size() / options.channel_count),
                   mel_rows_of(clip.mel, options.mel_dtype));
    columns[1].add(clip, static_cast<std::uint32_t>(clip.tokens.size()), rows_of(clip.tokens));
    for (std::uint32_t copy = 1; copy <= options.mel_copies; ++copy) {
      std::vector<float> numbers = clip.mel;
      for (float& number : numbers) number *= -static_cast<float>(copy);
      columns[1 + copy].add(clip,
                            static_cast<std::uint32_t>(numbers.size() / options.channel_count),
                            mel_rows_of(numbers, options.mel_dtype));
    }
    if (i < options.clip_count) cache.clips.push_back(std::move(clip));
  }
  for (ColumnMaker& column : columns) column.finish(cache);
  make_index(options, columns, cache);
  cache.manifest.counts.planned = options.clip_count + 1;
  cache.manifest.counts.records = options.clip_count;
  cache.files["manifest.json"] = require(formats::encode_manifest(cache.manifest));
  cache.files["rejects.jsonl"] = kRejects;
  return cache;
}

}  // namespace xtts::testing
