// Package delivery determines what items are to the world outside: how they are written, and by which key a
// receiver knows that it has got one before.
//
// It guarantees: a value has the key of its item ([pipeline.KeyOf]), which is the same whenever the item comes again;
// an annotation's key holds its id and the version that it speaks of, and nothing that changes while it waits.
package delivery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/xmlschema"
)

// JSON writes a value without a line end: a text as a string (bytes in base64), and anything else as the header of
// its codec; an annotation thus as an [xmlschema.Record].
func JSON(v any) ([]byte, error) {
	switch v.(type) {
	case *xmlschema.ACI, string, []byte:
	default:
		_, header, _, err := codec.Encode(v)
		return header, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write a %T as JSON: %w", v, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Parcel is a value on its way.
type Parcel struct {
	Value any
	Key   string            // by which a receiver knows it
	Meta  map[string]string // of its item
}

// Parcels are the values of some items, one after the other; what the stage batch has put together is taken apart.
func Parcels(its ...*pipeline.Item) []Parcel {
	var all []Parcel
	for _, it := range its {
		list, ok := it.Value.(pipeline.List)
		if !ok {
			all = append(all, Parcel{it.Value, key(it.Value, func() string { return pipeline.KeyOf(it) }), it.Meta})
			continue
		}
		keys := pipeline.KeysOf(it, len(list))
		for i, v := range list {
			all = append(all, Parcel{v, key(v, func() string { return keys[i] }), it.Meta})
		}
	}
	return all
}

// key returns the key of a value that identifies itself, or else that of its item.
func key(v any, item func() string) string {
	switch v := v.(type) {
	case *xmlschema.ACI:
		return Digest(v.ID, v.URI, v.Docbase.Digest, fmt.Sprint(v.Docbase.Version))
	case *webrace.Notice:
		return Digest("notice", v.ID)
	}
	return item()
}

// Together is the key of some values that are sent as one. That of a single one is its own.
func Together(parcels []Parcel) string {
	if len(parcels) == 1 {
		return parcels[0].Key
	}
	keys := make([]string, len(parcels))
	for i, p := range parcels {
		keys[i] = p.Key
	}
	return Digest(keys...)
}

// Digest is a key of some strings, of which none runs into the next.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		_, _ = io.WriteString(h, p)
	}
	return hex.EncodeToString(h.Sum(nil)[:20])
}

// Secrets are what the program lends to its stages to identify themselves with. The zero value has none.
type Secrets struct{ open credentials.Open }

// OpenSecrets finds the secrets that a stage of this environment may use.
func OpenSecrets(env *pipeline.Env) (Secrets, error) {
	open, err := pipeline.Resource[credentials.Open](env)
	return Secrets{open}, err
}

// Get returns the secret of a name as it is now. The error tells what to do about one that is not there.
func (s Secrets) Get(ctx context.Context, name string) (credentials.Secret, error) {
	if s.open == nil {
		return credentials.Secret{}, fmt.Errorf("secret %s: this program lends none", name)
	}
	source, err := s.open()
	if err != nil {
		return credentials.Secret{}, err
	}
	secret, err := source.Secret(ctx, name)
	if errors.Is(err, credentials.ErrNotFound) {
		return secret, fmt.Errorf("no secret is named %s: webrace-store secret set stores it", name)
	}
	switch secret.Kind() {
	case credentials.KindEd25519:
		return credentials.Secret{}, errors.New(credentials.KeyIsNotSent(name))
	case credentials.KindNone:
		return credentials.Secret{}, fmt.Errorf("secret %s is of kind none, and holds nothing: name another", name)
	}
	return secret, err
}

// Identify adds the fields to those of a request to a URL that tell who we are, by the secret of a name; with nil it
// finds out whether that could be. A secret goes to the hosts that it is for, and by https alone unless it is stored as
// one that may go by plain http.
func (s Secrets) Identify(ctx context.Context, name string, to *url.URL, fields http.Header) error {
	secret, err := s.Get(ctx, name)
	bounds := secret.Bounds()
	switch {
	case err != nil:
		return fmt.Errorf("option secret: %w", err)
	case len(bounds.Hosts) > 0 && !bounds.Admit(to.Host):
		return fmt.Errorf("option secret: %s is not for %s: webrace-store secret set %s --host %[2]s … allows it", name, to.Host, name)
	case to.Scheme != "https" && !bounds.Insecure:
		return fmt.Errorf("option secret: %s is not sent by plain http: webrace-store secret set %[1]s --insecure … allows it", name)
	case fields != nil:
		present(secret, fields)
	}
	return nil
}

func present(secret credentials.Secret, fields http.Header) {
	name, value := secret.Reveal()
	switch secret.Kind() {
	case credentials.KindBasic:
		r := http.Request{Header: fields}
		r.SetBasicAuth(name, value)
	case credentials.KindBearer:
		fields.Set("Authorization", "Bearer "+value)
	case credentials.KindHeader:
		fields.Set(name, value)
	case credentials.KindCookie:
		fields.Set("Cookie", value)
	}
}

// Version returns which of the secrets of a name that there have been is the one that Get returns.
func (s Secrets) Version(name string) uint64 {
	if s.open == nil || name == "" {
		return 0
	}
	source, err := s.open()
	if err != nil {
		return 0
	}
	return source.SecretVersion(name)
}

// Renew has a secret read anew that was refused as it was at a version, if it comes from a file or a command, and
// reports whether there is another one now.
func (s Secrets) Renew(ctx context.Context, name string, version uint64) (renewed bool, err error) {
	if s.open == nil || name == "" {
		return false, nil
	}
	source, err := s.open()
	if err != nil {
		return false, err
	}
	if renewer, ok := source.(credentials.Renewer); ok {
		return renewer.RenewSecret(ctx, name, version)
	}
	return false, nil
}

// Placeholder reports whether a host is one that examples name, which has no owner (RFC 2606).
func Placeholder(host string) bool {
	for _, name := range []string{"example", "example.org", "example.com", "example.net"} {
		if host == name || len(host) > len(name) && host[len(host)-len(name)-1] == '.' && host[len(host)-len(name):] == name {
			return true
		}
	}
	return false
}
