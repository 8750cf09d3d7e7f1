// SPDX-License-Identifier: GPL-2.0-only
#include "fixed-size-codec.h"
#include "workspace-cutter.h"

namespace ns3::gradsync::kernels
{

namespace
{

/// Message: the indices, then the values, as many as there are. State: u, v and the number of
/// the iteration.
class DgcCodec : public DeviceCodec
{
  public:
    DgcCodec(const CodecSpec& spec, uint64_t elements)
        : DeviceCodec(elements),
          m_spec(spec),
          m_isHalf(spec.valueBits == 16)
    {
    }

    uint64_t GetMaximumBytes() const override
    {
        return (m_isHalf ? 6 : 8) * GetCapacity();
    }

    bool IsSizeFixed() const override
    {
        return false;
    }

    size_t GetStateBytes() const override
    {
        WorkspaceCutter cutter(nullptr);
        CutState(cutter);
        return cutter.GetBytes();
    }

    size_t GetWorkspaceBytes() const override
    {
        return Cut(nullptr).bytes;
    }

    cudaError_t Compress(const float* gradient,
                         void* state,
                         void* message,
                         uint64_t* bytes,
                         void* workspace,
                         cudaStream_t stream) override
    {
        if (bytes == nullptr)
        {
            return cudaErrorInvalidValue;
        }
        WorkspaceCutter cutter(state);
        const State kept = CutState(cutter);
        const Parts parts = Cut(workspace);
        const auto error = SelectDgc(gradient,
                                     GetElements(),
                                     GetIteration(m_iteration),
                                     kept.velocity,
                                     kept.accumulated,
                                     kept.iteration,
                                     At<uint32_t>(message),
                                     parts.values,
                                     parts.found,
                                     parts.scratch,
                                     stream);
        if (error != cudaSuccess)
        {
            return error;
        }
        ++m_iteration;
        auto* const indices = At<uint32_t>(message);
        const auto close = m_isHalf ? CloseHalfMessage : CloseSparseMessage;
        return close(parts.values, parts.found, GetCapacity(), indices, bytes, stream);
    }

    cudaError_t Decompress(const void* message,
                           const uint64_t* bytes,
                           float* gradient,
                           void*,
                           cudaStream_t stream) const override
    {
        const auto scatter = m_isHalf ? ScatterHalfMessage : ScatterSparseMessage;
        return bytes == nullptr ? cudaErrorInvalidValue
                                : scatter(At<uint32_t>(message),
                                          bytes,
                                          GetCapacity(),
                                          GetElements(),
                                          gradient,
                                          stream);
    }

  private:
    struct State
    {
        float* velocity;
        float* accumulated;
        uint64_t* iteration;
    };

    State CutState(WorkspaceCutter& cutter) const
    {
        auto* const velocity = cutter.Take<float>(GetElements());
        auto* const accumulated = cutter.Take<float>(GetElements());
        return {velocity, accumulated, cutter.Take<uint64_t>(1)};
    }

    struct Parts
    {
        float* values;
        uint32_t* found;
        void* scratch; //!< of the selection
        size_t bytes;
    };

    /// In a warm-up the first messages hold the most.
    uint64_t GetCapacity() const
    {
        return CountSelected(GetDensity(m_spec, 0), GetElements());
    }

    DgcIteration GetIteration(uint64_t iteration) const
    {
        return {GetDensity(m_spec, iteration),
                m_spec.sampleRate,
                static_cast<float>(m_spec.momentum),
                m_spec.clipNorm};
    }

    Parts Cut(void* workspace) const
    {
        Parts parts{};
        WorkspaceCutter cutter(workspace);
        parts.values = cutter.Take<float>(GetCapacity());
        parts.found = cutter.Take<uint32_t>(1);
        parts.scratch = cutter.Take<char>(GetDgcWorkspaceBytes(GetElements(), GetIteration(0)));
        parts.bytes = cutter.GetBytes();
        return parts;
    }

    CodecSpec m_spec;
    bool m_isHalf;           //!< values in binary16
    uint64_t m_iteration{0}; //!< for the density of a warm-up, which the host must know
};

} // namespace

std::unique_ptr<DeviceCodec>
MakeDgcDeviceCodec(const CodecSpec& spec, uint64_t elements)
{
    return std::make_unique<DgcCodec>(spec, elements);
}

} // namespace ns3::gradsync::kernels
