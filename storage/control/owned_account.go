package control

import (
	"context"
	"fmt"

	"github.com/webrace/webrace/storage/internal/nanos"
	"github.com/webrace/webrace/xmlschema"
)

// Account returns the owner's account, or [ErrNotFound].
func (o Owned) Account(ctx context.Context) (Account, error) { return o.store.Account(ctx, o.owner) }

// ChangeAccount is [Store.ChangeAccount] of the owner's account. Its state stays as it is, and so does whether they may
// manage the accounts of others.
func (o Owned) ChangeAccount(ctx context.Context, change func(*Account) error) error {
	return o.store.ChangeAccount(ctx, o.owner, func(a *Account) error {
		state, admin := a.State, a.Admin
		err := change(a)
		a.State, a.Admin = state, admin
		return err
	})
}

// Password is [Store.Password] of the owner.
func (o Owned) Password(ctx context.Context) (hash string, err error) {
	return o.store.Password(ctx, o.owner)
}

// SetPassword is [Store.SetPassword] of the owner.
func (o Owned) SetPassword(ctx context.Context, hash string) error {
	return o.store.SetPassword(ctx, o.owner, hash)
}

// Leave has the owner's account leave: their URDs are paused, nobody is logged in any more, and no link or token leads
// anywhere. It returns [ErrNotFound] if there is no account. Whoever serves people erases the owner after a while
// ([Store.EraseOwner]); until then an operator may change the state back, and the URDs stay paused.
func (o Owned) Leave(ctx context.Context) error {
	if _, err := o.Account(ctx); err != nil {
		return err
	}
	var urds []*xmlschema.URD
	for u, err := range o.URDs(ctx) {
		if err != nil {
			return err
		}
		if !u.Paused {
			u.Paused = true
			urds = append(urds, u.URD)
		}
	}
	// Those first: were the account to leave before them, its owner could not ask again where they fail.
	if _, err := o.store.Put(ctx, urds); err != nil {
		return fmt.Errorf("pause the URDs of %s: %w", o.owner, err)
	}
	return o.store.ChangeAccount(ctx, o.owner, func(a *Account) error {
		a.State = AccountLeaving
		return nil
	})
}

// AddToken is [Store.AddToken] of a token of the owner's, whatever owner it names.
func (o Owned) AddToken(ctx context.Context, text string, t Token) error {
	t.Owner = o.owner
	return o.store.AddToken(ctx, text, t)
}

// Token is [Store.Token] of the owner's tokens alone.
func (o Owned) Token(ctx context.Context, text string, purpose Purpose) (Token, error) {
	return one(o.store.tokens(ctx, "hash = ? AND owner = ? AND purpose = ? AND expires > ?", hashOfToken(text), o.owner, string(purpose), nanos.Of(o.store.options.Now())), "token")
}

// UseToken is [Store.UseToken] of the owner's tokens alone.
func (o Owned) UseToken(ctx context.Context, text string, purpose Purpose) (Token, error) {
	return o.store.useToken(ctx, text, purpose, " AND owner = ?", o.owner)
}
