// A controller in C++17 without any library: holds the pose it finds, with the robot's own gains.
//   g++ -O2 -std=c++17 controller.cpp -o controller && ./controller /tmp/robot
//   on Windows with -lws2_32 at the end, and an address as 127.0.0.1:5555
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "address.hpp"

struct Header {  // 32 bytes, little-endian
  char magic[4];
  uint16_t version, kind;      // 1; 1 measurement, 2 command
  uint32_t size, given;        // bytes of all; bits: position, velocity, effort, kp, kd
  uint64_t sequence;           // a command repeats that of its measurement
  double time;                 // [s]
};

int main(int argc, char** argv) {
  const char* given = argc > 1 ? argv[1] : std::getenv("TABI_ADDRESS");
  Socket fd;
  if (!open(fd, given ? given : "")) return std::perror(given), 1;

  // names and sizes: lines of text up to an empty one
  std::string text, line, word;
  for (char c; text.find("\n\n") == std::string::npos && receive(fd, &c, 1);) text += c;
  size_t joints = 0, bytes = 0, count = 0;
  for (std::istringstream lines(text); std::getline(lines, line);) {
    std::istringstream words(line);
    words >> word >> count;
    if (word == "joint") joints += count;  // the name follows: check it against your own
    if (word == "measurement") bytes = count;
  }
  const std::string hello = "tabi-controller 1\n\n";
  if (send(fd, hello.data(), hello.size(), MSG_NOSIGNAL) < 0) return 1;

  std::vector<char> in(bytes), out(sizeof(Header) + 8 * 5 * joints);
  const auto* measured = reinterpret_cast<const double*>(in.data() + sizeof(Header));
  auto* position = reinterpret_cast<double*>(out.data() + sizeof(Header));  // then velocity, …
  while (receive(fd, in.data(), bytes)) {
    Header header;
    std::memcpy(&header, in.data(), sizeof header);
    if (std::memcmp(header.magic, "TABI", 4)) return std::fprintf(stderr, "%s\n", in.data()), 1;
    if (header.given & 1) std::memcpy(position, measured, 8 * joints);  // a run begins
    header.kind = 2, header.given = 1, header.size = out.size();       // positions alone
    std::memcpy(out.data(), &header, sizeof header);
    if (send(fd, out.data(), out.size(), MSG_NOSIGNAL) < 0) return 1;
  }
}
