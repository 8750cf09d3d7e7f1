// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHECKED_ATTRIBUTES_H
#define GRADSYNC_CHECKED_ATTRIBUTES_H

#include "ns3/attribute.h"
#include "ns3/object-base.h"
#include "ns3/ptr.h"
#include "ns3/type-id.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Attributes that objects of a type are to have. ns-3's ObjectFactory ends the program at a name or
 * a value that does not go; this one says so when it is set, by an exception. Only a text that ns-3
 * cannot parse as a number (StringValue("many")) still ends the program, in ns-3's own words.
 */
class CheckedAttributes
{
  public:
    explicit CheckedAttributes(const TypeId& type);

    /// \throws std::invalid_argument with a text for the user when there is no such Attribute, it
    /// cannot be set, or its checker refuses the value
    void Set(const std::string& name, const AttributeValue& value);

    /// In the order in which they were set. \param object of the type
    void Apply(ObjectBase& object) const;

    /// Whether it was set.
    bool Has(const std::string& name) const;

    const TypeId& GetType() const
    {
        return m_type;
    }

  private:
    TypeId m_type;
    std::vector<std::pair<std::string, Ptr<const AttributeValue>>> m_values;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CHECKED_ATTRIBUTES_H
