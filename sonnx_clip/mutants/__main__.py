"""`python -m sonnx_clip.mutants`: what `make mutants` runs."""

from sonnx_clip.mutants.run import main

raise SystemExit(main())
