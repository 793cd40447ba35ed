"""Claims: one list, from which names, titles and what is shown are read; each is an obligation."""

import re

import pytest

from sonnx_clip.claims.all_claims import every_claim
from sonnx_clip.claims.templates import claim_templates, expanded
from sonnx_clip.language.parse import LanguageError
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.operators import specification
from tests.obligations import obligations

SPEC = load_spec()


def test_each_claim_is_an_obligation_with_its_name_kind_title_and_what_it_shows():
    claims, by_id = [*every_claim(SPEC)], {o.id: o for o in obligations()}
    assert len({claim.id for claim in claims}) == len(claims)
    for claim in claims:
        o = by_id[claim.id]
        assert (o.kind, o.title, o.shows, o.subject) == (
            claim.kind,
            claim.title,
            claim.shows,
            claim.subject,
        )


def test_every_template_makes_a_claim():
    specs = [SPEC, specification("abs")]  # Clip has no case that a family lacks
    made = {(claim.role, claim.name) for spec in specs for claim in every_claim(spec)}
    for template in (template for section in claim_templates().values() for template in section):
        pattern = re.compile(re.sub(r"\{[\w.]+\}", r"\\w+", template.goal))
        assert any(role == template.role and pattern.fullmatch(name) for role, name in made), (
            template.goal
        )


def test_misspelt_placeholder_or_name_in_a_template_is_refused(monkeypatch):
    (right,) = claim_templates()["inhabited"]
    etype, case = SPEC.element_type("int8"), SPEC.cases[0]
    assert len(list(expanded(SPEC, etype, "inhabited", case))) == 1
    for wrong in ({"title": "some input falls into {idd}"}, {"holds": "{id} and lowe"}):
        planted = {**claim_templates(), "inhabited": (right.model_copy(update=wrong),)}
        monkeypatch.setattr(
            "sonnx_clip.claims.templates.claim_templates", lambda planted=planted: planted
        )
        with pytest.raises((KeyError, LanguageError)):
            list(expanded(SPEC, etype, "inhabited", case))
