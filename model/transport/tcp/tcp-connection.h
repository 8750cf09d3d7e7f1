// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TCP_CONNECTION_H
#define GRADSYNC_TCP_CONNECTION_H

#include "ns3/inet-socket-address.h"
#include "ns3/packet.h"
#include "ns3/sequence-number.h"
#include "ns3/socket.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/transport.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

namespace ns3
{
class TcpHeader;
class TcpSocketBase;
} // namespace ns3

namespace ns3::gradsync
{

/// What a transport wants to know of its connections.
class TcpConnectionObserver
{
  public:
    virtual void OnGoodput(uint64_t bytes) = 0;
    /// A segment left all of whose bytes had left before.
    virtual void OnRetransmission(uint32_t bytes) = 0;
    virtual void OnTimeout(uint32_t src, uint32_t dst) = 0;
    /// For messages to the user.
    virtual std::string GetName(uint32_t endpoint) const = 0;

  protected:
    ~TcpConnectionObserver() = default;
};

/**
 * One persistent TCP connection that carries the messages of one (src, dst, stream) in order, as a
 * byte stream. A message of 0 bytes travels as one byte.
 */
class TcpConnection
{
  public:
    /// \param sender an unbound socket on the node of src; \param segmentBytes its segment size
    TcpConnection(uint32_t src,
                  uint32_t dst,
                  const Ptr<Socket>& sender,
                  uint32_t segmentBytes,
                  TcpConnectionObserver& observer);
    ~TcpConnection();
    TcpConnection(const TcpConnection&) = delete;
    TcpConnection& operator=(const TcpConnection&) = delete;

    /// Opens the connection. \returns the address and port at src by which the receiver will know
    /// it
    InetSocketAddress Connect(const InetSocketAddress& receiver);

    /// The receiving end, when the other side has accepted.
    void Accept(const Ptr<Socket>& receiver);

    void Send(const Message& message);

  private:
    /// A message whose last byte has not arrived yet.
    struct Pending
    {
        uint64_t end; //!< position behind its last byte in the stream
        uint64_t bytes;
        uint64_t tag;
        MessageHandler* handler;
    };

    void OnConnect(Ptr<Socket> socket);
    void OnConnectFailed(Ptr<Socket> socket);
    void OnClosed(Ptr<Socket> socket);
    void OnSpace(Ptr<Socket> socket, uint32_t bytes);
    void OnReceive(Ptr<Socket> socket);
    void OnTransmit(Ptr<const Packet> packet,
                    const TcpHeader& header,
                    Ptr<const TcpSocketBase> socket);
    void OnState(TcpSocketState::TcpCongState_t before, TcpSocketState::TcpCongState_t now);
    void Write();
    void Fail(const std::string& reason);

    uint32_t m_src;
    uint32_t m_dst;
    Ptr<Socket> m_sender;
    Ptr<Socket> m_receiver;
    uint32_t m_segmentBytes;
    TcpConnectionObserver& m_observer;
    bool m_connected{false};
    std::string m_failure;          //!< empty: alive
    uint64_t m_queuedBytes{0};      //!< position behind the last message
    uint64_t m_writtenBytes{0};     //!< given to the socket
    uint64_t m_receivedBytes{0};    //!< taken from the receiving socket
    SequenceNumber32 m_highestSent; //!< behind the last byte that ever left
    std::deque<Pending> m_pending;  //!< in the order sent
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TCP_CONNECTION_H
