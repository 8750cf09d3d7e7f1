// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHAKRA_PROGRAM_H
#define GRADSYNC_CHAKRA_PROGRAM_H

#include "ns3/trace-program-builder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// How a Chakra trace is read.
struct ChakraOptions
{
    bool followsControl{true}; //!< control dependencies order nodes as data dependencies do
};

/// A node of a Chakra execution trace, whatever form it was written in.
struct ChakraNode
{
    uint64_t id{0};
    std::string name;
    int64_t type{0}; //!< NodeType of et_def.proto: 1 metadata, 2 load, 3 store, 4 computation, ...
    std::vector<uint64_t> controlDependencies;
    std::vector<uint64_t> dataDependencies;
    uint64_t durationMicros{0};
    bool onHost{false};                    //!< is_cpu_op
    std::optional<int64_t> collectiveType; //!< comm_type
    std::optional<uint64_t> bytes;         //!< comm_size
    std::optional<int64_t> peer;           //!< comm_dst, or comm_src of what is received
    int64_t tag{0};                        //!< comm_tag
    std::string group;                     //!< pg_name
    bool leavesOutDimensions{false};       //!< involved_dim has a false

    /// Forgets all, and keeps memory.
    void Clear();

    /**
     * Takes what an attribute says, of those that are read. \param number of any of the integer
     * types, which vary between writers; texts that are numbers likewise
     */
    void SetNumber(std::string_view attribute, int64_t number);
    void SetText(std::string_view attribute, std::string text);
};

/**
 * What the nodes of a Chakra trace are here. Sizes are ASTRA-sim's: comm_size of an all-gather is
 * what each rank brings, of all others the whole buffer (astra-sim/system/collective/Ring.cc).
 */
class ChakraProgram
{
  public:
    ChakraProgram(std::string file, const ChakraOptions& options);

    /// \throws ImportError for what no trace can have
    void Add(const ChakraNode& node);

    /// \throws ImportError as TraceProgramBuilder::Finish
    TraceProgram Finish()
    {
        return m_builder.Finish();
    }

    TraceProgramBuilder& GetBuilder()
    {
        return m_builder;
    }

  private:
    TraceNode Translate(const ChakraNode& node);
    TraceNode TranslateMessage(const ChakraNode& node, TraceNode made);
    TraceNode TranslateCollective(const ChakraNode& node, TraceNode made);
    TraceNode Miss(const ChakraNode& node, const std::string& what, TraceNode instead);

    TraceProgramBuilder m_builder;
    ChakraOptions m_options;
    std::vector<uint64_t> m_dependencies; //!< of the node in hand
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CHAKRA_PROGRAM_H
