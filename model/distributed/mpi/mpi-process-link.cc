// SPDX-License-Identifier: GPL-2.0-only
// A library of its own, which only programs that are one of several load: MPI starts slowly, and
// most runs do without.
#include "ns3/process-link.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mpi.h>
#include <type_traits>

namespace ns3::gradsync
{

namespace
{

/// The processes that mpirun has started. An error in MPI ends them all.
class MpiProcessLink final : public ProcessLink
{
  public:
    MpiProcessLink()
    {
        MPI_Init(nullptr, nullptr);
        int number = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &number);
        m_own = static_cast<uint32_t>(number);
        MPI_Comm_size(MPI_COMM_WORLD, &number);
        m_sent.resize(static_cast<size_t>(number));
        m_received.resize(m_sent.size());
    }

    ~MpiProcessLink() override
    {
        if (std::uncaught_exceptions() > 0)
        {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); // the others would wait for ever
        }
        MPI_Finalize();
    }

    uint32_t GetCount() const override
    {
        return static_cast<uint32_t>(m_sent.size());
    }

    uint32_t GetOwn() const override
    {
        return m_own;
    }

    void Exchange(const ProcessNote& note,
                  std::vector<ByteBatch>& batches,
                  std::vector<ProcessNote>& notes,
                  std::vector<ByteBatch>& received) override;

  private:
    /// What each tells each other one first.
    struct Header
    {
        ProcessNote note;
        uint64_t bytes; //!< of the batch that follows
    };

    static_assert(std::is_trivially_copyable_v<Header>);

    /// MPI counts bytes in an int.
    static constexpr size_t PIECE_BYTES = size_t{1} << 30;

    /// Calls transfer(piece, bytes) for the pieces of a batch.
    template <typename Transfer>
    static void ForPieces(ByteBatch& batch, const Transfer& transfer)
    {
        for (size_t at = 0; at < batch.size(); at += PIECE_BYTES)
        {
            transfer(batch.data() + at, static_cast<int>(std::min(PIECE_BYTES, batch.size() - at)));
        }
    }

    uint32_t m_own{0};
    std::vector<Header> m_sent;     //!< [process]
    std::vector<Header> m_received; //!< likewise
    std::vector<MPI_Request> m_requests;
};

void
MpiProcessLink::Exchange(const ProcessNote& note,
                         std::vector<ByteBatch>& batches,
                         std::vector<ProcessNote>& notes,
                         std::vector<ByteBatch>& received)
{
    constexpr int TAG = 0;
    for (size_t part = 0; part < m_sent.size(); ++part)
    {
        m_sent[part] = {note, batches[part].size()};
    }
    MPI_Alltoall(m_sent.data(),
                 sizeof(Header),
                 MPI_BYTE,
                 m_received.data(),
                 sizeof(Header),
                 MPI_BYTE,
                 MPI_COMM_WORLD);
    m_requests.clear();
    for (size_t part = 0; part < m_sent.size(); ++part)
    {
        notes[part] = m_received[part].note;
        received[part].resize(part == m_own ? 0 : m_received[part].bytes);
        const auto peer = static_cast<int>(part);
        ForPieces(received[part], [&](std::byte* piece, int bytes) {
            auto& request = m_requests.emplace_back();
            MPI_Irecv(piece, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
        });
    }
    for (size_t part = 0; part < m_sent.size(); ++part)
    {
        if (part == m_own)
        {
            continue;
        }
        const auto peer = static_cast<int>(part);
        ForPieces(batches[part], [&](std::byte* piece, int bytes) {
            auto& request = m_requests.emplace_back();
            MPI_Isend(piece, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
        });
    }
    MPI_Waitall(static_cast<int>(m_requests.size()), m_requests.data(), MPI_STATUSES_IGNORE);
    for (auto& batch : batches)
    {
        batch.clear();
    }
}

} // namespace

} // namespace ns3::gradsync

extern "C" ns3::gradsync::ProcessLink*
GradsyncMakeProcessLink()
{
    return new ns3::gradsync::MpiProcessLink();
}
