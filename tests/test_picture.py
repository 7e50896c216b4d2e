"""README's picture is the one that the stored results give."""

from benchmarks import picture


def test_the_picture_is_that_of_the_stored_results():
    drawn = picture.draw([picture.text_panel(), picture.embeddings_panel()])
    assert picture.PICTURE.read_text() == drawn


def test_every_point_lies_within_its_axes():
    for panel in (picture.text_panel(), picture.embeddings_panel()):
        for point in panel.points:
            assert panel.times[0] <= point.time <= panel.times[1]
            assert panel.errors[0] <= point.error <= panel.errors[1]
