// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PYTORCH_TEXT_H
#define GRADSYNC_PYTORCH_TEXT_H

#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

namespace ns3::gradsync::tests
{

/// Writes PyTorch execution traces, nodes in the order in which they were begun.
class PyTorchText
{
  public:
    /// \param inputs as JSON: values, shapes, types \returns its id
    uint64_t Add(const std::string& name,
                 uint64_t parent = 1,
                 const std::string& inputs = "{}",
                 const std::string& outputs = "{}",
                 const std::string& attributes = "")
    {
        const auto id = m_nextId++;
        m_nodes.push_back(fmt::format(
            R"({{"id": {}, "name": "{}", "ctrl_deps": {}, "inputs": {}, "outputs": {}, "attrs":
                [{{"name": "rf_id", "type": "uint64", "value": {}}}{}]}})",
            id,
            name,
            parent,
            inputs,
            outputs,
            id,
            attributes));
        return id;
    }

    /// [m, k] x [k, n] of fp32
    uint64_t AddProduct(uint64_t m, uint64_t k, uint64_t n, uint64_t parent = 1)
    {
        return Add("aten::mm",
                   parent,
                   fmt::format(R"J({{"values": [], "shapes": [[{}, {}], [{}, {}]],
                                   "types": ["Tensor(float)", "Tensor(float)"]}})J",
                               m,
                               k,
                               k,
                               n),
                   fmt::format(R"J({{"values": [], "shapes": [[{}, {}]],
                                   "types": ["Tensor(float)"]}})J",
                               m,
                               n));
    }

    /// \param more attributes, each behind a comma
    uint64_t AddCollective(const std::string& kind,
                           uint64_t elements,
                           int64_t sequence,
                           const std::string& group = "0",
                           const std::string& dtype = "Float",
                           const std::string& more = "")
    {
        return Add("record_param_comms",
                   1,
                   fmt::format(R"({{"values": [{}], "shapes": [[]], "types": ["Int"]}})", sequence),
                   "{}",
                   WriteText("collective_name", kind) + WriteText("pg_name", group) +
                       WriteText("dtype", dtype) + WriteNumber("in_msg_nelems", elements) + more);
    }

    static std::string WriteText(const std::string& name, const std::string& value)
    {
        return fmt::format(R"(, {{"name": "{}", "type": "string", "value": "{}"}})", name, value);
    }

    static std::string WriteNumber(const std::string& name, uint64_t value)
    {
        return fmt::format(R"(, {{"name": "{}", "type": "uint64", "value": {}}})", name, value);
    }

    /// \param ranks as JSON; [] are all
    uint64_t AddGroup(const std::string& name, const std::string& ranks, uint32_t size)
    {
        return Add("## process_group:init ##",
                   1,
                   fmt::format(R"({{"values": ["[{{\"pg_name\": \"{}\", \"ranks\": {}, )"
                               R"(\"group_size\": {}}}]"], "shapes": [[]], "types": ["String"]}})",
                               name,
                               ranks,
                               size));
    }

    std::string Write() const
    {
        return fmt::format(R"({{"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": [{}]}})",
                           fmt::join(m_nodes, ",\n"));
    }

  private:
    uint64_t m_nextId{2};
    std::vector<std::string> m_nodes;
};

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_PYTORCH_TEXT_H
