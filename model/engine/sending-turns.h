// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SENDING_TURNS_H
#define GRADSYNC_SENDING_TURNS_H

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

class PlanSender;

/**
 * In which order jobs send what became ready at one instant: by their indices, not as it became
 * ready, which several processes that simulate them could not know of each other. Each has an event
 * of its own when the instant is over, and in each the first one that waits sends.
 */
class SendingTurns
{
  public:
    SendingTurns();
    ~SendingTurns();
    SendingTurns(const SendingTurns&) = delete;
    SendingTurns& operator=(const SendingTurns&) = delete;

    /// It has something to send when this instant is over. Once in an instant.
    void Add(uint32_t job, PlanSender& sender);

    /// It has not.
    void Remove(const PlanSender& sender);

  private:
    using Waiting = std::vector<std::pair<uint32_t, PlanSender*>>;

    static void TakeFirst(Waiting& waiting);

    std::shared_ptr<Waiting> m_waiting; //!< by job; shared with the events
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SENDING_TURNS_H
