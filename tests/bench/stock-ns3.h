// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STOCK_NS3_H
#define GRADSYNC_STOCK_NS3_H

#include "bench/stock-ring-peer.h"

#include "ns3/nstime.h"
#include "ns3/topology.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What a ring all-reduce on stock ns-3 cost.
struct StockResult
{
    uint64_t dataPacketHops{
        0}; //!< transmissions of packets with payload, connection set-up excluded
    uint64_t controlPacketHops{0};
    uint64_t droppedPackets{0};
    uint64_t events{0}; //!< Simulator::GetEventCount
    Time ict; //!< from the moment when all connections stand to the last byte of the last worker
    double wallSeconds{0}; //!< of Simulator::Run
};

/**
 * The baseline of the benchmark: a ring all-reduce over all endpoints in order (2(w-1) steps,
 * chunks as ChunkLayout::Even, each message sent when the one before it was received) on stock ns-3
 * (StockNetwork) with TCP sockets.
 *
 * Runs a whole simulation: the simulator must be idle before and is destroyed after.
 * \throws std::invalid_argument for less than 2 endpoints, less than 4 bytes a worker, or an MTU
 * below 576 \throws std::runtime_error when the exchange does not finish
 */
StockResult RunStockRing(const Topology& topology,
                         uint64_t gradientBytes,
                         const StockTcpOptions& options = {});

} // namespace ns3::gradsync

#endif // GRADSYNC_STOCK_NS3_H
