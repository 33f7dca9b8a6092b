#include "plan/part_writer.hpp"

#include <string_view>

#include "base/try.hpp"
#include "store/durable.hpp"

namespace xtts::plan {

Result<std::unique_ptr<PartWriter>> PartWriter::create(Env& env, const std::string& folder,
                                                       const formats::PartHead& head) {
  XTTS_ASSIGN(auto file,
              store::create_file(env, join_path(folder, formats::part_file_name(head.index))));
  auto writer = std::unique_ptr<PartWriter>(new PartWriter(std::move(file), head));
  XTTS_TRY(writer->append(formats::encode_part_head(head)));
  return writer;
}

Status PartWriter::add(const corpus::Clip& clip, const pipeline::RowNumbers& numbers) {
  rows_.append(clip, numbers, waiting_);
  return write_whole_chunks();
}

Status PartWriter::add(const formats::Reject& reject) {
  pipeline::PartRowWriter::append(reject, waiting_);
  return write_whole_chunks();
}

Result<formats::PlanPart> PartWriter::finish() {
  if (!waiting_.empty()) XTTS_TRY(append(formats::encode_part_chunk(chunk_count_, waiting_)));
  XTTS_TRY(file_->sync());
  XTTS_TRY(file_->close());
  return formats::PlanPart{.file = formats::part_file_name(head_.index),
                           .file_bytes = file_bytes_,
                           .digest = hasher_.finish(),
                           .clip_count = head_.clip_count,
                           .reject_count = head_.reject_count};
}

Status PartWriter::append(std::string_view bytes) {
  hasher_.update(as_bytes(bytes));
  file_bytes_ += bytes.size();
  return file_->append(as_bytes(bytes));
}

Status PartWriter::write_whole_chunks() {
  std::size_t begin = 0;
  for (; waiting_.size() - begin >= formats::kPartPayloadBytes;
       begin += formats::kPartPayloadBytes) {
    const auto payload = std::string_view(waiting_).substr(begin, formats::kPartPayloadBytes);
    XTTS_TRY(append(formats::encode_part_chunk(chunk_count_++, payload)));
  }
  waiting_.erase(0, begin);
  return {};
}

}  // namespace xtts::plan
