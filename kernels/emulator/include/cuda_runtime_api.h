// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_CUDA_RUNTIME_API_H
#define GRADSYNC_EMULATOR_CUDA_RUNTIME_API_H

#include <cstddef>
#include <cstdint>

/// The part of CUDA's host interface that the kernels and their tests use, by the names that CUDA
/// gives it.
enum cudaError_t
{
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInvalidConfiguration,
};

enum cudaMemcpyKind
{
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
};

enum cudaDeviceAttr
{
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrMaxThreadsPerMultiProcessor,
    cudaDevAttrComputeCapabilityMajor,
};

using cudaStream_t = struct CudaStream*; //!< everything is done at once, in order

cudaError_t cudaMalloc(void** memory, size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemset(void* memory, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to,
                            const void* from,
                            size_t bytes,
                            cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
const char* cudaGetErrorString(cudaError_t error);

#endif // GRADSYNC_EMULATOR_CUDA_RUNTIME_API_H
