"""Running a plan in steps: tasks that may run on any worker, which read blocks, run kernels, and write blocks."""
