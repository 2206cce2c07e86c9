package controltest

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func (s *session) basic(password string) credentials.Secret {
	secret, err := credentials.NewSecret(credentials.KindBasic, "eleni", password)
	s.ok(err)
	return secret
}

func secretsAreKept(s *session) {
	user := urd("a", "eleni", "http://a.example/")
	user.Secret = "bank"
	s.put(user)
	s.ok(s.store.SetSecret(s.ctx, "bank", s.basic("hush")))
	n, err := s.store.RotateKey(s.ctx)
	s.ok(err)
	s.same("rotated", n, 1)
	s.reopen()
	got, err := s.store.Secret(s.ctx, "bank")
	s.ok(err)
	name, value := got.Reveal()
	s.must(got.Kind() == credentials.KindBasic && name == "eleni" && value == "hush", "the secret is another")
	infos := all(s, s.store.Secrets(s.ctx))
	s.must(len(infos) == 1 && infos[0].Name == "bank" && !infos[0].Created.IsZero(), "infos: %+v", infos)
	var used *control.SecretInUseError
	s.must(errors.As(s.store.DeleteSecret(s.ctx, "bank", false), &used) && len(used.URDs) == 1, "a secret in use is deleted")
	s.ok(s.store.DeleteSecret(s.ctx, "bank", true))
	_, err = s.store.Secret(s.ctx, "bank")
	s.must(errors.Is(err, control.ErrNotFound), "reading what was deleted: %v", err)
}

func (s *session) session(secret string) string {
	cookies, err := s.store.Session(s.ctx, secret)
	s.ok(err)
	return cookies
}

func sessionsEndWithTheirSecret(s *session) {
	s.ok(s.store.SetSecret(s.ctx, "bank", s.basic("hush")))
	s.same("cookies that nobody kept", s.session("bank"), "")
	s.ok(s.store.SetSession(s.ctx, "bank", "first"))
	s.ok(s.store.SetSession(s.ctx, "bank", "second"))
	n, err := s.store.RotateKey(s.ctx)
	s.ok(err)
	s.same("rotated, of which a session is none", n, 1)
	s.reopen()
	s.same("cookies", s.session("bank"), "second")
	s.same("secrets", len(all(s, s.store.Secrets(s.ctx))), 1)
	s.ok(s.store.SetSecret(s.ctx, "bank", s.basic("hush")))
	s.same("cookies of a secret that was set anew", s.session("bank"), "")
	s.ok(s.store.SetSession(s.ctx, "bank", "third"))
	s.ok(s.store.DeleteSecret(s.ctx, "bank", false))
	s.same("cookies of a secret that was removed", s.session("bank"), "")
}

func secretsAreReadElsewhere(s *session) {
	file := filepath.Join(s.dir, "token")
	become := func(value string) { s.ok(os.WriteFile(file, []byte(value), 0o600)) }
	become("one")
	s.ok(s.store.SetSecret(s.ctx, "bank", s.basic("zero").From(credentials.Origin{File: file})))
	s.reopen()
	value := func() string {
		secret, err := s.store.Secret(s.ctx, "bank")
		s.ok(err)
		_, value := secret.Reveal()
		return value
	}
	s.same("value", value(), "one")
	become("two")
	s.same("value that was not refused", value(), "one")
	version := s.store.SecretVersion("bank")
	for _, who := range []string{"first", "second"} {
		renewed, err := s.store.RenewSecret(s.ctx, "bank", version)
		s.must(renewed && err == nil, "the %s who was refused finds no other: %v", who, err)
	}
	s.same("value after it was refused", value(), "two")
	version = s.store.SecretVersion("bank")
	s.ok(s.store.SetSecret(s.ctx, "bank", s.basic("three")))
	s.must(s.store.SecretVersion("bank") != version, "setting a secret is no new version")
	s.same("value that is stored", value(), "three")
	version = s.store.SecretVersion("bank")
	renewed, err := s.store.RenewSecret(s.ctx, "bank", version)
	s.must(!renewed && err == nil, "a secret that is stored was renewed: %v", err)
	s.ok(s.store.SetSecret(s.ctx, "other", s.basic("four")))
	s.same("version after another was set", s.store.SecretVersion("bank"), version)
	s.ok(s.store.DeleteSecret(s.ctx, "bank", false))
	s.must(s.store.SecretVersion("bank") != version, "removing a secret is no new version")

	named := func(name string) *xmlschema.URD {
		u := urd(name, "eleni", "http://a.example/")
		u.Secret = name
		return u
	}
	unknown, err := s.store.UnknownSecrets(s.ctx, []*xmlschema.URD{named("shop"), named("other"), named("bank"), named("shop"), urd("none", "eleni", "http://a.example/")})
	s.ok(err)
	s.same("names of no secret", unknown, "[bank shop]")
}
