// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CONGESTION_CONTROL_H
#define GRADSYNC_CONGESTION_CONTROL_H

#include "ns3/fabric-packet.h"
#include "ns3/nstime.h"
#include "ns3/object-pool.h"
#include "ns3/object.h"
#include "ns3/state-words.h"
#include "ns3/telemetry-record.h"

#include <cstdint>
#include <string>

namespace ns3::gradsync
{

/// What an algorithm remembers of a flow; each algorithm derives its own.
struct CongestionState
{
};

/**
 * The sending half of a connection as congestion control sees it: what the algorithm is told at the
 * start, what it decides, and what it remembers. The NIC reads the decisions for every packet, so
 * they are plain numbers.
 */
struct CongestionFlow
{
    // Decided.
    uint32_t windowPackets{UINT32_MAX}; //!< most packets in flight
    double stepsPerByte{0.0};           //!< pace, time steps a wire byte; 0: line rate
    TimeStepCount due{0};               //!< no packet may start before

    // Told.
    double lineRate;          //!< of the NIC's port, bits per second on the wire
    TimeStepCount baseRtt;    //!< full packet there, acknowledgement back, empty network
    uint32_t hops;            //!< links on the way there
    uint32_t packetWireBytes; //!< a full packet
    uint32_t windowLimit;     //!< packets, whatever the algorithm decides

    CongestionState* state{nullptr};
};

/// A path through the empty network, for those who choose parameters.
struct CongestionPath
{
    double lineRate{0.0};   //!< of the NIC's port, bits per second on the wire
    double lowestRate{0.0}; //!< of all links on the way
    Time baseRtt;           //!< full packet there, acknowledgement back
    uint32_t hops{0};       //!< links on the way there
};

/// What the transport must measure and carry for an algorithm.
struct CongestionSignals
{
    bool ecn{false}; //!< data packets are ECN-capable; acknowledgements count the marks
    TimeStepCount cnpInterval{0}; //!< receivers notify of marks this often at most; 0: never
    bool delay{false};            //!< acknowledgements carry the round-trip time
    bool telemetry{false};        //!< data packets collect INT, acknowledgements return it
    bool path{false};             //!< flows know the round-trip time and length of their path
    /// A flow stays as it was opened, at line rate, until a notification or a loss.
    bool opensFresh{false};
    uint32_t ackEvery{UINT32_MAX}; //!< receivers acknowledge at least every so many packets
};

/// What an acknowledgement tells.
struct CongestionFeedback
{
    uint32_t ackedPsn;      //!< all before it have arrived
    uint32_t nextPsn;       //!< next to be sent
    uint32_t newPackets;    //!< acknowledged by this one
    uint32_t markedPackets; //!< of those that arrived since the last acknowledgement, with CE
    const TelemetryRecord* telemetry; //!< null unless asked for
    TimeStepCount roundTrip;          //!< of the packet that is acknowledged; 0 unless asked for
};

/**
 * An algorithm that sets the pace and window of RoCE queue pairs. One object serves all flows of a
 * transport; its Attributes are the algorithm's parameters.
 *
 * An algorithm is a class derived from this one, with a constructor in its TypeId: the Attribute
 * CongestionControl of a transport takes it by the name of that TypeId. Programs may bring their
 * own.
 *
 * Times are in simulator time steps. Every call comes with the NIC's port synced to that time, so
 * that an algorithm sees its flow as it stands then.
 */
class CongestionControl : public Object
{
  public:
    static TypeId GetTypeId();

    /// What it is, in one line, for lists.
    virtual std::string GetSummary() const;

    /// What is known to go wrong with these parameters on such a path, in one sentence; by default
    /// nothing is.
    virtual std::string FindConcern(const CongestionPath& path) const;

    /// Called once, before the first flow.
    void Install();

    /// By default none.
    virtual CongestionSignals GetSignals() const;

    /// A connection opens: sets its first pace and window.
    virtual void Open(CongestionFlow& flow) = 0;
    /// A connection closes: frees what is remembered of it, by default nothing.
    virtual void Close(CongestionFlow& flow);

    /**
     * A connection that was idle, and whose flow was kept, has a message to send: its sequence
     * numbers begin anew at 0. By default nothing.
     */
    virtual void Resume(CongestionFlow& flow, TimeStepCount now);

    /// A packet of a paced flow leaves at `start`.
    virtual void OnSent(CongestionFlow& flow, uint32_t wireBytes, TimeStepCount start);

    /// A congestion notification packet has arrived.
    virtual void OnNotification(CongestionFlow& flow, TimeStepCount now);

    /// An acknowledgement has arrived.
    virtual void OnAcknowledgement(CongestionFlow& flow,
                                   const CongestionFeedback& feedback,
                                   TimeStepCount now);

    /// Packets were lost: a negative acknowledgement or a timeout.
    virtual void OnLoss(CongestionFlow& flow, bool isTimeout, TimeStepCount now);

    /**
     * What decides how a flow goes on, beside its own decisions; by default it refuses.
     * \param ackedPsn of the flow's connection: sequence numbers count from it
     */
    virtual void AddState(const CongestionFlow& flow, uint32_t ackedPsn, StateWords& words) const;

  protected:
    /// Sets the pace to a rate in bits per second on the wire; the line rate or more: no pace.
    void SetRate(CongestionFlow& flow, double rate) const;

    /// Packets that fill the line for a round trip through the empty network, at least 1.
    double GetFullWindow(const CongestionFlow& flow) const;

    /// Sets the window, at least one packet and at most the flow's limit.
    static void SetWindow(CongestionFlow& flow, double packets);

    double GetStepsPerSecond() const
    {
        return m_stepsPerSecond;
    }

  private:
    virtual void DoInstall();

    double m_stepsPerSecond{0.0};
};

/// A base for algorithms whose flows have a STATE, which derives from CongestionState and has a
/// pointer `next`.
template <typename STATE>
class StatefulCongestionControl : public CongestionControl
{
  public:
    void Close(CongestionFlow& flow) final
    {
        if (flow.state)
        {
            m_states.Give(static_cast<STATE*>(flow.state));
            flow.state = nullptr;
        }
    }

  protected:
    /// Gives the flow a fresh state.
    STATE& MakeState(CongestionFlow& flow)
    {
        auto* state = m_states.Take();
        *state = STATE{};
        flow.state = state;
        return *state;
    }

    static STATE& GetState(CongestionFlow& flow)
    {
        return *static_cast<STATE*>(flow.state);
    }

    static const STATE& GetState(const CongestionFlow& flow)
    {
        return *static_cast<const STATE*>(flow.state);
    }

  private:
    ObjectPool<STATE> m_states;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CONGESTION_CONTROL_H
