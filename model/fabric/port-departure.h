// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PORT_DEPARTURE_H
#define GRADSYNC_PORT_DEPARTURE_H

#include "ns3/event-impl.h"
#include "ns3/fabric-packet.h"
#include "ns3/ptr.h"
#include "ns3/simulator-impl.h"

#include <cstdint>

namespace ns3::gradsync
{

class LazySender;
class SwitchRounds;

/// The next departure of a sender, where it must be seen when it happens: an event of the
/// simulator, or a turn of a switch that is ahead of it.
class PortDeparture
{
  public:
    /// Who sees to it from now on; null: the simulator. \param number of the switch there
    void SetRounds(SwitchRounds* rounds, uint32_t number)
    {
        m_rounds = rounds;
        m_number = number;
    }

    /// LazySender::Depart is called at a time. Only when it is not pending.
    void Schedule(LazySender& sender,
                  SimulatorImpl& simulator,
                  TimeStepCount at,
                  TimeStepCount now);

    void Cancel();

    /// Whose departure an event is; nullptr: it is something else, or was cancelled.
    static const LazySender* FindSender(EventImpl& event);

  private:
    SwitchRounds* m_rounds{nullptr};
    Ptr<EventImpl> m_event; //!< null until there is one for the first time
    uint32_t m_number{0};   //!< there
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PORT_DEPARTURE_H
