"""The evidence as ReqIF, for tools such as StrictDoc, Polarion and DOORS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.evidence.control_characters import remove_control_characters
from sonnx_clip.evidence.items import PREFIXES, items_of
from sonnx_clip.evidence.missing_library import MissingLibraryError
from sonnx_clip.evidence.supply_chain import NO_DATE

if TYPE_CHECKING:
    from sonnx_clip.evidence.evidence_model import Evidence
    from sonnx_clip.evidence.items import Item, Kind
    from sonnx_clip.evidence.records import Records

# Names with the prefix are those of the ReqIF implementation guide, which tools recognise.
_ATTRIBUTES = ("ReqIF.ForeignID", "ReqIF.Name", "ReqIF.Text", "NAME", "STATUS")


def render_reqif(evidence: Evidence, records: Records) -> str:
    """ReqIF 1.2: a specification and a type of objects for each kind of item; links are relations ``Parent``.

    UserError if the library `reqif` is missing.
    """
    try:
        from reqif.models.reqif_core_content import ReqIFCoreContent
        from reqif.models.reqif_data_type import ReqIFDataTypeDefinitionString
        from reqif.models.reqif_namespace_info import ReqIFNamespaceInfo
        from reqif.models.reqif_req_if_content import ReqIFReqIFContent
        from reqif.models.reqif_reqif_header import ReqIFReqIFHeader
        from reqif.models.reqif_spec_hierarchy import ReqIFSpecHierarchy
        from reqif.models.reqif_spec_object import ReqIFSpecObject, SpecObjectAttribute
        from reqif.models.reqif_spec_object_type import ReqIFSpecObjectType, SpecAttributeDefinition
        from reqif.models.reqif_spec_relation import ReqIFSpecRelation
        from reqif.models.reqif_spec_relation_type import ReqIFSpecRelationType
        from reqif.models.reqif_specification import ReqIFSpecification
        from reqif.models.reqif_specification_type import ReqIFSpecificationType
        from reqif.models.reqif_types import SpecObjectAttributeType
        from reqif.object_lookup import ReqIFObjectLookup
        from reqif.reqif_bundle import ReqIFBundle
        from reqif.unparser import ReqIFUnparser
    except ImportError:
        raise MissingLibraryError("reqif") from None

    # The functions below are here, because the classes that they return are imported only if installed.
    string = SpecObjectAttributeType.STRING
    dated = {"last_change": NO_DATE}

    def type_of(kind: Kind) -> ReqIFSpecObjectType:
        prefix = PREFIXES[kind]
        # Identifiers are unique in the whole document, so each kind has its own of these.
        definitions = [
            SpecAttributeDefinition(string, f"{prefix}-{name}", "STRING", long_name=name, **dated)
            for name in _ATTRIBUTES
        ]
        return ReqIFSpecObjectType(
            f"TYPE-{prefix}", long_name=kind.upper(), attribute_definitions=definitions, **dated
        )

    def object_of(item: Item) -> ReqIFSpecObject:
        prefix = PREFIXES[item.kind]
        # In the order of `_ATTRIBUTES`.
        values = (item.id, item.title, item.text or item.title, item.name, item.status)
        attributes = []
        for name, value in zip(_ATTRIBUTES, values, strict=True):
            text = remove_control_characters(value)
            attributes.append(SpecObjectAttribute(string, f"{prefix}-{name}", text))
        return ReqIFSpecObject(item.id, attributes, f"TYPE-{prefix}", **dated)

    def specification_of(kind: Kind, items: list[Item]) -> ReqIFSpecification:
        children = [
            # Flat: an item may show several others, which relations can express and a hierarchy
            # cannot.
            ReqIFSpecHierarchy(identifier=f"AT-{item.id}", spec_object=item.id, level=1, **dated)
            for item in items
        ]
        return ReqIFSpecification(
            f"SPECIFICATION-{PREFIXES[kind]}", long_name=f"{evidence.operator}: {kind}", values=[],
            specification_type="TYPE-SPECIFICATION", children=children, **dated,
        )  # fmt: skip

    # A kind without items would be an empty document in the tool that imports it.
    items = items_of(records.spec, evidence)
    types = []
    specifications = []
    for kind in PREFIXES:
        items_of_kind = [item for item in items if item.kind == kind]
        if items_of_kind:
            types.append(type_of(kind))
            specifications.append(specification_of(kind, items_of_kind))
    relations = []
    for item in items:
        for link in item.links:
            id_ = f"{item.id}-TO-{link}"
            relations.append(ReqIFSpecRelation(id_, "TYPE-PARENT", item.id, link, **dated))
    # The format demands a limit of the length.
    string_type = ReqIFDataTypeDefinitionString(
        "STRING", long_name="String", max_length="100000", **dated
    )
    content = ReqIFReqIFContent(
        data_types=[string_type],
        spec_types=[
            *types,
            ReqIFSpecRelationType("TYPE-PARENT", long_name="Parent", **dated),
            ReqIFSpecificationType("TYPE-SPECIFICATION", long_name="Specification", **dated),
        ],
        spec_objects=[object_of(item) for item in items],
        spec_relations=relations,
        specifications=specifications,
    )
    header = ReqIFReqIFHeader(
        f"sonnx-clip-{evidence.spec_sha256[:12]}", creation_time=NO_DATE, req_if_tool_id=evidence.tool,
        req_if_version="1.2", source_tool_id=evidence.tool, title=f"Evidence for {evidence.operator}",
    )  # fmt: skip
    bundle = ReqIFBundle(
        ReqIFNamespaceInfo.create_default(), header, ReqIFCoreContent(content),
        tool_extensions_tag_exists=False, lookup=ReqIFObjectLookup.empty(), exceptions=[],
    )  # fmt: skip
    return str(ReqIFUnparser.unparse(bundle))
