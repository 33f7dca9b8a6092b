// Scope: the names of one kernel, and what its operands stand for. One thread at a time. A name
// that is unknown, or of the wrong size, throws a Fault.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/ptx/ptx_program.hpp"

namespace xtts::testing::ptx {

// How large a register may be for an instruction's type.
enum class Fit : std::uint8_t { kExact, kOrLarger };

class Scope {
 public:
  explicit Scope(std::string_view kernel_name);

  // ".b32 %r<11>": %r0 to %r10.
  void declare_registers(std::string_view type, std::string_view names);
  void declare_label(std::string_view name, std::uint32_t instruction);
  // ".align 8 .b8 NAME[4096]"
  void declare_shared(std::string_view declaration);

  [[nodiscard]] std::uint32_t register_count() const { return register_count_; }
  [[nodiscard]] std::string_view table_name() const { return table_name_; }
  [[nodiscard]] const std::vector<SharedVariable>& shared() const { return shared_; }
  // A register, a special one, the address of the table or of a shared variable, or a constant.
  [[nodiscard]] Operand operand(std::string_view text, Type type, Fit fit) const;
  // The number of a register that an instruction sets.
  [[nodiscard]] std::uint32_t result(std::string_view text, Type type, Fit fit) const;
  [[nodiscard]] std::uint32_t label(std::string_view name) const;

 private:
  struct Name {
    std::uint32_t number = 0;
    std::uint32_t size_bytes = 0;
    bool is_predicate = false;
    bool is_special = false;
  };
  [[nodiscard]] const Name& find(std::string_view text, Type type, Fit fit) const;

  std::string table_name_;
  std::map<std::string, Name, std::less<>> names_;
  std::map<std::string, std::uint32_t, std::less<>> labels_;
  std::vector<SharedVariable> shared_;
  std::uint32_t register_count_ = kSpecialCount;
};

}  // namespace xtts::testing::ptx
