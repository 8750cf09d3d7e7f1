// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHAKRA_FILES_H
#define GRADSYNC_CHAKRA_FILES_H

#include "ns3/chakra-program.h"

#include <string>
#include <string_view>

namespace ns3::gradsync
{

/// Reads a Chakra execution trace in its binary form (chakra-trace.proto). \throws ImportError
void ReadChakraProtobuf(std::string_view text, ChakraProgram& program);

/**
 * Reads a Chakra execution trace in one of its JSON forms: messages one after the other, as
 * protobuf writes them (`{"version": ...}{"id": "1", "type": "COMP_NODE", "dataDeps": ["0"],
 * ...}`), or that of Chakra's feeder (`{"workload_graph": [{"Id": 1, "NodeType": 4, "data_deps":
 * [0], "runtime": 5, ...}]}`). \throws ImportError
 */
void ReadChakraJson(std::string_view text, ChakraProgram& program);

} // namespace ns3::gradsync

#endif // GRADSYNC_CHAKRA_FILES_H
