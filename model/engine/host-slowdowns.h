// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_HOST_SLOWDOWNS_H
#define GRADSYNC_HOST_SLOWDOWNS_H

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <map>

namespace ns3::gradsync
{

/// How many times as long hosts compute as they should.
class HostSlowdowns
{
  public:
    /// \param factor called once a computation; empty: 1
    void Set(uint32_t endpoint, std::function<double()> factor);

    /// How long a computation takes that begins now.
    Time Stretch(uint32_t endpoint, const Time& duration) const;

    void Clear();

    bool IsEmpty() const
    {
        return m_factors.empty();
    }

  private:
    std::map<uint32_t, std::function<double()>> m_factors; //!< by endpoint
};

} // namespace ns3::gradsync

#endif // GRADSYNC_HOST_SLOWDOWNS_H
