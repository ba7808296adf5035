"""Aurora: a stream data manager that keeps the answers that matter on time."""

from aurora import boxes as _boxes
