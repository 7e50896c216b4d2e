"""How commands end: the numbers that the shell sees."""

OK = 0
FAILED = 1  # rows, a model or a file are not as they should be
USAGE = 2  # the command line is not understood
INTERRUPTED = 130  # by Ctrl-C; 128 + the number of the signal, as shells have it
BROKEN_PIPE = 141  # whoever read the output has gone
SIGNALLED = 128
