package urlnorm

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func TestAddressesOfMessages(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"<960830.1639@XIson.com>":       "mid:960830.1639@XIson.com",
		"960830.1639@XIson.com":         "mid:960830.1639@XIson.com",
		" <a@b>\r\n":                    "mid:a@b",
		"<org/name/pull/1@example.org>": "mid:org%2Fname%2Fpull%2F1@example.org",
		`<"a b"@[127.0.0.1]>`:           "mid:%22a%20b%22@%5B127.0.0.1%5D",
		"<100%25@b>":                    "mid:100%2525@b",
		"<a#b?c@d>":                     "mid:a%23b%3Fc@d",
		"<é\x00\xff@d>":                 "mid:%C3%A9%00%FF@d",
	} {
		if got, err := OfMessage(id); got != want || err != nil {
			t.Errorf("%q: %s, %v", id, got, err)
		}
	}
	for _, id := range []string{"", " ", "<>", "<a@b", "<" + strings.Repeat("%", MaxLength/3+1) + ">"} {
		if got, err := OfMessage(id); err == nil || got != "" {
			t.Errorf("%.20q is of %.20q", id, got)
		}
	}
}

func TestAddressesOfArticles(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"<a/b@c>": "news:a%2Fb@c", "a@b": "news:a@b", "<a@b>x@c>": "news:a@b%3Ex@c"} {
		if got, err := OfArticle(id); got != want || err != nil {
			t.Errorf("%q: %s, %v", id, got, err)
		}
	}
	for _, id := range []string{"", "<>", "<a@b", "comp.lang.go", "<comp.lang.go>", "*", strings.Repeat("@", MaxLength)} {
		if got, err := OfArticle(id); err == nil || got != "" {
			t.Errorf("%.20q is of %.20q", id, got)
		}
	}
}

func TestAddressesThatPeopleGiveAreNormalized(t *testing.T) {
	t.Parallel()
	bytes := OfBytes([]byte("x"))
	for given, want := range map[string]string{
		"MID:a@b":                  "mid:a@b",
		"mid:org/name@b":           "mid:org%2Fname@b",
		"mid:%61@b":                "mid:a@b",
		"mid:<a@b>":                "mid:%3Ca@b%3E", // who wrote this has quoted an ID too much: no document has it
		"News:a/%62@c":             "news:a%2Fb@c",
		"NI" + bytes[len("ni"):]:   bytes,
		"HTTP://A.example#" + post: "http://a.example/#" + post,
		"DB://orders":              "db://orders",
		"db://orders?b=2&a=1":      "db://orders?a=1&b=2",
		"db://orders/%37?a=é":      "db://orders/7?a=%C3%A9",
		"db://orders/a b/c%2Fd":    "db://orders/a%20b/c%2Fd",
		"db://orders/":             "db://orders/", // of the row whose key is empty
	} {
		if got, err := ParseAddress(given); got != want || err != nil {
			t.Errorf("%s: %s, %v", given, got, err)
		}
		if !HasAddress(given) {
			t.Errorf("%s begins as no address does", given)
		}
	}
	for given, want := range map[string]error{
		"":                                      ErrInvalid,
		"mid":                                   ErrInvalid,
		"ni":                                    ErrInvalid,
		"db":                                    ErrInvalid,
		"mid:":                                  ErrInvalid,
		"mid:%6@b":                              ErrInvalid,
		"news:comp.lang.go":                     ErrInvalid, // a newsgroup
		"news:":                                 ErrInvalid,
		"news:*":                                ErrInvalid,
		"nntp://a.example/comp.lang.go/1":       ErrScheme,
		"ni:///sha-256;x":                       ErrInvalid,
		"ni:///sha-1;AAAA":                      ErrInvalid,
		"ni://a.example" + bytes[len("ni://"):]: ErrInvalid,
		bytes + "A":                             ErrInvalid,
		bytes[:len(bytes)-1] + "B":              ErrInvalid, // bits beyond the last
		"imap://a.example/INBOX":                ErrScheme,
		"db:orders":                             ErrInvalid,
		"db://":                                 ErrInvalid,
		"db:///7":                               ErrInvalid,
		"db://a:1/7":                            ErrInvalid,
		"db://orders/%6":                        ErrInvalid,
		"db://orders?a=%6":                      ErrInvalid,
		"db://orders/7#a":                       ErrInvalid,
		"db://orders/" + strings.Repeat("/", MaxLength): ErrLength,
		"mid:" + strings.Repeat("a", MaxLength):         ErrLength,
		"mid:" + strings.Repeat("/", MaxLength-10):      ErrLength,
	} {
		if got, err := ParseAddress(given); !errors.Is(err, want) || got != "" {
			t.Errorf("%.60s: %q, %v", given, got, err)
		}
	}
}

// TestAddressesOfRows have the key behind the name of their query, whatever it is.
func TestAddressesOfRows(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"7": "db://orders/7?region=eu", "a/b": "db://orders/a%2Fb?region=eu", "é ?#%": "db://orders/%C3%A9%20%3F%23%25?region=eu", "..": "db://orders/..?region=eu", "": "db://orders/?region=eu",
	} {
		got, err := OfRow("db://orders?region=eu", EscapeKey(key))
		if again, wrong := ParseAddress(got); got != want || again != want || err != nil || wrong != nil {
			t.Errorf("%q: %s, %v; read again %s, %v", key, got, err, again, wrong)
		}
	}
	if got, err := OfRow("db://orders", EscapeKey("7")+"/"+EscapeKey("eu")); got != "db://orders/7/eu" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := OfRow("db://orders", strings.Repeat("a", MaxLength)); !errors.Is(err, ErrLength) || got != "" {
		t.Errorf("%.60s, %v", got, err)
	}
}

// TestNoPageLinksToAMessage: what stands on a page is refused, so that no visitor is led to somebody's mail, or rows.
func TestNoPageLinksToAMessage(t *testing.T) {
	t.Parallel()
	base, err := NewBase("http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"mid:a@b", "MID:a@b", "news:a@b", "news:comp.lang.go", "nntp://a.example/b", OfBytes(nil), "db://orders", "db://orders/7?region=eu"} {
		if got, err := Parse(link); err == nil {
			t.Errorf("%s is parsed as %s", link, got)
		}
		if got, err := base.Resolve([]byte(link)); err == nil {
			t.Errorf("%s leads to %s", link, got)
		}
	}
}

// TestAMessageLinksToTheWeb by absolute URLs alone, unless it tells where it is from.
func TestAMessageLinksToTheWeb(t *testing.T) {
	t.Parallel()
	base, err := NewBase("MID:a/b@a.example")
	if err != nil || base.String() != "mid:a%2Fb@a.example" {
		t.Fatal(base, err)
	}
	for link, want := range map[string]string{
		"https://A.example/b/../c#x": "https://a.example/c", "HTTP:a.example": "http://a.example/", "http://é.example": "http://xn--9ca.example/",
		"": "", "#top": "", "/a": "", "a": "", "?a": "", "//a.example/": "", "mid:c@d": "", "mailto:a@b": "", "https:": "",
	} {
		got, err := base.InEncoding("koi8-r").Resolve([]byte(link))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", link, got, err)
		}
	}
	from, err := base.Rebase([]byte("https://a.example/b/"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := from.Resolve([]byte("c")); got != "https://a.example/b/c" {
		t.Errorf("%s, %v", got, err)
	}
}

// An address is its own normal form, has nothing that a file of lines would break at, is of no host, and has the ID
// that it was made of.
func FuzzAddresses(f *testing.F) {
	for _, text := range []string{"a@b", "<a>", "a/b#c?d%20%", "mid:%41@b", "news:%41@b", "news:a", "ni:///sha-256;", "\x00\xff é", "http://a.example/#" + post, "db://orders/7?b=1&a=2", "db://a/%2F/%FF?a=;&+"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if once, err := ParseAddress(text); err == nil {
			if twice, err := ParseAddress(once); twice != once || err != nil {
				t.Fatalf("%q becomes %q, and then %q: %v", text, once, twice, err)
			}
			if strings.ContainsFunc(once, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || !HasAddress(once) {
				t.Fatalf("%q becomes %q", text, once)
			}
		}
		if address, err := OfMessage("<" + text + ">"); err == nil {
			id, ok := MessageID(address)
			if again, err := ParseAddress(address); !ok || id != text || again != address || err != nil || Host(address) != "" {
				t.Fatalf("%q has the address %q, and that the ID %q, or becomes %q: %v", text, address, id, again, err)
			}
		}
		if address, err := OfArticle("<" + text + ">"); err == nil {
			id, ok := MessageID(address)
			if again, err := ParseAddress(address); !ok || id != text || again != address || err != nil || Host(address) != "" {
				t.Fatalf("%q has the address %q, and that the ID %q, or becomes %q: %v", text, address, id, again, err)
			}
		}
		if row, err := OfRow("db://orders?a=1", EscapeKey(text)); err == nil {
			if again, err := ParseAddress(row); again != row || err != nil {
				t.Fatalf("the row %q has the address %q, which becomes %q: %v", text, row, again, err)
			}
		}
		sum := sha256.Sum256([]byte(text))
		if address := OfBytes([]byte(text)); address != "ni:///sha-256;"+base64.RawURLEncoding.EncodeToString(sum[:]) {
			t.Fatal(address)
		}
	})
}
