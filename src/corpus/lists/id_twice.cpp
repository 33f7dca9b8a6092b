#include "corpus/lists/id_twice.hpp"

#include "base/formatted.hpp"
#include "corpus/files/names.hpp"
#include "formats/rules.hpp"

namespace xtts::corpus {

Reject reject_of_id_twice(std::string_view id, const ClipPlace& place, const ClipPlace& first,
                          std::string_view source_of_first) {
  const bool is_in_other_split = first.split_of_list != place.split_of_list;
  const std::string where = first.line == 0
                                ? printable(source_of_first)
                                : formatted("line {} of {}", first.line, printable(first.list));
  Reject reject{.kind = RejectClass::kInput,
                .id = printable(id.substr(0, kIdBytesMax)),
                .path = printable(place.file.empty() ? place.list : place.file),
                .line = {},
                .reason = {.rule = formats::Rule::kIdTwice,
                           .detail = formatted(
                               "the same id is in {}, which is used{}", where,
                               is_in_other_split ? "; a clip can be in one split only" : "")}};
  if (place.file.empty()) reject.line = place.line;
  return reject;
}

}  // namespace xtts::corpus
