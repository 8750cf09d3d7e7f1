// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_PIPELINE_H
#define GRADSYNC_P4_PIPELINE_H

#include "ns3/p4-machine.h"
#include "ns3/p4-program.h"
#include "ns3/p4-replication.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A digest: the values of the list's fields, their limbs one behind the other.
struct P4DigestSample
{
    uint32_t list = 0;
    std::vector<uint64_t> values;
};

/// A packet between ingress and egress, while it waits in a queue.
struct P4WaitingPacket
{
    P4Replica to;
    std::vector<uint64_t> fields; //!< all that is the packet's own in the machine's store
    uint64_t packetLength = 0;
    uint64_t truncateBytes = UINT64_MAX;
    std::vector<uint8_t> payload; //!< what the parser left
    size_t frameBytes = 0;        //!< of the frame that came in, which counters and meters count
};

/// A packet that leaves a switch.
struct P4OutputPacket
{
    uint32_t port = 0;
    /// The frame; of a packet that waits for its egress, as ingress left it.
    std::vector<uint8_t> bytes;
    /// See P4Pipeline::SetQueues; else null.
    std::shared_ptr<const P4WaitingPacket> waiting;
};

/// What a queue tells of a packet that leaves it.
struct P4QueueReport
{
    uint64_t enqueuedUs = 0;   //!< when it joined the queue
    uint32_t enqueueDepth = 0; //!< packets that waited then, itself not counted
    uint32_t dequeueDepth = 0; //!< packets that wait now, itself not counted
};

/**
 * One v1model switch that runs a compiled P4 program, as BMv2's simple_switch does, without queues
 * and time of its own: parser, checksums, ingress, then unicast, multicast, clone or resubmit,
 * egress and deparser, and recirculation. Several switches may share a program.
 */
class P4Pipeline
{
  public:
    explicit P4Pipeline(std::shared_ptr<const P4Program> program);

    /// Makes all but mirroring sessions, which BMv2 keeps, those of a new switch.
    void ResetState();

    /**
     * Takes a packet in and gives what leaves, in order.
     * \param frame bytes from the Ethernet header on, without FCS
     * \param port where it came in, 0 to 510
     * \param timeUs what the program sees as time
     * \returns packets that stay as they are until the next call
     * \throws P4Error when the program asserts what is not so, or does not end
     */
    std::span<const P4OutputPacket> Process(std::span<const uint8_t> frame,
                                            uint32_t port,
                                            uint64_t timeUs = 0);

    /**
     * From now on somebody else has the queues between ingress and egress: outputs have `waiting`,
     * and go through egress by Leave. Without, egress follows at once, and queues are empty.
     */
    void SetQueues(bool areElsewhere)
    {
        m_hasQueues = areElsewhere;
    }

    /**
     * A packet has waited, and goes through egress.
     * \param[out] hasLeft whether the first output is that packet: egress may drop it
     * \returns outputs as Process has them: the packet, and what egress cloned or sent round again
     * \throws P4Error as Process
     */
    std::span<const P4OutputPacket> Leave(const P4WaitingPacket& packet,
                                          const P4QueueReport& report,
                                          uint64_t timeUs,
                                          bool& hasLeft);

    /// Packets that the counter of this name and index has seen. \throws P4Error
    uint64_t GetCounterPackets(const std::string& name, uint32_t index) const;
    /// The lowest 64 bits of a register. \throws P4Error
    uint64_t GetRegister(const std::string& name, uint32_t index);
    void SetRegister(const std::string& name, uint32_t index, const std::vector<uint64_t>& value);

    /// All limbs of a register. \throws P4Error
    std::vector<uint64_t> GetRegisterLimbs(const std::string& name, uint32_t index) const;
    /// All cells 0. \throws P4Error
    void ResetRegister(const std::string& name);
    /// \throws P4Error
    P4CounterValue GetCounter(const std::string& name, uint32_t index) const;
    void SetCounter(const std::string& name, uint32_t index, P4CounterValue value);
    /// All of an array 0. \throws P4Error
    void ResetCounter(const std::string& name);

    /// The entries of a table at run time. \throws P4Error when there is no such table
    P4MatchTable& FindTable(const std::string& name);

    /// Who gets copies of packets: multicast groups and mirroring sessions.
    P4Replication& GetReplication()
    {
        return m_replication;
    }

    /**
     * The members and groups of an action profile. Entries lead to them by P4TableEntry::target and
     * member, which P4ActionMembers::Check tests. \throws P4Error when there is no such profile
     */
    P4ActionMembers& FindProfile(const std::string& name);
    /// Deletes what no entry and no group leads to. \throws P4Error
    void DeleteMember(const std::string& profile, uint32_t member);
    void DeleteMemberGroup(const std::string& profile, uint32_t group);
    /// The meters of an array. \throws P4Error when there is no such array
    P4MeterArrayState& FindMeter(const std::string& name);
    /// A parser's value set: values have the limbs of P4ValueSet::bits. \throws P4Error
    void AddToValueSet(const std::string& name, std::vector<uint64_t> value);
    void RemoveFromValueSet(const std::string& name, const std::vector<uint64_t>& value);
    void ClearValueSet(const std::string& name);
    std::vector<std::vector<uint64_t>> GetValueSet(const std::string& name);

    /// The digests that wait for the control plane, in the order of packets. One that is the same
    /// as another that waits is left out, as in BMv2 until it is acknowledged.
    const std::vector<P4DigestSample>& GetDigests() const
    {
        return m_digests;
    }

    /// Gives the digests to the control plane, which acknowledges them.
    std::vector<P4DigestSample> TakeDigests();
    /// The digest as a line: its list's name, and names and values of fields.
    std::string DescribeDigest(const P4DigestSample& sample) const;

    /// Digests that were not kept, since 65,536 waited.
    uint64_t CountLostDigests() const
    {
        return m_lostDigests;
    }

    /// The first 10,000 messages of log_msg.
    const std::vector<std::string>& GetLog() const
    {
        return m_machine.GetLog();
    }

    uint64_t CountLogged() const
    {
        return m_machine.CountLogged();
    }

    /// Random numbers of the program follow from the seed.
    void SeedRandom(uint64_t seed)
    {
        m_machine.SeedRandom(seed);
    }

    const P4Program& GetProgram() const
    {
        return *m_program;
    }

    /// Accesses to registers and counters outside their arrays, which did nothing.
    uint64_t GetOutOfRange() const
    {
        return m_machine.GetOutOfRange();
    }

  private:
    /// How a packet came to be, as simple_switch numbers it in standard_metadata.instance_type.
    enum InstanceType : uint32_t
    {
        NORMAL = 0,
        INGRESS_CLONE = 1,
        EGRESS_CLONE = 2,
        RECIRCULATED = 4,
        REPLICATION = 5,
        RESUBMITTED = 6,
    };

    /// A packet that goes through ingress again, with the metadata that it keeps.
    struct Again
    {
        std::vector<uint8_t> bytes;
        uint32_t instanceType = 0;
        std::vector<uint64_t> kept;
        uint32_t fieldList = 0;
    };

    void RunIngress(std::span<const uint8_t> frame,
                    uint32_t port,
                    uint32_t type,
                    const Again* again);
    void Parse(std::span<const uint8_t> frame, uint32_t port, uint32_t type, const Again* again);
    void LeaveIngress(std::span<const uint8_t> frame, uint32_t port);
    void CloneFromIngress(std::span<const uint8_t> frame, uint32_t port);
    void Replicate(const std::vector<P4Replica>& replicas);
    void RunEgress(P4Replica to);
    void Wait(P4Replica to);
    void FinishEgress(P4Replica to);
    void RunAgain();
    P4OutputPacket& AddOutput(uint32_t port);
    void CloneFromEgress(const P4Machine::Requests& requests, uint64_t length);
    void Send(P4Replica to);
    std::vector<uint64_t> KeepFields(uint32_t fieldList);
    void RestoreFields(uint32_t fieldList, const std::vector<uint64_t>& kept);
    /// Keeps a digest of the packet.
    void Learn(uint32_t list);
    /// Counts a pass through egress or ingress; a packet that makes too many never ends.
    void CountPass();
    bool IsReferred(const std::string& profile, P4EntryTarget target, uint32_t handle);
    std::set<std::vector<uint64_t>>& FindValueSet(const std::string& name);
    uint32_t FindRegisterIndex(const std::string& name, uint32_t index) const;
    uint32_t FindCounterIndex(const std::string& name, uint32_t index) const;

    std::shared_ptr<const P4Program> m_program;
    P4Machine m_machine;
    P4Replication m_replication;
    std::vector<P4OutputPacket> m_outputs;
    size_t m_outputCount = 0;
    std::deque<Again> m_again;
    std::vector<P4DigestSample> m_digests;
    std::set<std::pair<uint32_t, std::vector<uint64_t>>> m_unacknowledged;
    uint64_t m_lostDigests = 0;
    uint64_t m_timeUs = 0;
    uint32_t m_passes = 0;
    bool m_hasQueues = false;
    bool m_hasLeft = false; //!< of Leave's packet
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_PIPELINE_H
