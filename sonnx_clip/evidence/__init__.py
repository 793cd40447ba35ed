"""The evidence for an assessor: every requirement with its source, proofs, vectors and verdicts."""

from sonnx_clip.evidence.write_evidence import EvidenceSummary, write_evidence

__all__ = ["EvidenceSummary", "write_evidence"]
