// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-job.h"

#include "ns3/boolean.h"
#include "ns3/differential-transmission.h"
#include "ns3/double.h"
#include "ns3/message-protocol.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(ExchangeJob);

TypeId
ExchangeJob::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::ExchangeJob")
            .SetParent<Object>()
            .SetGroupName("GradSync")
            .AddConstructor<ExchangeJob>()
            .AddAttribute("Name",
                          "In messages; empty: job0, job1, ... in the order of installation.",
                          StringValue(""),
                          MakeStringAccessor(&ExchangeJob::m_name),
                          MakeStringChecker())
            .AddAttribute("GradientBytes",
                          "Size of the gradient before any codec; by default that of ResNet-50. "
                          "Up to 16 TiB, so that picoseconds fit in 63 bits.",
                          UintegerValue(DEFAULT_GRADIENT_BYTES),
                          MakeUintegerAccessor(&ExchangeJob::m_gradientBytes),
                          MakeUintegerChecker<uint64_t>(1, uint64_t{1} << 44))
            .AddAttribute("Iterations",
                          "Exchanges, one after the other.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&ExchangeJob::m_iterations),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Start",
                          "When the first iteration begins.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&ExchangeJob::m_start),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ComputeTime",
                          "Forward and backward pass of every worker before each exchange; of "
                          "single ranks by the Attribute of their ExchangeApplication.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&ExchangeJob::m_computeTime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ReduceRate",
                          "At which a rank adds what it receives; 0: at once.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&ExchangeJob::m_reduceRate),
                          MakeDataRateChecker())
            .AddAttribute("MaxOutstandingSends",
                          "Transfers that a rank has under way at once; 0: no limit.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&ExchangeJob::m_maxOutstandingSends),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ReliableShare",
                          "Differential gradient transmission: of the blocks of what others add, "
                          "sent reliably; the network may lose the others. 1: all.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&ExchangeJob::m_reliableShare),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("BlockBytes",
                          "Of these blocks.",
                          UintegerValue(DifferentialTransmission::BLOCK_BYTES),
                          MakeUintegerAccessor(&ExchangeJob::m_blockBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("BaseLatency",
                          "Of the protocol of messages: of each exchange, at each rank before its "
                          "first message. NCCL's figures are in doc/nccl.rst.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&ExchangeJob::m_baseLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HopLatency",
                          "Likewise: after each message between ranks of a server, before what "
                          "waits for it.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&ExchangeJob::m_hopLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("NetworkHopLatency",
                          "Likewise, between servers.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&ExchangeJob::m_networkHopLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Efficiency",
                          "Likewise: share of payload in what is sent; 1: messages have no flags.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&ExchangeJob::m_efficiency),
                          MakeDoubleChecker<double>(1e-3, 1.0))
            .AddAttribute("Timeout",
                          "An iteration that takes longer has failed; 0: no limit.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&ExchangeJob::m_timeout),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Replan",
                          "Whether the job goes on without ranks whose hosts crash.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&ExchangeJob::m_replan),
                          MakeBooleanChecker());
    return tid;
}

JobSpec
ExchangeJob::MakeSpec(uint32_t number) const
{
    JobSpec job;
    job.name = m_name.empty() ? fmt::format("job{}", number) : m_name;
    job.gradientBytes = m_gradientBytes;
    job.iterations = m_iterations;
    job.start = m_start;
    job.compute = m_computeTime;
    if (m_reduceRate.GetBitRate() > 0)
    {
        job.reduceRate = m_reduceRate;
    }
    job.maxOutstandingSends = m_maxOutstandingSends;
    job.transmission = {m_reliableShare, m_blockBytes};
    const auto picoseconds = [](const Time& time) {
        return static_cast<uint64_t>(time.GetPicoSeconds());
    };
    const MessageProtocol protocol{picoseconds(m_baseLatency),
                                   picoseconds(m_hopLatency),
                                   picoseconds(m_networkHopLatency),
                                   m_efficiency};
    if (protocol != MessageProtocol())
    {
        job.protocol = protocol;
    }
    job.timeout = m_timeout;
    job.replans = m_replan;
    return job;
}

} // namespace ns3::gradsync
