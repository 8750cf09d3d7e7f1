// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_HELPER_H
#define GRADSYNC_AGGREGATION_HELPER_H

#include "ns3/aggregation-service.h"
#include "ns3/checked-attributes.h"
#include "ns3/transport.h"

#include <map>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Gives the switches of a network what they need to aggregate (AggregationService). A FabricHelper
 * does so with default Attributes unless it is given one of these.
 */
class AggregationHelper
{
  public:
    AggregationHelper();

    /// Of the service, which hold for all protocols. \throws std::invalid_argument
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /// Of the driver of a protocol: "slot" (SwitchML and PASSING), "atp", "netreduce" or one that
    /// was added. \throws std::invalid_argument
    void SetDriverAttribute(const std::string& driver,
                            const std::string& name,
                            const AttributeValue& value);

    /// A driver of the user's own. \param protocols that it is for, as plans name them \throws
    /// std::invalid_argument when the type is no AggregationDriver, or cannot be made
    void AddDriver(const std::string& name,
                   const std::vector<std::string>& protocols,
                   const TypeId& type);

    /// What a switch runs in place of its part in any protocol.
    void SetProgram(NodeId node, const P4SwitchProgram& program);

    /**
     * Before the transport is installed.
     * \returns its service; nullptr when it is of a kind whose switches do not aggregate
     */
    Ptr<AggregationService> Install(const Ptr<Transport>& transport) const;

  private:
    struct Driver
    {
        std::string name;
        std::vector<std::string> protocols;
        TypeId type;
    };

    Ptr<AggregationService> Create() const;

    CheckedAttributes m_attributes;
    std::vector<Driver> m_drivers;                       //!< of the user
    std::map<std::string, CheckedAttributes> m_settings; //!< [driver]
    std::map<NodeId, P4SwitchProgram> m_programs;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_HELPER_H
