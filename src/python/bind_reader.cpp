// Binds Reader of include/xtts/batch.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "python/batch_handle.hpp"
#include "python/bindings.hpp"
#include "python/errors.hpp"
#include "python/fork.hpp"
#include "python/gil.hpp"
#include "python/reader_options.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

Status invalid(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

// How often we look for signals while we wait for a computed clip.
constexpr std::chrono::milliseconds kLook{50};

Status interpreter_ends() {
  return invalid("the reader is closed, because the interpreter ends");
}

// OpeningWatch looks for signals while a reader of computed clips is opened, which may compute all
// of them first. Reader::open() asks it on the calling thread, between clips, without the GIL. An
// exception of a signal's handler is thrown when open() has ended and the clips in work are done.
class OpeningWatch {
 public:
  [[nodiscard]] bool should_stop() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return false;
    next_look_ = now + kLook;
    if (GilRelease::stays_inside()) return true;
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() == 0) return false;
    failure_ = std::make_exception_ptr(nb::python_error());
    return true;
  }
  // The caller holds the GIL again.
  [[nodiscard]] Reader must_have(Result<Reader> opened) const {
    if (failure_) std::rethrow_exception(failure_);
    if (opened.status().code() == StatusCode::kCancelled) throw StatusError(interpreter_ends());
    return must(std::move(opened));
  }

 private:
  std::chrono::steady_clock::time_point next_look_ = std::chrono::steady_clock::now() + kLook;
  std::exception_ptr failure_;
};

// The state of a reader when it was closed.
struct ClosedReader {
  std::uint64_t epoch = 0;
  std::uint64_t sample_count = 0;
  std::uint64_t samples_per_epoch = 0;
  std::uint64_t batches_per_epoch = 0;
  ReaderState state = {};
  ReaderStats stats = {};
  std::vector<std::uint64_t> left_out = {};
};

ClosedReader facts_of(const Reader& reader) {
  return {.epoch = reader.epoch(),
          .sample_count = reader.sample_count(),
          .samples_per_epoch = reader.samples_per_epoch(),
          .batches_per_epoch = reader.batches_per_epoch(),
          .state = reader.state(),
          .stats = reader.stats(),
          .left_out = reader.left_out()};
}

// Ends a reader of computed clips. Its threads finish their clips first, which takes long only
// where a decoder hangs. So the reader ends in another thread, and the calling thread looks for
// signals. An exception of a signal's handler ends the wait, and so does the limit: then the reader
// ends by itself.
void end_beside(std::shared_ptr<Reader> reader, std::optional<double> limit_s) {
  std::promise<void> ended;
  const std::future<void> end = ended.get_future();
  std::thread thread([reader = std::move(reader), ended = std::move(ended)]() mutable {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are for Python's threads
    // Waits for calls of watch(), so that the reader's threads end here and not in theirs.
    while (reader.use_count() > 1) std::this_thread::yield();
    reader.reset();
    ended.set_value();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto has_ended = [&] { return end.wait_for(kLook) == std::future_status::ready; };
  while (!without_gil(has_ended)) {
    const bool is_signalled = PyErr_CheckSignals() != 0;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (!is_signalled && waited.count() <= limit_s.value_or(waited.count())) continue;
    thread.detach();
    if (is_signalled) throw nb::python_error();
    return;
  }
  thread.join();
}

// ReaderHandle allows one call at a time. Calls release the GIL, so two threads could meet in the
// reader, which allows one. Only watch() may run beside other calls.
class ReaderHandle {
 public:
  enum class Clips { kStored, kComputed };

  ReaderHandle(Reader reader, Clips clips)
      : reader_(std::make_shared<Reader>(std::move(reader))), clips_(clips) {}
  ReaderHandle(const ReaderHandle&) = delete;
  ReaderHandle& operator=(const ReaderHandle&) = delete;
  ~ReaderHandle() {
    if (!reader_) return;
    const GilRelease released;
    reader_.reset();
  }

  // `limit_s`: how long to wait for the clips that are being computed.
  void close(std::optional<double> limit_s) {
    if (!reader_) return;
    forget_parents_threads();
    const Turn turn(*this);
    if (!is_parents()) keep_facts();
    auto closing = std::move(reader_);  // under the GIL, as are all looks at reader_
    if (clips_ == Clips::kComputed && !is_parents()) {
      return end_beside(std::move(closing), limit_s);
    }
    const GilRelease released;
    // Waits for calls of watch(), so that the reader's threads end here and not in theirs.
    while (!is_parents() && closing.use_count() > 1) std::this_thread::yield();
    closing.reset();
  }
  [[nodiscard]] bool is_closed() const noexcept { return !reader_; }
  [[nodiscard]] bool is_busy() const noexcept { return !is_parents() && is_busy_.load(); }

  // Calls with the reader, without the GIL.
  template <typename Call>
  [[nodiscard]] auto with(Call call) {
    must_be_usable();
    const Turn turn(*this);
    const GilRelease released;
    return call(*reader_);
  }

  // Returns the reader's answer, or the one that it gave when it was closed.
  template <typename Answer>
  [[nodiscard]] Answer ask(Answer (Reader::*question)() const, Answer ClosedReader::*kept) {
    if (closed_) return *closed_.*kept;
    return with([&](const Reader& reader) { return (reader.*question)(); });
  }

  // Does what ask() does, for questions that any thread may ask while another one reads.
  template <typename Answer>
  [[nodiscard]] Answer watch(Answer (Reader::*question)() const, Answer ClosedReader::*kept) const {
    if (closed_) return *closed_.*kept;
    must_be_usable();
    const std::shared_ptr<const Reader> reader = reader_;
    const GilRelease released;
    return ((*reader).*question)();
  }

  // A batch of computed clips may take long: its decoder computes, or hangs. So we look for signals
  // meanwhile. An exception of their handlers loses no batch. For a batch of stored records we wait
  // without a limit, because then the consumer helps to fill it.
  [[nodiscard]] Result<std::optional<Batch>> next() {
    if (clips_ == Clips::kStored) return with([](Reader& reader) { return reader.next(); });
    must_be_usable();
    const Turn turn(*this);
    while (true) {
      auto batch = without_gil([&] { return reader_->next(kLook); });
      if (batch.status().code() != StatusCode::kCancelled) return batch;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      // No thread releases the GIL any more, and the main thread waits for it.
      if (GilRelease::stays_inside()) throw StatusError(interpreter_ends());
    }
  }

 private:
  // True where this process is a fork of the one that opened the reader.
  [[nodiscard]] bool is_parents() const noexcept { return made_at_ != fork_count(); }
  void must_be_usable() const {
    if (!reader_) throw StatusError(invalid("the reader is closed: open another with reader()"));
    if (is_parents()) {
      throw StatusError(
          {StatusCode::kUnsupported,
           "this reader was opened before the process forked, and its threads are the parent's: "
           "open a reader in the child"});
    }
  }
  // Never keeps the reader from being closed: without memory, the facts are lost.
  void keep_facts() noexcept {
    try {
      closed_ = facts_of(*reader_);
    } catch (...) {
      closed_.reset();
    }
  }
  // A thread of the parent that was using the reader at the fork does not exist here, and will
  // never end its turn.
  void forget_parents_threads() noexcept {
    if (is_parents()) is_busy_.store(false);
  }

  struct Turn {
    explicit Turn(ReaderHandle& handle) : handle_(handle) {
      if (handle_.is_busy_.exchange(true)) {
        throw StatusError({StatusCode::kBusy,
                           "another thread is using this reader: use it in one thread at a time, "
                           "or open a reader for each"});
      }
    }
    ~Turn() { handle_.is_busy_.store(false); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ReaderHandle& handle_;
  };

  std::shared_ptr<Reader> reader_;  // shared with each call of watch() while it runs
  Clips clips_;
  std::optional<ClosedReader> closed_;
  std::uint32_t made_at_ = fork_count();
  std::atomic<bool> is_busy_ = false;
};

// Adds the option's name in Python: slots are `prefetch` here.
Status named_as_here(const Status& status) {
  if (status.code() != StatusCode::kBusy) return status;
  return {status.code(), status.message() + " (prefetch=)"};
}

std::optional<BatchHandle> next(ReaderHandle& self) {
  auto batch = self.next();
  if (!batch.ok()) {
    const bool is_full = batch.status().code() == StatusCode::kBusy;
    throw StatusError(named_as_here(batch.status()), is_full ? "slots held" : "");
  }
  if (!*batch) return std::nullopt;
  return BatchHandle{std::make_shared<const Batch>(std::move(**batch))};
}

nb::dict state(ReaderHandle& self) {
  const ReaderState state = self.ask(&Reader::state, &ClosedReader::state);
  nb::dict dict;
  dict["order_version"] = state.order_version;
  dict["seed"] = state.seed;
  dict["epoch"] = state.epoch;
  dict["samples_consumed"] = state.samples_consumed;
  dict["bucket_samples_consumed"] = state.bucket_samples_consumed;
  dict["cache"] = state.cache;
  dict["selection"] = state.selection;
  return dict;
}

void load_state(ReaderHandle& self, const nb::dict& dict) {
  const ReaderState state{.order_version = nb::cast<std::uint32_t>(dict["order_version"]),
                          .seed = nb::cast<std::uint64_t>(dict["seed"]),
                          .epoch = nb::cast<std::uint64_t>(dict["epoch"]),
                          .samples_consumed = nb::cast<std::uint64_t>(dict["samples_consumed"]),
                          .bucket_samples_consumed =
                              nb::cast<std::vector<std::uint64_t>>(dict["bucket_samples_consumed"]),
                          .cache = nb::cast<std::string>(dict["cache"]),
                          .selection = nb::cast<std::string>(dict["selection"])};
  must(self.with([&](Reader& reader) { return reader.load_state(state); }));
}

nb::dict stats(const ReaderHandle& self) {
  const ReaderStats stats = self.watch(&Reader::stats, &ClosedReader::stats);
  nb::dict dict;
  dict["batch_count"] = stats.batch_count;
  dict["sample_count"] = stats.sample_count;
  dict["bytes"] = stats.bytes;
  dict["batches_in_place"] = stats.batches_in_place;
  dict["cache_hits"] = stats.cache_hits;
  dict["ms_mean"] = stats.ms_mean;
  dict["ms_std"] = stats.ms_std;
  dict["ms_p50"] = stats.ms_p50;
  dict["ms_p95"] = stats.ms_p95;
  dict["ms_p99"] = stats.ms_p99;
  dict["consumer_wait_s"] = stats.consumer_wait_s;
  dict["filler_wait_s"] = stats.filler_wait_s;
  dict["check_failures"] = stats.check_failures;
  nb::list failures;
  for (const std::string& failure : stats.first_failures) failures.append(to_text(failure));
  dict["first_failures"] = nb::tuple(failures);
  dict["left_out_count"] = stats.left_out_count;
  dict["epoch_left_out_count"] = stats.epoch_left_out_count;
  dict["epoch_sample_count"] = stats.epoch_sample_count;
  dict["saturated_count"] = stats.saturated_count;
  dict["notice"] = to_text(stats.notice);
  dict["storage"] = to_text(stats.storage);
  dict["reading"] = to_text(stats.reading);
  return dict;
}

}  // namespace

void bind_reader(nb::module_& module) {
  nb::class_<SourceHandle>(module, "ClipSource", "Clips that are computed while they are read.");
  nb::class_<ReaderHandle>(module, "Reader",
                           "Batches of caches or of a ClipSource. One thread at a time.")
      .def(
          "__init__",
          [](ReaderHandle* self, const CacheHandle& cache, const nb::dict& options) {
            const ReaderOptions wanted = to_reader_options(options);
            Reader reader = must(without_gil([&] { return Reader::open(*cache.cache, wanted); }));
            new (self) ReaderHandle(std::move(reader), ReaderHandle::Clips::kStored);
          },
          nb::arg("cache"), nb::arg("options"),
          nb::sig("def __init__(self, cache: Cache, options: dict[str, typing.Any]) -> None"))
      .def(
          "__init__",
          [](ReaderHandle* self, const SourceHandle& clips, const nb::dict& options) {
            ReaderOptions wanted = to_reader_options(options);
            OpeningWatch watch;
            wanted.cancelled = [&] { return watch.should_stop(); };
            Reader reader =
                watch.must_have(without_gil([&] { return Reader::open(clips.source, wanted); }));
            new (self) ReaderHandle(std::move(reader), ReaderHandle::Clips::kComputed);
          },
          nb::arg("clips"), nb::arg("options"),
          nb::sig("def __init__(self, clips: ClipSource, options: dict[str, typing.Any]) -> None"))
      .def("next", next, "The next batch, or None at the epoch's end.")
      .def(
          "set_epoch",
          [](ReaderHandle& self, std::uint64_t epoch) {
            must(self.with([&](Reader& reader) {
              reader.set_epoch(epoch);
              return Status();
            }));
          },
          nb::arg("epoch"))
      .def("epoch",
           [](ReaderHandle& self) { return self.ask(&Reader::epoch, &ClosedReader::epoch); })
      .def("sample_count",
           [](ReaderHandle& self) {
             return self.ask(&Reader::sample_count, &ClosedReader::sample_count);
           })
      .def("samples_per_epoch",
           [](ReaderHandle& self) {
             return self.ask(&Reader::samples_per_epoch, &ClosedReader::samples_per_epoch);
           })
      .def("batches_per_epoch",
           [](ReaderHandle& self) {
             return self.ask(&Reader::batches_per_epoch, &ClosedReader::batches_per_epoch);
           })
      .def("state", state, nb::sig("def state(self) -> dict[str, typing.Any]"))
      .def("load_state", load_state, nb::arg("state"),
           nb::sig("def load_state(self, state: dict[str, typing.Any]) -> None"))
      .def("stats", stats, nb::sig("def stats(self) -> dict[str, typing.Any]"),
           "The reader's figures so far. Any thread may ask.")
      .def(
          "left_out",
          [](const ReaderHandle& self) {
            return self.watch(&Reader::left_out, &ClosedReader::left_out);
          },
          "Positions of the clips left out so far. Any thread may ask.")
      .def("close", &ReaderHandle::close, nb::arg("limit_s").none() = nb::none(),
           "Ends the threads. Batches, arrays and figures stay valid.")
      .def_prop_ro("is_closed", &ReaderHandle::is_closed)
      .def_prop_ro("is_busy", &ReaderHandle::is_busy);
}

}  // namespace xtts::python
