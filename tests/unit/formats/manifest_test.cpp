#include "formats/manifest.hpp"
#include "formats/corpus_config.hpp"
#include "formats/feature_config.hpp"

#include <bit>
#include <functional>
#include <limits>

#include "formats/canonical_json.hpp"
#include "formats/manifest_trailer.hpp"
#include "formats/text_config.hpp"
#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

constexpr auto kCorrupt = StatusCode::kCorrupt;
constexpr auto kUnsupported = StatusCode::kUnsupported;

Manifest example() {
  Manifest manifest;
  manifest.generation = 2;
  manifest.recipe_name = "myxtts";
  manifest.features = to_json(FeatureConfig());
  manifest.text = to_json(TextConfig());
  manifest.corpus = to_json(CorpusConfig());
  manifest.storage = to_json(StorageConfig());
  manifest.features_fingerprint = fingerprint(FeatureConfig());
  manifest.numerics = {"cpu", "avx2", "fftw 3.3.10"};
  ColumnEntry mel;
  mel.spec = {"mel", 0, DType::kFloat16, {800, 80}, Layout::kPacked, {1, 2}, {3, 4}};
  mel.fill_bits = std::bit_cast<std::uint32_t>(-11.512925F);
  mel.shards.push_back({1 << 20, UINT64_MAX, 3, 70, 1, {5, 6}});
  mel.shards.push_back({1 << 19, 8, 1, 2, 2, {7, 8}});
  ColumnEntry tokens;
  tokens.spec = {"tokens", 1, DType::kInt32, {200}, Layout::kPadded, {9, 10}, {11, 12}};
  tokens.fill_bits = static_cast<std::uint32_t>(-7);
  manifest.columns = {mel, tokens};
  manifest.datasets = {""};
  manifest.speakers = {"linda", "é"};
  manifest.languages = {"en"};
  manifest.counts = {100, 72, 40000, 464.4, {{"policy", 27}, {"input", 1}}, {{"train", 72}}};
  manifest.mel_statistics = Statistics{40000, {-4.5, 0.1}, {2.25, 1.0}};
  manifest.index_bytes = 123456;
  manifest.index_digest = {13, 14};
  manifest.data_layout = "ljspeech";
  return manifest;
}

std::string encoded(const Manifest& manifest) {
  return encode_manifest(manifest).value();
}

// The example with a change that only a JSON editor can make, and the digest made right again.
Status after(const std::function<void(json&)>& change) {
  json document = parse_json(encoded(example())).value();
  document.erase("xxh3_128");
  change(document);
  return decode_manifest(append_manifest_trailer(dump_canonical(document))).status();
}

TEST(Manifest, EveryFieldComesBack) {
  const Manifest manifest = example();
  const std::string text = encoded(manifest);
  const auto read = decode_manifest(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(encoded(*read), text);
  EXPECT_EQ(read->generation, 2U);
  EXPECT_EQ(read->recipe_name, "myxtts");
  EXPECT_EQ(read->features, manifest.features);
  EXPECT_EQ(read->features_fingerprint, manifest.features_fingerprint);
  EXPECT_EQ(read->numerics.hash(), manifest.numerics.hash());
  ASSERT_EQ(read->columns.size(), 2U);
  EXPECT_EQ(read->columns[1].spec.id, 1U);
  EXPECT_EQ(read->columns[0].fill_bits, manifest.columns[0].fill_bits);
  EXPECT_EQ(read->columns[1].fill_bits, manifest.columns[1].fill_bits);
  EXPECT_EQ(read->columns[0].shards[0].structure_check, UINT64_MAX);
  EXPECT_EQ(read->columns[0].shards[1].digest, (Digest{7, 8}));
  EXPECT_EQ(read->speakers, manifest.speakers);
  EXPECT_EQ(read->counts.rejects_by_class, manifest.counts.rejects_by_class);
  EXPECT_EQ(read->mel_statistics->mean, manifest.mel_statistics->mean);
  EXPECT_EQ(read->index_bytes, 123456U);
  EXPECT_EQ(read->data_layout, "ljspeech");
  EXPECT_TRUE(read->allows_changes().ok());
}

TEST(Manifest, ColumnsAreFoundByName) {
  const Manifest manifest = example();
  ASSERT_NE(manifest.find_column("tokens"), nullptr);
  EXPECT_EQ(manifest.find_column("tokens")->spec.id, 1U);
  EXPECT_EQ(manifest.find_column("wave"), nullptr);
}

TEST(Manifest, IsCanonicalJsonThatEndsInItsDigest) {
  const std::string text = encoded(example());
  const auto document = parse_json(text);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(dump_canonical(*document) + "\n", text);
  const std::size_t comma = text.rfind(",\"xxh3_128\"");
  EXPECT_EQ((*document)["xxh3_128"], digest128(text.substr(0, comma)).to_hex());
}

TEST(Manifest, WithoutStatisticsComesBackWithout) {
  Manifest manifest = example();
  manifest.mel_statistics.reset();
  const auto read = decode_manifest(encoded(manifest));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_FALSE(read->mel_statistics.has_value());
}

TEST(Manifest, APartComesBack) {
  Manifest manifest = example();
  EXPECT_FALSE(decode_manifest(encoded(manifest))->partition.has_value());
  manifest.partition = Partition{.index = 3, .count = 8, .plan = {15, 16}};
  const auto read = decode_manifest(encoded(manifest));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_TRUE(read->partition.has_value());
  EXPECT_EQ(read->partition->name(), "3/8");
  EXPECT_EQ(read->partition->plan, (Digest{15, 16}));
}

TEST(Manifest, RefusesAPartThatIsNoneOfItsParts) {
  const std::string plan = Digest{15, 16}.to_hex();
  expect_refused(after([&](json& m) {
                   m["partition"] = {{"index", 9}, {"count", 8}, {"plan", plan}};
                 }),
                 kCorrupt, "partition.index");
  expect_refused(after([&](json& m) {
                   m["partition"] = {{"index", 0}, {"count", 8}, {"plan", plan}};
                 }),
                 kCorrupt, "partition.index");
  expect_refused(after([&](json& m) {
                   m["partition"] = {{"index", 1}, {"count", 0}, {"plan", plan}};
                 }),
                 kCorrupt, "partition.count");
  expect_refused(after([&](json& m) { m["partition"] = "1/8"; }), kCorrupt, "partition");
}

TEST(Manifest, OfOneBeforeThereWerePartsNothingIsMissing) {
  EXPECT_TRUE(after([](json& m) { m.erase("partition"); }).ok());
}

TEST(ManifestCopy, GivesTheManifestBackByteForByte) {
  Manifest manifest = example();
  const std::string copy = encode_manifest_copy(manifest).value();
  EXPECT_EQ(copy.find(manifest.index_digest.to_hex()), std::string::npos);
  const auto read = decode_manifest_copy(copy, 123456, {13, 14});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(encoded(*read), encoded(manifest));
}

TEST(ManifestCopy, RefusesWhatIsNone) {
  for (const std::string text : {"", "[]", "7", "{}", "{\"format\":\"xtts-cache\"", "null"})
    EXPECT_EQ(decode_manifest_copy(text, 4096, {1, 2}).status().code(), kCorrupt) << text;
}

TEST(Manifest, RefusesToWriteWhatIsNotFinite) {
  Manifest manifest = example();
  manifest.mel_statistics->mean[1] = std::numeric_limits<double>::quiet_NaN();
  expect_refused(encode_manifest(manifest).status(), StatusCode::kInternal,
                 "statistics.mel.mean.1");
}

TEST(Manifest, AnyByteChangedIsFound) {
  const std::string text = encoded(example());
  for (std::size_t bit = 0; bit < text.size() * 8; bit += 5) {
    ASSERT_EQ(decode_manifest(flipped(text, bit)).status().code(), kCorrupt) << "bit " << bit;
  }
}

TEST(Manifest, RefusesACutText) {
  const std::string text = encoded(example());
  for (std::size_t size = 0; size < text.size(); size += 7) {
    ASSERT_EQ(decode_manifest(text.substr(0, size)).status().code(), kCorrupt) << size;
  }
}

TEST(Manifest, RefusesAnotherFormat) {
  expect_refused(after([](json& m) { m["format"] = "parquet"; }), kCorrupt, "format: 'parquet'");
}

TEST(Manifest, RefusesANewerVersionWhateverElseIsInIt) {
  expect_refused(after([](json& m) {
                   m["version"] = 2;
                   m["columns"] = "something new";
                 }),
                 kUnsupported, "version 2");
}

TEST(Manifest, RefusesAnUnknownIncompatBitWhateverElseIsInIt) {
  expect_refused(after([](json& m) {
                   m["flags"]["incompat"] = 8;
                   m.erase("index");
                 }),
                 kUnsupported, "incompat bit 3");
}

TEST(Manifest, AnUnknownRoCompatBitForbidsOnlyChanges) {
  json document = parse_json(encoded(example())).value();
  document.erase("xxh3_128");
  document["flags"]["ro_compat"] = 2;
  document["flags"]["compat"] = 1;
  const auto read = decode_manifest(append_manifest_trailer(dump_canonical(document)));
  ASSERT_TRUE(read.ok()) << read.status().message();
  expect_refused(read->allows_changes(), kUnsupported, "ro_compat bit 1");
}

TEST(Manifest, PassesOverKeysThatItDoesNotKnow) {
  EXPECT_TRUE(after([](json& m) { m["comment"] = {1, 2}; }).ok());
  EXPECT_TRUE(after([](json& m) { m["columns"][0]["units"] = "nepers"; }).ok());
}

TEST(Manifest, RefusesAMissingMemberByItsPath) {
  expect_refused(after([](json& m) { m.erase("generation"); }), kCorrupt, "generation");
  expect_refused(after([](json& m) { m["index"].erase("digest"); }), kCorrupt, "index.digest");
  expect_refused(after([](json& m) { m["recipe"].erase("text"); }), kCorrupt, "recipe.text");
  expect_refused(after([](json& m) { m["columns"][1].erase("name"); }), kCorrupt,
                 "columns[1].name");
}

TEST(Manifest, RefusesMembersOfAnotherType) {
  expect_refused(after([](json& m) { m["columns"] = json::object(); }), kCorrupt,
                 "columns: is not a list");
  expect_refused(after([](json& m) { m["columns"][0] = 1; }), kCorrupt,
                 "columns[0]: is not an object");
  expect_refused(after([](json& m) { m["speakers"][0] = 1; }), kCorrupt, "speakers");
  expect_refused(after([](json& m) { m["counts"]["seconds"] = "1"; }), kCorrupt, "counts.seconds");
  expect_refused(after([](json& m) { m["statistics"]["mel"]["mean"][0] = "x"; }), kCorrupt,
                 "statistics.mel.mean");
}

TEST(Manifest, RefusesNumbersThatAreNotWhole) {
  for (const json& wrong : {json(1.0), json(-1), json("1"), json(1e300)}) {
    expect_refused(after([&](json& m) { m["columns"][0]["shards"][1]["records"] = wrong; }),
                   kCorrupt, "columns[0].shards[1].records");
    expect_refused(after([&](json& m) { m["counts"]["planned"] = wrong; }), kCorrupt,
                   "counts.planned");
    expect_refused(after([&](json& m) { m["counts"]["rejects_by_class"]["x"] = wrong; }), kCorrupt,
                   "counts.rejects_by_class");
    expect_refused(after([&](json& m) { m["columns"][0]["shape"][0] = wrong; }), kCorrupt,
                   "columns[0].shape");
  }
}

TEST(Manifest, RefusesADigestThatIsNone) {
  expect_refused(after([](json& m) { m["fingerprints"]["text"] = "123"; }), kCorrupt,
                 "fingerprints.text");
  expect_refused(
      after([](json& m) { m["columns"][0]["shards"][0]["structure"] = std::string(16, 'g'); }),
      kCorrupt, "columns[0].shards[0].structure");
}

TEST(Manifest, RefusesGenerationZeroAndShardsOfALaterOne) {
  expect_refused(after([](json& m) { m["generation"] = 0; }), kCorrupt, "generation");
  expect_refused(after([](json& m) { m["columns"][0]["shards"][0]["generation"] = 3; }), kCorrupt,
                 "columns[0].shards[0].generation");
}

TEST(Manifest, RefusesMoreRecordsThanBlocksHold) {
  expect_refused(after([](json& m) { m["columns"][0]["shards"][1]["records"] = 65; }), kCorrupt,
                 "columns[0].shards[1].records: 65");
}

TEST(Manifest, RefusesAnUnknownDtypeOrLayout) {
  expect_refused(after([](json& m) { m["columns"][0]["dtype"] = "float8"; }), kCorrupt,
                 "dtype: 'float8'");
  expect_refused(after([](json& m) { m["columns"][0]["layout"] = "sparse"; }), kCorrupt,
                 "layout: 'sparse'");
}

TEST(Manifest, RefusesAColumnThatNoBlockCouldHold) {
  expect_refused(after([](json& m) {
                   m["columns"][0]["shape"] = {4294967295U, 4294967295U};
                 }),
                 kCorrupt, "shape");
  expect_refused(after([](json& m) { m["columns"][0]["shape"] = json::array(); }), kCorrupt,
                 "rank");
  expect_refused(after([](json& m) { m["columns"][0]["name"] = "../mel"; }), kCorrupt,
                 "column name");
}

TEST(Manifest, RefusesAGeometryThatIsNotTheFormats) {
  expect_refused(after([](json& m) { m["columns"][0]["records_per_block"] = 63; }), kCorrupt,
                 "records_per_block");
  expect_refused(after([](json& m) { m["columns"][0]["records_per_shard"] = 0; }), kCorrupt,
                 "records_per_shard");
}

TEST(Manifest, RefusesAFillThatTheColumnCannotHold) {
  expect_refused(after([](json& m) { m["columns"][0]["fill"] = 0.1; }), kCorrupt,
                 "columns[0].fill");
  expect_refused(after([](json& m) { m["columns"][0]["fill"] = 1e300; }), kCorrupt,
                 "columns[0].fill");
  for (const json& wrong : {json(0.0), json(1ULL << 31U), json(UINT64_MAX), json(INT64_MIN)}) {
    expect_refused(after([&](json& m) { m["columns"][1]["fill"] = wrong; }), kCorrupt,
                   "columns[1].fill");
  }
}

TEST(Manifest, RefusesTwoColumnsOfOneName) {
  expect_refused(after([](json& m) { m["columns"][1]["name"] = "mel"; }), kCorrupt, "columns: two");
}

TEST(Manifest, RefusesANumericsHashOfOtherMembers) {
  expect_refused(after([](json& m) { m["numerics"]["isa"] = "sse2"; }), kCorrupt, "numerics.hash");
}

TEST(Manifest, RefusesMeanAndDeviationOfDifferentSizes) {
  expect_refused(after([](json& m) { m["statistics"]["mel"]["std"] = {1.0}; }), kCorrupt,
                 "statistics.mel.std");
}

TEST(Manifest, RefusesANameTwice) {
  for (const char* const key : {"speakers", "languages", "datasets"}) {
    const Status refused = after([&](json& m) { m[key] = {"a b", "c", "a b"}; });
    expect_refused(refused, kCorrupt, key);
    EXPECT_NE(refused.message().find("'a b' twice"), std::string::npos) << refused.message();
  }
}

TEST(Manifest, RefusesMoreNamesThanAPlanRowCanNumber) {
  expect_refused(after([](json& m) { m["languages"] = std::vector<std::string>(32769, "x"); }),
                 kCorrupt, "languages");
}

TEST(Manifest, TheStorageSectionTellsTheStoreOfEveryColumn) {
  Manifest manifest = example();
  manifest.storage["store"] = "hdf5";
  for (ColumnEntry& column : manifest.columns) column.store = StoreKind::kHdf5;
  const auto hdf5 = decode_manifest(encoded(manifest));
  ASSERT_TRUE(hdf5.ok()) << hdf5.status().message();
  for (const ColumnEntry& column : hdf5->columns) EXPECT_EQ(column.store, StoreKind::kHdf5);
  manifest = example();
  manifest.storage.erase("store");
  EXPECT_EQ(decode_manifest(encoded(manifest))->columns[1].store, StoreKind::kLmdb);
}

TEST(Manifest, RefusesAStoreThatItDoesNotKnow) {
  expect_refused(after([](json& m) { m["recipe"]["storage"]["store"] = "zarr"; }), kCorrupt,
                 "recipe.storage.store: 'zarr' is not known");
  expect_refused(after([](json& m) { m["recipe"]["storage"]["store"] = 2; }), kCorrupt,
                 "recipe.storage.store");
}

TEST(Manifest, IsNotWrittenWithAColumnOfAnotherStore) {
  Manifest manifest = example();
  manifest.columns[0].store = StoreKind::kHdf5;
  EXPECT_EQ(encode_manifest(manifest).status().code(), StatusCode::kInternal);
}

TEST(FileNames, CarryNumberAndDigestAndStore) {
  const Digest digest{0x0123456789abcdef, 1};
  EXPECT_EQ(shard_file_name(0, digest, StoreKind::kLmdb),
            "00000-0123456789abcdef0000000000000001.lmdb");
  EXPECT_EQ(shard_file_name(123456, digest, StoreKind::kHdf5),
            "123456-0123456789abcdef0000000000000001.h5");
  EXPECT_EQ(index_file_name(digest), "index-0123456789abcdef0000000000000001.bin");
}

}  // namespace
}  // namespace xtts::formats
