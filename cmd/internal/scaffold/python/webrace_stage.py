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
_decode = json.JSONDecoder().raw_decode
_item_begins = re.compile(rb'\{"type":"item","id":(\d+),"kind":"([^"\\]*)","value":').match  # as webrace writes it

# What a field is where it is left out, for the kinds there were when this file was written.
EMPTY = {
    "aci": {
        "id": "", "urd": "", "owner": "", "uri": "", "title": "", "extension": "", "format": "", "relevance": 0,
        "file_size": 0, "urgency": 0, "docbase": {}, "expired": False, "summary": "",
        "also": {}, "values": {},
    },
    "document": {
        "url": "", "reach": [], "outcome": "", "status": 0, "header": {}, "origin": "", "took_s": 0, "media_type": "",
        "secret": "", "redirects": 0, "rendered": False, "requested": [], "truncated": False, "charset": "",
        "language": "", "title": "", "text": "", "blocks": [], "links": [],
        "graph": "", "graph_whole": False, "graph_problems": [], "canonical": "", "likeness": "",
        "digest": "", "version": 0,
        "changed": False,
    },
    "failure": {"stage": "", "error": "", "attempts": 0, "kind": ""},
    "links": {
        "from": "", "reach": [], "via": "", "redirects": 0, "permanent": False, "score": 0, "urls": [], "changed": [],
        "scores": [], "anchors": [], "text": "", "blocks": [],
    },
    "request": {"url": "", "reach": [], "from": "", "redirects": 0, "secret": "", "stored": False},
}


class Retry(Exception):
    """Raise it to have the item again later: it goes back to the queue that it came from."""

    def __init__(self, message, after_s=60):
        super().__init__(message)
        self.after_s = after_s


class Item:
    """A value that came in: its fields are attributes, its body is bytes.

    A field that was left out is its zero value ("", 0, False, an empty list), or None where it has none.
    """

    def __init__(self, kind, body=b"", **fields):
        self.kind, self.body, self.fields = kind, body, fields

    @classmethod
    def _of(cls, kind, body, unread):
        """Return an item whose fields are read when the first of them is asked for."""
        item = cls.__new__(cls)
        item.kind, item.body, item.__unread = kind, body, unread
        return item

    def __getattr__(self, name):
        if name == "fields" and "_Item__unread" in self.__dict__:
            value = _decode(self.__dict__.pop("_Item__unread").decode("utf-8"))[0]
            self.fields = value if isinstance(value, dict) else {"value": value}
            return self.fields
        if name == "fields" or name.startswith("__"):
            raise AttributeError(name)
        return self.get(name.rstrip("_"))  # item.from_ is the field "from"

    def get(self, name):
        """Return a field by its name."""
        if name in self.fields:
            return self.fields[name]
        empty = EMPTY.get(self.kind, {}).get(name)
        return empty.copy() if isinstance(empty, (list, dict)) else empty

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


def new(kind, port="", body=b"", **fields):
    """Return a new value of a kind, to be yielded."""
    value = {name.rstrip("_"): value for name, value in fields.items()}
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
        return list(self.function(item, Options(self.check(options))) or ())

    def count(self, name, n=1):
        """Add to a counter, which the report of the run shows."""
        self.counts[name] = self.counts.get(name, 0) + n

    def check(self, given):
        """Return the options with their defaults, or raise OptionError for one that there is not."""
        for name, value in given.items():
            if name not in self.options:
                near = difflib.get_close_matches(name, self.options, 1)
                hint = "did you mean %s?" % near[0] if near else "there are " + (", ".join(self.options) or "none")
                raise OptionError(name, "there is no option %r (%s)" % (name, hint))
            default = self.options[name]
            if default is not None and not _fits(value, default):
                raise OptionError(name, "option %r takes something like %r, not %r" % (name, default, value))
        return {**self.options, **given}

    def run(self):
        """Work for webrace, until it closes our standard input."""
        sink = sys.stdout.buffer
        sys.stdout = sys.stderr
        frames = _frames(sys.stdin.fileno(), sink.flush)
        for hello, _ in frames:
            try:
                options = Options(self.check(_parsed(hello).get("options") or {}))
            except OptionError as e:
                _write(sink, {"type": "error", "error": str(e), "option": e.option})
                sink.flush()
                return
            _write(sink, {"type": "ready", "abi": ABI, "spec": self.spec()})
            break
        for header, body in frames:
            begins = _item_begins(header)
            if begins:
                id, kind = begins.groups()
                self._work(id, Item._of(kind.decode("utf-8"), body, header[begins.end():]), options, sink)
                continue
            header = _parsed(header)
            if header.get("type") == "item":
                item, value = Item(header["kind"], body), header.get("value")
                item.fields = value if isinstance(value, dict) else {"value": value}
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


def stage(takes="document", gives="document", options=None, fields=None):
    """Make a stage of a function(item, options) that yields outputs.

    takes: a kind or a list of kinds. gives: a kind, or a dict of ports and kinds, the port "" being the
    default one. options: a dict of names and defaults. fields: those that the stage looks at, "body" being
    one; it is given all if none are named, and less is faster.
    """
    return lambda function: Stage(function, takes, gives, options, fields)


def _fits(value, default):
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    return isinstance(value, type(default))


def _bytes(body):
    return body.encode("utf-8") if isinstance(body, str) else bytes(body)


def _frames(fd, before_waiting):
    """Yield headers and bodies until the input ends. What was written goes out before we wait for more."""
    buffer, at = b"", 0
    while True:
        if len(buffer) - at >= 8:
            total, head = LENGTHS.unpack_from(buffer, at)
            start, end = at + 8, at + 4 + total
            if len(buffer) >= end:
                at = end
                yield buffer[start:start + head], buffer[start + head:end]
                continue
        before_waiting()
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
    _write_frame(sink, _encode(header).encode("utf-8"), body)


def _write_frame(sink, head, body=b""):
    sink.write(LENGTHS.pack(4 + len(head) + len(body), len(head)) + head)
    if body:
        sink.write(body)
