"""Records in XML: elements with ids and names, nested or linked."""

from __future__ import annotations

import gzip

import pytest

from ontodex.errors import ReadError
from ontodex.readers import read
from ontodex.readers.registry import sniff

ICD = """<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.tabular><version>2026</version>
<introduction><introSection type="title"><title>TABULAR LIST of DISEASES</title></introSection>
</introduction>
<chapter><name>1</name><desc>Certain infectious diseases</desc>
  <sectionIndex>
    <sectionRef first="A00" last="A01" id="A00-A01"> Intestinal infectious diseases </sectionRef>
  </sectionIndex>
  <section id="A00-A01"><desc>Intestinal infectious diseases</desc>
    <diag><name>A00</name><desc>Cholera</desc>
      <diag><name>A00.0</name><desc>Cholera due to Vibrio cholerae 01, biovar cholerae</desc>
        <inclusionTerm><note>Classical cholera</note></inclusionTerm></diag>
      <diag><name>A00.9</name><desc>Cholera, unspecified</desc></diag></diag>
    <diag><name>A01</name><desc>Typhoid fever</desc></diag></section></chapter></ICD10CM.tabular>"""

OPML = """<opml version="2.0"><head><title>My animals</title></head><body><outline text="Animals">
<outline text="Birds"><outline text="Owls"/></outline><outline text="Mammals"/></outline></body>
</opml>"""

CLAML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE ClaML SYSTEM "ClaML.dtd">
<ClaML version="2.0.0"><Class code="I" kind="chapter"><SubClass code="A00"/><SubClass code="A01"/>
<Rubric kind="preferred"><Label xml:lang="en">Certain infectious diseases</Label></Rubric></Class>
<Class code="A00" kind="category"><SuperClass code="I"/>
<Rubric id="D1" kind="preferred"><Label xml:lang="de">Cholera (de)</Label>
<Label xml:lang="en">Cholera</Label></Rubric></Class>
<Class code="A01" kind="category"><SuperClass code="I"/>
<Rubric id="D2" kind="preferred">
<Label xml:lang="en">Typhoid <Term class="italics">and</Term> others</Label></Rubric>
</Class>
</ClaML>"""

DESCRIPTORS = (
    ("Animals", "B01"),
    ("Birds", "B01.050"),
    ("Owls", "B01.050.100"),
    ("Mammals", "B01.150"),
    ("Dogs", "B01.150.100 C02.900"),
    ("Pets", "C02"),
    ("Siamese", "B01.150.300.110.500.120.130.140"),
    ("Cats", "B01.150.300"),
)
MESH = "".join(
    f"<DescriptorRecord><DescriptorUI>D{number}</DescriptorUI><DescriptorName>"
    f"<String>{name}</String></DescriptorName>"
    "<TreeNumberList>"
    f"{''.join(f'<TreeNumber>{code}</TreeNumber>' for code in codes.split())}"
    "</TreeNumberList>"
    "<ConceptList><Concept><ConceptUI>M{0}</ConceptUI><ConceptName><String>{1}</String>"
    "</ConceptName></Concept></ConceptList>"
    "</DescriptorRecord>".format(number, name.lower())
    for number, (name, codes) in enumerate(DESCRIPTORS)
)

ORPHANET = """<?xml version="1.0" encoding="ISO-8859-1"?>
<JDBOR date="2026"><DisorderList count="2">
<Disorder id="2"><Name lang="en">Multiple dysplasia</Name>
<Name lang="fr">Dysplasie \xe9tendue</Name>
<SynonymList count="2"><Synonym lang="en">MED</Synonym><Synonym lang="en">Dysplasia</Synonym>
</SynonymList>
<DisorderGeneAssociationList count="1"><DisorderGeneAssociation><Gene id="160">
<Name lang="en">family member 7</Name></Gene>
</DisorderGeneAssociation></DisorderGeneAssociationList></Disorder>
<Disorder id="3"><Name lang="en">Alexander disease</Name>
<SynonymList count="1"><Synonym lang="en">AxD</Synonym></SynonymList>
<DisorderGeneAssociationList count="1"><DisorderGeneAssociation><Gene id="161">
<Name lang="en">acidic protein</Name></Gene>
</DisorderGeneAssociation></DisorderGeneAssociationList></Disorder></DisorderList></JDBOR>"""

DRUGBANK = """<drugbank xmlns="http://www.drugbank.ca"><drug type="biotech">
<drugbank-id primary="true">DB1</drugbank-id>
<drugbank-id>BTD24</drugbank-id><name>Lepirudin</name><groups><group>approved</group></groups>
<categories><category><category>Amino Acids</category><mesh-id>D602</mesh-id></category>
</categories>
<targets><target position="1"><id>BE48</id><name>Prothrombin</name></target></targets></drug>
<drug type="small"><drugbank-id primary="true">DB2</drugbank-id><name>Apixaban</name>
<groups><group>approved</group>
<group>new</group></groups><drug-interactions><drug-interaction><drugbank-id>DB1</drugbank-id>
<name>Lepirudin</name>
</drug-interaction></drug-interactions></drug></drugbank>"""

SHOP = """<shop><categories><category id="1">Pets</category>
<category id="2" parentId="1">Dog food</category></categories>
<offers><offer id="10"><name>Chunky</name><categoryId>2</categoryId><vendor>Purr</vendor>
<price>5</price></offer>
<offer id="11"><name>Meaty</name><categoryId>2</categoryId><vendor>Purr</vendor><price>6</price>
</offer>
</offers></shop>"""

WORDNET = """<!DOCTYPE LexicalResource SYSTEM "http://x.org/WN-LMF-1.1.dtd">
<LexicalResource><Lexicon id="en" label="A wordnet">
<Synset id="n1"><Definition>a pet</Definition><SynsetRelation relType="hypernym" target="n2"/>
<SynsetRelation relType="mero_part" target="n3"/></Synset>
<Synset id="n2"><Definition>a living being</Definition></Synset>
<Synset id="n3"><Definition>a tail</Definition></Synset></Lexicon></LexicalResource>"""

KGML = """<!DOCTYPE pathway SYSTEM "https://x.org/KGML.dtd">
<pathway name="path:hsa1" title="Glycolysis">
<entry id="18" name="hsa:226" type="gene"/><entry id="45" name="hsa:7167" type="gene"/>
<relation entry1="18" entry2="45" type="ECrel"/></pathway>"""

TEI = """<taxonomy><category xml:id="a"><catDesc>Prose</catDesc>
<category xml:id="b"><catDesc>Novel</catDesc></category>
</category></taxonomy>"""

CURRENCIES = """<entries><entry letter_code="AED" currency_name="UAE Dirham" area="Asia"/>
<entry letter_code="AFN" currency_name="Afghani" area="Asia"/>
<entry letter_code="EUR" currency_name="Euro" area="Europe"/>
<old_entry letter_code="FRF" currency_name="French Franc" area="Europe"/></entries>"""


def said(graph) -> set[tuple[str, str, str]]:
    return {
        (graph.labels[h], graph.relation_ids[r], graph.labels[t])
        for h, r, t in graph.triples.tolist()
    }


@pytest.mark.parametrize(
    ("document", "links"),
    [
        (
            ICD,
            {
                ("Intestinal infectious diseases", "is_a", "Certain infectious diseases"),
                ("Cholera", "is_a", "Intestinal infectious diseases"),
                ("Cholera due to Vibrio cholerae 01, biovar cholerae", "is_a", "Cholera"),
                ("Cholera, unspecified", "is_a", "Cholera"),
                ("Typhoid fever", "is_a", "Intestinal infectious diseases"),
            },
        ),
        (
            OPML,
            {
                ("Birds", "is_a", "Animals"),
                ("Owls", "is_a", "Birds"),
                ("Mammals", "is_a", "Animals"),
            },
        ),
        (
            CLAML,
            {
                ("Cholera", "is_a", "Certain infectious diseases"),
                ("Typhoid and others", "is_a", "Certain infectious diseases"),
                ("Cholera", "kind", "category"),
                ("Typhoid and others", "kind", "category"),
                ("Certain infectious diseases", "kind", "chapter"),
            },
        ),
        (
            f"<DescriptorRecordSet>{MESH}</DescriptorRecordSet>",
            {
                ("Birds", "is_a", "Animals"),
                ("Owls", "is_a", "Birds"),
                ("Mammals", "is_a", "Animals"),
                ("Dogs", "is_a", "Mammals"),
                ("Dogs", "is_a", "Pets"),
                ("Cats", "is_a", "Mammals"),
                ("Siamese", "is_a", "Cats"),
                *((name, "Concept", name.lower()) for name, _ in DESCRIPTORS),
            },
        ),
        (
            ORPHANET,
            {
                ("Multiple dysplasia", "DisorderGeneAssociation", "family member 7"),
                ("Alexander disease", "DisorderGeneAssociation", "acidic protein"),
            },
        ),
        (
            SHOP,
            {
                ("Dog food", "is_a", "Pets"),
                ("Chunky", "categoryId", "Dog food"),
                ("Meaty", "categoryId", "Dog food"),
                ("Chunky", "vendor", "Purr"),
                ("Meaty", "vendor", "Purr"),
            },
        ),
        (
            DRUGBANK,
            {
                ("Lepirudin", "group", "approved"),
                ("Apixaban", "group", "approved"),
                ("Apixaban", "group", "new"),
                ("Apixaban", "drug-interaction", "Lepirudin"),
                ("Lepirudin", "target", "Prothrombin"),
                ("Lepirudin", "category", "Amino Acids"),
            },
        ),
        (WORDNET, {("n1", "is_a", "n2"), ("n1", "mero_part", "n3")}),
        (
            KGML,
            {
                ("hsa:226", "ECrel", "hsa:7167"),
                ("hsa:226", "type", "gene"),
                ("hsa:7167", "type", "gene"),
            },
        ),
        (TEI, {("Novel", "is_a", "Prose")}),
        (
            CURRENCIES,
            {
                *(("AED", "area", "Asia"), ("AFN", "area", "Asia")),
                *(("EUR", "area", "Europe"), ("FRF", "area", "Europe")),
            },
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::ontodex.readers.ReadWarning")
def test_documents_that_people_have(write, document: str, links: set[tuple[str, str, str]]) -> None:
    latin = "ISO-8859-1" in document
    path = write("a.xml", document.encode("latin-1" if latin else "utf-8"))
    assert sniff(path).name == "xml"
    graph = read(path)
    found = {link for link in said(graph) if link[1] not in ("sectionIndex", "first", "last")}
    assert found == links
    assert said(read(write("a.xml.gz", gzip.compress(path.read_bytes())))) == said(graph)


@pytest.mark.filterwarnings("ignore::ontodex.readers.ReadWarning")
def test_ids_synonyms_and_definitions(write) -> None:
    graph = read(write("icd.xml", ICD))
    assert {"1", "A00-A01", "A00", "A00.0", "A00.9", "A01"} <= {*graph.ids}
    graph = read(write("orphanet.xml", ORPHANET.encode("latin-1")))
    assert graph.synonyms[graph.ids.index("2")] == ("MED", "Dysplasia")
    graph = read(write("orphanet.xml", ORPHANET.encode("latin-1")), language="fr")
    assert graph.labels[graph.ids.index("2")] == "Dysplasie \xe9tendue"
    books = "".join(
        f"<book id='{at}' lang='{lang}'><title>Book {at}</title></book>"
        for at, lang in enumerate(("en", "de", "de"))
    )
    assert said(read(write("books.xml", f"<books>{books}</books>"))) >= {
        ("Book 1", "lang", "de"),
        ("Book 2", "lang", "de"),
    }
    narrow = ORPHANET.replace('lang="en"', 'lang="en-GB"').encode("latin-1")
    graph = read(write("narrow.xml", narrow))
    assert (graph.labels[0], graph.synonyms[0]) == ("Multiple dysplasia", ("MED", "Dysplasia"))
    graph = read(write("drugbank.xml", DRUGBANK))
    assert graph.alternative_ids[graph.ids.index("DB1")] == ("BTD24",)
    graph = read(write("wordnet.xml", WORDNET))
    assert graph.definitions[graph.ids.index("n1")] == "a pet"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("<a><b id='1'></a>", "expected XML, found a fault"),
        (
            '<?xml version="1.0" encoding="utf-9"?><a/>',
            "expected XML in UTF-8, found another encoding .*utf-9",
        ),
        ("<a>text</a>", "expected elements that have an id or a name, found none"),
        ("<a><b>1</b><c>2</c></a>", "expected elements that have an id or a name, found none"),
        ("<a/>", "expected elements that have an id or a name, found none"),
        ("<n name='x'>" * 3000 + "</n>" * 3000, "expected elements less deep"),
        (
            "<!DOCTYPE a [<!ENTITY x 'aaaa'><!ENTITY y '&x;&x;'>]><a><b id='1'>&y;</b></a>",
            "expected entities of plain text",
        ),
        (
            "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a><b id='1'>&x;</b></a>",
            "expected no external entity",
        ),
    ],
)
def test_what_cannot_be_read(write, document: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read(write("a.xml", document))
