// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHAKRA_TEXT_H
#define GRADSYNC_CHAKRA_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ns3::gradsync::tests
{

/// A message in the wire format of Protocol Buffers, written without their library: a field is its
/// number and wire type as a varint, then a varint (0) or a length and so many bytes (2).
class WireMessage
{
  public:
    static std::string Varint(uint64_t value)
    {
        std::string text;
        for (; value >= 0x80; value >>= 7)
        {
            text += static_cast<char>((value & 0x7f) | 0x80);
        }
        return text + static_cast<char>(value);
    }

    WireMessage& Number(uint32_t field, uint64_t value)
    {
        m_text += Varint(uint64_t{field} << 3) + Varint(value);
        return *this;
    }

    WireMessage& Text(uint32_t field, std::string_view value)
    {
        m_text += Varint((uint64_t{field} << 3) | 2) + Varint(value.size());
        m_text += value;
        return *this;
    }

    /// Behind its length, as in files.
    std::string Delimit() const
    {
        return Varint(m_text.size()) + m_text;
    }

    const std::string& Get() const
    {
        return m_text;
    }

  private:
    std::string m_text;
};

/// A node of a Chakra trace in its binary form; numbers of et_def.proto.
struct WireNode
{
    static constexpr uint32_t LOAD = 2;
    static constexpr uint32_t COMPUTE = 4;
    static constexpr uint32_t SEND = 5;
    static constexpr uint32_t RECEIVE = 6;
    static constexpr uint32_t COLLECTIVE = 7;

    uint64_t id;
    uint32_t type;
    uint64_t micros{0};
    std::vector<uint64_t> dependencies{};
    /// Of attributes, as int64.
    std::vector<std::pair<std::string, uint64_t>> attributes{};
    std::string name{"node"};
    std::string group{};
};

inline std::string
WriteChakraNode(const WireNode& node)
{
    WireMessage message;
    message.Number(1, node.id).Text(2, node.name).Number(3, node.type);
    std::string packed;
    for (const auto id : node.dependencies)
    {
        packed += WireMessage::Varint(id);
    }
    message.Text(5, packed).Number(7, node.micros);
    for (const auto& [name, value] : node.attributes)
    {
        message.Text(10, WireMessage().Text(1, name).Number(9, value).Get());
    }
    if (!node.group.empty())
    {
        message.Text(10, WireMessage().Text(1, "pg_name").Text(29, node.group).Get());
    }
    return message.Delimit();
}

inline std::string
WriteChakra(const std::vector<WireNode>& nodes)
{
    auto text = WireMessage().Text(1, "0.0.4").Delimit();
    for (const auto& node : nodes)
    {
        text += WriteChakraNode(node);
    }
    return text;
}

/// What rank `rank` of `ranks` does in a ring all-reduce: 2 (n - 1) times it sends a part and
/// receives another, and in the first half adds it, which takes `micros`.
inline std::vector<WireNode>
MakeRingNodes(uint32_t ranks, uint32_t rank, uint64_t bytes, uint64_t micros)
{
    std::vector<WireNode> nodes;
    std::vector<uint64_t> after;
    const auto add = [&](WireNode node) {
        node.id = nodes.size();
        node.dependencies = after;
        after = {node.id};
        nodes.push_back(std::move(node));
    };
    for (uint32_t step = 0; step < 2 * (ranks - 1); ++step)
    {
        add({0, WireNode::SEND, 0, {}, {{"comm_size", bytes}, {"comm_dst", (rank + 1) % ranks}}});
        add({0,
             WireNode::RECEIVE,
             0,
             {},
             {{"comm_size", bytes}, {"comm_src", (rank + ranks - 1) % ranks}}});
        if (step < ranks - 1)
        {
            add({0, WireNode::COMPUTE, micros});
        }
    }
    return nodes;
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_CHAKRA_TEXT_H
