package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"net/url"

	"github.com/webrace/webrace/internal/credentials"
)

// SecretName is the name of a secret that an owner calls by a name of their own. URDs use it.
func SecretName(owner, name string) string { return url.PathEscape(owner) + "/" + name }

// Secrets returns what may be told of the secrets that the owner may use: their own, and those granted to them, which
// have another owner. They are in the order of their names.
func (o Owned) Secrets(ctx context.Context) iter.Seq2[SecretInfo, error] {
	return func(yield func(SecretInfo, error) bool) {
		granted := make(map[string]bool)
		for name, err := range rows(ctx, o.store, "list secrets of "+o.owner, scanString, "SELECT name FROM secret_grant WHERE owner = ?", o.owner) {
			if err != nil {
				yield(SecretInfo{}, err)
				return
			}
			granted[name] = true
		}
		for info, err := range o.store.Secrets(ctx) {
			if err == nil && info.Owner != o.owner && !granted[info.Name] {
				continue
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// SetSecret is [Store.SetSecret] of a secret of the owner's, under the [SecretName] of a name of their own. One that
// another has under that name, as the operator may, is a [TakenError].
func (o Owned) SetSecret(ctx context.Context, name string, secret credentials.Secret) error {
	if !secret.Origin().IsZero() {
		return fmt.Errorf("set secret %s: the secrets of a person are stored, and come from no file and no command", name)
	}
	full := SecretName(o.owner, name)
	return o.store.setSecret(ctx, full, secret, func(tx *sql.Tx) error {
		err := o.ownsSecret(ctx, tx, full)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}, o.owner)
}

// DeleteSecret removes one of the owner's secrets, also while URDs use it; [ErrNotFound] if it is not theirs.
func (o Owned) DeleteSecret(ctx context.Context, name string) error {
	return o.store.deleteSecret(ctx, SecretName(o.owner, name), func(tx *sql.Tx) error {
		err := o.ownsSecret(ctx, tx, SecretName(o.owner, name))
		if errors.As(err, new(*TakenError)) {
			err = ErrNotFound
		}
		return err
	})
}

// ownsSecret returns [ErrNotFound] if there is no secret of a name, and a [TakenError] if it is another's.
func (o Owned) ownsSecret(ctx context.Context, tx *sql.Tx, name string) error {
	var owner string
	err := tx.QueryRowContext(ctx, "SELECT owner FROM secret WHERE name = ?", name).Scan(&owner)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case err == nil && owner != o.owner:
		return &TakenError{What: "secret", Name: name}
	}
	return err
}
