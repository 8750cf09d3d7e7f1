// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CODEC_TIMES_H
#define GRADSYNC_CODEC_TIMES_H

#include "ns3/nstime.h"
#include "ns3/plan.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// How long ranks encode and decode, in picoseconds; sums end at the last time step there is.
class CodecTimes
{
  public:
    explicit CodecTimes(uint32_t ranks);

    /// What the ranks of a plan do in one execution of it.
    explicit CodecTimes(const Plan& plan);

    /// A rank does what a rank of another one does, too.
    void Add(uint32_t rank, const CodecTimes& other, uint32_t otherRank);

    /// Of the rank that does most of it.
    Time GetMostEncode() const;
    Time GetMostDecode() const;

  private:
    std::vector<int64_t> m_encode; //!< [rank]
    std::vector<int64_t> m_decode;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CODEC_TIMES_H
