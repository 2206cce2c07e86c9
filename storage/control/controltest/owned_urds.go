package controltest

import (
	"errors"
	"fmt"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// labelled returns a change that adds a label.
func labelled(label string) func(*xmlschema.URD) error {
	return func(u *xmlschema.URD) error {
		u.Labels = append(u.Labels, label)
		return nil
	}
}

func changesAreNotLost(s *session) {
	s.put(urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/"), urd("c", "costas", "http://c.example/"))
	const each = 5
	done := make(chan error)
	for by, change := range []func(in []string, change func(*xmlschema.URD) error) error{
		func(in []string, change func(*xmlschema.URD) error) error {
			_, err := s.store.Change(s.ctx, in, change)
			return err
		},
		func(in []string, change func(*xmlschema.URD) error) error {
			_, err := s.store.Of("eleni").Change(s.ctx, in, change)
			return err
		},
	} {
		go func() {
			var err error
			for n := range each {
				err = errors.Join(err, change([]string{"b", "a"}, labelled(fmt.Sprint("by", by, "-", n))))
			}
			done <- err
		}()
	}
	s.ok(errors.Join(<-done, <-done))
	s.reopen()
	eleni := s.store.Of("eleni")
	for _, u := range all(s, eleni.URDs(s.ctx)) {
		s.same("labels of "+u.ID, len(u.Labels), 2*each)
	}

	refused := errors.New("refused")
	before := s.revision()
	for what, change := range map[string]func() error{
		"one that is not there": func() error { _, err := s.store.Change(s.ctx, []string{"a", "none"}, labelled("x")); return err },
		"another's":             func() error { _, err := eleni.Change(s.ctx, []string{"a", "c"}, labelled("x")); return err },
	} {
		s.absent("changing "+what, change())
	}
	_, err := eleni.Change(s.ctx, []string{"a", "b"}, func(u *xmlschema.URD) error {
		u.Title = "x"
		if u.ID == "b" {
			return refused
		}
		return nil
	})
	s.must(errors.Is(err, refused), "a change that is refused: %v", err)
	_, err = eleni.Change(s.ctx, []string{"a"}, func(u *xmlschema.URD) error { u.Depth = -1; return nil })
	s.must(err != nil, "a URD is changed to what cannot be stored")
	s.same("revision after changes that failed", s.revision(), before)

	changes, err := eleni.Change(s.ctx, []string{"b", "a"}, func(u *xmlschema.URD) error {
		u.Paused = u.ID == "a"
		u.ID, u.Owner = "c", "costas" // which stay
		return nil
	})
	s.ok(err)
	s.same("effects", changes, []control.Change{{ID: "b", Effect: control.Unchanged}, {ID: "a", Effect: control.Changed}})
	changed, err := s.store.Get(s.ctx, "a")
	s.ok(err)
	s.must(changed.Paused && changed.Owner == "eleni", "an owner or an id is changed: %+v", changed)
}

func secretsStayOutOfChanges(s *session) {
	s.ok(s.store.SetSecret(s.ctx, "bank", s.basic("hush")))
	asking := urd("a", "eleni", "http://a.example/")
	asking.Secret = "bank"
	s.put(asking, urd("b", "eleni", "http://b.example/"))
	eleni := s.store.Of("eleni")
	change := func(id string, change func(*xmlschema.URD)) error {
		_, err := eleni.Change(s.ctx, []string{id}, func(u *xmlschema.URD) error { change(u); return nil })
		return err
	}
	s.ok(change("a", func(u *xmlschema.URD) { u.Paused, u.Title, u.Labels = true, "Bank", []string{"money"} }))
	var forbidden *control.ForbiddenSecretError
	for what, err := range map[string]error{
		"asked for elsewhere": change("a", func(u *xmlschema.URD) { u.URI = "http://evil.example/" }),
		"looked for":          change("a", func(u *xmlschema.URD) { u.Keywords.Keywords[0].Key = "password" }),
		"shown in full":       change("a", func(u *xmlschema.URD) { u.ProcessType = xmlschema.ProcessNonFilter }),
		"followed further":    change("a", func(u *xmlschema.URD) { u.Depth = 9 }),
		"named":               change("b", func(u *xmlschema.URD) { u.Secret = "bank" }),
	} {
		s.must(errors.As(err, &forbidden) && fmt.Sprint(forbidden.Names) == "[bank]", "a secret of the operator is %s: %v", what, err)
	}
	s.ok(change("a", func(u *xmlschema.URD) { u.Secret, u.URI = "", "http://other.example/" }))
}

func addedReplacesNothing(s *session) {
	eleni, costas := s.store.Of("eleni"), s.store.Of("costas")
	add := func(o control.Owned, uri string) string {
		id, err := o.Add(s.ctx, urd("mine", "maria", uri))
		s.ok(err)
		return id
	}
	first := add(eleni, "http://a.example/")
	_, err := eleni.Add(s.ctx, urd("", "", "http://a.example/"))
	s.taken(err, "URD")
	var taken *control.TakenError
	s.must(errors.As(err, &taken) && taken.Name == first, "what is taken is %v", err)
	_, err = eleni.Change(s.ctx, []string{first}, func(u *xmlschema.URD) error { u.URI = "http://b.example/"; return nil })
	s.ok(err)
	second := add(eleni, "http://a.example/") // whose id the first has
	s.must(first != second, "an interest is replaced")

	// who knows which id costas is going to have takes it
	asked := urd("", "costas", "http://c.example/")
	trap := urd(xmlschema.DeriveID("costas", asked.Source(), asked.InterestHash()), "eleni", "http://c.example/")
	s.put(trap)
	other := add(costas, "http://c.example/")
	s.must(other != trap.ID, "another's is replaced")
	s.same("of costas", len(all(s, costas.URDs(s.ctx))), 1)
	s.same("of eleni", len(all(s, eleni.URDs(s.ctx))), 3)

	secret := urd("", "", "http://d.example/")
	secret.Secret = "none"
	_, err = eleni.Add(s.ctx, secret)
	s.must(errors.As(err, new(*control.ForbiddenSecretError)), "a secret that there is not is named: %v", err)
	s.ok(s.store.SetBudget(s.ctx, "eleni", &control.Budget{URDs: 3}))
	_, err = eleni.Add(s.ctx, urd("", "", "http://e.example/"))
	s.must(errors.As(err, new(*control.BudgetError)), "there is no limit to what is added: %v", err)
}
