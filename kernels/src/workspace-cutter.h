// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_WORKSPACE_CUTTER_H
#define GRADSYNC_KERNELS_WORKSPACE_CUTTER_H

#include <cstddef>
#include <cstdint>

namespace ns3::gradsync::kernels
{

/// Hands out aligned parts of a workspace; with a null workspace it only counts.
class WorkspaceCutter
{
  public:
    explicit WorkspaceCutter(void* workspace)
        : m_base(static_cast<char*>(workspace))
    {
    }

    template <typename Type>
    Type* Take(uint64_t count)
    {
        auto* const part = reinterpret_cast<Type*>(m_base + m_bytes);
        m_bytes += (count * sizeof(Type) + 255) / 256 * 256;
        return part;
    }

    size_t GetBytes() const
    {
        return m_bytes;
    }

  private:
    char* m_base;
    size_t m_bytes{0};
};

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_WORKSPACE_CUTTER_H
