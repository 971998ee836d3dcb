// A socket to the simulator, of "127.0.0.1:port" (TCP) or a path (Unix, not on Windows), and how to
// read from it.
#pragma once
#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#define MSG_NOSIGNAL 0
using Socket = SOCKET;
#else
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
using Socket = int;
#endif
#ifdef __APPLE__
#define MSG_NOSIGNAL 0
#endif
#include <cstdlib>
#include <cstring>
#include <string>

inline bool receive(Socket fd, void* into, size_t size) {
  return recv(fd, static_cast<char*>(into), size, MSG_WAITALL) == static_cast<long>(size);
}

inline bool open(Socket& fd, const std::string& where) {
#ifdef _WIN32
  WSADATA started;
  WSAStartup(MAKEWORD(2, 2), &started);
#endif
  const size_t colon = where.rfind(':');
  if (colon != std::string::npos && where.find('/') == std::string::npos) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::atoi(where.c_str() + colon + 1));
    inet_pton(AF_INET, where.substr(0, colon).c_str(), &address.sin_addr);
    const int at_once = 1;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&at_once), sizeof at_once);
    return !connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
#ifdef _WIN32
  return false;
#else
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, where.c_str(), sizeof address.sun_path - 1);
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return !connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
#endif
}
