// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TESTS_MESSAGE_COLLECTOR_H
#define GRADSYNC_TESTS_MESSAGE_COLLECTOR_H

#include "ns3/simulator.h"
#include "ns3/transport.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync::tests
{

/// Keeps what arrived, in order, and what did not.
class MessageCollector : public MessageHandler
{
  public:
    void OnDelivered(uint64_t tag) override
    {
        delivered.emplace_back(tag, Simulator::Now());
    }

    void OnFailed(uint64_t tag, const std::string& reason) override
    {
        failed.emplace_back(tag, reason);
    }

    std::vector<std::pair<uint64_t, Time>> delivered;
    std::vector<std::pair<uint64_t, std::string>> failed;
};

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_TESTS_MESSAGE_COLLECTOR_H
