// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aicb-program.h"

#include "ns3/import-error.h"

#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

AicbProgram::AicbProgram(const std::string& file)
    : m_builder(file)
{
}

uint64_t
AicbProgram::Add(const std::string& name,
                 const TraceNode& node,
                 const std::vector<uint64_t>& dependencies)
{
    const uint64_t id = m_builder.CountNodes();
    m_builder.Add(id, name, node, dependencies);
    return id;
}

void
AicbProgram::Compute(uint64_t nanoseconds, const std::string& name)
{
    TraceNode node;
    node.action = TraceAction::Compute;
    node.picoseconds = nanoseconds * 1000;
    m_last = {Add(name, node, std::exchange(m_last, {}))};
}

TraceNode
AicbProgram::MakeCollective(const AicbPhase& phase)
{
    TraceNode node;
    node.action = TraceAction::Collective;
    node.collective = *phase.collective;
    node.bytes = phase.bytes;
    node.group = m_builder.AddGroup(phase.group);
    return node;
}

void
AicbProgram::Collect(const AicbPhase& phase, const std::string& name)
{
    if (phase.collective)
    {
        m_last = {Add(name, MakeCollective(phase), std::exchange(m_last, {}))};
    }
}

void
AicbProgram::Forward(const std::vector<AicbLayer>& layers)
{
    for (const auto& layer : layers)
    {
        Compute(layer.forward.nanoseconds, "forward " + layer.name);
        Collect(layer.forward, "forward " + layer.name);
    }
}

void
AicbProgram::Backward(const std::vector<AicbLayer>& layers)
{
    // Clang 14 has no std::views::reverse.
    for (auto i = layers.size(); i-- > 0;)
    {
        const auto& layer = layers[i];
        Compute(layer.input.nanoseconds, "backward " + layer.name);
        Collect(layer.input, "backward " + layer.name);
        Compute(layer.weight.nanoseconds, "weights " + layer.name);
        if (!layer.weight.collective)
        {
            continue;
        }
        const auto sum = Add("weights " + layer.name, MakeCollective(layer.weight), m_last);
        TraceNode update;
        update.action = TraceAction::Host; // a delay that holds up no computation
        update.picoseconds = layer.updateNanoseconds * 1000;
        Add("update " + layer.name, update, {sum});
    }
}

void
AicbProgram::Message(TraceAction action, int32_t distance, int64_t tag, uint64_t bytes)
{
    TraceNode node;
    node.action = action;
    node.bytes = bytes;
    node.peer = distance;
    node.tag = tag;
    const auto id = Add(tag % 2 == 0 ? "activations" : "gradients",
                        node,
                        action == TraceAction::Send ? m_last : std::vector<uint64_t>());
    if (action == TraceAction::Receive)
    {
        m_last.push_back(id);
    }
}

void
AicbProgram::Send(int32_t distance, int64_t tag, uint64_t bytes)
{
    Message(TraceAction::Send, distance, tag, bytes);
}

void
AicbProgram::Receive(int32_t distance, int64_t tag, uint64_t bytes)
{
    Message(TraceAction::Receive, distance, tag, bytes);
}

TraceProgram
AicbProgram::MakeWhole(const std::vector<AicbLayer>& layers)
{
    Forward(layers);
    Backward(layers);
    return Finish();
}

TraceProgram
AicbProgram::Finish()
{
    return m_builder.Finish();
}

void
CheckTraceSize(const std::string& file, uint64_t nodes)
{
    if (nodes > MAX_TRACE_NODES)
    {
        throw ImportError(fmt::format("{}: its ranks have {} nodes in all, at most {} are allowed",
                                      file,
                                      nodes,
                                      MAX_TRACE_NODES));
    }
}

} // namespace ns3::gradsync
