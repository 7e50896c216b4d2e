"""The command ``recalltree`` in processes that do not import everything again.

A server has imported the package and forks for every command. What the shell starts is a client
that hands over its arguments, its folder and its streams, and ends as the command does. So the
processes, pipes and exit codes are real, and a command takes milliseconds to start, not seconds.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLIENT = """
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
words = json.dumps([sys.argv[1:], os.getcwd()]).encode()
socket.send_fds(server, [len(words).to_bytes(4, "big") + words], [0, 1, 2])
os._exit(int(server.makefile().read() or 70))
"""


@contextlib.contextmanager
def quick_command(path, env):
    """Make a command at `path` that is quick to start, as long as the context lasts."""
    with tempfile.TemporaryDirectory() as folder:
        address, client = f"{folder}/socket", f"{folder}/client.py"
        Path(client).write_text(CLIENT.format(address=address))
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{client}" "$@"\n')
        path.chmod(0o755)
        server = subprocess.Popen([sys.executable, __file__, address], env=env)
        try:
            while not Path(address).exists():
                assert server.poll() is None, "the server did not start"
                time.sleep(0.01)
            yield
        finally:
            server.terminate()
            server.wait()


def serve(address):
    from recalltree.cli import main  # what takes long to start

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address + ".new")
    listener.listen()
    Path(address + ".new").rename(address)  # whoever sees it can connect
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            run(main, client)
        client.close()


def run(main, client):
    words, streams, *_ = socket.recv_fds(client, 1 << 16, 3)
    length = int.from_bytes(words[:4], "big")
    while len(words) < 4 + length:
        words += client.recv(1 << 16)
    sys.argv[1:], folder = json.loads(words[4:])
    os.chdir(folder)
    for wanted, stream in enumerate(streams):
        os.dup2(stream, wanted)
        os.close(stream)
    code = main()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    client.sendall(str(code).encode())
    os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
