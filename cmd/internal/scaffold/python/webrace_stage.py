"""Stages of webrace in Python: https://github.com/webrace/webrace, docs/plugins.md.

    from webrace_stage import stage

    @stage(takes="document", gives="document", options={"volume": 1})
    def shout(item, options):
        yield item.change(title=item.title.upper() + "!" * options.volume)

    if __name__ == "__main__":
        shout.run()

One file, nothing but the standard library, Python 3.9 or newer. What print() writes goes to standard
error, because standard output belongs to webrace.
"""

import difflib
import json
import os
import re
import struct
import sys
import traceback

ABI = 1

# Made once: what most items need should cost little.
LENGTHS = struct.Struct("<II")
KEEP = {"keep": True}
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder(parse_float=lambda text: _number(text), parse_int=lambda text: _whole(text)).raw_decode
# As webrace writes it, with a key of forty digits last.
_item_begins = re.compile(rb'\{"type":"item","id":(\d+),"kind":"([^"\\]*)","value":').match
_key_ends = re.compile(rb',"key":"([0-9a-f]+)"\}\Z').search
KEY_ROOM = len(',"key":""}') + 40

# What a field is where it is left out, for the kinds there were when this file was written; None has no zero value.
# Kinds that are not here have fields of their own, as records do.
EMPTY = {
    "aci": {
        "id": "", "urd": "", "owner": "", "uri": "", "thread": "", "title": "", "extension": "", "format": "", "relevance": 0,
        "file_size": 0, "urgency": 0, "update_time": None, "docbase": {}, "expired": False, "retrieved": None,
        "summary": "", "explain": None, "judgement": None, "also": {}, "former": [], "twins": None, "values": {},
    },
    "bytes": {},
    "collected": {
        "versions": 0, "bodies": 0, "bytes": 0, "kept": 0, "segments": 0, "freed": 0, "expired": 0, "trimmed": 0,
        "contexts": 0, "quads": 0, "terms": 0,
    },
    "document": {
        "url": "", "reach": [], "from": "", "instead": {}, "visit": None, "outcome": "", "status": 0, "header": {}, "origin": "", "at": None,
        "took_s": 0, "media_type": "", "screenshot": None,
        "secret": "", "redirects": 0, "rendered": False, "requested": [], "truncated": False, "charset": "",
        "language": "", "title": "", "thread": "", "text": "", "blocks": [], "columns": [], "entries": [], "feed": False, "cut": False, "links": [],
        "graph": "", "graph_whole": False, "graph_problems": [], "canonical": "", "likeness": "",
        "digest": "", "version": 0,
        "changed": False,
    },
    "failure": {"stage": "", "error": "", "attempts": 0, "kind": "", "value": None},
    "gone": {"url": "", "secret": "", "reason": "", "at": None},
    "links": {
        "from": "", "reach": [], "via": "", "redirects": 0, "permanent": False, "again": False, "score": 0, "urls": [],
        "changed": [], "scores": [], "anchors": [], "text": "", "blocks": [], "columns": [], "entries": [], "feed": False,
    },
    "list": {"items": []},
    "message": {
        "id": "", "owner": "", "transport": "", "host": "", "entries": 0, "urgency": 0, "once": False, "subject": "", "text": "", "html": "",
        "method": "", "media_type": "", "unsubscribe": "",
    },
    "notice": {"id": "", "state": "", "owner": "", "urd": "", "uri": "", "reason": "", "failures": 0, "at": None},
    "request": {
        "url": "", "crawl": None, "reach": [], "from": "", "redirects": 0, "secret": "", "stored": False, "left": False, "instead": {}, "visit": None,
    },
    "text": {},
}


class Retry(Exception):
    """Raise it to have the item again later: it goes back to the queue that it came from."""

    def __init__(self, message, after_s=60):
        super().__init__(message)
        self.after_s = after_s


class Number(float):
    """A number of a record that a float is written otherwise than: it computes as one, and leaves as it came (.text)."""

    __slots__ = ("text",)
    seen = False  # there are any, which are to be written

    def __repr__(self):
        return self.text


def _number(text):
    number = float(text)
    if repr(number) == text:
        return number
    number, Number.seen = Number(number), True
    number.text = text
    return number


def _whole(text):
    return int(text) if text != "-0" else _number(text)


class Item:
    """A value that came in: its fields are attributes, its body is bytes.

    A field that was left out is its zero value ("", 0, False, an empty list), or None where it has none. A name that
    no field of the kind has, and one that the stage has not asked for by fields=[...], raises AttributeError. The
    fields of a record are its own: item.get("price") is for one that it may lack, and item["unit price"], which
    raises KeyError, for names that are no attributes.
    """

    def __init__(self, kind, body=b"", **fields):
        self.kind, self.body, self.fields = kind, body, fields

    @classmethod
    def _of(cls, kind, body, unread, asked=()):
        """Return an item whose fields are read when the first of them is asked for."""
        item = cls.__new__(cls)
        item.kind, item.__unread, item.__asked, item._key = kind, unread, asked, unread
        if not asked or "body" in asked:
            item.body = body
        return item

    def _as_given_to(self, stage):
        """Return the item as a stage is given it, which has asked for some fields."""
        if not stage.fields or self.kind not in EMPTY:
            return self
        item = Item._of(self.kind, self.body, b"", stage.fields)
        item.fields, item._key = {name: value for name, value in self.fields.items() if name in stage.fields}, key_of(self)
        return item

    def __getattr__(self, name):
        if name == "fields" and "_Item__unread" in self.__dict__:
            value = _decode(self.__dict__.pop("_Item__unread").decode("utf-8"))[0]
            self.fields = value if isinstance(value, dict) else {"value": value}
            return self.fields
        if name == "fields" or name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name.rstrip("_")]  # item.from_ is the field "from"
        except LookupError as e:
            raise AttributeError(e.args[0]) from None

    def __getitem__(self, name):
        if name in self.fields:
            return self.fields[name]
        known = EMPTY.get(self.kind, self.fields)
        asked = self.__dict__.get("_Item__asked")
        if asked and name not in asked and (name in known or name == "body"):
            raise LookupError("the stage has not asked for %r: add it to its fields=%r" % (name, asked))
        if name not in known:
            raise KeyError("a %s has no field %r (%s)" % (self.kind, name, _meant(name, known)))
        empty = known[name]
        return empty.copy() if isinstance(empty, (list, dict)) else empty

    def __contains__(self, name):
        return name in self.fields

    def get(self, name, default=None):
        """Return a field by its name, or the default if there is no such field."""
        try:
            return self[name]
        except KeyError:
            return default

    def keep(self, port=""):
        """Return the item as it came, to be yielded."""
        return Output({"keep": True}, port=port)

    def change(self, port="", body=None, **fields):
        """Return the item with other fields, and with another body if one is given."""
        message = {"keep": True, "set": {name.rstrip("_"): value for name, value in fields.items()}}
        if body is None:
            return Output(message, port=port)
        message["body"] = True
        return Output(message, _bytes(body), port)


def key_of(item):
    """Return what an item is known by, the same whenever it comes again: "" of one that a test has made.

    No other item has it, even if it has the same value. A stage that writes somewhere else writes by it, so that what is
    repeated after a crash is there once.
    """
    key = item.__dict__.get("_key", "")
    if isinstance(key, bytes):  # what follows the name of the item's value
        found = _key_ends(key, max(0, len(key) - KEY_ROOM))
        item._key = key = found.group(1).decode("ascii") if found else _parsed(b'{"value":' + key).get("key", "")
    return key


def new(kind, port="", body=b"", **fields):
    """Return a new value of a kind, to be yielded."""
    value = {name.rstrip("_"): value for name, value in fields.items()}
    for name in value:
        if kind in EMPTY and name not in EMPTY[kind]:
            raise AttributeError("a %s has no field %r (%s)" % (kind, name, _meant(name, EMPTY[kind])))
    return Output({"kind": kind, "value": value}, _bytes(body), port)


class Output:
    """What a stage yields."""

    def __init__(self, message, body=b"", port=""):
        self.message, self.body, self.port = message, body, port
        if port:
            message["port"] = port

    def __eq__(self, other):
        return isinstance(other, Output) and (self.message, self.body) == (other.message, other.body)

    def __repr__(self):
        return "Output(%r, %r)" % (self.message, self.body)


class OptionError(ValueError):
    """An option that there is not, or a value that it cannot have."""

    def __init__(self, option, message):
        super().__init__(message)
        self.option = option


class Options:
    """The options of a stage as attributes."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __getattr__(self, name):
        raise AttributeError("there is no option %r (%s)" % (name, _meant(name, self.__dict__)))


class Stage:
    """A function that is given items and yields what comes of them."""

    def __init__(self, function, takes, gives, options, fields):
        self.function, self.options, self.fields = function, dict(options or {}), list(fields or [])
        self.takes = [takes] if isinstance(takes, str) else list(takes)
        self.gives = {"": gives} if isinstance(gives, str) else dict(gives or {})
        self.counts = {}
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    def __call__(self, item, **options):
        """Process one item, as a test does, and return the list of what it yields."""
        return list(self.function(item._as_given_to(self), Options(self.check(options))) or ())

    def count(self, name, n=1):
        """Add to a counter, which the report of the run shows."""
        self.counts[name] = self.counts.get(name, 0) + n

    def check(self, given):
        """Return the options with their defaults, or raise OptionError for one that there is not."""
        for name, value in given.items():
            if name not in self.options:
                raise OptionError(name, "there is no option %r (%s)" % (name, _meant(name, self.options)))
            default = self.options[name]
            if default is not None and not _fits(value, default):
                raise OptionError(name, "option %r takes something like %r, not %r" % (name, default, value))
        return {**self.options, **given}

    def run(self):
        """Work for webrace, until it closes our standard input."""
        sink = sys.stdout.buffer
        sys.stdout = sys.stderr
        frames = _frames(sys.stdin.fileno())
        for hello, _ in frames:
            try:
                options = Options(self.check(_parsed(hello).get("options") or {}))
            except OptionError as e:
                _write(sink, {"type": "error", "error": str(e), "option": e.option})
                sink.flush()
                return
            _write(sink, {"type": "ready", "abi": ABI, "spec": self.spec()})
            sink.flush()
            break
        for header, body in frames:
            begins = _item_begins(header)
            if begins:
                id, kind = begins.groups()
                self._work(id, Item._of(kind.decode("utf-8"), body, header[begins.end():], self.fields), options, sink)
                continue
            header = _parsed(header)
            if header.get("type") == "item":
                item, value = Item._of(header["kind"], body, b"", self.fields), header.get("value")
                item.fields, item._key = value if isinstance(value, dict) else {"value": value}, header.get("key", "")
                self._work(b"%d" % header["id"], item, options, sink)

    def spec(self):
        """Return what the stage says of itself."""
        gives = [{"port": port, "kind": kind} for port, kind in self.gives.items()]
        spec = {"takes": self.takes, "gives": gives, "options": list(self.options)}
        if self.fields:
            spec["fields"] = self.fields
        return spec

    def _work(self, id, item, options, sink):
        end = None
        try:
            for output in self.function(item, options) or ():
                if output.message == KEEP:
                    _write_frame(sink, b'{"type":"emit","id":' + id + b',"keep":true}')
                else:
                    _write(sink, {"type": "emit", "id": int(id), **output.message}, output.body)
        except Retry as e:
            end = {"type": "error", "error": str(e), "retry_after_s": e.after_s}
        except Exception as e:  # the item fails, and the stage goes on
            traceback.print_exc()
            end = {"type": "error", "error": "%s: %s" % (type(e).__name__, e)}
        if self.counts:
            end = end or {"type": "done"}
            end["count"], self.counts = self.counts, {}
        if end:
            _write(sink, {**end, "id": int(id)})
        else:
            _write_frame(sink, b'{"type":"done","id":' + id + b'}')
        sink.flush()  # the time of the next item runs from when this one is answered


def stage(takes="document", gives="document", options=None, fields=None):
    """Make a stage of a function(item, options) that yields outputs.

    takes: a kind or a list of kinds. gives: a kind, or a dict of ports and kinds, the port "" being the
    default one. options: a dict of names and defaults. fields: those that the stage looks at, "body" being
    one; it is given all if none are named, and less is faster.
    """
    return lambda function: Stage(function, takes, gives, options, fields)


def _meant(name, names):
    """Return what was probably meant by a name that is none of some."""
    near = difflib.get_close_matches(str(name), names, 1)
    return "did you mean %s?" % near[0] if near else "there are " + (", ".join(names) or "none")


def _fits(value, default):
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    return isinstance(value, type(default))


def _bytes(body):
    return body.encode("utf-8") if isinstance(body, str) else bytes(body)


def _frames(fd):
    """Yield headers and bodies until the input ends."""
    buffer, at = b"", 0
    while True:
        if len(buffer) - at >= 8:
            total, head = LENGTHS.unpack_from(buffer, at)
            start, end = at + 8, at + 4 + total
            if len(buffer) >= end:
                at = end
                yield buffer[start:start + head], buffer[start + head:end]
                continue
        chunks, missing = [buffer[at:]], 1
        if len(chunks[0]) >= 8:
            missing = end - at - len(chunks[0])
        while missing > 0:
            chunk = os.read(fd, max(1 << 16, missing))
            if not chunk:
                return
            chunks.append(chunk)
            missing -= len(chunk)
        buffer, at = b"".join(chunks), 0


def _parsed(header):
    return _decode(header.decode("utf-8"))[0]


def _write(sink, header, body=b""):
    _write_frame(sink, (_written(header) if Number.seen else _encode(header)).encode("utf-8"), body)


def _written(value):
    """Return the JSON of a value, with each Number as it came."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):  # whose names may be other than texts
        return "{" + ",".join(_encode({name: 0})[1:-2] + _written(part) for name, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_written, value)) + "]"
    return _encode(value)


def _write_frame(sink, head, body=b""):
    sink.write(LENGTHS.pack(4 + len(head) + len(body), len(head)) + head)
    if body:
        sink.write(body)
