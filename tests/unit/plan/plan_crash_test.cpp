// A planner that is interrupted at every call that changes the file system, with and without loss
// of what was not synced. Afterwards there is no plan, or a whole one; the same call again makes
// the plan of an undisturbed one.
#include <gtest/gtest.h>

#include "../maintain/grown_cache.hpp"
#include "planned.hpp"
#include "support/fault_env.hpp"

namespace xtts::testing {
namespace {

struct Interruption {
  std::string name;
  bool power_is_cut = false;
  Aftermath aftermath = Aftermath::kIsACrash;
};

void PrintTo(const Interruption& interruption, std::ostream* out) {
  *out << interruption.name;
}

// All parts that plan.json tells of are there, as it tells them.
void expect_whole(MemoryEnv& env) {
  const auto plan = formats::decode_plan(env.contents(kPlan + "/plan.json"));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  for (const formats::PlanPart& part : plan->parts)
    EXPECT_EQ(digest128(env.contents(kPlan + "/" + part.file)), part.digest) << part.file;
}

class PlanInterrupted : public ::testing::TestWithParam<Interruption> {};

TEST_P(PlanInterrupted, AtEveryCallLeavesNoHalfPlan) {
  const auto request = plan_request(grown_request(), 3);
  auto other = plan_request(grown_request(), 2);
  other.overwrite = true;
  MemoryEnv undisturbed;
  add_grown_data(undisturbed);
  ASSERT_TRUE(plan::make_plan(undisturbed, request).ok());
  const Files expected = files_below(undisturbed, kPlan);

  std::uint64_t interrupted_count = 0;
  for (std::uint64_t call = 1; !::testing::Test::HasFailure(); ++call) {
    MemoryEnv memory;
    add_grown_data(memory);
    ASSERT_TRUE(plan::make_plan(memory, other).ok());  // an older plan that is replaced
    FaultEnv env(memory);
    env.set_fault(Fault{.at_call = call, .aftermath = GetParam().aftermath, .torn_share = 0.6});
    auto anew = request;
    anew.overwrite = true;
    const auto planned = plan::make_plan(env, anew);
    if (!env.fault_happened()) break;
    SCOPED_TRACE("call " + std::to_string(call) + ": " + env.failed_call());
    ++interrupted_count;
    EXPECT_TRUE(env.misuse().empty()) << env.misuse().front();
    if (GetParam().power_is_cut) memory.forget_unsynced();
    if (memory.exists(kPlan + "/plan.json")) expect_whole(memory);
    const auto again = plan::make_plan(memory, anew);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(difference(expected, files_below(memory, kPlan)), "");
  }
  EXPECT_GT(interrupted_count, 15U) << "a loop that ended early proves nothing";
}

INSTANTIATE_TEST_SUITE_P(Ways, PlanInterrupted,
                         ::testing::Values(Interruption{"Killed"}, Interruption{"LosesPower", true},
                                           Interruption{"FailsOnce", false, Aftermath::kGoesOn}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace xtts::testing
