"""Keep a library for `clip` without trying it, and forget what was found."""

from sonnx_clip.oracle import built, c_build, strict


def keep(library):
    """Keep a library for `clip` as `install` does, untried."""
    folder = c_build.cache_folder() / built._FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = folder / c_build.library_name(built._key(), library)
    kept.write_bytes(library.read_bytes())
    kept.chmod(0o500)
    return kept


def forget():
    """As in a new process."""
    built.kernels.cache_clear()
    strict._plan_in_c.cache_clear()
