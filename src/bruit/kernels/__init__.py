"""Arithmetic on arrays, compiled by numba; the only place that knows of it.

A kernel takes arrays and plain numbers, writes into arrays, releases the interpreter lock and uses one thread.
Cores are put to work above, by threads over fixed blocks of people (numba's own threads die after a fork).
"""
