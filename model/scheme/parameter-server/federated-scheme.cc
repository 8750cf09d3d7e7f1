// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// TrainCmd: round_id, subset_size and epochs of 4 bytes each, lr of 8 on its boundary, seed of 4.
constexpr uint32_t COMMAND_BYTES = 28;

/// Answers that close a round before its time is up.
uint32_t
GetQuorum(const SchemeRequest& request)
{
    if (request.parameters.Get<std::string>("closing") == "all")
    {
        return request.workers;
    }
    const auto minimum = GetCount(request.parameters, "minimumReplies", 1);
    if (minimum > request.workers)
    {
        throw SchemeError(fmt::format("federated: \"minimumReplies\" is {}, but there are only {} "
                                      "clients that could answer",
                                      minimum,
                                      request.workers));
    }
    return minimum;
}

/// Ranks: the clients, then the controller.
Plan
BuildFederated(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto timeout = request.parameters.Get<Time>("roundTimeout");
    if (!timeout.IsStrictlyPositive())
    {
        throw SchemeError("federated: \"roundTimeout\" is 0, expected a time after which the "
                          "controller goes on without those that have not answered");
    }
    const auto clients = request.workers;
    const auto controller = clients;
    PlanBuilder builder(clients + 1,
                        clients,
                        ChunkLayout::Even(request.gradientBytes, 1, request.elementBytes));
    const auto gate = builder.AddGate(controller,
                                      GetQuorum(request),
                                      static_cast<uint64_t>(timeout.GetPicoSeconds()));
    for (uint32_t client = 0; client < clients; ++client)
    {
        const auto command = builder.AddSignal(controller, client, COMMAND_BYTES);
        const auto train = builder.AddTrain(client);
        const auto update = builder.AddReduce(client, controller, 0, 1);
        const auto model = builder.AddCopy(controller, client, 0, 1);
        builder.AddEdge(command, train);
        builder.AddEdge(train, update);
        builder.AddAnswer(update, client);
        builder.AddEdge(gate, model);
    }
    return builder.Build();
}

} // namespace

Scheme
MakeFederatedScheme()
{
    return {
        "federated",
        "rounds of a controller: command, training at the clients, answers, model to all of them",
        "DDS-based training framework, \"federated learning\"",
        {
            {"closing",
             std::string("all"),
             "all: a round ends when all clients have answered; minimum: when minimumReplies have; "
             "both: at roundTimeout with those that have, at least one",
             {"all", "minimum"}},
            {"minimumReplies",
             int64_t{1},
             "answers that end a round under closing minimum; no more than there are clients",
             {},
             1,
             65536},
            {"roundTimeout",
             Seconds(30),
             "time from the command until the controller goes on with the answers it has",
             {}},
        },
        [](const ParameterSet&) { return 1U; },
        BuildFederated,
    };
}

} // namespace ns3::gradsync
