// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BOTTLENECK_FIXTURE_H
#define GRADSYNC_BOTTLENECK_FIXTURE_H

#include "support/picosecond-clock.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"
#include "ns3/star-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>

namespace ns3::gradsync::tests
{

/// Endless flows over a RoCE network, and what they get of it.
class BottleneckFixture : public ::testing::Test, protected MessageHandler
{
  protected:
    void SetUp() override
    {
        UsePicoseconds();
        RngSeedManager::SetSeed(1);
        m_transport = CreateObject<RoceTransport>();
    }

    void TearDown() override
    {
        m_transport->Dispose();
        m_transport = nullptr;
        Simulator::Destroy();
    }

    void Set(const char* name, const AttributeValue& value)
    {
        m_transport->SetAttribute(name, value);
    }

    void SetFabric(const char* name, const AttributeValue& value)
    {
        m_transport->GetFabric()->SetAttribute(name, value);
    }

    /// Attribute of a congestion control algorithm.
    void SetControl(const char* control, const char* name, const AttributeValue& value)
    {
        m_transport->GetCongestionControl(control)->SetAttribute(name, value);
    }

    void Install(Topology topology)
    {
        auto shared = std::make_shared<Topology>(std::move(topology));
        m_transport->Install(shared, std::make_shared<RoutingTables>(*shared));
    }

    void InstallStar(uint32_t hosts, const char* rate, Time delay = MicroSeconds(1))
    {
        StarOptions options;
        options.hosts = hosts;
        options.hostLink = {DataRate(rate), delay};
        Install(MakeStarTopology(options));
    }

    /// A flow that never runs dry: two messages are always posted. \param dst below 1000
    void Start(uint32_t src, uint32_t dst)
    {
        Post(src, dst);
        Post(src, dst);
    }

    /// Runs to `until`. \returns payload bits a second that each source delivered from `from` on
    std::map<uint32_t, double> MeasureRates(Time from, Time until)
    {
        Simulator::Schedule(from, [this] {
            m_delivered.clear();
            SampleQueue();
        });
        Simulator::Stop(until);
        Simulator::Run();
        std::map<uint32_t, double> rates;
        for (const auto& [src, messages] : m_delivered)
        {
            rates[src] =
                8.0 * static_cast<double>(messages * m_messageBytes) / (until - from).GetSeconds();
        }
        return rates;
    }

    /// Mean of the samples that MeasureRates took of the queue towards host 0.
    double GetMeanQueueBytes() const
    {
        return static_cast<double>(m_queueSum) / static_cast<double>(m_queueSamples);
    }

    /// Longest of these samples.
    uint64_t GetLongestQueueBytes() const
    {
        return m_longestSample;
    }

    /// The switch's port towards host 0: of link 0, the direction that carries more.
    size_t GetBottleneck() const
    {
        const auto links = m_transport->GetLinkStatistics();
        return links[0].payloadBytes > links[1].payloadBytes ? 0 : 1;
    }

    /// Marked packets of all data packets that passed the first link towards host 0.
    double GetMarkShare() const
    {
        const auto down = m_transport->GetLinkStatistics()[GetBottleneck()];
        return static_cast<double>(down.ecnMarkedPackets) / static_cast<double>(down.packets);
    }

    void OnDelivered(uint64_t tag) override
    {
        const auto src = static_cast<uint32_t>(tag / 1000);
        ++m_delivered[src];
        Post(src, static_cast<uint32_t>(tag % 1000));
    }

    void OnFailed(uint64_t /* tag */, const std::string& reason) override
    {
        ADD_FAILURE() << reason;
    }

    uint64_t m_messageBytes{100'000};
    std::map<uint32_t, uint64_t> m_delivered; //!< messages by source
    Ptr<RoceTransport> m_transport;
    uint64_t m_queueSum{0};
    uint64_t m_queueSamples{0};
    uint64_t m_longestSample{0};

  private:
    void SampleQueue()
    {
        const auto queue = m_transport->GetFabric()->GetQueueBytes(GetBottleneck());
        m_queueSum += queue;
        m_longestSample = std::max(m_longestSample, queue);
        ++m_queueSamples;
        Simulator::Schedule(MicroSeconds(7), [this] { SampleQueue(); });
    }

    void Post(uint32_t src, uint32_t dst)
    {
        m_transport->Send({src, dst, 0, m_messageBytes, uint64_t{src} * 1000 + dst, this});
    }
};

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_BOTTLENECK_FIXTURE_H
