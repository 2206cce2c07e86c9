package controltest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// account adds an account that is active.
func (s *session) account(owner string) control.Owned {
	s.ok(s.store.AddAccount(s.ctx, control.Account{Owner: owner, State: control.AccountActive, Mail: owner + "@a.example"}, true))
	return s.store.Of(owner)
}

func (s *session) taken(err error, what string) {
	var taken *control.TakenError
	s.must(errors.As(err, &taken) && taken.What == what, "what is taken is given again: %v", err)
}

func (s *session) absent(what string, err error) {
	s.must(errors.Is(err, control.ErrNotFound), "%s: %v", what, err)
}

func accountsAreKept(s *session) {
	eleni := control.Account{Owner: "eleni", State: control.AccountInvited, Admin: true, Mail: "Eleni@a.example", Profile: []byte(`{"zone":"Europe/Nicosia"}`)}
	s.ok(s.store.AddAccount(s.ctx, eleni, false))
	s.account("costas")
	s.reopen()
	got, err := s.store.AccountByMail(s.ctx, "eleni@A.example")
	s.ok(err)
	s.must(got.Owner == "eleni" && got.Admin && got.Mail == eleni.Mail && string(got.Profile) == string(eleni.Profile) && !got.Created.IsZero() && !got.HasPassword,
		"the account is %+v", got)
	s.taken(s.store.AddAccount(s.ctx, eleni, true), "owner")
	s.taken(s.store.AddAccount(s.ctx, control.Account{Owner: "maria", State: control.AccountActive, Mail: "ELENI@a.example"}, true), "mail address")
	s.ok(s.store.AddAccount(s.ctx, control.Account{Owner: "maria", State: control.AccountActive}, false))
	s.ok(s.store.AddAccount(s.ctx, control.Account{Owner: "nikos", State: control.AccountActive}, false)) // neither has an address
	for _, wrong := range []control.Account{{State: "active"}, {Owner: " eleni", State: "active"}, {Owner: "a\nb", State: "active"}, {Owner: "x", State: "asleep"},
		{Owner: strings.Repeat("x", 300), State: "active"}, {Owner: "x", State: "active", Mail: "a@b\r\nBcc: c@d"}} {
		s.must(s.store.AddAccount(s.ctx, wrong, true) != nil, "an account such as %+v is accepted", wrong)
	}

	s.ok(s.store.ChangeAccount(s.ctx, "costas", func(a *control.Account) error {
		a.Owner, a.Admin, a.Mail = "zoe", true, "c@b.example"
		return nil
	}))
	costas, err := s.store.Account(s.ctx, "costas")
	s.ok(err)
	s.must(costas.Admin && costas.Mail == "c@b.example", "a change is lost: %+v", costas)
	s.taken(s.store.ChangeAccount(s.ctx, "costas", func(a *control.Account) error { a.Mail = "eleni@a.EXAMPLE"; return nil }), "mail address")
	refused := errors.New("refused")
	s.must(errors.Is(s.store.ChangeAccount(s.ctx, "costas", func(a *control.Account) error { a.Admin = false; return refused }), refused), "a change that fails is made")
	s.absent("changing nobody", s.store.ChangeAccount(s.ctx, "nobody", func(*control.Account) error { return nil }))
	_, err = s.store.Account(s.ctx, "nobody")
	s.absent("the account of nobody", err)
	_, err = s.store.AccountByMail(s.ctx, "")
	s.absent("the account of no address", err)
	var names []string
	for _, a := range all(s, s.store.Accounts(s.ctx)) {
		names = append(names, a.Owner)
	}
	s.same("all", names, "[costas eleni maria nikos]")
}

func namesAreNotInherited(s *session) {
	s.put(urd("a", "asked", "http://a.example/"))
	s.putACIs(aci(1, "told"))
	s.ok(s.store.SetQuota(s.ctx, "limited", 5))
	s.ok(s.store.AddUsage(s.ctx, "2026-11-21", map[string]float64{"used": 1}, nil))
	s.ok(s.store.SetBudget(s.ctx, "full", &control.Budget{Alerts: 1}))
	s.putACIs(aci(2, "full"), aci(3, "full"))
	_, err := s.store.Take(s.ctx, "told")
	s.ok(err)
	s.putACIs(aci(4, "told"))
	for _, owner := range []string{"asked", "told", "limited", "used", "full"} {
		a := control.Account{Owner: owner, State: control.AccountActive}
		err := s.store.AddAccount(s.ctx, a, false)
		s.taken(err, "owner")
		s.ok(s.store.AddAccount(s.ctx, a, true))
	}
	s.reopen()
	for owner, want := range map[string]string{"told": "3 unread, 1 read", "full": "2 unread", "asked": ""} {
		s.same("what "+owner+" inherits", items(all(s, s.store.Of(owner).Inbox(s.ctx, control.InboxFilter{}))), want)
	}
}

func tokensAreUsedOnce(s *session) {
	s.absent("a token of nobody", s.store.AddToken(s.ctx, "x", control.Token{Owner: "eleni", Purpose: control.PurposeInvite, Expires: time.Now().Add(time.Hour)}))
	s.account("eleni")
	s.account("costas")
	s.ok(s.store.AddToken(s.ctx, "link", control.Token{Owner: "eleni", Purpose: control.PurposeReset, Data: []byte("data"), Expires: time.Now().Add(time.Hour)}))
	s.ok(s.store.AddToken(s.ctx, "old", control.Token{Owner: "eleni", Purpose: control.PurposeReset, Expires: time.Now().Add(-time.Hour)}))
	s.reopen()
	_, err := s.store.Token(s.ctx, "link", control.PurposeInvite)
	s.absent("a token for something else", err)
	_, err = s.store.UseToken(s.ctx, "old", control.PurposeReset)
	s.absent("a token that has expired", err)
	for range 2 {
		t, err := s.store.Token(s.ctx, "link", control.PurposeReset)
		s.ok(err)
		s.must(t.Owner == "eleni" && string(t.Data) == "data", "the token is %+v", t)
	}
	won := make(chan error, 4)
	for range cap(won) {
		go func() {
			_, err := s.store.UseToken(s.ctx, "link", control.PurposeReset)
			won <- err
		}()
	}
	uses := 0
	for range cap(won) {
		err := <-won
		s.must(err == nil || errors.Is(err, control.ErrNotFound), "using a token: %v", err)
		if err == nil {
			uses++
		}
	}
	s.same("uses of one link by four", uses, 1)

	eleni, costas := s.store.Of("eleni"), s.store.Of("costas")
	s.ok(s.store.AddToken(s.ctx, "program", control.Token{Owner: "eleni", Purpose: control.PurposeAPI, Expires: time.Now().Add(time.Hour)}))
	mine := all(s, eleni.Tokens(s.ctx, control.PurposeAPI))
	s.same("tokens", len(mine), 1)
	s.must(!strings.Contains(fmt.Sprintf("%+v", mine), "program"), "a token is stored as it is: %+v", mine)
	s.absent("another's token", costas.DeleteToken(s.ctx, mine[0].ID))
	s.ok(eleni.DeleteToken(s.ctx, mine[0].ID))
	_, err = s.store.Token(s.ctx, "program", control.PurposeAPI)
	s.absent("a token that was removed", err)
}

func webSessionsEnd(s *session) {
	later := time.Now().Add(time.Hour)
	login := func(hash, owner string) error {
		return s.store.PutWebSession(s.ctx, control.WebSession{Hash: hash, Owner: owner, Agent: "Firefox", Data: []byte("data of " + hash), Expires: later})
	}
	is := func(hash string) bool {
		w, err := s.store.WebSession(s.ctx, hash)
		s.must(err == nil && string(w.Data) == "data of "+hash || errors.Is(err, control.ErrNotFound), "session %s: %+v, %v", hash, w, err)
		return err == nil
	}
	s.absent("a session of nobody's account", login("x", "eleni"))
	s.account("costas")
	s.account("eleni")
	s.ok(login("anonymous", ""))
	for _, hash := range []string{"one", "two", "three"} {
		s.ok(login(hash, "eleni"))
	}
	s.ok(login("four", "costas"))
	s.ok(login("four", "costas"))
	s.ok(s.store.PutWebSession(s.ctx, control.WebSession{Hash: "gone", Owner: "eleni", Expires: time.Now().Add(-time.Second)}))
	s.reopen()
	eleni := s.store.Of("eleni")
	s.must(is("anonymous") && is("one") && is("four") && !is("gone"), "sessions are not kept until they expire")
	s.same("of eleni", len(all(s, eleni.WebSessions(s.ctx))), 3)
	seen, err := s.store.Account(s.ctx, "eleni")
	s.ok(err)
	s.must(!seen.Seen.IsZero(), "a log-in is not noted")

	end := func(hash string, others bool, want int) {
		n, err := eleni.EndWebSessions(s.ctx, hash, others)
		s.ok(err)
		s.same("ended", n, want)
	}
	end("four", false, 0)
	end("two", false, 1)
	end("one", true, 1)
	s.must(is("one") && !is("three") && is("four"), "another session ends than was asked for")
	s.ok(s.store.DeleteWebSession(s.ctx, "four"))
	s.ok(s.store.DeleteWebSession(s.ctx, "four"))
	s.must(!is("four"), "a session that was ended goes on")

	s.ok(s.store.AddToken(s.ctx, "reset", control.Token{Owner: "eleni", Purpose: control.PurposeReset, Expires: later}))
	s.ok(s.store.SetPassword(s.ctx, "eleni", "hash"))
	hash, err := s.store.Password(s.ctx, "eleni")
	s.ok(err)
	s.same("hash", hash, "hash")
	_, err = s.store.Token(s.ctx, "reset", control.PurposeReset)
	s.absent("a link of before the password", err)
	s.must(!is("one"), "a session outlives the password")
	s.ok(login("five", "eleni"))
	s.ok(s.store.ChangeAccount(s.ctx, "eleni", func(a *control.Account) error { a.State = control.AccountLocked; return nil }))
	s.must(!is("five"), "a session outlives the lock")
	s.absent("a session of a locked account", login("six", "eleni"))
	s.absent("the password of nobody", s.store.SetPassword(s.ctx, "nobody", "hash"))
	_, err = s.store.Password(s.ctx, "nobody")
	s.absent("the hash of nobody's", err)
	s.ok(s.store.AddAccount(s.ctx, control.Account{Owner: "maria", State: control.AccountInvited}, false))
	s.ok(s.store.SetPassword(s.ctx, "maria", "hash"))
	maria, err := s.store.Account(s.ctx, "maria")
	s.ok(err)
	s.same("who has set a password", maria.State, control.AccountActive)
	s.must(maria.Since.After(maria.Created), "it is not noted since when she is active: %+v", maria)
}

func revealed(a channel.Address) string {
	to, key := a.Reveal()
	return to + " " + key
}

func channelsAreKept(s *session) {
	nobody := s.store.Of("nobody")
	mail := control.Channel{Kind: control.ChannelMail, Name: "mail", Address: channel.NewAddress("eleni@hush.example", "key"), Settings: []byte(`{"hold":60}`), State: control.ChannelActive}
	_, err := nobody.AddChannel(s.ctx, mail)
	s.absent("a channel of nobody's", err)
	eleni, costas := s.account("eleni"), s.account("costas")
	s.putACIs(aci(1, "eleni"))
	n, err := eleni.AddChannel(s.ctx, mail)
	s.ok(err)
	hook := mail
	hook.Name, hook.Kind, hook.Address = "hook", control.ChannelWebhook, channel.NewAddress("https://hush.example/x", "key")
	second, err := eleni.AddChannel(s.ctx, hook)
	s.ok(err)
	_, err = eleni.AddChannel(s.ctx, mail)
	s.taken(err, "channel")
	_, err = costas.AddChannel(s.ctx, mail)
	s.ok(err)
	rotated, err := s.store.RotateKey(s.ctx)
	s.ok(err)
	s.same("rotated secrets", rotated, 0)
	s.reopen()
	eleni, costas = s.store.Of("eleni"), s.store.Of("costas")
	got, err := eleni.Channel(s.ctx, n)
	s.ok(err)
	s.must(revealed(got.Address) == "eleni@hush.example key" && got.Since == 1 && string(got.Settings) == `{"hold":60}` && !got.Created.IsZero(), "the channel is %+v", got)
	s.must(!strings.Contains(fmt.Sprintf("%v %+v %#v", got, got, got), "eleni@"), "an address is printed: %+v", got)
	s.same("of both", len(all(s, s.store.ChannelsOf(s.ctx, "eleni", "costas", "nobody"))), 3)
	s.same("of eleni", len(all(s, eleni.Channels(s.ctx))), 2)
	var names []string
	for _, c := range all(s, s.store.AllChannels(s.ctx)) {
		names = append(names, c.Owner+" "+c.Name+" "+c.Address.String())
	}
	s.same("of all", names, "[eleni mail no address eleni hook no address costas mail no address]")

	got.Name = "hook"
	s.taken(eleni.ChangeChannel(s.ctx, got), "channel")
	got.Name, got.Address, got.State = "new", channel.NewAddress("other@hush.example", "key"), control.ChannelPaused
	s.absent("changing another's", costas.ChangeChannel(s.ctx, got))
	s.ok(eleni.ChangeChannel(s.ctx, got))
	is, err := s.store.Channel(s.ctx, n)
	s.ok(err)
	s.must(revealed(is.Address) == "other@hush.example key" && is.State == control.ChannelPaused && is.Name == "new" && is.Owner == "eleni", "it is %+v", is)
	got.State = "asleep"
	s.must(eleni.ChangeChannel(s.ctx, got) != nil, "a state that there is not is accepted")
	_, err = costas.Channel(s.ctx, n)
	s.absent("another's channel", err)
	s.absent("deleting another's", costas.DeleteChannel(s.ctx, second))
	s.ok(eleni.DeleteChannel(s.ctx, second))
	_, err = s.store.Channel(s.ctx, second)
	s.absent("what was deleted", err)
	third, err := eleni.AddChannel(s.ctx, hook)
	s.ok(err)
	s.must(third > second, "the number of a channel that was deleted is given again")
	for i := range 18 {
		hook.Name = fmt.Sprint("hook", i)
		_, err := eleni.AddChannel(s.ctx, hook)
		s.ok(err)
	}
	hook.Name = "one too many"
	_, err = eleni.AddChannel(s.ctx, hook)
	s.must(err != nil, "there is no limit to channels")
}

func secretsHaveOwners(s *session) {
	eleni, costas := s.store.Of("eleni"), s.store.Of("costas")
	names := func(o control.Owned) (names []string) {
		for _, i := range all(s, o.Secrets(s.ctx)) {
			names = append(names, i.Name)
		}
		return names
	}
	s.ok(s.store.SetSecret(s.ctx, "bank", s.basic("hush")))
	s.ok(eleni.SetSecret(s.ctx, "shop", s.basic("hush")))
	s.ok(s.store.SetSecret(s.ctx, "costas/trap", s.basic("hush")))
	s.taken(costas.SetSecret(s.ctx, "trap", s.basic("other")), "secret")
	s.absent("deleting the operator's", costas.DeleteSecret(s.ctx, "trap"))
	s.same("of eleni", names(eleni), "[eleni/shop]")
	s.same("of costas", names(costas), "[]")

	asking := func(secret string) []*xmlschema.URD {
		u := urd("", "maria", "http://a.example/"+secret)
		u.Secret = secret
		return []*xmlschema.URD{u}
	}
	var forbidden *control.ForbiddenSecretError
	for _, name := range []string{"bank", "eleni/shop", "none"} {
		_, err := costas.Put(s.ctx, asking(name))
		s.must(errors.As(err, &forbidden) && fmt.Sprint(forbidden.Names) == "["+name+"]", "costas has secret %s used: %v", name, err)
	}
	s.same("stored", len(all(s, s.store.All(s.ctx))), 0)
	_, err := eleni.Put(s.ctx, asking("eleni/shop"))
	s.ok(err)
	s.absent("granting what is not there", s.store.GrantSecret(s.ctx, "none", "costas"))
	s.must(s.store.GrantSecret(s.ctx, "bank", "") != nil, "a secret is granted to nobody")
	s.ok(s.store.GrantSecret(s.ctx, "bank", "costas"))
	s.ok(s.store.GrantSecret(s.ctx, "bank", "costas"))
	s.reopen()
	eleni, costas = s.store.Of("eleni"), s.store.Of("costas")
	s.same("grants", all(s, s.store.Grants(s.ctx)), []control.Grant{{Secret: "bank", Owner: "costas"}})
	s.same("of costas", names(costas), "[bank]")
	_, err = costas.Put(s.ctx, asking("bank"))
	s.ok(err)
	s.ok(s.store.SetSecret(s.ctx, "eleni/shop", s.basic("set by the operator")))
	s.same("of eleni, after the operator has set it", names(eleni), "[eleni/shop]")
	s.ok(s.store.RevokeSecret(s.ctx, "bank", "costas"))
	s.absent("revoking twice", s.store.RevokeSecret(s.ctx, "bank", "costas"))
	_, err = costas.Put(s.ctx, asking("bank"))
	s.must(errors.As(err, &forbidden), "a secret that was revoked is used: %v", err)
	s.ok(s.store.GrantSecret(s.ctx, "bank", "costas"))
	s.ok(s.store.DeleteSecret(s.ctx, "bank", true))
	s.same("grants of what was deleted", len(all(s, s.store.Grants(s.ctx))), 0)
	s.ok(eleni.DeleteSecret(s.ctx, "shop"))
	s.absent("deleting twice", eleni.DeleteSecret(s.ctx, "shop"))
}

func ownersAreErased(s *session) {
	s.fill()
	before := s.now()
	eleni := s.store.Of("eleni")
	if _, err := s.store.Account(s.ctx, "eleni"); err != nil {
		eleni = s.account("eleni")
	}
	s.ok(eleni.SetSecret(s.ctx, "mine", s.basic("hush")))
	s.ok(s.store.SetSession(s.ctx, "eleni/mine", "cookies"))
	s.ok(s.store.SetSecret(s.ctx, "open", s.basic("hush")))
	s.ok(s.store.GrantSecret(s.ctx, "open", "eleni"))
	erased, err := s.store.EraseOwner(s.ctx, "eleni")
	s.ok(err)
	s.must(erased.URDs == 1 && erased.ACIs > 0 && erased.Secrets == 1 && erased.Channels == 2, "erased: %+v", erased)
	s.must(s.now().Revision > before.Revision, "who follows URDs is not told")
	s.reopen()
	for _, o := range all(s, s.store.Owners(s.ctx)) {
		s.must(o.Name != "eleni", "she is still an owner")
	}
	_, err = s.store.Account(s.ctx, "eleni")
	s.absent("her account", err)
	s.same("her URDs", len(all(s, s.store.ByOwner(s.ctx, "eleni"))), 0)
	s.same("her ACIs", len(all(s, s.store.ACIs(s.ctx, control.Filter{Owner: "eleni"}))), 0)
	s.same("her cookies", s.session("eleni/mine"), "")
	s.same("her grants", len(all(s, s.store.Grants(s.ctx))), 0)
	s.same("URDs of others", ids(all(s, s.store.All(s.ctx))), "[c]")
	s.must(len(all(s, s.store.ACIs(s.ctx, control.Filter{Owner: "costas"}))) == 1, "ACIs of others are gone")
	_, err = s.store.EraseOwner(s.ctx, "")
	s.must(err != nil, "nobody is erased")
	s.ok(s.store.AddAccount(s.ctx, control.Account{Owner: "eleni", State: control.AccountActive}, false)) // nothing is left to inherit
	s.account("zoe")
}
