// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ECN_MARKER_H
#define GRADSYNC_ECN_MARKER_H

#include "ns3/random-variable-stream.h"
#include "ns3/state-words.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/**
 * RED-like ECN marking on the instantaneous queue length: DCQCN's congestion point (Zhu et al.,
 * "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3.1, figure 5).
 *
 * The probability is 0 up to Kmin, grows linearly to Pmax at Kmax, and is 1 beyond. Kmin = Kmax is
 * DCTCP's step. Ports ask only above Kmin. Each port draws from a stream of its own, so that its
 * marks depend on its own packets alone, whoever else draws, in this process or in another.
 *
 * Random numbers are dear and marks are rare, so candidates are drawn with probability Pmax, by the
 * geometric distance to the next, and a candidate is marked with probability p / Pmax: the same
 * distribution as a draw a packet.
 */
class EcnMarker
{
  public:
    struct Config
    {
        double minBytes;       //!< Kmin
        double maxBytes;       //!< Kmax; not above minBytes: a step at minBytes
        double maxProbability; //!< Pmax
    };

    /// \param firstStream random number stream of port 0, the others follow; see
    /// RandomVariableStream
    EcnMarker(const Config& config, int64_t firstStream);

    /// Up to here nothing is marked.
    uint64_t GetMinBytes() const
    {
        return static_cast<uint64_t>(m_config.minBytes);
    }

    /// Probability of a mark at this queue length, the packet itself included.
    double GetProbability(uint64_t queueBytes) const;

    /// Draws for one packet. \param port where it waits
    bool IsMarked(uint64_t queueBytes, uint32_t port);

    /// What decides how it goes on.
    void AddState(StateWords& words) const;

  private:
    /// What a port has drawn.
    struct Draws
    {
        uint64_t skip{0};  //!< packets between Kmin and Kmax that are certainly not marked
        uint64_t count{0}; //!< so far
        Ptr<UniformRandomVariable> random;
    };

    Draws& GetDraws(uint32_t port);
    static double Draw(Draws& draws);
    uint64_t DrawSkip(Draws& draws) const;

    Config m_config;
    int64_t m_firstStream;
    std::vector<std::unique_ptr<Draws>> m_drawsOf; //!< [port]; null: it has not drawn
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ECN_MARKER_H
