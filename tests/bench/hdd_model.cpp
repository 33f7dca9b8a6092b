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
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hdd_disk.hpp"

namespace {

using namespace hdd;

constexpr double kForeverS = 1e9;  // the folder does not change while it is shown
constexpr unsigned kRequestsWaitingMax = 256;

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
