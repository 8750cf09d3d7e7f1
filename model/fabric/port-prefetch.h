// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PORT_PREFETCH_H
#define GRADSYNC_PORT_PREFETCH_H

#include "ns3/lazy-sender.h"

#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/// What the cache is to fetch of a port before it is needed. Changes nothing.
class PortPrefetch
{
  public:
    /// Fetches what taking a packet touches of the port itself if none waits.
    static void Self(const LazySender& port)
    {
        Prefetch(&port, LazySender::TAKING_BYTES);
    }

    /// Likewise if some wait.
    static void Waiting(const LazySender& port)
    {
        Prefetch(&port, LazySender::HOT_BYTES);
    }

    /// Fetches what it touches when the port takes a packet, beyond its first two lines.
    static void ForOne(const LazySender& port, TimeStepCount arrival);

    /// Fetches what Sync touches, of a port whose first line was fetched: in rounds, each of which
    /// needs the one before.
    static void ForSync(const LazySender& port, uint32_t round);

    static constexpr uint32_t SYNC_ROUNDS = 4;

    /**
     * A RadixScheduler::PrefetchFunction. In a network of thousands of ports nothing that an
     * arrival touches is in the cache any more, and each thing is found through the one before: the
     * port, the packet on its wire, the next port or the connection, its queue. For one event after
     * the other that is a row of waits for memory; for many at once, they wait together.
     */
    static void Arrivals(std::span<EventImpl* const> next);

  private:
    static void First(const LazySender& port);
    static void Starts(const LazySender& port, uint32_t round);
    static void Packets(const LazySender& port);
    static void Beyond(std::span<const LazySender* const> ports);
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PORT_PREFETCH_H
