package controltest

import (
	"errors"
	"strings"
	"time"

	"github.com/webrace/webrace/storage/control"
)

func ownAccountsAreChanged(s *session) {
	later := time.Now().Add(time.Hour)
	eleni, costas, nobody := s.account("eleni"), s.account("costas"), s.store.Of("nobody")
	s.ok(eleni.ChangeAccount(s.ctx, func(a *control.Account) error {
		a.Owner, a.State, a.Admin, a.Mail, a.Profile = "costas", control.AccountLocked, true, "new@a.example", []byte("{}")
		return nil
	}))
	a, err := eleni.Account(s.ctx)
	s.ok(err)
	s.must(a.Owner == "eleni" && a.State == control.AccountActive && !a.Admin && a.Mail == "new@a.example" && string(a.Profile) == "{}", "her account is %+v", a)
	s.taken(eleni.ChangeAccount(s.ctx, func(a *control.Account) error { a.Mail = "COSTAS@a.example"; return nil }), "mail address")
	refused := errors.New("refused")
	s.must(errors.Is(eleni.ChangeAccount(s.ctx, func(a *control.Account) error { a.Mail = ""; return refused }), refused), "a change that fails is made")
	is, err := costas.Account(s.ctx)
	s.ok(err)
	s.must(is.Mail == "costas@a.example" && is.State == control.AccountActive, "his account is changed: %+v", is)
	_, err = nobody.Account(s.ctx)
	s.absent("the account of nobody", err)
	s.absent("changing nobody's", nobody.ChangeAccount(s.ctx, func(*control.Account) error { return nil }))

	s.ok(eleni.AddToken(s.ctx, "link", control.Token{Owner: "costas", Purpose: control.PurposeConfirm, Data: []byte("data"), Expires: later}))
	s.absent("a token of nobody's", nobody.AddToken(s.ctx, "other", control.Token{Purpose: control.PurposeConfirm, Expires: later}))
	s.reopen()
	eleni, costas = s.store.Of("eleni"), s.store.Of("costas")
	_, err = costas.Token(s.ctx, "link", control.PurposeConfirm)
	s.absent("reading another's token", err)
	_, err = costas.UseToken(s.ctx, "link", control.PurposeConfirm)
	s.absent("using another's token", err)
	_, err = eleni.Token(s.ctx, "link", control.PurposeReset)
	s.absent("a token for something else", err)
	for range 2 {
		t, err := eleni.Token(s.ctx, "link", control.PurposeConfirm)
		s.ok(err)
		s.must(t.Owner == "eleni" && string(t.Data) == "data", "the token is %+v", t)
	}
	_, err = eleni.UseToken(s.ctx, "link", control.PurposeConfirm)
	s.ok(err)
	_, err = eleni.UseToken(s.ctx, "link", control.PurposeConfirm)
	s.absent("using a token twice", err)

	s.ok(s.store.PutWebSession(s.ctx, control.WebSession{Hash: "his", Owner: "costas", Expires: later}))
	s.ok(s.store.PutWebSession(s.ctx, control.WebSession{Hash: "hers", Owner: "eleni", Expires: later}))
	s.ok(eleni.SetPassword(s.ctx, "hash"))
	hash, err := eleni.Password(s.ctx)
	s.ok(err)
	s.same("her hash", hash, "hash")
	hash, err = costas.Password(s.ctx)
	s.ok(err)
	s.same("his hash", hash, "")
	s.same("her sessions", len(all(s, eleni.WebSessions(s.ctx))), 0)
	s.same("his sessions", len(all(s, costas.WebSessions(s.ctx))), 1)
	s.absent("the password of nobody", s.store.Of("nobody").SetPassword(s.ctx, "hash"))
}

func leaversRest(s *session) {
	later := time.Now().Add(time.Hour)
	s.put(urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/"), urd("c", "costas", "http://c.example/"))
	named := urd("d", "eleni", "http://d.example/")
	named.Secret = "operators" // which she could not name herself
	s.ok(s.store.SetSecret(s.ctx, "operators", s.basic("hush")))
	s.put(named)
	eleni := s.account("eleni")
	s.account("costas")
	s.ok(s.store.PutWebSession(s.ctx, control.WebSession{Hash: "hers", Owner: "eleni", Expires: later}))
	s.ok(eleni.AddToken(s.ctx, "program", control.Token{Purpose: control.PurposeAPI, Expires: later}))
	s.absent("nobody leaves", s.store.Of("nobody").Leave(s.ctx))
	for range 2 {
		s.ok(eleni.Leave(s.ctx))
		s.reopen()
		eleni = s.store.Of("eleni")
	}
	a, err := eleni.Account(s.ctx)
	s.ok(err)
	s.must(a.State == control.AccountLeaving && a.Since.After(a.Created), "her account: %+v", a)
	_, err = s.store.WebSession(s.ctx, "hers")
	s.absent("her session", err)
	_, err = s.store.Token(s.ctx, "program", control.PurposeAPI)
	s.absent("her token", err)
	var rest []string
	for _, u := range all(s, s.store.All(s.ctx)) {
		if u.Paused {
			rest = append(rest, u.ID)
		}
	}
	s.same("what rests", strings.Join(rest, " "), "a b d")
	his, err := s.store.Account(s.ctx, "costas")
	s.ok(err)
	s.same("his account", his.State, control.AccountActive)
}
