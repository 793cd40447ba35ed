"""Evidence for an assessor: every requirement with its words, its proofs, its vectors and the verdicts."""

from sonnx_clip.evidence.write import EvidenceSummary, write_evidence

__all__ = ["EvidenceSummary", "write_evidence"]
