// SPDX-License-Identifier: GPL-2.0-only
#include "chakra-trace.pb.h"

#include "ns3/chakra-files.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// The messages of a file, one after the other.
class ChakraMessages
{
  public:
    ChakraMessages(std::string_view text, const TraceProgramBuilder& builder)
        : m_text(text),
          m_builder(builder)
    {
    }

    bool HasNext() const
    {
        return m_next < m_text.size();
    }

    template <typename Message>
    void Read(Message& message)
    {
        const auto begin = m_next;
        const auto length = ReadLength();
        if (length > m_text.size() - m_next)
        {
            m_builder.Fail(fmt::format("the message at byte {} has {} bytes, but {} are left: no "
                                       "Chakra trace, or cut off",
                                       begin,
                                       length,
                                       m_text.size() - m_next));
        }
        if (!message.ParseFromArray(m_text.data() + m_next, static_cast<int>(length)))
        {
            m_builder.Fail(fmt::format("the message at byte {} is none of a Chakra trace", begin));
        }
        m_next += length;
    }

  private:
    /// A varint of protobuf: seven bits a byte, the lowest first. Messages have less than 2^31
    /// bytes.
    uint64_t ReadLength()
    {
        uint64_t length = 0;
        for (uint32_t shift = 0; shift < 35; shift += 7)
        {
            if (m_next == m_text.size())
            {
                break;
            }
            const auto byte = static_cast<uint8_t>(m_text[m_next++]);
            length |= uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80 && length <= INT32_MAX)
            {
                return length;
            }
        }
        m_builder.Fail(fmt::format("at byte {} is no length of a message", m_next));
    }

    std::string_view m_text;
    const TraceProgramBuilder& m_builder;
    size_t m_next{0};
};

std::optional<int64_t>
GetInteger(const chakra::Attribute& attribute)
{
    switch (attribute.value_case())
    {
    case chakra::Attribute::kInt32Value:
        return attribute.int32_value();
    case chakra::Attribute::kInt64Value:
        return attribute.int64_value();
    case chakra::Attribute::kUint32Value:
        return attribute.uint32_value();
    case chakra::Attribute::kUint64Value:
        return static_cast<int64_t>(attribute.uint64_value());
    case chakra::Attribute::kSint32Value:
        return attribute.sint32_value();
    case chakra::Attribute::kSint64Value:
        return attribute.sint64_value();
    case chakra::Attribute::kFixed32Value:
        return attribute.fixed32_value();
    case chakra::Attribute::kFixed64Value:
        return static_cast<int64_t>(attribute.fixed64_value());
    case chakra::Attribute::kSfixed32Value:
        return attribute.sfixed32_value();
    case chakra::Attribute::kSfixed64Value:
        return attribute.sfixed64_value();
    case chakra::Attribute::kBoolValue:
        return attribute.bool_value() ? 1 : 0;
    case chakra::Attribute::kDoubleValue:
    case chakra::Attribute::kFloatValue:
    case chakra::Attribute::kBoolValues:
    case chakra::Attribute::kText:
    case chakra::Attribute::VALUE_NOT_SET:
        break;
    }
    return {};
}

void
TakeAttribute(const chakra::Attribute& attribute, ChakraNode& node)
{
    if (attribute.value_case() == chakra::Attribute::kText)
    {
        node.SetText(attribute.name(), attribute.text());
    }
    else if (attribute.value_case() == chakra::Attribute::kBoolValues)
    {
        const auto& values = attribute.bool_values().values();
        node.leavesOutDimensions |= attribute.name() == "involved_dim" &&
                                    std::find(values.begin(), values.end(), false) != values.end();
    }
    else if (const auto number = GetInteger(attribute))
    {
        node.SetNumber(attribute.name(), *number);
    }
}

} // namespace

void
ReadChakraProtobuf(std::string_view text, ChakraProgram& program)
{
    ChakraMessages messages(text, program.GetBuilder());
    chakra::ChakraHeader header;
    messages.Read(header);
    chakra::ChakraNode read;
    ChakraNode node;
    while (messages.HasNext())
    {
        messages.Read(read);
        node.Clear();
        node.id = read.id();
        node.name = read.name();
        node.type = read.type();
        node.controlDependencies.assign(read.control_dependencies().begin(),
                                        read.control_dependencies().end());
        node.dataDependencies.assign(read.data_dependencies().begin(),
                                     read.data_dependencies().end());
        node.durationMicros = read.duration_micros();
        for (const auto& attribute : read.attributes())
        {
            TakeAttribute(attribute, node);
        }
        program.Add(node);
    }
}

} // namespace ns3::gradsync
