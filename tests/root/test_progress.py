"""Progress of a stage: a bar on a terminal, lines elsewhere."""

import io

from rich.console import Console

from sonnx_clip.root.terminal import progress


def test_progress_in_plain_lines(capfd):
    with progress("proving", 10, "answers", Console(file=io.StringIO())) as show:
        for count in range(11):
            show(count, "")
    assert capfd.readouterr().err.splitlines() == [f"proving: {n} of 10 answers" for n in (2, 4, 6, 8, 10)]


def test_progress_on_a_terminal_leaves_nothing_behind(capfd):
    screen = io.StringIO()
    with progress("proving", 3, "answers", Console(file=screen, force_terminal=True, width=80)) as show:
        show(2, "int8")
    assert "2/3" in screen.getvalue()
    assert capfd.readouterr() == ("", "")
