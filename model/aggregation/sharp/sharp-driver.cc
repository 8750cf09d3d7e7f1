// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sharp-driver.h"

#include "ns3/ns3-interfaces.h"
#include "ns3/sharp-node.h"
#include "ns3/sharp-session.h"
#include "ns3/uinteger.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(SharpDriver);

SharpDriver::SharpDriver()
    : TreeDriver("SHARP")
{
}

TypeId
SharpDriver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::SharpDriver")
            .SetParent<TreeDriver>()
            .SetGroupName("GradSync")
            .AddConstructor<SharpDriver>()
            .AddAttribute("Generation",
                          "Limits of the switches: quantum (126 trees, of which 63 stream, and one "
                          "at a time) or quantum-2 (1,023 trees, and one streams at a time through "
                          "a port).",
                          EnumValue(SHARP_QUANTUM),
                          MakeAccessorOfEnum(&SharpDriver::m_generation),
                          MakeEnumChecker(SHARP_QUANTUM, "quantum", SHARP_QUANTUM2, "quantum-2"))
            .AddAttribute("PayloadBytes",
                          "Data of a full packet, which are those of a transaction, in bytes, a "
                          "multiple of 4 (Switch-IB 2: 256; Quantum: 2,048).",
                          UintegerValue(2048),
                          MakeUintegerAccessor(&SharpDriver::m_payloadBytes),
                          MakeUintegerChecker<uint32_t>(4, 4096))
            .AddAttribute("HeaderBytes",
                          "What each packet has beside its data, in bytes (InfiniBand's LRH 8, BTH "
                          "12, ICRC 4 and VCRC 2; SHARP's own header is not published).",
                          UintegerValue(26),
                          MakeUintegerAccessor(&SharpDriver::m_headerBytes),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("GroupTransactions",
                          "Outstanding transactions of a group on a low-latency tree: the credits "
                          "of each worker (SHARP_COLL_OSTS_PER_GROUP).",
                          UintegerValue(8),
                          MakeUintegerAccessor(&SharpDriver::m_groupTransactions),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("StreamPackets",
                          "Packets that a worker has under way on a streaming tree: the credits "
                          "that buffers of the switches give it. 256 of 2,048 bytes fill 400 Gb/s "
                          "up to a round trip of 10 us.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&SharpDriver::m_streamPackets),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("LltQuota",
                          "Share of the transactions, buffers and groups of each switch that a "
                          "low-latency tree gets, in percent (per_prio_default_quota).",
                          UintegerValue(20),
                          MakeUintegerAccessor(&SharpDriver::m_lltQuota),
                          MakeUintegerChecker<uint32_t>(0, 100))
            .AddAttribute("SatQuota",
                          "Likewise of a streaming tree (per_prio_default_sat_quota).",
                          UintegerValue(3),
                          MakeUintegerAccessor(&SharpDriver::m_satQuota),
                          MakeUintegerChecker<uint32_t>(0, 100))
            .AddAttribute("Timeout",
                          "A worker that gets no result for this long sends again what is under "
                          "way; doubled with each time in a row, up to 64 times.",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&SharpDriver::m_timeout),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

SharpTree
SharpDriver::GetTree(const std::string& protocol)
{
    return protocol == "sharp-llt" ? SharpTree::LowLatency : SharpTree::Streaming;
}

void
SharpDriver::DoInstall()
{
    NativeDriver::DoInstall();
    m_manager.SetGeneration(m_generation);
}

std::unique_ptr<AggregationSession>
SharpDriver::MakeSession(const AggregationGroup& group, uint32_t id)
{
    return std::make_unique<SharpSession>(*this, group, id);
}

std::unique_ptr<AggregationNode>
SharpDriver::MakeNode(NodeId node)
{
    auto& network = GetNetwork();
    return std::make_unique<SharpNode>(*network.fabric->GetSwitch(node),
                                       network.fabric->GetPool(),
                                       network.contents,
                                       network.settings.values != VALUES_SIZES,
                                       network.settings.values == VALUES_FLOAT);
}

uint32_t
SharpDriver::GetCredits(SharpTree tree) const
{
    return tree == SharpTree::Streaming ? m_streamPackets : m_groupTransactions;
}

uint32_t
SharpDriver::GetQuota(SharpTree tree) const
{
    return tree == SharpTree::Streaming ? m_satQuota : m_lltQuota;
}

} // namespace ns3::gradsync
