#include "snapshot.hpp"

#include <cstring>

#include "base/hash.hpp"
#include "base/try.hpp"
#include "formats/reject.hpp"

namespace xtts::simulation {
namespace {

constexpr std::size_t kLinesMax = 6;

std::string name_at(const std::vector<std::string>& names, std::int64_t index) {
  return index >= 0 && static_cast<std::size_t>(index) < names.size()
             ? names[static_cast<std::size_t>(index)]
             : "none";
}

Result<Fields> fields_of(reader::CacheView& view, std::uint64_t position,
                         const formats::RecordFacts& facts) {
  const formats::Manifest& manifest = view.manifest();
  XTTS_ASSIGN(const auto row, view.plan_row(position));
  Fields fields;
  for (const formats::NamedFact& fact : formats::list_facts(facts))
    fields[std::string(fact.name)] = fact.text;
  fields["row: speaker"] = name_at(manifest.speakers, row.speaker);
  fields["row: lengths"] = std::to_string(row.mel_len) + ", " + std::to_string(row.text_len);
  for (const formats::ColumnEntry& column : manifest.columns) {
    const bool is_added = column.axis.has_value();
    const auto record = view.read_record(column.spec.name, position);
    if (is_added && record.status().code() == StatusCode::kNotFound) continue;  // not made yet
    if (!record) return record.status();
    if (is_added) {
      float value = 0;
      std::memcpy(&value, record->bytes.data(), std::min(sizeof value, record->bytes.size()));
      if (value != added_value(facts, column.version)) {
        return Status(StatusCode::kCorrupt, "column " + column.spec.name + " of " +
                                                facts.id.value_or("") + " is of other sound");
      }
      continue;
    }
    std::string& text = fields["column " + column.spec.name];
    for (const std::uint32_t size : record->shape) text += std::to_string(size) + " ";
    text += digest128(record->bytes).to_hex();
  }
  return fields;
}

// Names the first differences between two tables.
class Differences {
 public:
  void compare(const std::string& what, const std::map<std::string, Fields>& expected,
               const std::map<std::string, Fields>& found) {
    for (const auto& [id, fields] : expected) {
      const auto other = found.find(id);
      if (other == found.end()) {
        say(what + " " + id + " is missing");
      } else {
        compare_fields(what + " " + id, fields, other->second);
      }
    }
    for (const auto& [id, fields] : found)
      if (!expected.contains(id)) say(what + " " + id + " should not be there");
  }
  [[nodiscard]] std::string text() const { return text_; }
  void say(const std::string& line) {
    if (++count_ <= kLinesMax) text_ += line + "\n";
  }

 private:
  void compare_fields(const std::string& what, const Fields& expected, const Fields& found) {
    Fields all = expected;
    all.insert(found.begin(), found.end());
    for (const auto& [name, unused] : all) {
      const auto a = expected.find(name);
      const auto b = found.find(name);
      const std::string wanted = a == expected.end() ? "nothing" : a->second;
      const std::string got = b == found.end() ? "nothing" : b->second;
      if (wanted != got) say(what + ", " + name + ": expected " + wanted + ", found " + got);
    }
  }

  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace

float added_value(const formats::RecordFacts& facts, std::string_view version) {
  const Digest sound = facts.pcm_digest.value_or(Digest{});
  const std::string text = sound.to_hex() + std::string(version);
  return static_cast<float>(text[3] * 65536 + text[17] * 256 + text.back());
}

Result<Snapshot> read_snapshot(reader::CacheView& view) {
  Snapshot snapshot;
  snapshot.manifest = view.manifest();
  for (std::uint64_t position = 0; position < view.size(); ++position) {
    XTTS_ASSIGN(const auto facts, view.details(position));
    const std::string id =
        (facts.dataset ? *facts.dataset + "/" : std::string()) + facts.id.value_or("");
    XTTS_ASSIGN(snapshot.clips[id], fields_of(view, position, facts));
  }
  XTTS_ASSIGN(const std::string lines, view.rejects_jsonl());
  XTTS_ASSIGN(const auto rejects, formats::decode_rejects(lines));
  for (const formats::Reject& reject : rejects)
    snapshot.rejects[reject.id + " in " + reject.path]["line"] = formats::encode_reject(reject);
  return snapshot;
}

Result<Snapshot> read_snapshot(Env& env, const std::string& cache) {
  XTTS_ASSIGN(const auto view, reader::CacheView::open(env, cache));
  return read_snapshot(*view);
}

std::string difference(const Snapshot& expected, const Snapshot& found) {
  Differences differences;
  differences.compare("clip", expected.clips, found.clips);
  differences.compare("reject", expected.rejects, found.rejects);
  return differences.text();
}

}  // namespace xtts::simulation
