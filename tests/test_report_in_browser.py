"""The report in a real browser: it opens without complaint, finds classes, shows nodes."""

import numpy as np
import pytest
from browser import find_browser
from classifiers import all_digits

from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)
from recalltree.inspection import ListEvaluation, find_class, html_report
from recalltree.inspection.report_data import report_data

HOSTILE = "</script><script>window.attacked = true</script><img src=x onerror='window.attacked=1'>"
WORDS = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", HOSTILE])


@pytest.fixture(scope="module")
def browser():
    path = find_browser()
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # Root, as which containers run tests, has no sandbox.
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def models():
    X, y = all_digits()
    words = WORDS[y]
    estimators = [
        RecallTreeClassifier(max_candidates=3, random_state=0),
        LOMTreeClassifier(random_state=0),
        OneAgainstAllClassifier(random_state=0),
        OneAgainstSomeClassifier(keys="cells", random_state=0),
    ]
    return {type(clf): clf.fit(X[:1200], words[:1200]) for clf in estimators}


@pytest.fixture(scope="module")
def models_of_lists():
    X, y = all_digits()
    return {
        kind: kind(random_state=0).fit(X[:1200], with_parity(y[:1200]))
        for kind in (RecallTreeClassifier, OneAgainstAllClassifier, OneAgainstSomeClassifier)
    }


def with_parity(y):
    """Return a list of labels for each digit: its word, even or odd; none for 0."""
    return [[WORDS[digit], "odd" if digit % 2 else "even"] if digit else [] for digit in y]


@pytest.fixture
def open_report(browser, models, models_of_lists, tmp_path):
    """Open the report of a model; in the end nothing may have been complained of."""
    complaints, contexts = [], []

    def opened(kind, with_rows=True, with_lists=False, **options):
        X, y = all_digits()
        path = tmp_path / "report.html"
        labels = with_parity(y[1200:]) if with_lists else WORDS[y[1200:]]
        confusion = (X[1200:], labels) if with_rows else None
        clf = (models_of_lists if with_lists else models)[kind]
        html_report(clf, path, confusion=confusion, title="digits & more")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: _only_the_file(request, complaints))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", timeout=20_000)
        return page

    yield opened
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.attacked") is None
        context.close()
    assert complaints == []


def _only_the_file(request, complaints):
    if not request.url.startswith(("file:", "blob:", "data:")):
        complaints.append(f"asks for {request.url}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("with_rows", [True, False])
@pytest.mark.parametrize(
    "kind",
    [
        RecallTreeClassifier,
        LOMTreeClassifier,
        OneAgainstAllClassifier,
        OneAgainstSomeClassifier,
    ],
)
def test_opens_without_complaint(open_report, kind, with_rows, scheme):
    page = open_report(kind, with_rows, color_scheme=scheme)
    assert page.inner_text("#title") == "digits & more"
    titles = page.locator(".chart h2").all_inner_texts()
    expected = {"Progressive error", "Memory by part"}
    has_tree = kind in (RecallTreeClassifier, LOMTreeClassifier)
    has_cells = kind is OneAgainstSomeClassifier
    if has_tree:
        expected |= {"Where routes end", "Recall by depth", "Candidate-set sizes"}
    if has_cells:
        expected.add("Classes in a cell")
    if kind is RecallTreeClassifier or has_cells:  # LOMTree forgets counts in new routers
        expected.add("Class frequency")
    if with_rows:
        expected |= {"Where answers are lost", "Most confused classes", "Class frequency"}
    else:
        expected |= {"Errors and confused classes"}
    assert set(titles) == expected
    assert page.is_visible("#tree") == has_tree
    assert page.is_visible("#cells") == has_cells


def test_search_finds_a_class_and_the_nodes_that_hold_it(open_report, models):
    page = open_report(RecallTreeClassifier)
    page.keyboard.press("/")
    page.keyboard.type("SEV")
    assert page.locator("#results [role=option]").all_inner_texts()[0].startswith("seven")
    page.keyboard.press("Enter")
    assert page.inner_text("#class-title") == "seven"
    found = find_class(models[RecallTreeClassifier], "seven")
    shown = page.locator("#details table").first.locator("button").all_inner_texts()
    assert shown == [f"Node {place['node']}" for place in found["nodes"]]
    assert f"{found['n_examples']:,.0f}" in page.inner_text("#details dl")
    page.locator("#details table button").nth(1).click()
    assert page.inner_text("#node-title") == f"Node {found['nodes'][1]['node']}"


def test_search_says_that_there_is_nothing(open_report):
    page = open_report(RecallTreeClassifier)
    page.fill("#search", "no such class")
    assert "No class has" in page.inner_text("#results")
    page.keyboard.press("Escape")
    assert page.is_hidden("#results")


def test_a_label_is_only_ever_text(open_report):
    page = open_report(RecallTreeClassifier)
    page.fill("#search", "<script>")
    page.keyboard.press("Enter")
    assert page.inner_text("#class-title") == HOSTILE


def test_a_node_opens_by_a_click(open_report, models):
    tree = models[RecallTreeClassifier].tree_
    page = open_report(RecallTreeClassifier)
    assert page.inner_text("#node-title") == "Node 0, the root"
    box = page.locator("#tree").bounding_box()
    row = box["height"] / (tree.max_depth + 1)
    page.mouse.click(box["x"] + 5, box["y"] + 1.5 * row)
    left = int(tree.left[0])
    assert page.inner_text("#node-title") == f"Node {left}"
    assert f"{tree.total[left]:,.0f}" in page.inner_text("#details dl")
    expected = [str(label) for label in tree.candidates(left)]
    assert page.locator("#details .scroll button").all_inner_texts() == expected
    assert page.locator("#route").inner_text().replace("\n", " ").endswith(f"Node {left}")


def test_the_keyboard_walks_and_zooms(open_report, models):
    tree = models[RecallTreeClassifier].tree_
    page = open_report(RecallTreeClassifier)
    page.focus("#tree")
    for key in ("ArrowDown", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    node = int(tree.left[tree.right[0]])
    assert page.inner_text("#node-title") == f"Node {node}"
    assert page.is_disabled("#zoom-out")
    page.keyboard.press("Enter")
    assert page.is_enabled("#zoom-out")
    page.keyboard.press("ArrowUp")
    assert page.inner_text("#node-title") == f"Node {tree.right[0]}"


def test_the_picture_shows_recall_by_colour(open_report):
    page = open_report(RecallTreeClassifier, viewport={"width": 1400, "height": 1000})
    colours = page.evaluate(
        """() => { const c = document.getElementById("tree");
        const all = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        const at = (x, y) => {
          const i = 4 * (Math.floor(y * c.height) * c.width + Math.floor(x * c.width));
          return [...all.slice(i, i + 4)]; };
        return [at(0.98, 0.14), at(0.3, 0.66)]; }"""
    )
    assert colours[0] != colours[1]
    assert all(colour[3] > 0 for colour in colours)


def test_the_theme_can_be_chosen(open_report):
    page = open_report(RecallTreeClassifier, color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_fits_a_narrow_screen(open_report):
    page = open_report(RecallTreeClassifier, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# --- the map of classes -----------------------------------------------------------------------


def test_search_finds_a_class_on_the_map_and_its_cell(open_report, models):
    page = open_report(OneAgainstSomeClassifier, viewport={"width": 1400, "height": 1000})
    assert "Choose a class" in page.inner_text("#cells-details")
    before = page.evaluate("document.getElementById('cells').toDataURL()")
    page.fill("#search", "seven")
    page.keyboard.press("Enter")
    assert page.inner_text("#class-title") == "seven"
    assert page.evaluate("document.getElementById('cells').toDataURL()") != before
    text = page.inner_text("#cells-details")
    assert "Cell 0, 10 classes" in text
    beside = page.locator("#cells-details .scroll button").all_inner_texts()
    assert sorted(beside) == sorted(set(WORDS) - {"seven"})
    page.locator("#cells-details .scroll button").first.click()
    assert page.inner_text("#class-title") == beside[0]


def test_a_class_opens_by_a_click_on_the_map(open_report, models):
    page = open_report(OneAgainstSomeClassifier, viewport={"width": 1400, "height": 1000})
    shown = report_data(models[OneAgainstSomeClassifier], None)
    box = page.locator("#cells").bounding_box()
    side = min(box["width"], box["height"]) - 24
    for label, x, y in zip(
        shown["classes"]["labels"], shown["cells"]["x"], shown["cells"]["y"], strict=True
    ):
        page.mouse.click(
            box["x"] + box["width"] / 2 + (x - 0.5) * side,
            box["y"] + box["height"] / 2 - (y - 0.5) * side,
        )
        assert page.inner_text("#class-title") == label


def test_the_keyboard_walks_and_zooms_on_the_map(open_report):
    page = open_report(OneAgainstSomeClassifier)
    page.focus("#cells")
    page.keyboard.press("ArrowRight")
    first = page.inner_text("#class-title")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    assert page.is_disabled("#cells-zoom-out")
    page.keyboard.press("Enter")
    assert page.is_enabled("#cells-zoom-out")
    page.keyboard.press("Escape")
    assert page.is_disabled("#cells-zoom-out")
    assert first in WORDS


@pytest.mark.parametrize("number", [0, 1, 2])
def test_points_have_the_colours_that_were_chosen(open_report, number):
    page = open_report(OneAgainstSomeClassifier)
    assert page.locator("#cell-colour option").count() == 3
    page.select_option("#cell-colour", index=number)
    colours = page.evaluate(
        """() => { const c = document.getElementById("cells");
        const all = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        const found = new Set();
        for (let i = 0; i < all.length; i += 4)
          if (all[i + 3] === 204) found.add(all[i] * 256 + all[i + 2]);
        return found.size; }"""
    )
    assert (colours == 1) if number == 0 else (colours > 1)


# --- rows with several labels -----------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [RecallTreeClassifier, OneAgainstAllClassifier, OneAgainstSomeClassifier]
)
def test_shows_results_of_lists(open_report, models_of_lists, kind):
    X, y = all_digits()
    evaluation = ListEvaluation(models_of_lists[kind])
    evaluation.update(X[1200:], with_parity(y[1200:]))
    expected = evaluation.as_dict()
    page = open_report(kind, with_lists=True)
    titles = set(page.locator(".chart h2").all_inner_texts())
    assert titles >= {
        "How good the answers are",
        "Where labels are lost",
        "Labels per row",
        "Labels that are missed most often",
        "Rows with the worst results",
    }
    assert not titles & {"Where answers are lost", "Errors and confused classes"}
    metrics = page.locator("#list-metrics tr")
    shown = {
        row.locator("td").first.inner_text(): float(row.locator("td.number").inner_text()[:-1])
        for row in metrics.all()
    }
    for name in ("precision@1", "precision@3", "precision@5", "recall@5", "nDCG@5"):
        assert shown[name] == pytest.approx(100 * expected[name], abs=0.051)
    assert f"{expected['precision@1']:.1%}" in page.inner_text("#facts")
    assert f"{expected['rows_without_labels']} without any" in page.inner_text("#charts")

    missed = page.locator("#missed-labels tbody tr")
    rows, right = evaluation.class_results()
    classes = models_of_lists[kind].classes_.tolist()
    of_class = {
        label: [f"{n:,.0f}" for n in (all_rows - found, found, all_rows)]
        for label, all_rows, found in zip(classes, rows, right, strict=True)
        if all_rows > found
    }
    assert {
        row.locator(".label").inner_text(): row.locator(".number").all_inner_texts()
        for row in missed.all()
    } == of_class


def test_a_row_with_a_bad_result_leads_to_its_classes(open_report, models_of_lists):
    kind = RecallTreeClassifier
    X, y = all_digits()
    clf = models_of_lists[kind]
    labels = with_parity(y[1200:])
    (worst,) = ListEvaluation(clf).update(X[1200:], labels).worst_rows(1)
    page = open_report(kind, with_lists=True)
    row = page.locator("#worst-rows tbody tr").first
    assert row.locator("td").first.inner_text() == str(worst["row"])
    lists = row.locator("ul.labels")
    for place, name in enumerate(("labels", "answers")):
        assert lists.nth(place).locator("button").all_inner_texts() == worst[name]
    both = [label for label in worst["labels"] if label in worst["answers"]]
    assert lists.nth(0).locator("li.right button").all_inner_texts() == both
    lists.nth(0).locator("button").first.click()
    assert page.inner_text("#class-title") == worst["labels"][0]
    details = page.inner_text("#details dl")
    assert "Of these among the first 5" in details
    assert "Missed" in details


def test_results_of_lists_fit_a_narrow_screen(open_report):
    page = open_report(
        RecallTreeClassifier, with_lists=True, viewport={"width": 390, "height": 800}
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
