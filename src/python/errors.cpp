#include "python/errors.hpp"

#include <algorithm>

namespace xtts::python {
namespace {

namespace nb = nanobind;

// Names of codes to classes. Kept until the process ends.
PyObject* classes = nullptr;
PyObject* base_class = nullptr;

// Runs no Python code. If the interpreter ended in the middle of it, this thread would be unwound
// by force.
void raise_status(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const StatusError& error) {
    PyObject* const found = PyDict_GetItemString(classes, error.kind().c_str());
    const nb::object message = to_text(error.status().message());
    PyErr_SetObject(found != nullptr ? found : base_class, message.ptr());
  }
}

}  // namespace

nb::object to_text(std::string_view message) {
  PyObject* const text = PyUnicode_DecodeUTF8(
      message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace");
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

void must_be_text(std::string_view text, std::string_view what, std::string_view clip_id) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::ranges::all_of(text, is_ascii)) return;
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict");
  if (decoded == nullptr) {
    PyErr_Clear();
    std::string message = "the index of this cache is forged or damaged: " + std::string(what);
    if (!clip_id.empty()) message += " of clip " + std::string(clip_id);
    throw StatusError({StatusCode::kCorrupt, message + " is not UTF-8"});
  }
  Py_DECREF(decoded);
}

void bind_errors() {
  const nb::module_ module = nb::module_::import_("xtts_precompute._base.errors");
  classes = nb::object(module.attr("CLASSES")).release().ptr();
  base_class = nb::object(module.attr("Error")).release().ptr();
  nb::register_exception_translator(raise_status);
}

}  // namespace xtts::python
