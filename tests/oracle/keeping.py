"""Keep a library for `clip` without trying it, and forget what was found."""

from sonnx_clip.oracle import built, strict


def keep(library):
    """Keep a library for `clip` as `install` does, untried."""
    built.folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = built.folder() / built.library_name(built.key_of_installed(), library)
    kept.write_bytes(library.read_bytes())
    kept.chmod(0o500)
    return kept


def forget():
    """As in a new process."""
    built.kernels.cache_clear()
    strict._plan.cache_clear()
