// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_CUDA_RUNTIME_H
#define GRADSYNC_EMULATOR_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#include <bit>
#include <cmath>
#include <string_view>
#include <tuple>
#include <type_traits>

/// The part of CUDA's device language that the kernels use.
#define __global__
#define __device__
#define __host__
// One array per thread of the CPU, which runs one block at a time; apart, so that an index beyond
// the end leads into no other array of the kernel.
#define __shared__ static thread_local __attribute__((aligned(64)))
#define __launch_bounds__(...)

struct alignas(16) float4
{
    float x, y, z, w;
};

struct alignas(16) int4
{
    int x, y, z, w;
};

struct alignas(16) uint4
{
    unsigned x, y, z, w;
};

struct alignas(8) ushort4
{
    unsigned short x, y, z, w;
};

struct alignas(4) char4
{
    signed char x, y, z, w;
};

struct uint3
{
    unsigned x, y, z;
};

namespace ns3::gradsync::emulator
{

/// A line of a kernel.
struct Site
{
    const char* file;
    uint32_t line;
};

enum class WarpOperation
{
    BALLOT,
    ANY,
    ADD,
    MAXIMUM,
    SHUFFLE_UP,
    SHUFFLE,
};

uint3 GetThreadIndex() __attribute__((const));
uint3 GetBlockIndex() __attribute__((const));
uint3 GetBlockSize() __attribute__((const));
uint3 GetGridSize() __attribute__((const));

void Barrier(Site site);

/// \param argument lanes to shift by, or the lane to read from
uint32_t Warp(WarpOperation operation, uint32_t mask, uint32_t value, uint32_t argument, Site site);

/// \returns what was there before
uint32_t Add(uint32_t* where, uint32_t value, Site site);
uint32_t Or(uint32_t* where, uint32_t value, Site site);
unsigned long long Exchange(unsigned long long* where, unsigned long long value, Site site);

/// Calls body(arguments) in every thread of every block; the arguments are constants of so many
/// bytes.
void Run(std::string_view kernel,
         std::string_view variant,
         uint64_t blocks,
         uint32_t threads,
         void (*body)(const void*),
         const void* arguments,
         size_t bytes);

/// The name of a kernel, from that of a function which has it as its template argument.
constexpr std::string_view
GetKernelName(std::string_view function)
{
    auto name = function.substr(function.find("KERNEL = ") + 9);
    name = name.substr(0, name.find_first_of(";]<("));
    return name.substr(name.rfind(':') + 1);
}

/// Which instance of a template a kernel is: its last argument, or nothing.
constexpr std::string_view
GetKernelVariant(std::string_view function)
{
    auto name = function.substr(function.find("KERNEL = ") + 9);
    name = name.substr(0, name.find("; ")); // before the next argument of the function
    name = name.substr(0, name.find('(', name.find('>'))); // and before those of the kernel
    if (name.find('<') == std::string_view::npos)
    {
        return {};
    }
    name = name.substr(name.find('<') + 1);
    name = name.substr(0, name.rfind('>'));
    return name.substr(name.find_last_of(": ,") + 1);
}

/// One thread.
template <auto KERNEL, typename... Arguments>
void
Call(const void* arguments)
{
    std::apply(KERNEL, *static_cast<const std::tuple<Arguments...>*>(arguments));
}

template <auto KERNEL, typename... Arguments>
void
Launch(uint32_t blocks, uint32_t threads, const Arguments&... arguments)
{
    constexpr std::string_view NAME = GetKernelName(__PRETTY_FUNCTION__);
    const std::tuple<Arguments...> all(arguments...);
    constexpr std::string_view VARIANT = GetKernelVariant(__PRETTY_FUNCTION__);
    Run(NAME, VARIANT, blocks, threads, &Call<KERNEL, Arguments...>, &all, sizeof all);
}

} // namespace ns3::gradsync::emulator

#define threadIdx (::ns3::gradsync::emulator::GetThreadIndex())
#define blockIdx (::ns3::gradsync::emulator::GetBlockIndex())
#define blockDim (::ns3::gradsync::emulator::GetBlockSize())
#define gridDim (::ns3::gradsync::emulator::GetGridSize())

// What knows from which line it is called, so that copies of it that the compiler makes are one.
#define GRADSYNC_SITE const char *file = __builtin_FILE(), uint32_t line = __builtin_LINE()

inline void
__syncthreads(GRADSYNC_SITE)
{
    ns3::gradsync::emulator::Barrier({file, line});
}

/// Orders nothing here: what other blocks read is written by atomics or at the end of a launch.
inline void
__threadfence()
{
}

inline uint32_t
__ballot_sync(uint32_t mask, bool isSet, GRADSYNC_SITE)
{
    using namespace ns3::gradsync::emulator;
    return Warp(WarpOperation::BALLOT, mask, isSet ? 1 : 0, 0, {file, line});
}

inline int
__any_sync(uint32_t mask, bool isSet, GRADSYNC_SITE)
{
    using namespace ns3::gradsync::emulator;
    return static_cast<int>(Warp(WarpOperation::ANY, mask, isSet ? 1 : 0, 0, {file, line}));
}

inline uint32_t
__reduce_add_sync(uint32_t mask, uint32_t value, GRADSYNC_SITE)
{
    using namespace ns3::gradsync::emulator;
    return Warp(WarpOperation::ADD, mask, value, 0, {file, line});
}

inline uint32_t
__reduce_max_sync(uint32_t mask, uint32_t value, GRADSYNC_SITE)
{
    using namespace ns3::gradsync::emulator;
    return Warp(WarpOperation::MAXIMUM, mask, value, 0, {file, line});
}

inline uint32_t
__shfl_up_sync(uint32_t mask, uint32_t value, uint32_t lanes, GRADSYNC_SITE)
{
    using namespace ns3::gradsync::emulator;
    return Warp(WarpOperation::SHUFFLE_UP, mask, value, lanes, {file, line});
}

inline uint32_t
__shfl_sync(uint32_t mask, uint32_t value, uint32_t lane, GRADSYNC_SITE)
{
    using namespace ns3::gradsync::emulator;
    return Warp(WarpOperation::SHUFFLE, mask, value, lane, {file, line});
}

inline uint32_t
atomicAdd(uint32_t* where, uint32_t value, GRADSYNC_SITE)
{
    return ns3::gradsync::emulator::Add(where, value, {file, line});
}

inline uint32_t
atomicOr(uint32_t* where, uint32_t value, GRADSYNC_SITE)
{
    return ns3::gradsync::emulator::Or(where, value, {file, line});
}

inline unsigned long long
atomicExch(unsigned long long* where, unsigned long long value, GRADSYNC_SITE)
{
    return ns3::gradsync::emulator::Exchange(where, value, {file, line});
}

inline int
__popc(uint32_t value)
{
    return std::popcount(value);
}

inline int
__ffs(uint32_t value)
{
    return __builtin_ffs(static_cast<int>(value));
}

inline uint32_t
__float_as_uint(float value)
{
    return std::bit_cast<uint32_t>(value);
}

inline float
__uint_as_float(uint32_t bits)
{
    return std::bit_cast<float>(bits);
}

using std::isfinite;
using std::sqrt;

template <typename Left, typename Right>
constexpr std::common_type_t<Left, Right>
max(Left left, Right right)
{
    using Common = std::common_type_t<Left, Right>;
    return static_cast<Common>(left) < static_cast<Common>(right) ? static_cast<Common>(right)
                                                                  : static_cast<Common>(left);
}

template <typename Left, typename Right>
constexpr std::common_type_t<Left, Right>
min(Left left, Right right)
{
    using Common = std::common_type_t<Left, Right>;
    return static_cast<Common>(right) < static_cast<Common>(left) ? static_cast<Common>(right)
                                                                  : static_cast<Common>(left);
}

#endif // GRADSYNC_EMULATOR_CUDA_RUNTIME_H
