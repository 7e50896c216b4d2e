"""Importing the package is quick and has no side effects."""

import subprocess
import sys
import textwrap

import pytest


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_costs_little_more_than_scikit_learn():
    # Processor time, the best of several processes: other work on the machine only ever adds to it.
    code = """
        from time import process_time
        import sklearn
        start = process_time()
        import recalltree
        print(process_time() - start)
    """
    assert min(float(run(code)) for _ in range(3)) < 0.5


def test_import_leaves_out_what_only_some_users_need():
    # Of what scikit-learn loads by itself, nothing can be said.
    code = """
        import sys
        import sklearn
        before = set(sys.modules)
        import recalltree
        print(*(set(sys.modules) - before))
    """
    loaded = run(code).split()
    assert "recalltree._core" in loaded
    for module in ("rich", "click", "torch", "pandas", "matplotlib", "safetensors", "pytest"):
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


#: Packages that take long to import.
HEAVY = ("numpy", "sklearn", "scipy", "pandas", "pyarrow", "rich", "matplotlib")


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["train", "--help"], ["completion", "bash"]]
)
def test_help_and_version_import_nothing_that_takes_long(arguments):
    loaded = run(f"""
        import sys
        from recalltree.cli import main

        assert main({arguments!r}) == 0
        print("loaded:", *sys.modules)
    """)
    loaded = loaded.rpartition("loaded:")[2].split()
    assert "click" in loaded
    assert not [module for module in HEAVY if module in loaded]


@pytest.mark.parametrize(
    "algorithm", ["one-against-some", "recall-tree", "one-against-all", "lom-tree"]
)
def test_predicting_from_a_mapped_file_needs_no_scikit_learn(tmp_path, algorithm):
    rows, model = tmp_path / "rows.vw", tmp_path / "model.rt"
    rows.write_text("cat | purr meow\ndog | bark wag\n" * 30)
    run(f"""
        from recalltree.cli import main
        options = ["--algorithm", {algorithm!r}, "-q"]
        assert main(["train", {str(rows)!r}, "-m", {str(model)!r}, *options]) == 0
    """)
    for more in (["--labels-only"], ["-k", "2"], ["--json"]):
        found = run(f"""
            import sys
            from recalltree.cli import main

            assert main(["predict", "-m", {str(model)!r}, {str(rows)!r}, "-q", *{more!r}]) == 0
            print("loaded:", *sys.modules)
        """)
        answers, _, loaded = found.rpartition("loaded:")
        assert answers.count("cat") >= 30
        assert "scipy.sparse" in loaded.split()
        for module in ("sklearn", "scipy.stats", "pandas", "pyarrow", "matplotlib"):
            assert module not in loaded.split()


def test_names_are_imported_when_they_are_asked_for():
    run("""
        import sys
        import recalltree

        assert "sklearn" not in sys.modules
        assert recalltree.readers.open_rows.__name__ == "open_rows"
        assert recalltree.RecallTreeClassifier.__name__ == "RecallTreeClassifier"
        assert "sklearn" in sys.modules
        for name in recalltree.__all__:
            getattr(recalltree, name)
        try:
            recalltree.nothing
        except AttributeError as error:
            assert "has no attribute 'nothing'" in str(error)
    """)
