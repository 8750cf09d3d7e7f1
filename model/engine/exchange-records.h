// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_RECORDS_H
#define GRADSYNC_EXCHANGE_RECORDS_H

#include "ns3/nstime.h"
#include "ns3/plan.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A plan as a job ran it: of all its ranks, or of those that were left.
struct ExecutedPlan
{
    std::shared_ptr<const Plan> plan;
    std::vector<uint32_t> ranks; //!< [rank of the plan] -> rank of the job
    bool isWhole{false};         //!< of a whole gradient, not of what was missing of one
    /// Of what is left of another plan: the index of that one, which transfers name.
    std::optional<uint32_t> whole{};
    std::vector<OperationId> operations{}; //!< likewise: [operation] -> of that one
};

/// Why a run could not be finished.
struct ExchangeFailure
{
    std::string reason; //!< one line for the user: job, iteration, what and why
    uint32_t job;
    uint32_t iteration;
    /// Operations of that job's current iteration not done, ascending.
    std::vector<OperationId> unfinished;
    std::vector<OperationId> inNetwork; //!< of these, transfers under way
    uint32_t plan{0};                   //!< index of their plan, see ExchangeEngine::GetPlans
    std::vector<OperationId> arrived{}; //!< of the unfinished ones, transfers that wait to be added
    std::string cause{};                //!< of the reason: what, without what is missing
};

/// An iteration as the trace source reports it.
struct IterationRecord
{
    uint32_t job;
    uint32_t iteration;  //!< from 0
    Time start;          //!< the workers begin to compute
    Time exchangeStart;  //!< the first worker begins to exchange
    Time end;            //!< the last operation of the plan is done
    Time compress;       //!< compression of the rank that has the most of it
    Time decompress;     //!< likewise
    Time network;        //!< at least one transfer was on its way; 0 when not compressed
    uint32_t plan{0};    //!< index of the plan that ended it, see ExchangeEngine::GetPlans
    Time training;       //!< of plans in which workers are told to compute: the longest
    uint32_t replies{0}; //!< of plans with a gate: answers that counted
    uint32_t late{0};    //!< answers to it or earlier iterations that were dropped meanwhile
};

/// A moment between two iterations of a job: one is done everywhere, the next has not begun.
struct IterationBoundary
{
    uint32_t job;
    uint32_t done; //!< iterations
    uint32_t left; //!< iterations
};

/// A transfer as the trace source reports it.
struct TransferRecord
{
    uint32_t job;
    uint32_t iteration;
    OperationId operation;
    uint32_t plan; //!< index of its plan, see ExchangeEngine::GetPlans
    Time start;    //!< handed to the transport
    Time end;      //!< delivered (before the receiver's reduce time)
};

/// What a rank computed for an operation, or added of one, as the trace source reports it.
struct WorkRecord
{
    uint32_t job;
    uint32_t iteration;
    OperationId operation;
    uint32_t plan; //!< as of TransferRecord
    Time start;
    Time end;
};

/// A computation of a rank before its exchange, as the trace source reports it.
struct ComputeRecord
{
    uint32_t job;
    uint32_t iteration;
    uint32_t rank;
    Time start;
    Time end;
};

/// To what a job reacts, and how.
enum class ReactionKind : uint8_t
{
    Replan,   //!< a rank is lost, and the others have a new plan
    Fallback, //!< the network does not aggregate any more, and workers do so themselves
    Rebuild   //!< other switches, or other slots of them, aggregate; the plan is the same
};

/// As results have it: "replan".
const char* ToString(ReactionKind kind);

/// A job goes on in another way, as the trace source reports it.
struct ReactionRecord
{
    static constexpr uint32_t NO_RANK = UINT32_MAX;

    Time time;
    uint32_t job;
    uint32_t iteration;
    uint32_t plan;      //!< that is abandoned
    uint32_t rank;      //!< that is lost, or NO_RANK
    uint32_t survivors; //!< ranks that go on
    uint64_t bytes;     //!< of the gradient that are exchanged anew
    ReactionKind kind{ReactionKind::Replan};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_RECORDS_H
