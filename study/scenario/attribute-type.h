// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATTRIBUTE_TYPE_H
#define GRADSYNC_ATTRIBUTE_TYPE_H

#include "ns3/attribute.h"

#include <string>
#include <vector>

namespace ns3::gradsync
{

/// How a scenario writes an Attribute.
enum class AttributeType
{
    Unsupported,
    Boolean,
    Unsigned,
    Integer,
    Double,
    Time,
    Rate,
    QueueSize,
    Enum,
    String
};

AttributeType ClassifyAttribute(const AttributeChecker& checker);

/// Whether unsigned Attributes of that key in scenarios count bytes, and have a unit.
bool CountsBytes(const std::string& key);

/// What an Attribute of type Enum can be.
std::vector<std::string> GetChoices(const AttributeChecker& checker);

} // namespace ns3::gradsync

#endif // GRADSYNC_ATTRIBUTE_TYPE_H
