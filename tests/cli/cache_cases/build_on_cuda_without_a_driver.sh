# Where NVIDIA's driver is absent, the device says so, and what to do.
if command -v ldconfig >/dev/null && ldconfig -p | grep -q 'libcuda\.so\.1'; then
  echo "this machine has NVIDIA's driver" >&2
  exit 77
fi
xtts-precompute build data new --device cuda
