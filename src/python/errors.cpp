#include "python/errors.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

// Code, in words, to class; kept until the process ends.
PyObject* classes = nullptr;
PyObject* base_class = nullptr;

// Runs no line of Python: where the interpreter ends meanwhile, a thread would be unwound by force.
void raise_status(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const StatusError& error) {
    const std::string code(to_string(error.status().code()));
    PyObject* const found = PyDict_GetItemString(classes, code.c_str());
    PyErr_SetString(found != nullptr ? found : base_class, error.what());
  }
}

}  // namespace

void bind_errors() {
  const nb::module_ module = nb::module_::import_("xtts_precompute._errors");
  classes = nb::object(module.attr("CLASSES")).release().ptr();
  base_class = nb::object(module.attr("Error")).release().ptr();
  nb::register_exception_translator(raise_status);
}

}  // namespace xtts::python
