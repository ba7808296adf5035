"""What Aurora computes, against DuckDB: random expressions, windows and joins with SQL that means the same.

Nothing here reads ``tests/oracle``, so a rule that Aurora and its oracle both misread shows. Where the two systems are
meant to differ, ``differences.py`` says how and why, and the SQL says what Aurora means.
"""
