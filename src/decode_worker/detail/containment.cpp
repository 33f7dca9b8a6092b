#include "decode_worker/detail/containment.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system_call.hpp"

namespace xtts::decode_worker::detail {
namespace {

#if defined(__x86_64__)
#define XTTS_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define XTTS_AUDIT_ARCH AUDIT_ARCH_AARCH64
#endif

#if defined(XTTS_AUDIT_ARCH)

// The calls that decoding needs: for memory, time, the present socket, and the exit. None of them
// makes a descriptor.
constexpr auto kAllowedCalls = std::to_array<std::uint32_t>({
    SYS_brk,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_futex,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_recvfrom,
    SYS_sendto,
    SYS_close,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigreturn,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_restart_syscall,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getrandom,
    SYS_sysinfo,
    SYS_getrusage,
});

// A classic BPF program over seccomp_data.
class CallFilter {
 public:
  CallFilter() {
    load(offsetof(seccomp_data, arch));
    skip_unless(XTTS_AUDIT_ARCH, 1);
    jump_over(1);
    refuse();
    load(offsetof(seccomp_data, nr));
  }
  void allow(std::uint32_t call) {
    skip_unless(call, 1);
    permit();
  }
  // Allows the call only with this first argument.
  void allow(std::uint32_t call, std::uint32_t first_argument) {
    skip_unless(call, 4);
    load(offsetof(seccomp_data, args));  // the lower half: both machines are little-endian
    skip_unless(first_argument, 1);
    permit();
    refuse();
  }
  // Allows the call only if the bits of `mask` in this argument are `value`.
  void allow_masked(std::uint32_t call, std::size_t argument, std::uint32_t mask,
                    std::uint32_t value) {
    skip_unless(call, 5);
    load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
    add(BPF_ALU | BPF_AND | BPF_K, mask);
    skip_unless(value, 1);
    permit();
    refuse();
  }
  // Returns true if the kernel has accepted the filter.
  bool install() {
    refuse();
    sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    // SPEC_ALLOW: otherwise older kernels slow a filtered process down against speculation.
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                     &program) == 0;
  }

 private:
  void add(int code, std::uint32_t value, std::uint8_t if_not = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), 0, if_not, value});
  }
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  void skip_unless(std::uint32_t value, std::uint8_t count) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, count);
  }
  void jump_over(std::uint32_t count) { add(BPF_JMP | BPF_JA, count); }
  void permit() { add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  void refuse() { add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM); }

  std::vector<sock_filter> code_;
};

void filter_calls() {
  CallFilter filter;
  for (const std::uint32_t call : kAllowedCalls) filter.allow(call);
  filter.allow(SYS_tgkill, static_cast<std::uint32_t>(::getpid()));  // abort()
  filter.allow(SYS_write, STDERR_FILENO);                            // its last messages
  filter.allow(SYS_writev, STDERR_FILENO);
  // Allows private memory only: RLIMIT_DATA does not count memory that could be shared.
  constexpr std::size_t kFlags = 3;
  filter.allow_masked(SYS_mmap, kFlags, MAP_TYPE, MAP_PRIVATE);
  (void)filter.install();  // if the kernel refuses it, the other limits hold
}

#else

void filter_calls() {}

#endif

// A lower limit from before stays: root could raise it.
void limit(auto resource, std::uint64_t value) {
  rlimit before{};
  if (::getrlimit(resource, &before) != 0) return;
  const rlim_t lowest = std::min({before.rlim_cur, before.rlim_max, static_cast<rlim_t>(value)});
  const rlimit both{lowest, lowest};
  (void)::setrlimit(resource, &both);
}

// The address space of this process; nothing if the system does not tell.
std::optional<std::uint64_t> address_space_bytes() {
  const std::string text = read_kernel_text("/proc/self/statm");
  std::uint64_t pages = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), pages);
  if (parsed.ec != std::errc()) return std::nullopt;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

pid_t parent = 0;

extern "C" void on_tick(int) {
  if (::getppid() != parent) ::_exit(1);
}

// PR_SET_PDEATHSIG would not do: it comes when the parent's *thread* ends that started the worker.
void watch_the_parent() {
  parent = ::getppid();
  struct sigaction action {};
  action.sa_handler = on_tick;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  (void)::sigaction(SIGALRM, &action, nullptr);
  const itimerval each_second{{1, 0}, {1, 0}};
  (void)::setitimer(ITIMER_REAL, &each_second, nullptr);
}

// If memory runs out, the system shall end the worker rather than the run.
void offer_to_the_oom_killer() {
  constexpr std::string_view kScore = "500";
  const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  [[maybe_unused]] const auto written = ::write(file.get(), kScore.data(), kScore.size());
}

void silence(int descriptor, int flags) {
  const int null = ::open("/dev/null", flags | O_CLOEXEC);
  if (null < 0) return;
  (void)::dup2(null, descriptor);
  if (null != descriptor) ::close(null);
}

}  // namespace

void detach_from_parent(int descriptor_max) {
#if defined(SYS_close_range)
  (void)::syscall(SYS_close_range, static_cast<unsigned>(descriptor_max) + 1U,
                  std::numeric_limits<unsigned>::max(), 0U);
#else
  (void)descriptor_max;
#endif
  silence(STDIN_FILENO, O_RDONLY);
  silence(STDOUT_FILENO, O_WRONLY);
  if (!kIsSanitized) silence(STDERR_FILENO, O_WRONLY);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  watch_the_parent();
  offer_to_the_oom_killer();
}

void confine(std::uint64_t memory_bytes) {
  limit(RLIMIT_CORE, 0);
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (kIsSanitized) return;
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // a core_pattern with a pipe heeds no RLIMIT_CORE
  limit(RLIMIT_DATA, memory_bytes);
  // All other mappings, stack and shared memory included, count as address space.
  if (const auto held = address_space_bytes()) limit(RLIMIT_AS, *held + memory_bytes);
  filter_calls();
}

}  // namespace xtts::decode_worker::detail
