// Package delivery says what items are to the world outside: how they are written, and by which key a
// receiver knows that it has got one before.
//
// It guarantees: a value has the same key in every process and after every restart, and another one as soon
// as what it says differs; an annotation's key holds its id and the version that it speaks of, and nothing
// that changes while it waits.
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

// Key identifies a value.
func Key(v any) (string, error) {
	switch v := v.(type) {
	case *xmlschema.ACI:
		return Digest(v.ID, v.URI, v.Docbase.Digest, fmt.Sprint(v.Docbase.Version)), nil
	case *webrace.Notice:
		return Digest("notice", v.ID), nil
	}
	written, err := JSON(v)
	return Digest(string(written)), err
}

// Keys identifies a list of values, in their order. That of a single one is its own.
func Keys(values []any) (string, error) {
	keys := make([]string, len(values))
	for i, v := range values {
		key, err := Key(v)
		if err != nil {
			return "", err
		}
		keys[i] = key
	}
	if len(keys) == 1 {
		return keys[0], nil
	}
	return Digest(keys...), nil
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

// Values are the values of some items, one after the other; what the stage batch has put together is taken
// apart.
func Values(its []*pipeline.Item) []any {
	var all []any
	for _, it := range its {
		if list, ok := it.Value.(pipeline.List); ok {
			all = append(all, list...)
		} else {
			all = append(all, it.Value)
		}
	}
	return all
}

// Secrets are what the program lends to its stages to identify themselves with. The zero value has none.
type Secrets struct{ open credentials.Open }

// OpenSecrets finds the secrets that a stage of this environment may use.
func OpenSecrets(env *pipeline.Env) (Secrets, error) {
	open, err := pipeline.Resource[credentials.Open](env)
	return Secrets{open}, err
}

// Get returns the secret of a name as it is now. The error says what to do about one that is not there.
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
	return secret, err
}

// Version says which of the secrets of a name that there have been is the one that Get returns.
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
