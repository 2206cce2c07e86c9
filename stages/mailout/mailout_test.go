package mailout

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/xmlschema"
)

func (s *server) options(tls string) Options {
	o := defaults
	o.Host, o.Port, o.TLS, o.CAFile = "127.0.0.1", s.port(), tls, s.caFile
	o.From, o.DefaultTo = "webrace <robot@levanda.org>", "all@levanda.org"
	o.Timeout, o.Backoff, o.MaxBackoff = pipeline.Duration(5*time.Second), pipeline.Duration(time.Microsecond), pipeline.Duration(time.Millisecond)
	return o
}

func try(t *testing.T, o Options, inputs ...any) *stagetest.Result {
	t.Helper()
	return stagetest.Try(t, stagetest.Case{Type: "mail-out", Options: o, Inputs: inputs})
}

func aci(id, owner, title string) *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: id, URD: "u1", Owner: owner, URI: "https://a.org/" + id, Title: title, Summary: "The «storm» passed.", Relevance: 70, Format: xmlschema.FormatHTML, Urgency: 1,
		UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Docbase: xmlschema.Docbase{Digest: "sha256:1", Version: 2},
		Explain: &xmlschema.Explain{Keywords: []xmlschema.KeywordShare{{Key: "storm", Weight: 5}}},
	}
}

// letter is a mail as its reader sees it.
type letter struct {
	header            mail.Header
	subject           string
	text, html, types string
}

func read(t *testing.T, data string) letter {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	l := letter{header: m.Header}
	if l.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	l.types = kind
	if kind == "text/plain" {
		l.text = decode(t, m.Body, m.Header.Get("Content-Transfer-Encoding"))
		return l
	}
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			return l
		}
		if err != nil {
			t.Fatal(err)
		}
		text := decode(t, p, p.Header.Get("Content-Transfer-Encoding"))
		if strings.HasPrefix(p.Header.Get("Content-Type"), "text/html; charset=UTF-8") {
			l.html = text
		} else {
			l.text = text
		}
		l.types += " " + p.Header.Get("Content-Type")
	}
}

func decode(t *testing.T, r io.Reader, encoding string) string {
	t.Helper()
	if encoding != "quoted-printable" {
		t.Errorf("the body is in %q", encoding)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(r))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

func TestConformance(t *testing.T) {
	s := newServer(t, false)
	stagetest.Run(t, stagetest.Case{Type: "mail-out", Options: s.options("none"), Inputs: []any{
		aci("a", "eleni", "t"), &webrace.Notice{ID: "n", Owner: "eleni"}, pipeline.List{aci("b", "costas", "t"), aci("c", "eleni", "t")},
	}})
}

func TestAnAnnotationIsAMail(t *testing.T) {
	t.Parallel()
	for _, tls := range []string{"starttls", "tls", "none"} {
		s := newServer(t, tls == "tls")
		o := s.options(tls)
		o.To, o.Unsubscribe = map[string]string{"eleni": "Eleni <eleni@levanda.org>"}, "https://levanda.org/no?a=1"
		if r := try(t, o, aci("a", "eleni", "Die Fähre & «Iris»: Σκύλλα <1>")); len(r.Failures) > 0 || r.Counters["mailed"] != 1 {
			t.Fatalf("%s: %v", tls, r.Failures)
		}
		got := s.received()
		if len(got) != 1 || !strings.HasPrefix(got[0].from, "FROM:<robot@levanda.org>") || got[0].to != "TO:<eleni@levanda.org>" || got[0].encrypted != (tls != "none") {
			t.Fatalf("%s: %+v", tls, got)
		}
		l := read(t, got[0].data)
		if l.subject != "Die Fähre & «Iris»: Σκύλλα <1>" || l.header.Get("From") != `"webrace" <robot@levanda.org>` || l.header.Get("To") != `"Eleni" <eleni@levanda.org>` {
			t.Errorf("%q", l.header)
		}
		if l.header.Get("List-Unsubscribe") != "<https://levanda.org/no?a=1>" || l.header.Get("Auto-Submitted") != "auto-generated" || !strings.HasPrefix(l.types, "multipart/alternative text/plain; charset=UTF-8") {
			t.Errorf("%q, %s", l.header, l.types)
		}
		if want := "Die Fähre & «Iris»: Σκύλλα <1>\nhttps://a.org/a\nrelevance 70, storm (5)\nThe «storm» passed.\n"; !strings.HasPrefix(l.text, want) {
			t.Errorf("the text is\n%s", l.text)
		}
		if !strings.Contains(l.html, `<h3><a href="https://a.org/a">Die Fähre &amp; «Iris»: Σκύλλα &lt;1&gt;</a></h3>`) {
			t.Errorf("the page is\n%s", l.html)
		}
	}
}

func TestAListBecomesADigestForEachOwner(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	o := s.options("none")
	o.DefaultTo, o.To, o.Plain = "", map[string]string{"eleni": "eleni@levanda.org", "costas": "costas@levanda.org"}, true
	notice := &webrace.Notice{ID: "n", Owner: "eleni", URI: "https://a.org/", State: webrace.SourceFailing, Reason: "404 Not Found", Failures: 3}
	r := try(t, o, pipeline.List{aci("a", "eleni", "One"), aci("b", "costas", "Two"), notice, aci("c", "eleni", "Three"), aci("d", "maria", "Four")}, pipeline.List{})
	if len(r.Failures) > 0 || r.Counters["mails"] != 2 || r.Counters["mailed"] != 4 || r.Counters["no_address"] != 1 {
		t.Fatalf("%v, %v", r.Failures, r.Counters)
	}
	got := s.received()
	first, second := read(t, got[0].data), read(t, got[1].data)
	if first.subject != "One (and 2 more)" || second.subject != "Two" || first.types != "text/plain" {
		t.Errorf("%q, %q, %s", first.subject, second.subject, first.types)
	}
	for _, has := range []string{"https://a.org/ gives no document any more: 404 Not Found (3 times in a row)", "One\n", "Three\n"} {
		if !strings.Contains(first.text, has) || strings.Contains(second.text, has) {
			t.Errorf("%q: %s", has, first.text)
		}
	}
}

func TestTheSameMailHasTheSameMessageID(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	for range 2 {
		try(t, s.options("none"), aci("a", "eleni", "t"), pipeline.List{aci("a", "eleni", "t"), aci("b", "eleni", "t")})
	}
	var ids []string
	for _, m := range s.received() {
		ids = append(ids, read(t, m.data).header.Get("Message-Id"))
	}
	if len(ids) != 4 || ids[0] != ids[2] || ids[1] != ids[3] || ids[0] == ids[1] || !strings.HasSuffix(ids[0], "@levanda.org>") {
		t.Errorf("%q", ids)
	}
}

// TestNothingThatAPageSaysBecomesAHeader tries to smuggle header fields, a body, and a second mail in.
func TestNothingThatAPageSaysBecomesAHeader(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	evil := "Free\r\nBcc: victim@levanda.org\r\n\r\n.\r\nMAIL FROM:<x@y>\r\n\x00\u2028 \xff" + strings.Repeat("long Σ ", 300)
	a := aci("a", "eleni\r\nBcc: victim@levanda.org", evil)
	a.Summary, a.URI = ".\r\nQUIT\r\n", "javascript:alert(1)\r\nBcc: x@y"
	o := s.options("none")
	o.Subject = "{{.Owner}} {{.First}}"
	if r := try(t, o, a); len(r.Failures) > 0 {
		t.Fatal(r.Failures)
	}
	got := s.received()
	if len(got) != 1 {
		t.Fatalf("%d mails", len(got))
	}
	l := read(t, got[0].data)
	for field := range l.header {
		switch field {
		case "Date", "Mime-Version", "Message-Id", "Subject", "From", "To", "Content-Type", "Auto-Submitted", "User-Agent", "X-Mailer":
		default:
			t.Errorf("there is a field %s: %q", field, l.header[field])
		}
	}
	if !strings.HasPrefix(l.subject, "eleni Bcc: victim@levanda.org Free Bcc: victim@levanda.org . MAIL FROM:<x@y> ") || !strings.HasSuffix(l.subject, "long Σ") {
		t.Errorf("the subject is %.200q", l.subject)
	}
	if strings.Contains(l.html, `href="javascript`) || !strings.Contains(l.text, "Free Bcc: victim") {
		t.Errorf("the page is\n%.500s", l.html)
	}
	for line := range strings.SplitSeq(got[0].data, "\n") {
		if len(line) > 998 {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
}

func FuzzASubjectIsOneField(f *testing.F) {
	f.Add("a\r\nBcc: b@c")
	f.Add("=?utf-8?q?a=0D=0ABcc:_b@c?= \xff\x00")
	f.Fuzz(func(t *testing.T, title string) {
		s := &stage{options: Options{From: "a@b.org", Subject: defaultSubject}}
		s.templates, _, _ = s.options.templates()
		d, err := digestsOf(delivery.Parcels(&pipeline.Item{Value: aci("a", "eleni", title)}))
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.compose(d[0], "c@d.org")
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if _, err := m.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		l := read(t, b.String())
		if l.subject != oneLine(title) && strings.Join(strings.Fields(l.subject), "") != strings.Join(strings.Fields(oneLine(title)), "") && !strings.Contains(title, "=?") || l.header.Get("Bcc") != "" {
			t.Errorf("%q became %q", title, l.subject)
		}
	})
}

func TestWhatMayPassIsWaitedOut(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	for command, answers := range map[string][]string{
		"hello": {"421 busy", "hang up", ""}, "MAIL": {"451 later", ""}, "RCPT": {"450 grey", ""}, "data": {"452 full", "", ""}, "mail": {"451 later", "hang up, having taken it", "250 yes"},
		"QUIT": {"hang up", "hang up"},
	} {
		s.script(command, answers...)
	}
	r := try(t, s.options("none"), aci("a", "eleni", "t"))
	got := s.received()
	if len(r.Failures) > 0 || r.Counters["mails"] != 1 || r.Counters["repeated"] != 7 || len(got) != 2 {
		t.Fatalf("%v, %v, %d mails", r.Failures, r.Counters, len(got))
	}
	if read(t, got[0].data).header.Get("Message-Id") != read(t, got[1].data).header.Get("Message-Id") {
		t.Error("a mail that is sent again has another Message-ID")
	}
}

func TestWhatTheServerRefusesForGoodIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"MAIL", "RCPT", "data", "mail", "hello"} {
		s := newServer(t, false)
		s.script(command, "550 never "+command)
		r := try(t, s.options("none"), aci("a", "eleni", "t"), aci("b", "eleni", "t"))
		if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error(), "never "+command) || len(s.received()) != 1 || r.Counters["refused"] != 1 {
			t.Errorf("%s: %v, %d mails, %v", command, r.Failures, len(s.received()), r.Counters)
		}
	}
	s := newServer(t, false)
	s.script("MAIL", "451 a", "451 b", "451 c")
	o := s.options("none")
	o.Attempts = 3
	if r := try(t, o, aci("a", "eleni", "t")); len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error(), "3 times (option attempts)") || r.Counters["given_up"] != 1 {
		t.Errorf("%v", r.Failures)
	}
}

func TestAServerWithoutTLSOrOfAnotherNameGetsNoMail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*server, *Options)
		says  string
	}{
		"no STARTTLS":       {func(s *server, _ *Options) { s.script("EHLO", "250 test") }, "STARTTLS"},
		"unknown authority": {func(_ *server, o *Options) { o.CAFile = "" }, "certificate"},
		"another name":      {func(_ *server, o *Options) { o.Host = "localhost" }, "certificate"},
	} {
		s := newServer(t, false)
		o := s.options("starttls")
		o.Attempts = 1
		c.spoil(s, &o)
		if r := try(t, o, aci("a", "eleni", "t")); len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error(), c.says) || len(s.received()) > 0 {
			t.Errorf("%s: %v", name, r.Failures)
		}
	}
}

type lender map[string]credentials.Secret

func (l lender) Secret(_ context.Context, name string) (credentials.Secret, error) {
	if secret, ok := l[name]; ok {
		return secret, nil
	}
	return credentials.Secret{}, credentials.ErrNotFound
}
func (lender) SecretVersion(string) uint64                     { return 0 }
func (lender) StartOf(context.Context, string) (string, error) { return "", credentials.ErrNotFound }

func TestAServerIsToldWhoWeAre(t *testing.T) {
	t.Parallel()
	basic, err := credentials.NewSecret(credentials.KindBasic, "robot", "hush")
	if err != nil {
		t.Fatal(err)
	}
	bearer, err := credentials.NewSecret(credentials.KindBearer, "", "hush")
	if err != nil {
		t.Fatal(err)
	}
	resources := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) {
		return lender{"smtp": basic, "bearer": bearer, "elsewhere": basic.Within(credentials.Bounds{Hosts: []string{"smtp.b.org"}})}, nil
	})
	for _, tls := range []string{"starttls", "tls", "none"} {
		s := newServer(t, tls == "tls")
		o := s.options(tls)
		o.Secret = "smtp"
		c := stagetest.Case{Type: "mail-out", Options: o, Inputs: []any{aci("a", "eleni", "t")}, Resources: resources}
		if r := stagetest.Try(t, c); len(r.Failures) > 0 || len(s.logins) != 1 || s.logins[0] != `"\x00robot\x00hush" encrypted=`+map[bool]string{true: "true", false: "false"}[tls != "none"] {
			t.Errorf("%s: %v, %q", tls, r.Failures, s.logins)
		}
		s.script("AUTH", "535 wrong")
		if r := stagetest.Try(t, c); len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error(), "535") || strings.Contains(r.Failures[0].Error(), "hush") {
			t.Errorf("%s: %v", tls, r.Failures)
		}
	}
	for name, says := range map[string]string{"bearer": "--kind basic", "elsewhere": "is not for 127.0.0.1", "missing": "secret set stores it"} {
		o := newServer(t, false).options("starttls")
		o.Secret = name
		if err := open(t, o, resources); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// renewing is a password that comes from elsewhere, where it has become another one.
type renewing struct {
	lender
	version uint64
}

func (r *renewing) SecretVersion(string) uint64 { return r.version }

func (r *renewing) RenewSecret(_ context.Context, name string, version uint64) (bool, error) {
	secret, err := r.lender[name].WithValue("hush-2")
	r.lender[name] = secret
	r.version++
	return r.version != version, err
}

func TestAPasswordThatIsRefusedIsReadAnew(t *testing.T) {
	t.Parallel()
	basic, err := credentials.NewSecret(credentials.KindBasic, "robot", "hush-1")
	if err != nil {
		t.Fatal(err)
	}
	source := &renewing{lender: lender{"smtp": basic}}
	resources := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return source, nil })
	s := newServer(t, false)
	o := s.options("starttls")
	o.Secret = "smtp"
	s.script("AUTH", "535 wrong")
	r := stagetest.Try(t, stagetest.Case{Type: "mail-out", Options: o, Inputs: []any{aci("a", "eleni", "t")}, Resources: resources})
	if len(r.Failures) > 0 || source.version != 1 || len(s.logins) != 2 || !strings.Contains(s.logins[1], "hush-2") || r.Counters["secrets_renewed"] != 1 {
		t.Errorf("%v, version %d, %q, %v", r.Failures, source.version, s.logins, r.Counters)
	}
}

func open(t *testing.T, o Options, r *pipeline.Resources) error {
	t.Helper()
	s, err := newStage(o, pipeline.NewEnv("p", "mail", r))
	if err != nil {
		t.Fatal(err)
	}
	return s.(pipeline.Opener).Open(t.Context())
}

func TestCheckTalksToTheServerAndMailsNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	stage, err := newStage(s.options("starttls"), pipeline.NewEnv("p", "mail", nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.(pipeline.Checker).Check(t.Context()); err != nil || len(s.received()) > 0 {
		t.Errorf("%v, %d mails", err, len(s.received()))
	}
	s.script("hello", "554 closed")
	if err := stage.(pipeline.Checker).Check(t.Context()); err == nil {
		t.Error("a server that is closed is well")
	}
}

func TestNonsenseIsRefusedBeforeARun(t *testing.T) {
	t.Parallel()
	good := defaults
	good.Host, good.From = "smtp.levanda.org", "robot@levanda.org"
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Options){
		"host ":       func(o *Options) { o.Host = "smtp.levanda.org:25" },
		"port":        func(o *Options) { o.Port = 70000 },
		"tls":         func(o *Options) { o.TLS, o.Secret = "none", "s" },
		"from":        func(o *Options) { o.From = "nobody" },
		"to":          func(o *Options) { o.To = map[string]string{"eleni": "x\r\nBcc: y@z"} },
		"default_to":  func(o *Options) { o.DefaultTo = "@" },
		"unsubscribe": func(o *Options) { o.Unsubscribe = "https://a/>\r\nBcc: x" },
		"subject":     func(o *Options) { o.Subject = "{{" },
		"text":        func(o *Options) { o.Text = "{{.}" },
		"html":        func(o *Options) { o.HTML = "{{nothing}}" },
		"timeout":     func(o *Options) { o.Timeout = 0 },
		"attempts":    func(o *Options) { o.Attempts = -1 },
		"backoff":     func(o *Options) { o.Backoff = 0 },
		"max_backoff": func(o *Options) { o.MaxBackoff = 1 },
	} {
		o := good
		spoil(&o)
		var fault *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &fault) || fault.Option != strings.TrimSpace(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := good
	o.Host = ""
	for kind, wrong := range map[pipeline.Kind]bool{pipeline.KindOf[*xmlschema.ACI](): true, pipeline.KindOf[any](): true, pipeline.KindOf[*delivery.Message](): false} {
		if err := o.CheckNames([]pipeline.Kind{kind}); (err != nil) != wrong {
			t.Errorf("without a host, given %v: %v", kind, err)
		}
	}
	o = good
	o.Host = "smtp.example.org"
	if err := open(t, o, nil); err == nil || !strings.Contains(err.Error(), "WEBRACE_SMTP") {
		t.Errorf("an example is mailed by: %v", err)
	}
	o = good
	o.CAFile = "mailout.go"
	if err := open(t, o, nil); err == nil || !strings.Contains(err.Error(), "no certificate") {
		t.Errorf("got %v", err)
	}
}

// A message says by which request it is stopped, in place of what the option names, if others cannot read that on the
// way; nothing in its address becomes a header field of its own.
func TestAMessageTellsHowItIsStopped(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	o := s.options("none")
	o.Unsubscribe = "mailto:no@levanda.org"
	const ours, option = "https://alerts.example.org/off/7-ABC", "mailto:no@levanda.org"
	for _, c := range []struct{ given, want, post string }{
		{ours, ours, "List-Unsubscribe=One-Click"}, {"", option, ""}, {"http://127.0.0.1/off/7-ABC", option, ""}, {"https://a/>\r\nBcc: x", option, ""},
	} {
		m := &delivery.Message{
			ID: "m", Owner: "eleni", Transport: delivery.TransportMail, Address: channel.NewAddress("eleni@levanda.org", ""), Subject: "s", Text: "t", Unsubscribe: c.given,
		}
		if r := try(t, o, m); len(r.Failures) > 0 {
			t.Fatal(r.Failures)
		}
		got := s.received()
		l := read(t, got[len(got)-1].data)
		if l.header.Get("List-Unsubscribe") != "<"+c.want+">" || l.header.Get("List-Unsubscribe-Post") != c.post || l.header.Get("Bcc") != "" {
			t.Errorf("%q: %q", c.given, l.header)
		}
	}
}
