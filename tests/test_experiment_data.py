"""The data sets of the experiments, on small files of the formats that are published."""

import dataclasses
import gzip
import html
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zstandard
from experiment_runs import ROOT  # noqa: F401  (makes `experiments` importable)
from experiments import __main__ as command_line
from experiments.data import ltcb, published
from experiments.data.catalogue import SETS, Part, Places, load
from experiments.data.generated import generate_gaussians
from experiments.data.task import ArrayTask
from experiments.data.token_stream import END_OF_ARTICLE, load_stream, read_ids
from experiments.data.wikipedia_dump import clean, read_articles

from recalltree.demo.features import ORDER

# rows of features: ALOI, Imagenet, ODP

TINY_ALOI = dataclasses.replace(published.ALOI, n_classes=3, n_train=6, n_test=3, n_features=4)
TINY_ODP = dataclasses.replace(published.ODP, n_classes=3, n_train=None, n_test=None, bits=8)
DENSE_LINES = ["1 | 1:0.5 2:0.1", "2 | 3:1", "3 | 4:0.25 1:1"]


def write_lines(folder: Path, name: str, lines: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / name, "wt") as file:
        file.writelines(f"{line}\n" for line in lines)


@pytest.fixture
def aloi(tmp_path):
    write_lines(tmp_path / "aloi", "aloi_train.vw.gz", 2 * DENSE_LINES)
    write_lines(tmp_path / "aloi", "aloi_test.vw.gz", DENSE_LINES[::-1])
    return tmp_path


def test_aloi_is_dense_and_its_columns_mean_the_same_in_both_files(aloi):
    task = published.load_into_memory(TINY_ALOI, aloi, rows=None, test_rows=2)
    assert (task.name, task.n_classes, task.n_train, task.n_test) == ("aloi", 3, 6, 2)
    assert task.is_small
    assert isinstance(task.dataset.X_train, np.ndarray)
    assert task.dataset.y_train.tolist() == [0, 1, 2, 0, 1, 2]
    assert task.dataset.y_test.tolist() == [2, 1]
    np.testing.assert_array_equal(task.dataset.X_test, task.dataset.X_train[[2, 1]])
    assert published.load_into_memory(TINY_ALOI, aloi, rows=4, test_rows=None).n_train == 4


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["9 | 1:1"] * 6, "labels from 9 to 9; those of aloi are 1 to 3"),
        (DENSE_LINES[:1], "1 rows; aloi has about 6. Is the download complete?"),
        (["1 | 1:1"] * 6, "1 classes in the training file, 3 are expected"),
    ],
)
def test_a_wrong_file_is_refused(aloi, lines, message):
    write_lines(aloi / "aloi", "aloi_train.vw.gz", lines)
    with pytest.raises(ValueError, match=message):
        published.load_into_memory(TINY_ALOI, aloi, None, None)


@pytest.mark.parametrize("described", [published.ALOI, published.IMAGENET, published.ODP])
def test_missing_files_are_named_with_their_address(described, tmp_path):
    with pytest.raises(FileNotFoundError, match=f"Download {described.files[0]}") as error:
        load(described.name, Places(tmp_path, tmp_path))
    assert described.address in str(error.value)


@pytest.fixture
def odp(tmp_path):
    lines = [f"{1 + i % 3} | word{i} word{i % 5}:2" for i in range(60)]
    write_lines(tmp_path / "odp", "odp_train.vw.gz", lines)
    write_lines(tmp_path / "odp", "odp_test.vw.gz", lines[:12])
    return tmp_path


def test_odp_is_read_from_its_files_in_every_pass(odp):
    task = published.load_from_files(TINY_ODP, odp, odp / "cache", rows=50, test_rows=None)
    assert (task.n_train, task.n_test, task.n_features) == (50, 12, 256)
    for _ in range(2):
        labels = np.concatenate([y for _, y in task.train_batches()])
        assert labels.tolist() == [i % 3 for i in range(50)]
    (X, _), *_ = task.test_batches()
    assert X.shape == (12, 256)
    assert len(np.concatenate([y for _, y in task.head(0.1).train_batches()])) == 5


def test_files_are_counted_once(odp, monkeypatch):
    published.load_from_files(TINY_ODP, odp, odp / "cache", None, None)
    monkeypatch.setattr(published, "count", None)
    assert published.load_from_files(TINY_ODP, odp, odp / "cache", None, None).n_train == 60


def test_rows_are_shuffled_in_a_buffer(odp):
    task = published.load_from_files(TINY_ODP, odp, odp / "cache", None, None)
    batches = list(published.shuffled(task.train_batches(), seed=0, n_rows=20))
    labels = np.concatenate([y for _, y in batches])
    assert sorted(labels) == sorted(i % 3 for i in range(60))
    assert labels.tolist() != [i % 3 for i in range(60)]
    same = np.concatenate([y for _, y in task.train_batches(seed=0)])
    np.testing.assert_array_equal(same, np.concatenate([y for _, y in task.train_batches(seed=0)]))


def test_a_label_beyond_the_classes_is_refused_when_counting(odp):
    write_lines(odp / "odp", "odp_train.vw.gz", ["1 | a", "4 | b"])
    with pytest.raises(ValueError, match="labels from 1 to 4; those of odp are 1 to 3"):
        published.load_from_files(TINY_ODP, odp, odp / "cache", None, None)


def test_a_file_with_too_few_classes_is_refused_when_counting(odp):
    write_lines(odp / "odp", "odp_train.vw.gz", ["1 | a", "2 | b"])
    with pytest.raises(ValueError, match="odp: 2 classes in the training file, 3 are expected"):
        published.load_from_files(TINY_ODP, odp, odp / "cache", None, None)


def test_imagenet_is_read_from_its_files(tmp_path):
    lines = [f"{1 + i % 4} | {i % 7}:0.5 {100 + i}:1.25" for i in range(40)]
    for name in published.IMAGENET.files:
        write_lines(tmp_path / "imagenet", name, lines)
    described = dataclasses.replace(published.IMAGENET, n_classes=4)
    task = published.load_from_files(described, tmp_path, tmp_path / "cache", None, test_rows=8)
    assert (task.name, task.n_classes, task.n_train, task.n_test) == ("imagenet", 4, 40, 8)
    (X, y), *_ = task.test_batches()
    assert y.tolist() == [i % 4 for i in range(8)]
    assert sorted(set(X.data.tolist())) == [0.5, 1.25]
    assert X.shape == (8, 2**20)


# LTCB: from the raw dump

PAGE = """  <page>
    <title>{title}</title>
    <revision>
      <text xml:space="preserve">{text}</text>
    </revision>
  </page>
"""


def write_dump(path: Path, texts: list[str]) -> Path:
    pages = "".join(PAGE.format(title=i, text=text) for i, text in enumerate(texts))
    content = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.3/">\n{pages}</mediawiki>\n'
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(path.stem, content)
    else:
        path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("'''Bold''' and ''slanted''", "bold and slanted"),
        ("[[Paris]] in [[France|the country]]", "paris in the country"),
        ("[[Image:a.png|thumb|of [[Paris]]]]seen", "seen"),
        ("[[Category:Towns]] town [[fr:Ville]]", "town"),
        ("a {{infobox | of = {{nested}} things }} b", "a b"),
        ("a {| class=x\n| cell {| inner |} \n|} b", "a b"),
        ("text<ref name=a>p. 3</ref> on <br/> <!-- hidden --> more", "text on more"),
        ("see [http://x.org the site] or http://y.org/z now", "see the site or now"),
        ("AT&amp;amp;T &lt;b&gt;x&lt;/b&gt;", "at t x"),
        ("Café don't", "cafe dont"),
        ("in 1984, 3.5%", "in one nine eight four three five"),
        ("== Heading ==\n* item", "heading item"),
    ],
)
def test_cleaning_keeps_what_a_reader_sees(text, words):
    assert clean(html.unescape(text)) == words.split()


@pytest.mark.parametrize("name", ["enwik8.zip", "enwik8"])
def test_articles_are_read_without_redirects(tmp_path, name):
    texts = ["one [[two]]\nthree", "#REDIRECT [[one]]", "", "four"]
    dump = write_dump(tmp_path / name, texts)
    assert list(read_articles(dump)) == [["one", "two", "three"], ["four"]]


def test_the_last_article_may_be_cut_off(tmp_path):
    dump = write_dump(tmp_path / "enwik8", ["first", "second goes on"])
    text = dump.read_text()
    dump.write_text(text[: text.index("goes on") + len("goes")])
    assert list(read_articles(dump)) == [["first"], ["second", "goes"]]


def test_other_files_are_no_dumps(tmp_path):
    (tmp_path / "enwik8").write_text("hello\n")
    with pytest.raises(ValueError, match="begins with <mediawiki"):
        list(read_articles(tmp_path / "enwik8"))
    with pytest.raises(FileNotFoundError, match=r"mattmahoney\.net"):
        list(read_articles(tmp_path / "enwik9"))


def test_ltcb_is_prepared_and_loaded_as_a_set(tmp_path, monkeypatch):
    """Twenty articles: the words of the 10th and of the 20th are not counted for the vocabulary."""
    texts = [f"common common word{'abcdefghijklmnopqrst'[i]} rare" for i in range(20)]
    texts[9] = texts[19] = "unheard unheard unheard common"
    dump = write_dump(tmp_path / "enwik8.zip", texts)
    monkeypatch.setattr(ltcb.prepare, "__defaults__", (2, *ltcb.prepare.__defaults__[1:]))
    arguments = ["prepare", "ltcb", "--dump", str(dump), "--data-dir", str(tmp_path)]
    command_line.main(arguments)
    vocabulary = (tmp_path / "ltcb" / "vocab.txt").read_text().splitlines()
    assert vocabulary == ["<unknown>", "<end of article>", "common", "rare"]
    ids = read_ids(tmp_path / "ltcb" / "ids.u32.zst")
    assert ids[:5].tolist() == [2, 2, 0, 3, END_OF_ARTICLE]
    assert ids[45:50].tolist() == [0, 0, 0, 2, END_OF_ARTICLE]

    task = load("ltcb", Places(tmp_path, tmp_path))
    assert (task.n_classes, task.n_train, task.n_test) == (4, 18 * 5, 2 * 5)
    (_, y), *_ = task.test_batches()
    assert y.tolist() == 2 * [0, 0, 0, 2, END_OF_ARTICLE]


def test_a_dump_without_text_is_refused(tmp_path):
    dump = write_dump(tmp_path / "enwik8", ["#REDIRECT [[x]]"])
    with pytest.raises(ValueError, match="no article with text"):
        ltcb.prepare(dump, tmp_path / "ltcb")


# streams of words


@pytest.fixture
def stream(tmp_path):
    random = np.random.default_rng(0)
    ids = random.integers(2, 50, size=4000).astype("<u4")
    ids[19::20] = END_OF_ARTICLE
    folder = tmp_path / "wikitext"
    folder.mkdir()
    (folder / "ids.u32.zst").write_bytes(zstandard.ZstdCompressor().compress(ids.tobytes()))
    (folder / "vocab.txt").write_text("\n".join(map(str, range(50))) + "\n")
    return folder


def test_a_stream_is_split_on_whole_articles(stream):
    task = load_stream("wikitext", stream, None, None)
    assert (task.n_train, task.n_test) == (3600, 400)
    articles = task.test_positions // 20
    assert set(articles % 10) == {9}
    assert not set(articles) & set(task.train_positions // 20)


def test_a_permuted_stream_has_the_same_examples(stream):
    task = load_stream("wikitext", stream, None, None)

    def examples(seed):
        return [(tuple(r), label) for X, y in task.train_batches(seed) for r, label in _rows(X, y)]

    in_order, permuted = examples(None), examples(1)
    assert in_order != permuted
    assert sorted(in_order) == sorted(permuted)
    assert permuted == examples(1) != examples(2)


def _rows(X, y):
    return [(sorted(X.indices[X.indptr[i] : X.indptr[i + 1]]), int(y[i])) for i in range(len(y))]


def test_histories_do_not_reach_into_the_article_before(stream):
    task = load_stream("wikitext", stream, None, None)
    X, _ = next(task.train_batches())
    active = np.diff(X.indptr)
    # The first word of an article has no history; from the seventh on there are 6 + 2 features.
    assert active[:8].tolist() == [0, 1, 3, 5, 6, 7, 8, 8]
    assert active[20:28].tolist() == active[:8].tolist()
    assert active.max() == ORDER + 2


def test_a_limit_of_rows_limits_the_test_words_to_the_same_part(stream):
    task = load_stream("wikitext", stream, rows=900, test_rows=30)
    assert (task.n_train, task.n_test) == (900, 30)
    assert task.test_positions.max() < task.train_positions.max()
    assert task.head(0.1).n_train == 90


def test_articles_are_held_out_whole(stream):
    task = load_stream("wikitext", stream, None, test_rows=50)
    part = task.hold_out(0.2, seed=0)
    assert part.n_test == 50
    kept, aside = set(part.train_positions // 20), set(part.test_positions // 20)
    assert not kept & aside
    assert kept | aside <= set(task.train_positions // 20)
    assert 0.1 < 1 - part.n_train / task.n_train < 0.3


def test_a_stream_can_begin_later_at_an_article(stream):
    whole = load_stream("wikitext", stream, None, None)
    later = load_stream("wikitext", stream, rows=900, test_rows=None, start=1001)
    assert later.n_train == 900
    np.testing.assert_array_equal(later.ids[:100], whole.ids[1020:1120])
    with pytest.raises(ValueError, match="no text"):
        load("generated-dense", Places(None, stream), Part(start=5))


def test_bad_streams_are_explained(stream):
    with pytest.raises(ValueError, match="use more rows"):
        load_stream("wikitext", stream, rows=20, test_rows=None)
    (stream / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(ValueError, match="every id must be a line"):
        load_stream("wikitext", stream, None, None)


# the rest


def test_held_out_rows_are_not_learned():
    dataset = generate_gaussians(5, 100, 20)
    task = ArrayTask.of(dataset, test_rows=7, is_small=True)
    assert task.n_test == 7
    part = task.hold_out(0.1, seed=0)
    assert (part.n_train, part.n_test) == (90, 10)
    both = np.vstack([part.dataset.X_train, part.dataset.X_test])
    order = np.lexsort(both.T)
    np.testing.assert_array_equal(both[order], dataset.X_train[np.lexsort(dataset.X_train.T)])


def test_the_standard_library_has_the_rows_asked_for(tmp_path):
    task = load("standard-library", Places(None, tmp_path), Part(2000, 50))
    assert (task.n_train, task.n_test) == (2000, 50)


def test_sets_of_the_catalogue_say_where_they_come_from():
    for entry in SETS.values():
        assert entry.source
        assert entry.task
