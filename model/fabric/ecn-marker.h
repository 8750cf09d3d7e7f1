// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ECN_MARKER_H
#define GRADSYNC_ECN_MARKER_H

#include "ns3/random-variable-stream.h"
#include "ns3/state-words.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * RED-like ECN marking on the instantaneous queue length: DCQCN's congestion point (Zhu et al.,
 * "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3.1, figure 5).
 *
 * The probability is 0 up to Kmin, grows linearly to Pmax at Kmax, and is 1 beyond. Kmin = Kmax is
 * DCTCP's step. Ports ask only above Kmin.
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

    /// \param stream random number stream, see RandomVariableStream
    EcnMarker(const Config& config, int64_t stream);

    /// Up to here nothing is marked.
    uint64_t GetMinBytes() const
    {
        return static_cast<uint64_t>(m_config.minBytes);
    }

    /// Probability of a mark at this queue length, the packet itself included.
    double GetProbability(uint64_t queueBytes) const;

    /// Draws for one packet.
    bool IsMarked(uint64_t queueBytes);

    /// What decides how it goes on.
    void AddState(StateWords& words) const
    {
        words.Add(m_skip);
        words.Add(m_draws);
    }

  private:
    double Draw();
    uint64_t DrawSkip();

    Config m_config;
    uint64_t m_skip{0};  //!< packets between Kmin and Kmax that are certainly not marked
    uint64_t m_draws{0}; //!< so far
    Ptr<UniformRandomVariable> m_random;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ECN_MARKER_H
