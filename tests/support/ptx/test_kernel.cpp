#include "support/ptx/test_kernel.hpp"

#include <gtest/gtest.h>

#include <span>

#include "support/ptx/parser.hpp"

namespace xtts::testing::ptx {
namespace {

// Fills the registers 1 to 3 of each type.
std::string loads() {
  std::string text;
  for (int i = 1; i <= 3; ++i) {
    const std::string place =
        std::to_string(i) + ", [test_param_0+" + std::to_string(8 * i) + "];\n";
    text += "ld.param.u16 %rs" + place + "ld.param.u32 %r" + place + "ld.param.u64 %rd" + place +
            "ld.param.f32 %f" + place + "ld.param.f64 %fd" + place;
    const std::string number = std::to_string(i);
    text += "setp.ne.b32 %p" + number + ", %r" + number + ", 0;\n";
  }
  return text;
}

// Stores the register 4 that the instruction sets.
std::string store_for(const std::string& instruction) {
  const auto sets = [&](const char* name) {
    return instruction.find(std::string(name) + "4,") != std::string::npos;
  };
  if (sets("%p")) return "selp.b64 %rd4, 1, 0, %p4;\nst.global.u64 [%rd0], %rd4;\n";
  if (sets("%rs")) return "st.global.u16 [%rd0], %rs4;\n";
  if (sets("%rd")) return "st.global.u64 [%rd0], %rd4;\n";
  if (sets("%r")) return "st.global.u32 [%rd0], %r4;\n";
  if (sets("%fd")) return "st.global.f64 [%rd0], %fd4;\n";
  return "st.global.f32 [%rd0], %f4;\n";
}

}  // namespace

std::string kernel_text(const std::string& body) {
  return ".version 9.0\n"
         ".target sm_75\n"
         ".address_size 64\n"
         ".visible .entry test(\n"
         "\t.param .align 8 .b8 test_param_0[64]\n"
         ")\n"
         "{\n"
         ".reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
         ".reg .f32 %f<9>;\n.reg .f64 %fd<9>;\n" +
         body + "ret;\n}\n";
}

Status run_body(const std::string& body, const Words& table, Launch launch) {
  const auto program = parse(kernel_text(body));
  if (!program.ok()) return program.status();
  launch.kernel = "test";
  launch.table = std::as_bytes(std::span(table));
  return run(*program, launch);
}

std::uint64_t result_of(const std::string& instruction, std::uint64_t a, std::uint64_t b,
                        std::uint64_t c) {
  std::uint64_t result = 0;
  const auto address = reinterpret_cast<std::uint64_t>(&result);
  Launch launch;
  launch.memory.push_back({.name = "result",
                           .address = address,
                           .size_bytes = sizeof result,
                           .use = MemoryRange::Use::kWrite});
  const Status status = run_body("ld.param.u64 %rd0, [test_param_0];\n" + loads() + instruction +
                                     "\n" + store_for(instruction),
                                 {address, a, b, c}, launch);
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}

}  // namespace xtts::testing::ptx
