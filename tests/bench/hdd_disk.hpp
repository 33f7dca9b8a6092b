// What hdd_model.cpp is made of, below FUSE: the files as they lie on the disk, the head that
// serves requests in their order, and the process that holds what was read in the page cache. Disk
// and Holder each own their threads or process; ask() and print_counters() from any thread. What
// cannot be had ends the program or is told on stderr: it is a bench's tool.
#pragma once

#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 314
#endif
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hdd {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr unsigned kRequestBytesMax = 1U << 20U;

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

inline std::vector<Node> scan(const std::string& folder) {
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

}  // namespace hdd
