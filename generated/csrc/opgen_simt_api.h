// What the generated host code calls of the CUDA runtime, for emulation: one device. What would make the host wait
// for it is not there.
#pragma once

using cudaStream_t = void*;
using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;

constexpr cudaError_t cudaErrorAssert = 710;

namespace opgen_simt {
inline cudaError_t& last_error() {
  static thread_local cudaError_t the_error = cudaSuccess;
  return the_error;
}
}  // namespace opgen_simt

// An assertion is known as soon as its kernel has run, and the device goes on.
inline cudaError_t cudaGetLastError() {
  const cudaError_t error = opgen_simt::last_error();
  opgen_simt::last_error() = cudaSuccess;
  return error;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int threads, size_t) {
  *blocks = 512 / threads;  // of kernels with many registers
  return cudaSuccess;
}
constexpr int cudaDevAttrMultiProcessorCount = 16;
inline cudaError_t cudaDeviceGetAttribute(int* value, int, int) {
  *value = 6;
  return cudaSuccess;
}
