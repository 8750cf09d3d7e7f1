// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_COMPRESSOR_H
#define GRADSYNC_PLAN_COMPRESSOR_H

#include "ns3/codec-spec.h"
#include "ns3/plan.h"

#include <functional>

namespace ns3::gradsync
{

/// What a codec costs a rank, in seconds, for a number of elements. An empty function: nothing.
struct CodecCosts
{
    std::function<double(uint64_t elements)> encodeSeconds;
    std::function<double(uint64_t elements)> decodeSeconds;
    /// Of codes that are added as they are (THC): takes the place of decoding.
    std::function<double(uint64_t elements)> addSeconds{};
};

/// A codec and what it costs.
struct CodecUse
{
    CodecSpec codec;
    CodecCosts costs{};
};

/// \throws SchemeError when the messages of so many workers cannot be added (GetMostSummands)
void CheckSummands(const CodecSpec& codec, uint32_t workers);

/// Whether the codec works on messages from one rank to another. An empty function: on all.
using CodecScope = std::function<bool(uint32_t src, uint32_t dst)>;

/**
 * The same exchange with compressed messages: each transfer gets the bytes of its codec's message,
 * an Encode before it and a Decode after it, at the ranks that have to do them.
 *
 * Data are encoded once for all messages that carry the same chunks of the same state. What arrived
 * as a copy is passed on as it came, without waiting for its Decode. Codecs that send every element
 * decode what they add and encode the sum; those that send sums as they are (SendsSums: sparse
 * ones, TernGrad with a shared scaler, THC) select or encode once, from the worker's own gradient
 * or from a sum that came together without the codec, and pass on messages that grow with the
 * number of gradients in them (GetMergedMessageBytes). Plans that select from sums do so each time.
 * Of THC an addition of codes takes the place of decoding, and a worker where the sum of all comes
 * together decodes that. A range of chunks that moves together is one tensor to the codec.
 *
 * Where the network aggregates, the codec works on what goes to it and comes from it, and on
 * nothing else. Its messages must be such that they can be added (CodecInfo::isSummable); where
 * they share a scale, that is what exponents ahead of the values are for (Plan::SharesExponents).
 *
 * \param plan free of races (PlanVerifier)
 * \throws SchemeError when a sum has more summands than its message can hold (GetMostSummands)
 */
Plan CompressPlan(const Plan& plan,
                  const CodecSpec& codec,
                  const CodecCosts& costs,
                  const CodecScope& scope = {});

/**
 * The same with a second codec, of all elements, for the messages that are out of the scope of the
 * first, and for those that BiSparse leaves dense (CodecSpec::minimumElements).
 * \throws std::invalid_argument when the second codec sends sums (SendsSums)
 */
Plan CompressPlan(const Plan& plan,
                  const CodecUse& use,
                  const CodecScope& scope,
                  const CodecUse& elsewhere);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_COMPRESSOR_H
