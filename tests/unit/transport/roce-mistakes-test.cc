// SPDX-License-Identifier: GPL-2.0-only
// What mutants of the RoCE transport survived before (doc/referee.rst). Part of transport-tests.
#include "unit/transport/roce-fixture.h"

#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gmock/gmock.h>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(RoceTransportTest, AReceiverAnswersEverySixteenPacketsAndTheLast)
{
    Set("Mtu", UintegerValue(1000));
    Set("AckEvery", UintegerValue(16));
    InstallStar(2);
    Send(0, 1, 100'000, 1);
    Simulator::Run();
    // 100 packets: answers to the 16th, 32nd, ... 96th and the 100th, on two links each.
    EXPECT_EQ(m_transport->GetStatistics().controlPacketHops, 2U * 7);
}

/// Losses as the trace source tells them.
struct LossLog
{
    void OnRecovery(uint32_t src, uint32_t dst, bool isTimeout)
    {
        entries.emplace_back(src, dst, isTimeout, Simulator::Now());
    }

    std::vector<std::tuple<uint32_t, uint32_t, bool, Time>> entries;
};

TEST_F(RoceTransportTest, SelectiveRepeatTellsTheFirstLossOfAnEpisode)
{
    // 10 Gb/s, packets of 1500 B: packet i leaves at 1.2 i us and arrives at 1.2 i + 4.4 us. From
    // 100 us to 102 us the receiver's link loses packets 80 to 83; 84 arrives at 105.2 us, beyond
    // the gap. Its negative acknowledgement of 86 B takes 2 (0.0688 + 1) us. Those that follow
    // belong to the same episode.
    Set("Mtu", UintegerValue(1418));
    Set("AckEvery", UintegerValue(1));
    Set("Recovery", StringValue("selective-repeat"));
    InstallStar(2, "10Gbps");
    LossLog log;
    m_transport->TraceConnectWithoutContext("Recovery", MakeCallback(&LossLog::OnRecovery, &log));
    const auto setLink = [this](uint64_t microseconds, bool isUp) {
        Simulator::Schedule(MicroSeconds(microseconds), [this, isUp] {
            LinkState state;
            state.up = isUp;
            m_transport->SetLinkState(1, state);
        });
    };
    setLink(100, false);
    setLink(102, true);
    Send(0, 1, uint64_t{200} * 1418, 1);
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered[1], 1);
    EXPECT_THAT(
        log.entries,
        ElementsAre(
            std::make_tuple(0U, 1U, false, NanoSeconds(105200) + PicoSeconds(2 * 1'068'800))));
}

TEST_F(RoceTransportTest, AMessageOfMorePacketsThanThereAreNumbersFailsByName)
{
    Set("Mtu", UintegerValue(1000));
    InstallStar(2);
    Send(0, 1, uint64_t{1000} << 32, 1);
    Send(0, 1, 1000, 2); // the connection goes on
    Simulator::Run();
    ASSERT_EQ(m_handler.failures.size(), 1U);
    EXPECT_THAT(m_handler.failures[1], HasSubstr("2^32"));
    EXPECT_EQ(m_handler.delivered[1], 0);
    EXPECT_EQ(m_handler.delivered[2], 1);
}

TEST_F(RoceTransportTest, AbandonsConnectionsAllOfWhoseMessagesAreMeant)
{
    InstallStar(4);
    CountingHandler other;
    Send(0, 1, 100'000, 1);
    Send(0, 2, 100'000, 2);
    m_transport->Send({0, 2, 0, 100'000, 3, &other}); // on the same connection
    m_transport->Send({0, 3, 0, 100'000, 4, &other});
    Simulator::Schedule(MicroSeconds(100), [this] {
        m_transport->Abandon([this](uint32_t, uint32_t, const MessageHandler* handler) {
            return handler == &m_handler;
        });
    });
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered, (std::map<uint64_t, int>{{2, 1}}));
    EXPECT_EQ(other.delivered, (std::map<uint64_t, int>{{3, 1}, {4, 1}}));
    EXPECT_TRUE(m_handler.failures.empty());
}

} // namespace
} // namespace ns3::gradsync
