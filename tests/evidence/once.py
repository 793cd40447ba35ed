"""What follows from the specification alone, computed once for all tests of a process."""

from functools import wraps

from sonnx_clip.evidence import collect, picture, read
from sonnx_clip.evidence import page as writing
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import load_spec

ROOT = repo_root()
_ONCE = {}


def share(monkeypatch):
    """Until `monkeypatch` is undone, the evidence takes from here what no document or report changes."""
    for module, name in (
        (writing, "obligations_of"), (read, "render_coq"), (read, "render_numpy"),
        (picture, "panels"), (picture, "special_table"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, _once(getattr(module, name)))
    monkeypatch.setattr(collect, "shown_vectors", _shown_once(collect.shown_vectors))


def _once(compute):
    """The same function; of the specification of the repository, in the repository, it computes once."""

    @wraps(compute)
    def computed(spec):
        if spec is not load_spec() or repo_root() != ROOT:
            return compute(spec)
        key = compute.__module__, compute.__name__
        if key not in _ONCE:
            _ONCE[key] = compute(spec)
        return _ONCE[key]

    return computed


def _shown_once(compute):
    """The same, as long as the vectors are the very same objects: reading the same texts gives these."""

    def shown(spec, vectors):
        known = _ONCE.get("shown")
        if known is None or known[0] is not spec or not _same(known[1], vectors):
            known = _ONCE["shown"] = spec, vectors, compute(spec, vectors)
        return known[2]

    return shown


def _same(one, other):
    return one.keys() == other.keys() and all(one[key] is other[key] for key in one)
