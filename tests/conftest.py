"""Fixtures of all tests."""

import signal

from hypothesis import settings

# A process that was started in the background may have to ignore interrupts, and so would the
# processes that it starts. Tests send interrupts to theirs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every machine, so that a change is judged by what it changed;
# --hypothesis-profile=search looks at others each time.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("search", derandomize=False, print_blob=True)
settings.load_profile("repeatable")
