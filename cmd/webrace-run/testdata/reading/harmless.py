"""Holds a folder of Markdown, as render.cjs has read it, against what a hostile site has served.

    node render.cjs … | python3 harmless.py SERVED.json

It writes what is wrong, as a list of JSON.
"""

import collections
import json
import re
import sys
import unicodedata
from html.parser import HTMLParser
from urllib.parse import unquote

ATTRIBUTES = {"a": {"href"}, "img": {"src", "alt"}, "code": {"class"}, "ol": {"start"}}
TAGS = set("h1 h2 h3 h4 h5 h6 p ul ol li a img em strong s code pre blockquote table thead tbody tr th td br hr".split())
RUNNING = set("a em strong s code img".split())
LEADING = re.compile(r"(https?://[\w.\[\]:-]+(/|$)|ftp://|mailto:|tel:|news:|nntp:)", re.ASCII)
DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.I)
UNNAMED = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]|[. ]$|^[-.]')  # what no name of a file has on some system, or what hides it
JOINING = "\u200c\u200d"


class Rendered(HTMLParser):
    """What Markdown is rendered as: .text, .links, and in .wrong what is more than Markdown has."""

    def __init__(self, html):
        super().__init__()
        self.text, self.links, self.wrong = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS:
            self.wrong.append(f"element {tag}")
        for name, value in attributes:
            if name not in ATTRIBUTES.get(tag, ()):
                self.wrong.append(f"attribute {name} of {tag}")
            if name in ("href", "src"):
                self.links.append(value)
                if not LEADING.match(value):
                    self.wrong.append(f"{name} {value!r}")
            if name == "class" and not re.fullmatch(r"language-[\w+#.-]+", value):
                self.wrong.append(f"class {value!r}")
            if name == "start" and not value.isdigit():
                self.wrong.append(f"start {value!r}")
        if tag not in RUNNING:
            self.text.append(" ")

    def handle_endtag(self, tag):
        if tag not in RUNNING:
            self.text.append(" ")

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        self.wrong.append(f"comment {data!r}")

    handle_decl = handle_pi = unknown_decl = handle_comment

    def words(self):
        return "".join(self.text).split()


def shown(text, without):
    """The text as one line, without characters of some categories."""
    kept = (" " if c.isspace() else c for c in text if c.isspace() or c in JOINING or unicodedata.category(c) not in without)
    return " ".join("".join(kept).split())


def is_no_character(c):
    """Whether Unicode gives it no character for ever, or it stands for what could not be read."""
    return c == "\ufffd" or ord(c) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(c) <= 0xFDEF


def title_of(declared):
    """A title is of one line, without control and format characters, and at most 300 long."""
    title = shown("".join(c for c in declared if not is_no_character(c)), ("Cc", "Cf", "Co"))
    title = " ".join(title.split())
    return title if len(title) <= 300 else title[:299] + "…"


def check(file, page):
    """Yields what is wrong with the file of a page."""
    matter, rendered = file["matter"], Rendered(file["html"])
    yield from rendered.wrong
    if page["Marked"] not in rendered.words() and page["Marked"] not in file["html"]:
        yield "it is not of its page"
    if len(set(re.findall(r"marked\d+page", file["html"]))) != 1:
        yield "it is of several pages"
    for name, value in matter.items():
        if name not in ("url", "title", "author", "site", "image", "language", "published", "part", "version", "fetched", "digest"):
            yield f"{name} in the front matter"
        if not isinstance(value, int if name == "version" else str):
            yield f"{name} is {value!r}"
        elif re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]", str(value)):
            yield f"{name} has what no reader sees: {value!r}"
    if page["Title"] and matter.get("title", "") != title_of(page["Title"]):
        yield f"title: declared {title_of(page['Title'])!r}, file {matter.get('title')!r}"
    if page["Text"]:
        want, got = page["Text"].split(), rendered.words()
        if want != got:
            n = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
            yield f"words at {n}: page {want[max(0, n - 3):n + 4]}, file {got[max(0, n - 3):n + 4]}"
        if made := set(rendered.links) - {served["base"], served["base"] + "a.png"}:
            yield f"text that is links: {made}"


def names(files):
    """Yields what is wrong with the names of files: each is to be a file of its own on every system."""
    alike = collections.Counter()
    for path in files:
        folders = path.split("/")
        for i, name in enumerate(folders):
            if UNNAMED.search(name) or DEVICES.fullmatch(name) or len(name.encode()) > 255:
                yield f"{path}: {name!r} is no name of a file everywhere"
            if i == len(folders) - 1:
                alike[unicodedata.normalize("NFC", path).casefold()] += 1
    for path in alike:
        if alike[path] > 1 or any(other.startswith(path + "/") for other in alike):
            yield f"{path} is several files, or a folder as well"


with open(sys.argv[1], encoding="utf-8") as file:
    served = json.load(file)
pages, wrong, files, listed = served["pages"], [], {}, []
for line in sys.stdin:
    file = json.loads(line)
    if file["file"] == "index.md":
        index = Rendered(file["html"])
        listed = [unquote(href) for href in re.findall(r'<a href="([^"]*)"', file["html"])]
        wrong += [f"index.md: {what}" for what in index.wrong if not what.startswith("href ")]
        continue
    url = file["matter"]["url"]
    if url in files:
        wrong.append(f"{url} is {files[url]} and {file['file']}")
    files[url] = file["file"]
    if url not in pages:
        wrong.append(f"{file['file']} is of {url}, which was not served")
        continue
    wrong += [f"{file['file']} ({url}): {what}" for what in check(file, pages[url])]
wrong += names(files.values())
wrong += [f"{url} has no file" for url in pages.keys() - files.keys()]
if sorted(listed) != sorted(files.values()):
    wrong.append(f"index.md lists other files: {set(listed) ^ set(files.values())}")
json.dump(wrong, sys.stdout)
