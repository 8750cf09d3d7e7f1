// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STOCK_RING_PEER_H
#define GRADSYNC_STOCK_RING_PEER_H

#include "ns3/address.h"
#include "ns3/ipv4-address.h"
#include "ns3/node.h"
#include "ns3/socket.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::gradsync
{

/// TCP settings of the comparison. All are set on the sockets: no global default of ns-3 is
/// touched.
struct StockTcpOptions
{
    /// Payload of a full packet. The default fills an Ethernet MTU of 1500 bytes.
    uint16_t segmentBytes{1448};
    /// 20 bytes of IPv4 and 32 of TCP with time stamps.
    static constexpr uint16_t HeaderBytes = 52;
    /// Send and receive buffer, and with them the largest window.
    uint32_t bufferBytes{262'144};
};

/**
 * One worker of a ring all-reduce over stock TCP sockets: sends its messages in order to its
 * right-hand neighbour, each as soon as the one before it has come in from the left. One connection
 * a neighbour.
 */
class StockRingPeer
{
  public:
    /**
     * \param sendBytes size of the message of each step; \param receiveBytes the same of the
     * left-hand neighbour, none of them 0 \param onConnected and \param onDone are called once,
     * from simulator events
     */
    StockRingPeer(std::vector<uint64_t> sendBytes,
                  std::vector<uint64_t> receiveBytes,
                  std::function<void()> onConnected,
                  std::function<void()> onDone);

    /// Opens the listening socket; the left-hand neighbour connects to it.
    void Listen(const Ptr<Node>& node, const StockTcpOptions& options);
    void Connect(const Ptr<Node>& node, Ipv4Address neighbour, const StockTcpOptions& options);

    /// Sends the first message.
    void Start();

  private:
    void OnAccept(Ptr<Socket> socket, const Address& from);
    void OnConnect(Ptr<Socket> socket);
    void OnReceive(Ptr<Socket> socket);
    void OnSpace(Ptr<Socket> socket, uint32_t bytes);
    void SendWhatIsAllowed();

    std::vector<uint64_t> m_sendBytes;
    std::vector<uint64_t> m_receiveBytes;
    std::function<void()> m_onConnected;
    std::function<void()> m_onDone;
    Ptr<Socket> m_listener;
    Ptr<Socket> m_sender;
    uint32_t m_segmentBytes{0};
    size_t m_received{0};       //!< messages that came in whole
    uint64_t m_partialBytes{0}; //!< of the message that is coming in
    uint64_t m_unsentBytes{0};  //!< of the messages that may be sent
};

} // namespace ns3::gradsync

#endif // GRADSYNC_STOCK_RING_PEER_H
