"""JATS in document order: every case is written here; the wanted text is what a reader sees on the page."""

from __future__ import annotations

import pytest

from litsynth.datasets.jats import article_elements, parse_articles, section_name
from litsynth.errors import DataError
from litsynth.records import Section

ARTICLE = """<?xml version="1.0"?>
<!DOCTYPE pmc-articleset>
<pmc-articleset xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML">
<article article-type="research-article">
<front>
 <journal-meta><journal-title-group><journal-title>Made-up Journal</journal-title></journal-title-group></journal-meta>
 <article-meta>
  <article-id pub-id-type="pmid">111</article-id><article-id pub-id-type="pmcid">PMC222</article-id>
  <article-id pub-id-type="doi">10.1/x</article-id>
  <title-group><article-title>Warm <italic>hands</italic>
   and cold feet</article-title></title-group>
  <pub-date pub-type="epub"><year>2021</year></pub-date><pub-date pub-type="collection"><year>2022</year></pub-date>
  <abstract><sec><title>Background</title><p>Feet are <bold>cold</bold>.</p></sec>
   <sec><title>Results</title><p>Socks helped.</p></sec></abstract>
  <trans-abstract xml:lang="fr"><p>Pieds froids.</p></trans-abstract>
 </article-meta>
</front>
<body>
 <p>A word before all sections.</p>
 <sec sec-type="intro"><title>1. Beginnings</title>
  <p>Skin of 1.73 m<sup>2</sup> and H<sub>2</sub>O, as <italic>in vivo</italic> work
   shows<sup><xref ref-type="bibr" rid="b1">1</xref>,<xref ref-type="bibr" rid="b2">2</xref></sup> (see
   <xref ref-type="fig" rid="f1">Figure 1</xref>), <!-- aside --> goes on.</p></sec>
 <sec><title>Patients and methods</title><p>Before.</p>
  <sec><label>2.1</label><title>Socks</title>
   <p>We knitted <fig id="f1"><label>Figure 1</label><caption><title>A sock.</title><p>Grey wool.</p></caption>
    <graphic xlink:href="x.jpg"/></fig> forty socks.</p>
   <list><list-item><p>left</p></list-item><list-item><p>right</p></list-item></list>
   <sec><title>Wool</title><p>From sheep.</p></sec></sec>
  <p>After.</p></sec>
 <sec><title>Results and discussion</title>
  <p>We found <inline-formula><alternatives><tex-math>\\documentclass{x}</tex-math>
   <mml:math><mml:mi>p</mml:mi><mml:mo>&lt;</mml:mo><mml:mn>0.05</mml:mn></mml:math></alternatives></inline-formula>.</p>
  <table-wrap><label>Table 1</label><caption><p>Toes by sock.</p></caption>
   <table><thead><tr><th>Sock</th><th>Toes</th></tr></thead><tbody><tr><td>left</td><td>5</td></tr></tbody></table>
   <table-wrap-foot><fn><p>Counted twice.</p></fn></table-wrap-foot></table-wrap></sec>
 <sec><title>Thanks</title><p>To all.</p></sec>
</body>
<back><ref-list><ref><mixed-citation>A reference.</mixed-citation></ref></ref-list></back>
<floats-group><fig><label>Figure 2</label><caption><p>At the end.</p></caption></fig></floats-group>
<sub-article><body><p>A reviewer's letter.</p></body></sub-article>
</article>
</pmc-articleset>"""

SECTIONS = (
    Section("Abstract > Background", "Feet are cold.", "abstract"),
    Section("Abstract > Results", "Socks helped.", "abstract"),
    Section("", "A word before all sections.", ""),
    Section("1. Beginnings", "Skin of 1.73 m2 and H2O, as in vivo work shows[1,2] (see Figure 1), goes on.",
            "introduction"),
    Section("Patients and methods", "Before.", "methods"),
    Section("Patients and methods > 2.1 Socks", "We knitted forty socks.\nleft\nright", "methods"),
    Section("Figure 1", "A sock.\nGrey wool.", "figure"),
    Section("Patients and methods > 2.1 Socks > Wool", "From sheep.", "methods"),
    Section("Patients and methods", "After.", "methods"),
    Section("Results and discussion", "We found p<0.05.", "results"),
    Section("Table 1", "Toes by sock.\nSock | Toes\nleft | 5\nCounted twice.", "table"),
    Section("Thanks", "To all.", ""),
    Section("Figure 2", "At the end.", "figure"),
)


def one(body: str, front: str = "") -> object:
    return parse_articles(f"<article><front><article-meta>{front}</article-meta></front>{body}</article>".encode())[0]


def test_text_is_in_document_order_and_complete():
    article = parse_articles(ARTICLE.encode())[0]
    assert article.sections == SECTIONS
    assert (article.pmid, article.pmcid, article.doi) == ("111", "PMC222", "10.1/x")
    assert (article.title, article.journal, article.year) == ("Warm hands and cold feet", "Made-up Journal", 2021)
    assert not article.abstract_only


def test_article_without_body_is_abstract_only():
    article = one("", '<article-id pub-id-type="pmc">333</article-id><abstract><p>Short.</p></abstract>')
    assert article.abstract_only
    assert article.pmcid == "PMC333"
    assert article.sections == (Section("Abstract", "Short.", "abstract"),)
    assert one("<body/>").abstract_only


def test_abstract_keeps_its_own_title_and_loose_paragraphs():
    article = one("", "<abstract><title>Summary</title><p>One.</p><sec><title>Aim</title><p>Two.</p></sec><p>Three.</p>"
                      "</abstract>")
    assert [(s.heading, s.text) for s in article.sections] == [
        ("Summary", "One."), ("Summary > Aim", "Two."), ("Summary", "Three.")]


def test_superscript_with_more_than_citations_stays_in_its_place():
    article = one('<body><p>10<sup>3</sup> cells, x<sup>a<xref ref-type="bibr">1</xref></sup></p></body>')
    assert article.sections[0].text == "103 cells, xa1"


def test_entities_are_never_resolved(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden words")
    xml = (f'<!DOCTYPE article [<!ENTITY file SYSTEM "{secret.as_uri()}"><!ENTITY many "x">]>'
           "<article><body><p>a &file; b &many; c &amp; d &#945;</p></body></article>")
    text = parse_articles(xml.encode())[0].sections[0].text
    assert "hidden" not in text
    assert text == "a &file; b &many; c & d α"


def test_entity_bomb_stays_small():
    rows = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">' for i in range(12))
    xml = f"<!DOCTYPE article [{rows}]><article><body><p>&e11;</p></body></article>"
    try:
        text = parse_articles(xml.encode())[0].sections[0].text
    except DataError as error:  # newer parsers refuse the declaration itself
        text = str(error)
    assert "haha" not in text
    assert len(text) < 400


@pytest.mark.parametrize("xml", [ARTICLE.encode()[:900], b"", b"busy, try again", b"<html><body>error</body></html>"])
def test_what_is_no_jats_is_an_error_that_names_the_source(xml):
    with pytest.raises(DataError, match="PMC9"):
        article_elements(xml, "PMC9")


@pytest.mark.parametrize(("title", "kind", "wanted"), [
    ("Introduction", "", "introduction"), ("Background and aims", "", "introduction"), ("2. Materials & Methods", "",
    "methods"), ("II. RESULTS", "", "results"), ("Concluding remarks", "discussion", "discussion"),
    ("Conclusions", "", "discussion"), ("What we saw", "results", "results"), ("Methods and results", "", "methods"),
    ("Author contributions", "", ""), ("", "", ""), ("Statistical analysis", "", "methods"),
])
def test_section_names(title, kind, wanted):
    assert section_name(title, kind) == wanted
