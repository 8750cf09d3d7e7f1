// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dapple-table.h"

#include "ns3/nearest-name.h"
#include "ns3/trace-lines.h"
#include "ns3/trace-program-builder.h"
#include "ns3/trace-program.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <functional>
#include <queue>
#include <unordered_map>

namespace ns3::gradsync
{

namespace
{

constexpr size_t MAX_TABLE_LAYERS = 10'000;
constexpr std::string_view SEPARATOR = " -- ";
constexpr std::string_view FIRST_FIGURE = " -- forward_compute_time=";
constexpr std::string_view STAGE = " -- stage_id=";
constexpr uint32_t MILLISECOND_DIGITS = 9; //!< 1 ms = 10^9 ps

std::string_view
TrimBlanks(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    return first == std::string_view::npos
               ? std::string_view()
               : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

class DappleReader
{
  public:
    DappleReader(const std::string& file, std::string_view text)
        : m_lines(file, text, "\n", true)
    {
    }

    std::vector<DappleLayer> Read()
    {
        while (m_lines.Next())
        {
            const auto line = m_lines.GetWords().front();
            if (line.front() == ' ' || line.front() == '\t')
            {
                ReadUse(TrimBlanks(line));
            }
            else
            {
                ReadLayer(TrimBlanks(line));
            }
        }
        if (m_layers.empty())
        {
            m_lines.Fail("found no layer, expected \"node1 -- conv1 -- forward_compute_time=0.5, "
                         "backward_compute_time=1, activation_size=8, parameter_size=4\"");
        }
        return Order();
    }

  private:
    void ReadLayer(std::string_view line)
    {
        const auto figures = line.rfind(FIRST_FIGURE);
        const auto id = line.substr(0, line.find(SEPARATOR));
        if (figures == std::string_view::npos || id.empty())
        {
            m_lines.Fail(
                fmt::format("found {}, expected \"node1 -- conv1 -- "
                            "forward_compute_time=...\", or an indented \"node1 -- node2\"",
                            QuoteName(line)));
        }
        if (m_layers.size() >= MAX_TABLE_LAYERS)
        {
            m_lines.Fail(fmt::format("more than {} layers", MAX_TABLE_LAYERS));
        }
        if (!m_places.emplace(id, static_cast<uint32_t>(m_layers.size())).second)
        {
            m_lines.Fail(fmt::format("{} is there twice", QuoteName(id)));
        }
        DappleLayer layer;
        const auto name =
            id.size() + SEPARATOR.size() < figures
                ? line.substr(id.size() + SEPARATOR.size(), figures - id.size() - SEPARATOR.size())
                : id;
        layer.name = CleanTraceName(TrimBlanks(name).empty() ? id : TrimBlanks(name));
        const auto text = line.substr(figures + SEPARATOR.size());
        ReadFigures(text.substr(0, text.rfind(STAGE)), layer); // where another planner cut it
        m_layers.push_back(std::move(layer));
        m_users.emplace_back();
    }

    void ReadFigures(std::string_view text, DappleLayer& layer) const
    {
        layer.forwardPicoseconds = TakeTime(text, "forward_compute_time");
        layer.backwardPicoseconds = TakeTime(text, "backward_compute_time");
        layer.activationBytes = SumBytes(Take(text, "activation_size"), "activation_size");
        layer.parameterBytes = SumBytes(Take(text, "parameter_size"), "parameter_size");
        if (!text.empty())
        {
            m_lines.Fail(
                fmt::format("found {} behind parameter_size, expected nothing", QuoteName(text)));
        }
    }

    /// The value of a figure, which is then behind the text.
    std::string_view Take(std::string_view& text, std::string_view key) const
    {
        if (!text.starts_with(key) || !text.substr(key.size()).starts_with("="))
        {
            m_lines.Fail(fmt::format("found {}, expected {}=...", QuoteName(text), key));
        }
        text.remove_prefix(key.size() + 1);
        const auto end = std::min(text.find(','), text.size());
        const auto value = TrimBlanks(text.substr(0, end));
        text = end == text.size() ? std::string_view() : TrimBlanks(text.substr(end + 1));
        return value;
    }

    uint64_t TakeTime(std::string_view& text, std::string_view key) const
    {
        return ReadDecimal(Take(text, key), MILLISECOND_DIGITS, MAX_TRACE_PICOSECONDS, key);
    }

    /// A number, or `[1; 2]` of several tensors.
    uint64_t SumBytes(std::string_view value, std::string_view key) const
    {
        if (value.starts_with('[') && value.ends_with(']'))
        {
            value = value.substr(1, value.size() - 2);
        }
        uint64_t sum = 0;
        for (bool goesOn = true; goesOn;)
        {
            const auto end = std::min(value.find(';'), value.size());
            sum += ReadDecimal(TrimBlanks(value.substr(0, end)), 0, MAX_TRACE_BYTES, key);
            if (sum > MAX_TRACE_BYTES)
            {
                m_lines.Fail(fmt::format("{} is more than {}", key, MAX_TRACE_BYTES));
            }
            goesOn = end < value.size();
            value.remove_prefix(goesOn ? end + 1 : end);
        }
        return sum;
    }

    /// \returns a number such as 8.07 times 10^digits, which has to be whole
    uint64_t ReadDecimal(std::string_view word,
                         uint32_t digits,
                         uint64_t maximum,
                         std::string_view key) const
    {
        const auto point = std::min(word.find('.'), word.size());
        auto fraction = std::string(word.substr(std::min(point + 1, word.size())));
        fraction.erase(fraction.find_last_not_of('0') + 1);
        const bool isFine = fraction.size() <= digits;
        fraction.resize(std::max<size_t>(fraction.size(), digits), '0');
        const auto all = std::string(word.substr(0, point)) + fraction;
        uint64_t number = 0;
        const auto* end = all.data() + all.size();
        const auto result = std::from_chars(all.data(), end, number);
        if (!isFine || point == 0 || result.ptr != end || result.ec != std::errc() ||
            number > maximum)
        {
            m_lines.Fail(fmt::format("{}: found {}, expected a number from 0 on{}",
                                     key,
                                     QuoteName(word),
                                     digits == 0 ? " without a fraction" : " in milliseconds"));
        }
        return number;
    }

    void ReadUse(std::string_view line)
    {
        const auto separator = line.find(SEPARATOR);
        if (separator == std::string_view::npos)
        {
            m_lines.Fail(fmt::format("found {}, expected \"node1 -- node2\"", QuoteName(line)));
        }
        const auto from = FindPlace(line.substr(0, separator));
        const auto to = FindPlace(line.substr(separator + SEPARATOR.size()));
        m_users[from].push_back(to);
    }

    uint32_t FindPlace(std::string_view id) const
    {
        const auto found = m_places.find(std::string(TrimBlanks(id)));
        if (found == m_places.end())
        {
            m_lines.Fail(fmt::format("{} is no layer of a line above", QuoteName(id)));
        }
        return found->second;
    }

    /// Of the layers that wait for none the one that the file has first, again and again.
    std::vector<uint32_t> Sort() const
    {
        std::vector<uint32_t> waits(m_layers.size(), 0);
        for (const auto& users : m_users)
        {
            for (const auto user : users)
            {
                ++waits[user];
            }
        }
        std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
        for (uint32_t place = 0; place < waits.size(); ++place)
        {
            if (waits[place] == 0)
            {
                ready.push(place);
            }
        }
        std::vector<uint32_t> order;
        while (!ready.empty())
        {
            order.push_back(ready.top());
            ready.pop();
            for (const auto user : m_users[order.back()])
            {
                if (--waits[user] == 0)
                {
                    ready.push(user);
                }
            }
        }
        return order;
    }

    std::vector<DappleLayer> Order()
    {
        const auto order = Sort();
        if (order.size() < m_layers.size())
        {
            m_lines.Fail("layers use each other's outputs in a circle");
        }
        std::vector<uint32_t> turnOf(order.size());
        for (uint32_t turn = 0; turn < order.size(); ++turn)
        {
            turnOf[order[turn]] = turn;
        }
        std::vector<DappleLayer> layers;
        std::vector<uint64_t> endsAt(order.size(), 0); // bytes that the layer is the last to use
        uint64_t live = 0;
        for (uint32_t turn = 0; turn < order.size(); ++turn)
        {
            auto layer = std::move(m_layers[order[turn]]);
            uint32_t last = turn;
            for (const auto user : m_users[order[turn]])
            {
                last = std::max(last, turnOf[user]);
            }
            endsAt[last] += layer.activationBytes;
            live += layer.activationBytes;
            live -= endsAt[turn];
            layer.outputBytes = live;
            layers.push_back(std::move(layer));
        }
        return layers;
    }

    TraceLines m_lines;
    std::vector<DappleLayer> m_layers; //!< as the file has them
    std::unordered_map<std::string, uint32_t> m_places;
    std::vector<std::vector<uint32_t>> m_users; //!< [place] places of layers that use its output
};

} // namespace

std::vector<DappleLayer>
ReadDappleTable(const std::string& file, std::string_view text)
{
    return DappleReader(file, text).Read();
}

uint32_t
FindDappleBatch(std::string_view name)
{
    constexpr std::string_view mark = "-pbs-";
    const auto found = name.rfind(mark);
    uint32_t batch = 0;
    if (found != std::string_view::npos)
    {
        const auto digits = name.substr(found + mark.size());
        std::from_chars(digits.data(), digits.data() + digits.size(), batch);
    }
    return batch;
}

} // namespace ns3::gradsync
