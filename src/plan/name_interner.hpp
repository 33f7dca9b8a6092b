// NameInterner: numbers for the names that rows tell of, as they come. One thread at a time.
// Memory: each name twice or so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/shared_text.hpp"
#include "corpus/clips/clip.hpp"
#include "pipeline/part_row.hpp"

namespace xtts::plan {

class NameInterner {
 public:
  NameInterner() { (void)number_of(datasets_, names_.datasets, SharedText()); }

  // The numbers that PartRowWriter takes.
  [[nodiscard]] pipeline::RowNumbers of(const corpus::Clip& clip) {
    return {.dataset = number_of(datasets_, names_.datasets, clip.dataset),
            .speaker = number_or_none(speakers_, names_.speakers, clip.speaker),
            .language = number_or_none(languages_, names_.languages, clip.language)};
  }
  [[nodiscard]] const pipeline::RowNames& names() const { return names_; }

 private:
  using Numbers = std::unordered_map<std::string_view, std::uint64_t>;  // views of the names

  static std::uint64_t number_of(Numbers& numbers, std::vector<SharedText>& names,
                                 const SharedText& name) {
    const auto known = numbers.find(name);
    if (known != numbers.end()) return known->second;
    names.push_back(name);
    return numbers.emplace(names.back().view(), names.size() - 1).first->second;
  }
  static std::uint64_t number_or_none(Numbers& numbers, std::vector<SharedText>& names,
                                      const SharedText& name) {
    return name.empty() ? 0 : number_of(numbers, names, name) + 1;
  }

  pipeline::RowNames names_;
  Numbers datasets_, speakers_, languages_;
};

}  // namespace xtts::plan
