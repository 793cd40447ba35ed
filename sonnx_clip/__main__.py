"""``python -m sonnx_clip``: the command line."""

from sonnx_clip.cli.app import main

main()
