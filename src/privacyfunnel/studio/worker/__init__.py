"""Worker: the queue of jobs, the process that each has, and the tasks that they do."""
