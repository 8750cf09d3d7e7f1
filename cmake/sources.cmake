# SPDX-License-Identifier: GPL-2.0-only
# The one file list of the module, read by both branches of CMakeLists.txt. A section per room, bottom up.

set(gradsync_sources)
set(gradsync_headers)

# model/base
list(APPEND gradsync_sources
  model/base/gzip-text.cc
  model/base/input-file.cc
  model/base/nearest-name.cc
  model/base/parameter-spec.cc
  model/base/parameter-text.cc
  model/base/regular-expression.cc
  model/base/units.cc
)
list(APPEND gradsync_headers
  model/base/aggregation-flow.h
  model/base/byte-batch.h
  model/base/byte-range.h
  model/base/chunked-list.h
  model/base/event-order.h
  model/base/gzip-text.h
  model/base/input-file.h
  model/base/nearest-name.h
  model/base/ns3-interfaces.h
  model/base/outgoing-batch.h
  model/base/parameter-spec.h
  model/base/parameter-text.h
  model/base/prefetch.h
  model/base/regular-expression.h
  model/base/running-numbers.h
  model/base/sharp-limits.h
  model/base/state-words.h
  model/base/time-range.h
  model/base/units.h
)

# model/topology
list(APPEND gradsync_sources
  model/topology/all-reduce-bound.cc
  model/topology/fat-tree-topology.cc
  model/topology/forwarding-components.cc
  model/topology/graph-topology.cc
  model/topology/group-finder.cc
  model/topology/inner-networks.cc
  model/topology/node-components.cc
  model/topology/rail-topology.cc
  model/topology/route-finder.cc
  model/topology/routing-tables-maker.cc
  model/topology/routing-tables.cc
  model/topology/server-builder.cc
  model/topology/spine-leaf-topology.cc
  model/topology/star-topology.cc
  model/topology/three-tier-topology.cc
  model/topology/topology-division.cc
  model/topology/topology-kinds.cc
  model/topology/topology.cc
)
list(APPEND gradsync_headers
  model/topology/all-reduce-bound.h
  model/topology/fat-tree-topology.h
  model/topology/forwarding-components.h
  model/topology/graph-topology.h
  model/topology/group-finder.h
  model/topology/inner-networks.h
  model/topology/node-components.h
  model/topology/rail-topology.h
  model/topology/route-finder.h
  model/topology/routing-tables.h
  model/topology/server-builder.h
  model/topology/spine-leaf-topology.h
  model/topology/star-topology.h
  model/topology/three-tier-topology.h
  model/topology/topology-division.h
  model/topology/topology-kinds.h
  model/topology/topology.h
  model/topology/worker-groups.h
)

# model/compression
list(APPEND gradsync_sources
  model/compression/block-top-k.cc
  model/compression/codec-decorators.cc
  model/compression/codec-spec.cc
  model/compression/dense-codecs.cc
  model/compression/dgc-selector.cc
  model/compression/gradient-codec.cc
  model/compression/gradient-distribution.cc
  model/compression/gradient-reductions.cc
  model/compression/instruction-sets.cc
  model/compression/int8-loops.cc
  model/compression/low-rank-codec.cc
  model/compression/low-rank.cc
  model/compression/parallel-ranges.cc
  model/compression/quantiser-loops.cc
  model/compression/quantisers.cc
  model/compression/sign-quantisers.cc
  model/compression/sparse-codecs.cc
  model/compression/sparse-selection.cc
  model/compression/stochastic-codecs.cc
  model/compression/stochastic-quantisers.cc
  model/compression/thc-codec.cc
  model/compression/thc.cc
)
list(APPEND gradsync_headers
  model/compression/block-top-k.h
  model/compression/codec-spec.h
  model/compression/dgc-selector.h
  model/compression/feedback-arithmetic.h
  model/compression/float-bits.h
  model/compression/gradient-codec.h
  model/compression/gradient-distribution.h
  model/compression/gradient-reductions.h
  model/compression/instruction-sets.h
  model/compression/int8-loops.h
  model/compression/low-rank-arithmetic.h
  model/compression/low-rank.h
  model/compression/parallel-ranges.h
  model/compression/philox.h
  model/compression/quantiser-arithmetic.h
  model/compression/quantiser-loops.h
  model/compression/quantisers.h
  model/compression/sized-codec.h
  model/compression/sparse-selection.h
  model/compression/sparsifier-arithmetic.h
  model/compression/stochastic-arithmetic.h
  model/compression/stochastic-quantisers.h
  model/compression/thc-arithmetic.h
  model/compression/thc.h
)
# GCC does not vectorise a choice between two results where computing both could trap. No value depends on it.
set_source_files_properties(model/compression/quantiser-loops.cc model/compression/stochastic-quantisers.cc
  PROPERTIES COMPILE_OPTIONS -fno-trapping-math)

# model/p4
list(APPEND gradsync_sources
  model/p4/p4-action-members.cc
  model/p4/p4-calculation.cc
  model/p4/p4-json.cc
  model/p4/p4-limbs.cc
  model/p4/p4-log.cc
  model/p4/p4-machine-externs.cc
  model/p4/p4-machine-headers.cc
  model/p4/p4-machine-packet.cc
  model/p4/p4-machine-primitives.cc
  model/p4/p4-machine-wide.cc
  model/p4/p4-machine.cc
  model/p4/p4-match-table.cc
  model/p4/p4-meter.cc
  model/p4/p4-pipeline-arrays.cc
  model/p4/p4-pipeline-control.cc
  model/p4/p4-pipeline-digests.cc
  model/p4/p4-pipeline-egress.cc
  model/p4/p4-pipeline.cc
  model/p4/p4-replication.cc
)
list(APPEND gradsync_headers
  model/p4/p4-action-members.h
  model/p4/p4-calculation.h
  model/p4/p4-error.h
  model/p4/p4-json.h
  model/p4/p4-limbs.h
  model/p4/p4-log.h
  model/p4/p4-machine.h
  model/p4/p4-match-table.h
  model/p4/p4-meter.h
  model/p4/p4-pipeline.h
  model/p4/p4-program.h
  model/p4/p4-replication.h
  model/p4/p4-wire-bits.h
)

# model/p4/compiler
list(APPEND gradsync_sources
  model/p4/compiler/p4-action-compiler.cc
  model/p4/compiler/p4-action-headers.cc
  model/p4/compiler/p4-calculation-loader.cc
  model/p4/compiler/p4-control-compiler.cc
  model/p4/compiler/p4-emitter.cc
  model/p4/compiler/p4-expression-arithmetic.cc
  model/p4/compiler/p4-expression-compiler.cc
  model/p4/compiler/p4-expression-headers.cc
  model/p4/compiler/p4-parser-compiler.cc
  model/p4/compiler/p4-program-loader-headers.cc
  model/p4/compiler/p4-program-loader-state.cc
  model/p4/compiler/p4-program-loader.cc
  model/p4/compiler/p4-program-text.cc
)
list(APPEND gradsync_headers
  model/p4/compiler/p4-action-compiler.h
  model/p4/compiler/p4-calculation-loader.h
  model/p4/compiler/p4-control-compiler.h
  model/p4/compiler/p4-emitter.h
  model/p4/compiler/p4-expression-compiler.h
  model/p4/compiler/p4-parser-compiler.h
  model/p4/compiler/p4-program-loader.h
  model/p4/compiler/p4-program-text.h
)

# model/p4/runtime
list(APPEND gradsync_sources
  model/p4/runtime/p4-command-writer.cc
  model/p4/runtime/p4-runtime-commands.cc
  model/p4/runtime/p4-runtime-json.cc
  model/p4/runtime/p4-runtime-profile-commands.cc
  model/p4/runtime/p4-runtime-state-commands.cc
  model/p4/runtime/p4-runtime-text.cc
  model/p4/runtime/p4-runtime-values.cc
)
list(APPEND gradsync_headers
  model/p4/runtime/p4-command-writer.h
  model/p4/runtime/p4-runtime-commands.h
  model/p4/runtime/p4-runtime-text.h
  model/p4/runtime/p4-runtime-values.h
)

# model/p4/stf
list(APPEND gradsync_sources
  model/p4/stf/p4-stf-player.cc
  model/p4/stf/p4-stf-vector.cc
)
list(APPEND gradsync_headers
  model/p4/stf/p4-stf-player.h
  model/p4/stf/p4-stf-vector.h
)

# model/plan
list(APPEND gradsync_sources
  model/plan/chunk-layout.cc
  model/plan/chunk-race-finder.cc
  model/plan/collective.cc
  model/plan/dataflow-builder.cc
  model/plan/edge-sorter.cc
  model/plan/message-protocol.cc
  model/plan/plan-builder.cc
  model/plan/plan-graph.cc
  model/plan/plan-join.cc
  model/plan/plan-order.cc
  model/plan/plan-part.cc
  model/plan/plan-protocol.cc
  model/plan/plan-statistics.cc
  model/plan/plan-verifier.cc
  model/plan/plan.cc
  model/plan/round-counter.cc
)
list(APPEND gradsync_headers
  model/plan/aggregation-gate.h
  model/plan/aggregation-protocol.h
  model/plan/chunk-layout.h
  model/plan/chunk-race-finder.h
  model/plan/collective.h
  model/plan/coming-numbers.h
  model/plan/dataflow-builder.h
  model/plan/edge-sorter.h
  model/plan/made-range.h
  model/plan/message-protocol.h
  model/plan/operation-table.h
  model/plan/operation.h
  model/plan/packed-rows.h
  model/plan/plan-builder.h
  model/plan/plan-gate.h
  model/plan/plan-graph.h
  model/plan/plan-join.h
  model/plan/plan-order.h
  model/plan/plan-part.h
  model/plan/plan-protocol.h
  model/plan/plan-statistics.h
  model/plan/plan-verifier.h
  model/plan/plan.h
  model/plan/round-counter.h
)

# model/scheme
list(APPEND gradsync_headers
  model/scheme/scheme-choice.h
  model/scheme/scheme.h
  model/scheme/schemes.h
)

# model/scheme/pattern
list(APPEND gradsync_sources
  model/scheme/pattern/aggregation-trees.cc
  model/scheme/pattern/gather-exchange.cc
  model/scheme/pattern/grid-exchange.cc
  model/scheme/pattern/grid-support.cc
  model/scheme/pattern/group-exchange.cc
  model/scheme/pattern/hypercube-fold.cc
  model/scheme/pattern/lock-step.cc
  model/scheme/pattern/piece-credit.cc
  model/scheme/pattern/rooted-tree.cc
  model/scheme/pattern/scheme-groups.cc
  model/scheme/pattern/scheme-support.cc
  model/scheme/pattern/two-level-exchange.cc
)
list(APPEND gradsync_headers
  model/scheme/pattern/aggregation-trees.h
  model/scheme/pattern/fallback-spec.h
  model/scheme/pattern/gather-exchange.h
  model/scheme/pattern/grid-exchange.h
  model/scheme/pattern/grid-support.h
  model/scheme/pattern/group-exchange.h
  model/scheme/pattern/hypercube-fold.h
  model/scheme/pattern/lock-step.h
  model/scheme/pattern/piece-credit.h
  model/scheme/pattern/rooted-tree.h
  model/scheme/pattern/scheme-groups.h
  model/scheme/pattern/scheme-support.h
  model/scheme/pattern/two-level-exchange.h
)

# model/scheme/allreduce
list(APPEND gradsync_sources
  model/scheme/allreduce/blueconnect-scheme.cc
  model/scheme/allreduce/butterfly-scheme.cc
  model/scheme/allreduce/double-binary-tree-scheme.cc
  model/scheme/allreduce/halving-doubling-scheme.cc
  model/scheme/allreduce/hierarchical-scheme.cc
  model/scheme/allreduce/k-nomial-scheme.cc
  model/scheme/allreduce/mesh-2d-scheme.cc
  model/scheme/allreduce/multi-ring-scheme.cc
  model/scheme/allreduce/rat-scheme.cc
  model/scheme/allreduce/ring-scheme.cc
  model/scheme/allreduce/torus-2d-scheme.cc
)

# model/scheme/parameter-server
list(APPEND gradsync_sources
  model/scheme/parameter-server/bcube-hips-scheme.cc
  model/scheme/parameter-server/byteps-scheme.cc
  model/scheme/parameter-server/federated-scheme.cc
  model/scheme/parameter-server/geo-hips-scheme.cc
  model/scheme/parameter-server/parameter-hub-scheme.cc
  model/scheme/parameter-server/plink-scheme.cc
  model/scheme/parameter-server/ps-ring-scheme.cc
  model/scheme/parameter-server/ps-scheme.cc
  model/scheme/parameter-server/torus-hips-scheme.cc
)

# model/scheme/in-network
list(APPEND gradsync_sources
  model/scheme/in-network/atp-scheme.cc
  model/scheme/in-network/flare-scheme.cc
  model/scheme/in-network/libra-scheme.cc
  model/scheme/in-network/netreduce-scheme.cc
  model/scheme/in-network/nvls-scheme.cc
  model/scheme/in-network/passing-scheme.cc
  model/scheme/in-network/server-aggregation.cc
  model/scheme/in-network/sharp-scheme.cc
  model/scheme/in-network/switchml-scheme.cc
  model/scheme/in-network/whole-aggregation.cc
)
list(APPEND gradsync_headers
  model/scheme/in-network/server-aggregation.h
  model/scheme/in-network/whole-aggregation.h
)

# model/scheme/sparse
list(APPEND gradsync_sources
  model/scheme/sparse/bbtopk-scheme.cc
  model/scheme/sparse/ok-topk-scheme.cc
  model/scheme/sparse/sparse-all-gather-scheme.cc
)

# model/scheme/collective
list(APPEND gradsync_sources
  model/scheme/collective/all-gather-scheme.cc
  model/scheme/collective/all-to-all-scheme.cc
  model/scheme/collective/barrier-scheme.cc
  model/scheme/collective/broadcast-scheme.cc
  model/scheme/collective/reduce-scatter-scheme.cc
  model/scheme/collective/reduce-scheme.cc
)

# model/scheme/catalogue
list(APPEND gradsync_sources
  model/scheme/catalogue/scheme-registry.cc
)

# model/fabric
list(APPEND gradsync_sources
  model/fabric/arrival-table.cc
  model/fabric/cancelled-events.cc
  model/fabric/ecn-marker.cc
  model/fabric/fabric-cut.cc
  model/fabric/fabric-faults.cc
  model/fabric/fabric-network.cc
  model/fabric/fabric-part.cc
  model/fabric/fabric-port.cc
  model/fabric/fabric-rounds.cc
  model/fabric/fabric-state.cc
  model/fabric/fabric-switch.cc
  model/fabric/fabric-twins.cc
  model/fabric/flood-clock.cc
  model/fabric/flood-source.cc
  model/fabric/lazy-sender.cc
  model/fabric/link-fault.cc
  model/fabric/load-balancing.cc
  model/fabric/packet-state.cc
  model/fabric/path-selector.cc
  model/fabric/port-departure.cc
  model/fabric/port-prefetch.cc
  model/fabric/port-taps.cc
  model/fabric/radix-scheduler.cc
  model/fabric/switch-buffer.cc
  model/fabric/switch-inbox.cc
  model/fabric/switch-rounds.cc
  model/fabric/telemetry-writer.cc
)
list(APPEND gradsync_headers
  model/fabric/arrival-table.h
  model/fabric/bucket-set.h
  model/fabric/cancelled-events.h
  model/fabric/control-queue.h
  model/fabric/data-queue.h
  model/fabric/ecn-marker.h
  model/fabric/fabric-cut.h
  model/fabric/fabric-endpoint.h
  model/fabric/fabric-network.h
  model/fabric/fabric-node.h
  model/fabric/fabric-packet.h
  model/fabric/fabric-part.h
  model/fabric/fabric-port.h
  model/fabric/fabric-switch.h
  model/fabric/fabric-wire.h
  model/fabric/flood-clock.h
  model/fabric/flood-source.h
  model/fabric/lazy-ports.h
  model/fabric/lazy-sender.h
  model/fabric/leaving-order.h
  model/fabric/link-fault.h
  model/fabric/link-state.h
  model/fabric/load-balancing.h
  model/fabric/object-pool.h
  model/fabric/packet-loss.h
  model/fabric/packet-pool.h
  model/fabric/packet-source.h
  model/fabric/packet-state.h
  model/fabric/path-selector.h
  model/fabric/pause-clock.h
  model/fabric/port-counters.h
  model/fabric/port-departure.h
  model/fabric/port-observer.h
  model/fabric/port-prefetch.h
  model/fabric/port-taps.h
  model/fabric/radix-scheduler.h
  model/fabric/serialisation-time.h
  model/fabric/switch-buffer.h
  model/fabric/switch-inbox.h
  model/fabric/switch-program.h
  model/fabric/switch-rounds.h
  model/fabric/telemetry-record.h
  model/fabric/telemetry-writer.h
  model/fabric/watched-trace.h
  model/fabric/wire-format.h
)

# model/transport
list(APPEND gradsync_sources
  model/transport/capture-names.cc
  model/transport/transport-capabilities.cc
  model/transport/network-aggregation.cc
  model/transport/transport.cc
)
list(APPEND gradsync_headers
  model/transport/aggregation-load.h
  model/transport/capture-names.h
  model/transport/divided-transport.h
  model/transport/message.h
  model/transport/transport-aggregation.h
  model/transport/transport-capabilities.h
  model/transport/transport-faults.h
  model/transport/transport-statistics.h
  model/transport/network-aggregation.h
  model/transport/network-part.h
  model/transport/transport.h
)

# model/transport/congestion
list(APPEND gradsync_sources
  model/transport/congestion/congestion-control.cc
  model/transport/congestion/congestion-controls.cc
  model/transport/congestion/dcqcn-control.cc
  model/transport/congestion/dctcp-control.cc
  model/transport/congestion/hpcc-control.cc
  model/transport/congestion/rate-profile.cc
  model/transport/congestion/swift-control.cc
  model/transport/congestion/timely-control.cc
)
list(APPEND gradsync_headers
  model/transport/congestion/congestion-control.h
  model/transport/congestion/congestion-controls.h
  model/transport/congestion/dcqcn-control.h
  model/transport/congestion/dctcp-control.h
  model/transport/congestion/hpcc-control.h
  model/transport/congestion/rate-profile.h
  model/transport/congestion/swift-control.h
  model/transport/congestion/timely-control.h
)

# model/transport/roce
list(APPEND gradsync_sources
  model/transport/roce/longest-path.cc
  model/transport/roce/roce-arrivals.cc
  model/transport/roce/roce-capabilities.cc
  model/transport/roce/roce-capture.cc
  model/transport/roce/roce-connection-table.cc
  model/transport/roce/roce-faults.cc
  model/transport/roce/roce-flows.cc
  model/transport/roce/roce-frame-maker.cc
  model/transport/roce/roce-frame.cc
  model/transport/roce/roce-installation.cc
  model/transport/roce/roce-mirrors.cc
  model/transport/roce/roce-nic.cc
  model/transport/roce/roce-part.cc
  model/transport/roce/roce-queue-pair.cc
  model/transport/roce/roce-queue-pairs.cc
  model/transport/roce/roce-receiver.cc
  model/transport/roce/roce-sender-connections.cc
  model/transport/roce/roce-sender-failures.cc
  model/transport/roce/roce-sender-reservations.cc
  model/transport/roce/roce-sender.cc
  model/transport/roce/roce-state.cc
  model/transport/roce/roce-transport.cc
)
list(APPEND gradsync_headers
  model/transport/roce/droppable-packets.h
  model/transport/roce/longest-path.h
  model/transport/roce/message-series.h
  model/transport/roce/message-shapes.h
  model/transport/roce/packet-set.h
  model/transport/roce/place-table.h
  model/transport/roce/roce-arrivals.h
  model/transport/roce/roce-capture.h
  model/transport/roce/roce-connection-table.h
  model/transport/roce/roce-flows.h
  model/transport/roce/roce-frame-maker.h
  model/transport/roce/roce-frame.h
  model/transport/roce/roce-handlers.h
  model/transport/roce/roce-incidents.h
  model/transport/roce/roce-mirrors.h
  model/transport/roce/roce-nic.h
  model/transport/roce/roce-part.h
  model/transport/roce/roce-post.h
  model/transport/roce/roce-queue-pair.h
  model/transport/roce/roce-queue-pairs.h
  model/transport/roce/roce-receiver.h
  model/transport/roce/roce-reservation.h
  model/transport/roce/roce-sender.h
  model/transport/roce/roce-transport.h
  model/transport/roce/timeout-queue.h
  model/transport/roce/turn-queue.h
)

# model/transport/tcp
list(APPEND gradsync_sources
  model/transport/tcp/factory-text.cc
  model/transport/tcp/network-reader.cc
  model/transport/tcp/tcp-built-network.cc
  model/transport/tcp/tcp-connection.cc
  model/transport/tcp/tcp-flood.cc
  model/transport/tcp/tcp-link-fault.cc
  model/transport/tcp/tcp-existing-network.cc
  model/transport/tcp/tcp-transport.cc
  model/transport/tcp/topology-routing.cc
)
list(APPEND gradsync_headers
  model/transport/tcp/factory-text.h
  model/transport/tcp/network-reader.h
  model/transport/tcp/tcp-built-network.h
  model/transport/tcp/tcp-connection.h
  model/transport/tcp/tcp-existing-network.h
  model/transport/tcp/tcp-flood.h
  model/transport/tcp/tcp-link-fault.h
  model/transport/tcp/tcp-network.h
  model/transport/tcp/tcp-transport.h
  model/transport/tcp/topology-routing.h
)

# model/transport/fluid
list(APPEND gradsync_sources
  model/transport/fluid/fluid-faults.cc
  model/transport/fluid/fluid-service.cc
  model/transport/fluid/fluid-transport.cc
  model/transport/fluid/max-min-allocator.cc
)
list(APPEND gradsync_headers
  model/transport/fluid/fluid-transport.h
  model/transport/fluid/max-min-allocator.h
)

# model/transport/tiered
list(APPEND gradsync_sources
  model/transport/tiered/tiered-capabilities.cc
  model/transport/tiered/tiered-transport.cc
)
list(APPEND gradsync_headers
  model/transport/tiered/tiered-transport.h
)

# model/workload
list(APPEND gradsync_sources
  model/workload/codec-profile.cc
  model/workload/context-ring.cc
  model/workload/differential-transmission.cc
  model/workload/exchange-compressor.cc
  model/workload/gradient-buckets.cc
  model/workload/gradient-codecs.cc
  model/workload/gradient-exchange.cc
  model/workload/gradient-states.cc
  model/workload/low-rank-exchange.cc
  model/workload/pipeline-schedule.cc
  model/workload/plan-compressor.cc
  model/workload/plan-shelf.cc
  model/workload/rank-layout.cc
  model/workload/rank-program.cc
  model/workload/rank-program-blocks.cc
  model/workload/sharded-parameters.cc
  model/workload/training-meeting.cc
  model/workload/training-workload.cc
  model/workload/workload.cc
  model/workload/packed-offsets.cc
  model/workload/workload-builder.cc
  model/workload/workload-deadlock.cc
)
list(APPEND gradsync_headers
  model/workload/codec-profile.h
  model/workload/context-ring.h
  model/workload/differential-transmission.h
  model/workload/exchange-compressor.h
  model/workload/gradient-buckets.h
  model/workload/gradient-codecs.h
  model/workload/gradient-exchange.h
  model/workload/gradient-states.h
  model/workload/low-rank-exchange.h
  model/workload/pipeline-schedule.h
  model/workload/plan-compressor.h
  model/workload/plan-shelf.h
  model/workload/rank-layout.h
  model/workload/rank-program.h
  model/workload/sharded-parameters.h
  model/workload/training-meeting.h
  model/workload/training-workload.h
  model/workload/workload.h
  model/workload/packed-offsets.h
  model/workload/workload-builder.h
  model/workload/workload-deadlock.h
)

# model/training
list(APPEND gradsync_sources
  model/training/convolution-model.cc
  model/training/device-parameters.cc
  model/training/device-profile.cc
  model/training/model-kinds.cc
  model/training/model-spec.cc
  model/training/model-training.cc
  model/training/training-layer-checks.cc
  model/training/training-layer-exchanges.cc
  model/training/training-layer-times.cc
  model/training/training-layers.cc
  model/training/training-memory.cc
  model/training/transformer-model.cc
)
list(APPEND gradsync_headers
  model/training/convolution-model.h
  model/training/device-profile.h
  model/training/model-kinds.h
  model/training/model-spec.h
  model/training/model-training.h
  model/training/training-layers.h
)

# model/import
list(APPEND gradsync_sources
  model/import/goal-annotation.cc
  model/import/goal-graph.cc
  model/import/goal-planner.cc
  model/import/goal-restorer.cc
  model/import/goal-schedule.cc
  model/import/goal-tokens.cc
  model/import/goal-writer.cc
  model/import/import-scheme.cc
  model/import/msccl-algorithm.cc
  model/import/msccl-planner.cc
  model/import/plan-document-reader.cc
  model/import/plan-document.cc
  model/import/plan-json.cc
  model/import/xml-document.cc
)
list(APPEND gradsync_headers
  model/import/goal-annotation.h
  model/import/goal-graph.h
  model/import/goal-planner.h
  model/import/goal-restorer.h
  model/import/goal-schedule.h
  model/import/goal-tokens.h
  model/import/goal-writer.h
  model/import/import-error.h
  model/import/import-scheme.h
  model/import/msccl-algorithm.h
  model/import/msccl-planner.h
  model/import/plan-document.h
  model/import/plan-json.h
  model/import/xml-document.h
)

# model/import/trace
list(APPEND gradsync_sources
  model/import/trace/aicb-program.cc
  model/import/trace/aicb-table.cc
  model/import/trace/aicb-trace.cc
  model/import/trace/aicb-workload-reader.cc
  model/import/trace/chakra-json-reader.cc
  model/import/trace/chakra-program.cc
  model/import/trace/chakra-protobuf-reader.cc
  model/import/trace/chakra-steps.cc
  model/import/trace/chakra-workload-writer.cc
  model/import/trace/chakra-writer.cc
  model/import/trace/dapple-table.cc
  model/import/trace/matched-trace.cc
  model/import/trace/pytorch-json-reader.cc
  model/import/trace/pytorch-operators.cc
  model/import/trace/pytorch-process-groups.cc
  model/import/trace/pytorch-program.cc
  model/import/trace/trace-circles.cc
  model/import/trace/trace-issues.cc
  model/import/trace/trace-lines.cc
  model/import/trace/trace-program-builder.cc
  model/import/trace/trace-workload.cc
)
list(APPEND gradsync_headers
  model/import/trace/aicb-program.h
  model/import/trace/aicb-workload.h
  model/import/trace/chakra-files.h
  model/import/trace/chakra-program.h
  model/import/trace/chakra-steps.h
  model/import/trace/chakra-types.h
  model/import/trace/chakra-workload-writer.h
  model/import/trace/chakra-writer.h
  model/import/trace/dapple-table.h
  model/import/trace/matched-trace.h
  model/import/trace/pytorch-node.h
  model/import/trace/pytorch-process-groups.h
  model/import/trace/pytorch-trace.h
  model/import/trace/trace-circles.h
  model/import/trace/trace-issues.h
  model/import/trace/trace-lines.h
  model/import/trace/trace-program.h
  model/import/trace/trace-program-builder.h
  model/import/trace/trace-workload.h
)

# model/planner
list(APPEND gradsync_sources
  model/planner/aggregation-pace.cc
  model/planner/auto-planner.cc
  model/planner/bandwidth-bound.cc
  model/planner/exchange-builder.cc
  model/planner/fluid-aggregations.cc
  model/planner/fluid-execution.cc
  model/planner/job-planner.cc
  model/planner/nccl-machine.cc
  model/planner/nccl-model.cc
  model/planner/nccl-schemes.cc
  model/planner/path-catalogue.cc
  model/planner/plan-estimator.cc
  model/planner/served-paths.cc
  model/planner/survivor-planner.cc
  model/planner/time-bound.cc
  model/planner/training-planner.cc
  model/planner/training-tuner.cc
  model/planner/workload-estimator.cc
)
list(APPEND gradsync_headers
  model/planner/aggregation-finder.h
  model/planner/aggregation-pace.h
  model/planner/auto-planner.h
  model/planner/bandwidth-bound.h
  model/planner/exchange-builder.h
  model/planner/fluid-execution.h
  model/planner/job-planner.h
  model/planner/job-spec.h
  model/planner/nccl-machine.h
  model/planner/nccl-model.h
  model/planner/nccl-schemes.h
  model/planner/network-model.h
  model/planner/path-catalogue.h
  model/planner/plan-estimator.h
  model/planner/planning-error.h
  model/planner/served-paths.h
  model/planner/survivor-planner.h
  model/planner/time-bound.h
  model/planner/training-job-spec.h
  model/planner/training-planner.h
  model/planner/training-tuner.h
  model/planner/workload-estimator.h
)

# model/engine
list(APPEND gradsync_sources
  model/engine/asynchronous-execution.cc
  model/engine/asynchronous-failures.cc
  model/engine/asynchronous-job.cc
  model/engine/asynchronous-steps.cc
  model/engine/asynchronous-transfers.cc
  model/engine/distant-ends.cc
  model/engine/end-teller.cc
  model/engine/engine-hosts.cc
  model/engine/engine-jobs.cc
  model/engine/exchange-application.cc
  model/engine/exchange-engine.cc
  model/engine/channel-places.cc
  model/engine/channel-timing.cc
  model/engine/codec-times.cc
  model/engine/collective-bandwidth.cc
  model/engine/collective-records.cc
  model/engine/communication-runs.cc
  model/engine/critical-path.cc
  model/engine/exchange-path.cc
  model/engine/exchange-work.cc
  model/engine/execution-table.cc
  model/engine/failure-text.cc
  model/engine/host-slowdowns.cc
  model/engine/iteration-breakdown.cc
  model/engine/job.cc
  model/engine/job-execution.cc
  model/engine/job-reactions.cc
  model/engine/late-operations.cc
  model/engine/missing-chunks.cc
  model/engine/network-planes.cc
  model/engine/operation-ledger.cc
  model/engine/parameter-servers.cc
  model/engine/plan-aggregations.cc
  model/engine/plan-execution.cc
  model/engine/plan-ranks.cc
  model/engine/plan-reactions.cc
  model/engine/plan-roster.cc
  model/engine/plan-sender.cc
  model/engine/ranked-job.cc
  model/engine/recorded-channel.cc
  model/engine/recorder.cc
  model/engine/round-gate.cc
  model/engine/sending-turns.cc
  model/engine/shard-plans.cc
  model/engine/stage-progress.cc
  model/engine/time-spans.cc
  model/engine/training-execution.cc
  model/engine/training-job.cc
  model/engine/training-reactions.cc
  model/engine/training-records.cc
  model/engine/twin-planes.cc
  model/engine/workload-aggregations.cc
  model/engine/workload-channels.cc
  model/engine/workload-execution.cc
  model/engine/workload-parts.cc
  model/engine/workload-roster.cc
)
list(APPEND gradsync_headers
  model/engine/busy-clock.h
  model/engine/channel-places.h
  model/engine/channel-timing.h
  model/engine/codec-times.h
  model/engine/collective-bandwidth.h
  model/engine/collective-records.h
  model/engine/communication-runs.h
  model/engine/critical-path.h
  model/engine/distant-ends.h
  model/engine/end-teller.h
  model/engine/exchange-path.h
  model/engine/engine-hosts.h
  model/engine/engine-job.h
  model/engine/engine-jobs.h
  model/engine/asynchronous-execution.h
  model/engine/asynchronous-job.h
  model/engine/asynchronous-transfers.h
  model/engine/network-planes.h
  model/engine/parameter-clocks.h
  model/engine/parameter-servers.h
  model/engine/stage-progress.h
  model/engine/exchange-application.h
  model/engine/exchange-engine.h
  model/engine/exchange-records.h
  model/engine/execution-table.h
  model/engine/failure-text.h
  model/engine/fetch-queues.h
  model/engine/host-slowdowns.h
  model/engine/id-order.h
  model/engine/iteration-breakdown.h
  model/engine/job.h
  model/engine/job-execution.h
  model/engine/job-listener.h
  model/engine/late-operations.h
  model/engine/missing-chunks.h
  model/engine/operation-ledger.h
  model/engine/plan-aggregations.h
  model/engine/plan-execution.h
  model/engine/plan-listener.h
  model/engine/plan-ranks.h
  model/engine/plan-roster.h
  model/engine/plan-sender.h
  model/engine/rank-ends.h
  model/engine/rank-launches.h
  model/engine/rank-parts.h
  model/engine/rank-share.h
  model/engine/ranked-job.h
  model/engine/recorded-channel.h
  model/engine/recorder.h
  model/engine/round-gate.h
  model/engine/scoped-event.h
  model/engine/sending-turns.h
  model/engine/shard-plans.h
  model/engine/task-log.h
  model/engine/task-stream.h
  model/engine/time-spans.h
  model/engine/training-execution.h
  model/engine/transfer-carrier.h
  model/engine/training-job.h
  model/engine/training-records.h
  model/engine/twin-planes.h
  model/engine/workload-aggregations.h
  model/engine/workload-channels.h
  model/engine/workload-execution.h
  model/engine/workload-parts.h
  model/engine/workload-roster.h
)

# model/aggregation/common
list(APPEND gradsync_sources
  model/aggregation/common/added-float-tensor.cc
  model/aggregation/common/aggregation-driver.cc
  model/aggregation/common/aggregation-session.cc
  model/aggregation/common/aggregation-tensor.cc
  model/aggregation/common/aggregation-worker.cc
  model/aggregation/common/float-sum.cc
  model/aggregation/common/float-tensor.cc
  model/aggregation/common/gradient-tensor.cc
  model/aggregation/common/native-driver.cc
  model/aggregation/common/resending-worker.cc
  model/aggregation/common/slot-tensor.cc
  model/aggregation/common/switch-memory.cc
  model/aggregation/common/switch-pipelines.cc
  model/aggregation/common/switch-tree.cc
  model/aggregation/common/tree-driver.cc
  model/aggregation/common/tree-load.cc
  model/aggregation/common/tree-node.cc
  model/aggregation/common/tree-session.cc
  model/aggregation/common/tree-worker-session.cc
  model/aggregation/common/tree-worker.cc
  model/aggregation/common/udp-frame.cc
  model/aggregation/common/wrapping-sum.cc
)
list(APPEND gradsync_headers
  model/aggregation/common/added-float-tensor.h
  model/aggregation/common/aggregation-address.h
  model/aggregation/common/aggregation-contents.h
  model/aggregation/common/aggregation-driver.h
  model/aggregation/common/aggregation-host.h
  model/aggregation/common/aggregation-network.h
  model/aggregation/common/aggregation-node.h
  model/aggregation/common/aggregation-role.h
  model/aggregation/common/aggregation-session.h
  model/aggregation/common/aggregation-tensor.h
  model/aggregation/common/aggregation-worker.h
  model/aggregation/common/float-sum.h
  model/aggregation/common/float-tensor.h
  model/aggregation/common/gradient-tensor.h
  model/aggregation/common/native-driver.h
  model/aggregation/common/packet-copy.h
  model/aggregation/common/packet-tally.h
  model/aggregation/common/resending-worker.h
  model/aggregation/common/slot-tensor.h
  model/aggregation/common/switch-memory.h
  model/aggregation/common/switch-pipelines.h
  model/aggregation/common/switch-tree.h
  model/aggregation/common/tree-driver.h
  model/aggregation/common/tree-header.h
  model/aggregation/common/tree-load.h
  model/aggregation/common/tree-node.h
  model/aggregation/common/tree-session.h
  model/aggregation/common/tree-worker-session.h
  model/aggregation/common/tree-worker.h
  model/aggregation/common/udp-frame.h
  model/aggregation/common/wrapping-sum.h
)

# model/aggregation/slot
list(APPEND gradsync_sources
  model/aggregation/slot/aggregation-switch.cc
  model/aggregation/slot/p4-slot-switch.cc
  model/aggregation/slot/slot-division.cc
  model/aggregation/slot/slot-driver.cc
  model/aggregation/slot/slot-format.cc
  model/aggregation/slot/slot-frame.cc
  model/aggregation/slot/slot-header.cc
  model/aggregation/slot/slot-message-receiver.cc
  model/aggregation/slot/slot-queue-pairs.cc
  model/aggregation/slot/slot-session.cc
  model/aggregation/slot/slot-sharing.cc
  model/aggregation/slot/slot-switch-frames.cc
  model/aggregation/slot/slot-switch.cc
  model/aggregation/slot/slot-worker-restart.cc
  model/aggregation/slot/slot-worker.cc
  model/aggregation/slot/switchml-frame.cc
  model/aggregation/slot/switchml-roce-frame.cc
  model/aggregation/slot/switchml-switch-frames.cc
)
list(APPEND gradsync_headers
  model/aggregation/slot/aggregation-switch.h
  model/aggregation/slot/p4-slot-switch.h
  model/aggregation/slot/slot-division.h
  model/aggregation/slot/slot-driver.h
  model/aggregation/slot/slot-format.h
  model/aggregation/slot/slot-frame.h
  model/aggregation/slot/slot-header.h
  model/aggregation/slot/slot-message-receiver.h
  model/aggregation/slot/slot-queue-pairs.h
  model/aggregation/slot/slot-session.h
  model/aggregation/slot/slot-sharing.h
  model/aggregation/slot/slot-switch-frames.h
  model/aggregation/slot/slot-switch.h
  model/aggregation/slot/slot-worker.h
  model/aggregation/slot/switchml-backoff.h
  model/aggregation/slot/switchml-frame.h
  model/aggregation/slot/switchml-roce-frame.h
  model/aggregation/slot/switchml-switch-frames.h
)

# model/aggregation/atp
list(APPEND gradsync_sources
  model/aggregation/atp/atp-driver.cc
  model/aggregation/atp/atp-frame.cc
  model/aggregation/atp/atp-node.cc
  model/aggregation/atp/atp-server.cc
  model/aggregation/atp/atp-session.cc
  model/aggregation/atp/atp-switch-frames.cc
  model/aggregation/atp/atp-switch.cc
  model/aggregation/atp/atp-worker.cc
)
list(APPEND gradsync_headers
  model/aggregation/atp/atp-driver.h
  model/aggregation/atp/atp-frame.h
  model/aggregation/atp/atp-header.h
  model/aggregation/atp/atp-node.h
  model/aggregation/atp/atp-server.h
  model/aggregation/atp/atp-session.h
  model/aggregation/atp/atp-switch-frames.h
  model/aggregation/atp/atp-switch.h
  model/aggregation/atp/atp-worker.h
)

# model/aggregation/netreduce
list(APPEND gradsync_sources
  model/aggregation/netreduce/netreduce-driver.cc
  model/aggregation/netreduce/netreduce-node.cc
  model/aggregation/netreduce/netreduce-session.cc
  model/aggregation/netreduce/netreduce-worker.cc
)
list(APPEND gradsync_headers
  model/aggregation/netreduce/netreduce-driver.h
  model/aggregation/netreduce/netreduce-header.h
  model/aggregation/netreduce/netreduce-node.h
  model/aggregation/netreduce/netreduce-session.h
  model/aggregation/netreduce/netreduce-worker.h
)

# model/aggregation/flare
list(APPEND gradsync_sources
  model/aggregation/flare/block-arithmetic.cc
  model/aggregation/flare/block-sum.cc
  model/aggregation/flare/flare-driver.cc
  model/aggregation/flare/flare-node.cc
  model/aggregation/flare/flare-session.cc
  model/aggregation/flare/flare-tensor.cc
  model/aggregation/flare/handler-cores.cc
)
list(APPEND gradsync_headers
  model/aggregation/flare/block-arithmetic.h
  model/aggregation/flare/block-sum.h
  model/aggregation/flare/flare-driver.h
  model/aggregation/flare/flare-node.h
  model/aggregation/flare/flare-session.h
  model/aggregation/flare/flare-tensor.h
  model/aggregation/flare/handler-cores.h
)

# model/aggregation/nvls
list(APPEND gradsync_sources
  model/aggregation/nvls/nvls-driver.cc
  model/aggregation/nvls/nvls-node.cc
  model/aggregation/nvls/nvls-session.cc
  model/aggregation/nvls/nvls-worker.cc
)
list(APPEND gradsync_headers
  model/aggregation/nvls/nvls-driver.h
  model/aggregation/nvls/nvls-header.h
  model/aggregation/nvls/nvls-node.h
  model/aggregation/nvls/nvls-session.h
  model/aggregation/nvls/nvls-worker.h
)

# model/aggregation/sharp
list(APPEND gradsync_sources
  model/aggregation/sharp/sharp-driver.cc
  model/aggregation/sharp/sharp-manager.cc
  model/aggregation/sharp/sharp-node.cc
  model/aggregation/sharp/sharp-session.cc
)
list(APPEND gradsync_headers
  model/aggregation/sharp/sharp-driver.h
  model/aggregation/sharp/sharp-manager.h
  model/aggregation/sharp/sharp-node.h
  model/aggregation/sharp/sharp-session.h
)

# model/aggregation/user-program
list(APPEND gradsync_sources
  model/aggregation/user-program/p4-switch-node.cc
  model/aggregation/user-program/p4-switch-queues.cc
)
list(APPEND gradsync_headers
  model/aggregation/user-program/p4-compiled-programs.h
  model/aggregation/user-program/p4-switch-node.h
  model/aggregation/user-program/p4-switch-program.h
)

# model/aggregation/service
list(APPEND gradsync_sources
  model/aggregation/service/aggregation-drivers.cc
  model/aggregation/service/aggregation-rebuild.cc
  model/aggregation/service/aggregation-service-attributes.cc
  model/aggregation/service/aggregation-service-host.cc
  model/aggregation/service/aggregation-service-statistics.cc
  model/aggregation/service/aggregation-service.cc
  model/aggregation/service/node-programs.cc
)
list(APPEND gradsync_headers
  model/aggregation/service/aggregation-drivers.h
  model/aggregation/service/aggregation-service.h
  model/aggregation/service/node-programs.h
)

# model/traffic
list(APPEND gradsync_sources
  model/traffic/flow-sizes.cc
  model/traffic/traffic-generator.cc
  model/traffic/traffic-kinds.cc
)
list(APPEND gradsync_headers
  model/traffic/flow-sizes.h
  model/traffic/traffic-generator.h
  model/traffic/traffic-kinds.h
)

# model/fault
list(APPEND gradsync_sources
  model/fault/fault-injector.cc
  model/fault/fault-kinds.cc
  model/fault/fault-maker.cc
  model/fault/fault-spec.cc
  model/fault/network-condition.cc
  model/fault/slowdown-parameters.cc
  model/fault/slowdown.cc
)
list(APPEND gradsync_headers
  model/fault/fault-injector.h
  model/fault/fault-kinds.h
  model/fault/fault-maker.h
  model/fault/fault-spec.h
  model/fault/network-condition.h
  model/fault/slowdown-parameters.h
  model/fault/slowdown.h
)

# model/distributed
list(APPEND gradsync_sources
  model/distributed/part-ends.cc
  model/distributed/shared-boards.cc
  model/distributed/window-protocol.cc
  model/distributed/window-simulator-impl.cc
)
list(APPEND gradsync_headers
  model/distributed/mpi/shared-window.h
  model/distributed/part-ends.h
  model/distributed/process-link.h
  model/distributed/shared-boards.h
  model/distributed/window-protocol.h
  model/distributed/window-simulator-impl.h
)

# helper
list(APPEND gradsync_sources
  helper/aggregation-helper.cc
  helper/checked-attributes.cc
  helper/exchange-helper.cc
  helper/exchange-job.cc
  helper/fabric-helper.cc
  helper/fabric-host.cc
  helper/job-assembly.cc
)
list(APPEND gradsync_headers
  helper/aggregation-helper.h
  helper/checked-attributes.h
  helper/exchange-helper.h
  helper/exchange-job.h
  helper/fabric-helper.h
  helper/fabric-host.h
  helper/gradsync.h
  helper/job-assembly.h
)

# study/json
list(APPEND gradsync_sources
  study/json/atomic-file.cc
  study/json/document-path.cc
  study/json/folder-listing.cc
  study/json/json-document.cc
  study/json/json-value.cc
  study/json/shown-text.cc
)
list(APPEND gradsync_headers
  study/json/atomic-file.h
  study/json/document-path.h
  study/json/file-error.h
  study/json/folder-listing.h
  study/json/json-document.h
  study/json/json-value.h
  study/json/scenario-error.h
  study/json/shown-text.h
)

# study/scenario
list(APPEND gradsync_sources
  study/scenario/aggregation-reader.cc
  study/scenario/attribute-parameters.cc
  study/scenario/asynchronous-reader.cc
  study/scenario/asynchronous-section.cc
  study/scenario/attribute-reader.cc
  study/scenario/attribute-type.cc
  study/scenario/codec-reader.cc
  study/scenario/codec-profiles.cc
  study/scenario/dapple-model.cc
  study/scenario/fault-reader.cc
  study/scenario/fault-target-reader.cc
  study/scenario/fault-trace-reader.cc
  study/scenario/fidelity-reader.cc
  study/scenario/job-reader.cc
  study/scenario/model-reader.cc
  study/scenario/model-training-reader.cc
  study/scenario/named-files.cc
  study/scenario/network-choice.cc
  study/scenario/node-names.cc
  study/scenario/p4-program-reader.cc
  study/scenario/parameter-reader.cc
  study/scenario/parameter-listing.cc
  study/scenario/parameter-schema.cc
  study/scenario/protocol-reader.cc
  study/scenario/pytorch-files-reader.cc
  study/scenario/rank-reader.cc
  study/scenario/scenario-reader.cc
  study/scenario/scenario-schema.cc
  study/scenario/scenario-sections.cc
  study/scenario/scenario-sweep.cc
  study/scenario/scenario-vocabulary.cc
  study/scenario/scheme-reader.cc
  study/scenario/section-file.cc
  study/scenario/shared-shapes.cc
  study/scenario/time-resolution.cc
  study/scenario/topology-section.cc
  study/scenario/trace-files.cc
  study/scenario/traffic-reader.cc
  study/scenario/training-reader.cc
  study/scenario/training-section.cc
  study/scenario/transport-registry.cc
  study/scenario/workload-trace-reader.cc
  study/scenario/workload-trace-section.cc
)
list(APPEND gradsync_headers
  study/scenario/aggregation-reader.h
  study/scenario/asynchronous-job-spec.h
  study/scenario/asynchronous-reader.h
  study/scenario/asynchronous-section.h
  study/scenario/attribute-reader.h
  study/scenario/attribute-type.h
  study/scenario/codec-reader.h
  study/scenario/codec-profiles.h
  study/scenario/dapple-model.h
  study/scenario/fault-reader.h
  study/scenario/fault-target-reader.h
  study/scenario/fault-trace-reader.h
  study/scenario/fidelity-reader.h
  study/scenario/job-reader.h
  study/scenario/model-reader.h
  study/scenario/model-training-reader.h
  study/scenario/named-files.h
  study/scenario/network-choice.h
  study/scenario/node-names.h
  study/scenario/p4-program-reader.h
  study/scenario/parameter-reader.h
  study/scenario/planning-translation.h
  study/scenario/parameter-listing.h
  study/scenario/parameter-schema.h
  study/scenario/protocol-reader.h
  study/scenario/pytorch-files-reader.h
  study/scenario/rank-reader.h
  study/scenario/scenario-reader.h
  study/scenario/scenario-schema.h
  study/scenario/scenario-sections.h
  study/scenario/scenario-sweep.h
  study/scenario/scenario-vocabulary.h
  study/scenario/scenario.h
  study/scenario/scheme-reader.h
  study/scenario/section-file.h
  study/scenario/shared-shapes.h
  study/scenario/time-resolution.h
  study/scenario/topology-section.h
  study/scenario/trace-files.h
  study/scenario/traffic-reader.h
  study/scenario/training-reader.h
  study/scenario/training-section.h
  study/scenario/transport-registry.h
  study/scenario/workload-trace-reader.h
  study/scenario/workload-trace-section.h
)

# study/result
list(APPEND gradsync_sources
  study/result/asynchronous-rows.cc
  study/result/asynchronous-summary.cc
  study/result/busiest-link.cc
  study/result/csv-text.cc
  study/result/exchange-paths.cc
  study/result/exchange-trace.cc
  study/result/file-lock.cc
  study/result/folder-seal.cc
  study/result/manifest.cc
  study/result/plan-printer.cc
  study/result/prepared-sweep.cc
  study/result/program-version.cc
  study/result/result-columns.cc
  study/result/result-files.cc
  study/result/result-rows.cc
  study/result/result-table.cc
  study/result/results-folder.cc
  study/result/run-store.cc
  study/result/run-timeline.cc
  study/result/space-time-diagram.cc
  study/result/stored-summary.cc
  study/result/summary-columns.cc
  study/result/swept-columns.cc
  study/result/trace-events.cc
  study/result/trace-writer.cc
  study/result/training-rows.cc
  study/result/training-summary.cc
  study/result/training-trace.cc
)
list(APPEND gradsync_headers
  study/result/asynchronous-result.h
  study/result/asynchronous-rows.h
  study/result/asynchronous-summary.h
  study/result/busiest-link.h
  study/result/csv-text.h
  study/result/exchange-paths.h
  study/result/exchange-trace.h
  study/result/file-lock.h
  study/result/folder-seal.h
  study/result/link-sample.h
  study/result/manifest.h
  study/result/plan-printer.h
  study/result/prepared-sweep.h
  study/result/program-version.h
  study/result/result-columns.h
  study/result/result-files.h
  study/result/result-rows.h
  study/result/result-table.h
  study/result/run-result.h
  study/result/results-folder.h
  study/result/row-writer.h
  study/result/run-store.h
  study/result/run-timeline.h
  study/result/space-time-diagram.h
  study/result/stored-summary.h
  study/result/summary-columns.h
  study/result/swept-columns.h
  study/result/trace-events.h
  study/result/trace-writer.h
  study/result/update-sample.h
  study/result/training-rows.h
  study/result/training-summary.h
  study/result/training-trace.h
)

# study/run
list(APPEND gradsync_sources
  study/run/asynchronous-recorder.cc
  study/run/child-probe.cc
  study/run/divided-run.cc
  study/run/divided-surroundings.cc
  study/run/division-check.cc
  study/run/iteration-skip.cc
  study/run/iteration-timers.cc
  study/run/link-sampler.cc
  study/run/network-parts.cc
  study/run/part-aggregation.cc
  study/run/part-failures.cc
  study/run/part-iterations.cc
  study/run/part-records.cc
  study/run/part-report.cc
  study/run/part-runs.cc
  study/run/part-surroundings.cc
  study/run/plan-figures.cc
  study/run/planned-run.cc
  study/run/process-link-loader.cc
  study/run/process-pool.cc
  study/run/progress-meter.cc
  study/run/rank-processes.cc
  study/run/run-check.cc
  study/run/run-limits.cc
  study/run/run-notices.cc
  study/run/run-numbers.cc
  study/run/run-outcome.cc
  study/run/run-summary.cc
  study/run/run-watch.cc
  study/run/scenario-checker.cc
  study/run/scenario-runner.cc
  study/run/training-recorder.cc
  study/run/transport-probe.cc
)
list(APPEND gradsync_headers
  study/run/asynchronous-recorder.h
  study/run/captured-words.h
  study/run/child-probe.h
  study/run/divided-run.h
  study/run/divided-surroundings.h
  study/run/iteration-skip.h
  study/run/iteration-timers.h
  study/run/link-sampler.h
  study/run/network-parts.h
  study/run/part-aggregation.h
  study/run/part-failures.h
  study/run/part-iterations.h
  study/run/part-records.h
  study/run/part-report.h
  study/run/part-runs.h
  study/run/part-surroundings.h
  study/run/peak-memory.h
  study/run/plan-figures.h
  study/run/planned-run.h
  study/run/process-link-loader.h
  study/run/process-pool.h
  study/run/progress-meter.h
  study/run/progress-probe.h
  study/run/rank-processes.h
  study/run/run-limits.h
  study/run/run-notices.h
  study/run/run-numbers.h
  study/run/run-outcome.h
  study/run/run-summary.h
  study/run/run-watch.h
  study/run/scenario-checker.h
  study/run/scenario-runner.h
  study/run/simulator-guard.h
  study/run/trace-recorder.h
  study/run/training-recorder.h
  study/run/transport-probe.h
)

# study/command
list(APPEND gradsync_sources
  study/command/auto-command.cc
  study/command/auto-comparison.cc
  study/command/chakra-export.cc
  study/command/codec-command.cc
  study/command/describe-command.cc
  study/command/inspect-commands.cc
  study/command/list-command.cc
  study/command/old-command-line.cc
  study/command/p4-commands.cc
  study/command/plan-command.cc
  study/command/run-command.cc
  study/command/scenario-warnings.cc
  study/command/sum-error-study.cc
  study/command/sum-errors-command.cc
  study/command/trees-command.cc
)
list(APPEND gradsync_headers
  study/command/auto-comparison.h
  study/command/chakra-export.h
  study/command/old-command-line.h
  study/command/program-commands.h
  study/command/program-verbs.h
  study/command/scenario-warnings.h
  study/command/sum-error-study.h
  study/command/verb-table.h
)

# What several processes of one simulation talk by: a library of its own, with MPI only. The program that loads it has
# no symbols for it.
set(gradsync_mpi_sources model/distributed/mpi/mpi-process-link.cc
  model/distributed/mpi/shared-window.cc model/distributed/shared-boards.cc)

# The command-line program (examples/ in ns-3's sense), not part of the library.
set(gradsync_program_sources examples/gradsync.cc study/command/program-verbs.cc
  study/command/run-verb.cc study/command/verb-table.cc)

# Programs of one file that use the helpers. examples/expected has what each prints, as tests hold it.
set(gradsync_examples
  examples/gradsync-existing-network.cc
  examples/gradsync-own.cc
  examples/gradsync-rat.cc
  examples/gradsync-ring.cc
  examples/gradsync-switchml.cc
  examples/gradsync-traces.cc
)

# ns-3 TestSuites: run by test.py in the tree, by gradsync-test-runner stand-alone.
set(gradsync_suite_sources
  tests/suites/gradsync-oracle-suite.cc
  tests/suites/gradsync-plan-suite.cc
)

# The comparison with stock ns-3, stand-alone only: linked into the benchmarks and stock-tests.
set(gradsync_stock_sources
  tests/bench/stock-network.cc
  tests/bench/stock-ns3.cc
  tests/bench/stock-ring-peer.cc
)

# Benchmarks, stand-alone only. One executable per file, and what they share.
set(gradsync_bench_sources tests/bench/bench-program.cc)
set(gradsync_benchmarks
  tests/bench/codec-bench.cc
  tests/bench/event-core-bench.cc
  tests/bench/exchange-bench.cc
  tests/bench/hybrid-bench.cc
  tests/bench/p4-bench.cc
  tests/bench/plan-bench.cc
  tests/bench/quantiser-bench.cc
  tests/bench/stock-ns3-ring.cc
  tests/bench/trace-bench.cc
  tests/bench/workload-bench.cc
)

# Tests, stand-alone only: a program ROOM-tests for each room, whose files are compiled several at a time,
# as most of the time goes into what they have in common. "scenario" runs whole scenarios.
set(gradsync_test_rooms topology compression p4 plan scheme fabric transport workload training
    import planner engine aggregation traffic fault distributed helper study stock scenario)
set(gradsync_tests_of_topology
  tests/unit/topology/all-reduce-bound-test.cc
  tests/unit/topology/fat-tree-topology-test.cc
  tests/unit/topology/group-finder-test.cc
  tests/unit/topology/inner-networks-test.cc
  tests/unit/topology/rail-topology-test.cc
  tests/unit/topology/routing-tables-test.cc
  tests/unit/topology/server-builder-test.cc
  tests/unit/topology/spine-leaf-topology-test.cc
  tests/unit/topology/three-tier-topology-test.cc
  tests/unit/topology/topology-division-test.cc
  tests/unit/topology/topology-test.cc
)
set(gradsync_tests_of_compression
  tests/unit/compression/codec-references-test.cc
  tests/unit/compression/low-rank-test.cc
  tests/unit/compression/philox-test.cc
  tests/unit/compression/quantiser-loops-test.cc
  tests/unit/compression/quantiser-references-test.cc
  tests/unit/compression/quantiser-test.cc
  tests/unit/compression/sign-vote-test.cc
  tests/unit/compression/sparse-codec-test.cc
  tests/unit/compression/stochastic-codec-test.cc
  tests/unit/compression/thc-test.cc
)
set(gradsync_tests_of_p4
  tests/unit/p4/p4-calculation-test.cc
  tests/unit/p4/p4-control-state-test.cc
  tests/unit/p4/p4-externs-test.cc
  tests/unit/p4/p4-headers-test.cc
  tests/unit/p4/p4-pipeline-test.cc
  tests/unit/p4/p4-runtime-commands-test.cc
  tests/unit/p4/p4-runtime-text-test.cc
  tests/unit/p4/p4-signed-test.cc
  tests/unit/p4/p4-stages-test.cc
  tests/unit/p4/p4-stf-player-test.cc
)
set(gradsync_tests_of_plan
  tests/unit/plan/chunk-layout-test.cc
  tests/unit/plan/dataflow-builder-test.cc
  tests/unit/plan/edge-sorter-test.cc
  tests/unit/plan/packed-rows-test.cc
  tests/unit/plan/plan-builder-test.cc
  tests/unit/plan/plan-join-test.cc
  tests/unit/plan/plan-protocol-test.cc
  tests/unit/plan/plan-races-test.cc
  tests/unit/plan/plan-statistics-test.cc
  tests/unit/plan/plan-verifier-test.cc
  tests/unit/plan/round-counter-test.cc
)
set(gradsync_tests_of_scheme
  tests/unit/scheme/scheme-collective-test.cc
  tests/unit/scheme/scheme-grid-test.cc
  tests/unit/scheme/scheme-hierarchical-test.cc
  tests/unit/scheme/scheme-libra-test.cc
  tests/unit/scheme/scheme-ps-test.cc
  tests/unit/scheme/scheme-rat-test.cc
  tests/unit/scheme/scheme-registry-test.cc
  tests/unit/scheme/scheme-ring-test.cc
  tests/unit/scheme/scheme-server-test.cc
  tests/unit/scheme/scheme-tree-test.cc
)
set(gradsync_tests_of_fabric
  tests/unit/fabric/fabric-port-test.cc
  tests/unit/fabric/object-pool-test.cc
  tests/unit/fabric/path-selector-test.cc
  tests/unit/fabric/radix-scheduler-test.cc
)
set(gradsync_tests_of_transport
  tests/unit/transport/capture-names-test.cc
  tests/unit/transport/congestion-concerns-test.cc
  tests/unit/transport/congestion-control-test.cc
  tests/unit/transport/flow-trace-test.cc
  tests/unit/transport/kept-rates-test.cc
  tests/unit/transport/fluid-transport-test.cc
  tests/unit/transport/tiered-transport-test.cc
  tests/unit/transport/max-min-allocator-test.cc
  tests/unit/transport/message-series-test.cc
  tests/unit/transport/message-shapes-test.cc
  tests/unit/transport/roce-post-test.cc
  tests/unit/transport/place-table-test.cc
  tests/unit/transport/network-part-test.cc
  tests/unit/transport/roce-connection-table-test.cc
  tests/unit/transport/roce-droppable-test.cc
  tests/unit/transport/roce-handlers-test.cc
  tests/unit/transport/roce-mirrors-test.cc
  tests/unit/transport/roce-mistakes-test.cc
  tests/unit/transport/roce-order-test.cc
  tests/unit/transport/roce-reservation-test.cc
  tests/unit/transport/roce-stress-test.cc
  tests/unit/transport/roce-transport-test.cc
  tests/unit/transport/switch-rounds-test.cc
  tests/unit/transport/tcp-transport-test.cc
  tests/unit/transport/timeout-queue-test.cc
  tests/unit/transport/turn-queue-test.cc
)
set(gradsync_tests_of_workload
  tests/unit/workload/differential-transmission-test.cc
  tests/unit/workload/gradient-buckets-test.cc
  tests/unit/workload/gradient-codecs-test.cc
  tests/unit/workload/packed-offsets-test.cc
  tests/unit/workload/pipeline-schedule-test.cc
  tests/unit/workload/plan-compressor-test.cc
  tests/unit/workload/rank-layout-test.cc
)
set(gradsync_tests_of_training
  tests/unit/training/model-spec-test.cc
  tests/unit/training/training-blocks-test.cc
  tests/unit/training/training-memory-test.cc
  tests/unit/training/training-volumes-test.cc
)
set(gradsync_tests_of_import
  tests/unit/import/aicb-trace-test.cc
  tests/unit/import/chakra-trace-test.cc
  tests/unit/import/chakra-writer-test.cc
  tests/unit/import/dapple-table-test.cc
  tests/unit/import/goal-writer-test.cc
  tests/unit/import/plan-document-test.cc
  tests/unit/import/plan-import-test.cc
  tests/unit/import/pytorch-trace-test.cc
)
set(gradsync_tests_of_planner
  tests/unit/planner/auto-planner-test.cc
  tests/unit/planner/workload-estimator-test.cc
  tests/unit/planner/nccl-model-test.cc
  tests/unit/planner/served-paths-test.cc
)
set(gradsync_tests_of_engine
  tests/unit/engine/channel-timing-test.cc
  tests/unit/engine/collective-bandwidth-test.cc
  tests/unit/engine/context-ring-test.cc
  tests/unit/engine/asynchronous-execution-test.cc
  tests/unit/engine/distant-ends-test.cc
  tests/unit/engine/exchange-engine-test.cc
  tests/unit/engine/execution-table-test.cc
  tests/unit/engine/failure-text-test.cc
  tests/unit/engine/fluid-oracle-test.cc
  tests/unit/engine/fluid-scheme-test.cc
  tests/unit/engine/iteration-breakdown-test.cc
  tests/unit/engine/operation-ledger-test.cc
  tests/unit/engine/packet-oracle-test.cc
  tests/unit/engine/pipeline-forms-test.cc
  tests/unit/engine/plan-execution-test.cc
  tests/unit/engine/plan-ranks-test.cc
  tests/unit/engine/sharded-parameters-test.cc
  tests/unit/engine/training-execution-test.cc
  tests/unit/engine/training-packets-test.cc
  tests/unit/engine/training-workload-test.cc
  tests/unit/engine/workload-execution-test.cc
  tests/unit/engine/workload-parts-test.cc
)
set(gradsync_tests_of_aggregation
  tests/unit/aggregation/added-float-tensor-test.cc
  tests/unit/aggregation/aggregation-drivers-test.cc
  tests/unit/aggregation/aggregation-placement-test.cc
  tests/unit/aggregation/atp-aggregation-test.cc
  tests/unit/aggregation/atp-numbers-test.cc
  tests/unit/aggregation/atp-switch-test.cc
  tests/unit/aggregation/flare-aggregation-test.cc
  tests/unit/aggregation/flare-sparse-test.cc
  tests/unit/aggregation/flare-sums-test.cc
  tests/unit/aggregation/flare-times-test.cc
  tests/unit/aggregation/float-sums-test.cc
  tests/unit/aggregation/native-driver-test.cc
  tests/unit/aggregation/nvls-aggregation-test.cc
  tests/unit/aggregation/p4-engine-test.cc
  tests/unit/aggregation/p4-queues-test.cc
  tests/unit/aggregation/p4-user-programs-test.cc
  tests/unit/aggregation/passing-aggregation-test.cc
  tests/unit/aggregation/sharp-aggregation-test.cc
  tests/unit/aggregation/slot-aggregation-test.cc
  tests/unit/aggregation/slot-sharing-test.cc
  tests/unit/aggregation/slot-sums-test.cc
  tests/unit/aggregation/slot-switch-frames-test.cc
  tests/unit/aggregation/slot-switch-test.cc
  tests/unit/aggregation/switch-memory-test.cc
  tests/unit/aggregation/switchml-format-test.cc
  tests/unit/aggregation/switchml-frames-test.cc
)
set(gradsync_tests_of_traffic
  tests/unit/traffic/traffic-generator-test.cc
)
set(gradsync_tests_of_fault
  tests/unit/fault/fault-injector-test.cc
  tests/unit/fault/link-faults-test.cc
  tests/unit/fault/silent-host-test.cc
)
set(gradsync_tests_of_distributed
  tests/unit/distributed/aggregation-contents-test.cc
  tests/unit/distributed/byte-batch-test.cc
  tests/unit/distributed/held-switches-test.cc
  tests/unit/distributed/outgoing-batch-test.cc
  tests/unit/distributed/shared-boards-test.cc
  tests/unit/distributed/window-simulator-test.cc
)
set(gradsync_tests_of_helper
  tests/unit/helper/aggregation-helper-test.cc
  tests/unit/helper/exchange-helper-test.cc
  tests/unit/helper/existing-network-test.cc
  tests/unit/helper/fabric-helper-test.cc
  tests/unit/helper/helper-scenario-test.cc
)
set(gradsync_tests_of_study
  tests/unit/study/aggregation-reader-test.cc
  tests/unit/study/child-probe-test.cc
  tests/unit/study/folder-listing-test.cc
  tests/unit/study/folder-seal-test.cc
  tests/unit/study/input-file-test.cc
  tests/unit/study/json-document-test.cc
  tests/fuzz/readers.cc
  tests/unit/study/named-files-test.cc
  tests/unit/study/parameter-reader-test.cc
  tests/unit/study/process-pool-test.cc
  tests/unit/study/result-columns-test.cc
  tests/unit/study/rank-processes-test.cc
  tests/unit/study/reader-corpus-test.cc
  tests/unit/study/regular-expression-test.cc
  tests/unit/study/results-folder-test.cc
  tests/unit/study/scenario-fuzz-test.cc
  tests/unit/study/scenario-reader-test.cc
  tests/unit/study/scenario-sweep-test.cc
  tests/unit/study/scenario-warnings-test.cc
  tests/unit/study/shown-text-test.cc
  tests/unit/study/swept-columns-test.cc
  tests/unit/study/units-test.cc
)
set(gradsync_tests_of_stock
  tests/unit/stock/stock-ns3-test.cc
)
set(gradsync_tests_of_scenario
  tests/scenario/aggregation-faults-test.cc
  tests/scenario/asynchronous-runs-test.cc
  tests/scenario/chaos-scenarios.cc
  tests/scenario/chaos-test.cc
  tests/scenario/dapple-runs-test.cc
  tests/scenario/dgt-runs-test.cc
  tests/scenario/divided-aggregations-test.cc
  tests/scenario/divided-random-runs-test.cc
  tests/scenario/divided-random-trainings-test.cc
  tests/scenario/divided-runs-test.cc
  tests/scenario/divided-surroundings-test.cc
  tests/scenario/divided-trainings-test.cc
  tests/scenario/exchange-trace-test.cc
  tests/scenario/federated-rounds-test.cc
  tests/scenario/flare-runs-test.cc
  tests/scenario/collective-records-test.cc
  tests/scenario/fidelity-runs-test.cc
  tests/scenario/iteration-skip-test.cc
  tests/scenario/model-training-test.cc
  tests/scenario/netreduce-runs-test.cc
  tests/scenario/network-end-test.cc
  tests/scenario/nvls-runs-test.cc
  tests/scenario/own-congestion-control-test.cc
  tests/scenario/program-folder-test.cc
  tests/scenario/program-refusals-test.cc
  tests/scenario/program-runs-test.cc
  tests/scenario/program-verbs-test.cc
  tests/scenario/scenario-files-test.cc
  tests/scenario/scenario-network-test.cc
  tests/scenario/scenario-reactions-test.cc
  tests/scenario/run-limits-test.cc
  tests/scenario/run-watch-test.cc
  tests/scenario/scenario-runner-test.cc
  tests/scenario/sharp-runs-test.cc
  tests/scenario/switch-limits-test.cc
  tests/scenario/low-rank-runs-test.cc
  tests/scenario/switch-memory-runs-test.cc
  tests/scenario/tensors-test.cc
  tests/scenario/time-end-test.cc
  tests/scenario/training-aggregation-runs-test.cc
  tests/scenario/training-codec-runs-test.cc
  tests/scenario/training-results-test.cc
  tests/scenario/trace-runs-test.cc
  tests/scenario/training-runs-test.cc
  tests/scenario/twin-planes-test.cc
  tests/scenario/type-registry-test.cc
  tests/scenario/protocol-runs-test.cc
  tests/scenario/nccl-runs-test.cc
  tests/scenario/auto-aggregation-test.cc
)
