// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LOW_RANK_EXCHANGE_H
#define GRADSYNC_LOW_RANK_EXCHANGE_H

#include "ns3/codec-profile.h"
#include "ns3/exchange-compressor.h"
#include "ns3/plan.h"
#include "ns3/scheme.h"

#include <memory>

namespace ns3::gradsync
{

/**
 * The exchange of a gradient by PowerSGD (Vogels et al., NeurIPS'19, algorithm 1): all workers sum
 * up P = M Q, 4 rank rows bytes, orthogonalise the sum, then sum up Q = M^T P, 4 rank columns
 * bytes, and decode. Each sum is one of the scheme, as of a gradient of that size; the second one
 * waits for the first one, at each worker. A gradient that stays dense (StaysDense) is exchanged as
 * it is.
 *
 * \param request of the whole gradient
 * \param choice of PowerSGD
 * \param profile of "powersgd-encode-p", "powersgd-encode-q" and "powersgd-decode"; null: no time
 * \throws SchemeError when the scheme does not make two sums of it
 * \throws ProfileError when the profile cannot tell a time
 */
Plan BuildLowRankExchange(const Scheme& scheme,
                          const SchemeRequest& request,
                          const CodecChoice& choice,
                          const std::shared_ptr<const CodecProfile>& profile);

} // namespace ns3::gradsync

#endif // GRADSYNC_LOW_RANK_EXCHANGE_H
