// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_STF_PLAYER_H
#define GRADSYNC_P4_STF_PLAYER_H

#include "ns3/p4-pipeline.h"
#include "ns3/p4-stf-vector.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// What came of a vector.
struct P4StfResult
{
    uint32_t packets = 0;  //!< that went in
    uint32_t expected = 0; //!< packets and counters
    uint32_t passed = 0;   //!< of those
    /// Packets that left by ports which the vector names, but were not expected.
    uint32_t unexpected = 0;
    /// Packets that left by ports which the vector does not name: on simple_switch they have no
    /// file.
    uint32_t elsewhere = 0;
    std::vector<std::string> problems; //!< a line each, with file and line of the vector
    std::vector<std::string> answers;  //!< of commands that ask

    bool HasPassed() const
    {
        return problems.empty();
    }
};

/**
 * Plays vectors as p4c's runner for BMv2 does: what leaves by a port is compared in its order with
 * what is expected there.
 */
class P4StfPlayer
{
  public:
    /// \param pipeline must outlive this \param file the vector's name, for messages
    P4StfPlayer(P4Pipeline& pipeline, std::string file);

    /// \throws P4Error that names the line when a statement cannot be carried out
    P4StfResult Play(const std::vector<P4StfStatement>& statements);

  private:
    /// A packet that left, and the line of the one that caused it.
    struct Sent
    {
        uint32_t line = 0;
        std::vector<uint8_t> bytes;
    };

    struct Expected
    {
        uint32_t line = 0;
        P4StfExpectation packet;
    };

    struct Port
    {
        std::vector<Sent> sent;
        std::vector<Expected> expected;
        bool isNamed = false;
    };

    void Run(const P4StfPacket& packet, uint32_t line);
    void Run(const P4StfExpectation& expected, uint32_t line);
    void Run(const P4StfEntry& entry, uint32_t line);
    void Run(const P4StfCounterCheck& check, uint32_t line);
    void Run(const P4StfCommand& command, uint32_t line);
    void Run(const P4StfRemoval& removal, uint32_t line);
    void Run(const P4StfPause& pause, uint32_t line);
    /// The words of simple_switch_CLI for an entry.
    P4StfCommand MakeCommand(const P4StfEntry& entry) const;
    void ComparePort(uint32_t number, const Port& port);
    uint32_t FindCounterIndex(const std::string& index) const;
    void AddProblem(uint32_t line, const std::string& problem);

    P4Pipeline& m_pipeline;
    std::string m_file;
    P4StfResult m_result;
    std::map<uint32_t, Port> m_ports;
    std::map<std::string, uint32_t> m_handles;
    /// With the lines that they are sorted by.
    std::vector<std::pair<uint32_t, std::string>> m_problems;
    uint64_t m_timeUs = 0;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_STF_PLAYER_H
