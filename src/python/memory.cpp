#include "python/memory.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  if (!nb::inst_ready(self)) {  // Memory.__new__(Memory)
    PyErr_SetString(PyExc_BufferError, "this Memory was made without memory");
    return -1;
  }
  const Memory& memory = *nb::inst_ptr<Memory>(self);
  // PyBuffer_FillInfo takes no const and refuses writers; an empty piece still needs an address.
  static const std::byte nowhere{};
  const std::byte* const data = memory.bytes.empty() ? &nowhere : memory.bytes.data();
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(data),
                           static_cast<Py_ssize_t>(memory.bytes.size()), 1, flags);
}

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

}  // namespace

void bind_memory(nb::module_& module) {
  nb::class_<Memory>(module, "Memory", nb::type_slots(memory_slots),
                     "Read-only memory of a batch or record, by the buffer protocol.");
}

}  // namespace xtts::python
