// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DEVICE_ARRAY_H
#define GRADSYNC_DEVICE_ARRAY_H

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <vector>

#ifdef GRADSYNC_EMULATED
#include "emulator.h"
#endif

/// What every case of kernels-test needs.
namespace ns3::gradsync
{

/// Ends the program with a message when a call failed.
inline void
Check(cudaError_t error)
{
    if (error != cudaSuccess)
    {
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
        std::exit(2);
    }
}

/// Device memory that starts poisoned, with a guard behind it.
template <typename Type>
class DeviceArray
{
  public:
    explicit DeviceArray(size_t count)
        : m_count(count)
    {
        void* memory = nullptr;
        Check(cudaMalloc(&memory, GetBytes() + GUARD));
        m_data = static_cast<Type*>(memory);
        Check(cudaMemset(m_data, POISON, GetBytes() + GUARD));
#ifdef GRADSYNC_EMULATED
        emulator::Forget(m_data, GetBytes() + GUARD);
#endif
    }

    explicit DeviceArray(const std::vector<Type>& host)
        : DeviceArray(host.size())
    {
        Check(cudaMemcpy(m_data, host.data(), GetBytes(), cudaMemcpyHostToDevice));
    }

    ~DeviceArray()
    {
        cudaFree(m_data);
    }

    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    Type* Get() const
    {
        return m_data;
    }

    std::vector<Type> Read() const
    {
        std::vector<Type> host(m_count);
        Check(cudaMemcpy(host.data(), m_data, GetBytes(), cudaMemcpyDeviceToHost));
        return host;
    }

    bool IsGuardWhole() const
    {
        unsigned char guard[GUARD];
        Check(cudaMemcpy(guard,
                         reinterpret_cast<const char*>(m_data) + GetBytes(),
                         GUARD,
                         cudaMemcpyDeviceToHost));
        for (const auto byte : guard)
        {
            if (byte != POISON)
            {
                return false;
            }
        }
        return true;
    }

    /// Whether nothing has written to these elements.
    bool IsPoisonedFrom(size_t first) const
    {
        const auto read = Read();
        const auto* const bytes = reinterpret_cast<const unsigned char*>(read.data());
        return std::all_of(bytes + first * sizeof(Type),
                           bytes + GetBytes(),
                           [](unsigned char byte) { return byte == POISON; });
    }

  private:
    static constexpr int POISON = 0x5a;
    static constexpr size_t GUARD = 256;

    size_t GetBytes() const
    {
        return m_count * sizeof(Type);
    }

    Type* m_data{nullptr};
    size_t m_count;
};

/// Bit patterns: NaN equals itself. \param count how many of the device's elements count
template <typename Type>
bool
AreSame(const std::vector<Type>& host, const DeviceArray<Type>& device, size_t count)
{
    const auto read = device.Read();
    return device.IsGuardWhole() &&
           (count == 0 || std::memcmp(host.data(), read.data(), count * sizeof(Type)) == 0);
}

template <typename Type>
bool
AreSame(const std::vector<Type>& host, const DeviceArray<Type>& device)
{
    return AreSame(host, device, host.size());
}

/// A case: whether the kernels do with these values what the CPU does.
using Gradient = std::vector<float>;

bool TestInt8(const Gradient& values);
bool TestSixteenBits(const Gradient& values);
bool TestTwoBits(const Gradient& values);
bool TestFixedPoint(const Gradient& values);
bool TestQsgd(const Gradient& values);
bool TestTernGrad(const Gradient& values);
bool TestSignSgd(const Gradient& values);
bool TestSwitchInt8(const Gradient& values);
bool TestTopK(const Gradient& values);
bool TestSparseMessages(const Gradient& values);
bool TestThc(const Gradient& values);
bool TestLowRank(const Gradient& values);
bool TestOkTopK(const Gradient& values);
bool TestDgc(const Gradient& values);
bool TestBlockTopK(const Gradient& values);
bool TestSums(const Gradient& values);
bool TestAdditions(const Gradient& values);
bool TestDeviceCodecs(const Gradient& values);
bool TestDecoratedCodecs(const Gradient& values);
bool TestBrokenMessages(const Gradient& values);
/// Needs no GPU.
bool TestDeviceCodecSizes(const Gradient& values);

} // namespace ns3::gradsync

#endif // GRADSYNC_DEVICE_ARRAY_H
