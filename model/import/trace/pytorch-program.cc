// SPDX-License-Identifier: GPL-2.0-only
// What a rank does by its PyTorch execution trace.
#include "ns3/pytorch-node.h"
#include "ns3/pytorch-trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <unordered_set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// As c10d's record_param_comms calls them (PyTorch, ProcessGroupNCCL.cpp).
constexpr std::array<std::pair<std::string_view, TraceCollective>, 17> KINDS{
    {{"allreduce", TraceCollective::AllReduce},
     {"allreduce_coalesced", TraceCollective::AllReduce},
     {"all_reduce", TraceCollective::AllReduce},
     {"broadcast", TraceCollective::Broadcast},
     {"_broadcast_oop", TraceCollective::Broadcast},
     {"all_gather", TraceCollective::AllGather},
     {"_allgather_base", TraceCollective::AllGather},
     {"allgather_into_tensor_coalesced", TraceCollective::AllGather},
     {"reduce_scatter", TraceCollective::ReduceScatter},
     {"_reduce_scatter_base", TraceCollective::ReduceScatter},
     {"reduce_scatter_tensor_coalesced", TraceCollective::ReduceScatter},
     {"all_to_all", TraceCollective::AllToAll},
     {"all_to_allv", TraceCollective::AllToAll},
     {"alltoall_base", TraceCollective::AllToAll},
     {"reduce", TraceCollective::Reduce},
     {"_reduce_oop", TraceCollective::Reduce},
     {"barrier", TraceCollective::Barrier}}};

/// What waits for all collectives that are under way.
bool
WaitsForAll(const std::string& name)
{
    return name == "torch.distributed.ddp.reducer::copy_bucket_to_grad" ||
           name.starts_with("Optimizer.step#");
}

class PyTorchProgram
{
  public:
    PyTorchProgram(TraceProgramBuilder& builder, const OperatorRates& rates)
        : m_builder(builder),
          m_rates(rates)
    {
    }

    void Write(PyTorchNodes& from, PyTorchTrace& trace)
    {
        auto& nodes = from.nodes;
        std::ranges::stable_sort(nodes, {}, &PyTorchNode::order);
        m_hasConvolutions = std::ranges::any_of(nodes, [](const auto& node) {
            return ClassifyOperator(node.name) == PyTorchOperator::Convolution;
        });
        m_groups = std::move(from.groups);
        for (auto node = FindLastStep(nodes); node != nodes.end(); ++node)
        {
            // Of operators within each other the outermost one counts.
            if (m_counted.contains(node->parent) || Add(*node))
            {
                m_counted.insert(node->id);
            }
        }
        trace.products = m_products;
        trace.groups = std::move(m_groups);
    }

  private:
    using Nodes = std::vector<PyTorchNode>;

    static Nodes::const_iterator FindLastStep(const Nodes& nodes)
    {
        auto last = nodes.begin();
        for (auto node = nodes.begin(); node != nodes.end(); ++node)
        {
            last = node->name.starts_with("ProfilerStep#") ? node : last;
        }
        return last;
    }

    /// \returns whether it counts, and what is within it does not
    bool Add(const PyTorchNode& node)
    {
        if (node.collective)
        {
            AddCollective(node, *node.collective);
            return true;
        }
        switch (ClassifyOperator(node.name))
        {
        case PyTorchOperator::Convolution:
        case PyTorchOperator::ConvolutionBackward:
        case PyTorchOperator::Product:
            AddProduct(node);
            return true;
        case PyTorchOperator::Unrated:
            m_builder.GetIssues().Add("operators whose products the trace does not tell",
                                      m_builder.Locate(node.id, node.name));
            return true;
        case PyTorchOperator::Other:
            break;
        }
        if (WaitsForAll(node.name) && !m_underWay.empty())
        {
            Wait(node, std::exchange(m_underWay, {}));
        }
        return false;
    }

    void AddProduct(const PyTorchNode& node)
    {
        const auto work = CountOperatorWork(node);
        if (!work)
        {
            m_builder.GetIssues().Add("products of matrices whose tensors do not tell their size",
                                      m_builder.Locate(node.id, node.name));
            return;
        }
        ++m_products;
        TraceNode made;
        made.action = TraceAction::Compute;
        if (m_rates.flopsPerSecond)
        {
            const auto seconds =
                std::max(work->flops / m_rates.flopsPerSecond(work->datatype, m_hasConvolutions),
                         work->bytes / m_rates.bytesPerSecond);
            const auto picoseconds = std::round(seconds * 1e12);
            if (picoseconds > static_cast<double>(MAX_TRACE_PICOSECONDS))
            {
                m_builder.Fail(fmt::format("{} would take {:.4g} s, more than 10^6",
                                           m_builder.Locate(node.id, node.name),
                                           seconds));
            }
            made.picoseconds = static_cast<uint64_t>(picoseconds);
        }
        m_builder.Add(node.id, node.name, made, m_last);
        m_last = {node.id};
    }

    void AddCollective(const PyTorchNode& node, const PyTorchCollective& collective)
    {
        if (collective.kind == "wait")
        {
            const auto found =
                collective.sequence ? m_bySequence.find(*collective.sequence) : m_bySequence.end();
            Wait(node,
                 found == m_bySequence.end() ? std::exchange(m_underWay, {})
                                             : std::vector<uint64_t>{found->second});
            return;
        }
        const auto made = Translate(node, collective);
        if (!made)
        {
            return;
        }
        const auto label = fmt::format("{} {}", collective.kind, collective.group);
        m_builder.Add(node.id, label, *made, m_last);
        m_underWay.push_back(node.id);
        if (collective.sequence)
        {
            m_bySequence[*collective.sequence] = node.id;
        }
    }

    /// Nothing: an issue.
    std::optional<TraceNode> Translate(const PyTorchNode& node, const PyTorchCollective& collective)
    {
        const auto miss = [&](const std::string& what) {
            m_builder.GetIssues().Add(what, m_builder.Locate(node.id, node.name));
            return std::optional<TraceNode>();
        };
        if (collective.kind.empty())
        {
            return miss("communications without collective_name");
        }
        const auto kind = std::ranges::find(KINDS,
                                            collective.kind,
                                            &std::pair<std::string_view, TraceCollective>::first);
        if (kind == KINDS.end())
        {
            return miss(
                fmt::format("communications of the kind {}", CleanTraceName(collective.kind)));
        }
        TraceNode made;
        made.action = TraceAction::Collective;
        made.collective = kind->second;
        made.isShare = made.collective == TraceCollective::AllGather;
        if (made.collective != TraceCollective::Barrier)
        {
            const auto size = GetElementBytes(collective.dtype);
            if (!collective.elements || size == 0)
            {
                return miss("collectives without in_msg_nelems or a dtype that is known");
            }
            if (*collective.elements > MAX_TRACE_BYTES / size)
            {
                m_builder.Fail(fmt::format("{} has more than {} bytes",
                                           m_builder.Locate(node.id, node.name),
                                           MAX_TRACE_BYTES));
            }
            made.bytes = *collective.elements * size;
        }
        const auto& parts = collective.parts;
        if (made.collective == TraceCollective::AllToAll &&
            std::ranges::adjacent_find(parts, std::ranges::not_equal_to()) != parts.end())
        {
            return miss("all-to-alls of parts of different sizes");
        }
        made.group = m_builder.AddGroup(collective.group);
        AddGroup(collective);
        return made;
    }

    /// Of groups that were made before the trace begins, the collectives tell.
    void AddGroup(const PyTorchCollective& collective)
    {
        constexpr uint64_t MOST_RANKS = 1 << 20;
        if (m_groups.contains(collective.group) || collective.group.empty())
        {
            return;
        }
        if (collective.size > MOST_RANKS || collective.start > MOST_RANKS ||
            collective.stride > MOST_RANKS)
        {
            m_builder.Fail(fmt::format("process group \"{}\" has {} ranks from {} on, {} apart",
                                       CleanTraceName(collective.group),
                                       collective.size,
                                       collective.start,
                                       collective.stride));
        }
        PyTorchGroup group;
        group.size = static_cast<uint32_t>(collective.size);
        for (uint64_t i = 0; i < collective.size; ++i)
        {
            group.ranks.push_back(static_cast<uint32_t>(
                std::min<uint64_t>(collective.start + i * collective.stride, UINT32_MAX)));
        }
        m_groups[collective.group] = std::move(group);
    }

    /// What comes next does, for these and what came before.
    void Wait(const PyTorchNode& node, std::vector<uint64_t> collectives)
    {
        collectives.insert(collectives.end(), m_last.begin(), m_last.end());
        m_builder.Add(node.id, node.name, {}, collectives);
        m_last = {node.id};
    }

    TraceProgramBuilder& m_builder;
    const OperatorRates& m_rates;
    std::map<std::string, PyTorchGroup> m_groups;
    std::unordered_set<uint64_t> m_counted; //!< and what is within them
    std::vector<uint64_t> m_last;           //!< what comes next waits for it
    std::vector<uint64_t> m_underWay;       //!< collectives that nothing waits for yet
    std::map<int64_t, uint64_t> m_bySequence;
    uint64_t m_products{0};
    bool m_hasConvolutions{false};
};

} // namespace

PyTorchTrace
ReadPyTorchTrace(const std::string& file, std::string_view text, const OperatorRates& rates)
{
    TraceProgramBuilder builder(file);
    auto nodes = ReadPyTorchNodes(text, builder);
    PyTorchTrace trace;
    trace.nodes = nodes.nodes.size();
    PyTorchProgram(builder, rates).Write(nodes, trace);
    trace.program = builder.Finish();
    trace.issues = builder.GetIssues();
    return trace;
}

} // namespace ns3::gradsync
