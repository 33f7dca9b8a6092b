#include "python/dlpack.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "python/gil.hpp"
#include "python/memory_object.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

constexpr std::uint64_t kReadOnly = 1;
constexpr std::uint64_t kIsCopied = 2;
constexpr std::align_val_t kAlignment{256};

// Managed and ManagedVersioned are the two structures of dlpack.h that consumers read.
struct Managed {
  static constexpr const char* kName = "dltensor";
  nb::dlpack::dltensor tensor;
  void* context = nullptr;
  void (*deleter)(Managed*) = nullptr;
};
struct ManagedVersioned {
  static constexpr const char* kName = "dltensor_versioned";
  std::uint32_t major = 1;
  std::uint32_t minor = 0;
  void* context = nullptr;
  void (*deleter)(ManagedVersioned*) = nullptr;
  std::uint64_t flags = 0;
  nb::dlpack::dltensor tensor;
};

struct Layout {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements
  nb::dlpack::dtype dtype;
};

// The structure, and everything that it points to.
template <typename Structure>
struct Shared {
  Structure structure;
  Layout layout;
  std::shared_ptr<const void> owner;
};

template <typename Structure>
nb::object make_capsule(void* data, Layout layout, std::shared_ptr<const void> owner,
                        std::uint64_t flags, const DeviceId& device) {
  auto shared = std::make_unique<Shared<Structure>>();
  shared->layout = std::move(layout);
  shared->owner = std::move(owner);
  Structure& structure = shared->structure;
  structure.tensor.data = data;
  structure.tensor.device = {static_cast<std::int32_t>(device.kind), device.number};
  structure.tensor.ndim = static_cast<std::int32_t>(shared->layout.shape.size());
  structure.tensor.dtype = shared->layout.dtype;
  structure.tensor.shape = shared->layout.shape.data();
  structure.tensor.strides = shared->layout.strides.data();
  structure.context = shared.get();
  structure.deleter = [](Structure* self) {
    delete static_cast<Shared<Structure>*>(self->context);
  };
  if constexpr (requires { structure.flags; }) structure.flags = flags;
  // A consumer that takes the tensor over renames the capsule, and calls the deleter itself.
  PyObject* const capsule = PyCapsule_New(&structure, Structure::kName, [](PyObject* unused) {
    if (PyCapsule_IsValid(unused, Structure::kName) == 0) return;
    auto* const left = static_cast<Structure*>(PyCapsule_GetPointer(unused, Structure::kName));
    left->deleter(left);
  });
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(shared.release());
  return nb::steal(capsule);
}

nb::object make_capsule(bool is_versioned, void* data, Layout layout,
                        std::shared_ptr<const void> owner, std::uint64_t flags,
                        const DeviceId& device) {
  return is_versioned
             ? make_capsule<ManagedVersioned>(data, std::move(layout), std::move(owner), flags,
                                              device)
             : make_capsule<Managed>(data, std::move(layout), std::move(owner), flags, device);
}

// Makes a capsule of a part of `memory`, which holds `address`. The capsule keeps the memory.
// Before version 1.0, DLPack cannot say that memory is read-only: there the caller must know that
// the consumer does not write.
nb::object share(bool is_versioned, const Memory& memory, std::uintptr_t address,
                 std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                 std::uint8_t kind, std::uint8_t bits) {
  return make_capsule(is_versioned, reinterpret_cast<void*>(address),
                      {std::move(shape), std::move(strides), {kind, bits, 1}}, memory.owner,
                      kReadOnly, memory.device);
}

// Makes a capsule of a copy. The memory has no gaps, and the caller keeps it until this returns.
nb::object copy(bool is_versioned, std::uintptr_t address, std::size_t size_bytes,
                std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                std::uint8_t kind, std::uint8_t bits) {
  const std::shared_ptr<void> copied(::operator new(size_bytes, kAlignment),
                                     [](void* memory) { ::operator delete(memory, kAlignment); });
  {
    const GilRelease released;
    std::memcpy(copied.get(), reinterpret_cast<const void*>(address), size_bytes);
  }
  return make_capsule(is_versioned, copied.get(),
                      {std::move(shape), std::move(strides), {kind, bits, 1}}, copied, kIsCopied,
                      DeviceId());
}

}  // namespace

void bind_dlpack(nb::module_& module) {
  module.def(
      "dlpack_of_memory", share, nb::arg("is_versioned"), nb::arg("memory"), nb::arg("address"),
      nb::arg("shape"), nb::arg("strides"), nb::arg("kind"), nb::arg("bits"),
      "A capsule of a part of `memory`, marked read-only where DLPack can (1.0); strides count "
      "elements.");
  module.def("dlpack_of_copy", copy, nb::arg("is_versioned"), nb::arg("address"),
             nb::arg("size_bytes"), nb::arg("shape"), nb::arg("strides"), nb::arg("kind"),
             nb::arg("bits"), "A capsule of a copy of memory without gaps.");
}

}  // namespace xtts::python
