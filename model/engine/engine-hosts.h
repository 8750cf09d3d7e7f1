// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ENGINE_HOSTS_H
#define GRADSYNC_ENGINE_HOSTS_H

#include "ns3/asynchronous-job.h"
#include "ns3/exchange-application.h"
#include "ns3/job.h"
#include "ns3/node.h"
#include "ns3/training-job.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// The ns-3 Nodes at endpoints, and the applications of ranks that are installed on them.
class EngineHosts
{
  public:
    /// That of a rank for each of a job, as the job asks for. They start when it does.
    std::vector<Ptr<ExchangeApplication>> Install(const Job& job);
    std::vector<Ptr<ExchangeApplication>> Install(const TrainingJob& job);
    std::vector<Ptr<ExchangeApplication>> Install(const AsynchronousJob& job);

    /// nullptr when it was neither made nor set.
    Ptr<Node> GetNode(uint32_t endpoint) const;

    /// Made if there is none.
    Ptr<Node> MakeNode(uint32_t endpoint);

    void SetNode(uint32_t endpoint, const Ptr<Node>& node);
    void Clear();

  private:
    std::vector<Ptr<ExchangeApplication>> InstallAll(
        std::span<const uint32_t> endpoints,
        const Ptr<const ExchangeApplication>& prototype);

    std::map<uint32_t, Ptr<Node>> m_nodes; //!< by endpoint
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ENGINE_HOSTS_H
