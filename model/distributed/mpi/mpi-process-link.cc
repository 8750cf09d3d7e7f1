// SPDX-License-Identifier: GPL-2.0-only
// A library of its own, which only programs that are one of several load: MPI starts slowly, and
// most runs do without.
#include "ns3/process-link.h"
#include "ns3/shared-boards.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
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
        m_boards = std::make_unique<SharedBoards>();
    }

    ~MpiProcessLink() override
    {
        if (std::uncaught_exceptions() > 0)
        {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); // the others would wait for ever
        }
        m_boards.reset();
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

    static constexpr int TAG = 0;

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

    void ExchangeByBoards(const ProcessNote& note,
                          std::vector<ByteBatch>& batches,
                          std::vector<ProcessNote>& notes,
                          std::vector<ByteBatch>& received);
    void ExchangeByMessages(const ProcessNote& note,
                            std::vector<ByteBatch>& batches,
                            std::vector<ProcessNote>& notes,
                            std::vector<ByteBatch>& received);
    void Receive(uint32_t peer, ByteBatch& batch);
    void Send(std::vector<ByteBatch>& batches);

    uint32_t m_own{0};
    std::unique_ptr<SharedBoards> m_boards;
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
    m_requests.clear();
    if (m_boards->Exist())
    {
        ExchangeByBoards(note, batches, notes, received);
    }
    else
    {
        ExchangeByMessages(note, batches, notes, received);
    }
    MPI_Waitall(static_cast<int>(m_requests.size()), m_requests.data(), MPI_STATUSES_IGNORE);
    for (auto& batch : batches)
    {
        batch.clear();
    }
}

void
MpiProcessLink::ExchangeByBoards(const ProcessNote& note,
                                 std::vector<ByteBatch>& batches,
                                 std::vector<ProcessNote>& notes,
                                 std::vector<ByteBatch>& received)
{
    if (!m_boards->PutUp(note, batches))
    {
        Send(batches);
    }
    notes[m_own] = note;
    for (uint32_t peer = 0; peer < GetCount(); ++peer)
    {
        if (peer != m_own && !m_boards->Read(peer, notes[peer], received[peer]))
        {
            Receive(peer, received[peer]);
        }
    }
}

void
MpiProcessLink::ExchangeByMessages(const ProcessNote& note,
                                   std::vector<ByteBatch>& batches,
                                   std::vector<ProcessNote>& notes,
                                   std::vector<ByteBatch>& received)
{
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
    for (uint32_t part = 0; part < GetCount(); ++part)
    {
        notes[part] = m_received[part].note;
        received[part].resize(part == m_own ? 0 : m_received[part].bytes);
        Receive(part, received[part]);
    }
    Send(batches);
}

/// Begins to receive a batch of that size.
void
MpiProcessLink::Receive(uint32_t peer, ByteBatch& batch)
{
    ForPieces(batch, [this, peer](std::byte* piece, int bytes) {
        auto& request = m_requests.emplace_back();
        const auto from = static_cast<int>(peer);
        MPI_Irecv(piece, bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
    });
}

/// Begins to send all batches but that of this process.
void
MpiProcessLink::Send(std::vector<ByteBatch>& batches)
{
    for (uint32_t part = 0; part < GetCount(); ++part)
    {
        if (part == m_own)
        {
            continue;
        }
        ForPieces(batches[part], [this, part](std::byte* piece, int bytes) {
            auto& request = m_requests.emplace_back();
            const auto to = static_cast<int>(part);
            MPI_Isend(piece, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
        });
    }
}

} // namespace

} // namespace ns3::gradsync

extern "C" ns3::gradsync::ProcessLink*
GradsyncMakeProcessLink()
{
    return new ns3::gradsync::MpiProcessLink();
}
