# SPDX-License-Identifier: GPL-2.0-only
# The one file list of the module, read by both branches of CMakeLists.txt. A section per room, bottom up.

set(gradsync_sources)
set(gradsync_headers)

# model/plan
list(APPEND gradsync_sources
  model/plan/chunk-layout.cc
  model/plan/chunk-race-finder.cc
  model/plan/collective.cc
  model/plan/dataflow-builder.cc
  model/plan/goal-annotation.cc
  model/plan/goal-writer.cc
  model/plan/plan-builder.cc
  model/plan/plan-graph.cc
  model/plan/plan-part.cc
  model/plan/plan-statistics.cc
  model/plan/plan-verifier.cc
  model/plan/plan.cc
)
list(APPEND gradsync_headers
  model/plan/aggregation-gate.h
  model/plan/aggregation-protocol.h
  model/plan/chunk-layout.h
  model/plan/chunk-race-finder.h
  model/plan/collective.h
  model/plan/dataflow-builder.h
  model/plan/goal-annotation.h
  model/plan/goal-writer.h
  model/plan/made-range.h
  model/plan/operation-table.h
  model/plan/operation.h
  model/plan/packed-rows.h
  model/plan/plan-builder.h
  model/plan/plan-gate.h
  model/plan/plan-graph.h
  model/plan/plan-part.h
  model/plan/plan-statistics.h
  model/plan/plan-verifier.h
  model/plan/plan.h
)

# model/topology
list(APPEND gradsync_sources
  model/topology/all-reduce-bound.cc
  model/topology/fat-tree-topology.cc
  model/topology/group-finder.cc
  model/topology/node-components.cc
  model/topology/routing-tables.cc
  model/topology/server-builder.cc
  model/topology/spine-leaf-topology.cc
  model/topology/star-topology.cc
  model/topology/three-tier-topology.cc
  model/topology/topology.cc
)
list(APPEND gradsync_headers
  model/topology/all-reduce-bound.h
  model/topology/fat-tree-topology.h
  model/topology/group-finder.h
  model/topology/node-components.h
  model/topology/routing-tables.h
  model/topology/server-builder.h
  model/topology/spine-leaf-topology.h
  model/topology/star-topology.h
  model/topology/three-tier-topology.h
  model/topology/topology.h
  model/topology/worker-groups.h
)

# model/scheme
list(APPEND gradsync_sources
  model/scheme/aggregation-trees.cc
  model/scheme/all-gather-scheme.cc
  model/scheme/all-to-all-scheme.cc
  model/scheme/atp-scheme.cc
  model/scheme/barrier-scheme.cc
  model/scheme/bbtopk-scheme.cc
  model/scheme/bcube-hips-scheme.cc
  model/scheme/blueconnect-scheme.cc
  model/scheme/broadcast-scheme.cc
  model/scheme/butterfly-scheme.cc
  model/scheme/byteps-scheme.cc
  model/scheme/double-binary-tree-scheme.cc
  model/scheme/gather-exchange.cc
  model/scheme/federated-scheme.cc
  model/scheme/geo-hips-scheme.cc
  model/scheme/grid-exchange.cc
  model/scheme/grid-support.cc
  model/scheme/group-exchange.cc
  model/scheme/halving-doubling-scheme.cc
  model/scheme/hierarchical-scheme.cc
  model/scheme/hypercube-fold.cc
  model/scheme/k-nomial-scheme.cc
  model/scheme/lock-step.cc
  model/scheme/mesh-2d-scheme.cc
  model/scheme/multi-ring-scheme.cc
  model/scheme/netreduce-scheme.cc
  model/scheme/ok-topk-scheme.cc
  model/scheme/parameter-hub-scheme.cc
  model/scheme/passing-scheme.cc
  model/scheme/piece-credit.cc
  model/scheme/plink-scheme.cc
  model/scheme/ps-ring-scheme.cc
  model/scheme/ps-scheme.cc
  model/scheme/rat-scheme.cc
  model/scheme/reduce-scatter-scheme.cc
  model/scheme/reduce-scheme.cc
  model/scheme/ring-scheme.cc
  model/scheme/rooted-tree.cc
  model/scheme/scheme-groups.cc
  model/scheme/scheme-registry.cc
  model/scheme/server-aggregation.cc
  model/scheme/scheme-support.cc
  model/scheme/sparse-all-gather-scheme.cc
  model/scheme/switchml-scheme.cc
  model/scheme/torus-2d-scheme.cc
  model/scheme/torus-hips-scheme.cc
  model/scheme/two-level-exchange.cc
)
list(APPEND gradsync_headers
  model/scheme/aggregation-trees.h
  model/scheme/all-gather-scheme.h
  model/scheme/all-to-all-scheme.h
  model/scheme/atp-scheme.h
  model/scheme/barrier-scheme.h
  model/scheme/bbtopk-scheme.h
  model/scheme/bcube-hips-scheme.h
  model/scheme/blueconnect-scheme.h
  model/scheme/broadcast-scheme.h
  model/scheme/butterfly-scheme.h
  model/scheme/byteps-scheme.h
  model/scheme/double-binary-tree-scheme.h
  model/scheme/gather-exchange.h
  model/scheme/federated-scheme.h
  model/scheme/fallback-spec.h
  model/scheme/geo-hips-scheme.h
  model/scheme/grid-exchange.h
  model/scheme/grid-support.h
  model/scheme/group-exchange.h
  model/scheme/halving-doubling-scheme.h
  model/scheme/hierarchical-scheme.h
  model/scheme/hypercube-fold.h
  model/scheme/k-nomial-scheme.h
  model/scheme/lock-step.h
  model/scheme/mesh-2d-scheme.h
  model/scheme/multi-ring-scheme.h
  model/scheme/netreduce-scheme.h
  model/scheme/ok-topk-scheme.h
  model/scheme/parameter-hub-scheme.h
  model/scheme/passing-scheme.h
  model/scheme/piece-credit.h
  model/scheme/plink-scheme.h
  model/scheme/ps-ring-scheme.h
  model/scheme/ps-scheme.h
  model/scheme/rat-scheme.h
  model/scheme/reduce-scatter-scheme.h
  model/scheme/reduce-scheme.h
  model/scheme/ring-scheme.h
  model/scheme/rooted-tree.h
  model/scheme/scheme-groups.h
  model/scheme/scheme-support.h
  model/scheme/scheme.h
  model/scheme/server-aggregation.h
  model/scheme/sparse-all-gather-scheme.h
  model/scheme/switchml-scheme.h
  model/scheme/torus-2d-scheme.h
  model/scheme/torus-hips-scheme.h
  model/scheme/two-level-exchange.h
)

# model/fabric
list(APPEND gradsync_sources
  model/fabric/ecn-marker.cc
  model/fabric/fabric-faults.cc
  model/fabric/fabric-network.cc
  model/fabric/fabric-port.cc
  model/fabric/fabric-switch.cc
  model/fabric/flood-clock.cc
  model/fabric/flood-source.cc
  model/fabric/load-balancing.cc
  model/fabric/path-selector.cc
  model/fabric/link-fault.cc
  model/fabric/radix-scheduler.cc
  model/fabric/switch-buffer.cc
)
list(APPEND gradsync_headers
  model/fabric/ecn-marker.h
  model/fabric/fabric-endpoint.h
  model/fabric/fabric-network.h
  model/fabric/fabric-node.h
  model/fabric/fabric-packet.h
  model/fabric/fabric-port.h
  model/fabric/fabric-switch.h
  model/fabric/flood-clock.h
  model/fabric/flood-source.h
  model/fabric/link-fault.h
  model/fabric/link-state.h
  model/fabric/load-balancing.h
  model/fabric/object-pool.h
  model/fabric/packet-loss.h
  model/fabric/packet-pool.h
  model/fabric/path-selector.h
  model/fabric/prefetch.h
  model/fabric/radix-scheduler.h
  model/fabric/serialisation-time.h
  model/fabric/switch-buffer.h
  model/fabric/switch-program.h
  model/fabric/telemetry-record.h
  model/fabric/wire-format.h
)

# model/transport
list(APPEND gradsync_sources
  model/transport/congestion-control.cc
  model/transport/congestion-controls.cc
  model/transport/dcqcn-control.cc
  model/transport/dctcp-control.cc
  model/transport/factory-text.cc
  model/transport/fluid-faults.cc
  model/transport/fluid-service.cc
  model/transport/fluid-transport.cc
  model/transport/hpcc-control.cc
  model/transport/max-min-allocator.cc
  model/transport/network-aggregation.cc
  model/transport/roce-aggregation.cc
  model/transport/roce-capture.cc
  model/transport/roce-connection-table.cc
  model/transport/roce-faults.cc
  model/transport/roce-frame.cc
  model/transport/roce-nic.cc
  model/transport/roce-queue-pair.cc
  model/transport/roce-receiver.cc
  model/transport/roce-sender.cc
  model/transport/roce-transport.cc
  model/transport/swift-control.cc
  model/transport/tcp-connection.cc
  model/transport/tcp-flood.cc
  model/transport/tcp-link-fault.cc
  model/transport/tcp-network.cc
  model/transport/tcp-transport.cc
  model/transport/timely-control.cc
  model/transport/topology-routing.cc
  model/transport/transport.cc
)
list(APPEND gradsync_headers
  model/transport/congestion-control.h
  model/transport/congestion-controls.h
  model/transport/dcqcn-control.h
  model/transport/dctcp-control.h
  model/transport/factory-text.h
  model/transport/fluid-transport.h
  model/transport/hpcc-control.h
  model/transport/max-min-allocator.h
  model/transport/packet-set.h
  model/transport/network-aggregation.h
  model/transport/roce-capture.h
  model/transport/roce-connection-table.h
  model/transport/roce-frame.h
  model/transport/roce-nic.h
  model/transport/roce-queue-pair.h
  model/transport/roce-transport.h
  model/transport/swift-control.h
  model/transport/tcp-connection.h
  model/transport/tcp-flood.h
  model/transport/tcp-link-fault.h
  model/transport/tcp-network.h
  model/transport/tcp-transport.h
  model/transport/timely-control.h
  model/transport/topology-routing.h
  model/transport/transport.h
)

# model/import
list(APPEND gradsync_sources
  model/import/goal-graph.cc
  model/import/goal-planner.cc
  model/import/goal-restorer.cc
  model/import/goal-schedule.cc
  model/import/goal-tokens.cc
  model/import/import-scheme.cc
  model/import/msccl-algorithm.cc
  model/import/msccl-planner.cc
  model/import/xml-document.cc
)
list(APPEND gradsync_headers
  model/import/goal-graph.h
  model/import/goal-planner.h
  model/import/goal-restorer.h
  model/import/goal-schedule.h
  model/import/goal-tokens.h
  model/import/import-error.h
  model/import/import-scheme.h
  model/import/msccl-algorithm.h
  model/import/msccl-planner.h
  model/import/xml-document.h
)

# model/planner
list(APPEND gradsync_sources
  model/planner/auto-planner.cc
  model/planner/fluid-execution.cc
  model/planner/path-catalogue.cc
  model/planner/plan-estimator.cc
)
list(APPEND gradsync_headers
  model/planner/auto-planner.h
  model/planner/fluid-execution.h
  model/planner/network-model.h
  model/planner/path-catalogue.h
  model/planner/plan-estimator.h
)

# model/engine
list(APPEND gradsync_sources
  model/engine/exchange-application.cc
  model/engine/exchange-engine.cc
  model/engine/failure-text.cc
  model/engine/job-aggregations.cc
  model/engine/job-execution.cc
  model/engine/job-failures.cc
  model/engine/job-rounds.cc
  model/engine/job-survivors.cc
  model/engine/job.cc
  model/engine/late-operations.cc
  model/engine/recorder.cc
)
list(APPEND gradsync_headers
  model/engine/exchange-application.h
  model/engine/exchange-engine.h
  model/engine/failure-text.h
  model/engine/job-execution.h
  model/engine/job.h
  model/engine/late-operations.h
  model/engine/recorder.h
)

# model/traffic
list(APPEND gradsync_sources
  model/traffic/flow-sizes.cc
  model/traffic/traffic-generator.cc
)
list(APPEND gradsync_headers
  model/traffic/flow-sizes.h
  model/traffic/traffic-generator.h
)

# model/fault
list(APPEND gradsync_sources
  model/fault/fault-injector.cc
  model/fault/fault-spec.cc
  model/fault/network-condition.cc
  model/fault/slowdown.cc
)
list(APPEND gradsync_headers
  model/fault/fault-injector.h
  model/fault/fault-spec.h
  model/fault/network-condition.h
  model/fault/slowdown.h
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
  model/compression/parallel-ranges.cc
  model/compression/quantisers.cc
  model/compression/sparse-codecs.cc
  model/compression/sparse-selection.cc
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
  model/compression/parallel-ranges.h
  model/compression/quantiser-arithmetic.h
  model/compression/quantisers.h
  model/compression/sized-codec.h
  model/compression/sparse-selection.h
  model/compression/sparsifier-arithmetic.h
)
# GCC does not vectorise a choice between two results where computing both could trap. No value depends on it.
set_source_files_properties(model/compression/quantisers.cc
  PROPERTIES COMPILE_OPTIONS -fno-trapping-math)

# model/workload
list(APPEND gradsync_sources
  model/workload/codec-profile.cc
  model/workload/gradient-states.cc
  model/workload/plan-compressor.cc
)
list(APPEND gradsync_headers
  model/workload/codec-profile.h
  model/workload/gradient-states.h
  model/workload/plan-compressor.h
)

# model/aggregation
list(APPEND gradsync_sources
  model/aggregation/aggregation-rebuild.cc
  model/aggregation/aggregation-switch.cc
  model/aggregation/switch-pipelines.cc
  model/aggregation/aggregation-tensor.cc
  model/aggregation/switch-tree.cc
  model/aggregation/aggregation-worker.cc
  model/aggregation/atp-aggregation.cc
  model/aggregation/atp-frame.cc
  model/aggregation/atp-node.cc
  model/aggregation/atp-server.cc
  model/aggregation/atp-switch-frames.cc
  model/aggregation/atp-switch.cc
  model/aggregation/atp-worker.cc
  model/aggregation/netreduce-aggregation.cc
  model/aggregation/netreduce-node.cc
  model/aggregation/netreduce-worker.cc
  model/aggregation/p4-action-compiler.cc
  model/aggregation/p4-calculation.cc
  model/aggregation/p4-control-compiler.cc
  model/aggregation/p4-emitter.cc
  model/aggregation/p4-expression-arithmetic.cc
  model/aggregation/p4-expression-compiler.cc
  model/aggregation/p4-json.cc
  model/aggregation/p4-machine-packet.cc
  model/aggregation/p4-machine-primitives.cc
  model/aggregation/p4-machine-wide.cc
  model/aggregation/p4-machine.cc
  model/aggregation/p4-match-table.cc
  model/aggregation/p4-parser-compiler.cc
  model/aggregation/p4-pipeline.cc
  model/aggregation/p4-program-loader-headers.cc
  model/aggregation/p4-program-loader-state.cc
  model/aggregation/p4-program-loader.cc
  model/aggregation/p4-runtime-commands.cc
  model/aggregation/p4-slot-switch.cc
  model/aggregation/p4-switch-node.cc
  model/aggregation/slot-aggregation-attributes.cc
  model/aggregation/slot-aggregation-limits.cc
  model/aggregation/slot-aggregation-p4.cc
  model/aggregation/slot-aggregation-values.cc
  model/aggregation/slot-sharing.cc
  model/aggregation/float-tensor.cc
  model/aggregation/slot-aggregation.cc
  model/aggregation/slot-frame.cc
  model/aggregation/slot-header.cc
  model/aggregation/slot-switch-frames.cc
  model/aggregation/slot-switch.cc
  model/aggregation/slot-tensor.cc
  model/aggregation/slot-worker.cc
)
list(APPEND gradsync_headers
  model/aggregation/aggregation-switch.h
  model/aggregation/switch-pipelines.h
  model/aggregation/aggregation-tensor.h
  model/aggregation/switch-tree.h
  model/aggregation/aggregation-worker.h
  model/aggregation/atp-frame.h
  model/aggregation/atp-header.h
  model/aggregation/atp-node.h
  model/aggregation/atp-server.h
  model/aggregation/atp-switch-frames.h
  model/aggregation/atp-switch.h
  model/aggregation/atp-worker.h
  model/aggregation/byte-order.h
  model/aggregation/netreduce-header.h
  model/aggregation/netreduce-node.h
  model/aggregation/netreduce-worker.h
  model/aggregation/p4-action-compiler.h
  model/aggregation/p4-calculation.h
  model/aggregation/p4-control-compiler.h
  model/aggregation/p4-emitter.h
  model/aggregation/p4-error.h
  model/aggregation/p4-expression-compiler.h
  model/aggregation/p4-json.h
  model/aggregation/p4-limbs.h
  model/aggregation/p4-machine.h
  model/aggregation/p4-match-table.h
  model/aggregation/p4-parser-compiler.h
  model/aggregation/p4-pipeline.h
  model/aggregation/p4-program.h
  model/aggregation/p4-program-loader.h
  model/aggregation/p4-runtime-commands.h
  model/aggregation/p4-slot-switch.h
  model/aggregation/p4-switch-node.h
  model/aggregation/p4-compiled-programs.h
  model/aggregation/aggregation-address.h
  model/aggregation/aggregation-role.h
  model/aggregation/p4-wire-bits.h
  model/aggregation/float-tensor.h
  model/aggregation/slot-aggregation.h
  model/aggregation/slot-contents.h
  model/aggregation/slot-frame.h
  model/aggregation/slot-header.h
  model/aggregation/slot-switch-frames.h
  model/aggregation/slot-switch.h
  model/aggregation/slot-tensor.h
  model/aggregation/slot-worker.h
)

# helper
list(APPEND gradsync_sources
  helper/atomic-file.cc
  helper/auto-command.cc
  helper/auto-comparison.cc
  helper/attribute-reader.cc
  helper/bandwidth-bound.cc
  helper/codec-command.cc
  helper/codec-reader.cc
  helper/describe-command.cc
  helper/document-path.cc
  helper/fault-reader.cc
  helper/fault-target-reader.cc
  helper/fault-trace-reader.cc
  helper/graph-topology-reader.cc
  helper/inspect-commands.cc
  helper/job-planner.cc
  helper/job-reader.cc
  helper/json-document.cc
  helper/json-value.cc
  helper/link-sampler.cc
  helper/manifest.cc
  helper/nearest-name.cc
  helper/plan-command.cc
  helper/p4-program-reader.cc
  helper/plan-printer.cc
  helper/node-names.cc
  helper/process-pool.cc
  helper/program-version.cc
  helper/progress-meter.cc
  helper/result-files.cc
  helper/result-rows.cc
  helper/result-table.cc
  helper/run-command.cc
  helper/run-numbers.cc
  helper/run-store.cc
  helper/run-summary.cc
  helper/run-timeline.cc
  helper/scenario-checker.cc
  helper/scenario-reader.cc
  helper/scenario-runner.cc
  helper/scenario-sweep.cc
  helper/scenario-vocabulary.cc
  helper/scheme-reader.cc
  helper/space-time-diagram.cc
  helper/sum-error-study.cc
  helper/sum-errors-command.cc
  helper/time-resolution.cc
  helper/topology-reader.cc
  helper/trace-writer.cc
  helper/traffic-reader.cc
  helper/transport-registry.cc
  helper/units.cc
)
list(APPEND gradsync_headers
  helper/atomic-file.h
  helper/auto-comparison.h
  helper/attribute-reader.h
  helper/bandwidth-bound.h
  helper/codec-reader.h
  helper/document-path.h
  helper/fault-reader.h
  helper/fault-target-reader.h
  helper/fault-trace-reader.h
  helper/graph-topology-reader.h
  helper/job-planner.h
  helper/job-reader.h
  helper/json-document.h
  helper/json-value.h
  helper/link-sampler.h
  helper/manifest.h
  helper/nearest-name.h
  helper/p4-program-reader.h
  helper/plan-printer.h
  helper/node-names.h
  helper/process-pool.h
  helper/program-commands.h
  helper/program-version.h
  helper/progress-meter.h
  helper/result-files.h
  helper/result-rows.h
  helper/result-table.h
  helper/run-result.h
  helper/run-numbers.h
  helper/run-store.h
  helper/run-summary.h
  helper/run-timeline.h
  helper/scenario-checker.h
  helper/scenario-error.h
  helper/scenario-reader.h
  helper/scenario-runner.h
  helper/scenario-sweep.h
  helper/scenario-vocabulary.h
  helper/scenario.h
  helper/scheme-reader.h
  helper/space-time-diagram.h
  helper/sum-error-study.h
  helper/time-resolution.h
  helper/topology-reader.h
  helper/trace-recorder.h
  helper/trace-writer.h
  helper/traffic-reader.h
  helper/transport-registry.h
  helper/units.h
)

# The command-line program (examples/ in ns-3's sense), not part of the library.
set(gradsync_program_sources examples/gradsync.cc)

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

# Benchmarks, stand-alone only. One executable per file.
set(gradsync_benchmarks
  tests/bench/codec-bench.cc
  tests/bench/event-core-bench.cc
  tests/bench/exchange-bench.cc
  tests/bench/p4-bench.cc
  tests/bench/plan-bench.cc
  tests/bench/stock-ns3-ring.cc
)

# Unit tests, stand-alone only: a program ROOM-tests for each room, whose files are compiled several at a
# time, as most of the time goes into what they have in common.
set(gradsync_test_rooms topology plan scheme fluid transport fault engine
    aggregation p4 compression scenario helper stock)
set(gradsync_tests_of_topology
  tests/unit/all-reduce-bound-test.cc
  tests/unit/fat-tree-topology-test.cc
  tests/unit/group-finder-test.cc
  tests/unit/routing-tables-test.cc
  tests/unit/server-builder-test.cc
  tests/unit/spine-leaf-topology-test.cc
  tests/unit/three-tier-topology-test.cc
  tests/unit/topology-test.cc
)
# Also of what makes plans of plans: model/import and model/workload.
set(gradsync_tests_of_plan
  tests/unit/chunk-layout-test.cc
  tests/unit/dataflow-builder-test.cc
  tests/unit/goal-writer-test.cc
  tests/unit/packed-rows-test.cc
  tests/unit/plan-builder-test.cc
  tests/unit/plan-compressor-test.cc
  tests/unit/plan-import-test.cc
  tests/unit/plan-statistics-test.cc
  tests/unit/plan-verifier-test.cc
)
set(gradsync_tests_of_scheme
  tests/unit/scheme-collective-test.cc
  tests/unit/scheme-grid-test.cc
  tests/unit/scheme-hierarchical-test.cc
  tests/unit/scheme-ps-test.cc
  tests/unit/scheme-rat-test.cc
  tests/unit/scheme-registry-test.cc
  tests/unit/scheme-ring-test.cc
  tests/unit/scheme-server-test.cc
  tests/unit/scheme-tree-test.cc
)
# Also of what runs on the fluid transport: the planner and traffic.
set(gradsync_tests_of_fluid
  tests/unit/auto-planner-test.cc
  tests/unit/fluid-oracle-test.cc
  tests/unit/fluid-scheme-test.cc
  tests/unit/fluid-transport-test.cc
  tests/unit/max-min-allocator-test.cc
  tests/unit/traffic-generator-test.cc
)
set(gradsync_tests_of_transport
  tests/unit/congestion-control-test.cc
  tests/unit/fabric-port-test.cc
  tests/unit/network-end-test.cc
  tests/unit/packet-oracle-test.cc
  tests/unit/path-selector-test.cc
  tests/unit/radix-scheduler-test.cc
  tests/unit/roce-connection-table-test.cc
  tests/unit/roce-stress.cc
  tests/unit/roce-transport-test.cc
  tests/unit/tcp-transport-test.cc
)
set(gradsync_tests_of_fault
  tests/unit/chaos-test.cc
  tests/unit/fault-injector-test.cc
  tests/unit/link-faults.cc
  tests/unit/silent-host.cc
)
set(gradsync_tests_of_engine
  tests/unit/exchange-engine-test.cc
)
set(gradsync_tests_of_aggregation
  tests/unit/atp-aggregation.cc
  tests/unit/atp-switch.cc
  tests/unit/float-sums.cc
  tests/unit/passing-aggregation.cc
  tests/unit/slot-aggregation-test.cc
  tests/unit/slot-sharing.cc
  tests/unit/slot-sums.cc
  tests/unit/slot-switch-frames.cc
  tests/unit/slot-switch-test.cc
)
set(gradsync_tests_of_p4
  tests/unit/p4-engine-test.cc
  tests/unit/p4-pipeline-test.cc
  tests/unit/p4-user-programs.cc
)
set(gradsync_tests_of_compression
  tests/unit/codec-references.cc
  tests/unit/quantiser-references.cc
  tests/unit/quantiser-test.cc
  tests/unit/sparse-codec-test.cc
)
set(gradsync_tests_of_scenario
  tests/unit/aggregation-faults.cc
  tests/unit/federated-rounds.cc
  tests/unit/netreduce-runs.cc
  tests/unit/pipeline-runs.cc
  tests/unit/scenario-reactions.cc
  tests/unit/scenario-runner-test.cc
  tests/unit/scenario-sweep-test.cc
)
set(gradsync_tests_of_helper
  tests/unit/json-document-test.cc
  tests/unit/process-pool-test.cc
  tests/unit/program-test.cc
  tests/unit/scenario-files-test.cc
  tests/unit/scenario-fuzz-test.cc
  tests/unit/scenario-reader-test.cc
  tests/unit/units-test.cc
)
set(gradsync_tests_of_stock
  tests/unit/stock-ns3-test.cc
)
