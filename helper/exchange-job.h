// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_JOB_H
#define GRADSYNC_EXCHANGE_JOB_H

#include "ns3/data-rate.h"
#include "ns3/job-spec.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <string>

namespace ns3::gradsync
{

/// What an ExchangeHelper knows of a training job beside its scheme and its hosts: Attributes, so
/// that Config::SetDefault and command lines reach them.
class ExchangeJob : public Object
{
  public:
    static TypeId GetTypeId();

    /// The job without scheme and ranks. \param number its name, unless it has one
    JobSpec MakeSpec(uint32_t number) const;

  private:
    std::string m_name;
    uint64_t m_gradientBytes;
    uint32_t m_iterations;
    Time m_start;
    Time m_computeTime;
    DataRate m_reduceRate;
    uint32_t m_maxOutstandingSends;
    double m_reliableShare;
    uint64_t m_blockBytes;
    Time m_baseLatency;
    Time m_hopLatency;
    Time m_networkHopLatency;
    double m_efficiency;
    Time m_timeout;
    bool m_replan;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_JOB_H
