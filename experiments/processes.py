"""Units of work in several processes: each begins once the results that it uses are stored."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

from experiments.bench import Bench
from experiments.experiment import Experiment
from experiments.store import Unit, canonical

#: Does a unit and stores its result.
Work = Callable[[Experiment, Bench, Unit], None]

# A process works on one bench, which keeps one set in memory.
_own: tuple[str, Bench] | None = None


def do_all(
    experiment: Experiment, bench: Bench, units: Sequence[Unit], work: Work, n_jobs: int
) -> Iterator[Unit]:
    """Do units, in their order as far as their needs allow; yield each one when it is stored.

    Results do not depend on the number of processes: a unit depends on its parameters and on the
    results that it needs, and on nothing else.
    """
    waiting = {canonical(unit): unit for unit in units}
    running: dict[Future[None], Unit] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_jobs, context, _begin, (experiment.name, bench)) as pool:
        while waiting or running:
            undone = {*waiting, *map(canonical, running.values())}
            ready = [
                key
                for key, unit in waiting.items()
                if undone.isdisjoint(map(canonical, experiment.needs(unit)))
            ]
            for key in ready[: n_jobs - len(running)]:
                unit = waiting.pop(key)
                running[pool.submit(_do, work, unit)] = unit
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                unit = running.pop(future)
                future.result()  # raises what the unit raised
                yield unit


def _begin(name: str, bench: Bench) -> None:
    global _own
    _own = (name, bench)


def _do(work: Work, unit: Unit) -> None:
    from experiments.questions import EXPERIMENTS

    assert _own is not None
    name, bench = _own
    work(EXPERIMENTS[name], bench, unit)
