"""`python -m sonnx_clip.mutants`: what `make mutants` runs."""

from sonnx_clip.mutants.run_mutants import main

raise SystemExit(main())
