#include "verify/shard_check.hpp"

#include <algorithm>
#include <utility>

#include "base/formatted.hpp"
#include "formats/clip_id.hpp"
#include "reader/block_reader.hpp"
#include "reader/cache_paths.hpp"

namespace xtts::verify {
namespace {

// Writes a check as digests are shown: hexadecimal, all digits.
std::string hex(std::uint64_t check) {
  return Digest{0, check}.to_hex().substr(16);
}

}  // namespace

ShardCheck::ShardCheck(Run& run, reader::IndexReader& index, const Plan& plan,
                       const ColumnPlan& column, std::uint32_t ordinal)
    : run_(run),
      index_(index),
      plan_(plan),
      column_(column),
      entry_(column.entry->shards[ordinal]),
      ordinal_(ordinal),
      first_row_(column.first_row_of_shard[ordinal]) {
  shard_.name = reader::shard_name(*column.entry, ordinal);
}

void ShardCheck::run(std::vector<std::byte>& buffer) {
  if (!open_file() || !load_table()) return;
  PieceReader pieces(*shard_.file, shard_.name, buffer);
  for (const Region& region : regions()) {
    if (run_.cancelled()) return;
    check_region(pieces, region);
    run_.advance(region.range.size_bytes);
  }
  check_structure();
}

bool ShardCheck::open_file() {
  auto file = run_.env.open_for_read(run_.path_of(shard_.name));
  if (!file.ok()) {
    const bool missing = file.status().code() == StatusCode::kNotFound;
    add({.check = missing ? Check::kMissingFile : Check::kFile,
         .outcome = missing ? Outcome::kWrong : Outcome::kUnreadable,
         .expected = {"bytes_of_records",
                      formatted("{} with {}", counted(entry_.file_bytes, "byte", "bytes"),
                                counted(entry_.record_count, "record", "records")),
                      entry_.file_bytes, entry_.record_count},
         .found = missing ? no_such_file() : Evidence("status", file.status().message()),
         .remedy = missing ? remedy_of_records() : RemedyKind::kLookAtDisk});
    return false;
  }
  shard_.file = std::move(*file);
  const std::uint64_t found = shard_.file->size_bytes();
  if (found != entry_.file_bytes) {
    add({.offset_bytes = std::min(found, entry_.file_bytes),
         .check = Check::kFileSize,
         .expected = bytes(entry_.file_bytes),
         .found = bytes(found),
         .remedy = remedy_of_records()});
  }
  return true;
}

bool ShardCheck::load_table() {
  table_.file_bytes = entry_.file_bytes;
  table_.structure_check = entry_.structure_check;
  for (std::uint64_t row = first_row_; row < column_.first_row_of_shard[ordinal_ + 1]; ++row) {
    if (!column_.rows[row]) {
      add({.check = Check::kBlockTable,
           .expected = {"readable_rows", "readable block rows in the index"},
           .found = {"damaged_row",
                     formatted("row {} is damaged, so this shard cannot be checked", row), row},
           .remedy = RemedyKind::kRepair});
      return false;
    }
    table_.blocks.push_back(column_.rows[row]->place);
  }
  Status status = table_.validate(column_.entry->store);
  if (!status.ok()) {
    run_.add_failure(shard_.name, Check::kBlockTable, status);
    return false;
  }
  if (table_.digest() != entry_.digest) {
    add({.check = Check::kBlockTable,
         .expected = {"digest_of_name",
                      formatted("digest {}, as its name says", entry_.digest.to_hex())},
         .found = {"digest_of_rows", table_.digest().to_hex() + " of the index's rows"},
         .remedy = RemedyKind::kRepair});
  }
  headers_.resize(table_.blocks.size());
  id_hashes_.resize(table_.blocks.size());
  return true;
}

std::vector<ShardCheck::Region> ShardCheck::regions() const {
  std::vector<Region> regions;
  for (std::size_t i = 0; i < table_.blocks.size(); ++i) {
    const formats::BlockPlace& place = table_.blocks[i];
    regions.push_back({{place.header_offset, formats::kBlockHeaderBytes}, Part::kHeader, i});
    regions.push_back({{place.payload_offset, place.payload_bytes}, Part::kPayload, i});
    regions.push_back({{place.facts_offset, place.facts_bytes}, Part::kFacts, i});
  }
  for (const formats::ByteRange& range : formats::structure_ranges(table_)) {
    regions.push_back({range, Part::kStructure, 0});
  }
  // An HDF5 shard has its headers behind its payloads, and records cannot be checked without them:
  // they are read first. Stable, so that a block's empty payload stays behind its header.
  const bool headers_first = column_.entry->store == formats::StoreKind::kHdf5;
  std::ranges::stable_sort(regions, {}, [headers_first](const Region& region) {
    const bool is_late = !headers_first || region.part != Part::kHeader;
    return std::pair(is_late, region.range.offset_bytes);
  });
  return regions;
}

void ShardCheck::check_region(PieceReader& pieces, const Region& region) {
  switch (region.part) {
    case Part::kHeader:
      return check_header(pieces, region.block);
    case Part::kPayload:
      return check_records(pieces, region.block);
    case Part::kFacts:
      return check_facts(pieces, region.block);
    case Part::kStructure:
      return hash_structure(pieces, region.range);
  }
}

void ShardCheck::check_header(PieceReader& pieces, std::size_t block) {
  const formats::BlockPlace& place = table_.blocks[block];
  Status status;
  if (auto bytes = pieces.view(place.header_offset, formats::kBlockHeaderBytes); !bytes.ok()) {
    status = bytes.status();
  } else {
    auto header = reader::check_block_header(*bytes, shard_.name, place, column_.entry->spec);
    if (header.ok()) {
      headers_[block] = std::move(*header);
    } else {
      status = header.status();
    }
  }
  if (!status.ok()) {
    Finding finding = failure(shard_.name, place.header_offset, Check::kBlockHeader, status);
    finding.found = lost_header(block, status);
    return add(std::move(finding));
  }
  check_header_fields(block);
}

// Checks the fields of a sound header that only its place in the shard can prove.
void ShardCheck::check_header_fields(std::size_t block) {
  const auto expect = [&](const char* field, std::uint64_t expected, std::uint64_t found) {
    if (expected == found) return;
    add({.offset_bytes = table_.blocks[block].header_offset,
         .check = Check::kBlockHeader,
         .part = field,
         .expected = number(expected),
         .found = number(found),
         .remedy = RemedyKind::kRepair});
  };
  const formats::BlockHeader& header = *headers_[block];
  expect("block", block, header.block_index);
  expect("generation", entry_.generation, header.generation);
  if (column_.entry->store == formats::StoreKind::kLmdb) {
    expect("payload offset", table_.blocks[block].header_offset + formats::kBlockHeaderBytes,
           table_.blocks[block].payload_offset);
  }
  std::vector<Digest> id_hashes;
  for (const formats::BlockRecord& record : header.records) id_hashes.push_back(record.id_hash);
  id_hashes_[block] = std::move(id_hashes);
}

void ShardCheck::check_records(PieceReader& pieces, std::size_t block) {
  if (!headers_[block]) return;  // the checks of the records went with their header
  const std::size_t count = headers_[block]->records.size();
  for (std::size_t slot = 0; slot < count; ++slot) check_record(pieces, block, slot);
  run_.record_count += count;
  headers_[block].reset();
}

void ShardCheck::check_record(PieceReader& pieces, std::size_t block, std::size_t slot) {
  const formats::BlockHeader& header = *headers_[block];
  const formats::BlockRecord& record = header.records[slot];
  const std::uint64_t offset = table_.blocks[block].payload_offset + record.offset_bytes;
  check_owner(block, slot, offset);
  auto bytes = pieces.view(offset, header.region_bytes(slot));
  if (!bytes.ok()) {
    add_failure(offset, Check::kRecord, bytes.status(), clip_of(block, slot), remedy_of_record());
    return;
  }
  const std::uint64_t found = formats::record_check(header, slot, *bytes);
  if (found == record.check) return;
  add({.offset_bytes = offset,
       .clip = clip_of(block, slot),
       .check = Check::kRecord,
       .expected = {"check", "check " + hex(record.check)},
       .found = {"check", "check " + hex(found)},
       .remedy = remedy_of_record()});
}

// Does the record belong to the clip that the plan gives it, with the length that the plan tells?
void ShardCheck::check_owner(std::size_t block, std::size_t slot, std::uint64_t offset_bytes) {
  const std::uint32_t owner = column_.owner(row_of(block), slot);
  if (owner >= plan_.clips.size()) return;  // a tombstone, or the plan is not known
  const formats::BlockRecord& record = headers_[block]->records[slot];
  const auto contradict = [&](const char* part, Evidence expected, Evidence found) {
    add({.offset_bytes = offset_bytes,
         .clip = clip_of(block, slot),
         .check = Check::kPlan,
         .part = part,
         .expected = std::move(expected),
         .found = std::move(found),
         .remedy = RemedyKind::kRepair});
  };
  if (record.id_hash != plan_.clips[owner].id_hash) {
    contradict("owner", {"id_hash", "id hash " + plan_.clips[owner].id_hash.to_hex()},
               {"id_hash", "id hash " + record.id_hash.to_hex()});
  }
  const auto length = plan_.length_of(*column_.entry, owner);
  if (length && *length != record.length) {
    contradict("length", number(*length), number(record.length));
  }
}

void ShardCheck::check_facts(PieceReader& pieces, std::size_t block) {
  const formats::BlockPlace& place = table_.blocks[block];
  auto bytes = pieces.view(place.facts_offset, place.facts_bytes);
  if (!bytes.ok()) {
    return add_failure(place.facts_offset, Check::kFacts, bytes.status());
  }
  auto facts = reader::check_block_facts(*bytes, shard_.name, place);
  if (!facts.ok()) {
    return add_failure(place.facts_offset, Check::kFacts, facts.status());
  }
  if (!id_hashes_[block]) return;
  for (std::size_t slot = 0; slot < facts->records.size(); ++slot) {
    const std::string id = formats::full_id(facts->records[slot]);
    if (digest128(id) == (*id_hashes_[block])[slot]) continue;
    add({.offset_bytes = place.facts_offset,
         .clip = id,
         .check = Check::kFacts,
         .expected = {"id_hash_of_header", formatted("id hash {}, as the header says",
                                                     (*id_hashes_[block])[slot].to_hex())},
         .found = {"id_hash", "id hash " + digest128(id).to_hex()},
         .remedy = RemedyKind::kRepair});
  }
}

void ShardCheck::hash_structure(PieceReader& pieces, const formats::ByteRange& range) {
  // In steps of a page: most stretches are 16 bytes, and a long one must not grow the buffer.
  for (std::uint64_t done = 0; done < range.size_bytes;) {
    const std::size_t size = std::min<std::uint64_t>(formats::kPageBytes, range.size_bytes - done);
    auto bytes = pieces.view(range.offset_bytes + done, size);
    if (!bytes.ok()) {
      structure_read_ = false;
      // A file that ends too early is reported once, by its size.
      if (bytes.status().code() != StatusCode::kCorrupt) {
        add_failure(range.offset_bytes + done, Check::kStructure, bytes.status());
      }
    } else {
      structure_.update(*bytes);
    }
    done += size;
  }
}

void ShardCheck::check_structure() {
  if (!structure_read_ || structure_.finish() == entry_.structure_check) return;
  const bool is_hdf5 = column_.entry->store == formats::StoreKind::kHdf5;
  const std::string what_lies_between =
      is_hdf5 ? "HDF5's metadata, lengths, ids and all else between the regions"
              : "LMDB's pages and all else between the regions";
  add({.check = Check::kStructure,
       .expected = {is_hdf5 ? "hdf5_structure" : "lmdb_structure",
                    formatted("check {} of {}", hex(entry_.structure_check), what_lies_between)},
       .found = {"check", "check " + hex(structure_.finish())},
       .remedy = RemedyKind::kRepair});
}

void ShardCheck::add(Finding finding) {
  finding.file = shard_.name;
  finding.column = column_.entry->spec.name;
  run_.findings.add(std::move(finding));
}

// Records of texts are made again from the cache itself; records of sound need their sources.
RemedyKind ShardCheck::remedy_of_records() const {
  const bool is_sound = column_.entry->spec.name != "tokens" && !column_.entry->axis;
  return is_sound ? RemedyKind::kSources : RemedyKind::kRepair;
}

RemedyKind ShardCheck::remedy_of_record() const {
  return column_.entry->axis ? RemedyKind::kAddColumn : remedy_of_records();
}

void ShardCheck::add_failure(std::uint64_t offset_bytes, Check check, const Status& status,
                             std::string clip, RemedyKind remedy) {
  Finding finding = failure(shard_.name, offset_bytes, check, status);
  if (finding.remedy == RemedyKind::kRepair)
    finding.remedy = remedy;  // bytes that cannot be read keep theirs
  finding.clip = std::move(clip);
  add(std::move(finding));
}

// Takes the clip's name from the index, else from the block's facts, else its hash.
std::string ShardCheck::clip_of(std::size_t block, std::size_t slot) {
  const Digest& hash = headers_[block]->records[slot].id_hash;
  const auto position = index_.find(hash);
  if (position.ok() && *position) {
    const auto facts = index_.details(**position);
    if (facts.ok()) return formats::full_id(*facts);
  }
  const auto facts = reader::read_block_facts(shard_, table_.blocks[block]);
  if (facts.ok() && digest128(formats::full_id(facts->records[slot])) == hash) {
    return formats::full_id(facts->records[slot]);
  }
  return "id hash " + hash.to_hex();
}

// Names the lost header and the records lost with it, as far as the facts still tell.
Evidence ShardCheck::lost_header(std::size_t block, const Status& status) {
  const std::uint64_t count = table_.blocks[block].record_count;
  Evidence found("lost_header",
                 formatted("{}; its {} cannot be checked", status.message(),
                           counted(count, "record", "records")),
                 count);
  const auto facts = reader::read_block_facts(shard_, table_.blocks[block]);
  if (!facts.ok() || facts->records.empty()) return found;
  found.kind = "lost_header_of_clips";
  found.text += formatted(": clips {} to {}", formats::full_id(facts->records.front()),
                          formats::full_id(facts->records.back()));
  return found;
}

}  // namespace xtts::verify
