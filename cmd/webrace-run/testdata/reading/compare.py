"""Compares a folder of Markdown, as render.cjs has read it, with the site that was crawled.

    node render.cjs … | python3 compare.py

Of each file the page is fetched that its front matter names, and both are read by html.parser: the words that a reader
sees, and the links and images, absolute by urllib. What differs is told, a line each; then the counts, as JSON.

What a file has not, by docs/reading.md: what the page does not show; the link of a heading or term to itself; links in
blocks of code, to scripts and the like, and what is no URL; the name of a user in a URL.
"""

import hashlib
import json
import re
import sys
import unicodedata
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import urlopen

VOID = set("area base br col embed hr img input link meta param source track wbr".split())
UNSEEN = set("head script style template noembed noframes iframe svg title".split())
RUNNING = set(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark noscript output q s samp small"
    " span strike strong sub sup time tt u var wbr".split()
)
HEADINGS = set("h1 h2 h3 h4 h5 h6 dt".split())
HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+", re.ASCII)
SIGNS = set("¶#§🔗")
LEADING = set("http https ftp mailto tel news nntp".split())


class Reader(HTMLParser):
    """What the body of a page tells its reader: .text, and .links in their order."""

    def __init__(self, base=None):
        super().__init__()
        self.base = base  # None for what was rendered: its links are absolute
        self.text, self.links = [], []
        self.title, self.heading, self.language = [], [], None
        self.unseen, self.depth = None, 0  # the element that is not shown, and how deep we are in elements of its name
        self.within = dict.fromkeys(HEADINGS | {"pre", "title", "h1"}, 0)
        self.link = None  # the address of the link that is open, as long as nothing of it was read
        self.itself = None  # where the text and the links begin of a link in a heading to a place of the page; None outside
        self.headings = 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "html":
            self.language = attributes.get("lang")
        if tag in self.within:
            self.within[tag] += 1
            self.headings += tag == "h1"
        if self.unseen:
            self.depth += tag == self.unseen
            return
        if tag == "base" and self.base:
            self.base = urljoin(self.base, attributes.get("href") or "")
        style = re.sub(r"\s", "", attributes.get("style") or "").lower()
        if tag in UNSEEN or tag not in VOID and ("hidden" in attributes or "display:none" in style):
            self.unseen, self.depth = tag, 1
        if tag not in RUNNING:
            self.text.append(" ")
        if tag == "a":
            address = attributes.get("href")
            self.link = self.absolute(address)
            if address and address.startswith("#") and any(self.within[name] for name in HEADINGS):
                self.itself = len(self.text), len(self.links), len(self.heading)
        elif tag == "img":
            address = self.absolute(attributes.get("src"))
            if address and address.startswith("http") and not self.within["pre"]:
                self.take_link()
                self.links.append("image " + address)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID and self.base is None:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if self.within.get(tag):
            self.within[tag] -= 1
        if self.unseen:
            self.depth -= tag == self.unseen
            if self.depth == 0:
                self.unseen = None
            return
        if tag == "a":
            self.link = None
            self.leave_out_sign()
        if tag not in RUNNING:
            self.text.append(" ")

    def leave_out_sign(self):
        """Leaves out the link of a heading, or of a term, to itself, which is a sign alone."""
        if self.itself:
            text, links, heading = self.itself
            if "".join(self.text[text:]).strip() in SIGNS:
                del self.text[text:], self.links[links:], self.heading[heading:]
        self.itself = None

    def handle_data(self, data):
        if self.within["title"]:
            self.title.append(data)
        if self.within["h1"] and self.headings == 1:
            self.heading.append(data)
        if self.unseen:
            return
        if data.strip():
            self.take_link()
        self.text.append(data)

    def take_link(self):
        """Takes the link that is open once it has a word. Code is shown as it is, without links."""
        if self.link and not self.within["pre"]:
            self.links.append(self.link)
        self.link = None

    def absolute(self, address):
        """The address that is meant, in a form to compare; None for what is no URL, or does not lead to a document."""
        if address is None:
            return None
        try:
            url = urlsplit(urljoin(self.base, address.strip()) if self.base else address)
            host, port = url.hostname or "", url.port
        except ValueError:
            return None  # it is no URL
        if url.scheme not in LEADING or url.scheme.startswith("http") and not HOST.fullmatch(host):
            return None  # it is none to follow, or has no host
        if host:  # the name of a user, and a password, are not for those who read a copy
            host = "//" + host + (f":{port}" if port else "")
        path = unquote(url.path) or ("/" if host else "")
        query = "?" + unquote(url.query) if url.query else ""
        return f"{url.scheme}:{host}{path}{query}" + ("#" + unquote(url.fragment) if url.fragment else "")

    def words(self):
        return "".join(c for c in "".join(self.text) if unicodedata.category(c) != "Cc" or c.isspace()).split()


def read(page, base=None):
    reader = Reader(base)
    reader.feed(page)
    reader.close()
    return reader


def shown(text):
    """The text without control and format characters."""
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf") or c.isspace())


def title_of(page):
    """The element title; the heading, if that is a part of it, for the rest is the site's, or if there is no other."""
    title, heading = (" ".join(shown("".join(text)).split()) for text in (page.title, page.heading))
    return heading if not title or heading and heading.lower() in title.lower() else title


def first_difference(page, file):
    n = next((i for i, (a, b) in enumerate(zip(page, file)) if a != b), min(len(page), len(file)))
    around = max(0, n - 3)
    return f"at {n} of {len(page)}: page {page[around:n + 4]}, file {file[around:n + 4]}"


def compare(read_file):
    """Compares a file with its page; yields what differs."""
    matter = read_file["matter"]
    with urlopen(matter["url"]) as answer:
        body, media_type = answer.read(), answer.headers.get_content_type()
    if matter["digest"] != "sha256:" + hashlib.sha256(body).hexdigest():
        yield "digest", matter["digest"]
    file = read(read_file["html"])
    text = body.decode(answer.headers.get_content_charset() or "utf-8")
    if media_type != "text/html":
        page = Reader()
        page.handle_data(text)
    else:
        page = read(text, matter["url"])
        if matter.get("title", "") != title_of(page):
            yield "title", f"page {title_of(page)!r}, file {matter.get('title')!r}"
        if page.language and matter["language"] != page.language:
            yield "language", f"page {page.language!r}, file {matter['language']!r}"
    if (matter["version"], matter["part"]) != (1, "all"):
        yield "front matter", matter
    counts["words"] += len(page.words())
    counts["links"] += len(page.links)
    if page.words() != file.words():
        yield "words", first_difference(page.words(), file.words())
    if page.links != file.links:
        yield "links", first_difference(page.links, file.links)


counts = {"urls": [], "words": 0, "links": 0, "differences": 0}
files, listed = [], None
for line in sys.stdin:
    read_file = json.loads(line)
    if read_file["file"] == "index.md":
        listed = [unquote(href) for href in re.findall(r'<a href="([^"]*)"', read_file["html"])]
        continue
    files.append(read_file["file"])
    counts["urls"].append(read_file["matter"]["url"])
    for what, how in compare(read_file):
        counts["differences"] += 1
        print(f"{read_file['file']}: {what}: {how}", file=sys.stderr)
if sorted(files) != sorted(listed):
    counts["differences"] += 1
    print(f"index.md: it lists {set(listed) ^ set(files)}", file=sys.stderr)
json.dump(counts, sys.stdout)
