// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-exchange.h"

#include "ns3/gradient-buckets.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace ns3::gradsync
{

namespace
{

/// More would be a mistake in its unit.
constexpr uint64_t MAX_PIECES = 1U << 16;

/// Where the streams begin that exchanges have beside their first.
constexpr auto MORE_STREAMS = static_cast<uint32_t>(TrainingStream::Expert) + 1;

uint32_t
GetDataStream(uint32_t turn)
{
    return turn == 0 ? static_cast<uint32_t>(TrainingStream::Data) : MORE_STREAMS + turn - 1;
}

uint64_t
GetGradientBytes(const ModelBlock& block, ParallelGroup group)
{
    return group == ParallelGroup::Data ? block.gradientBytes : block.expertGradientBytes;
}

} // namespace

std::vector<StreamSpec>
MakeTrainingStreams(const TrainingSpec& spec)
{
    std::vector<StreamSpec> streams{{"compute"},
                                    {"tensor"},
                                    {"data", spec.streams.policy, spec.streams.creditBytes},
                                    {"send forward"},
                                    {"receive forward"},
                                    {"send backward"},
                                    {"receive backward"},
                                    {"context"},
                                    {"expert"}};
    const auto add = [&](const std::string& name) {
        streams.push_back({name, spec.streams.policy, spec.streams.creditBytes});
    };
    for (uint32_t turn = 1; turn < spec.streams.count; ++turn)
    {
        add(fmt::format("data {}", turn + 1));
    }
    if (spec.dataParallelism == DataParallelism::Hierarchical)
    {
        add("data outer");
        add("data gather");
    }
    return streams;
}

GradientExchange::GradientExchange(const TrainingSpec& spec,
                                   const Groups& groups,
                                   WorkloadBuilder& builder,
                                   TrainingMeeting& meeting,
                                   uint32_t rank)
    : m_spec(spec),
      m_groups(groups),
      m_builder(builder),
      m_meeting(meeting),
      m_rank(rank),
      m_sums(spec.blocks.size())
{
}

const std::vector<uint32_t>&
GradientExchange::GetGroup(ParallelGroup group) const
{
    return m_groups[static_cast<size_t>(group)];
}

/// Of a block's gradient in a group.
SharedCodec
GradientExchange::GetCodec(ParallelGroup group, uint32_t block) const
{
    const auto& of = m_spec.blocks[block];
    return ChooseCodec(m_spec.codecs, of.name, GetGradientBytes(of, group));
}

std::vector<GradientExchange::Bucket>
GradientExchange::MakeBuckets(uint32_t first, uint32_t end) const
{
    std::vector<Bucket> buckets;
    for (const auto group : {ParallelGroup::Data, ParallelGroup::ExpertData})
    {
        if (GetGroup(group).size() > 1)
        {
            AddBuckets(group, first, end, buckets);
        }
    }
    std::erase_if(buckets, [](const auto& bucket) { return bucket.bytes == 0; });
    std::ranges::stable_sort(buckets, {}, &Bucket::last);
    return buckets;
}

/// Those of each codec are collected on their own.
void
GradientExchange::AddBuckets(ParallelGroup group,
                             uint32_t first,
                             uint32_t end,
                             std::vector<Bucket>& buckets) const
{
    struct Gradients
    {
        SharedCodec codec;
        std::vector<uint32_t> places{}; // in the order of backward passes
        std::vector<uint64_t> bytes{};
    };

    std::vector<Gradients> ofCodecs;
    for (auto block = end; block-- > first;)
    {
        const auto codec = GetCodec(group, block);
        auto found = std::ranges::find(ofCodecs, codec, &Gradients::codec);
        if (found == ofCodecs.end())
        {
            found = ofCodecs.insert(found, {codec});
        }
        found->places.push_back(end - 1 - block);
        found->bytes.push_back(GetGradientBytes(m_spec.blocks[block], group));
    }
    for (const auto& [codec, places, bytes] : ofCodecs)
    {
        for (const auto& bucket : MakeGradientBuckets(bytes, m_spec.buckets))
        {
            const auto last = places[bucket.last];
            buckets.push_back(
                {group, bucket.bytes, last, end - 1 - last, end - places[bucket.first], codec});
        }
    }
}

void
GradientExchange::Exchange(uint32_t first, uint32_t end, const std::vector<TaskId>& ready)
{
    for (const auto& bucket : MakeBuckets(first, end))
    {
        if (m_spec.overlaps)
        {
            Exchange(bucket, ready[bucket.last]);
        }
        else
        {
            m_kept.push_back(bucket);
        }
    }
}

void
GradientExchange::Finish(TaskId last)
{
    m_tiedSum.reset();
    for (const auto& bucket : std::exchange(m_kept, {}))
    {
        Exchange(bucket, last);
    }
    // Optimizers take whole sums before their parameters are gathered.
    const bool sumsFirst = m_spec.dataParallelism == DataParallelism::ShardedOptimizer;
    if (!sumsFirst)
    {
        GatherLate();
    }
    SumTied(last);
    GatherLate();
    if (m_tied)
    {
        m_tied->summed.clear();
    }
}

void
GradientExchange::Tie(uint32_t block, const std::vector<uint32_t>& ranks)
{
    m_tied = {block, ranks, {}};
}

bool
GradientExchange::IsTied(const Bucket& bucket) const
{
    return m_tied && bucket.first <= m_tied->block && m_tied->block < bucket.end;
}

/// The next forward pass needs the first blocks first.
void
GradientExchange::GatherLate()
{
    std::ranges::stable_sort(m_late, {}, [](const auto& late) { return late.bucket.first; });
    for (const auto& late : std::exchange(m_late, {}))
    {
        const auto gathered = Add(late.bucket, late.phase, late.after);
        if (m_tiedSum && IsTied(late.bucket))
        {
            m_builder.AddEdge(*m_tiedSum, gathered);
        }
        AddSum(late.bucket, gathered);
    }
}

void
GradientExchange::SumTied(TaskId last)
{
    if (!m_tied)
    {
        return;
    }
    auto bytes = m_spec.tied.gradientBytes;
    if (m_spec.dataParallelism == DataParallelism::FullySharded)
    {
        // Both ranks have the same share; it was scattered before, on the same stream.
        const auto replicas = GetGroup(ParallelGroup::Data).size();
        bytes = (bytes + replicas - 1) / replicas;
    }
    const auto stream = GetDataStream(0);
    const auto id = m_meeting.Join(m_tied->ranks,
                                   stream,
                                   m_rank,
                                   {m_spec.tied.scheme, bytes, ParallelGroup::Pipeline},
                                   "tied gradients");
    const auto part = m_builder.AddPart(m_rank, stream, id, static_cast<int32_t>(m_tied->block));
    m_builder.AddEdge(last, part);
    for (const auto sum : m_tied->summed)
    {
        m_builder.AddEdge(sum, part);
    }
    m_sums[m_tied->block].push_back(part);
    m_tiedSum = part;
}

std::vector<TaskId>
GradientExchange::TakeSums(uint32_t block)
{
    return std::exchange(m_sums[block], {});
}

/// Pieces of equal size, and what is left.
std::vector<uint64_t>
GradientExchange::Cut(uint64_t bytes) const
{
    const auto piece = m_spec.streams.pieceBytes;
    if (piece == 0 || piece >= bytes)
    {
        return {bytes};
    }
    if (bytes / piece > MAX_PIECES)
    {
        throw WorkloadError(fmt::format("a bucket of {} bytes in pieces of {} are more than {}",
                                        bytes,
                                        piece,
                                        MAX_PIECES));
    }
    std::vector<uint64_t> pieces(bytes / piece, piece);
    if (bytes % piece != 0)
    {
        pieces.push_back(bytes % piece);
    }
    return pieces;
}

void
GradientExchange::Exchange(const Bucket& bucket, TaskId after)
{
    for (const auto bytes : Cut(bucket.bytes))
    {
        ExchangePiece(bucket, bytes, after);
        m_turn = (m_turn + 1) % m_spec.streams.count;
    }
}

void
GradientExchange::ExchangePiece(const Bucket& bucket, uint64_t bytes, TaskId after)
{
    const auto phases = ListPhases(bucket, bytes);
    const bool gathersLate = m_spec.dataParallelism == DataParallelism::ShardedOptimizer ||
                             m_spec.dataParallelism == DataParallelism::ScatterGather;
    for (const auto& phase : phases)
    {
        if (gathersLate && &phase == &phases.back())
        {
            if (IsTied(bucket) && m_spec.dataParallelism == DataParallelism::ShardedOptimizer)
            {
                m_tied->summed.push_back(after);
            }
            m_late.push_back({bucket, phase, after});
            return;
        }
        after = Add(bucket, phase, after);
    }
    AddSum(bucket, after);
}

std::vector<GradientExchange::Phase>
GradientExchange::ListPhases(const Bucket& bucket, uint64_t bytes)
{
    const auto& ranks = GetGroup(bucket.group);
    const auto stream = GetDataStream(m_turn);
    const auto& codec = bucket.codec;
    const Phase sum{m_spec.gradientScheme,
                    ranks,
                    bytes,
                    stream,
                    NameCompressed("gradients", codec),
                    codec};
    switch (m_spec.dataParallelism)
    {
    case DataParallelism::AllReduce:
        return {sum};
    case DataParallelism::ShardedOptimizer: {
        const auto share =
            std::max(1.0, std::round(static_cast<double>(bytes) * m_spec.parameterShare));
        return {
            sum,
            {m_spec.parameterScheme, ranks, static_cast<uint64_t>(share), stream, "parameters"}};
    }
    case DataParallelism::ScatterGather:
        return {
            sum,
            {m_spec.parameterScheme, ranks, bytes, stream, NameCompressed("sums", codec), codec}};
    case DataParallelism::FullySharded:
        return {}; // ShardedParameters' part
    case DataParallelism::Hierarchical:
        break;
    }
    return ListHierarchy(bucket, bytes);
}

/// Within the rank's inner group, among the ranks with its place in all of them, and back.
std::vector<GradientExchange::Phase>
GradientExchange::ListHierarchy(const Bucket& bucket, uint64_t bytes)
{
    const auto groups = FindInnerGroups(bucket.group);
    const auto inner = std::ranges::find_if(groups, [this](const auto& ranks) {
        return std::ranges::find(ranks, m_rank) != ranks.end();
    });
    const auto place = std::ranges::find(*inner, m_rank) - inner->begin();
    std::vector<uint32_t> outer;
    outer.reserve(groups.size());
    for (const auto& ranks : groups)
    {
        outer.push_back(ranks[place]);
    }
    const auto outerStream = MORE_STREAMS + m_spec.streams.count - 1;
    const auto shard = (bytes + inner->size() - 1) / inner->size();
    const auto& codec = bucket.codec;
    const auto name = [&codec](const char* label) { return NameCompressed(label, codec); };
    std::vector<Phase> phases{
        {m_spec.gradientScheme, *inner, bytes, GetDataStream(m_turn), name("gradients"), codec},
        {m_spec.outerScheme, outer, shard, outerStream, name("gradients among groups"), codec},
        {m_spec.parameterScheme, *inner, bytes, outerStream + 1, name("sums"), codec}};
    std::erase_if(phases, [](const auto& phase) { return phase.ranks.size() == 1; });
    return phases;
}

std::vector<std::vector<uint32_t>>
GradientExchange::FindInnerGroups(ParallelGroup group)
{
    const auto& ranks = GetGroup(group);
    const auto& levels = m_meeting.FindGroups(ranks).levels;
    const bool isGiven = m_spec.innerRanks != 0;
    if (!isGiven && levels.empty())
    {
        throw WorkloadError("an exchange in two levels needs the ranks of an inner group: the "
                            "network has no servers, racks or pods to take them from");
    }
    std::map<uint32_t, std::vector<uint32_t>> inner;
    for (uint32_t place = 0; place < ranks.size(); ++place)
    {
        const auto of = isGiven ? place / m_spec.innerRanks : levels[0].groupOf[place];
        inner[of].push_back(ranks[place]);
    }
    std::vector<std::vector<uint32_t>> groups;
    for (const auto& [of, members] : inner)
    {
        if (members.size() != inner.begin()->second.size())
        {
            throw WorkloadError(
                fmt::format("an exchange in two levels needs inner groups of one size; of {} "
                            "data-parallel ranks one has {}, another {}",
                            ranks.size(),
                            inner.begin()->second.size(),
                            members.size()));
        }
        groups.push_back(members);
    }
    return groups;
}

TaskId
GradientExchange::Add(const Bucket& bucket, const Phase& phase, TaskId after)
{
    const auto id = m_meeting.Join(phase.ranks,
                                   phase.stream,
                                   m_rank,
                                   {phase.scheme, phase.bytes, bucket.group, phase.codec},
                                   phase.label);
    const auto part =
        m_builder.AddPart(m_rank, phase.stream, id, static_cast<int32_t>(bucket.first));
    m_builder.AddEdge(after, part);
    return part;
}

void
GradientExchange::AddSum(const Bucket& bucket, TaskId sum)
{
    for (auto block = bucket.first; block < bucket.end; ++block)
    {
        if (GetCodec(bucket.group, block) == bucket.codec)
        {
            m_sums[block].push_back(sum);
        }
    }
    if (IsTied(bucket))
    {
        m_tied->summed.push_back(sum);
    }
}

} // namespace ns3::gradsync
