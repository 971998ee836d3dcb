"""Many runs: how they are found, started, stored and compared."""
