"""Speed against other engines: same process, same run, medians, compile time apart."""
