// hdd_model FOLDER MOUNTPOINT [--rate MB/s] [--seek ms] [--memory MiB] [--read-ahead KiB]
//           [--hold 0] [--trace 1]
// Shows FOLDER, read-only, as if it lay on a rotating disk: a FUSE file system with one head.
//
// The disk. Files are laid end to end in the order of their paths. Requests are served one at a
// time, in the order of their arrival. One that does not begin where the last one ended costs a
// seek (10 ms, however far), and every byte its share of the rate (150 MB/s = 150,000,000 bytes).
// There is no cache in the disk, no short seek, no sorting of what waits: the kernel's elevator and
// the disk's own queue would be kinder to scattered reads that are announced many at a time.
// Looking up, listing and opening cost nothing.
//
// Time is a clock of the model's own: a request begins when it arrives or when the disk is free,
// whichever is later, and is answered when it ends. The thread sleeps until then, and what it
// oversleeps is not lost, as long as requests wait. So a processor that is shared costs a
// sequential stream nothing, and the model takes none.
//
// Above it stands the kernel's page cache, as over every file system, with its read-ahead (128 KiB,
// what a disk has unless somebody sets it; --read-ahead sets it, as root). A second process locks
// every page there as it is read, so that none is lost to what else the machine does (virtual
// machines exist that take pages away which nobody has looked at for a few seconds); --hold 0
// leaves that out. With --memory the page cache forgets, first in first out, what was read more
// than so many MiB ago: a machine with little memory, the same on every run.
//
// Prints what was asked of the disk since the last time, as one line of JSON on stderr, at SIGUSR1
// and when it is unmounted (SIGTERM, or fusermount3 -u). With --trace 1, one of every request, too.
#define FUSE_USE_VERSION 314
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kForeverS = 1e9;  // the folder does not change while it is shown
constexpr unsigned kRequestBytesMax = 1U << 20U;
constexpr unsigned kRequestsWaitingMax = 256;

struct Options {
  std::string folder;
  std::string mountpoint;
  double bytes_per_s = 150e6;
  double seek_s = 0.010;
  std::uint64_t memory_bytes = 0;  // 0: as much as the machine has
  unsigned read_ahead_kib = 0;     // 0: as the kernel has it
  bool is_held = true;
  bool is_traced = false;
};

// A folder or file. Node i has the inode number i + 1.
struct Node {
  std::string name;
  std::string path;  // under the folder
  struct stat info {};
  std::map<std::string, std::size_t> children;
  int fd = -1;
  std::uint64_t disk_offset = 0;
};

struct Request {
  fuse_req_t request = nullptr;
  std::size_t node = 0;
  std::uint64_t offset = 0;
  std::size_t size = 0;
  Clock::time_point arrival;
};

struct Served {
  std::size_t node = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Counters {
  std::uint64_t requests = 0;
  std::uint64_t seeks = 0;
  std::uint64_t bytes = 0;
  double busy_s = 0.0;
};

std::vector<Node> scan(const std::string& folder) {
  std::vector<Node> nodes(1);
  if (::stat(folder.c_str(), &nodes[0].info) != 0) {
    std::perror(folder.c_str());
    std::exit(1);
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_directory() || entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::map<std::filesystem::path, std::size_t> known{{folder, 0}};
  std::uint64_t disk_offset = 0;
  for (const std::filesystem::path& path : paths) {
    Node node;
    node.name = path.filename();
    node.path = path.lexically_relative(folder);
    if (::stat(path.c_str(), &node.info) != 0) continue;
    if (S_ISREG(node.info.st_mode)) {
      node.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (node.fd < 0) continue;
      node.disk_offset = disk_offset;
      disk_offset += static_cast<std::uint64_t>(node.info.st_size);
    }
    nodes[known.at(path.parent_path())].children[node.name] = nodes.size();
    known[path] = nodes.size();
    node.info.st_ino = nodes.size() + 1;
    nodes.push_back(std::move(node));
  }
  nodes[0].info.st_ino = 1;
  return nodes;
}

// Locks what the page cache holds, in a process of its own: one that serves a file system must not
// map its files.
class Holder {
 public:
  Holder(const Options& options, const std::vector<Node>& nodes) {
    int ends[2];
    if (!options.is_held || ::pipe2(ends, O_CLOEXEC) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[1]);
      hold(options, nodes, ends[0]);
      ::_exit(0);
    }
    ::close(ends[0]);
    if (process_ > 0) to_holder_ = ends[1];
  }
  ~Holder() {
    ::close(to_holder_);
    if (process_ > 0) ::waitpid(process_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void lock(const Served& served) const {
    if (to_holder_ >= 0 && ::write(to_holder_, &served, sizeof served) < 0) return;
  }
  // Its mappings keep the file system mounted.
  void let_go() {
    ::close(to_holder_);
    to_holder_ = -1;
    if (process_ > 0) ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  static void hold(const Options& options, const std::vector<Node>& nodes, int from_disk) {
    std::signal(SIGINT, SIG_IGN);
    std::map<std::size_t, std::byte*> mappings;
    bool is_refused = false;
    Served served;
    while (::read(from_disk, &served, sizeof served) == sizeof served) {
      const Node& node = nodes[served.node];
      auto& mapping = mappings[served.node];
      if (mapping == nullptr) {
        const int fd = ::open((options.mountpoint + "/" + node.path).c_str(), O_RDONLY | O_CLOEXEC);
        void* const found = ::mmap(nullptr, static_cast<std::size_t>(node.info.st_size), PROT_READ,
                                   MAP_SHARED, fd, 0);
        ::close(fd);
        if (found == MAP_FAILED) continue;
        mapping = static_cast<std::byte*>(found);
        ::madvise(mapping, static_cast<std::size_t>(node.info.st_size), MADV_RANDOM);
      }
      if (::mlock(mapping + served.offset, served.size) != 0 && !is_refused) {
        std::fprintf(stderr, "hdd_model: may not lock the page cache: %s\n", std::strerror(errno));
        is_refused = true;
      }
    }
  }

  int to_holder_ = -1;
  pid_t process_ = -1;
};

// The head, the page cache's memory, and a thread for each.
class Disk {
 public:
  Disk(const Options& options, const std::vector<Node>& nodes, const Holder& holder)
      : options_(options),
        nodes_(nodes),
        holder_(holder),
        server_([this] { serve(); }),
        forgetter_([this] { forget(); }) {}
  ~Disk() {
    {
      const std::scoped_lock lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    server_.join();
    forgetter_.join();
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  void set_session(fuse_session* session) { session_ = session; }

  void ask(const Request& request) {
    {
      const std::scoped_lock lock(mutex_);
      waiting_.push_back(request);
    }
    changed_.notify_all();
  }

  void print_counters() {
    const std::scoped_lock lock(mutex_);
    std::fprintf(stderr,
                 "{\"requests\": %llu, \"seeks\": %llu, \"bytes\": %llu, \"busy_s\": %.4f}\n",
                 static_cast<unsigned long long>(counters_.requests),
                 static_cast<unsigned long long>(counters_.seeks),
                 static_cast<unsigned long long>(counters_.bytes), counters_.busy_s);
    counters_ = {};
  }

 private:
  void serve() {
    std::vector<char> buffer(kRequestBytesMax);
    Clock::time_point free_at = Clock::now();
    std::uint64_t head = ~std::uint64_t{0};
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !waiting_.empty() || is_stopping_; });
      if (waiting_.empty()) return;
      const Request request = waiting_.front();
      waiting_.pop_front();
      const Node& node = nodes_[request.node];
      const auto size = static_cast<std::uint64_t>(node.info.st_size);
      const std::uint64_t wanted =
          request.offset < size ? std::min<std::uint64_t>(request.size, size - request.offset) : 0;
      const std::uint64_t begin = node.disk_offset + request.offset;
      const bool seeks = wanted > 0 && begin != head;
      const double cost_s =
          static_cast<double>(wanted) / options_.bytes_per_s + (seeks ? options_.seek_s : 0.0);
      if (wanted > 0) head = begin + wanted;
      ++counters_.requests;
      counters_.seeks += seeks ? 1 : 0;
      counters_.bytes += wanted;
      counters_.busy_s += cost_s;
      if (options_.is_traced) print_request(request, wanted, seeks);
      lock.unlock();

      free_at = std::max(free_at, request.arrival) +
                std::chrono::duration_cast<Clock::duration>(Seconds(cost_s));
      if (buffer.size() < wanted) buffer.resize(wanted);
      const ssize_t got =
          ::pread(node.fd, buffer.data(), wanted, static_cast<off_t>(request.offset));
      const int error = errno;
      std::this_thread::sleep_until(free_at);
      if (got < 0) {
        fuse_reply_err(request.request, error);
      } else {
        fuse_reply_buf(request.request, buffer.data(), static_cast<std::size_t>(got));
      }

      if (wanted > 0) holder_.lock({request.node, request.offset, wanted});

      lock.lock();
      if (options_.memory_bytes != 0 && wanted > 0) {
        in_memory_.push_back({request.node, request.offset, wanted});
        in_memory_bytes_ += wanted;
        if (in_memory_bytes_ > options_.memory_bytes) changed_.notify_all();
      }
    }
  }

  void print_request(const Request& request, std::uint64_t size, bool seeks) const {
    std::fprintf(
        stderr,
        "{\"ms\": %.3f, \"file\": \"%s\", \"offset\": %llu, \"size\": %llu, \"seek\": %d}\n",
        std::chrono::duration<double, std::milli>(request.arrival - begin_).count(),
        nodes_[request.node].name.c_str(), static_cast<unsigned long long>(request.offset),
        static_cast<unsigned long long>(size), seeks ? 1 : 0);
  }

  // In a thread of its own: the kernel waits for a page that is being read before it drops it.
  void forget() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] {
        return is_stopping_ ||
               (options_.memory_bytes != 0 && in_memory_bytes_ > options_.memory_bytes);
      });
      if (is_stopping_) return;
      const Served oldest = in_memory_.front();
      in_memory_.pop_front();
      in_memory_bytes_ -= oldest.size;
      lock.unlock();
      fuse_lowlevel_notify_inval_inode(session_, oldest.node + 1, static_cast<off_t>(oldest.offset),
                                       static_cast<off_t>(oldest.size));
      lock.lock();
    }
  }

  const Options& options_;
  const std::vector<Node>& nodes_;
  const Holder& holder_;
  const Clock::time_point begin_ = Clock::now();
  fuse_session* session_ = nullptr;
  std::mutex mutex_;  // guards what stands below
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  std::deque<Served> in_memory_;
  std::uint64_t in_memory_bytes_ = 0;
  Counters counters_;
  bool is_stopping_ = false;
  std::thread server_, forgetter_;
};

struct Mounted {
  std::vector<Node> nodes;
  Disk* disk = nullptr;
};

Mounted& mounted_of(fuse_req_t request) {
  return *static_cast<Mounted*>(fuse_req_userdata(request));
}

const Node* node_of(fuse_req_t request, fuse_ino_t inode) {
  const Mounted& mounted = mounted_of(request);
  return inode >= 1 && inode <= mounted.nodes.size() ? &mounted.nodes[inode - 1] : nullptr;
}

void on_init(void*, fuse_conn_info* connection) {
  // The largest requests that the kernel makes, and as many at once as read-ahead has.
  connection->max_write = kRequestBytesMax;
  connection->max_read = kRequestBytesMax;
  connection->max_readahead = ~0U;
  connection->max_background = kRequestsWaitingMax;
  connection->congestion_threshold = kRequestsWaitingMax;
}

void on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const Node* const folder = node_of(request, parent);
  const auto found = folder != nullptr ? folder->children.find(name)
                                       : std::map<std::string, std::size_t>::const_iterator{};
  if (folder == nullptr || found == folder->children.end()) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  fuse_entry_param entry{};
  entry.ino = found->second + 1;
  entry.attr = mounted_of(request).nodes[found->second].info;
  entry.attr_timeout = entry.entry_timeout = kForeverS;
  fuse_reply_entry(request, &entry);
}

void on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
  const Node* const node = node_of(request, inode);
  if (node == nullptr) {
    fuse_reply_err(request, ENOENT);
  } else {
    fuse_reply_attr(request, &node->info, kForeverS);
  }
}

void on_readdir(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset,
                fuse_file_info*) {
  const Node* const folder = node_of(request, inode);
  std::vector<char> bytes;
  off_t number = 0;
  for (const auto& [name, child] : folder->children) {
    if (number++ < offset) continue;
    const struct stat& info = mounted_of(request).nodes[child].info;
    const std::size_t begin = bytes.size();
    const std::size_t more = fuse_add_direntry(request, nullptr, 0, name.c_str(), nullptr, 0);
    if (begin + more > size) break;
    bytes.resize(begin + more);
    fuse_add_direntry(request, bytes.data() + begin, more, name.c_str(), &info, number);
  }
  fuse_reply_buf(request, bytes.data(), bytes.size());
}

void on_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file) {
  const Node* const node = node_of(request, inode);
  if (node == nullptr || node->fd < 0 || (file->flags & O_ACCMODE) != O_RDONLY) {
    fuse_reply_err(request, node == nullptr ? ENOENT : EROFS);
    return;
  }
  file->keep_cache = 1;
  fuse_reply_open(request, file);
}

void on_read(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset,
             fuse_file_info*) {
  mounted_of(request).disk->ask({.request = request,
                                 .node = inode - 1,
                                 .offset = static_cast<std::uint64_t>(offset),
                                 .size = size,
                                 .arrival = Clock::now()});
}

// The kernel gives every FUSE mount 128 KiB, as it does disks; only the system's own file says
// more.
void set_read_ahead(const Options& options) {
  struct stat info {};
  if (options.read_ahead_kib == 0 || ::stat(options.mountpoint.c_str(), &info) != 0) return;
  const std::string name = "/sys/class/bdi/" + std::to_string(major(info.st_dev)) + ":" +
                           std::to_string(minor(info.st_dev)) + "/read_ahead_kb";
  std::ofstream file(name);
  if (!(file << options.read_ahead_kib << std::flush)) {
    std::fprintf(stderr, "hdd_model: cannot set %s: run as root\n", name.c_str());
  }
}

volatile std::sig_atomic_t is_asked_for_counters = 0;

// One thread takes requests as they come, so that their times of arrival are true.
void take_requests(fuse_session* session, Disk& disk) {
  fuse_buf buffer{};
  while (fuse_session_exited(session) == 0) {
    const int got = fuse_session_receive_buf(session, &buffer);
    if (is_asked_for_counters != 0) {
      is_asked_for_counters = 0;
      disk.print_counters();
    }
    if (got == -EINTR) continue;
    if (got <= 0) break;
    fuse_session_process_buf(session, &buffer);
  }
  std::free(buffer.mem);
}

int run(const Options& options) {
  sigset_t counters_signal;
  sigemptyset(&counters_signal);
  sigaddset(&counters_signal, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &counters_signal, nullptr);  // for the threads that begin now
  Mounted mounted{.nodes = scan(options.folder)};
  Holder holder(options, mounted.nodes);
  Disk disk(options, mounted.nodes, holder);
  mounted.disk = &disk;
  pthread_sigmask(SIG_UNBLOCK, &counters_signal, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) { is_asked_for_counters = 1; };  // no SA_RESTART: it ends a wait
  sigaction(SIGUSR1, &action, nullptr);

  fuse_lowlevel_ops operations{};
  operations.init = on_init;
  operations.lookup = on_lookup;
  operations.getattr = on_getattr;
  operations.readdir = on_readdir;
  operations.open = on_open;
  operations.read = on_read;
  const std::string mount_options =
      "ro,fsname=hdd_model,subtype=hdd_model,max_read=" + std::to_string(kRequestBytesMax);
  std::string words[] = {"hdd_model", "-o", mount_options};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data()};
  fuse_args fuse_arguments = FUSE_ARGS_INIT(3, arguments);
  fuse_session* const session =
      fuse_session_new(&fuse_arguments, &operations, sizeof operations, &mounted);
  if (session == nullptr) return 1;
  disk.set_session(session);
  fuse_set_signal_handlers(session);
  if (fuse_session_mount(session, options.mountpoint.c_str()) != 0) return 1;
  std::thread tuner;
  if (options.read_ahead_kib != 0) tuner = std::thread([&] { set_read_ahead(options); });
  take_requests(session, disk);
  if (tuner.joinable()) tuner.join();
  holder.let_go();
  fuse_session_unmount(session);
  disk.print_counters();
  fuse_remove_signal_handlers(session);
  fuse_session_destroy(session);
  fuse_opt_free_args(&fuse_arguments);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> places;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const double value = i + 1 < argc ? std::atof(argv[i + 1]) : 0.0;
    if (word == "--rate") {
      options.bytes_per_s = value * 1e6;
      ++i;
    } else if (word == "--seek") {
      options.seek_s = value / 1e3;
      ++i;
    } else if (word == "--memory") {
      options.memory_bytes = static_cast<std::uint64_t>(value * 1024 * 1024);
      ++i;
    } else if (word == "--read-ahead") {
      options.read_ahead_kib = static_cast<unsigned>(value);
      ++i;
    } else if (word == "--hold") {
      options.is_held = value != 0;
      ++i;
    } else if (word == "--trace") {
      options.is_traced = value != 0;
      ++i;
    } else {
      places.emplace_back(word);
    }
  }
  if (places.size() != 2 || options.bytes_per_s <= 0 || options.seek_s < 0) {
    std::fprintf(stderr,
                 "usage: hdd_model FOLDER MOUNTPOINT [--rate MB/s] [--seek ms] [--memory MiB] "
                 "[--read-ahead KiB] [--hold 0] [--trace 1]\n");
    return 2;
  }
  options.folder = places[0];
  options.mountpoint = places[1];
  return run(options);
}
