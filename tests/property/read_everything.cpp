#include "read_everything.hpp"

#include "reader/cache_view.hpp"

namespace xtts::testing {
namespace {

template <typename Row>
std::string text_of(const Row& row) {
  std::string text;
  formats::append_row(row, text);
  return text;
}

std::string text_of(const formats::RecordFacts& facts) {
  std::string text;
  formats::append_facts(facts, text);
  return text;
}

std::string text_of(const formats::BlockFacts& facts) {
  return formats::encode_block_facts(facts);
}

std::string text_of(const reader::RecordData& record) {
  std::string text(to_string(record.dtype));
  for (const std::uint32_t axis : record.shape) text += " " + std::to_string(axis);
  text += " fill " + std::to_string(record.fill_bits) + " ";
  text.append(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
  return text;
}

std::string text_of(const std::optional<std::uint64_t>& position) {
  return position ? std::to_string(*position) : "no such clip";
}

std::string text_of(const std::vector<formats::TombstoneRow>& rows) {
  std::string text;
  for (const auto& row : rows) formats::append_row(row, text);
  return text;
}

std::string text_of(const std::string& text) {
  return text;
}

class Questions {
 public:
  explicit Questions(Answers& answers) : answers_(answers) {}

  template <typename Value>
  void add(std::string question, const Result<Value>& answer) {
    answers_.emplace(std::move(question),
                     answer.ok() ? Result<std::string>(text_of(*answer)) : answer.status());
  }

 private:
  Answers& answers_;
};

}  // namespace

Answers read_everything(Env& env, const std::string& cache,
                        const std::vector<std::string>& clip_ids) {
  Answers answers;
  const auto opened = reader::CacheView::open(env, cache);
  if (!opened) {
    answers.emplace("open", opened.status());
    return answers;
  }
  reader::CacheView& view = **opened;
  Questions ask(answers);
  answers.emplace("size", std::to_string(view.size()));
  ask.add("manifest", formats::encode_manifest(view.manifest()));
  ask.add("rejects", view.rejects_jsonl());
  ask.add("tombstones", view.tombstones());
  for (std::uint64_t position = 0; position < clip_ids.size(); ++position) {
    const std::string of = " of " + std::to_string(position);
    ask.add("plan row" + of, view.plan_row(position));
    ask.add("details" + of, view.details(position));
    ask.add("find" + of, view.find(clip_ids[position]));
    for (const auto& column : view.manifest().columns) {
      ask.add("location in " + column.spec.name + of, view.location(column.spec.id, position));
      ask.add(column.spec.name + of, view.read_record(column.spec.name, position));
    }
  }
  for (const auto& column : view.manifest().columns) {
    for (std::uint64_t row = 0; row < view.block_count(column.spec.id); ++row) {
      const std::string of = " " + std::to_string(row) + " of " + column.spec.name;
      ask.add("block" + of, view.block(column.spec.id, row));
      ask.add("facts of block" + of, view.block_facts(column.spec.id, row));
    }
  }
  return answers;
}

std::string first_falsehood(const Answers& truth, const Answers& answers) {
  for (const auto& [question, answer] : answers) {
    if (!answer.ok()) {
      const StatusCode code = answer.status().code();
      if (code == StatusCode::kCorrupt || code == StatusCode::kUnsupported) continue;
      return question + " was refused as " + std::string(to_string(code)) + ": " +
             answer.status().message();
    }
    const auto right = truth.find(question);
    if (right == truth.end() || *right->second != *answer) return question + " is wrong";
  }
  return {};
}

std::size_t refusal_count(const Answers& answers) {
  std::size_t count = 0;
  for (const auto& [question, answer] : answers) count += answer.ok() ? 0U : 1U;
  return count;
}

}  // namespace xtts::testing
