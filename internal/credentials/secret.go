package credentials

import (
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/textproto"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
)

// Kind is how a secret is presented to a source.
type Kind string

const (
	KindBasic  Kind = "basic"  // a user and a password
	KindBearer Kind = "bearer" // a token
	KindHeader Kind = "header" // the name of a header field and its value
	KindCookie Kind = "cookie" // what a Cookie field holds
	KindForm   Kind = "form"   // what is filled into a form to log in ([Form])
	KindNone   Kind = "none"   // nothing: what is asked for in its name is kept apart, for addresses that are secrets

	// KindEd25519 is of a private key that signs requests (internal/httpsign). It is presented to nobody;
	// operators set it.
	KindEd25519 Kind = "ed25519"

	// KindSession is of the cookies that a log-in gave. The program keeps them beside the secret that was filled in; nobody
	// sets them.
	KindSession Kind = "session"
)

// Kinds are those that people set, in the order in which they are offered. The caller must not change them.
func Kinds() []Kind { return kinds }

var kinds = []Kind{KindBasic, KindBearer, KindHeader, KindCookie, KindForm, KindNone}

// Secret is what a source wants to see before it shows a document. However it is printed, logged or
// marshalled it reads [redacted]; only [Secret.Reveal] returns it.
type Secret struct{ v func() secretValue } // the one thing that reflection, and so fmt, cannot look into

type secretValue struct {
	kind        Kind
	name, value string
	bounds      Bounds
	origin      Origin
}

// NewSecret returns a secret: basic takes a user and a password, header a name and a value, none nothing, the
// others a value alone. Whether that of kind ed25519 is a key is found out when it is to sign. One of kind form is
// made by [NewForm].
func NewSecret(kind Kind, name, value string) (Secret, error) {
	named := kind == KindBasic || kind == KindHeader || kind == KindForm
	switch {
	case kind != KindSession && kind != KindEd25519 && !slices.Contains(kinds, kind):
		return Secret{}, fmt.Errorf("a secret of kind %q: it is %s", kind, suggest.Or(append(slices.Clip(kinds), KindEd25519)))
	case kind == KindNone && value != "":
		return Secret{}, errors.New("a secret of kind none holds nothing")
	case value == "" && kind != KindNone:
		return Secret{}, errors.New("the secret is empty")
	case named && name == "":
		return Secret{}, fmt.Errorf("a secret of kind %s needs a name: of the user, or of the header field", kind)
	case !named && name != "":
		return Secret{}, fmt.Errorf("a secret of kind %s has no name", kind)
	case kind == KindBasic && strings.Contains(name, ":"):
		return Secret{}, errors.New("the name of a user must not contain a colon")
	case kind == KindHeader && strings.ContainsFunc(name, notInToken):
		return Secret{}, fmt.Errorf("%q is not the name of a header field", name)
	case kind == KindHeader && slices.Contains(ours, textproto.CanonicalMIMEHeaderKey(name)):
		return Secret{}, fmt.Errorf("the header field %s is not for a secret", name)
	case kind != KindEd25519 && strings.ContainsFunc(name+value, func(r rune) bool { return r < ' ' || r == 0x7f }): // PEM has lines
		return Secret{}, errors.New("a secret must not contain line breaks or other control characters")
	}
	if kind == KindForm {
		if _, err := parseForm(name); err != nil {
			return Secret{}, err
		}
	}
	return Secret{func() secretValue { return secretValue{kind: kind, name: name, value: value} }}, nil
}

// ours are fields that tell how a message is to be read, and to whom it goes.
var ours = []string{"Host", "Connection", "Content-Length", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Expect"}

// Within returns the secret, to be sent within bounds.
func (s Secret) Within(b Bounds) Secret {
	if s.v == nil {
		return s
	}
	v := s.v()
	v.bounds = b
	return Secret{func() secretValue { return v }}
}

// Bounds returns where it may be sent.
func (s Secret) Bounds() Bounds {
	if s.v == nil {
		return Bounds{}
	}
	return s.v().bounds
}

// From returns the secret as one that comes from elsewhere, and is not stored itself.
func (s Secret) From(o Origin) Secret {
	if s.v == nil {
		return s
	}
	v := s.v()
	v.origin = o
	return Secret{func() secretValue { return v }}
}

// WithValue returns the secret with another value, which has to be one that it can have.
func (s Secret) WithValue(value string) (Secret, error) {
	name, _ := s.Reveal()
	other, err := NewSecret(s.Kind(), name, value)
	return other.Within(s.Bounds()).From(s.Origin()), err
}

// Origin returns where it comes from; zero if it is stored.
func (s Secret) Origin() Origin {
	if s.v == nil {
		return Origin{}
	}
	return s.v().origin
}

// notInToken is by RFC 9110, section 5.6.2.
func notInToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// Kind returns how it is presented; empty for the zero secret.
func (s Secret) Kind() Kind {
	if s.v == nil {
		return ""
	}
	return s.v().kind
}

// Reveal returns the secret: user and password, or the name and value of a header field, or only a value.
func (s Secret) Reveal() (name, value string) {
	if s.v == nil {
		return "", ""
	}
	v := s.v()
	return v.name, v.value
}

const redacted = "[redacted]"

var (
	_ fmt.Formatter  = Secret{}
	_ fmt.Stringer   = Secret{}
	_ fmt.GoStringer = Secret{}
	_ slog.LogValuer = Secret{}
	_ xml.Marshaler  = Secret{}
)

func (Secret) String() string               { return redacted }
func (Secret) GoString() string             { return redacted }
func (Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format is for every verb.
func (Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) }

func (Secret) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	return e.EncodeElement(redacted, start)
}
