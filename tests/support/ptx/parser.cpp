#include "support/ptx/parser.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "support/ptx/fault.hpp"
#include "support/ptx/scope.hpp"

namespace xtts::testing::ptx {
namespace {

constexpr std::string_view kSpaces = " \t\r";
constexpr Type kAddress = {Kind::kUnsigned, 8};
constexpr Type kSharedAddress = {Kind::kUnsigned, 4};  // registers may be larger
constexpr Type kPredicateType = {Kind::kPredicate, 1};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

// The text before `separator`, and what follows it.
std::pair<std::string_view, std::string_view> cut(std::string_view text,
                                                  std::string_view separators) {
  const std::size_t at = text.find_first_of(separators);
  if (at == std::string_view::npos) return {trimmed(text), {}};
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 1))};
}

// "%r1, {%r2, %r3}, [%rd1+8]": the operands with their brackets.
std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    std::size_t end = text.find(',');
    if (text.front() == '{') end = text.find(',', std::min(text.find('}'), text.size()));
    parts.push_back(trimmed(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : trimmed(text.substr(end + 1));
    if (text.empty() && end != std::string_view::npos) throw Fault("an operand is missing");
  }
  return parts;
}

std::string_view inside(std::string_view text, char open, char close) {
  if (text.size() < 2 || text.front() != open || text.back() != close) {
    throw Fault(std::string("no ") + open + "..." + close + ": '" + std::string(text) + "'");
  }
  return trimmed(text.substr(1, text.size() - 2));
}

// Returns the type that loads and stores move.
Type memory_type(std::string_view name) {
  static const std::map<std::string_view, Type> types = {
      {"u8", {Kind::kUnsigned, 1}},  {"u16", {Kind::kUnsigned, 2}}, {"u32", {Kind::kUnsigned, 4}},
      {"u64", {Kind::kUnsigned, 8}}, {"b8", {Kind::kUnsigned, 1}},  {"b16", {Kind::kUnsigned, 2}},
      {"b32", {Kind::kUnsigned, 4}}, {"b64", {Kind::kUnsigned, 8}}, {"s8", {Kind::kSigned, 1}},
      {"s16", {Kind::kSigned, 2}},   {"s32", {Kind::kSigned, 4}},   {"s64", {Kind::kSigned, 8}},
      {"f32", {Kind::kFloat, 4}},    {"f64", {Kind::kFloat, 8}}};
  const auto found = types.find(name);
  if (found == types.end()) throw Fault("unknown instruction");
  return found->second;
}

// A body's lines, to one kernel.
class KernelParser {
 public:
  explicit KernelParser(std::string_view name) : scope_(name) { kernel_.name = name; }

  // ".param .align 8 .b8 NAME_param_0[336]"
  void read_parameter(std::string_view line) {
    const std::string_view begin = ".param .align 8 .b8 ";
    const auto [name, rest] = cut(line.substr(std::min(begin.size(), line.size())), "[");
    if (!line.starts_with(begin) || name != scope_.table_name() || !rest.ends_with(']')) {
      throw Fault("a parameter that is no table, or a second one");
    }
    const Operand size = scope_.operand(rest.substr(0, rest.size() - 1), kAddress, Fit::kExact);
    if (size.is_register) throw Fault("a table without a size");
    kernel_.table_bytes = size.bits;
  }

  void read_line(std::string_view line, std::uint32_t number) {
    if (line.ends_with(':')) {
      scope_.declare_label(line.substr(0, line.size() - 1), instruction_count());
    } else if (!line.ends_with(';')) {
      throw Fault("a line that does not end with ';'");
    } else if (line.starts_with('.')) {
      read_directive(trimmed(line.substr(0, line.size() - 1)));
    } else {
      read_instruction(line, number);
    }
  }

  // Labels may come behind their branches, so these are resolved at the end.
  Kernel finish() {
    for (const auto& [instruction, label] : branches_) {
      kernel_.instructions[instruction].target = scope_.label(label);
    }
    kernel_.register_count = scope_.register_count();
    kernel_.shared = scope_.shared();
    return std::move(kernel_);
  }

 private:
  [[nodiscard]] std::uint32_t instruction_count() const {
    return static_cast<std::uint32_t>(kernel_.instructions.size());
  }

  void read_directive(std::string_view line) {
    const auto [name, rest] = cut(line, kSpaces);
    if (name == ".reg") {
      const auto [type, names] = cut(rest, kSpaces);
      return scope_.declare_registers(type, names);
    }
    if (name == ".shared") return scope_.declare_shared(rest);
    // Advice for the compiler that follows.
    const bool is_advice =
        rest.starts_with("\"nounroll\"") || rest.starts_with("\"used_bytes_mask ");
    if (name != ".pragma" || !is_advice) throw Fault("unknown directive");
  }

  void read_instruction(std::string_view line, std::uint32_t number) {
    Instruction made;
    made.line = number;
    made.text = line;
    std::string_view rest = line.substr(0, line.size() - 1);
    if (rest.starts_with('@')) {
      const auto [guard, behind] = cut(rest.substr(1), kSpaces);
      made.is_guarded = true;
      made.is_guard_negated = guard.starts_with('!');
      made.guard =
          scope_.result(guard.substr(made.is_guard_negated ? 1 : 0), kPredicateType, Fit::kExact);
      rest = behind;
    }
    const auto [name, operands] = cut(rest, kSpaces);
    read_operation(name, split_operands(operands), made);
    kernel_.instructions.push_back(std::move(made));
  }

  void read_operation(std::string_view name, const std::vector<std::string_view>& operands,
                      Instruction& made) {
    if (name == "ret") {
      check_count(operands, 0);
      made.step = Step::kReturn;
    } else if (name == "bar.sync" || name == "barrier.sync") {
      check_count(operands, 1);
      if (operands[0] != "0") throw Fault("unknown barrier");
      made.step = Step::kBarrier;
      kernel_.has_barriers = true;
    } else if (name == "bra" || name == "bra.uni") {
      check_count(operands, 1);
      made.step = Step::kBranch;
      branches_.emplace_back(instruction_count(), operands[0]);
    } else if (const Arithmetic* const arithmetic = find_arithmetic(name)) {
      read_arithmetic(*arithmetic, operands, made);
    } else {
      read_memory_use(name, operands, made);
    }
  }

  void read_arithmetic(const Arithmetic& arithmetic, const std::vector<std::string_view>& operands,
                       Instruction& made) {
    check_count(operands, 1 + arithmetic.operand_count);
    made.step = Step::kCompute;
    made.arithmetic = &arithmetic;
    const Fit fit = arithmetic.fits_larger_registers ? Fit::kOrLarger : Fit::kExact;
    made.results[0] = scope_.result(operands[0], arithmetic.result, fit);
    for (std::size_t i = 0; i < arithmetic.operand_count; ++i) {
      made.operands[i] = scope_.operand(operands[i + 1], arithmetic.operands[i], fit);
    }
  }

  // "ld.param.v2.u32", "ld.global.f32", "st.global.u8"
  void read_memory_use(std::string_view name, const std::vector<std::string_view>& operands,
                       Instruction& made) {
    static constexpr std::pair<std::string_view, Step> kSpaceOf[] = {
        {"ld.param.", Step::kLoadParameter},
        {"ld.global.", Step::kLoad},
        {"st.global.", Step::kStore},
        {"ld.shared.", Step::kLoadShared},
        {"st.shared.", Step::kStoreShared}};
    const auto* const use = std::ranges::find_if(
        kSpaceOf, [&](const auto& known) { return name.starts_with(known.first); });
    if (use == std::end(kSpaceOf)) throw Fault("unknown instruction");
    made.step = use->second;
    name.remove_prefix(use->first.size());
    if (name.starts_with("v2.")) made.element_count = 2;
    if (name.starts_with("v4.")) made.element_count = 4;
    if (made.element_count > 1) name.remove_prefix(3);
    made.type = memory_type(name);
    check_count(operands, 2);
    const bool is_store = is_store_step(made.step);
    read_address(operands[is_store ? 0 : 1], made);
    read_elements(operands[is_store ? 1 : 0], made);
  }

  void read_elements(std::string_view text, Instruction& made) {
    std::vector<std::string_view> elements = {text};
    if (made.element_count > 1) elements = split_operands(inside(text, '{', '}'));
    check_count(elements, made.element_count);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (is_store_step(made.step)) {
        made.operands[i] = scope_.operand(elements[i], made.type, Fit::kOrLarger);
      } else {
        made.results[i] = scope_.result(elements[i], made.type, Fit::kOrLarger);
      }
    }
  }

  // "[%rd1]", "[%rd1+8]", "[%rd1+-8]", of shared memory also "[%r1]" and "[NAME+8]"
  void read_address(std::string_view text, Instruction& made) {
    const auto [base, offset] = cut(inside(text, '[', ']'), "+");
    const bool is_shared = made.step == Step::kLoadShared || made.step == Step::kStoreShared;
    made.address = is_shared ? scope_.operand(base, kSharedAddress, Fit::kOrLarger)
                             : scope_.operand(base, kAddress, Fit::kExact);
    if (!offset.empty()) {
      const Operand constant = scope_.operand(offset, kAddress, Fit::kExact);
      if (constant.is_register) throw Fault("an offset that is no number");
      made.offset = constant.bits;
    }
  }

  static bool is_store_step(Step step) {
    return step == Step::kStore || step == Step::kStoreShared;
  }

  static void check_count(const std::vector<std::string_view>& operands, std::size_t count) {
    if (operands.size() == count) return;
    throw Fault(std::to_string(operands.size()) + " operands, not " + std::to_string(count));
  }

  Scope scope_;
  Kernel kernel_;
  std::vector<std::pair<std::uint32_t, std::string>> branches_;
};

// The lines around the kernels.
class ProgramParser {
 public:
  void read_line(std::string_view line, std::uint32_t number) {
    switch (place_) {
      case Place::kOutside:
        return read_outside(line);
      case Place::kParameters:
        if (line == ")") {
          place_ = Place::kBeforeBody;
        } else {
          kernel_->read_parameter(line);
        }
        return;
      case Place::kBeforeBody:
        if (line != "{") throw Fault("no '{' behind a kernel's parameters");
        place_ = Place::kBody;
        return;
      case Place::kBody:
        if (line != "}") return kernel_->read_line(line, number);
        Kernel made = kernel_->finish();
        std::string name = made.name;
        if (!program_.emplace(std::move(name), std::move(made)).second) {
          throw Fault("a second kernel of the same name");
        }
        place_ = Place::kOutside;
    }
  }

  Program finish() {
    if (place_ != Place::kOutside) throw Fault("the text ends within a kernel");
    return std::move(program_);
  }

 private:
  enum class Place : std::uint8_t { kOutside, kParameters, kBeforeBody, kBody };

  void read_outside(std::string_view line) {
    const std::string_view entry = ".visible .entry ";
    if (line.starts_with(entry) && line.ends_with('(')) {
      kernel_.emplace(trimmed(line.substr(entry.size(), line.size() - entry.size() - 1)));
      place_ = Place::kParameters;
      return;
    }
    const bool is_known = line.starts_with(".version ") || line.starts_with(".target sm_") ||
                          line == ".address_size 64";
    if (!is_known) throw Fault("unknown directive");
  }

  Place place_ = Place::kOutside;
  std::optional<KernelParser> kernel_;
  Program program_;
};

}  // namespace

Result<Program> parse(std::string_view text) {
  ProgramParser parser;
  std::uint32_t number = 0;
  std::string_view line;
  try {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      line = text.substr(0, end);
      line = trimmed(line.substr(0, line.find("//")));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++number;
      if (!line.empty()) parser.read_line(line, number);
    }
    return parser.finish();
  } catch (const Fault& fault) {
    return Status(StatusCode::kUnsupported, "line " + std::to_string(number) + ", '" +
                                                std::string(line) + "': " + fault.what());
  }
}

}  // namespace xtts::testing::ptx
