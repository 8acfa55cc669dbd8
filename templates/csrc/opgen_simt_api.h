// What the generated host code calls of the CUDA runtime, for emulation: one device, which never fails.
#pragma once

using cudaStream_t = void*;
using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
constexpr int cudaDevAttrMultiProcessorCount = 16;
inline cudaError_t cudaDeviceGetAttribute(int* value, int, int) {
  *value = 2;
  return cudaSuccess;
}
