package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/webrace/webrace/internal/credentials"
)

var _ credentials.Renewer = (*Store)(nil)

// plainSecret is what is encrypted of a secret: its name and its value, or, in place of the value, where it comes from.
func plainSecret(secret credentials.Secret) ([]byte, error) {
	name, value := secret.Reveal()
	if secret.Origin().IsZero() {
		return json.Marshal([]string{name, value})
	}
	origin, err := json.Marshal(secret.Origin())
	if err != nil {
		return nil, err
	}
	return json.Marshal([]string{name, "", string(origin)})
}

// unread is the value of a secret that has an origin, until it is read from there.
const unread = "(not read)"

// parsePlainSecret reads what plainSecret wrote. No error quotes it.
func parsePlainSecret(kind credentials.Kind, plain []byte) (credentials.Secret, error) {
	var parts []string
	var origin credentials.Origin
	broken := errors.New("what was encrypted is not a secret")
	err := json.Unmarshal(plain, &parts)
	switch {
	case err != nil || len(parts) != 2 && len(parts) != 3:
		return credentials.Secret{}, broken
	case len(parts) == 2:
		return credentials.NewSecret(kind, parts[0], parts[1])
	}
	if err := json.Unmarshal([]byte(parts[2]), &origin); err != nil || origin.IsZero() || origin.Check() != nil {
		return credentials.Secret{}, broken
	}
	secret, err := credentials.NewSecret(kind, parts[0], unread)
	return secret.From(origin), err
}

// Secret returns the secret of a name, or [ErrNotFound]. One that comes from a file or a command is read from there
// when it is first wanted, and again when it was refused ([Store.RenewSecret]).
func (s *Store) Secret(ctx context.Context, name string) (credentials.Secret, error) {
	secret, err := s.kept(ctx, name)
	origin := secret.Origin()
	if err != nil || origin.IsZero() {
		return secret, err
	}
	value, err := s.readings.Value(ctx, name, origin)
	if err == nil {
		secret, err = secret.WithValue(value)
	}
	if err != nil {
		return credentials.Secret{}, fmt.Errorf("secret %s cannot be read from where it comes from (webrace-store secret list): %w", name, err)
	}
	return secret, nil
}

// RenewSecret implements [credentials.Renewer].
func (s *Store) RenewSecret(ctx context.Context, name string, version uint64) (renewed bool, err error) {
	if s.SecretVersion(name) != version {
		return true, nil
	}
	secret, err := s.kept(ctx, name)
	if err != nil || secret.Origin().IsZero() {
		return false, err
	}
	_, err = s.readings.Renew(ctx, name, secret.Origin(), func() { s.secretVersions.next(name) })
	if err != nil {
		err = fmt.Errorf("secret %s was refused, and cannot be read anew from where it comes from (webrace-store secret list): %w", name, err)
	}
	return s.SecretVersion(name) != version, err
}

// changedSecret notes that a secret was set, or removed.
func (s *Store) changedSecret(name string) {
	s.readings.Forget(name)
	s.secretVersions.next(name)
}
