"""Driver files as directives: none of their lines is left out."""

from sonnx_clip.root.folders import repo_file
from sonnx_clip.whyml.hand_written import directives
from sonnx_clip.whyml.why3_lexer import why3_tokens


def test_every_line_of_our_drivers_is_a_directive():
    for path in (*repo_file("why3/drivers").iterdir(), *repo_file("generated/c/drivers").iterdir()):
        plain = why3_tokens(path.read_text(encoding="utf-8")).plain
        lines = [line for line in plain.splitlines() if line.split() not in ([], ["end"])]
        opened = [line for line in lines if line.startswith(("theory ", "module "))]
        assert len(list(directives(plain))) == len(lines) - len(opened) > 0
