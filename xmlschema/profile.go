package xmlschema

import (
	"fmt"
	"io"
	"time"

	"github.com/beevik/etree"
)

// Profile is what is known of the person with an account, without anything that lets one log in: what is left today of
// the personal part of the papers' user profile, and of their accounts. It is a view, which nothing stores.
type Profile struct {
	Owner    string    // the name of the account; not empty
	State    string    // of the account: invited, active, locked or leaving; empty: active
	Created  time.Time // when the account was; zero: not known
	Name     string    // of the person; this and what follows may be empty
	Mail     string
	Language string
	Zone     string // of times, as the IANA database names it
}

// profileStates are the states of accounts; the first is the default.
var profileStates = []string{"active", "invited", "locked", "leaving"}

// Canonical returns the profile as a document, in the form that URDs are stored in.
func (p *Profile) Canonical() []byte { return document(p.element()) }

// WriteTo writes the canonical form.
func (p *Profile) WriteTo(w io.Writer) (int64, error) { return write(w, p.Canonical()) }

// Validate reports, as [Problems], why reading what is written would not give the same profile, as for a URD.
func (p *Profile) Validate() error { return validate(p, (*Decoder).Profile) }

func (p *Profile) normal() *Profile {
	n := *p
	n.State, n.Created = orElse(p.State, profileStates[0]), normalTime(p.Created)
	return &n
}

func (p *Profile) element() *etree.Element {
	e := etree.NewElement("profile")
	e.CreateAttr("owner", p.Owner)
	e.CreateAttr("state", orElse(p.State, profileStates[0]))
	if !p.Created.IsZero() {
		e.CreateAttr("created", formatTime(p.Created))
	}
	optionalText(e, "name", p.Name)
	optionalText(e, "mail", p.Mail)
	optionalText(e, "language", p.Language)
	optionalText(e, "zone", p.Zone)
	return e
}

// Profile reads a document that is the profile of a person.
func (d *Decoder) Profile() (*Profile, error) { return single(d, "profile", bindProfile) }

func bindProfile(b *binding) *Profile {
	p := &Profile{Owner: b.mustAttr("owner"), State: b.enum("state", profileStates...), Created: b.instant("created")}
	for _, part := range []struct {
		name string
		into *string
	}{{"name", &p.Name}, {"mail", &p.Mail}, {"language", &p.Language}, {"zone", &p.Zone}} {
		kid := b.child(part.name)
		if kid == nil {
			continue
		}
		if *part.into = kid.text(); trim(*part.into) == "" {
			kid.problem(fmt.Sprintf("<%s> is empty", part.name))
		}
	}
	b.inOrder("name", "mail", "language", "zone")
	b.done()
	return p
}
