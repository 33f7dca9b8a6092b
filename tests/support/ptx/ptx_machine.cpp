#include "support/ptx/ptx_machine.hpp"

#include <algorithm>
#include <cstring>

#include "support/ptx/fault.hpp"

namespace xtts::testing::ptx {
namespace {

struct Register {
  std::uint64_t bits = 0;
  std::uint32_t set_by = 0;  // a thread's number
};

struct Thread {
  std::uint32_t number = 0;  // from 1, of the whole launch
  Register* registers = nullptr;
  std::size_t next = 0;  // the number of an instruction
  std::uint64_t steps = 0;
  const Instruction* barrier = nullptr;  // where it waits
};

std::size_t shared_words(const Kernel& kernel) {
  if (kernel.shared.empty()) return 0;
  const SharedVariable& last = kernel.shared.back();
  return (last.address + last.size_bytes - kSharedBegin + 7) / 8;
}

class Machine {
 public:
  Machine(const Kernel& kernel, const Launch& launch)
      : kernel_(kernel),
        launch_(launch),
        memory_(launch.memory),
        table_((launch.table.size() + 7) / 8),
        shared_words_(shared_words(kernel)),
        threads_(launch.block_x),
        // A thread that meets no barrier runs to its end before the next one begins.
        registers_(std::size_t{kernel.register_count} *
                   (kernel.has_barriers ? launch.block_x : 1)) {
    if (kernel.table_bytes != launch.table.size()) {
      throw Fault("its table has " + std::to_string(kernel.table_bytes) + " bytes, the launch's " +
                  std::to_string(launch.table.size()));
    }
    std::ranges::copy(launch.table, reinterpret_cast<std::byte*>(table_.data()));
  }

  void run() {
    for (std::uint32_t y = 0; y < launch_.grid_y; ++y) {
      for (std::uint32_t x = 0; x < launch_.grid_x; ++x) {
        run_block(x, y);
      }
    }
  }

 private:
  void run_block(std::uint32_t x, std::uint32_t y) {
    Memory shared(shared_ranges());
    shared_ = &shared;
    for (std::uint32_t i = 0; i < launch_.block_x; ++i) {
      begin_thread(i, x, y);
      run_to_barrier();
    }
    while (all_wait()) {
      shared.pass_barrier();
      for (Thread& thread : threads_) {
        thread_ = &thread;
        run_to_barrier();
      }
    }
  }

  void begin_thread(std::uint32_t i, std::uint32_t x, std::uint32_t y) {
    const std::size_t place = kernel_.has_barriers ? i : 0;
    threads_[i] = {.number = ++thread_count_,
                   .registers = registers_.data() + place * kernel_.register_count};
    thread_ = &threads_[i];
    set(kThreadX, i);
    set(kBlockSizeX, launch_.block_x);
    set(kBlockX, x);
    set(kBlockY, y);
    set(kGridSizeX, launch_.grid_x);
    set(kGridSizeY, launch_.grid_y);
    set(kTableAddress, table_address());
  }

  // True where the block goes on behind a barrier. Either all of its threads wait at the same one,
  // or all are over.
  bool all_wait() {
    for (Thread& thread : threads_) {
      if (thread.barrier == threads_[0].barrier) continue;
      thread_ = thread.barrier == nullptr ? threads_.data() : &thread;
      throw Fault(words(*thread_->barrier, Fault("not all threads of the block come here")));
    }
    return threads_[0].barrier != nullptr;
  }

  void run_to_barrier() {
    thread_->barrier = nullptr;
    while (thread_->next < kernel_.instructions.size()) {
      const Instruction& instruction = kernel_.instructions[thread_->next++];
      try {
        if (thread_->steps++ == launch_.steps_max) {
          throw Fault("does not end after " + std::to_string(launch_.steps_max) + " steps");
        }
        if (instruction.is_guarded &&
            (read(instruction.guard) & 1U) == (instruction.is_guard_negated ? 1U : 0U)) {
          continue;
        }
        if (instruction.step == Step::kReturn) return;
        if (instruction.step == Step::kBarrier) {
          thread_->barrier = &instruction;
          return;
        }
        if (instruction.step == Step::kBranch) {
          thread_->next = instruction.target;
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
      case Step::kLoadShared:
        return load(instruction);
      default:
        return store(instruction);
    }
  }

  [[nodiscard]] std::uint64_t compute(const Instruction& instruction) const {
    std::array<std::uint64_t, kArithmeticOperandsMax> operands{};
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
      const std::uint64_t bits =
          instruction.step == Step::kLoadParameter
              ? load_parameter(place, size_bytes)
              : memory_of(instruction).load(thread_->number, place, size_bytes);
      const bool is_signed = instruction.type.kind == Kind::kSigned;
      set(instruction.results[i], is_signed ? sign_extended(bits, size_bytes) : bits);
    }
  }

  void store(const Instruction& instruction) {
    const std::uint32_t size_bytes = instruction.type.size_bytes;
    const std::uint64_t begin = address(instruction);
    for (std::uint32_t i = 0; i < instruction.element_count; ++i) {
      memory_of(instruction)
          .store(thread_->number, begin + std::uint64_t{i} * size_bytes, size_bytes,
                 value(instruction.operands[i]));
    }
  }

  Memory& memory_of(const Instruction& instruction) {
    return is_shared(instruction) ? *shared_ : memory_;
  }

  static bool is_shared(const Instruction& instruction) {
    return instruction.step == Step::kLoadShared || instruction.step == Step::kStoreShared;
  }

  [[nodiscard]] std::vector<MemoryRange> shared_ranges() const {
    std::vector<MemoryRange> ranges;
    for (const SharedVariable& variable : kernel_.shared) {
      ranges.push_back({.name = variable.name,
                        .address = shared_on_host(variable.address),
                        .size_bytes = variable.size_bytes,
                        .use = MemoryRange::Use::kShared});
    }
    return ranges;
  }

  // Addresses of shared memory have 32 bits.
  [[nodiscard]] std::uint64_t shared_on_host(std::uint64_t address) const {
    return reinterpret_cast<std::uint64_t>(shared_words_.data()) - kSharedBegin +
           static_cast<std::uint32_t>(address);
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
    const std::uint64_t told = value(instruction.address) + instruction.offset;
    const std::uint64_t begin = is_shared(instruction) ? shared_on_host(told) : told;
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
    const Register& found = thread_->registers[number];
    if (found.set_by != thread_->number) throw Fault("reads a register that it has not set");
    return found.bits;
  }

  void set(std::uint32_t number, std::uint64_t bits) {
    thread_->registers[number] = {.bits = bits, .set_by = thread_->number};
  }

  [[nodiscard]] std::string words(const Instruction& instruction, const Fault& fault) const {
    return "line " + std::to_string(instruction.line) + ", '" + instruction.text + "', thread " +
           std::to_string(thread_->registers[kThreadX].bits) + " of block (" +
           std::to_string(thread_->registers[kBlockX].bits) + ", " +
           std::to_string(thread_->registers[kBlockY].bits) + "): " + fault.what();
  }

  const Kernel& kernel_;
  const Launch& launch_;
  Memory memory_;
  std::vector<std::uint64_t> table_;  // a copy, aligned
  std::vector<std::uint64_t> shared_words_;
  std::vector<Thread> threads_;  // of the block that runs
  std::vector<Register> registers_;
  Memory* shared_ = nullptr;  // of that block
  Thread* thread_ = nullptr;  // the one that runs
  std::uint32_t thread_count_ = 0;
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
