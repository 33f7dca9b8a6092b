// Runs code where the kernel refuses a system call, as the seccomp filters of containers make it.
// The filter holds for the rest of a thread's life, so the code gets a thread of its own.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <thread>

namespace xtts::testing {

// Returns false where the system takes no filter from us.
[[nodiscard]] inline bool forbid_system_call(long number) {
  const std::array<sock_filter, 4> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           const_cast<sock_filter*>(filter.data())};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Runs `call` while this system call is refused with EPERM. Returns false where it could not be
// forbidden.
[[nodiscard]] inline bool run_without_system_call(long number, const std::function<void()>& call) {
  bool is_forbidden = false;
  std::thread thread([&] {
    is_forbidden = forbid_system_call(number);
    if (is_forbidden) call();
  });
  thread.join();
  return is_forbidden;
}

}  // namespace xtts::testing
