"""Campaigns that look for crashes: random input of every shape, where only our own errors may come out."""
