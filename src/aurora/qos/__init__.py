"""Quality of service while a network runs: curves of utility, and how well outputs do."""
