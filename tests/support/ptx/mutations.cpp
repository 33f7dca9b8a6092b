#include "support/ptx/mutations.hpp"

#include <charconv>
#include <utility>

namespace xtts::testing::ptx {
namespace {

constexpr std::string_view kEntry = ".visible .entry ";

struct Swap {
  MutationKind kind;
  std::string_view from;
  std::string_view to;
};

// By an instruction's beginning. Several may fit.
constexpr Swap kSwaps[] = {
    {MutationKind::kArithmetic, "add.", "sub."},
    {MutationKind::kArithmetic, "sub.", "add."},
    {MutationKind::kArithmetic, "mul.rn.", "add.rn."},
    {MutationKind::kArithmetic, "div.rn.", "mul.rn."},
    {MutationKind::kArithmetic, "sqrt.rn.", "abs."},
    {MutationKind::kArithmetic, "and.", "or."},
    {MutationKind::kArithmetic, "or.", "and."},
    {MutationKind::kArithmetic, "shl.b64", "shr.b64"},
    {MutationKind::kArithmetic, "shr.s", "shr.u"},
    {MutationKind::kArithmetic, "cvt.rn.f32.f64", "cvt.rz.f32.f64"},
    {MutationKind::kArithmetic, "cvt.rn.f32.s32", "cvt.rn.f32.u32"},
    {MutationKind::kCondition, "setp.eq.", "setp.ne."},
    {MutationKind::kCondition, "setp.ne.", "setp.eq."},
    {MutationKind::kCondition, "setp.lt.", "setp.ge."},
    {MutationKind::kCondition, "setp.le.", "setp.gt."},
    {MutationKind::kCondition, "setp.gt.", "setp.le."},
    {MutationKind::kCondition, "setp.ge.", "setp.lt."},
    {MutationKind::kCondition, "setp.leu.", "setp.le."},
    {MutationKind::kCondition, "setp.gtu.", "setp.gt."},
    {MutationKind::kCondition, "@%", "@!%"},
    {MutationKind::kBoundary, "setp.lt.", "setp.le."},
    {MutationKind::kBoundary, "setp.le.", "setp.lt."},
    {MutationKind::kBoundary, "setp.gt.", "setp.ge."},
    {MutationKind::kBoundary, "setp.ge.", "setp.gt."},
};

// A kernel's lines within those of the whole text.
struct Lines {
  std::vector<std::string_view> lines = {};
  std::uint32_t first = 0;
};

std::string_view without_indent(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

std::vector<Lines> kernels_of(std::string_view text) {
  std::vector<Lines> kernels;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with(kEntry)) kernels.push_back({.first = number});
    if (!kernels.empty()) kernels.back().lines.push_back(line);
  }
  return kernels;
}

std::string name_of(const Lines& kernel) {
  const std::string_view name = kernel.lines[0].substr(kEntry.size());
  return std::string(name.substr(0, name.find('(')));
}

class Mutator {
 public:
  explicit Mutator(const Lines& kernel) : kernel_(kernel), name_(name_of(kernel)) {}

  void add_all(std::vector<Mutation>& mutations) const {
    for (std::size_t i = 0; i < kernel_.lines.size(); ++i) {
      const std::string_view line = without_indent(kernel_.lines[i]);
      for (const Swap& swap : kSwaps) {
        if (!line.starts_with(swap.from)) continue;
        std::string after = std::string(swap.to) + std::string(line.substr(swap.from.size()));
        mutations.push_back(make(swap.kind, i, std::move(after)));
      }
      if (line.starts_with("ld.param.")) add_offset(i, line, mutations);
    }
  }

 private:
  void add_offset(std::size_t i, std::string_view line, std::vector<Mutation>& mutations) const {
    const std::size_t plus = line.find('+');
    if (plus == std::string_view::npos) return;
    std::int64_t offset = 0;  // "+-8" is one, too
    const char* const digits = line.data() + plus + 1;
    const char* const end = line.data() + line.size();
    const char* const behind = std::from_chars(digits, end, offset).ptr;
    mutations.push_back(make(MutationKind::kTable, i,
                             std::string(line.substr(0, plus + 1)) + std::to_string(offset + 8) +
                                 std::string(behind, end)));
  }

  [[nodiscard]] Mutation make(MutationKind kind, std::size_t changed, std::string after) const {
    Mutation made{.kind = kind,
                  .kernel = name_,
                  .line = kernel_.first + static_cast<std::uint32_t>(changed),
                  .before = std::string(without_indent(kernel_.lines[changed])),
                  .after = std::move(after)};
    for (std::size_t i = 0; i < kernel_.lines.size(); ++i) {
      made.program += i == changed ? std::string_view(made.after) : kernel_.lines[i];
      made.program += '\n';
    }
    return made;
  }

  const Lines& kernel_;
  std::string name_;
};

// The least shares that a test notices. Of what toolkit 13 makes, the tests notice some points
// more.
constexpr std::pair<MutationKind, double> kSharesMin[] = {{MutationKind::kArithmetic, 0.9},
                                                          {MutationKind::kCondition, 0.9},
                                                          {MutationKind::kBoundary, 0.4},
                                                          {MutationKind::kTable, 1.0}};

}  // namespace

void MutationCount::add(const Mutation& mutation, bool is_noticed) {
  Count& count = counts_[mutation.kind];
  ++count.made;
  if (!is_noticed) count.missed.push_back(mutation);
}

std::string MutationCount::shortfall() const {
  std::string text;
  for (const auto& [kind, share_min] : kSharesMin) {
    const auto found = counts_.find(kind);
    if (found == counts_.end()) {
      text += "no mutation of kind " + std::to_string(static_cast<int>(kind)) + "\n";
      continue;
    }
    const Count& count = found->second;
    const auto noticed = static_cast<double>(count.made - count.missed.size());
    if (noticed >= share_min * static_cast<double>(count.made)) continue;
    text += std::to_string(count.missed.size()) + " of " + std::to_string(count.made) +
            " mutations were not noticed:\n";
    for (const Mutation& mutation : count.missed) {
      text += mutation.kernel + ", line " + std::to_string(mutation.line) + ": " + mutation.before +
              " -> " + mutation.after + "\n";
    }
  }
  return text;
}

std::vector<Mutation> mutations_of(std::string_view text) {
  std::vector<Mutation> mutations;
  for (const Lines& kernel : kernels_of(text)) Mutator(kernel).add_all(mutations);
  return mutations;
}

}  // namespace xtts::testing::ptx
