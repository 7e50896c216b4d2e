"""Importing the package is quick and has no side effects."""

import subprocess
import sys
import textwrap


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def seconds_to_import(module: str) -> float:
    # The best of several processes: other work on the machine only ever adds time.
    code = f"""
        from time import perf_counter
        start = perf_counter()
        import {module}
        print(perf_counter() - start)
    """
    return min(float(run(code)) for _ in range(5))


def test_import_costs_little_more_than_scikit_learn():
    assert seconds_to_import("recalltree") - seconds_to_import("sklearn") < 0.5


def test_import_leaves_out_what_only_some_users_need():
    loaded = run("import sys, recalltree; print(*sys.modules)").split()
    for module in ("rich", "click", "torch", "pandas", "matplotlib", "hypothesis", "pytest"):
        assert module not in loaded


def test_import_opens_no_socket():
    run("""
        import socket

        def refuse(*args, **kwargs):
            raise AssertionError("importing recalltree opened a socket")

        socket.socket.connect = socket.socket.bind = refuse
        import recalltree
    """)


def test_version_is_the_installed_one():
    from importlib.metadata import version

    import recalltree

    assert recalltree.__version__ == version("recalltree")
