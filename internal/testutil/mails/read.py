# Reads messages as Python's package email does: a line of JSON for each file named on standard input. Bytes that are no
# end of a line are those of the file.
import email, email.header, email.policy, html.parser, json, re, sys

def decoded(field):
    """A field of a header as people read it."""
    text = []
    try:
        pieces = email.header.decode_header(field)
    except Exception:  # a word in base64 that is none
        pieces = [(str(field), None)]
    for piece, charset in pieces:
        if isinstance(piece, bytes):
            try:
                piece = piece.decode('utf-8' if charset in (None, 'unknown-8bit') else charset, 'replace')
            except (LookupError, ValueError):
                piece = piece.decode('latin-1')
        text.append(piece)
    return ' '.join(''.join(text).split())

class Page(html.parser.HTMLParser):
    """The text of a page, in blocks of (field, text)."""
    inline = {'a', 'b', 'i', 'u', 'em', 'strong', 'span', 'font', 'tt', 'code', 'small', 'big', 'sup', 'sub'}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks, self.text, self.field, self.hidden = [], '', 'body', 0

    def end_block(self):
        if self.text.strip():
            self.blocks.append((self.field, ' '.join(self.text.split())))
        self.text = ''

    def handle_starttag(self, tag, attrs):
        if tag in self.inline:
            return
        self.end_block()
        if tag in ('style', 'script'):
            self.hidden += 1
        elif tag == 'title':
            self.field = 'title'
        elif tag in ('h1', 'h2', 'h3'):
            self.field = 'heading'

    def handle_endtag(self, tag):
        if tag in self.inline:
            return
        self.end_block()
        if tag in ('style', 'script'):
            self.hidden = max(self.hidden - 1, 0)
        self.field = 'body'

    def handle_data(self, data):
        if not self.hidden:
            self.text += data

class Reading:
    """What a message says, in blocks of (field, text)."""
    def __init__(self, message):
        self.title, self.blocks, self.names = '', [], []
        self.message(message)

    def add(self, field, text):
        if text.strip():
            self.blocks.append((field, text))

    def message(self, m):
        subject = decoded(m['subject']) if m['subject'] is not None else ''
        self.add('heading' if self.title else 'title', subject)
        self.title = self.title or subject
        for name in ('from', 'reply-to', 'list-id'):
            if m[name] is not None:
                self.add('navigation', decoded(m[name]))
        self.part(m)

    def part(self, p):
        name = p.get_filename()
        if name:
            name = decoded(name)
            self.names.append(name)
            self.add('body', name)
        kind = p.get_content_type()
        if kind == 'message/rfc822' and p.is_multipart():
            self.message(p.get_payload(0))
        elif p.get_content_maintype() == 'multipart' and p.is_multipart():
            if kind == 'multipart/alternative':
                before = len(self.blocks)
                for part in reversed(p.get_payload()):
                    if len(self.blocks) == before:
                        self.part(part)
            else:
                for part in p.get_payload():
                    self.part(part)
        elif kind == 'text/plain':
            self.add('body', self.text(p))
        elif kind == 'text/html':
            page = Page()
            page.feed(self.text(p))
            page.close()
            page.end_block()
            titled = bool(self.title)
            for field, text in page.blocks:
                if field == 'title' and titled:
                    field = 'heading'
                elif field == 'title':
                    self.title = text
                self.add(field, text)

    def text(self, p):
        content = p.get_payload(decode=True) or b''
        charset = p.get_content_charset() or 'utf-8'
        try:
            return content.decode('windows-1252' if charset in ('iso-8859-1', 'us-ascii') else charset, 'replace')
        except (LookupError, ValueError):
            return content.decode('latin-1')

def identity(m):
    found = re.search(r'<\s*([^>]*)>', str(m['message-id'] or ''))
    return re.sub(r'\s', '', found.group(1)) if found else ''

for file in sys.stdin.read().splitlines():
    with open(file, 'rb') as f:
        m = email.message_from_bytes(f.read(), policy=email.policy.compat32)
    r = Reading(m)
    print(json.dumps({'id': identity(m), 'title': r.title, 'blocks': r.blocks, 'names': r.names}))
