"""What all tests need."""

import signal

# A process that was started in the background may have to ignore interrupts, and so would the
# processes that it starts. Tests send interrupts to theirs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
