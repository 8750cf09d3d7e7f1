// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DAPPLE_TABLE_H
#define GRADSYNC_DAPPLE_TABLE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// A layer that was measured, for the batch of its table.
struct DappleLayer
{
    std::string name;
    uint64_t forwardPicoseconds{0};
    uint64_t backwardPicoseconds{0};
    uint64_t activationBytes{0}; //!< that it computes and that are kept for its backward pass
    /// Of this layer and those before it, what a layer behind it uses: what a pipeline that is cut
    /// behind it sends on.
    uint64_t outputBytes{0};
    uint64_t parameterBytes{0};
};

/**
 * Reads a table of layers as DAPPLE's planner does, and PipeDream's profiler writes it: a line
 * `node1 -- conv1 -- forward_compute_time=0.5, backward_compute_time=1, activation_size=[8; 8],
 * parameter_size=4.000` a layer, in milliseconds and bytes, and an indented line `node1 -- node2`
 * for each layer that uses another one's output.
 * \returns the layers in an order in which each comes after those that it uses, else that of the
 * file (AlibabaPAI/DAPPLE, src/input/torch_graph_py.rs: Graph.from_str, output_activation_size)
 * \throws ImportError with file and line
 */
std::vector<DappleLayer> ReadDappleTable(const std::string& file, std::string_view text);

/// The samples that a table is of, as DAPPLE names its files: 6 of "bert-24-pbs-6.txt"; 0: the name
/// does not tell.
uint32_t FindDappleBatch(std::string_view name);

} // namespace ns3::gradsync

#endif // GRADSYNC_DAPPLE_TABLE_H
