# Prints what extruct finds in pages: a property, by the end of its name, a tab and its text on a line, and a form feed
# behind each page. Arguments: a file and its URL, and so on.
import re
import sys

import extruct


def texts(value, name=""):
    """Yields the properties of what extruct returns that have texts."""
    if isinstance(value, dict):
        if "@value" in value:
            yield name, str(value["@value"])
            return
        for key, inner in value.items():
            if key == "properties":
                yield from texts(inner, name)
            elif not key.startswith("@") and key not in ("type", "id", "namespace"):
                yield from texts(inner, re.split("[/#:]", key)[-1])
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, tuple):
                yield from texts({inner[0]: inner[1]})
            else:
                yield from texts(inner, name)
    elif value is not None:
        yield name, str(value)


for path, url in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(path, encoding="utf-8", errors="replace") as page:
        found = extruct.extract(page.read(), base_url=url, syntaxes=["microdata", "opengraph", "json-ld", "rdfa"])
    for syntax in found.values():
        for name, text in texts(syntax):
            print(name, " ".join(text.split()), sep="\t")
    print("\f")
