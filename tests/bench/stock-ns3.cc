// SPDX-License-Identifier: GPL-2.0-only
#include "bench/stock-ns3.h"

#include "bench/stock-network.h"

#include "ns3/chunk-layout.h"
#include "ns3/simulator.h"

#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Sizes of the messages that a rank sends in the 2(w-1) steps: in step t of the reduce-scatter
/// chunk rank - t, in step t of the all-gather chunk rank + 1 - t.
std::vector<uint64_t>
GetMessageSizes(const ChunkLayout& layout, uint32_t rank)
{
    const auto workers = layout.GetChunkCount();
    std::vector<uint64_t> sizes;
    for (const uint32_t shift : {0, 1})
    {
        for (uint32_t step = 0; step + 1 < workers; ++step)
        {
            sizes.push_back(layout.GetBytes((workers + rank + shift - step) % workers, 1));
        }
    }
    return sizes;
}

void
CheckArguments(const Topology& topology, uint64_t gradientBytes, const StockTcpOptions& options)
{
    const auto workers = topology.GetEndpoints().size();
    constexpr uint16_t SmallestSegment = 536; // RFC 9293, section 3.7.1
    constexpr uint16_t LargestSegment = 65'535 - StockTcpOptions::HeaderBytes; // IPv4 length field
    if (workers < 2 || gradientBytes < 4 * workers || options.segmentBytes < SmallestSegment ||
        options.segmentBytes > LargestSegment)
    {
        throw std::invalid_argument(
            fmt::format("a stock ring needs 2 workers, 4 bytes for each and segments of {} to {} "
                        "bytes; given are {} workers, {} bytes and segments of {} bytes",
                        SmallestSegment,
                        LargestSegment,
                        workers,
                        gradientBytes,
                        options.segmentBytes));
    }
}

/// One run: network, peers, and how far they are.
class StockRing
{
  public:
    StockRing(const Topology& topology, uint64_t gradientBytes, const StockTcpOptions& options)
        : m_network(topology, options.segmentBytes + StockTcpOptions::HeaderBytes),
          m_workers(static_cast<uint32_t>(topology.GetEndpoints().size()))
    {
        const auto layout = ChunkLayout::Even(gradientBytes, m_workers);
        for (uint32_t rank = 0; rank < m_workers; ++rank)
        {
            const auto left = (rank + m_workers - 1) % m_workers;
            m_peers.push_back(std::make_unique<StockRingPeer>(
                GetMessageSizes(layout, rank),
                GetMessageSizes(layout, left),
                [this] { OnConnected(); },
                [this] { OnDone(); }));
            m_peers.back()->Listen(m_network.GetNode(rank), options);
        }
        for (uint32_t rank = 0; rank < m_workers; ++rank)
        {
            const auto right = (rank + 1) % m_workers;
            m_peers[rank]->Connect(m_network.GetNode(rank), m_network.GetAddress(right), options);
        }
    }

    StockRing(const StockRing&) = delete;
    StockRing& operator=(const StockRing&) = delete;

    ~StockRing()
    {
        Simulator::Destroy(); // while the peers that its sockets call still exist
    }

    StockResult Run()
    {
        const auto eventsBefore = Simulator::GetEventCount();
        const auto wallStart = std::chrono::steady_clock::now();
        Simulator::Run();
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wallStart;
        if (m_done < m_workers)
        {
            throw std::runtime_error(
                fmt::format("the stock ring stopped with {} of {} workers done",
                            m_done,
                            m_workers));
        }
        return {.dataPacketHops = m_network.GetDataPacketHops(),
                .controlPacketHops = m_network.GetControlPacketHops(),
                .droppedPackets = m_network.GetDroppedPackets(),
                .events = Simulator::GetEventCount() - eventsBefore,
                .ict = Simulator::Now() - m_start,
                .wallSeconds = wall.count()};
    }

  private:
    void OnConnected()
    {
        if (++m_connected < m_workers)
        {
            return;
        }
        m_start = Simulator::Now();
        for (const auto& peer : m_peers)
        {
            peer->Start();
        }
    }

    void OnDone()
    {
        if (++m_done == m_workers)
        {
            Simulator::Stop();
        }
    }

    StockNetwork m_network;
    uint32_t m_workers;
    std::vector<std::unique_ptr<StockRingPeer>> m_peers;
    uint32_t m_connected{0};
    uint32_t m_done{0};
    Time m_start;
};

} // namespace

StockResult
RunStockRing(const Topology& topology, uint64_t gradientBytes, const StockTcpOptions& options)
{
    CheckArguments(topology, gradientBytes, options);
    return StockRing(topology, gradientBytes, options).Run();
}

} // namespace ns3::gradsync
