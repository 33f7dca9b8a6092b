#include "support/ptx/machine.hpp"

#include <algorithm>
#include <cstring>

#include "support/ptx/fault.hpp"

namespace xtts::testing::ptx {
namespace {

struct Register {
  std::uint64_t bits = 0;
  std::uint32_t set_by = 0;  // a thread's number
};

class Machine {
 public:
  Machine(const Kernel& kernel, const Launch& launch)
      : kernel_(kernel),
        launch_(launch),
        memory_(launch.memory),
        table_((launch.table.size() + 7) / 8),
        registers_(kernel.register_count) {
    if (kernel.table_bytes != launch.table.size()) {
      throw Fault("its table has " + std::to_string(kernel.table_bytes) + " bytes, the launch's " +
                  std::to_string(launch.table.size()));
    }
    std::ranges::copy(launch.table, reinterpret_cast<std::byte*>(table_.data()));
  }

  void run() {
    for (std::uint32_t y = 0; y < launch_.grid_y; ++y) {
      for (std::uint32_t x = 0; x < launch_.grid_x; ++x) {
        for (std::uint32_t i = 0; i < launch_.block_x; ++i) {
          ++thread_;
          set(kThreadX, i);
          set(kBlockSizeX, launch_.block_x);
          set(kBlockX, x);
          set(kBlockY, y);
          set(kGridSizeX, launch_.grid_x);
          set(kGridSizeY, launch_.grid_y);
          set(kTableAddress, table_address());
          run_thread();
        }
      }
    }
  }

 private:
  void run_thread() {
    std::size_t next = 0;
    for (std::uint64_t steps = 0; next < kernel_.instructions.size(); ++steps) {
      const Instruction& instruction = kernel_.instructions[next++];
      try {
        if (steps == launch_.steps_max) {
          throw Fault("does not end after " + std::to_string(steps) + " steps");
        }
        if (instruction.is_guarded &&
            (read(instruction.guard) & 1U) == (instruction.is_guard_negated ? 1U : 0U)) {
          continue;
        }
        if (instruction.step == Step::kReturn) return;
        if (instruction.step == Step::kBranch) {
          next = instruction.target;
        } else {
          execute(instruction);
        }
      } catch (const Fault& fault) {
        throw Fault(words(instruction, fault));
      }
    }
    throw Fault("a thread runs over the kernel's last instruction");
  }

  void execute(const Instruction& instruction) {
    switch (instruction.step) {
      case Step::kCompute:
        return set(instruction.results[0], compute(instruction));
      case Step::kLoadParameter:
      case Step::kLoad:
        return load(instruction);
      default:
        return store(instruction);
    }
  }

  [[nodiscard]] std::uint64_t compute(const Instruction& instruction) const {
    std::array<std::uint64_t, 3> operands{};
    for (std::size_t i = 0; i < instruction.arithmetic->operand_count; ++i) {
      operands[i] = value(instruction.operands[i]);
    }
    return instruction.arithmetic->run(operands);
  }

  void load(const Instruction& instruction) {
    const std::uint32_t size_bytes = instruction.type.size_bytes;
    const std::uint64_t begin = address(instruction);
    for (std::uint32_t i = 0; i < instruction.element_count; ++i) {
      const std::uint64_t place = begin + std::uint64_t{i} * size_bytes;
      const std::uint64_t bits = instruction.step == Step::kLoad
                                     ? memory_.load(thread_, place, size_bytes)
                                     : load_parameter(place, size_bytes);
      const bool is_signed = instruction.type.kind == Kind::kSigned;
      set(instruction.results[i], is_signed ? sign_extended(bits, size_bytes) : bits);
    }
  }

  void store(const Instruction& instruction) {
    const std::uint32_t size_bytes = instruction.type.size_bytes;
    const std::uint64_t begin = address(instruction);
    for (std::uint32_t i = 0; i < instruction.element_count; ++i) {
      memory_.store(thread_, begin + std::uint64_t{i} * size_bytes, size_bytes,
                    value(instruction.operands[i]));
    }
  }

  [[nodiscard]] std::uint64_t load_parameter(std::uint64_t place, std::uint32_t size_bytes) const {
    const std::uint64_t offset = place - table_address();
    if (offset > launch_.table.size() || launch_.table.size() - offset < size_bytes) {
      throw Fault("reads " + std::to_string(size_bytes) + " bytes at byte " +
                  std::to_string(static_cast<std::int64_t>(offset)) + " of its table, which has " +
                  std::to_string(launch_.table.size()));
    }
    if (offset % size_bytes != 0) {
      throw Fault("reads " + std::to_string(size_bytes) + " bytes at byte " +
                  std::to_string(offset) + " of its table, which is no multiple of it");
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const char*>(table_.data()) + offset, size_bytes);
    return bits;
  }

  static std::uint64_t sign_extended(std::uint64_t bits, std::uint32_t size_bytes) {
    const std::uint32_t spare = 64 - 8 * size_bytes;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << spare) >> spare);
  }

  // The whole of a vector lies at a multiple of its size.
  [[nodiscard]] std::uint64_t address(const Instruction& instruction) const {
    const std::uint64_t begin = value(instruction.address) + instruction.offset;
    const std::uint64_t size_bytes =
        std::uint64_t{instruction.element_count} * instruction.type.size_bytes;
    const bool is_parameter = instruction.step == Step::kLoadParameter;
    const std::uint64_t from = is_parameter ? begin - table_address() : begin;
    if (instruction.element_count > 1 && from % size_bytes != 0) {
      throw Fault("uses a vector of " + std::to_string(size_bytes) +
                  " bytes at an address that is no multiple of it");
    }
    return begin;
  }

  [[nodiscard]] std::uint64_t table_address() const {
    return reinterpret_cast<std::uint64_t>(table_.data());
  }

  [[nodiscard]] std::uint64_t value(const Operand& operand) const {
    return operand.is_register ? read(operand.bits) : operand.bits;
  }

  [[nodiscard]] std::uint64_t read(std::uint64_t number) const {
    if (registers_[number].set_by != thread_) throw Fault("reads a register that it has not set");
    return registers_[number].bits;
  }

  void set(std::uint32_t number, std::uint64_t bits) {
    registers_[number] = {.bits = bits, .set_by = thread_};
  }

  [[nodiscard]] std::string words(const Instruction& instruction, const Fault& fault) const {
    return "line " + std::to_string(instruction.line) + ", '" + instruction.text + "', thread " +
           std::to_string(registers_[kThreadX].bits) + " of block (" +
           std::to_string(registers_[kBlockX].bits) + ", " +
           std::to_string(registers_[kBlockY].bits) + "): " + fault.what();
  }

  const Kernel& kernel_;
  const Launch& launch_;
  Memory memory_;
  std::vector<std::uint64_t> table_;  // a copy, aligned
  std::vector<Register> registers_;
  std::uint32_t thread_ = 0;  // from 1
};

}  // namespace

Status run(const Program& program, const Launch& launch) {
  const auto kernel = program.find(launch.kernel);
  if (kernel == program.end()) {
    return {StatusCode::kInternal, "the program has no kernel '" + launch.kernel + "'"};
  }
  try {
    Machine(kernel->second, launch).run();
  } catch (const Fault& fault) {
    return {StatusCode::kInternal, launch.kernel + ": " + fault.what()};
  }
  return {};
}

}  // namespace xtts::testing::ptx
