"""Contents of a built wheel, and how its code was compiled."""

import json
import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def build(tmp_path_factory) -> Path:
    """Build a wheel as `make wheel` does, in the development build's folder: little to compile."""
    for tool in ("scikit_build_core", "nanobind"):
        pytest.importorskip(tool)
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [*command, "-w", str(folder), str(ROOT)],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(build):
    (path,) = build.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def compile_commands() -> dict[str, str]:
    """Command by source file (relative to the repository) of the newest build of the module."""
    found = [
        path
        for path in ROOT.glob("build/cp*/compile_commands.json")
        if (path.parent / "CMakeInit.txt").exists()
    ]
    commands = json.loads(max(found, key=lambda path: path.stat().st_mtime).read_text())
    return {
        Path(entry["file"]).relative_to(ROOT).as_posix(): entry["command"]
        for entry in commands
        if Path(entry["file"]).is_relative_to(ROOT / "cpp")
    }


def test_wheel_holds_the_package_and_nothing_else(wheel):
    names = wheel.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"recalltree"}
    for file in ("__init__.py", "py.typed", "_core.pyi"):
        assert f"recalltree/{file}" in names
    extensions = [name for name in names if name.endswith((".so", ".pyd"))]
    assert len(extensions) == 1
    assert extensions[0].startswith("recalltree/_core.")


def test_wheel_has_the_command_and_the_files_of_its_page(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))
    assert "recalltree=recalltree.cli:main" in wheel.read(name).decode().replace(" ", "")
    page = ROOT / "src" / "recalltree" / "inspection" / "page"
    for file in page.iterdir():
        assert f"recalltree/inspection/page/{file.name}" in wheel.namelist()


def test_wheel_has_a_stable_abi_tag_where_python_allows(build):
    (path,) = build.glob("*.whl")
    if sys.version_info >= (3, 12):
        assert "-cp312-abi3-" in path.name
    else:
        assert "-cp{}{}-".format(*sys.version_info) in path.name


def test_wheel_metadata(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = Parser().parsestr(wheel.read(name).decode())
    assert metadata["License-Expression"] == "BSD-3-Clause"
    needed = {
        requirement.split(">")[0]
        for requirement in metadata.get_all("Requires-Dist")
        if "extra ==" not in requirement
    }
    assert needed == {"click", "numpy", "rich", "scikit-learn", "scipy"}


def test_binaries_run_on_every_processor_of_the_architecture(build):
    commands = compile_commands()
    assert "cpp/bindings/module.cpp" in commands
    for source, command in commands.items():
        assert "-march=" not in command, source
        assert "-mtune=native" not in command, source
        if not source.startswith("cpp/src/kernels/kernels_avx"):
            assert " -mavx" not in command, source
            assert "/arch:" not in command, source


def test_floating_point_is_left_as_written(build):
    for source, command in compile_commands().items():
        for flag in ("-ffast-math", "-Ofast", "-funsafe-math", "-fassociative-math", "-fopenmp"):
            assert flag not in command, source
        if "-O3" in command:
            assert "-ffp-contract=off" in command, source
