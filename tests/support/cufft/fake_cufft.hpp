// The control of the libcufft.so.12 for tests. Any number of threads.
#pragma once

#include <cstdint>
#include <string>

#define XTTS_FAKE_CUFFT_API __attribute__((visibility("default")))

namespace xtts::testing::fake_cufft {

// Forgets plans, counts, ordered failures and the noise.
XTTS_FAKE_CUFFT_API void reset();
// The nth call of this name ("cufftPlanMany"), counted from 1 since reset(), returns `code`.
XTTS_FAKE_CUFFT_API void fail(const std::string& name, std::uint64_t nth, int code);
[[nodiscard]] XTTS_FAKE_CUFFT_API std::uint64_t call_count(const std::string& name);
// Adds noise to all transforms from now on: at most `share` of the root mean square of a
// transform's numbers to each of them. Another FFT library rounds in another way.
XTTS_FAKE_CUFFT_API void set_noise(double share);
// Plans that were made and not destroyed.
[[nodiscard]] XTTS_FAKE_CUFFT_API std::uint64_t plan_count();

}  // namespace xtts::testing::fake_cufft
