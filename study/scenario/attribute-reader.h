// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATTRIBUTE_READER_H
#define GRADSYNC_ATTRIBUTE_READER_H

#include "ns3/json-value.h"
#include "ns3/parameter-spec.h"
#include "ns3/type-id.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// ns-3 Attributes and their values as strings, ready for ObjectFactory::Set; in the scenario's
/// order.
using AttributeSettings = std::vector<std::pair<std::string, std::string>>;

/// An Attribute that scenarios can set.
struct AttributeEntry
{
    std::string key; //!< in scenarios: camelCase, as `mtu`
    TypeId::AttributeInformation information;
};

/// The key of an Attribute in scenarios: `mtu` for Mtu.
std::string GetAttributeKey(std::string name);

/// All settable Attributes of a type and its parents whose kind a scenario can write, sorted by
/// key.
std::vector<AttributeEntry> ListAttributes(const TypeId& type);

/// The Attributes of a type as all parameters are declared.
std::vector<ParameterSpec> DescribeAttributes(const TypeId& type);

/// Their keys.
std::vector<std::string> GetAttributeKeys(const TypeId& type);

/**
 * Reads the Attributes of a type from an object and checks every value with the Attribute's own
 * checker.
 *
 * Times, rates and queue sizes are strings with units; so are unsigned Attributes whose key is
 * `mtu` or ends in `Bytes`. Other numbers and booleans are JSON's own. \param ignored keys of the
 * object that are read elsewhere, as `kind` \throws ScenarioError for unknown keys (with the
 * nearest) and for values that the checker refuses
 */
AttributeSettings ReadAttributes(const JsonValue& object,
                                 const TypeId& type,
                                 const std::vector<std::string>& ignored);

/// Likewise the one Attribute of a type that has a key. \returns its name and value
std::pair<std::string, std::string> ReadAttribute(const JsonValue& value,
                                                  const TypeId& type,
                                                  std::string_view key);

} // namespace ns3::gradsync

#endif // GRADSYNC_ATTRIBUTE_READER_H
