// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROGRESS_METER_H
#define GRADSYNC_PROGRESS_METER_H

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// How a ProgressMeter shows itself.
enum class ProgressStyle
{
    None,
    Lines, //!< one line for each run that ends: for logs
    Bar    //!< also a bar that is drawn again and again: for terminals
};

/// Progress over all runs by simulated message bytes, with the time that is still to go.
class ProgressMeter
{
  public:
    /// \param runBytes [run] -> message bytes to simulate; runs that are done already count as 0
    ProgressMeter(ProgressStyle style, std::ostream& stream, std::vector<uint64_t> runBytes);

    void Update(uint32_t run, uint64_t deliveredBytes);

    /// A run has ended; `line` is printed.
    void Finish(uint32_t run, const std::string& line);

    /// Draws the bar, a few times a second at most.
    void Draw();

    /// Removes the bar, so that other text can follow.
    void Clear();

  private:
    using Clock = std::chrono::steady_clock;

    std::string FormatBar() const;

    ProgressStyle m_style;
    std::ostream& m_stream;
    std::vector<uint64_t> m_total;
    std::vector<uint64_t> m_done;
    uint32_t m_runs{0};     //!< to do
    uint32_t m_finished{0}; //!< of these
    Clock::time_point m_begin{Clock::now()};
    Clock::time_point m_drawn;
    size_t m_width{0}; //!< of the bar on the screen; 0: none
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PROGRESS_METER_H
