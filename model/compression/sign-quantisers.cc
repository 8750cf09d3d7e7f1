// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/parallel-ranges.h"
#include "ns3/stochastic-quantisers.h"

#include <algorithm>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// Signs of up to 32 elements.
uint32_t
EncodeSignWord(std::span<const float> values, const RandomStream& stream, uint64_t word)
{
    uint32_t negative = 0;
    uint32_t undecided = 0;
    for (size_t i = 0; i < values.size(); ++i)
    {
        negative |= (values[i] < 0.0F ? 1U : 0U) << i;
        undecided |= (HasSign(values[i]) ? 0U : 1U) << i;
    }
    return undecided != 0 ? negative | (undecided & DrawCoins(stream, word)) : negative;
}

} // namespace

void
EncodeSigns(std::span<const float> values,
            const RandomStream& stream,
            std::span<uint32_t> words,
            uint32_t threads)
{
    ForEachRange(values.size(), SIGNS_PER_WORD, threads, [&](const ElementRange& range) {
        for (uint64_t first = range.begin; first < range.end; first += SIGNS_PER_WORD)
        {
            const auto count = std::min<uint64_t>(SIGNS_PER_WORD, range.end - first);
            const uint64_t word = first / SIGNS_PER_WORD;
            words[word] = EncodeSignWord(values.subspan(first, count), stream, word);
        }
    });
}

void
DecodeSigns(std::span<const uint32_t> words,
            float magnitude,
            std::span<float> values,
            uint32_t threads)
{
    ForEachRange(values.size(), SIGNS_PER_WORD, threads, [&](const ElementRange& range) {
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            values[i] =
                DecodeSign(words[i / SIGNS_PER_WORD] >> (i % SIGNS_PER_WORD) & 1U, magnitude);
        }
    });
}

void
CountMajority(const std::vector<std::span<const uint32_t>>& votes,
              const RandomStream& stream,
              std::span<uint32_t> words,
              uint32_t threads)
{
    if (votes.empty() || votes.size() > MAX_VOTERS)
    {
        throw std::invalid_argument("a majority is that of 1 to 4095 votes");
    }
    const auto voters = static_cast<uint32_t>(votes.size());
    ForEachRange(words.size(), 1, threads, [&](const ElementRange& range) {
        for (uint64_t word = range.begin; word < range.end; ++word)
        {
            VoteCount count{};
            for (const auto& vote : votes)
            {
                AddVotes(vote[word], count);
            }
            const auto [majority, ties] = CloseVote(count, voters);
            words[word] = ties != 0 ? majority | (ties & DrawCoins(stream, word)) : majority;
        }
    });
}

} // namespace ns3::gradsync
