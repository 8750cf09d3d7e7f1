// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NATIVE_DRIVER_H
#define GRADSYNC_NATIVE_DRIVER_H

#include "ns3/aggregation-driver.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * A protocol whose switches are what they are, and run no P4 programs: their sums of integers wrap
 * around, and floats are added as they are, float32 to float32. The format of its packets is not
 * published, or none of Ethernet: captures do without them.
 *
 * Those derived from it have the Attributes of the members that are protected here, each with a
 * value and a source of its own.
 */
class NativeDriver : public AggregationDriver
{
  public:
    static TypeId GetTypeId();

    void Check(const AggregationGroup& group) const override;
    uint32_t CountValues(const AggregationPacket& content) const override;
    /// Nothing.
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;

    /// Values of a full packet.
    uint32_t GetValueCount() const
    {
        return static_cast<uint32_t>(m_payloadBytes / BYTES_PER_VALUE);
    }

    /// On the wire, of every packet.
    uint32_t GetHeaderBytes() const
    {
        return m_headerBytes;
    }

    const Time& GetTimeout() const
    {
        return m_timeout;
    }

  protected:
    /// \param name of the protocol, for the user
    explicit NativeDriver(std::string name);

    void DoInstall() override;

    /// The contents of a packet, which is given back: a copy, as whoever gets them may send, and
    /// use the same again.
    AggregationPacket TakeContent(FabricPacket* packet) const;

    uint32_t m_payloadBytes{0}; //!< of a full packet, a multiple of BYTES_PER_VALUE
    uint32_t m_headerBytes{0};  //!< that each packet has beside its data
    Time m_timeout{};           //!< after which a worker sends again

  private:
    std::string m_name;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NATIVE_DRIVER_H
